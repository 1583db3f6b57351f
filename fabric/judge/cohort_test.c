/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric/judge/cohort.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

enum { NODES = 5 };

struct story {
	struct bu_checks checks[NODES];
	struct bu_cohort_node nodes[NODES];
	char names[NODES][16];
	char told[4096]; /* "node: id text\n" */
};

static void
row(struct bu_checks *checks, const char *id, const char *subject, const char *seen)
{
	struct bu_check *check =
		bu_checks_add(checks, "audit", id, BU_VERDICT_PASS, subject);

	BU_CHECK_SET(check->seen, "%s", seen);
}

static struct bu_check *
find(struct story *s, int node, const char *id, const char *subject)
{
	for (size_t i = 0; i < s->checks[node].count; i++)
		if (strcmp(s->checks[node].list[i].id, id) == 0 &&
		    strcmp(s->checks[node].list[i].subject, subject) == 0)
			return &s->checks[node].list[i];
	ck_abort_msg("no row %s", id);
	return NULL;
}

/* Five good machines with two rails. */
static void
fill(struct story *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 0; i < NODES; i++) {
		char text[64];

		snprintf(s->names[i], sizeof(s->names[i]), "node%d", i + 1);
		s->nodes[i] = (struct bu_cohort_node){s->names[i], &s->checks[i], ""};
		bu_checks_init(&s->checks[i]);
		row(&s->checks[i], "identity", "", s->names[i]);
		snprintf(text, sizeof(text), "10.78.0.1%d at index %d", i, i);
		row(&s->checks[i], "gid", "mlx5_0", text);
		snprintf(find(s, i, "gid", "mlx5_0")->value, 96, "10.78.0.1%d", i);
		snprintf(text, sizeof(text), "9c63:c003:00aa:000%d", i);
		row(&s->checks[i], "guid", "mlx5_0", text);
		row(&s->checks[i], "nic-firmware", "mlx5_0", "28.39.1002");
		row(&s->checks[i], "ib-pkey", "mlx5_1", "0xffff,0x8001");
		snprintf(text, sizeof(text), "leaf01.dc:swp%d", i + 1);
		row(&s->checks[i], "lldp", "eth1", text);
		row(&s->checks[i], "cabling", "eth1", text);
		snprintf(text, sizeof(text), "leaf02.dc:swp%d", i + 1);
		row(&s->checks[i], "lldp", "eth2", text);
	}
}

static void
found(const char *node, const struct bu_check *finding, void *arg)
{
	struct story *s = arg;
	size_t used = strlen(s->told);

	ck_assert(bu_check_id_is_valid(finding->id) && *finding->hint &&
		  *finding->expected);
	snprintf(s->told + used, sizeof(s->told) - used, "%s: %s %s %s\n", node,
		 finding->id, bu_verdict_name(finding->verdict), finding->text);
}

/* Who is asked for alone hears what all hear of it. */
static void
check_alone(const struct story *s, const char *name)
{
	struct story *alone = bu_xcalloc(1, sizeof(*alone));
	char all[sizeof(s->told)] = "";
	size_t length = strlen(name);

	for (const char *at = s->told; *at; at = strchr(at, '\n') + 1)
		if (strncmp(at, name, length) == 0 && at[length] == ':')
			strncat(all, at, strcspn(at, "\n") + 1);
	bu_cohort_judge(s->nodes, NODES, name, found, alone);
	ck_assert_str_eq(alone->told, all);
	free(alone);
}

static const char *
judge(struct story *s)
{
	bu_cohort_judge(s->nodes, NODES, NULL, found, s);
	for (int i = 0; i < NODES; i++)
		check_alone(s, s->names[i]);
	for (int i = 0; i < NODES; i++)
		bu_checks_fini(&s->checks[i]);
	return s->told;
}

START_TEST(like_machines_have_no_finding)
{
	static struct story s;

	fill(&s);
	ck_assert_str_eq(judge(&s), "");
}
END_TEST

START_TEST(doubles_are_both_named)
{
	static struct story s;

	fill(&s);
	strcpy(find(&s, 3, "gid", "mlx5_0")->value, "10.78.0.11");
	strcpy(find(&s, 4, "identity", "")->seen, "node1");
	ck_assert_str_eq(
		judge(&s),
		"node1: duplicate fail node1 and node5 have the same host name: node1\n"
		"node5: duplicate fail node5 and node1 have the same host name: node1\n"
		"node2: duplicate fail node2 and node4 have the same address: "
		"10.78.0.11\n"
		"node4: duplicate fail node4 and node2 have the same address: "
		"10.78.0.11\n");
}
END_TEST

