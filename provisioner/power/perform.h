/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a child of bringup-power does for its requests, over one driver's connection:
 * observe, then act, then confirm. Machines go on side by side; for one bmc one request
 * that changes something comes after the other, and "status" beside them.
 *
 * Requests are objects with "op", "target" and "until_ms" (monotonic, of this machine;
 * may be missing): after it nothing is begun, and the answer is BU_ERR_CANCELLED.
 *
 * {"op":"status"}
 * {"op":"boot","first":"network|disk","wait_off_ms":N,"reset":bool}: waits that long
 *	for the machine to go off by itself; one that is still on is switched off with
 *	"reset", and left alone without it (BU_ERR_DENIED). It is switched on only after
 *	a fresh, confirmed "off".
 * {"op":"on"}, {"op":"off"}: from the other state alone; unknown is neither.
 * {"op":"console","node":NAME,"way":"auto|ipmi","keep_ms":N}: keeps what the machine
 *	writes to its console for so long, and answers {"console","words"}: "open",
 *	"waits" (it is tried again), "none" (it has none) or "taken" (by that node).
 *
 * {"op":"events","since_ms":N,"most":N}, {"op":"sensors"}, {"op":"firmware"}: what
 *	the BMC says, as report.h has it.
 *
 * {"op":"bmc-reset"}: the BMC itself restarts: it was seen silent, and is there again.
 *	With "bmc_reset":true a boot does so first; one that refuses or does nothing is
 *	booted all the same.
 *
 * {"op":"eject"}: takes our medium out; the power is not looked at.
 *
 * "media" (may be missing) is the URL of a medium: a boot from the network boots from
 *it instead. "media_dir" is what the URLs of all of ours begin with: no medium of those
 *is in the drive of a machine that boots from its disk.
 *
 * "machine" (bu_machine_to_json(), may be missing) is the one that is expected behind
 * the BMC: before one is switched its BMC is asked whose it is, and behind the BMC of
 * another one nothing is done: BU_ERR_FOREIGN. "mode" ("bios", "uefi", may be missing)
 * is how it boots.
 *
 * "credentials" (may be missing) is the reference of a secret, USER:PASSWORD, which is
 * read here; "fingerprint" (may be missing) is that of the BMC's certificate.
 *
 * "before" and "factory" (may be missing) are references of the credentials that the
 * BMC may still have: those of before a rotation, and those that it came with. With
 *both it is asked with the latter until it has been ours once. Such a BMC gets the
 *password of "credentials" before anything else is done (adopt.c).
 *
 * The rest is answered by {"power":"on|off|unknown"}, and by "identity":"unsaid" where
 *it was switched though its BMC does not say whose it is. "differs" is what the BMC
 *says otherwise of the machine than was expected, "" = nothing (bu_machine_differs()).
 */
#ifndef BU_POWER_PERFORM_H
#define BU_POWER_PERFORM_H

#include <jansson.h>

#include "provisioner/power/driver.h"

struct bu_performer;
/* driver and self (what its open() gave) are borrowed. */
struct bu_performer *bu_performer_create(struct bu_loop *loop,
					 const struct bu_power_driver *driver,
					 void *self);
/* Where it is written down how far a BMC's change of password is; without it none is
 * changed. */
void bu_performer_journal(struct bu_performer *performer, const char *dir);
/* Where consoles are kept; without it none is. */
void bu_performer_keep_consoles(struct bu_performer *performer, const char *dir);
/* They begin to end; what gets them destroys them (console.h). */
struct bu_consoles *bu_performer_end_consoles(struct bu_performer *performer);
/* What is under way is taken back; its callbacks are not called. */
void bu_performer_destroy(struct bu_performer *performer);

/* One of reply and err is given; both are borrowed. It may perform again, but not
 * destroy. */
typedef void (*bu_perform_fn)(const json_t *reply, const struct bu_err *err, void *arg);
/* fn is called once, from the loop or before this returns. */
void bu_perform(struct bu_performer *performer, const json_t *request, bu_perform_fn fn,
		void *arg);

#endif
