/* SPDX-License-Identifier: Apache-2.0 */
/* What of a plan becomes an order, and who is given no turn. */
#include "tests/support/quoted.h"
#include "tests/support/rollout.h"
#include "tests/support/row.h"

/* Each row: what is granted for a wipe of node001 and node002, and what is said. */
START_TEST(what_destroys_is_not_done_without_its_grant)
{
	static const struct {
		const char *class, *grants, *says; /* says NULL = it is applied */
	} rows[] = {
		{"wipe", "[]",
		 "node[001-002]; apply with --grant wipe:node[001-002] if"},
		{"reimage", "[]",
		 "node[001-002]; apply with --grant reimage:node[001-002] if"},
		{"wipe", "[{'class':'reimage'}]", "node[001-002]; apply with --grant"},
		{"wipe", "[{'class':'wipe','nodes':'node002,other'}]",
		 ": node001; apply with --grant wipe:node001 if"},
		{"wipe", "[{'class':'wipe','nodes':'node['}]", "grant of wipe"},
		{"wipe", "[{'class':'wipe','nodes':['node001']}]", "'nodes': give a"},
		{"wipe", "[{'class':'wipe','nodes':''}]", "'nodes': give a nodeset"},
		/* by a planner of another version: nobody knows what it destroys */
		{"wippe", "[{'class':'wipe'}]", "class 'wippe' is unknown"},
		{"wipe", "[{'class':'restart'}]", "'restart' cannot be granted"},
		{"wipe", "[{'class':'wipe','nodes':'node[001-002]'}]", NULL},
		{"reimage",
		 "[{'class':'reimage','nodes':'node001'},"
		 "{'class':'wipe','nodes':'node002'}]",
		 NULL},
		{"reboot", "[]", NULL},
	};
	struct rig rig;

	begin(&rig, 2, NULL);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *plan = plan_of(&rig, 2, rows[i].class);
		bu_autofree char *text = bu_xstrdup(rows[i].grants);
		bu_autojson json_t *grants = NULL;
		size_t before = rig.fleet->rollouts_count;
		char id[40] = "none", digest[16];
		struct bu_err err = {0};
		int rc;

		for (char *c = text; *c; c++)
			*c = *c == '\'' ? '"' : *c;
		grants = json_loads(text, 0, NULL);
		snprintf(digest, sizeof(digest), "%06zu", i);
		rc = consent_apply(rig.rollouts, plan, digest, grants, id, &err);
		rig_pass(&rig, 1);
		ck_assert_msg(rc == (rows[i].says ? -1 : 0), "%s: %s", text, err.text);
		ck_assert_uint_eq(rig.fleet->rollouts_count - before,
				  rows[i].says == NULL);
		if (!rows[i].says)
			continue;
		has(err.text, rows[i].says);
		ck_assert_str_eq(id, "none");
		ck_assert_int_eq(rig_node(&rig, 1)->order->open, 0);
		ck_assert_int_eq(count_in(&rig, BU_STATE_READY), 2);
	}
	rig_end(&rig);
}
END_TEST

/* Of a field with another type nothing is guessed. */
START_TEST(a_plan_that_makes_no_sense_orders_nothing)
{
	static const struct {
		const char *member, *key, *value, *says;
	} rows[] = {
		{"steps", "class", "5", "steps[1].class: expected a text"},
		{"steps", "reset", "\"no\"", "steps[1].reset: expected true or false"},
		{"steps", "batch", "\"0\"", "steps[1].batch: expected a whole number"},
		{"steps", "disk", "[]", "steps[1].disk: expected an object"},
		{"renames", "old001", "1", "renames.old001: expected a text"},
	};
	struct rig rig;
	size_t before;

	begin(&rig, 2, NULL);
	before = rig.fleet->rollouts_count;
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *plan = plan_of(&rig, 2, "reboot");
		json_t *in, *value = json_loads(rows[i].value, JSON_DECODE_ANY, NULL);
		char id[40] = "none";
		struct bu_err err = {0};

		json_object_set_new(plan, "renames", json_object());
		in = json_object_get(plan, rows[i].member);
		in = json_is_array(in) ? json_array_get(in, 1) : in;
		json_object_set_new(in, rows[i].key, value);
		ck_assert_int_eq(
			consent_apply(rig.rollouts, plan, "111111", NULL, id, &err),
			-1);
		has(err.text, rows[i].says);
		rig_pass(&rig, 1);
		ck_assert_uint_eq(rig.fleet->rollouts_count, before);
		ck_assert_int_eq(rig_node(&rig, 2)->order->open, 0);
	}
	rig_end(&rig);
}
END_TEST

