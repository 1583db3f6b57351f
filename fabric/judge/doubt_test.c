/* SPDX-License-Identifier: Apache-2.0 */
/* Whose instrument is doubted, and what may be its partner's. */
#include <string.h>

#include "fabric/judge/campaign.h"
#include "tests/support/unit.h"

enum { NODES = 8, RAILS = 2, FLOWS = 8, ALL = FLOWS + 1 };

/* One flow on the first rail; none: 0 to 0. */
struct said {
	int from, to, doubt;
};

static const struct row {
	const char *name;
	struct said said[ALL];
	int node; /* who is doubted, -1 = nobody */
} rows[] = {
	{"three of four, of two partners",
	 {{0, 1, BU_DOUBT_LIMIT},
	  {1, 0, BU_DOUBT_CLOCK},
	  {0, 2, BU_DOUBT_LIMIT},
	  {2, 0, 0}},
	 0},
	{"two are too few", {{0, 1, BU_DOUBT_LIMIT}, {0, 2, BU_DOUBT_LIMIT}}, -1},
	{"of one partner, which may be the wrong one",
	 {{0, 1, BU_DOUBT_LIMIT},
	  {1, 0, BU_DOUBT_LIMIT},
	  {0, 1, BU_DOUBT_LIMIT},
	  {1, 0, BU_DOUBT_LIMIT}},
	 -1},
	{"three of five are not most of them",
	 {{0, 1, BU_DOUBT_LIMIT},
	  {0, 2, BU_DOUBT_LIMIT},
	  {0, 3, BU_DOUBT_LIMIT},
	  {0, 4, 0},
	  {0, 5, 0}},
	 -1},
	{"all that it receives, and nothing that it sends",
	 {{1, 0, BU_DOUBT_BYTES},
	  {0, 1, 0},
	  {2, 0, BU_DOUBT_BYTES},
	  {0, 2, 0},
	  {3, 0, BU_DOUBT_BYTES},
	  {0, 3, 0}},
	 0},
	{"the one with the largest share, and by that the other one no more",
	 {{0, 1, BU_DOUBT_LIMIT},
	  {0, 4, BU_DOUBT_LIMIT},
	  {0, 5, BU_DOUBT_LIMIT},
	  {0, 6, 0},
	  {1, 2, BU_DOUBT_LIMIT},
	  {1, 3, BU_DOUBT_LIMIT}},
	 1},
	{"the same, the other way round",
	 {{0, 1, BU_DOUBT_LIMIT},
	  {0, 2, BU_DOUBT_LIMIT},
	  {0, 3, BU_DOUBT_LIMIT},
	  {1, 4, BU_DOUBT_LIMIT},
	  {1, 5, BU_DOUBT_LIMIT},
	  {1, 6, 0}},
	 0},
	{"nothing came", {{0, 1, 8}, {0, 2, 8}, {0, 3, 8}, {0, 4, 8}}, -1},
};

static void
try_row(const struct row *row)
{
	const struct bu_topology topology = {.nodes = NODES, .rails = RAILS};
	unsigned char usable[NODES * RAILS], doubted[NODES] = {0};
	struct bu_flow flows[FLOWS] = {0};
	struct campaign c = {
		.t = &topology, .usable = usable, .doubted = doubted, .flows = flows};

	memset(usable, 1, sizeof(usable));
	for (; row->said[c.count].from != row->said[c.count].to; c.count++)
		flows[c.count] = (struct bu_flow){
			.src = row->said[c.count].from * RAILS,
			.dst = row->said[c.count].to * RAILS,
			.doubt = (uint8_t)row->said[c.count].doubt,
		};
	bu_campaign_doubt(&c);
	for (int node = 0; node < NODES; node++) {
		ck_assert_msg((doubted[node] != 0) == (node == row->node),
			      "%s: node %d: %d", row->name, node, doubted[node]);
		for (int rail = 0; rail < RAILS; rail++)
			ck_assert_int_eq(usable[node * RAILS + rail],
					 node != row->node);
	}
	for (size_t i = 0; i < c.count; i++) {
		const struct said *said = &row->said[i];
		int of_it = said->from == row->node || said->to == row->node;

		ck_assert_int_eq(flows[i].doubt,
				 said->doubt | (of_it ? BU_DOUBT_NONE : 0));
	}
}

START_TEST(who_is_doubted)
{
	for (size_t i = 0; i < BU_LEN(rows); i++)
		try_row(&rows[i]);
}
END_TEST

/* What was wrong of any of them is said of the node. */
START_TEST(all_its_doubts_are_named)
{
	const struct bu_topology topology = {.nodes = 4, .rails = 1};
	unsigned char usable[4] = {1, 1, 1, 1}, doubted[4] = {0};
	struct bu_flow flows[] = {{.dst = 1, .doubt = BU_DOUBT_LIMIT | BU_DOUBT_NONE},
				  {.dst = 2, .doubt = BU_DOUBT_CLOCK},
				  {.dst = 3, .doubt = BU_DOUBT_CLOCK}};
	struct campaign c = {.t = &topology,
			     .usable = usable,
			     .doubted = doubted,
			     .flows = flows,
			     .count = BU_LEN(flows)};

	bu_campaign_doubt(&c);
	ck_assert_int_eq(doubted[0], BU_DOUBT_LIMIT | BU_DOUBT_CLOCK);
}
END_TEST

BU_UNIT("doubt", who_is_doubted, all_its_doubts_are_named)
