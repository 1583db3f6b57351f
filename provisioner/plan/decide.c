/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One decision per node. Called by plan.c. Invariant: a node whose disk may hold
 * something is never planned as install, and what a person holds or what is under way
 * is left alone, with the reason.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/plan/plan_impl.h"

static int __attribute__((format(printf, 2, 3)))
refuse(struct bu_decision *ret, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(ret->why, sizeof(ret->why), fmt, args);
	va_end(args);
	ret->refused = 1;
	return 0;
}

/* Whether the order leads to what the profile wants now. */
static int
same_target(const struct bu_plan_node *it)
{
	const struct bu_order *order = &it->node->order;

	return strcmp(order->image_digest, it->image->digest) == 0 &&
	       (!order->facets[0] || strcmp(order->facets, it->digest) == 0);
}

static void
decide_under_way(const struct bu_plan_node *it, struct bu_decision *ret)
{
	const struct bu_order *order = &it->node->order;
	int image = strcmp(order->image_digest, it->image->digest) != 0;
	/* What it is ordered to be it goes on to be. */
	const char *then = it->node->held_by[0]
				   ? "it is held: bringup node release goes on with "
				     "what was ordered; plan again when it is settled"
				   : "plan again when it is settled";

	if (it->identity->kind == BU_IDENTITY_REPLACED) {
		refuse(ret, "%s; it is %s: bringup node replace %s lets the old one go",
		       it->identity->why, bu_state_name(it->node->state),
		       it->node->name);
		return;
	}
	if (same_target(it))
		return;
	refuse(ret, "it is %s with %s; %s",
	       it->node->state == BU_STATE_READY ? "being changed"
						 : bu_state_name(it->node->state),
	       image ? "another image" : "other settings", then);
}

/* Of a node that is installed anew: what is there may only go by a grant. */
static enum bu_class
disk_class(const struct bu_plan_input *input, const struct bu_plan_node *it,
	   const json_t *changes)
{
	const char *disk = it->want->hardware->disk;

	if (it->node->installed_digest[0] && it->want->pool->data &&
	    bu_plan_changes_class(changes) < BU_CLASS_WIPE)
		return BU_CLASS_REIMAGE;
	if (it->node->disk_touched || it->node->installed_digest[0] ||
	    input->disk(input->arg, it->node, disk) == BU_PLAN_DISK_WRITTEN)
		return BU_CLASS_WIPE;
	return BU_CLASS_INSTALL;
}

static void
decide_out_of_service(const struct bu_plan_input *input, const struct bu_plan_node *it,
		      struct bu_decision *ret)
{
	const struct bu_node *node = it->node;
	const char *written = "";

	if (node->installed_digest[0])
		ret->changes = bu_plan_changes(input, it);
	if (node->state == BU_STATE_PARKED && node->installed_digest[0] &&
	    bu_plan_changes_class(ret->changes) == BU_CLASS_NONE)
		return;
	if (node->state == BU_STATE_PARKED && node->installed_digest[0] &&
	    bu_plan_changes_class(ret->changes) < BU_CLASS_INSTALL) {
		refuse(ret, "it is parked; plan again after bringup node resume %s",
		       node->name);
		return;
	}
	ret->class = disk_class(input, it, ret->changes);
	if (ret->class != BU_CLASS_INSTALL && !node->disk_touched)
		written = "; its disk is not empty";
	if (node->reason[0])
		snprintf(ret->why, sizeof(ret->why), "%s: %s%s",
			 bu_state_name(node->state), node->reason, written);
	else
		snprintf(ret->why, sizeof(ret->why), "not installed%s", written);
}

/* What it says may only go on by a person's grant. */
static void
decide_is_on(const struct bu_plan_node *it, struct bu_decision *ret)
{
	ret->class = it->node->order.class;
	ret->reset = 1;
	snprintf(ret->why, sizeof(ret->why), "%s", it->node->held_reason);
}

/* The machine that is bound leaves for good; the next one is written like a new one. */
static void
decide_replaced(const struct bu_plan_node *it, struct bu_decision *ret)
{
	ret->class = BU_CLASS_INSTALL;
	ret->served = it->node->state == BU_STATE_READY;
	snprintf(ret->why, sizeof(ret->why), "%s", it->identity->why);
}

/* Under its new name it has to leave its cluster and come back; whatever else changes
 * is done on the way. */
static void
add_rename(const struct bu_plan_node *it, struct bu_decision *ret)
{
	char more[sizeof(ret->why)];

	if (it->node->state == BU_STATE_READY && ret->class < BU_CLASS_RESTART)
		ret->class = BU_CLASS_RESTART;
	ret->withdraw = 0;
	ret->served = it->node->state == BU_STATE_READY;
	ret->renamed = 1;
	memcpy(more, ret->why, sizeof(more));
	snprintf(ret->why, sizeof(ret->why), "%.250s%s%.300s", it->identity->why,
		 more[0] ? "; " : "", more);
}

