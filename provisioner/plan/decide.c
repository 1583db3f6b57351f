/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One decision per node. Called by plan.c. Invariants: a node whose disk may hold data
 * is never planned as install, nor is one whose machine runs a system that could not be
 * adopted. A node that a person holds, or with an order under way, is left alone, with
 * the reason.
 */
#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
#include "provisioner/plan/plan_impl.h"

/* refuse(ret, PARKED, .text = {name}) */
#define refuse(ret, id, ...)                                                           \
	do {                                                                           \
		BU_REASON_SET(&(ret)->why, id, __VA_ARGS__);                           \
		(ret)->refused = 1;                                                    \
	} while (0)

/* Does the order lead to the desired state? */
static int
same_target(const struct bu_plan_node *it)
{
	const struct bu_order *order = it->node->order;

	return strcmp(order->image_digest, it->image->digest) == 0 &&
	       (!order->facets[0] || strcmp(order->facets, it->digest) == 0);
}

static void
decide_under_way(const struct bu_plan_node *it, struct bu_decision *ret)
{
	const struct bu_order *order = it->node->order;
	int image = strcmp(order->image_digest, it->image->digest) != 0;
	const char *state = bu_state_name(it->node->state);

	if (it->identity->kind == BU_MACHINE_IDENTITY_REPLACED) {
		bu_autofree char *why = bu_reason_pack(&it->identity->why);

		refuse(ret, REPLACED_ON_WAY, .text = {why, state, it->node->name});
		return;
	}
	/* the order goes on */
	if (same_target(it))
		return;
	refuse(ret, UNDER_WAY,
	       .text = {it->node->state == BU_STATE_READY ? "being changed" : state,
			image ? "another image" : "other settings",
			bu_node_keeps_files(it->node) ? order->rollout : ""},
	       .number = {it->node->hold->owner != BU_OWNER_NONE});
}

static enum bu_plan_disk
disk_of(const struct bu_plan_input *input, const struct bu_plan_node *it)
{
	return input->disk(input->arg, it->node, it->want->hardware->disk);
}

json_t *
bu_plan_scratch(const struct bu_plan_input *input, const struct bu_plan_node *it)
{
	const char *wanted = bu_desired_scratch(it->want);

	if (!wanted || !it->node || !input->scratch)
		return NULL;
	return input->scratch(input->arg, it->node, it->want->hardware, wanted);
}

json_t *
bu_plan_mirror(const struct bu_plan_input *input, const struct bu_plan_node *it)
{
	const char *wanted = bu_desired_mirror(it->want);

	if (!wanted || !it->node || !input->mirror)
		return NULL;
	return input->mirror(input->arg, it->node, it->want->hardware, wanted);
}

/* Is a disk besides the first one written? */
static int
other_is_written(const struct bu_plan_input *input, const struct bu_plan_node *it)
{
	bu_autojson json_t *mirror = bu_plan_mirror(input, it);
	bu_autojson json_t *list = bu_plan_scratch(input, it);
	json_t *disk;
	size_t i;

	json_array_foreach (list, i, disk)
		if (bu_json_bool(disk, "written", 0))
			return 1;
	return bu_json_bool(mirror, "written", 0);
}

/* Would data survive a reimage? Arrays do, and data partitions but on a new disk. */
static int
has_data(const struct bu_plan_input *input, const struct bu_plan_node *it)
{
	return bu_desired_scratch(it->want) ||
	       (bu_desired_keeps(it->want) && disk_of(input, it) != BU_PLAN_DISK_EMPTY);
}

