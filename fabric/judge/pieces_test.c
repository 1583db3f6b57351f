/* SPDX-License-Identifier: Apache-2.0 */
/* Stage A of a site whose results come by and by: what it counts, whom it asks about
 * whom, and what that costs. */
#include <string.h>

#include "fabric/judge/localise.h"
#include "fabric/stages.h"
#include "tests/support/unit.h"

enum { NODES = 40, PARTNERS = 3, SEED = 7 };

/* One leaf, unless nodes are moved. Nobody is busy, absent or known to anybody unless
 * the test says so. */
struct site {
	int leaf_of[NODES];
	enum bu_known known[NODES][NODES];
	int taken[NODES][NODES];
	struct bu_pair met[NODES * NODES];
	size_t met_count;
	int peer[NODES]; /* whom it is asked about now, -1 = nobody */
	int calls;
	unsigned char trusted[NODES], absent[NODES], busy[NODES];
	unsigned char last[NODES], slow[NODES];
	unsigned char ports[NODES]; /* what the report says */
};

static enum bu_known
known(void *arg, const struct bu_flow *flow)
{
	struct site *site = arg;
	enum bu_known known = site->known[flow->src][flow->dst];

	site->calls++;
	return known == BU_KNOWN_RESULT && site->taken[flow->src][flow->dst]
		       ? BU_KNOWN_NOT
		       : known;
}

static size_t
met(void *arg, const struct bu_pair **ret)
{
	struct site *site = arg;

	*ret = site->met;
	return site->met_count;
}

static int
answer(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	struct site *site = arg;
	int missing = 0;

	for (int i = 0; i < count; i++) {
		struct bu_flow *flow = &flows[i];

		if (known(site, flow) == BU_KNOWN_RESULT) {
			site->taken[flow->src][flow->dst] = 1;
			flow->rate_gbps = 99;
			flow->doubt = 0;
			continue;
		}
		missing = 1;
		flow->doubt = BU_DOUBT_NONE | BU_DOUBT_ASKED;
		site->peer[flow->src] = flow->dst;
	}
	return missing;
}

static struct site *
make_site(void)
{
	struct site *site = bu_xcalloc(1, sizeof(*site));

	return site;
}

static void
know(struct site *site, int a, int b, enum bu_known known)
{
	site->known[a][b] = site->known[b][a] = known;
	if (known == BU_KNOWN_RESULT || known == BU_KNOWN_FAILED)
		site->met[site->met_count++] = (struct bu_pair){a, b};
}

/* All others are busy for now. */
static void
leave_free(struct site *site, int a, int b)
{
	memset(site->busy, 1, sizeof(site->busy));
	site->busy[a] = site->busy[b] = 0;
}

/* Asked anew, as at each look. 1 = some answers are not there yet. */
static int
look_all(struct site *site)
{
	struct bu_topology topology = {.nodes = NODES,
				       .rails = 1,
				       .leaves = 2,
				       .spines = 1,
				       .sprayed = 1,
				       .leaf_of = site->leaf_of,
				       .limit_gbps = 100};
	struct bu_site asked = {
		.round = answer, .known = known, .met = met, .arg = site};
	struct bu_localise_opts opts = {.seed = SEED,
					.partners = PARTNERS,
					.trusted = site->trusted,
					.absent = site->absent,
					.busy = site->busy,
					.last = site->last,
					.slow = site->slow,
					.lean = 1};
	struct bu_report report;
	int rc;

	memset(site->taken, 0, sizeof(site->taken));
	site->calls = 0;
	for (int i = 0; i < NODES; i++)
		site->peer[i] = -1;
	rc = bu_localise(&topology, &asked, &opts, &report, NULL);
	ck_assert_int_ge(rc, 0);
	memcpy(site->ports, report.ports, sizeof(site->ports));
	bu_report_fini(&report);
	return rc;
}

static void
look(struct site *site)
{
	ck_assert_int_eq(look_all(site), 1);
}

static int
asked_about(struct site *site, int a, int b)
{
	look(site);
	ck_assert_int_eq(site->peer[a] == b, site->peer[b] == a);
	return site->peer[a] == b;
}

static int
asked_count(const struct site *site)
{
	int count = 0;

	for (int i = 0; i < NODES; i++)
		count += site->peer[i] >= 0;
	return count / 2;
}