static void
decide_ready(const struct bu_plan_input *input, const struct bu_plan_node *it,
	     struct bu_decision *ret)
{
	const struct bu_order *order = &it->node->order;

	ret->changes = bu_plan_changes(input, it);
	ret->class = bu_plan_changes_class(ret->changes);
	if (ret->class != BU_CLASS_NONE) {
		bu_plan_changes_text(ret->changes, ret->why, sizeof(ret->why));
		if (order->failed)
			snprintf(ret->why + strlen(ret->why),
				 sizeof(ret->why) - strlen(ret->why),
				 "; last time: %.200s", order->reason);
		ret->served = 1;
		return;
	}
	if (!order->open)
		return;
	ret->withdraw = 1;
	snprintf(ret->why, sizeof(ret->why),
		 "rollout %s would have changed it; that is not wanted any more",
		 order->rollout);
}

/* A person wants it written anew, whatever it is. */
static void
decide_rebuild(const struct bu_plan_input *input, const struct bu_plan_node *it,
	       struct bu_decision *ret)
{
	const struct bu_node *node = it->node;
	const struct bu_desired_pool *pool = it->want->pool;

	if (it->identity->kind != BU_IDENTITY_SAME) {
		refuse(ret, "%s; bringup apply comes first", it->identity->why);
		return;
	}
	if (input->rebuild == BU_CLASS_REIMAGE &&
	    (!node->installed_digest[0] || !pool->data)) {
		refuse(ret, "there is no data to keep; rebuild it with --grant wipe");
		return;
	}
	ret->class = input->rebuild;
	ret->served = node->state == BU_STATE_READY;
	snprintf(ret->why, sizeof(ret->why), "to be rebuilt");
	if (node->held_by[0])
		refuse(ret, "held by %s: %s; bringup node release lets it go",
		       node->held_by, node->held_reason);
}

int
bu_plan_overtakes(const struct bu_plan_node *it, struct bu_decision *ret)
{
	const struct bu_order *order = it->node ? &it->node->order : NULL;

	if (!order || !order->open || order->begun || same_target(it) ||
	    it->identity->kind != BU_IDENTITY_SAME)
		return 0;
	json_decref(ret->changes);
	*ret = (struct bu_decision){.class = BU_CLASS_NONE, .withdraw = 1};
	snprintf(ret->why, sizeof(ret->why),
		 "rollout %s would make it what another revision says; plan it again "
		 "afterwards",
		 order->rollout);
	return 1;
}

void
bu_plan_decide(const struct bu_plan_input *input, const struct bu_plan_node *it,
	       struct bu_decision *ret)
{
	const struct bu_node *node = it->node;

	memset(ret, 0, sizeof(*ret));
	if (it->identity->kind == BU_IDENTITY_CONFLICT ||
	    it->identity->kind == BU_IDENTITY_NOT_NOW) {
		refuse(ret, "%s", it->identity->why);
		return;
	}
	if (!node) {
		ret->class = BU_CLASS_INSTALL;
		snprintf(ret->why, sizeof(ret->why), "new in the profile");
		return;
	}
	if (node->held_for == BU_HOLD_IS_ON && node->order.open) {
		decide_is_on(it, ret);
		return;
	}
	if (!bu_state_info(node->state)->settled ||
	    (node->order.open && node->order.begun)) {
		decide_under_way(it, ret);
		return;
	}
	if (node->state == BU_STATE_RETIRED) {
		refuse(ret, "it is retired; take it out of the profile, or replace it");
		return;
	}
	if (node->state == BU_STATE_SERVICING) {
		refuse(ret, "it is being serviced; bringup node release %s ends that",
		       node->name);
		return;
	}
	if (input->rebuild) {
		decide_rebuild(input, it, ret);
		return;
	}
	if (node->order.open && same_target(it) &&
	    it->identity->kind == BU_IDENTITY_SAME) {
		ret->waits = 1;
		return;
	}
	if (it->identity->kind == BU_IDENTITY_REPLACED)
		decide_replaced(it, ret);
	else if (node->state == BU_STATE_READY)
		decide_ready(input, it, ret);
	else
		decide_out_of_service(input, it, ret);
	if (it->identity->kind == BU_IDENTITY_RENAMED)
		add_rename(it, ret);
	if (node->held_by[0] && ret->class != BU_CLASS_NONE)
		refuse(ret, "held by %s: %s; bringup node release lets it go",
		       node->held_by, node->held_reason);
}
