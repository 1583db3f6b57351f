/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of one NVLink domain copy to each other: who is asked, what both are told, and
 * what is said of whom. */
#include "provisioner/gate/task/nvlink.h"

#include "tests/support/nvlink.h"

struct asked {
	char id[NODES_MAX + 1][BU_NAME_SIZE]; /* "" = the node is asked for nothing */
	json_t *item[NODES_MAX + 1];
	int count;
};

static void
asked_end(struct asked *asked)
{
	for (int i = 0; i <= NODES_MAX; i++)
		json_decref(asked->item[i]);
}

/* Asks for all work until there is a pair, for so many seconds at most. */
static struct asked
find_pairs(struct rig *rig, int nodes, int seconds)
{
	struct asked found = {.count = 0};

	for (int second = 0; second < seconds && !found.count; second++) {
		for (int i = 1; i <= nodes; i++) {
			rig_node(rig, i)->live.last_seen_ms = rig->clock.fake_wall_ms;
		}
		rig_pass(rig, 1000);
		for (int i = 1; i <= nodes; i++) {
			json_t *item = bu_gate_work(rig->gate, rig_node(rig, i));

			if (!item)
				continue;
			found.item[i] = item;
			found.count++;
			snprintf(found.id[i], sizeof(found.id[i]), "%s",
				 bu_json_str(item, "id", ""));
			ck_assert(bu_gate_wants(rig->gate, rig_node(rig, i),
						found.id[i]));
		}
	}
	return found;
}

struct say {
	const char *id;
	enum bu_verdict verdict;
	const char *seen, *text;
};

static void
answer_one(struct rig *rig, const struct asked *asked, int number,
	   const struct say *says, size_t count)
{
	bu_autojson json_t *report = NULL;
	struct bu_checks checks;

	bu_checks_init(&checks);
	for (size_t i = 0; i < count; i++) {
		struct bu_check *row = bu_checks_add(&checks, "nvlink", says[i].id,
						     says[i].verdict, "GPU 0");

		BU_CHECK_SET(row->seen, "%s", says[i].seen);
		BU_CHECK_SET(row->text, "%s", says[i].text);
	}
	report = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	bu_gate_result(rig->gate, rig_node(rig, number), asked->id[number], report,
		       NULL);
}

static const struct say good = {"nvlink-rate", BU_VERDICT_PASS, "748.0 GB/s", ""};
static const struct say slow = {"nvlink-rate", BU_VERDICT_WARN, "200.0 GB/s",
				"GPU 0: 200.0 GB/s; expected at least 671.4 GB/s"};
static const struct say odd = {"nvlink-rate", BU_VERDICT_PASS, "600.0 GB/s", ""};
static const struct say no_channel = {"nvlink-imex", BU_VERDICT_WARN, "",
				      "IMEX is not up here"};
static const struct say no_peer = {"nvlink-peer", BU_VERDICT_INCONCLUSIVE, "",
				   "node001: IMEX is not up here"};

/* All that were asked say so; node `other` says that. */
static void
answer(struct rig *rig, struct asked *asked, const struct say *all, int other,
       const struct say *its)
{
	for (int i = 1; i <= NODES_MAX; i++)
		if (asked->id[i][0])
			answer_one(rig, asked, i, i == other ? its : all, 1);
	rig_pass(rig, 2001);
	asked_end(asked);
}

static char *
remarks_of(struct rig *rig, int number)
{
	return rig_lines(bu_gate_remarks(rig->gate, rig_node(rig, number)));
}

static void
check_remark(struct rig *rig, int number, const char *part)
{
	bu_autofree char *all = remarks_of(rig, number);

	if (part)
		says(all, part);
	else
		ck_assert_msg(!strstr(all, "NVLink"), "%s", all);
}

/* One pair at a time in a domain, until each had one; then none, also over a restart.
 */
START_TEST(each_is_measured_once_in_its_boot)
{
	int had[NODES_MAX + 1] = {0};
	struct rig rig;

	begin_site(&rig, 4);
	for (int pair = 0; pair < 2; pair++) {
		struct asked asked = find_pairs(&rig, 4, 60);

		ck_assert_int_eq(asked.count, 2);
		for (int i = 1; i <= 4; i++)
			had[i] += asked.id[i][0] != '\0';
		answer(&rig, &asked, &good, 0, NULL);
	}
	for (int i = 1; i <= 4; i++) {
		ck_assert_int_eq(had[i], 1);
		ck_assert_int_eq(rig_node(&rig, i)->nvlink.is.verdict, BU_VERDICT_PASS);
		check_remark(&rig, i, NULL);
	}
	ck_assert_int_eq(find_pairs(&rig, 4, 700).count, 0);
	rig_restart(&rig);
	ck_assert_int_eq(find_pairs(&rig, 4, 100).count, 0);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_NVLINK), 4);
	rig_end(&rig);
}
END_TEST

