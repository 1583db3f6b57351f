/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of switches where flows are sprayed: which of them count. */
#include "fabric/judge/localise.h"
#include "tests/support/unit.h"

enum { LEAVES = 3, EACH = 2, NODES = LEAVES * EACH, SPINES = 2 };
enum { BAD_LEAF = 2, BAD_SPINE = 1 };

struct site {
	const int *leaf_of;
	int idle; /* flows from and to the bad link's leaf give no result */
};

static int
answer(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	const struct site *site = arg;

	(void)err;
	for (int i = 0; i < count; i++) {
		int from = site->leaf_of[flows[i].src],
		    to = site->leaf_of[flows[i].dst];

		flows[i].rate_gbps = 100;
		if (site->idle && from != to && (from == BAD_LEAF || to == BAD_LEAF))
			flows[i].doubt |= BU_DOUBT_NONE;
	}
	return 0;
}

static int
read_switches(void *arg, struct bu_link_count *ret, struct bu_err *err)
{
	(void)arg;
	(void)err;
	for (int i = 0; i < 2 * LEAVES * SPINES; i++)
		ret[i] = (struct bu_link_count){.rate = -1};
	ret[2 * (BAD_LEAF * SPINES + BAD_SPINE) + BU_LINK_UP].bad = 1000;
	return 0;
}

/* The same readings in both: what a link counts that nothing of ours went over is not
 * ours to judge. */
START_TEST(a_link_without_load_is_not_judged)
{
	for (int idle = 0; idle < 2; idle++) {
		int leaf_of[NODES];
		struct site site = {leaf_of, idle};
		struct bu_topology topology = {.nodes = NODES,
					       .rails = 1,
					       .leaves = LEAVES,
					       .spines = SPINES,
					       .sprayed = 1,
					       .has_switch = 1,
					       .leaf_of = leaf_of,
					       .limit_gbps = 100};
		struct bu_site asked = {
			.round = answer, .switches = read_switches, .arg = &site};
		struct bu_localise_opts opts = {.seed = 7};
		struct bu_report report;

		for (int i = 0; i < NODES; i++)
			leaf_of[i] = i / EACH;
		ck_assert_int_eq(bu_localise(&topology, &asked, &opts, &report, NULL),
				 0);
		ck_assert_int_eq(report.count, !idle);
		if (!idle) {
			ck_assert_int_eq(report.accusations[0].what, BU_WHAT_LINK);
			ck_assert_int_eq(report.accusations[0].leaf, BAD_LEAF);
			ck_assert_int_eq(report.accusations[0].spine, BAD_SPINE);
		}
		bu_report_fini(&report);
	}
}
END_TEST

BU_UNIT("switches", a_link_without_load_is_not_judged)