/* The class that writes a node anew: content of its disks goes only by a grant. */
static enum bu_class
disk_class(const struct bu_plan_input *input, const struct bu_plan_node *it,
	   const json_t *changes)
{
	enum bu_plan_disk disk = disk_of(input, it);
	int on_disk = it->node->installed_digest[0] && !it->node->ram;

	/* the system goes to memory; the disks stay */
	if (bu_desired_is_ram(it->want))
		return BU_CLASS_INSTALL;
	/* a wipe that broke off leaves no system to write beside */
	if (it->node->writing && it->node->order->class == BU_CLASS_WIPE)
		return BU_CLASS_WIPE;
	if (on_disk && has_data(input, it) &&
	    bu_plan_changes_class(changes) < BU_CLASS_WIPE)
		return BU_CLASS_REIMAGE;
	if (it->node->disk_touched || on_disk || disk == BU_PLAN_DISK_WRITTEN ||
	    it->node->conditions[BU_CONDITION_UNADOPTED].on ||
	    other_is_written(input, it))
		return BU_CLASS_WIPE;
	return BU_CLASS_INSTALL;
}

/* The node is as desired: withdraws its open order, which has another target. */
static void
withdraw_other(const struct bu_order *order, struct bu_decision *ret)
{
	if (!order->open)
		return;
	ret->withdraw = 1;
	BU_REASON_SET(&ret->why, NOT_WANTED, .text = {order->rollout});
}

/* The system is installed: a person decides on another test or another installation. */
static void
decide_quarantined(const struct bu_plan_node *it, struct bu_decision *ret)
{
	const struct bu_node *node = it->node;
	int held = node->hold->owner == BU_OWNER_PERSON;
	bu_autofree char *why = bu_reason_pack(node->reason);

	ret->refused = bu_plan_changes_class(ret->changes) != BU_CLASS_NONE;
	ret->stays = !ret->refused;
	ret->withdraw = ret->stays && node->order->open;
	BU_REASON_SET(&ret->why, QUARANTINED,
		      .text = {why, node->name, held ? node->hold->by : ""},
		      .number = {ret->refused});
}

static void
decide_out_of_service(const struct bu_plan_input *input, const struct bu_plan_node *it,
		      struct bu_decision *ret)
{
	const struct bu_node *node = it->node;
	bu_autofree char *reason = bu_reason_pack(node->reason);
	int written;

	if (node->installed_digest[0])
		ret->changes = bu_plan_changes(input, it);
	if (node->state == BU_STATE_PARKED && node->installed_digest[0] &&
	    bu_plan_changes_class(ret->changes) == BU_CLASS_NONE) {
		withdraw_other(node->order, ret);
		return;
	}
	if (node->state == BU_STATE_PARKED && node->installed_digest[0] &&
	    bu_plan_changes_class(ret->changes) < BU_CLASS_INSTALL) {
		refuse(ret, PARKED, .text = {node->name});
		return;
	}
	/* from memory, another image is a restart and ends the quarantine */
	if (node->state == BU_STATE_QUARANTINED &&
	    strcmp(node->installed_digest, it->image->digest) == 0 && !node->writing &&
	    bu_plan_changes_class(ret->changes) < BU_CLASS_INSTALL) {
		decide_quarantined(it, ret);
		return;
	}
	ret->class = disk_class(input, it, ret->changes);
	written = ret->class != BU_CLASS_INSTALL && !node->disk_touched;
	if (node->reason->code)
		BU_REASON_SET(&ret->why, OUT_OF_SERVICE,
			      .text = {bu_state_name(node->state), reason},
			      .number = {written});
	else
		BU_REASON_SET(&ret->why, NOT_INSTALLED, .number = {written});
}

/* The order goes on only by a person's grant. */
static void
decide_is_on(const struct bu_plan_node *it, struct bu_decision *ret)
{
	bu_autofree char *words = bu_reason_pack(&it->node->hold->reason);

	ret->class = it->node->order->class;
	ret->reset = 1;
	BU_REASON_SET(&ret->why, WANTS_RESET, .text = {words});
}

/* The bound machine leaves for good; its successor is installed like a new one. */
static void
decide_replaced(const struct bu_plan_node *it, struct bu_decision *ret)
{
	ret->class = BU_CLASS_INSTALL;
	ret->served = it->node->state == BU_STATE_READY;
	ret->why = it->identity->why;
}

