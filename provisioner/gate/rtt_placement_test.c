/* SPDX-License-Identifier: Apache-2.0 */
/* Which round trips are laid beside the leaves of the profile: node 3 hangs at the
 * second of two leaves, and the profile says the first. */
#include "tests/support/between.h"

enum { NODES = 8, EACH = 4, MOVED = 3 };
#define NEAR_US 2.0f
#define FAR_US 3.0f

static int
is_far(int a, int b)
{
	int of_a = a > EACH || a == MOVED, of_b = b > EACH || b == MOVED;

	return of_a != of_b;
}

/* All pairs; like: how the pairs of node 3 with those of the first leaf are told. */
static void
measure(struct between *b, const struct probed *like)
{
	for (int one = 1; one <= NODES; one++) {
		for (int other = one + 1; other <= NODES; other++) {
			struct probed log = {
				one, other, "fabric", .us = {9, 9},
				.min_us = {is_far(one, other) ? FAR_US : NEAR_US, 8}};

			if (like && (one == MOVED || other == MOVED) && one <= EACH &&
			    other <= EACH) {
				log = *like;
				log.a = one;
				log.b = other;
			}
			between_log(b, &log);
		}
	}
}

static char *
said_of(struct between *b, int number)
{
	return bu_gate_rtt_placement(b->gate, rig_node(&b->rig, number),
				     between_network(b, "fabric"));
}

START_TEST(a_node_that_is_far_from_its_own_is_named)
{
	struct between b;

	between_begin(&b, NODES, 2, EACH, NULL);
	measure(&b, NULL);
	for (int i = 1; i <= NODES; i++) {
		bu_autofree char *text = said_of(&b, i);

		ck_assert_msg((text != NULL) == (i == MOVED), "node %d", i);
		if (!text)
			continue;
		rig_text_has(text, "its round trips on fabric do not fit leaf01, ");
		rig_text_has(text, "of one leaf are 2.00 us apart, others 3.00 us");
	}
	between_end(&b);
}
END_TEST

/* The shortest of all that count, in either direction. */
START_TEST(the_shortest_round_trip_counts)
{
	static const struct {
		struct probed like, more;
		int named;
	} rows[] = {
		{{.rail = "fabric", .min_us = {FAR_US, FAR_US}}, {.rail = NULL}, 1},
		{{.rail = "fabric", .min_us = {FAR_US, NEAR_US}}, {.rail = NULL}, 0},
		{{.rail = "fabric", .min_us = {NEAR_US, FAR_US}}, {.rail = NULL}, 0},
		/* without it the median */
		{{.rail = "fabric", .us = {NEAR_US, FAR_US}}, {.rail = NULL}, 0},
		{{.rail = "fabric", .us = {FAR_US, NEAR_US}}, {.rail = NULL}, 0},
		{{.rail = "fabric", .us = {FAR_US, FAR_US}}, {.rail = NULL}, 1},
		/* of several results */
		{{.rail = "fabric", .min_us = {FAR_US, FAR_US}},
		 {.rail = "fabric", .min_us = {NEAR_US, FAR_US}},
		 0},
		{{.rail = "fabric", .min_us = {NEAR_US, FAR_US}},
		 {.rail = "fabric", .min_us = {FAR_US, FAR_US}},
		 0},
		/* but for those in doubt, of another rail, or of another boot */
		{{.rail = "fabric", .min_us = {FAR_US, FAR_US}},
		 {.rail = "fabric", .min_us = {NEAR_US, NEAR_US}, .doubt = {1, 1}},
		 1},
		{{.rail = "fabric", .min_us = {FAR_US, FAR_US}},
		 {.rail = "rail1", .min_us = {NEAR_US, NEAR_US}},
		 1},
		{{.rail = "fabric", .min_us = {FAR_US, FAR_US}, .boot = {"old"}},
		 {.rail = NULL},
		 0},
		{{.rail = "fabric", .min_us = {FAR_US, FAR_US}, .boot = {NULL, "old"}},
		 {.rail = NULL},
		 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = NULL;
		struct between b;

		between_begin(&b, NODES, 2, EACH, NULL);
		measure(&b, &rows[i].like);
		for (int other = 1; rows[i].more.rail && other <= EACH; other++) {
			struct probed log = rows[i].more;

			log.a = other < MOVED ? other : MOVED;
			log.b = other < MOVED ? MOVED : other;
			if (other != MOVED)
				between_log(&b, &log);
		}
		text = said_of(&b, MOVED);
		ck_assert_msg((text != NULL) == rows[i].named, "row %zu: %s", i,
			      text ? text : "");
		between_end(&b);
	}
}
END_TEST

/* The profile's switch, else its rack; who is said to be nowhere is judged by none. */
START_TEST(leaves_are_those_of_the_profile)
{
	static const struct {
		int ports, racks; /* what it says of its nodes */
		const char *named;
	} rows[] = {{1, 0, "leaf01"}, {1, 1, "leaf01"}, {0, 1, "rack 1"}, {0, 0, NULL}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = NULL;
		struct between b;

		between_begin(&b, NODES, 1, EACH, NULL);
		measure(&b, NULL);
		for (int k = 0; k < NODES; k++) {
			struct bu_desired_node *want = &b.rig.fleet->desired->nodes[k];

			if (!rows[i].ports) {
				free(want->switch_ports);
				want->switch_ports = NULL;
			}
			if (rows[i].racks)
				want->rack = bu_xasprintf("rack %d", 1 + k / EACH);
			else
				want->rack = bu_xstrdup("");
		}
		text = said_of(&b, MOVED);
		ck_assert_int_eq(text != NULL, rows[i].named != NULL);
		if (text)
			rig_text_has(text, rows[i].named);
		between_end(&b);
	}
}
END_TEST

/* Nodes without a leaf count neither as far nor as near, nor do those of other pools.
 */
START_TEST(too_few_nodes_tell_nothing)
{
	for (int left_out = 0; left_out < 2; left_out++) {
		bu_autofree char *text = NULL;
		struct between b;

		between_begin(&b, NODES + !left_out, 1, EACH, NULL);
		measure(&b, NULL);
		free(b.rig.fleet->desired->nodes[NODES - 1].switch_ports);
		b.rig.fleet->desired->nodes[NODES - 1].switch_ports =
			left_out ? NULL : bu_xstrdup("fabric=leaf02:p8");
		text = said_of(&b, MOVED);
		ck_assert_int_eq(text != NULL, !left_out);
		between_end(&b);
	}
}
END_TEST

RIG_UNIT("rtt_placement", a_node_that_is_far_from_its_own_is_named,
	 the_shortest_round_trip_counts, leaves_are_those_of_the_profile,
	 too_few_nodes_tell_nothing)