static int
round_of(int a, int b)
{
	return bu_stage_group_round_of(NODES, SEED, 0, a, b);
}

/* Its partners were those that were left, of late rounds with nothing in between. */
START_TEST(a_result_of_a_late_round_counts)
{
	struct site *site = make_site();
	int found = 0;

	leave_free(site, 0, 0);
	for (int i = 1; i < NODES && found < PARTNERS; i++)
		if (round_of(0, i) >= NODES / 2 && ++found)
			know(site, 0, i, BU_KNOWN_RESULT);
	ck_assert_int_eq(found, PARTNERS);
	look(site);
	ck_assert_int_eq(site->ports[0], BU_PORT_GOOD);
	ck_assert_int_eq(asked_count(site), 0);
	know(site, site->met[0].b, 0, BU_KNOWN_NOT);
	look(site);
	ck_assert_int_ne(site->ports[0], BU_PORT_GOOD);
	free(site);
}
END_TEST

START_TEST(all_that_are_free_are_asked_about_one_partner)
{
	struct site *site = make_site();

	look(site);
	ck_assert_int_eq(asked_count(site), NODES / 2);
	for (int i = 0; i < NODES; i++)
		ck_assert_int_eq(round_of(i, site->peer[i]), 0);
	leave_free(site, 3, 20);
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	ck_assert_int_eq(asked_count(site), 1);
	site->absent[20] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 0);
	free(site);
}
END_TEST

START_TEST(a_pair_that_failed_comes_after_others)
{
	struct site *site = make_site();

	leave_free(site, 3, 20);
	site->busy[11] = 0;
	know(site, 3, 20, BU_KNOWN_FAILED);
	ck_assert_int_eq(asked_about(site, 3, 20), 0);
	ck_assert_int_eq(asked_count(site), 1);
	site->busy[11] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	free(site);
}
END_TEST

/* Nothing but its own partners holds a healthy one up: it waits for one that is busy.
 */
START_TEST(who_comes_last_keeps_nobody_who_needs_others)
{
	struct site *site = make_site();

	leave_free(site, 3, 20);
	site->last[20] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 0);
	/* Of its own kind it may. */
	site->last[3] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	/* And with one that needs nothing. */
	site->last[3] = 0;
	site->trusted[3] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	free(site);
}
END_TEST

/* Who has met the others, has others that are gone, or that rest for their jobs, has
 * nobody to wait for. */
START_TEST(who_has_no_others_takes_who_comes_last)
{
	struct site *site = make_site();

	leave_free(site, 3, 20);
	site->last[20] = 1;
	memset(site->absent, 1, sizeof(site->absent));
	site->absent[3] = site->absent[20] = site->absent[11] = 0;
	ck_assert_int_eq(asked_about(site, 3, 20), 0);
	know(site, 3, 11, BU_KNOWN_RESULT);
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	know(site, 3, 11, BU_KNOWN_NOT);
	site->met_count = 0;
	site->trusted[11] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	site->trusted[11] = 0;
	site->last[11] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	site->last[11] = 0;
	site->absent[11] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	free(site);
}
END_TEST

/* One of them may hold the other one up, and nobody knows which. */
START_TEST(two_that_were_slow_wait_for_others)
{
	struct site *site = make_site();

	leave_free(site, 3, 20);
	site->slow[3] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	site->slow[20] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 0);
	site->busy[11] = 0;
	look(site);
	ck_assert_int_eq(asked_count(site), 1);
	ck_assert_int_ge(site->peer[11], 0);
	/* Three of these have nobody else. */
	memset(site->absent, 1, sizeof(site->absent));
	site->absent[3] = site->absent[20] = site->absent[11] = 0;
	site->slow[11] = 1;
	look(site);
	ck_assert_int_eq(asked_count(site), 1);
	site->slow[11] = 0;
	site->busy[11] = 1;
	ck_assert_int_eq(asked_about(site, 3, 20), 0);
	know(site, 3, 11, BU_KNOWN_RESULT);
	know(site, 20, 11, BU_KNOWN_RESULT);
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	free(site);
}
END_TEST

/* Who gives nothing is tried again with whom it gave nothing before. */
START_TEST(who_comes_last_wears_out_few)
{
	struct site *site = make_site();

	memset(site->trusted, 1, sizeof(site->trusted));
	site->trusted[20] = 0;
	site->last[20] = 1;
	know(site, 20, 3, BU_KNOWN_FAILED);
	ck_assert_int_gt(round_of(3, 20), 0);
	ck_assert_int_eq(asked_about(site, 20, 3), 1);
	free(site);
}
END_TEST

