/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes whose system runs from memory. api/boot.c asks what their machines boot,
 * enroll.c by which token, agents.c what follows a hello, api/agents.c what to load.
 * Invariants: such a machine is never sent to its disk; no token is given while the
 * node's system is heard, and a token is good for one trade.
 */
#include "provisioner/node/ram.h"

#include <string.h>

#include "base/crypto.h"
#include "base/log.h"
#include "provisioner/node/reconcile_impl.h"

enum {
	/* A running system is heard every few seconds. */
	SILENT_MS = 12 * 1000,
	AGAIN_MS = 30 * 1000,
};

static int
is_boot_of_order(const struct bu_node *node)
{
	int boots = node->state == BU_STATE_INSPECTING ||
		    node->state == BU_STATE_IMAGING || node->state == BU_STATE_BOOTING;

	return boots && node->order->open && node->order->begun;
}

int
bu_ram_is(const struct bu_reconcile *rec, const struct bu_node *node)
{
	const struct bu_desired_node *want;

	if (!is_boot_of_order(node))
		return node->ram;
	want = bu_fleet_ordered(rec->fleet, node);
	return want && bu_desired_is_ram(want);
}

/* No boot of its own: its order's is under way, or the node has no machine yet. */
static int
is_ordered(const struct bu_node *node)
{
	return node->state == BU_STATE_ENROLLED || node->state == BU_STATE_RETIRED ||
	       node->state == BU_STATE_INSPECTING || node->state == BU_STATE_IMAGING;
}

static int
is_heard(const struct bu_reconcile *rec, const struct bu_node *node)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));

	return node->boot_installed && node->state != BU_STATE_BOOTING &&
	       node->live.last_seen_ms && now_ms - node->live.last_seen_ms < SILENT_MS;
}

enum bu_ram_script
bu_ram_script(const struct bu_reconcile *rec, const struct bu_node *node)
{
	if (!bu_ram_is(rec, node) || bu_reconcile_boots(node))
		return BU_RAM_OTHER;
	if (node->state == BU_STATE_ENROLLED || node->state == BU_STATE_RETIRED)
		return BU_RAM_OTHER;
	if (is_ordered(node) || node->agent_revoked || is_heard(rec, node))
		return BU_RAM_WAIT;
	return BU_RAM_SYSTEM;
}

void
bu_ram_step(const struct bu_node *node, char ret[BU_RAM_STEP_SIZE])
{
	snprintf(ret, BU_RAM_STEP_SIZE, "%s.%lld.load", node->name,
		 (long long)node->admitted_ms);
}

static int
is_token_of(const struct bu_reconcile *rec, const char *step, const char *token)
{
	return bu_trust_is_token(rec->trust, step, 1, token);
}

int
bu_ram_token(const struct bu_reconcile *rec, const struct bu_node *node,
	     const char *token, char ret[BU_RAM_STEP_SIZE])
{
	size_t size = strlen(node->admitted_step);

	if (!bu_ram_is(rec, node) || is_ordered(node) || node->agent_revoked)
		return -1;
	bu_ram_step(node, ret);
	if (is_token_of(rec, ret, token))
		return 0;
	/* The token of an order is not one of these. */
	if (size < 5 || strcmp(node->admitted_step + size - 5, ".load") != 0)
		return -1;
	snprintf(ret, BU_RAM_STEP_SIZE, "%s", node->admitted_step);
	return is_token_of(rec, ret, token) ? 0 : -1;
}

int
bu_ram_hello(struct bu_reconcile *rec, struct bu_node *node, struct bu_event *events,
	     size_t count, struct bu_err *err)
{
	if (bu_lifecycle_has(node->state, BU_TRIGGER_LOADS))
		return bu_reconcile_move(rec, node,
					 &(struct bu_move){.on = BU_TRIGGER_LOADS,
							   .extra = events,
							   .count = count},
					 err);
	bu_reconcile_append(rec, node, events, count);
	return 0;
}

void
bu_ram_image(const struct bu_node *node, struct bu_ram_image *ret)
{
	const struct bu_order *order = node->order;
	int ordered = is_boot_of_order(node);

	*ret = (struct bu_ram_image){
		.name = ordered ? order->image : node->installed_image,
		.digest = ordered ? order->image_digest : node->installed_digest,
	};
}

int
bu_ram_loads(const struct bu_reconcile *rec, const struct bu_node *node,
	     struct bu_ram_image *ret)
{
	bu_ram_image(node, ret);
	return bu_ram_is(rec, node) && !is_ordered(node) && node->boot_id[0] &&
	       !node->boot_installed && ret->digest[0] &&
	       node->live.load->failed_of_ms != node->admitted_ms &&
	       bu_loop_now_ms(rec->fleet->loop) >= node->live.load->again_ms;
}

void
bu_ram_result(struct bu_reconcile *rec, struct bu_node *node, const char *step,
	      const struct bu_err *failure)
{
	struct bu_reason why;

	if (!failure || !bu_ram_is(rec, node) || node->boot_installed ||
	    strcmp(step, node->admitted_step) != 0)
		return;
	bu_warn("node", "%s: its system was not loaded: %s", node->name, failure->text);
	bu_node_load(node)->attempt++;
	bu_node_load(node)->again_ms = bu_loop_now_ms(rec->fleet->loop) + AGAIN_MS;
	if (!bu_failure_is_final(failure))
		return;
	bu_node_load(node)->failed_of_ms = node->admitted_ms;
	BU_REASON_SET(&why, STEP_FAILED, .text = {failure->text});
	if (node->state == BU_STATE_BOOTING)
		bu_reconcile_try(rec, node, BU_TRIGGER_FAULT, &why, NULL, 0);
}
