/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The root of a BMC's tree: where its sessions and systems are, who made it. Called by
 * session.c, before anybody is known to the BMC, and by known.c. Invariant: what is
 * read here proves no password.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

static void
note_astray(struct rf_bmc *bmc, const char *link)
{
	bu_autofree char *where = rf_elsewhere(bmc, link);

	if (link[0])
		bu_text_copy(bmc->root.astray, sizeof(bmc->root.astray), where);
}

/* Its own word; where that is null, its Oem object has one key, the vendor's. */
void
rf_root_take(struct rf_op *op, const json_t *root)
{
	struct rf_bmc *bmc = op->bmc;
	const char *oem =
		json_object_iter_key(json_object_iter(json_object_get(root, "Oem")));

	bu_text_copy(bmc->root.vendor, sizeof(bmc->root.vendor),
		     bu_json_str(root, "Vendor", oem ? oem : ""));
	bu_text_copy(bmc->root.product, sizeof(bmc->root.product),
		     bu_json_str(root, "Product", ""));
	rf_link(op, root, "Systems", bmc->root.systems);
	bmc->root.astray[0] = '\0';
	if (!bmc->root.systems[0])
		note_astray(bmc, bu_json_str(json_object_get(root, "Systems"),
					     "@odata.id", ""));
	rf_link(op, root, "UpdateService", bmc->root.updates);
	rf_link(op, json_object_get(root, "Links"), "Sessions", bmc->sessions);
	if (!bmc->sessions[0] && json_object_get(root, "SessionService"))
		strcpy(bmc->sessions, RF_ROOT "SessionService/Sessions");
	bmc->root.until_ms =
		bu_loop_now_ms(op->driver->loop) + op->driver->times.tree_ms;
}

/* As the standard says: an answer to it proves no password. */
int
rf_root_open(struct rf_op *op, struct bu_err *err)
{
	struct rf_ask ask = {.method = "GET", .path = RF_ROOT};
	rf_autoreply struct rf_reply reply = {0};

	if (rf_wire(op, &ask, &reply, err) != 0)
		return -1;
	op->bmc->root.closed = reply.status != 200 || !json_is_object(reply.json);
	if (!op->bmc->root.closed)
		rf_root_take(op, reply.json);
	return 0;
}
