/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON shape of a node: the page, the command line and scripts depend on it. */
#include "provisioner/node/node.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static char *
shape(const struct bu_node *node)
{
	bu_autojson json_t *json = bu_node_to_json(node);

	ck_assert_ptr_nonnull(json);
	return bu_json_canonical(json);
}

START_TEST(a_new_node)
{
	struct bu_node *node = bu_node_create("node001");
	bu_autofree char *text = shape(node);

	ck_assert_str_eq(
		text,
		"{\"boot_id\":\"\",\"cluster_words\":\"\",\"conditions\":[],"
		"\"firmware\":\"\",\"image\":\"\","
		"\"in_profile\":"
		"false,"
		"\"last_seen_ms\":0,\"machine\":\"\",\"name\":\"node001\",\"pool\":"
		"\"\","
		"\"progress\":null,\"repeats\":0,\"root\":\"\",\"settled\":true,"
		"\"since_ms\":0,\"stages\":[],\"state\":\"enrolled\",\"step\":null}");
	bu_node_destroy(node);
}
END_TEST

START_TEST(a_node_at_work)
{
	struct bu_node *node = bu_node_create("node001");
	bu_autojson json_t *json = NULL;
	const json_t *part;
	struct bu_reason why;

	node->state = BU_STATE_IMAGING;
	node->repeats = 1;
	node->step.status = BU_STEP_OPEN;
	node->step.action = BU_ACTION_INSTALL;
	node->step.attempt = 2;
	strcpy(node->step.id, "node001.7.install");
	bu_node_set_progress_stage(node, "root");
	node->live.progress_done_bytes = 5;
	node->live.progress_total_bytes = INT64_C(1) << 40;
	BU_REASON_SET(bu_node_wait_reason(node), SOAKS, .number = {5, 25});
	BU_REASON_SET(bu_node_refusal(node), NO_IDENTITY, .text = {"no serial number"});
	BU_REASON_SET(&why, PERSON, .text = {"a look"});
	bu_hold_set(bu_node_hold(node), BU_OWNER_PERSON, "me", &why);
	bu_node_stages(node)[node->stages_count++] =
		(struct bu_stage){BU_STATE_INSPECTING, 34000};
	json = bu_node_to_json(node);
	ck_assert_int_eq(bu_json_bool(json, "settled", 1), 0);
	part = json_object_get(json, "step");
	ck_assert_str_eq(bu_json_str(part, "id", ""), "node001.7.install");
	ck_assert_str_eq(bu_json_str(part, "action", ""), "install");
	ck_assert_str_eq(bu_json_str(part, "status", ""), "open");
	ck_assert_int_eq(bu_json_int(part, "attempt", 0), 2);
	part = json_object_get(json, "progress");
	ck_assert_str_eq(bu_json_str(part, "stage", ""), "root");
	ck_assert_int_eq(bu_json_int(part, "done_bytes", 0), 5);
	ck_assert_int_eq(bu_json_int(part, "total_bytes", 0), INT64_C(1) << 40);
	part = json_object_get(json, "held");
	ck_assert_str_eq(bu_json_str(part, "by", ""), "me");
	ck_assert_str_eq(bu_json_str(part, "owner", ""), "person");
	part = json_object_get(part, "reason");
	ck_assert_str_eq(bu_json_str(part, "code", ""), "person");
	ck_assert_str_eq(rig_sentence(part), "a look");
	part = json_object_get(json, "says");
	ck_assert_str_eq(bu_json_str(part, "kind", ""), "wait");
	ck_assert_str_eq(rig_sentence(part), "soaks: 5 of 25 minutes under load");
	part = json_object_get(json, "says");
	ck_assert_str_eq(bu_json_str(part, "code", ""), "soaks");
	ck_assert_str_eq(bu_json_str(part, "kind", ""), "wait");
	ck_assert_int_eq(bu_json_int(part, "again_s", 0), 2);
	ck_assert_int_eq(bu_json_bool(part, "stops_deadline", 0), 1);
	ck_assert_int_eq(bu_json_int(json_object_get(part, "args"), "done", 0), 5);
	part = json_object_get(json, "refused");
	ck_assert_str_eq(bu_json_str(part, "code", ""), "no-identity");
	part = json_array_get(json_object_get(json, "stages"), 0);
	ck_assert_str_eq(bu_json_str(part, "state", ""), "inspecting");
	ck_assert_int_eq(bu_json_int(part, "ms", 0), 34000);
	bu_node_destroy(node);
}
END_TEST

