/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people do to names and machines, through the real routes: renamed, replaced,
 * removed, and a log that is lost. Nothing that runs is harmed by any of it.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/support/image.h"
#include "tests/support/profiles.h"
#include "tests/support/row.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

struct desk {
	struct site site;
	char key_path[80], digest[BU_DIGEST_SIZE];
	char *private_pem, *public_pem;
};

static void
begin(struct desk *desk)
{
	memset(desk, 0, sizeof(*desk));
	site_begin(&desk->site, 0);
	snprintf(desk->key_path, sizeof(desk->key_path), "%s/image.pub",
		 desk->site.rig.dir);
	ck_assert_int_eq(
		bu_sign_key_create(&desk->private_pem, &desk->public_pem, NULL), 0);
	ck_assert_int_eq(bu_file_write(desk->key_path, desk->public_pem,
				       strlen(desk->public_pem), 0644, NULL),
			 0);
	desk->site.api.work.image_key = desk->key_path;
	ck_assert_int_eq(paper_image(desk->site.images, "debian12",
				     "2026-01-01T00:00:00Z", desk->private_pem,
				     desk->digest, NULL),
			 0);
}

static void
end(struct desk *desk)
{
	site_end(&desk->site);
	free(desk->private_pem);
	free(desk->public_pem);
}

/* Plans the profile of these rows of the CSV ("gpu001,52:54:...;..."). */
static json_t *
plan(struct desk *desk, const char *rows)
{
	bu_autofree char *copy = bu_xstrdup(rows), *names = bu_xstrdup("");
	bu_autofree char *racks = bu_xstrdup("name,mac,serial,bmc\n");
	bu_autofree char *line = NULL, *site = NULL, *text = NULL;
	bu_autojson json_t *request = NULL;
	struct bu_tree *tree;
	char *rest = NULL;

	for (char *row = strtok_r(copy, ";", &rest); row;
	     row = strtok_r(NULL, ";", &rest)) {
		bu_autofree char *old = bu_steal(&racks), *before = bu_steal(&names);

		racks = bu_xasprintf("%s%s\n", old, row);
		names = bu_xasprintf("%s%s%.*s", before, *before ? "," : "",
				     (int)strcspn(row, ","), row);
	}
	line = bu_xasprintf("nodes = %s\n", names);
	site = bu_testing_replace(bu_testing_site, "nodes = node[001-002]\n", line);
	tree = bu_testing_tree("site.ini", site, "racks.csv", racks, NULL);
	request = json_pack("{s:o,s:s,s:s}", "tree", bu_tree_to_json(tree), "commit",
			    "abc", "limit", "");
	text = bu_json_canonical(request);
	bu_tree_destroy(tree);
	return site_call(&desk->site, desk->site.local, "POST", "/v1/plan", text, 200);
}

static json_t *
apply(struct desk *desk, const json_t *planned, const char *grants, int status)
{
	bu_autofree char *text =
		bu_xasprintf("{\"digest\":\"%s\",\"grants\":[%s]}",
			     bu_json_str(planned, "digest", ""), grants);
	json_t *answer = site_call(&desk->site, desk->site.local, "POST", "/v1/apply",
				   text, status);

	for (int i = 0; i < 10; i++)
		rig_pass(&desk->site.rig, 1);
	return answer;
}

static const json_t *
step_of(const json_t *planned, const char *node)
{
	json_t *step;
	size_t i;

	json_array_foreach (json_object_get(json_object_get(planned, "plan"), "steps"),
			    i, step)
		if (strcmp(bu_json_str(step, "node", ""), node) == 0)
			return step;
	return NULL;
}

static void
says(const json_t *object, const char *key, const char *words)
{
	rig_text_has(rig_sentence(json_object_get(object, key)), words);
}

#define ROW_1 "52:54:00:77:00:01,LAB-001,qemu:///system#node001"
#define ROW_2 "node002,52:54:00:77:00:02,LAB-002,qemu:///system#node002"
#define ROW_9 "52:54:00:77:00:09,LAB-009,qemu:///system#node009"

/* node001 and node002, applied; node001 is ready. */
static struct bu_node *
ready(struct desk *desk)
{
	struct rig *rig = &desk->site.rig;
	bu_autojson json_t *planned = NULL, *applied = NULL;

	begin(desk);
	planned = plan(desk, "node001," ROW_1 ";" ROW_2);
	applied = apply(desk, planned, "", 200);
	rig_to_validating(rig, 1);
	rig_join(rig, 1);
	return rig_node(rig, 1);
}

