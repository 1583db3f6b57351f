/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first boot of an image that bringup did not build: its cloud-init shows a token
 * and asks for its identity. Called by the API. Invariant: the token of an install is
 * good for one first boot, and the log knows when it was used.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/log.h"
#include "provisioner/node/reconcile_impl.h"

/* A broken transfer may be asked for again within this time. */
enum { GRACE_MS = 120000 };

struct bu_node *
bu_reconcile_seed_node(const struct bu_reconcile *rec, const char *token)
{
	for (size_t i = 0; i < rec->fleet->count; i++) {
		struct bu_node *node = rec->fleet->nodes[i];

		if (node->state != BU_STATE_BOOTING || !node->installed_step[0])
			continue;
		if (bu_trust_is_seed_token(rec->trust, node->installed_step, token))
			return node;
	}
	return NULL;
}

int
bu_reconcile_check_seed(const struct bu_reconcile *rec, const struct bu_node *node,
			struct bu_err *err)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));

	if (strcmp(node->seeded_step, node->installed_step) != 0 ||
	    now_ms - node->seeded_ms < GRACE_MS)
		return 0;
	return bu_err_set(
		err, BU_ERR_NOTFOUND, 0,
		"the token of %s was used already, and is for one first boot; "
		"bringup node rebuild %s installs it again",
		node->name, node->name);
}

void
bu_reconcile_seeded(struct bu_reconcile *rec, struct bu_node *node, const char *address)
{
	struct bu_event event;

	if (strcmp(node->seeded_step, node->installed_step) == 0)
		return;
	bu_info("seeded", "%s boots for the first time, from %s", node->name, address);
	BU_EVENT_MAKE(&event, BU_EVENT_SEEDED, node->name, seeded,
		      .step = node->installed_step, .address = address);
	bu_reconcile_append(rec, node, &event, 1);
}