/* Both are told the same probe, each its own end of it, and what a GPU must reach. */
START_TEST(the_ends_are_told_the_same)
{
	struct rig rig;
	struct asked asked;
	struct bu_work_probe work[2];

	begin_site(&rig, 2);
	asked = find_pairs(&rig, 2, 60);
	ck_assert_int_eq(asked.count, 2);
	for (int i = 0; i < 2; i++) {
		const json_t *item = asked.item[i + 1];
		const json_t *groups = json_object_get(item, "groups");
		struct bu_err err;

		ck_assert_str_eq(bu_json_str(item, "kind", ""), "checks");
		ck_assert_uint_eq(json_array_size(groups), 1);
		ck_assert_str_eq(json_string_value(json_array_get(groups, 0)),
				 "nvlink");
		ck_assert_int_gt(bu_json_int(item, "deadline_ms", 0), 180000);
		ck_assert_msg(bu_work_probe_from_json(
				      json_object_get(json_object_get(item, "expect"),
						      "nvlink"),
				      &work[i], &err) == 0,
			      "%s", err.text);
		ck_assert_str_eq(work[i].self, rig_node(&rig, i + 1)->name);
		ck_assert_str_eq(work[i].node[i], work[i].self);
	}
	ck_assert_int_eq(work[0].role, BU_PROBE_CONNECT);
	ck_assert_int_eq(work[1].role, BU_PROBE_LISTEN);
	ck_assert_str_eq(work[0].addr, "10.77.0.12");
	ck_assert_str_eq(work[1].addr, "10.77.0.12");
	ck_assert_str_eq(work[1].peer, "10.77.0.11");
	ck_assert_str_eq(work[0].secret, work[1].secret);
	ck_assert_str_eq(work[0].probe, work[1].probe);
	ck_assert_int_eq(work[0].port, work[1].port);
	asked_end(&asked);
	rig_end(&rig);
}
END_TEST