/* A renamed node leaves its cluster and comes back, with all other changes on the
 * way. */
static void
add_rename(const struct bu_plan_node *it, const struct bu_reason *why,
	   struct bu_decision *ret)
{
	bu_autofree char *more = NULL, *last = NULL;

	if (it->node->state == BU_STATE_READY && ret->class < BU_CLASS_RESTART)
		ret->class = BU_CLASS_RESTART;
	ret->withdraw = 0;
	ret->served = it->node->state == BU_STATE_READY;
	if (ret->why.code == BU_REASON_CHANGED) {
		more = bu_xstrdup(bu_reason_arg(&ret->why, "changes"));
		last = bu_xstrdup(bu_reason_arg(&ret->why, "last"));
	} else {
		more = bu_reason_pack(&ret->why);
	}
	ret->why = *why;
	bu_reason_set_text(&ret->why, "more", more);
	bu_reason_set_text(&ret->why, "last", last ? last : "");
}

/* This order replaces that of the rename, which has not begun, and renames too.
 * Otherwise the system would keep the old name, in its cluster too. */
static void
finish_rename(const struct bu_plan_node *it, struct bu_decision *ret)
{
	struct bu_reason why;

	if (ret->withdraw)
		bu_reason_set(&ret->why, BU_REASON_NONE, NULL);
	BU_REASON_SET(&why, STILL_CALLED, .text = {it->node->called});
	add_rename(it, &why, ret);
}

static void
decide_ready(const struct bu_plan_input *input, const struct bu_plan_node *it,
	     struct bu_decision *ret)
{
	const struct bu_order *order = it->node->order;

	ret->changes = bu_plan_changes(input, it);
	ret->class = bu_plan_changes_class(ret->changes);
	if (ret->class != BU_CLASS_NONE) {
		bu_autofree char *last = bu_reason_pack(&order->reason);
		char changes[320];

		bu_plan_changes_text(ret->changes, changes, sizeof(changes));
		BU_REASON_SET(&ret->why, CHANGED,
			      .text = {changes, order->failed ? last : ""});
		ret->served = 1;
		return;
	}
	withdraw_other(order, ret);
}

static void
refuse_held(const struct bu_node *node, struct bu_decision *ret)
{
	bu_autofree char *why = bu_reason_pack(&node->hold->reason);

	refuse(ret, HELD, .text = {node->hold->by, why});
}

/* A person wants the node written anew, whatever its state. */
static void
decide_rebuild(const struct bu_plan_input *input, const struct bu_plan_node *it,
	       struct bu_decision *ret)
{
	const struct bu_node *node = it->node;

	if (it->identity->kind != BU_MACHINE_IDENTITY_SAME) {
		bu_autofree char *why = bu_reason_pack(&it->identity->why);

		refuse(ret, APPLY_FIRST, .text = {why});
		return;
	}
	if (input->rebuild == BU_CLASS_REIMAGE && !bu_desired_is_ram(it->want) &&
	    (!node->installed_digest[0] || !has_data(input, it))) {
		refuse(ret, NO_DATA, .number = {0});
		return;
	}
	ret->class = input->rebuild;
	if (bu_desired_is_ram(it->want))
		ret->class = node->state == BU_STATE_READY ? BU_CLASS_REBOOT
							   : BU_CLASS_INSTALL;
	ret->served = node->state == BU_STATE_READY;
	BU_REASON_SET(&ret->why, REBUILD, .number = {0});
	if (node->hold->owner)
		refuse_held(node, ret);
}

int
bu_plan_restarts(const struct bu_plan_input *input, const struct bu_plan_node *it)
{
	const struct bu_node *node = it->node;

	for (size_t i = 0; input->restart && i < input->restart->count; i++)
		if (strcmp(input->restart->names[i], it->want->name) == 0)
			return node && node->order->open && node->order->begun;
	return 0;
}