START_TEST(a_renamed_node_is_not_reset_under_its_job)
{
	struct desk desk;
	struct bu_node *node = ready(&desk), *renamed;
	bu_autofree char *machine = bu_xstrdup(node->machine);
	bu_autofree char *power = rig_read(&desk.site.rig, "power.log"), *after = NULL;
	bu_autojson json_t *planned = NULL, *applied = NULL;
	struct bu_fleet *again;
	const json_t *step;

	planned = plan(&desk, "gpu001," ROW_1 ";" ROW_2);
	step = step_of(planned, "gpu001");
	ck_assert_str_eq(bu_json_str(step, "class", ""), "restart");
	says(step, "why", "renamed: by its");
	says(step, "why", "it is the machine of node001");
	ck_assert_uint_eq(json_array_size(json_object_get(
				  json_object_get(planned, "plan"), "left")),
			  0);
	applied = apply(&desk, planned, "", 200);
	renamed = bu_fleet_node(desk.site.rig.fleet, "gpu001");
	ck_assert_ptr_eq(renamed, node); /* the same one, with all that it is */
	ck_assert_ptr_null(bu_fleet_node(desk.site.rig.fleet, "node001"));
	ck_assert_str_eq(node->machine, machine);
	ck_assert_ptr_eq(bu_fleet_node_of(desk.site.rig.fleet, machine), node);
	ck_assert_int_eq(node->live.in_profile, 1);
	/* The log says the same to whoever reads it, and nothing was switched. */
	again = bu_fleet_create(desk.site.rig.loop, desk.site.rig.store);
	ck_assert_int_eq(bu_fleet_load(again, NULL), 0);
	renamed = bu_fleet_node(again, "gpu001");
	ck_assert_str_eq(renamed->machine, machine);
	ck_assert_int_eq(renamed->order->class, BU_CLASS_RESTART);
	ck_assert_ptr_null(bu_fleet_node(again, "node001"));
	bu_fleet_destroy(again);
	after = rig_read(&desk.site.rig, "power.log");
	ck_assert_str_eq(after, power);
	end(&desk);
}
END_TEST

/* It restarts before its turn: slurmd registers by the name that is on its disk. */
START_TEST(a_renamed_node_joins_by_its_old_name_until_its_turn)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	struct bu_node *node = ready(&desk);
	bu_autojson json_t *planned = NULL, *applied = NULL;
	struct bu_event events[2];

	planned = plan(&desk, "gpu001," ROW_1 ";" ROW_2);
	applied = apply(&desk, planned, "", 200);
	row_init(&events[0], BU_EVENT_STATE, "gpu001",
		 json_pack("{s:s,s:s}", "to", "validating", "on", "booted"));
	row_init(&events[1], BU_EVENT_STATE, "gpu001",
		 json_pack("{s:s,s:s}", "to", "joining", "on", "proven"));
	bu_reconcile_note(rig->rec, events, 2);
	rig_until_step(rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_write(rig, "sinfo", "idle\n");
	rig_answer(rig, node, NULL);
	rig_until(rig, node, BU_STATE_READY);
	ck_assert_str_eq(node->joined->node, "node001");
	/* And it is lent to others until then. */
	ck_assert_int_eq(bu_fleet_certified(rig->fleet, node, NULL), 0);
	/* Its files are written: from now on it is called as the profile says. */
	ck_assert_str_eq(node->called, "node001");
	row_init(&events[0], BU_EVENT_INTENT, "gpu001",
		 json_pack("{s:s,s:s}", "step", "s", "action", "configure"));
	row_init(&events[1], BU_EVENT_OUTCOME, "gpu001",
		 json_pack("{s:s,s:s}", "step", "s", "result", "done"));
	bu_reconcile_note(rig->rec, events, 2);
	rig_pass(rig, 1);
	ck_assert_str_eq(node->called, "");
	ck_assert_int_eq(bu_fleet_certified(rig->fleet, node, NULL), -1);
	end(&desk);
}
END_TEST

/* What else is edited before the turn of a rename comes, it is renamed all the same; so
 * it is when nothing is left of the edits but the name. */