START_TEST(the_odd_one_is_named_by_a_majority_only)
{
	static struct story s;

	fill(&s);
	strcpy(find(&s, 2, "nic-firmware", "mlx5_0")->seen, "28.38.1900");
	strcpy(find(&s, 4, "ib-pkey", "mlx5_1")->seen, "0xffff");
	ck_assert_str_eq(judge(&s),
			 "node5: cohort-odd warn partitions of mlx5_1 is 0xffff, that "
			 "of 4 of 5 machines like it 0xffff,0x8001\n"
			 "node3: cohort-odd warn firmware of mlx5_0 is 28.38.1900, "
			 "that of 4 of 5 machines like it 28.39.1002\n");
	/* Two against two, and one that was not looked at. */
	fill(&s);
	strcpy(find(&s, 0, "nic-firmware", "mlx5_0")->seen, "1");
	strcpy(find(&s, 1, "nic-firmware", "mlx5_0")->seen, "1");
	find(&s, 2, "nic-firmware", "mlx5_0")->verdict = BU_VERDICT_INCONCLUSIVE;
	ck_assert_str_eq(judge(&s), "");
}
END_TEST

/* Its cable is not where the profile says. */
static void
miscable(struct story *s, int node, const char *seen, const char *expected)
{
	struct bu_check *cable = find(s, node, "cabling", "eth1");

	cable->verdict = BU_VERDICT_FAIL;
	strcpy(cable->seen, seen);
	strcpy(cable->expected, expected);
}

START_TEST(swapped_cables_are_named)
{
	static struct story s;

	fill(&s);
	miscable(&s, 0, "leaf01.dc:swp4", "leaf01:swp1");
	miscable(&s, 3, "leaf01.dc:swp1", "leaf01:swp4");
	ck_assert_str_eq(judge(&s),
			 "node1: cabling fail the cables of node1 eth1 and node4 eth1 "
			 "are swapped: node1 is cabled to leaf01.dc:swp4, node4 to "
			 "leaf01.dc:swp1\n"
			 "node4: cabling fail the cables of node4 eth1 and node1 eth1 "
			 "are swapped: node4 is cabled to leaf01.dc:swp1, node1 to "
			 "leaf01.dc:swp4\n");
}
END_TEST

/* A bond has several places: one of them is that of the other one's cable. */
START_TEST(a_cable_of_a_bond_may_be_swapped)
{
	static const char *const places[] = {"leaf01:swp1, leaf02:swp4",
					     "leaf01:swp2, leaf02:swp4"};

	for (int i = 0; i < 2; i++) {
		static struct story s;

		fill(&s);
		miscable(&s, 0, "leaf02:swp1, leaf01:swp4", "leaf01:swp1");
		miscable(&s, 3, places[i], "leaf01:swp4");
		ck_assert_str_eq(
			judge(&s),
			i ? ""
			  : "node1: cabling fail the cables of node1 eth1 and node4 "
			    "eth1 are swapped: node1 is cabled to leaf02:swp1, "
			    "leaf01:swp4, node4 to leaf01:swp1, leaf02:swp4\n"
			    "node4: cabling fail the cables of node4 eth1 and node1 "
			    "eth1 are swapped: node4 is cabled to leaf01:swp1, "
			    "leaf02:swp4, node1 to leaf02:swp1, leaf01:swp4\n");
	}
}
END_TEST

START_TEST(a_rail_at_another_leaf_is_named)
{
	static struct story s;

	fill(&s);
	strcpy(find(&s, 1, "lldp", "eth2")->seen, "leaf07.dc:swp2");
	ck_assert_str_eq(judge(&s),
			 "node2: cabling fail eth2 is cabled to leaf07.dc, that of 4 "
			 "of 5 machines at leaf01.dc is cabled to leaf02.dc\n");
}
END_TEST

/* Nor one of which one NIC has no link: which is left says nothing of its cables. */
START_TEST(a_bond_at_two_switches_is_not_compared)
{
	static struct story s;

	for (int both = 0; both < 2; both++) {
		fill(&s);
		for (int i = 0; i < NODES; i++) {
			struct bu_check *row = find(&s, i, "lldp", "eth2");
			int first = i == 1 ? 8 : 7, second = i == 1 ? 7 : 8;

			BU_CHECK_SET(row->value, "leaf0%d:swp%d", first, i);
			if (both)
				BU_CHECK_SET(row->seen, "leaf0%d:swp%d, leaf0%d:swp%d",
					     first, i, second, i);
			else
				BU_CHECK_SET(row->seen, "%s", row->value);
		}
		ck_assert_str_eq(judge(&s), "");
	}
}
END_TEST