/* One is free, all others wait for their results: what is known is looked at, and not
 * each pair of each round. */
START_TEST(a_look_costs_what_there_is)
{
	struct site *site = make_site();

	for (int i = 0; i + 1 < NODES; i += 2)
		know(site, i, i + 1, BU_KNOWN_RESULT);
	leave_free(site, 3, 3);
	look(site);
	/* Of each result once before it is given, and its two directions then; and of
	 * the first partner that is waited for. */
	ck_assert_int_le(site->calls, 3 * NODES / 2 + 1);
	ck_assert_int_ge(site->calls, NODES / 2);
	site->last[20] = 1;
	leave_free(site, 3, 20);
	look(site);
	ck_assert_int_le(site->calls, 3 * NODES / 2 + 8);
	free(site);
}
END_TEST

/* All others are gone. */
static void
leave(struct site *site, const int *nodes, size_t count)
{
	memset(site->absent, 1, sizeof(site->absent));
	for (size_t i = 0; i < count; i++)
		site->absent[nodes[i]] = 0;
}

/* A partner that others measure, or that rests for its jobs, comes free: who lacks it
 * has met too few. */
START_TEST(who_idles_until_a_partner_is_free_is_not_through)
{
	static const int left[] = {3, 11, 20};
	struct site *site = make_site();

	leave(site, left, BU_LEN(left));
	site->trusted[11] = site->trusted[20] = 1;
	know(site, 3, 11, BU_KNOWN_RESULT);
	site->busy[20] = 1;
	ck_assert_int_eq(look_all(site), 0);
	ck_assert_int_eq(site->ports[3], BU_PORT_OPEN);
	ck_assert_int_eq(asked_count(site), 0);
	know(site, 3, 20, BU_KNOWN_FAILED);
	look_all(site);
	ck_assert_int_eq(site->ports[3], BU_PORT_OPEN);
	/* Nobody waits for what gave nothing so often. */
	know(site, 3, 20, BU_KNOWN_TIRED);
	look_all(site);
	ck_assert_int_eq(site->ports[3], BU_PORT_GOOD);
	know(site, 3, 20, BU_KNOWN_NOT);
	site->busy[20] = 0;
	ck_assert_int_eq(asked_about(site, 3, 20), 1);
	ck_assert_int_eq(site->ports[3], BU_PORT_OPEN);
	know(site, 3, 20, BU_KNOWN_RESULT);
	look_all(site);
	ck_assert_int_eq(site->ports[3], BU_PORT_GOOD);
	/* What it had met before is not waited for again. */
	site->busy[11] = site->busy[20] = 1;
	look_all(site);
	ck_assert_int_eq(site->ports[3], BU_PORT_GOOD);
	free(site);
}
END_TEST

/* Alone at its leaf it meets some of others: all of these, or as many as are wanted. */
START_TEST(who_is_alone_in_its_leaf_is_not_through_with_its_first)
{
	static const int left[] = {3, 11, 20};
	struct site *site = make_site();

	leave(site, left, BU_LEN(left));
	site->trusted[11] = site->trusted[20] = 1;
	site->leaf_of[3] = 1;
	know(site, 3, 11, BU_KNOWN_RESULT);
	look_all(site);
	ck_assert_int_eq(site->peer[20], 3);
	ck_assert_int_eq(site->ports[3], BU_PORT_OPEN);
	know(site, 3, 20, BU_KNOWN_RESULT);
	look_all(site);
	ck_assert_int_eq(site->ports[3], BU_PORT_GOOD);
	free(site);
}
END_TEST

BU_UNIT("pieces", who_idles_until_a_partner_is_free_is_not_through,
	who_is_alone_in_its_leaf_is_not_through_with_its_first,
	a_result_of_a_late_round_counts, all_that_are_free_are_asked_about_one_partner,
	a_pair_that_failed_comes_after_others,
	who_comes_last_keeps_nobody_who_needs_others,
	who_has_no_others_takes_who_comes_last, two_that_were_slow_wait_for_others,
	who_comes_last_wears_out_few, a_look_costs_what_there_is)
