/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hellos of systems that this log may not know. Called by agents.c before any other
 * look at a hello. Invariant: only a certificate of our CA gets this far.
 */
#include "model/hello.h"
#include "provisioner/api/api.h"
#include "provisioner/node/adopt.h"
#include "provisioner/node/fence.h"

/* A holder of a certificate of ours is heard: an older log may not know the one that
 * the agent has by now. */
static void
hear_anchor(struct bu_api *api, const struct bu_request *request,
	    const struct bu_node *node)
{
	if (*request->peer && request->waited_ms == 0)
		bu_fence_hear(api->rec, node ? node->name : request->peer, node,
			      json_object_get(request->body, "anchor"));
}

int
bu_api_adopts(struct bu_api *api, const struct bu_request *request,
	      const struct bu_node *known, struct bu_err *err)
{
	bu_autoinventory struct bu_inventory *inventory = NULL;
	struct bu_adoption adoption;
	struct bu_adopt_ask ask = {.peer = request->peer,
				   .cert = request->peer_cert ? request->peer_cert : "",
				   .node = bu_fleet_node_of(api->fleet, request->peer),
				   .known = known != NULL};
	struct bu_hello hello;

	if (*request->peer &&
	    bu_record_from_json(bu_hello_fields, request->body, &hello, NULL) == 0 &&
	    hello.where == BU_WHERE_INSTALLED)
		inventory = bu_inventory_from_json(hello.inventory, NULL);
	if (!inventory) {
		hear_anchor(api, request, known);
		return 0;
	}
	ask.settled = hello.settled;
	ask.stamp = hello.stamp;
	ask.inventory = inventory;
	bu_adopt_judge(api->rec, &ask, &adoption);
	hear_anchor(api, request, adoption.is == BU_ADOPT_GOOD ? adoption.node : known);
	if (adoption.is != BU_ADOPT_NOTHING &&
	    bu_request_within(request, BU_LIMIT_HELLOS, err) == 0)
		bu_ignore(bu_adopt_act(api->rec, &ask, &adoption, err));
	json_decref(adoption.why);
	return adoption.is != BU_ADOPT_NOTHING;
}
