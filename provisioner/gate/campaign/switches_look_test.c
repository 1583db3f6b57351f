/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of switches, look by look: which nodes are loaded together, what counts as
 * load, and how long a reading, or an accusation, is good. */
#include "provisioner/gate/campaign/switches_impl.h"
#include "provisioner/gate/task/asks.h"
#include "tests/support/counted.h"

/* What is asked for was measured, and is good. */
static void
measure(struct between *b)
{
	for (size_t i = 0; i < b->gate->asks_count; i++) {
		const struct bu_ask *ask = &b->gate->asks[i];

		between_log(b, &(struct probed){
				       .a = (int)strtol(ask->name[0] + 4, NULL, 10),
				       .b = (int)strtol(ask->name[1] + 4, NULL, 10),
				       .rail = "fabric",
				       .gbps = {1, 1}});
	}
	b->gate->asks_count = 0;
}

START_TEST(nodes_are_loaded_with_those_that_come_with_them)
{
	static const struct {
		int certified; /* all are, from the start */
		int ms[3];     /* looks */
		int begun;     /* after the last one */
	} rows[] = {
		{1, {0, GATHER_MS - 1, 0}, 0},
		{1, {0, GATHER_MS - 1, 1}, 1},
		{1, {0, 1, GATHER_MS - 2}, 0},
		{1, {0, 1, GATHER_MS - 1}, 1},
		/* one that is not certified yet is waited for, but not for ever */
		{0, {0, GATHER_MS, GATHER_MS}, 0},
		{0, {0, LATE_MS - 1, GATHER_MS - 1}, 0},
		{0, {0, LATE_MS - 1, GATHER_MS}, 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_switches *one = NULL;
		struct between b;
		int loaded;

		counted_begin(&b);
		if (rows[i].certified)
			certify_all(&b);
		for (int k = 0; k < 3; k++)
			one = look(&b, rows[i].ms[k]);
		loaded = rows[i].begun && rows[i].certified;
		ck_assert_msg(json_object_size(one->asking) ==
				      (size_t)(rows[i].begun ? 0 : NODES),
			      "row %zu: %zu", i, json_object_size(one->asking));
		/* Who is still held then is not loaded. */
		ck_assert_uint_eq(json_object_size(one->members),
				  (size_t)(loaded ? NODES : 0));
		ck_assert_uint_eq(json_object_size(one->done),
				  (size_t)(rows[i].begun && !loaded ? NODES : 0));
		ck_assert_int_eq(bu_switches_go_on(b.gate), loaded || !rows[i].begun);
		ck_assert_int_eq(one->agent.task != NULL, loaded);
		between_end(&b);
	}
}
END_TEST

/* Once in each boot, and who is validated. */
START_TEST(who_was_loaded_is_not_loaded_again)
{
	static const struct {
		const char *boot; /* in which it was; NULL = it was not */
		int is_member, ready;
		size_t asking;
	} rows[] = {{NULL, 0, 1, 6},     {"boot-1", 0, 1, 5}, {"old", 0, 1, 6},
		    {"boot-1", 1, 1, 5}, {"old", 1, 1, 6},    {NULL, 0, 0, 5}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_switches *one;
		struct between b;

		counted_begin(&b);
		for (int k = 0; k < NODES; k++)
			b.gate->roles[k].ready = 0;
		one = look(&b, 0);
		ck_assert_uint_eq(json_object_size(one->asking), 0);
		ck_assert_int_eq(bu_switches_go_on(b.gate), 0);
		if (rows[i].boot)
			json_object_set_new(rows[i].is_member ? one->members
							      : one->done,
					    "node001", json_string(rows[i].boot));
		one->started_ms = bu_loop_now_ms(b.rig.fleet->loop);
		for (int k = 0; k < NODES; k++)
			b.gate->roles[k].ready = k > 0 || rows[i].ready;
		one->again_ms = INT64_MAX; /* nothing is read */
		look(&b, 0);
		if (rows[i].is_member)
			ck_assert_uint_ge(json_object_size(one->asking),
					  rows[i].asking - 1);
		else
			ck_assert_uint_eq(json_object_size(one->asking),
					  rows[i].asking);
		ck_assert_int_eq(json_object_get(one->asking, "node001") != NULL,
				 rows[i].asking == 6);
		between_end(&b);
	}
}
END_TEST

/* From reading to reading all links are loaded; then the bad one is known. */
START_TEST(a_round_is_measured_between_two_readings)
{
	bu_autojson json_t *all = json_array(), *own = json_array(),
			   *other = json_array();
	struct bu_switches *one;
	struct between b;
	int readings = 0;

	one = gathered(&b);
	for (int turn = 0; turn < 300 && json_object_size(one->members); turn++) {
		if (one->agent.task) {
			ck_assert_uint_eq(b.gate->asks_count, 0);
			answer(&b, 100 * readings++);
			ck_assert_uint_eq(one->count, (size_t)readings);
		}
		for (size_t i = 0; i < b.gate->asks_count; i++) {
			const struct bu_ask *ask = &b.gate->asks[i];

			ck_assert_int_ne((ask->name[0][6] - '1') / EACH,
					 (ask->name[1][6] - '1') / EACH);
			ck_assert_int_eq(ask->single, 0);
		}
		measure(&b);
		look(&b, 1000);
	}
	ck_assert_int_ge(readings, 3);
	ck_assert_uint_eq(json_object_size(one->members), 0);
	ck_assert_uint_eq(json_object_size(one->done), NODES);
	ck_assert_uint_eq(one->count, 0); /* they are over */
	bu_switches_warnings(b.gate, NULL, all);
	ck_assert_uint_eq(json_array_size(all), 1);
	rig_text_has(rig_sentence(json_array_get(all, 0)),
		     "the link between leaf02 (rail fabric) and spine s2, to the "
		     "spine: ");
	bu_switches_warnings(b.gate, rig_node(&b.rig, 3), own);
	ck_assert_uint_eq(json_array_size(own), 1);
	bu_switches_warnings(b.gate, rig_node(&b.rig, 1), other);
	ck_assert_uint_eq(json_array_size(other), 0);
	between_end(&b);
}
END_TEST

/* What was measured before the first reading is no load of the second. */
START_TEST(load_is_what_was_measured_since_the_reading)
{
	static const struct {
		int before, failed, asked;
	} rows[] = {{0, 0, 1}, {1, 0, 1}, {1, 1, 0}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_switches *one;
		struct between b;

		counted_begin(&b);
		certify_all(&b);
		for (int k = 1; k <= NODES; k++)
			for (int m = k + 1; m <= NODES; m++) {
				struct probed log = {k, m, "fabric", .gbps = {1, 1}};

				if (rows[i].before)
					between_log(&b, &log);
				log.failed = 1;
				if (rows[i].failed)
					between_log(&b, &log);
			}
		look(&b, 0);
		one = look(&b, GATHER_MS);
		answer(&b, 0);
		if (rows[i].before)
			/* Row numbers of the log go on after those of the reading. */
			one->list[0].seq =
				b.rig.fleet->measurements
					.logs[b.rig.fleet->measurements.count - 1]
					.last.seq;
		look(&b, 1000);
		ck_assert_msg((b.gate->asks_count > 0) == rows[i].asked, "row %zu", i);
		between_end(&b);
	}
}
END_TEST

/* Other leaves, other spines, another source: it is begun anew. */
START_TEST(readings_are_of_what_the_profile_says)
{
	for (int change = 0; change < 4; change++) {
		struct bu_desired_network *network;
		struct bu_switches *one;
		struct between b;

		one = gathered(&b);
		answer(&b, 0);
		ck_assert_uint_eq(one->count, 1);
		network = between_network(&b, "fabric");
		if (change == 1)
			replace((char **)(uintptr_t)&network->spines, "s1, s3");
		if (change == 2)
			network->switch_delay_ms++;
		if (change == 3)
			replace((char **)(uintptr_t)&b.rig.fleet->desired->nodes[0]
					.switch_ports,
				"fabric=leaf09:p1");
		look(&b, 1000);
		ck_assert_msg(one->count == (change == 0), "change %d", change);
		between_end(&b);
	}
}
END_TEST

/* A quarter of an hour, and what none of its members can load at all. */
START_TEST(loading_has_an_end)
{
	for (int row = 0; row < 5; row++) {
		struct bu_switches *one;
		struct between b;
		int64_t ms = row == 1 ? LATE_MS : row == 2 ? LATE_MS - 1 : 0;

		one = gathered(&b);
		ck_assert_uint_eq(json_object_size(one->members), NODES);
		for (int k = 0; k < NODES; k++) {
			/* None of them is there; all hang at one leaf. */
			if (row == 3)
				b.gate->roles[k] =
					(struct bu_role){.node = b.gate->roles[k].node,
							 .want = b.gate->roles[k].want};
			if (row == 4)
				replace((char **)(uintptr_t)&b.rig.fleet->desired
						->nodes[k]
						.switch_ports,
					"fabric=leaf01:p1");
		}
		look(&b, ms);
		ck_assert_msg(json_object_size(one->members) ==
				      (row == 0 || row == 2 ? NODES : 0),
			      "row %d", row);
		ck_assert_uint_eq(json_object_size(one->done),
				  row == 0 || row == 2 ? 0 : NODES);
		between_end(&b);
	}
}
END_TEST

/* Who waits for its certificate is no partner, nor is it loaded. */
START_TEST(who_is_held_is_left_alone)
{
	struct bu_switches *one;
	struct between b;

	one = gathered(&b);
	answer(&b, 0);
	b.gate->roles[0].certified = b.gate->roles[2].certified = 0;
	look(&b, 1000);
	ck_assert_uint_gt(b.gate->asks_count, 0);
	for (size_t i = 0; i < b.gate->asks_count; i++)
		for (int end = 0; end < 2; end++) {
			ck_assert_str_ne(b.gate->asks[i].name[end], "node001");
			ck_assert_str_ne(b.gate->asks[i].name[end], "node003");
		}
	ck_assert_uint_gt(json_object_size(one->members), 0);
	between_end(&b);
}
END_TEST

/* By the key of its fabric, as long as the profile counts it. */
START_TEST(what_is_counted_no_more_is_forgotten)
{
	for (int change = 0; change < 3; change++) {
		struct bu_desired_network *network;
		struct between b;

		counted_begin(&b);
		look(&b, 0);
		ck_assert_str_eq(b.gate->switches->key, "rail fabric");
		ck_assert_ptr_null(b.gate->switches->next);
		network = between_network(&b, "fabric");
		if (change == 1)
			replace((char **)(uintptr_t)&network->switch_counters, NULL);
		if (change == 2)
			network->role = BU_ROLE_STORAGE;
		look(&b, 0);
		ck_assert_int_eq(b.gate->switches != NULL, change == 0);
		if (change == 2)
			network->role = BU_ROLE_FABRIC;
		between_end(&b);
	}
}
END_TEST

/* An accusation of a leaf that was loaded since, or is gone, and of a spine. */
START_TEST(an_accusation_is_as_old_as_its_load)
{
	bu_autojson json_t *list = json_array();
	bu_autofree char *text = NULL;
	struct bu_switches *one;
	struct between b;

	one = gathered(&b);
	for (int i = 0; i < 5; i++) {
		static const char *const names[] = {"leaf01", "leaf02", "leaf03",
						    "leaf09", ""};

		json_array_append_new(one->accused,
				      json_pack("{s:s,s:s,s:{}}", "said",
						names[i][0] ? names[i] : "spine",
						"leaf", names[i], "nodes"));
	}
	/* Those of the third leaf do not come. */
	for (int k = 4; k < NODES; k++)
		b.gate->roles[k] = (struct bu_role){.node = b.gate->roles[k].node,
						    .want = b.gate->roles[k].want};
	for (int turn = 0; turn < 300 && json_object_size(one->members); turn++) {
		if (one->agent.task)
			answer(&b, 7);
		measure(&b);
		look(&b, 1000);
	}
	bu_switches_warnings(b.gate, NULL, list);
	text = json_dumps(list, JSON_COMPACT);
	ck_assert_str_eq(text, "[\"leaf03\"]");
	between_end(&b);
}
END_TEST

RIG_UNIT("switches_look", nodes_are_loaded_with_those_that_come_with_them,
	 who_was_loaded_is_not_loaded_again, a_round_is_measured_between_two_readings,
	 load_is_what_was_measured_since_the_reading,
	 readings_are_of_what_the_profile_says, loading_has_an_end,
	 who_is_held_is_left_alone, what_is_counted_no_more_is_forgotten,
	 an_accusation_is_as_old_as_its_load)
