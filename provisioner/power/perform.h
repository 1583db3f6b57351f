/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries out the requests of a child of bringup-power over one driver's connection:
 * observe, then act, then confirm. Machines go on in parallel. Changing requests for
 * one bmc run one after the other; "status" runs beside them.
 *
 * Requests are objects with "op", "target" and "until_ms" (monotonic, of this machine;
 * optional). After until_ms nothing new is begun: BU_ERR_CANCELLED.
 *
 * {"op":"status"}
 * {"op":"boot","first":"network|disk","wait_off_ms":N,"reset":bool}: waits so long for
 *	the machine to go off by itself. A machine that is still on is switched off
 *	with "reset", else left alone (BU_ERR_DENIED). The machine is switched on only
 *	after a fresh, confirmed "off".
 * {"op":"on"}, {"op":"off"}: only from the other state; unknown is neither.
 * {"op":"console","node":NAME,"way":"auto|ipmi","keep_ms":N}: captures the machine's
 *	console for so long. Answers {"console","words"}: "open", "waits" (another try
 *	follows), "none" (no console) or "taken" (by the node in words).
 * {"op":"events","since_ms":N,"most":N}, {"op":"sensors"}, {"op":"firmware"}: a report
 *	of the BMC (report.h).
 * {"op":"bmc-reset"}: restarts the BMC: it was seen silent, then back. A boot with
 *	"bmc_reset":true does so first, and goes on if the BMC refuses or does nothing.
 * {"op":"eject"}: ejects our medium; does not look at the power.
 *
 * Optional fields:
 * "media"        URL of a medium, from which the machine boots instead of the network
 * "media_dir"    beginning of the URLs of all our media; none of them stays in the
 *                drive of a machine that boots from its disk
 * "machine"      the machine expected behind the BMC (bu_machine_to_json()). Before
 *                switching, the BMC is asked for its machine; nothing is done behind
 *                another machine's BMC: BU_ERR_FOREIGN
 * "mode"         boot mode: "bios", "uefi"
 * "credentials"  reference of a secret, USER:PASSWORD, which is read here
 * "fingerprint"  of the BMC's certificate
 * "before", "factory"
 *                references of credentials that the BMC may still have: before a
 *                rotation, and from the factory. With both, the latter are tried
 *                until the BMC has been ours once. The BMC gets the password of
 *                "credentials" before anything else (adopt.c).
 *
 * Other operations answer {"power":"on|off|unknown"}. "identity":"unsaid": a machine
 * was switched whose BMC does not identify it. "differs": the BMC's differences from
 * the expected machine, "" = none (bu_machine_differs()).
 */
#ifndef BU_POWER_PERFORM_H
#define BU_POWER_PERFORM_H

#include <jansson.h>

#include "provisioner/power/driver.h"

struct bu_performer;
/* driver and self (from its open()) are borrowed. */
struct bu_performer *bu_performer_create(struct bu_loop *loop,
					 const struct bu_power_driver *driver,
					 void *self);
/* Folder with the progress of BMCs' password changes; without it no password is
 * changed. */
void bu_performer_journal(struct bu_performer *performer, const char *dir);
/* Folder of consoles; without it none is captured. */
void bu_performer_keep_consoles(struct bu_performer *performer, const char *dir);
/* Tells the consoles to end. The caller destroys them (console.h). */
struct bu_consoles *bu_performer_end_consoles(struct bu_performer *performer);
/* Cancels all requests; their callbacks are not called. */
void bu_performer_destroy(struct bu_performer *performer);

/* One of reply and err is given, borrowed. May call bu_perform(), but not destroy. */
typedef void (*bu_perform_fn)(const json_t *reply, const struct bu_err *err, void *arg);
/* fn is called once, from the loop or before this returns. */
void bu_perform(struct bu_performer *performer, const json_t *request, bu_perform_fn fn,
		void *arg);

#endif
