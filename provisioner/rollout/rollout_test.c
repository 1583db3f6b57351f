/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and turns, under the limits of a pool. */
#include "provisioner/rollout/rollout.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"
#include "tests/support/world.h"

static void
on_change(struct bu_world *world, struct bu_node *node, void *arg)
{
	bu_rollouts_kick(arg);
}

/* Nodes in service with image d1; half of the pool may be away. */
static void
begin(struct rig *rig, int nodes)
{
	rig_begin(rig, nodes);
	for (int i = 1; i <= nodes; i++) {
		struct bu_event events[2];
		const char *name = rig_node(rig, i)->name;

		bu_event_init(
			&events[0], BU_EVENT_INSTALLED, name,
			json_pack("{s:s,s:s}", "image", "debian12", "digest", "d1"));
		bu_event_init(&events[1], BU_EVENT_STATE, name,
			      json_pack("{s:s}", "to", "ready"));
		bu_reconcile_note(rig->rec, events, 2);
	}
	rig_pass(rig, 1);
	rig_write(rig, "sinfo", "draining\n"); /* jobs that do not end */
	rig->world->on_change = on_change;
	rig->world->on_change_arg = rig->rollouts;
}

static int
count_in(const struct rig *rig, enum bu_state state)
{
	int count = 0;

	for (size_t i = 0; i < rig->world->count; i++)
		count += rig->world->nodes[i]->state == state;
	return count;
}

static json_t *
plan_of(const struct rig *rig, int nodes, const char *class)
{
	json_t *steps = json_array();

	for (int i = 1; i <= nodes; i++)
		json_array_append_new(steps,
				      json_pack("{s:s,s:s,s:s,s:s}", "node",
						rig_node(rig, i)->name, "class", class,
						"image", "debian12", "digest", "d2"));
	return json_pack("{s:s,s:s,s:o}", "revision", rig->world->revision, "commit",
			 "c0ffee", "steps", steps);
}

static void
pass_some(struct rig *rig)
{
	for (int i = 0; i < 30; i++)
		rig_pass(rig, 2);
}

START_TEST(what_destroys_is_not_done_without_its_grant)
{
	struct rig rig;
	bu_autojson json_t *plan = NULL;
	struct bu_err err = {0};
	char id[40] = "none";

	begin(&rig, 2);
	plan = plan_of(&rig, 2, "wipe");
	ck_assert_int_eq(
		bu_rollouts_apply(rig.rollouts, plan, "abcdef0", NULL, "me", id, &err),
		-1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_ptr_nonnull(strstr(err.text, "node001,node002"));
	ck_assert_str_eq(id, "none");
	pass_some(&rig);
	ck_assert_int_eq(rig_node(&rig, 1)->order.open, 0);
	ck_assert_int_eq(count_in(&rig, BU_STATE_READY), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(no_more_are_away_than_the_pool_allows)
{
	struct rig rig;
	bu_autojson json_t *plan = NULL, *json = NULL;
	char id[40];
	struct bu_event event;

	begin(&rig, 4);
	plan = plan_of(&rig, 4, "wipe");
	ck_assert_int_eq(bu_rollouts_apply(rig.rollouts, plan, "abcdef0", "wipe", "me",
					   id, NULL),
			 0);
	ck_assert_str_eq(id, "r-1700000000-abcdef");
	pass_some(&rig);
	ck_assert_str_eq(rig.world->rollout.id, id);
	ck_assert_int_eq(rig.world->rollout.wipe_granted, 1);
	ck_assert_str_eq(rig.world->commit, "c0ffee");
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 2); /* 50 % of 4 */
	ck_assert_int_eq(count_in(&rig, BU_STATE_READY), 2);
	json = bu_rollouts_json(rig.rollouts);
	ck_assert_int_eq(bu_json_int(json, "total", 0), 4);
	ck_assert_int_eq(bu_json_int(json, "turn", 0), 2);
	ck_assert_int_eq(bu_json_int(json, "under_way", 0), 2);
	/* one comes back as it was ordered: the next has its turn */
	bu_event_init(&event, BU_EVENT_INSTALLED, "node001",
		      json_pack("{s:s,s:s}", "image", "debian12", "digest", "d2"));
	bu_reconcile_note(rig.rec, &event, 1);
	bu_event_init(&event, BU_EVENT_STATE, "node001",
		      json_pack("{s:s}", "to", "ready"));
	bu_reconcile_note(rig.rec, &event, 1);
	pass_some(&rig);
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_READY);
	ck_assert_int_eq(rig_node(&rig, 1)->order.open, 0);
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 2);
	json_decref(json);
	json = bu_rollouts_json(rig.rollouts);
	ck_assert_int_eq(bu_json_int(json, "ready", 0), 1);
	ck_assert_int_eq(bu_json_int(json, "turn", 0), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(who_is_out_of_service_anyway_starts_at_once)
{
	struct rig rig;
	bu_autojson json_t *plan = NULL;
	char id[40];

	rig_begin(&rig, 4);
	rig.world->on_change = on_change;
	rig.world->on_change_arg = rig.rollouts;
	plan = plan_of(&rig, 4, "install");
	ck_assert_int_eq(
		bu_rollouts_apply(rig.rollouts, plan, "abcdef0", NULL, "me", id, NULL),
		0);
	pass_some(&rig);
	ck_assert_int_eq(count_in(&rig, BU_STATE_INSPECTING), 4);
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_that_left_the_profile_blocks_nobody)
{
	struct rig rig;
	bu_autojson json_t *plan = NULL;
	struct bu_event event;
	char id[40];

	begin(&rig, 3); /* 50 % of 3: one at a time */
	bu_event_init(&event, BU_EVENT_STATE, "node003",
		      json_pack("{s:s}", "to", "failed"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig.world->on_change = NULL;
	rig_apply(&rig, 2, BU_CLASS_NONE, "d1", NULL, NULL);
	rig.world->on_change = on_change;
	plan = plan_of(&rig, 2, "wipe");
	bu_rollouts_apply(rig.rollouts, plan, "abcdef0", "wipe", "me", id, NULL);
	pass_some(&rig);
	ck_assert_int_eq(count_in(&rig, BU_STATE_DRAINING), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(without_a_rollout_there_is_none)
{
	struct rig rig;
	bu_autojson json_t *json = NULL;

	rig_begin(&rig, 0);
	json = bu_rollouts_json(rig.rollouts);
	ck_assert(json_is_null(json));
	rig_end(&rig);
}
END_TEST

RIG_UNIT("rollout", what_destroys_is_not_done_without_its_grant,
	 no_more_are_away_than_the_pool_allows,
	 who_is_out_of_service_anyway_starts_at_once,
	 a_node_that_left_the_profile_blocks_nobody, without_a_rollout_there_is_none)