START_TEST(a_plan_without_steps_is_no_rollout)
{
	struct rig rig;
	bu_autojson json_t *list = NULL, *plan = NULL;
	char kinds[4096], revision[65], id[40] = "?";
	int64_t seq;

	begin(&rig, 2, NULL);
	seq = rig_node(&rig, 2)->state_seq;
	memcpy(revision, rig.fleet->revision, sizeof(revision));
	/* the very first one, of a revision without a commit, too */
	rig_revise(&rig, 2, "zone = z1", "zone = z2");
	plan = plan_of(&rig, 0, "reboot");
	json_object_set_new(plan, "revision", json_string(revision));
	ck_assert_int_eq(consent_apply(rig.rollouts, plan, "111111", NULL, id, NULL),
			 0);
	ck_assert_str_eq(id, "");
	pass_some(&rig);
	ck_assert_str_eq(rig.fleet->revision, revision);
	ck_assert_str_eq(rig.fleet->commit, "c0ffee");
	rig_events_after(&rig, seq, kinds);
	ck_assert_str_eq(kinds, "- - - - ");
	/* again: all of it is so already */
	ck_assert_int_eq(consent_apply(rig.rollouts, plan, "111111", NULL, id, NULL),
			 0);
	ck_assert_str_eq(id, "");
	pass_some(&rig);
	rig_events_after(&rig, seq, kinds);
	ck_assert_str_eq(kinds, "- - - - ");
	/* the same tree by another commit: that is what is applied now */
	json_object_set_new(plan, "commit", json_string("c0ffee2"));
	ck_assert_int_eq(consent_apply(rig.rollouts, plan, "222222", NULL, id, NULL),
			 0);
	pass_some(&rig);
	ck_assert_str_eq(rig.fleet->commit, "c0ffee2");
	list = bu_rollouts_list(rig.rollouts);
	ck_assert_uint_eq(json_array_size(list), 1);
	ck_assert_str_eq(bu_json_str(json_array_get(list, 0), "id", ""), "r-1");
	rig_restart(&rig);
	ck_assert_uint_eq(rig.fleet->rollouts_count, 1);
	ck_assert_str_eq(rig.fleet->commit, "c0ffee2");
	rig_end(&rig);
}
END_TEST

/* Who is held, and by whom; "" = nobody. */
static void
hold(struct rig *rig, int number, const char *owner)
{
	struct bu_event event;

	row_init(&event, *owner ? BU_EVENT_HELD : BU_EVENT_RELEASED,
		 rig_node(rig, number)->name,
		 json_pack("{s:s,s:s}", "owner", owner, "reason", "a card"));
	bu_reconcile_note(rig->rec, &event, 1);
	pass_some(rig);
}

START_TEST(a_held_node_is_given_no_turn)
{
	static const char *const classes[] = {"relabel", "reboot", "wipe"};

	for (size_t i = 0; i < BU_LEN(classes); i++) {
		struct rig rig;

		begin(&rig, 2, NULL);
		hold(&rig, 1, "anna");
		apply(&rig, 1, classes[i]);
		ck_assert_int_eq(rig_node(&rig, 1)->order->open, 1);
		ck_assert_int_eq(rig_node(&rig, 1)->order->begun, 0);
		ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_READY);
		waits_for(&rig, 1, "it is held by anna");
		hold(&rig, 1, "");
		ck_assert_int_eq(rig_node(&rig, 1)->order->begun, 1);
		rig_end(&rig);
	}
}
END_TEST

/* Of those that stand in the way the one is named that only a person brings back,
 * whatever its name and its state. */
START_TEST(who_waits_is_told_of_the_one_that_needs_a_person)
{
	struct rig rig;

	begin(&rig, 4, NULL);
	move(&rig, 4, "quarantined", "accused", "slow");
	apply(&rig, 3, "wipe");
	come_back(&rig, 1);
	pass_some(&rig);
	waits_for(&rig, 3,
		  "2 of pool train are away or under way, node004 (quarantined) among "
		  "them");
	rig_end(&rig);
	begin(&rig, 4, NULL);
	apply(&rig, 4, "wipe");
	come_back(&rig, 1);
	hold(&rig, 3, "anna");
	waits_for(&rig, 4,
		  "2 of pool train are away or under way, node003 (draining) among "
		  "them");
	rig_end(&rig);
}
END_TEST

START_TEST(under_the_brake_nobody_is_given_a_turn)
{
	struct rig rig;

	rig_begin(&rig, 4);
	for (int i = 1; i <= 3; i++)
		rig_start(&rig, i);
	rig_pass(&rig, 310 * 1000);
	pass_some(&rig);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 1);
	watch(&rig);
	pass_some(&rig);
	ck_assert_int_eq(rig_node(&rig, 4)->state, BU_STATE_ENROLLED);
	waits_for(&rig, 4, "the brake is on for pool train");
	for (int i = 1; i <= 3; i++)
		rig_inspect(&rig, i);
	rig_pass(&rig, 2000);
	rig_pass(&rig, 2000);
	pass_some(&rig);
	ck_assert_uint_eq(json_object_size(rig.fleet->brakes), 0);
	rig_pass(&rig, 20 * 1000);
	rig_until(&rig, rig_node(&rig, 4), BU_STATE_INSPECTING);
	rig_end(&rig);
}
END_TEST