START_TEST(every_state_and_status_has_a_shape)
{
	struct bu_node *node = bu_node_create("n");

	for (int state = 0; state < BU_STATE_COUNT; state++)
		for (int status = BU_STEP_NONE; status <= BU_STEP_FAILED; status++) {
			bu_autofree char *text = NULL;

			node->state = (enum bu_state)state;
			node->step.status = (enum bu_step_status)status;
			text = shape(node);
			ck_assert_ptr_nonnull(strstr(text, bu_state_name(node->state)));
		}
	bu_node_destroy(node);
	bu_node_destroy(NULL);
}
END_TEST

/* Each part is shown as soon as one half of it is known. */
START_TEST(what_was_asked_of_its_power_is_shown)
{
	static const char asked[] =
		"{'op':'cycle','by':'ann','result':'done','power':'on',"
		"'detail':'twice','at_ms':7,'seen':{'power':'','error':'','at_ms':0}}";
	static const char seen[] =
		"{'op':'','by':'','result':'','power':'','detail':'','at_ms':0,"
		"'seen':{'power':'unknown','error':'no route','at_ms':9}}";
	struct bu_node *node = bu_node_create("node001");

	for (int i = 0; i < 2; i++) {
		bu_autojson json_t *json = NULL, *want = quoted(i ? seen : asked);
		bu_autofree char *is = NULL, *should = bu_json_canonical(want);

		*bu_node_power(node) = (struct bu_node_power_request){0};
		*bu_node_power_seen(node) = (struct bu_power_fact){0};
		if (i == 0) {
			bu_node_power(node)->op = BU_POWER_REQUEST_CYCLE;
			bu_node_power(node)->result = BU_OUTCOME_DONE;
			bu_node_power(node)->at_ms = 7;
			strcpy(bu_node_power(node)->by, "ann");
			strcpy(bu_node_power(node)->power, "on");
			strcpy(bu_node_power(node)->detail, "twice");
		} else {
			bu_node_power_seen(node)->at_ms = 9;
			strcpy(bu_node_power_seen(node)->power, "unknown");
			strcpy(bu_node_power_seen(node)->error, "no route");
		}
		json = bu_node_to_json(node);
		ck_assert_ptr_nonnull(json_object_get(json, "power"));
		is = bu_json_canonical(json_object_get(json, "power"));
		ck_assert_str_eq(is, should);
	}
	bu_node_destroy(node);
}
END_TEST

/* Where its system is, which agent it has, where it goes when it is empty. */
START_TEST(a_node_that_drains_says_where_it_goes)
{
	static const struct {
		const char *digest, *root;
		int ram, raw;
	} roots[] = {{"", "", 1, 1},
		     {"d", "ram", 1, 0},
		     {"d", "raw", 0, 1},
		     {"d", "disk", 0, 0}};
	struct bu_node *node = bu_node_create("node001");
	bu_autojson json_t *json = NULL, *none = NULL;
	const json_t *part;

	node->state = BU_STATE_DRAINING;
	bu_node_next(node)->state = BU_STATE_PARKED;
	strcpy(bu_node_next(node)->by, "ann");
	BU_REASON_SET(&bu_node_next(node)->reason, PERSON, .text = {"a look"});
	strcpy(bu_node_agent(node)->version, "0.2");
	strcpy(bu_node_agent(node)->digest, "abc");
	bu_node_agent(node)->trial = 1;
	BU_REASON_SET(bu_node_wait_reason(node), CHECK_FAILED);
	json = bu_node_to_json(node);
	part = json_object_get(json, "next");
	ck_assert_str_eq(bu_json_str(part, "state", ""), "parked");
	ck_assert_str_eq(bu_json_str(part, "by", ""), "ann");
	ck_assert_str_eq(rig_sentence(json_object_get(part, "reason")), "a look");
	part = json_object_get(json, "agent");
	ck_assert_str_eq(bu_json_str(part, "version", ""), "0.2");
	ck_assert_str_eq(bu_json_str(part, "digest", ""), "abc");
	ck_assert_int_eq(bu_json_bool(part, "trial", 0), 1);
	part = json_object_get(json, "says");
	ck_assert_str_eq(bu_json_str(part, "kind", ""), "trouble");
	ck_assert_str_eq(bu_json_str(part, "code", ""), "check-failed");
	node->state = BU_STATE_READY;
	none = bu_node_to_json(node);
	ck_assert_ptr_null(json_object_get(none, "next"));
	for (size_t i = 0; i < BU_LEN(roots); i++) {
		bu_autojson json_t *shown = NULL;

		bu_node_set_installed_digest(node, roots[i].digest);
		node->ram = roots[i].ram;
		node->raw = roots[i].raw;
		shown = bu_node_to_json(node);
		ck_assert_str_eq(bu_json_str(shown, "root", "?"), roots[i].root);
	}
	bu_node_destroy(node);
}
END_TEST