/* What keeps the first of two nodes out. */
START_TEST(only_nodes_that_can_take_part)
{
	static const struct {
		const char *domain, *job, *profile;
		int pairs;
	} rows[] = {
		{NULL, NULL, "", 1},
		{NULL, NULL, "[node node001]\nrack = r1\n[node node002]\nrack = r1\n",
		 1},
		{NULL, NULL, "[node node002]\nrack = r1\n", 0},
		{"8c3c0000-0000-0000-0000-000000000001.8", NULL, "", 0},
		{"8c3c0000-0000-0000-0000-000000000002.7", NULL, "", 0},
		{NULL, "mixed\n", "", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct asked asked;

		begin_site_with(&rig, 2, rows[i].profile);
		if (rows[i].domain)
			tell_domain(&rig, 1, rows[i].domain);
		if (rows[i].job) {
			rig_write(&rig, "slurm.node001", rows[i].job);
			rig_pass(&rig, 40000);
		}
		asked = find_pairs(&rig, 2, 60);
		ck_assert_msg(asked.count == 2 * rows[i].pairs, "%zu", i);
		asked_end(&asked);
		rig_end(&rig);
	}
}
END_TEST

/* Each domain goes on by itself. */
START_TEST(domains_do_not_wait_for_each_other)
{
	struct rig rig;
	struct asked asked;

	begin_site(&rig, 6);
	for (int i = 1; i <= 3; i++)
		tell_domain(&rig, i, "8c3c0000-0000-0000-0000-000000000001.8");
	asked = find_pairs(&rig, 6, 60);
	ck_assert_int_eq(asked.count, 4);
	for (int i = 1; i <= 6; i++)
		ck_assert_int_eq(asked.id[i][0] != '\0', i % 3 != 0);
	ck_assert_str_eq(asked.id[1], asked.id[2]);
	ck_assert_str_ne(asked.id[1], asked.id[4]);
	asked_end(&asked);
	rig_end(&rig);
}
END_TEST

/* Node 1 is slow with each: it meets another one, which is good, and then it is named;
 * node 2, bad with it alone, is cleared by a third. No node is moved. */
START_TEST(a_third_node_tells_which_of_two_it_is)
{
	struct rig rig;
	struct asked asked;
	int met = 0;

	begin_site(&rig, 4);
	for (int pair = 0; pair < 4; pair++) {
		asked = find_pairs(&rig, 4, 700);
		ck_assert_int_eq(asked.count, 2);
		met += asked.id[1][0] != '\0';
		answer(&rig, &asked, &good, 1, &slow);
		if (pair == 0) {
			check_remark(&rig, 1, "NVLink between node001 and node002");
			check_remark(&rig, 1, "GPU 0: 200.0 GB/s; expected at least");
			check_remark(&rig, 1,
				     "no third node has told yet whether it "
				     "is this node or node002");
			check_remark(&rig, 2, "the other end saw a fault; no third");
		}
	}
	ck_assert_int_ge(met, 2);
	check_remark(&rig, 1, "look at this node");
	check_remark(&rig, 2, NULL);
	for (int i = 1; i <= 4; i++)
		ck_assert_int_eq(rig_node(&rig, i)->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

/* One that is new meets one that was good, and not one of two that were bad. */
START_TEST(a_partner_is_one_that_was_good)
{
	struct rig rig;
	struct asked asked;

	begin_site(&rig, 5);
	for (int pair = 0; pair < 2; pair++) {
		asked = find_pairs(&rig, 5, 60);
		answer(&rig, &asked, &good, 1, &slow);
	}
	asked = find_pairs(&rig, 5, 60);
	ck_assert_int_eq(asked.count, 2);
	ck_assert_str_ne(asked.id[5], "");
	ck_assert_str_eq(asked.id[1], "");
	ck_assert_str_eq(asked.id[2], "");
	asked_end(&asked);
	rig_end(&rig);
}
END_TEST

/* They would tell no more than before. */
START_TEST(two_that_are_bad_do_not_meet_again)
{
	struct rig rig;
	struct asked asked;

	begin_site(&rig, 2);
	asked = find_pairs(&rig, 2, 60);
	ck_assert_int_eq(asked.count, 2);
	answer(&rig, &asked, &good, 1, &slow);
	ck_assert_int_eq(find_pairs(&rig, 2, 1400).count, 0);
	rig_end(&rig);
}
END_TEST

/* It says so itself, and nothing is said of the way to the other one. */
START_TEST(what_one_node_lacks_is_not_the_others)
{
	struct rig rig;
	struct asked asked;

	begin_site(&rig, 2);
	asked = find_pairs(&rig, 2, 60);
	answer(&rig, &asked, &no_peer, 1, &no_channel);
	check_remark(&rig, 1,
		     "node001 cannot use NVLink to other nodes: IMEX is "
		     "not up here\n");
	check_remark(&rig, 2, "was not measured: node001: IMEX is not up here");
	for (int i = 1; i <= 2; i++)
		ck_assert_uint_eq(json_object_size(rig_node(&rig, i)->nvlink.is.with),
				  0);
	/* IMEX may come up later: again, but not for ever. */
	for (int test = 0; test < 2; test++) {
		asked = find_pairs(&rig, 2, 700);
		ck_assert_int_eq(asked.count, 2);
		answer(&rig, &asked, &no_peer, 1, &no_channel);
	}
	ck_assert_int_eq(find_pairs(&rig, 2, 1400).count, 0);
	rig_end(&rig);
}
END_TEST

/* Without a figure of the part. */
START_TEST(a_rate_is_compared_with_the_others_of_its_domain)
{
	struct rig rig;

	begin_site(&rig, 6);
	for (int pair = 0; pair < 3; pair++) {
		struct asked asked = find_pairs(&rig, 6, 60);

		ck_assert_int_eq(asked.count, 2);
		answer(&rig, &asked, &good, 1, &odd);
		if (pair == 0) /* too few to compare with */
			check_remark(&rig, 1, NULL);
	}
	check_remark(&rig, 1,
		     "NVLink between nodes is slow: GPU 0: 600.0 GB/s; other "
		     "nodes of its NVLink domain reach 748.0 GB/s");
	for (int i = 2; i <= 6; i++)
		check_remark(&rig, i, NULL);
	rig_end(&rig);
}
END_TEST

/* The other one is free again, and what is said names the silence. */
START_TEST(a_silent_node_ends_a_pair_in_time)
{
	struct rig rig;
	struct asked asked;

	begin_site(&rig, 2);
	asked = find_pairs(&rig, 2, 60);
	answer_one(&rig, &asked, 2, &no_peer, 1);
	rig_pass(&rig, 250000);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_NVLINK), 0);
	rig_pass(&rig, 60000);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_NVLINK), 2);
	check_remark(&rig, 1, "was not measured: no result in time");
	for (int i = 1; i <= 2; i++)
		ck_assert_int_eq(bu_task_is_busy(rig.gate, rig_node(&rig, i)->name), 0);
	asked_end(&asked);
	rig_end(&rig);
}
END_TEST

/* Its old boot says nothing of the new one. */
START_TEST(a_node_that_starts_anew_is_not_told)
{
	struct rig rig;
	struct asked asked;

	begin_site(&rig, 2);
	asked = find_pairs(&rig, 2, 60);
	put_event(&rig, BU_EVENT_BOOTED, rig_node(&rig, 1)->name,
		  json_pack("{s:s,s:s}", "boot_id", "another", "where", "installed"));
	rig_pass(&rig, 1);
	answer(&rig, &asked, &good, 0, NULL);
	ck_assert_int_eq(events_of(&rig, BU_EVENT_NVLINK), 1);
	ck_assert_ptr_null(bu_gate_nvlink_of(rig_node(&rig, 1)));
	ck_assert_ptr_nonnull(bu_gate_nvlink_of(rig_node(&rig, 2)));
	rig_end(&rig);
}
END_TEST

RIG_UNIT("nvlink", each_is_measured_once_in_its_boot, the_ends_are_told_the_same,
	 only_nodes_that_can_take_part, domains_do_not_wait_for_each_other,
	 a_third_node_tells_which_of_two_it_is, a_partner_is_one_that_was_good,
	 two_that_are_bad_do_not_meet_again, what_one_node_lacks_is_not_the_others,
	 a_rate_is_compared_with_the_others_of_its_domain,
	 a_silent_node_ends_a_pair_in_time, a_node_that_starts_anew_is_not_told)