/* Without an order, and in its turn. */
START_TEST(who_has_no_turn_to_wait_for_is_told_of_none)
{
	bu_autojson json_t *why = NULL;
	struct rig rig;

	begin(&rig, 2, NULL);
	ck_assert_ptr_null(bu_rollouts_why(rig.rollouts, rig_node(&rig, 1)));
	apply(&rig, 2, "reboot");
	ck_assert_int_eq(count_begun(&rig), 1);
	ck_assert_ptr_null(bu_rollouts_why(rig.rollouts, rig_node(&rig, 1)));
	why = bu_rollouts_why(rig.rollouts, rig_node(&rig, 2));
	ck_assert_ptr_nonnull(why);
	rig_end(&rig);
}
END_TEST

static int
keep_order(const struct bu_event *event, void *arg)
{
	json_t **order = arg;

	if (event->kind == BU_EVENT_ORDER) {
		json_decref(*order);
		*order = json_incref(event->body);
	}
	return 0;
}

/* The log says of a disk what there is to say, and of each one of an array. */
START_TEST(an_order_names_the_disk_that_its_step_names)
{
	static const struct {
		const char *key, *text;
	} rows[] = {
		{"disk", NULL},
		{"disk", "{'path':'','serial':'','holds':'','wanted':'smallest',"
			 "'wwn':''}"},
		{"disk", "{'holds':'ext4','path':'/dev/vda','serial':'S1',"
			 "'size_bytes':4096,'wanted':'any','wwn':''}"},
		{"disk", "{'holds':'','path':'/dev/vda','serial':'',"
			 "'size_bytes':4096,'wanted':'any','wwn':'naa.5000c5'}"},
		{"scratch", NULL},
		{"scratch", "[{'path':'/dev/vdb','serial':'S2','wwn':'',"
			    "'size_bytes':4096,'holds':'ext4'},"
			    "{'path':'/dev/vdc','serial':'','wwn':'naa.5000c5',"
			    "'size_bytes':8192,'holds':''}]"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *disk = rows[i].text ? quoted(rows[i].text) : NULL;
		bu_autojson json_t *plan = NULL, *order = NULL;
		const json_t *logged;
		char id[40];
		struct rig rig;

		begin(&rig, 1, NULL);
		plan = plan_of(&rig, 1, "reboot");
		if (disk)
			json_object_set(
				json_array_get(json_object_get(plan, "steps"), 0),
				rows[i].key, disk);
		ck_assert_int_eq(
			consent_apply(rig.rollouts, plan, "111111", NULL, id, NULL), 0);
		pass_some(&rig);
		ck_assert_int_eq(
			bu_store_read(rig.store, 0, 0, keep_order, &order, NULL), 0);
		logged = json_object_get(order, rows[i].key);
		ck_assert(disk ? json_equal(logged, disk) : !logged);
		rig_end(&rig);
	}
}
END_TEST

/* Two rollouts of one pool: each says what its own nodes wait for. */
START_TEST(a_pool_waits_for_the_reasons_of_its_own_rollout)
{
	static const char *const digests[] = {"aaaaaa", "bbbbbb"};
	static const char *const says[] = {"the canary of pool train comes first",
					   "is paused"};
	char ids[2][40];
	struct rig rig;

	begin(&rig, 4, NULL);
	for (int i = 0; i < 2; i++) {
		bu_autojson json_t *plan = plan_of(&rig, 2 + 2 * i, "reboot");

		for (int k = 0; k < 2 * i; k++)
			json_array_remove(json_object_get(plan, "steps"), 0);
		ck_assert_int_eq(consent_apply(rig.rollouts, plan, digests[i], NULL,
					       ids[i], NULL),
				 0);
		pass_some(&rig);
	}
	ck_assert_int_eq(bu_rollouts_pause(rig.rollouts, ids[1], "me", NULL), 0);
	pass_some(&rig);
	ck_assert_int_eq(count_begun(&rig), 2);
	for (int i = 0; i < 2; i++) {
		json_t *json = bu_rollouts_show(rig.rollouts, ids[i], NULL);
		const json_t *pool = json_array_get(json_object_get(json, "pools"), 0);

		has(rig_sentence(json_object_get(pool, "why")), says[i]);
		json_decref(json);
	}
	rig_end(&rig);
}
END_TEST

RIG_UNIT("apply", a_pool_waits_for_the_reasons_of_its_own_rollout,
	 an_order_names_the_disk_that_its_step_names,
	 who_has_no_turn_to_wait_for_is_told_of_none,
	 what_destroys_is_not_done_without_its_grant,
	 a_plan_that_makes_no_sense_orders_nothing, a_plan_without_steps_is_no_rollout,
	 a_held_node_is_given_no_turn, under_the_brake_nobody_is_given_a_turn,
	 who_waits_is_told_of_the_one_that_needs_a_person)