START_TEST(a_rename_outlives_the_next_plan)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	struct bu_node *node = ready(&desk);
	bu_autojson json_t *planned = NULL, *applied = NULL, *more = NULL,
			   *taken = NULL;
	struct bu_event event;
	const json_t *step;

	planned = plan(&desk, "gpu001," ROW_1 ";" ROW_2);
	applied = apply(&desk, planned, "", 200);
	ck_assert_int_eq(node->order->begun, 0);
	/* Its address is another one: that alone would be written in service. */
	more = plan(&desk, "fpu001," ROW_9 ";gpu001," ROW_1);
	step = step_of(more, "gpu001");
	ck_assert_str_eq(bu_json_str(step, "class", ""), "restart");
	says(step, "why", "renamed: its system is still called node001; site.ini");
	taken = apply(&desk, more, "", 200);
	ck_assert_int_eq(node->order->class, BU_CLASS_RESTART);
	ck_assert_str_eq(node->called, "node001");
	json_decref(bu_steal(&more));
	/* Called back before its turn. */
	row_init(&event, BU_EVENT_ROLLOUT, "",
		 json_pack("{s:s,s:s,s:s}", "rollout", node->order->rollout, "to",
			   "aborted", "by", "local"));
	bu_reconcile_note(rig->rec, &event, 1);
	rig_pass(rig, 1);
	ck_assert_int_eq(node->order->open, 0);
	more = plan(&desk, "fpu001," ROW_9 ";gpu001," ROW_1);
	ck_assert_str_eq(bu_json_str(step_of(more, "gpu001"), "class", ""), "restart");
	end(&desk);
}
END_TEST

/* node002 was held because its machine is on. What ends that is not done to the node
 * that takes its name, which is in service. */
START_TEST(who_takes_a_held_nodes_name_stays_in_service)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	struct bu_node *node = ready(&desk), *held = rig_node(rig, 2);
	bu_autojson json_t *planned = NULL, *applied = NULL;
	struct bu_event event;

	row_init(&event, BU_EVENT_STATE, "node002",
		 json_pack("{s:s,s:s}", "to", "inspecting", "on", "start"));
	bu_reconcile_note(rig->rec, &event, 1);
	rig_pass(rig, 1);
	desk.site.pokes = 1;
	bu_node_hold(held)->owner = BU_OWNER_BRINGUP;
	BU_REASON_SET(&bu_node_hold(held)->reason, IS_ON,
		      .text = {"it is on", "node002"});
	planned = plan(&desk, "node002," ROW_1);
	says(step_of(planned, "node002"), "why", "renamed");
	applied = apply(&desk, planned, "", 200);
	ck_assert_str_eq(node->name, "node002");
	ck_assert_int_ne(node->state, BU_STATE_ENROLLED);
	ck_assert_int_eq(node->order->open, 1);
	end(&desk);
}
END_TEST

/* It drains, leaves, has its new name written, is measured under it: no boot. */
START_TEST(a_rename_touches_neither_power_nor_disk)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	struct bu_node *node = ready(&desk);
	bu_autofree char *power = rig_read(rig, "power.log"), *after = NULL;
	bu_autofree char *installed = bu_xstrdup(node->installed_step);
	bu_autojson json_t *planned = NULL, *applied = NULL, *work = NULL;
	bu_autofree char *text = NULL;

	planned = plan(&desk, "gpu001," ROW_1 ";" ROW_2);
	applied = apply(&desk, planned, "", 200);
	rig_write(rig, "sinfo", "");
	rig_fire(rig, node, BU_TRIGGER_REBUILD);
	rig_until_step(rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	work = bu_work_make_step(&desk.site.api.work, node, NULL);
	text = bu_json_canonical(work);
	rig_text_has(text, "\"apply\":\"hostname\",\"content\":\"gpu001\\n\"");
	rig_answer(rig, node, NULL);
	rig_until(rig, node, BU_STATE_VALIDATING);
	/* What was certified was node001. */
	rig_pass(rig, 1000);
	ck_assert_int_eq(node->state, BU_STATE_VALIDATING);
	ck_assert_str_eq(node->installed_step, installed);
	after = rig_read(rig, "power.log");
	ck_assert_str_eq(after, power);
	end(&desk);
}
END_TEST

START_TEST(a_replaced_machine_is_no_unchanged_node)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	struct bu_node *node = ready(&desk);
	bu_autofree char *machine = bu_xstrdup(node->machine);
	bu_autojson json_t *planned = NULL, *applied = NULL;
	const json_t *step;

	planned = plan(&desk, "node001," ROW_9 ";" ROW_2);
	step = step_of(planned, "node001");
	ck_assert_str_eq(bu_json_str(step, "class", ""), "install");
	says(step, "why", "replaced: the profile means another machine");
	applied = apply(&desk, planned, "", 200);
	/* The old one serves until its turn. */
	ck_assert_str_eq(node->machine, machine);
	rig_write(rig, "power.node009", "on");
	rig_write(rig, "sinfo", "");
	rig_fire(rig, node, BU_TRIGGER_REBUILD);
	rig_until(rig, node, BU_STATE_INSPECTING);
	/* Nothing of the old one counts for the new one, not even the consent. */
	ck_assert_str_eq(node->machine, "");
	ck_assert_str_eq(node->installed_digest, "");
	ck_assert_int_eq(node->disk_touched, 0);
	ck_assert_str_eq(node->full_cert, "");
	ck_assert_ptr_null(bu_fleet_node_of(rig->fleet, machine));
	for (int i = 0; i < 500 && node->hold->reason.code != BU_REASON_IS_ON; i++)
		rig_pass(rig, 1);
	rig_reason_is(&node->hold->reason, IS_ON);
	ck_assert_int_eq(rig_count(rig, "boot network node009"), 0);
	end(&desk);
}
END_TEST

