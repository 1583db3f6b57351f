/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where agents lie on an installed system, and which one runs:
 *
 *	DIR/slots/NAME/		one agent, its libraries, and the list of them
 *				(images/bundle.h); NAME is the begin of the
 *				SHA-256 of the list
 *	DIR/current, previous	links to slots: the one that is started, the one before
 *	DIR/agent		the script that starts it (images/build/recipes/agent)
 *	DIR/trial		the current one is new: "DIGEST VERSION" of it, then
 *				lines `start`, `work`, `worked` or `silent`
 *	DIR/back		a trial that failed: the script took `previous` again
 *
 * An agent on trial that ends three times, or that the appliance does not answer long
 * enough in time, makes way for the one before; while it is at work, its time stands
 * still. Whatever is cut off where, `current` names a whole slot.
 */
#ifndef BU_AGENT_SLOTS_H
#define BU_AGENT_SLOTS_H

#include <jansson.h>

#include "images/bundle.h"

/* Of this process; NULL when no such script has started it. */
const char *bu_slots_dir(void);
/* What runs here. BU_ERR_STATE when that is not known. */
bu_must int bu_slots_running(struct bu_bundle *ret, struct bu_err *err);

/* Where the bytes of a file come from: size_bytes of them, owned; its digest is checked
 * by the caller. */
struct bu_slot_source {
	void *(*fetch)(void *arg, const struct bu_bundle_file *file,
		       struct bu_err *err);
	void *arg;
};
/* Puts it into its slot: what the current slot has of it is taken from there. text: its
 * list. Until it is whole and on the disk, nothing has its name. */
bu_must int bu_slots_fill(const char *dir, const struct bu_bundle *bundle,
			  const char *text, const struct bu_slot_source *source,
			  struct bu_err *err);
/* From the next start on it runs, on trial. BU_ERR_STATE when it does already, and
 * BU_ERR_BUSY while another one is on trial: that one must not become the way back. */
bu_must int bu_slots_switch(const char *dir, const struct bu_bundle *bundle,
			    struct bu_err *err);
/* What runs here, on trial, begins work of the appliance, or has done it. */
void bu_slots_work(const char *dir, int done);
/* The appliance answers it reliably: the trial has ended well, and slots that are not
 * needed go. */
void bu_slots_settle(const char *dir);
int bu_slots_on_trial(const char *dir);
/* A trial that failed, until it was told: {"digest","version","why"} with why `ended`
 * or `silent`; NULL = none. New reference. */
json_t *bu_slots_failed(const char *dir);
void bu_slots_told(const char *dir);

#endif