START_TEST(every_node_is_found_by_its_name)
{
	struct bu_node *nodes[9];

	for (size_t i = 0; i < BU_LEN(nodes); i++) {
		bu_autofree char *name = bu_xasprintf("node%03zu", i);

		nodes[i] = bu_node_create(name);
	}
	for (size_t count = 0; count <= BU_LEN(nodes); count++) {
		for (size_t i = 0; i < BU_LEN(nodes); i++)
			ck_assert_ptr_eq(bu_nodes_find(nodes, count, nodes[i]->name),
					 i < count ? nodes[i] : NULL);
		ck_assert_ptr_null(bu_nodes_find(nodes, count, "node0005"));
	}
	for (size_t i = 0; i < BU_LEN(nodes); i++)
		bu_node_destroy(nodes[i]);
}
END_TEST

/* Thousands of nodes: a part that most lack belongs into provisioner/node/parts.h. */
START_TEST(a_node_is_small)
{
	printf("sizeof(struct bu_node) = %zu\n", sizeof(struct bu_node));
	ck_assert_uint_le(sizeof(struct bu_node), 1536);
}
END_TEST

/* A node without a part reads zeros; what one node writes, no other one reads. */
START_TEST(a_part_is_of_one_node)
{
	struct bu_node *one = bu_node_create("node001");
	struct bu_node *other = bu_node_create("node002");
	struct bu_node copy;

	ck_assert_int_eq(one->order->open, 0);
	ck_assert_int_eq(one->conditions[BU_CONDITION_COUNT - 1].on, 0);
	bu_node_order(one)->open = 1;
	bu_node_conditions(one)[BU_CONDITION_COUNT - 1].on = 1;
	ck_assert_int_eq(one->order->open, 1);
	ck_assert_int_eq(other->order->open, 0);
	ck_assert_int_eq(other->conditions[BU_CONDITION_COUNT - 1].on, 0);
	copy = *one;
	bu_node_parts_copy(&copy);
	bu_node_order(&copy)->open = 7;
	ck_assert_int_eq(one->order->open, 1);
	bu_node_parts_fini(&copy);
	bu_node_drop_order(one);
	ck_assert_int_eq(one->order->open, 0);
	ck_assert_int_eq(one->conditions[BU_CONDITION_COUNT - 1].on, 1);
	bu_node_destroy(one);
	bu_node_destroy(other);
}
END_TEST

/* A condition that is off and stays so takes no memory. */
START_TEST(a_condition_is_of_one_node)
{
	static const enum bu_condition_id id = BU_CONDITION_DRIFTED;
	struct bu_node *one = bu_node_create("node001");
	struct bu_node *other = bu_node_create("node002");
	struct bu_node copy;

	bu_node_set_condition(one, id, 0, 5, json_string("a detail"));
	ck_assert_ptr_eq(one->conditions, other->conditions);
	bu_node_set_condition(one, id, 1, 5, json_string("a detail"));
	ck_assert_int_eq(other->conditions[id].on, 0);
	copy = *one;
	bu_node_parts_copy(&copy);
	bu_node_set_condition(one, id, 0, 7, NULL);
	ck_assert_ptr_null(one->conditions[id].detail);
	ck_assert_int_eq(one->conditions[id].since_ms, 5);
	ck_assert_str_eq(json_string_value(copy.conditions[id].detail), "a detail");
	bu_node_parts_fini(&copy);
	bu_node_destroy(one);
	bu_node_destroy(other);
}
END_TEST

START_TEST(a_text_is_of_one_node)
{
	struct bu_node *one = bu_node_create("node001");
	struct bu_node *other = bu_node_create("node002");
	char longer[200];

	ck_assert_str_eq(one->boot_id, "");
	bu_node_set_boot_id(one, "boot-1");
	bu_node_set_pool(one, "train");
	bu_node_set_pool(other, "train");
	ck_assert_ptr_eq(one->live.pool, other->live.pool);
	ck_assert_str_eq(other->boot_id, "");
	bu_node_set_boot_id(one, one->boot_id + 1);
	ck_assert_str_eq(one->boot_id, "oot-1");
	memset(longer, 'x', sizeof(longer));
	longer[sizeof(longer) - 1] = '\0';
	bu_node_set_boot_id(one, longer);
	ck_assert_uint_eq(strlen(one->boot_id), 39);
	bu_node_set_boot_id(one, "");
	ck_assert_ptr_eq(one->boot_id, other->boot_id);
	bu_node_destroy(one);
	bu_node_destroy(other);
}
END_TEST

BU_UNIT("node", a_new_node, a_node_is_small, a_part_is_of_one_node,
	a_condition_is_of_one_node, a_text_is_of_one_node, a_node_at_work,
	every_state_and_status_has_a_shape, what_was_asked_of_its_power_is_shown,
	a_node_that_drains_says_where_it_goes, every_node_is_found_by_its_name)