START_TEST(who_left_the_profile_is_left_alone)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *planned = NULL, *applied = NULL;
	bu_autojson json_t *again = NULL;
	bu_autofree char *power = NULL, *after = NULL;
	struct bu_node *node = ready(&desk);

	rig_start(rig, 2);
	planned = plan(&desk, "node001," ROW_1);
	applied = apply(&desk, planned, "", 200);
	node = rig_node(rig, 2);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(bu_reconcile_deadline(rig->rec, node), 0);
	power = rig_read(rig, "power.log");
	for (int i = 0; i < 10; i++)
		rig_pass(rig, 600 * 1000);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(node->conditions[BU_CONDITION_NOT_IN_PROFILE].on, 1);
	after = rig_read(rig, "power.log");
	ck_assert_str_eq(after, power);
	/* Back in the profile its time goes on. */
	again = plan(&desk, "node001," ROW_1 ";" ROW_2);
	json_decref(applied);
	applied = apply(&desk, again, "", 200);
	ck_assert_int_eq(node->conditions[BU_CONDITION_NOT_IN_PROFILE].on, 0);
	ck_assert_int_ne(bu_reconcile_deadline(rig->rec, node), 0);
	end(&desk);
}
END_TEST

/* The log is gone, the machines run: none of them is switched off, each says what it
 * takes, and the grant for one is for that one. */
START_TEST(after_a_lost_log_nothing_is_switched_off)
{
	struct desk desk;
	struct rig *rig = &desk.site.rig;
	bu_autojson json_t *planned = NULL, *applied = NULL, *refused = NULL;
	bu_autojson json_t *again = NULL, *granted = NULL;
	bu_autofree char *power = NULL;

	begin(&desk);
	rig_write(rig, "power.node001", "on");
	rig_write(rig, "power.node002", "on");
	planned = plan(&desk, "node001," ROW_1 ";" ROW_2);
	applied = apply(&desk, planned, "", 200);
	for (int i = 1; i <= 2; i++) {
		rig_fire(rig, rig_node(rig, i), BU_TRIGGER_START);
		for (int k = 0; k < 500 && !rig_node(rig, i)->hold->owner; k++)
			rig_pass(rig, 1);
		rig_reason_is(&rig_node(rig, i)->hold->reason, IS_ON);
	}
	power = rig_read(rig, "power.log");
	ck_assert_str_eq(power, "");
	again = plan(&desk, "node001," ROW_1 ";" ROW_2);
	ck_assert(json_is_true(json_object_get(step_of(again, "node001"), "reset")));
	refused = apply(&desk, again, "", 403);
	says(json_object_get(refused, "error"), "text", "--grant reset:node[001-002]");
	json_decref(again);
	again = plan(&desk, "node001," ROW_1 ";" ROW_2);
	granted =
		apply(&desk, again, "{\"class\":\"reset\",\"nodes\":\"node001\"}", 403);
	says(json_object_get(granted, "error"), "text", "--grant reset:node002");
	json_decref(granted);
	granted = apply(&desk, again, "{\"class\":\"reset\"}", 200);
	rig_reason_is(&rig_node(rig, 1)->hold->reason, NONE);
	ck_assert_int_eq(rig_node(rig, 1)->order->reset, 1);
	rig_start(rig, 1);
	ck_assert_int_eq(rig_count(rig, "boot network node001"), 1);
	end(&desk);
}
END_TEST

RIG_UNIT("identity", a_renamed_node_is_not_reset_under_its_job,
	 a_renamed_node_joins_by_its_old_name_until_its_turn,
	 who_takes_a_held_nodes_name_stays_in_service, a_rename_outlives_the_next_plan,
	 a_rename_touches_neither_power_nor_disk,
	 a_replaced_machine_is_no_unchanged_node, who_left_the_profile_is_left_alone,
	 after_a_lost_log_nothing_is_switched_off)