START_TEST(ports_fit)
{
	static const char *const yes[][2] = {{"leaf01.dc:swp3", "leaf01:swp3"},
					     {"leaf01.dc:swp3", "leaf01.dc:SWP3"},
					     {"leaf01.dc:swp3", "leaf01"},
					     {"leaf01", "leaf01"}};
	static const char *const no[][2] = {{"leaf01.dc:swp3", "leaf01:swp4"},
					    {"leaf01.dc:swp3", "leaf0:swp3"},
					    {"leaf01.dc:swp3", ":swp3"},
					    {"leaf01.dc:swp3", ""},
					    {"leaf01", "leaf01:swp3"}};

	for (size_t i = 0; i < BU_LEN(yes); i++)
		ck_assert_msg(bu_cohort_port_fits(yes[i][0], yes[i][1]), "%zu", i);
	for (size_t i = 0; i < BU_LEN(no); i++)
		ck_assert_msg(!bu_cohort_port_fits(no[i][0], no[i][1]), "%zu", i);
}
END_TEST

struct slow {
	int count;
	const char *node;
	enum bu_verdict verdict;
};

static void
on_slow(const char *node, const struct bu_check *row, void *arg)
{
	struct slow *slow = arg;

	slow->count++;
	slow->node = node;
	slow->verdict = row->verdict;
}

/* Of figures that nobody has published: compared with those of the others. */
START_TEST(a_gpu_slower_than_those_of_machines_like_it_is_told)
{
	static const struct {
		const char *seen;
		int found;
		enum bu_verdict verdict;
	} rows[] = {
		{"91.0 GB/s", 0, BU_VERDICT_PASS}, /* healthy ones spread so */
		{"85.0 GB/s", 1, BU_VERDICT_WARN},
		{"40.0 GB/s", 1, BU_VERDICT_FAIL},
	};

	static const char *const ids[] = {"gpu-h2d", "gpu-d2h", "gpu-hbm", "gpu-p2p",
					  "gpu-p2p-all"};

	for (size_t r = 0; r < BU_LEN(rows) * BU_LEN(ids); r++) {
		const char *id = ids[r / BU_LEN(rows)];
		struct bu_checks checks[4];
		struct bu_cohort_node nodes[4];
		static const char *const names[] = {"n1", "n2", "n3", "n4"};
		struct slow slow = {0};

		for (int i = 0; i < 4; i++) {
			struct bu_check *row;

			bu_checks_init(&checks[i]);
			row = bu_checks_add(&checks[i], "gpu", id, BU_VERDICT_PASS,
					    "GPU 0");
			BU_CHECK_SET(row->seen, "%s",
				     i == 2 ? rows[r % BU_LEN(rows)].seen : "100 GB/s");
			ck_assert_int_eq(bu_cohort_compares(row), 1);
			nodes[i] = (struct bu_cohort_node){names[i], &checks[i], ""};
		}
		bu_cohort_judge(nodes, 4, NULL, on_slow, &slow);
		ck_assert_int_eq(slow.count, rows[r % BU_LEN(rows)].found);
		if (slow.count) {
			ck_assert_str_eq(slow.node, "n3");
			ck_assert_int_eq(slow.verdict, rows[r % BU_LEN(rows)].verdict);
		}
		/* In a slot that carries less it is no like of the others. */
		slow.count = 0;
		BU_CHECK_SET(checks[2].list[0].expected, "at least 23.4 GB/s of gen 4");
		bu_cohort_judge(nodes, 4, NULL, on_slow, &slow);
		ck_assert_int_eq(slow.count, 0);
		/* Of two nobody can say which one is odd. */
		slow.count = 0;
		bu_cohort_judge(nodes + 1, 2, NULL, on_slow, &slow);
		ck_assert_int_eq(slow.count, 0);
		for (int i = 0; i < 4; i++)
			bu_checks_fini(&checks[i]);
	}
}
END_TEST

BU_UNIT("cohort", a_gpu_slower_than_those_of_machines_like_it_is_told,
	like_machines_have_no_finding, doubles_are_both_named,
	the_odd_one_is_named_by_a_majority_only, swapped_cables_are_named,
	a_cable_of_a_bond_may_be_swapped, a_rail_at_another_leaf_is_named,
	a_bond_at_two_switches_is_not_compared, ports_fit)