/* Decides as after an abort: from where the node was before its turn. */
static void
decide_restart(const struct bu_plan_input *input, const struct bu_plan_node *it,
	       struct bu_decision *ret)
{
	const struct bu_node *node = it->node;
	struct bu_err err;

	if (it->identity->kind != BU_MACHINE_IDENTITY_SAME) {
		decide_under_way(it, ret);
		return;
	}
	if (bu_node_check_recall(node, &err) != 0) {
		refuse(ret, GOES_ON, .text = {err.text});
		return;
	}
	if (node->order->served || node->state == BU_STATE_DRAINING)
		decide_ready(input, it, ret);
	else
		decide_out_of_service(input, it, ret);
	ret->anew = 1;
}

int
bu_plan_overtakes(const struct bu_plan_node *it, struct bu_decision *ret)
{
	const struct bu_order *order = it->node ? it->node->order : NULL;

	if (!order || !order->open || order->begun || same_target(it) ||
	    it->identity->kind != BU_MACHINE_IDENTITY_SAME)
		return 0;
	json_decref(ret->changes);
	*ret = (struct bu_decision){.class = BU_CLASS_NONE, .withdraw = 1};
	BU_REASON_SET(&ret->why, OVERTAKEN, .text = {order->rollout});
	return 1;
}

/* Did a person take the node out? Refused, with the way back. */
static int
is_taken_out(const struct bu_node *node, struct bu_decision *ret)
{
	if (node->state == BU_STATE_RETIRED)
		refuse(ret, RETIRED, .number = {0});
	else if (node->state == BU_STATE_SERVICING)
		refuse(ret, SERVICED, .text = {node->name});
	return ret->refused;
}

void
bu_plan_decide(const struct bu_plan_input *input, const struct bu_plan_node *it,
	       struct bu_decision *ret)
{
	const struct bu_node *node = it->node;

	memset(ret, 0, sizeof(*ret));
	if (it->identity->kind == BU_MACHINE_IDENTITY_CONFLICT ||
	    it->identity->kind == BU_MACHINE_IDENTITY_NOT_NOW) {
		ret->why = it->identity->why;
		ret->refused = 1;
		return;
	}
	if (!node) {
		ret->class = BU_CLASS_INSTALL;
		BU_REASON_SET(&ret->why, NEW, .number = {0});
		return;
	}
	if (input->adopts && input->adopts(input->arg, node)) {
		ret->adopts = 1;
		return;
	}
	if (bu_plan_restarts(input, it)) {
		decide_restart(input, it, ret);
		return;
	}
	if (node->hold->reason.code == BU_REASON_IS_ON && node->order->open) {
		decide_is_on(it, ret);
		return;
	}
	if (!bu_state_info(node->state)->settled ||
	    (node->order->open && node->order->begun)) {
		decide_under_way(it, ret);
		return;
	}
	if (is_taken_out(node, ret))
		return;
	if (input->rebuild) {
		decide_rebuild(input, it, ret);
		return;
	}
	if (node->order->open && same_target(it) &&
	    it->identity->kind == BU_MACHINE_IDENTITY_SAME) {
		ret->waits = 1;
		return;
	}
	if (it->identity->kind == BU_MACHINE_IDENTITY_REPLACED)
		decide_replaced(it, ret);
	else if (node->state == BU_STATE_READY)
		decide_ready(input, it, ret);
	else
		decide_out_of_service(input, it, ret);
	if (it->identity->kind == BU_MACHINE_IDENTITY_RENAMED) {
		ret->renamed = 1;
		add_rename(it, &it->identity->why, ret);
	} else if (it->identity->kind == BU_MACHINE_IDENTITY_SAME && node->called[0] &&
		   node->state == BU_STATE_READY) {
		finish_rename(it, ret);
	}
	if (node->hold->owner && ret->class != BU_CLASS_NONE)
		refuse_held(node, ret);
}
