/* SPDX-License-Identifier: Apache-2.0 */
/* What people hear of and nobody is held for: weak validations, and round trips that do
 * not fit the leaves of the profile. */
#include <math.h>

#include "base/json.h"
#include "provisioner/gate/gate.h"
#include "provisioner/gate/internal.h"
#include "tests/support/between.h"
#include "tests/support/unit.h"

enum { NODES = 8 };

#define NEAR_US 2.0
#define FAR_US 3.0

static char *
remarks_of(const struct rig *rig, int number)
{
	bu_autojson json_t *list = bu_gate_remarks(rig->gate, rig_node(rig, number));
	char *text = bu_xstrdup("");
	size_t i;
	json_t *one;

	json_array_foreach (list, i, one) {
		bu_autofree char *old = text;

		text = bu_xasprintf("%s%s\n", old, json_string_value(one));
	}
	return text;
}

/* Nodes 1 to 4 at one leaf and 5 to 8 at another, or as `ports` says. */
static void
begin(struct rig *rig, const int *declared_at, int nodes)
{
	bu_autofree char *sections = bu_xstrdup("");

	rig_begin(rig, nodes);
	rig_open_gate(rig);
	for (int i = 0; i < nodes; i++) {
		bu_autofree char *old = sections;

		sections = bu_xasprintf("%s[node node%03d]\nswitch_ports = "
					"fabric=leaf%02d:swp%d\n",
					old, i + 1, declared_at[i], i + 1);
	}
	{
		bu_autofree char *old = sections;

		sections = bu_xasprintf("%s[network fabric]\n", old);
	}
	rig_apply(rig, nodes, BU_CLASS_INSTALL, "d-ports", "[network fabric]\n",
		  sections);
}

static void
measured(struct rig *rig, int a, int b, double min_us, const char *boot_b)
{
	struct bu_event event;
	json_t *flows = json_array();

	/* The median is long after the shortest, and differs: it does not count. */
	for (int dir = 0; dir < 2; dir++)
		json_array_append_new(flows, json_pack("{s:f,s:f,s:f,s:f,s:f,s:i}",
						       "rate_gbps", 0.019, "lat_us",
						       50.0 + a * b, "lat99_us", 90.0,
						       "lat_min_us", min_us, "lost",
						       0.0, "doubt", 0));
	bu_event_init(&event, BU_EVENT_PAIR, "",
		      json_pack("{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:o}", "probe", "p-1",
				"rail", "fabric", "a", rig_node(rig, a)->name, "b",
				rig_node(rig, b)->name, "boot_a",
				rig_node(rig, a)->boot_id, "boot_b", boot_b, "verdict",
				"pass", "flows", flows));
	bu_reconcile_note(rig->rec, &event, 1);
}

/* All pairs, as their cables really lead: with a little scatter. */
static void
measure(struct rig *rig, const int *really_at, int nodes, int in_this_boot)
{
	for (int a = 1; a <= nodes; a++)
		for (int b = a + 1; b <= nodes; b++)
			measured(rig, a, b,
				 (really_at[a - 1] == really_at[b - 1] ? NEAR_US
								       : FAR_US) +
					 0.01 * ((a * 3 + b) % 4),
				 in_this_boot ? rig_node(rig, b)->boot_id : "other");
	for (int i = 0; i < 400 && rig->fleet->measurements.count <
					   (size_t)(nodes * (nodes - 1) / 2);
	     i++)
		rig_pass(rig, 1);
	ck_assert_uint_eq(rig->fleet->measurements.count,
			  (size_t)(nodes * (nodes - 1) / 2));
}

static const int tree[NODES] = {1, 1, 1, 1, 2, 2, 2, 2};

START_TEST(a_cable_to_another_leaf_is_noticed)
{
	static const int really_at[NODES] = {1, 1, 2, 1, 2, 2, 2, 2};
	struct rig rig;
	int told = 0;

	begin(&rig, tree, NODES);
	measure(&rig, really_at, NODES, 1);
	for (int i = 1; i <= NODES; i++) {
		bu_autofree char *text = remarks_of(&rig, i);

		ck_assert_msg((i == 3) == (strstr(text, "do not fit leaf01") != NULL),
			      "node %d: '%s'", i, text);
		told += *text != '\0';
	}
	ck_assert_int_eq(told, 1);
	/* Where the node's whole story is told, too. */
	{
		bu_autojson json_t *shown =
			bu_gate_show(rig.gate, rig_node(&rig, 3), NULL);

		ck_assert_uint_eq(json_array_size(json_object_get(shown, "remarks")),
				  1);
	}
	/* A node that is not measured any more has no place to fit. */
	rig.fleet->desired->nodes[2].validation = NULL;
	{
		bu_autofree char *text = remarks_of(&rig, 3);

		ck_assert_str_eq(text, "");
	}
	rig_end(&rig);
}
END_TEST

START_TEST(a_tree_as_declared_is_not_mentioned)
{
	struct rig rig;

	begin(&rig, tree, NODES);
	measure(&rig, tree, NODES, 1);
	for (int i = 1; i <= NODES; i++) {
		bu_autofree char *text = remarks_of(&rig, i);

		ck_assert_str_eq(text, "");
	}
	rig_end(&rig);
}
END_TEST

/* Of another boot, of too few nodes, of one leaf: nobody can tell. */
START_TEST(where_nobody_can_tell_nothing_is_said)
{
	static const int really_at[NODES] = {1, 1, 2, 1, 2, 2, 2, 2};
	static const int one_leaf[NODES] = {1, 1, 1, 1, 1, 1, 1, 1};
	static const struct {
		const int *declared_at;
		int nodes, in_this_boot;
	} rows[] = {{tree, NODES, 0}, {tree, NODES - 1, 1}, {one_leaf, NODES, 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		bu_autofree char *text = NULL;

		begin(&rig, rows[i].declared_at, rows[i].nodes);
		measure(&rig, really_at, rows[i].nodes, rows[i].in_this_boot);
		text = remarks_of(&rig, 3);
		ck_assert_msg(!*text, "row %zu: %s", i, text);
		rig_end(&rig);
	}
}
END_TEST

static char *
warning_with(const char *fabric, const char *validation)
{
	struct rig rig;
	bu_autojson json_t *warnings = NULL;
	bu_autofree char *site = bu_xasprintf(
		"%s[image debian12]\n[hardware vm]\ndisk = smallest\nnics = 2\n"
		"[cluster hpc]\ndriver = slurm\ncontroller = 10.77.0.1:6817\n"
		"[validation pairs]\nfabric = fabric\n%s",
		fabric, validation);
	struct bu_err err;
	bu_autofree char *text = NULL;
	char *first;

	rig_begin(&rig, 1);
	rig_open_gate(&rig);
	ck_assert_msg(bu_gate_load_data(rig.gate, BU_SRCDIR "/data/rates.json",
					BU_SRCDIR "/data/gpus.json", &err) == 0,
		      "%s", err.text);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d-bw",
		  "rdma = rxe\nlink_gbps = 0.02\n[image debian12]\n[hardware vm]\n"
		  "disk = smallest\nnics = 2\n[cluster hpc]\ndriver = slurm\n"
		  "controller = 10.77.0.1:6817\n[validation pairs]\nfabric = fabric\n",
		  site);
	warnings = bu_gate_warnings(rig.gate);
	text = remarks_of(&rig, 1);
	ck_assert_uint_le(json_array_size(warnings), 1);
	first = bu_xstrdup(json_array_size(warnings)
				   ? json_string_value(json_array_get(warnings, 0))
				   : "");
	/* Of the site and of its nodes the same is said. */
	ck_assert_int_eq(strncmp(text, first, strlen(first)), 0);
	ck_assert_uint_eq(strlen(text), strlen(first) + (*first ? 1 : 0));
	rig_end(&rig);
	return first;
}

START_TEST(a_weak_gate_needs_a_reason)
{
#define FAST "rdma = hardware\nlink_gbps = 400\nmtu = 9000\n"
	static const struct {
		const char *fabric, *validation;
		int warned;
	} rows[] = {
		{FAST, "bw_min = 50 %\n", 1},
		{FAST, "bw_min = 50 %\nbw_reason = switches of the old hall\n", 0},
		{FAST, "bw_min = 97 %\n", 0},
		{FAST, "", 0}, /* the table's own word */
		{"rdma = rxe\nlink_gbps = 0.02\n", "bw_min = 50 %\n", 0},
		{"rdma = hardware\nlink_gbps = 123\n", "bw_min = 50 %\n", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text =
			warning_with(rows[i].fabric, rows[i].validation);

		ck_assert_msg((*text != '\0') == rows[i].warned, "row %zu: '%s'", i,
			      text);
		if (rows[i].warned)
			ck_assert_msg(strstr(text, "[validation pairs] bw_min = 50 % "
						   "is 200.0 Gbit/s") != NULL,
				      "%s", text);
	}
}
END_TEST

/* Of a node in service, by its last result with each partner that is there: node 1 with
 * node 3, and sometimes with node 4. */
static const char alone[] = "slow with node003 (rail fabric): check the cables of both";
static const char besides[] = "slow with node003, good with others (rail "
			      "fabric): check the cables of both";
static const struct {
	struct probed log[3];
	enum bu_state own, other;
	const char *says; /* NULL = nothing */
} slow_pairs[] = {
	{{{1, 3, "fabric", .gbps = {0.25, 1}}}, BU_STATE_READY, BU_STATE_READY, alone},
	{{{1, 3, "fabric", .gbps = {1, 0.25}}},
	 BU_STATE_READY,
	 BU_STATE_VALIDATING,
	 alone},
	{{{1, 3, "fabric", .gbps = {1, 0.25}}},
	 BU_STATE_READY,
	 BU_STATE_QUARANTINED,
	 NULL},
	{{{1, 3, "fabric", .gbps = {1, 0.25}}},
	 BU_STATE_VALIDATING,
	 BU_STATE_READY,
	 NULL},
	/* just enough */
	{{{1, 3, "fabric", .gbps = {0.75, 0.75}}},
	 BU_STATE_READY,
	 BU_STATE_READY,
	 NULL},
	{{{1, 3, "fabric", .gbps = {0.25, 0.25}, .doubt = {1, 0}}},
	 BU_STATE_READY,
	 BU_STATE_READY,
	 NULL},
	{{{1, 3, "fabric", .gbps = {0.25, 0.25}, .doubt = {0, 1}}},
	 BU_STATE_READY,
	 BU_STATE_READY,
	 NULL},
	{{{1, 3, "fabric", .gbps = {0.25, 0.25}, .boot = {"old"}}},
	 BU_STATE_READY,
	 BU_STATE_READY,
	 NULL},
	{{{1, 3, "fabric", .gbps = {0.25, 0.25}, .boot = {NULL, "old"}}},
	 BU_STATE_READY,
	 BU_STATE_READY,
	 NULL},
	{{{1, 3, "fabric", .failed = 1}}, BU_STATE_READY, BU_STATE_READY, NULL},
	/* the last one counts */
	{{{1, 3, "fabric", .gbps = {0.25, 1}}, {1, 3, "fabric", .gbps = {1, 1}}},
	 BU_STATE_READY,
	 BU_STATE_READY,
	 NULL},
	{{{1, 3, "fabric", .gbps = {1, 1}}, {1, 3, "fabric", .gbps = {0.25, 1}}},
	 BU_STATE_READY,
	 BU_STATE_READY,
	 alone},
	{{{1, 3, "fabric", .gbps = {0.25, 1}}, {1, 4, "fabric", .gbps = {1, 1}}},
	 BU_STATE_READY,
	 BU_STATE_READY,
	 besides},
	{{{1, 3, "fabric", .gbps = {0.25, 1}},
	  {1, 4, "fabric", .gbps = {1, 1}, .boot = {NULL, "old"}}},
	 BU_STATE_READY,
	 BU_STATE_READY,
	 alone},
};

START_TEST(a_slow_pair_is_a_remark_of_both)
{
	for (size_t i = 0; i < BU_LEN(slow_pairs); i++) {
		bu_autojson json_t *list = NULL;
		struct bu_desired_validation *validation;
		struct between b;

		between_begin(&b, 4, 1, 2, NULL);
		validation =
			(struct bu_desired_validation *)(uintptr_t)b.rig.fleet->desired
				->nodes[0]
				.validation;
		validation->bw_min_percent = 75;
		for (size_t k = 0; k < 3 && slow_pairs[i].log[k].rail; k++)
			between_log(&b, &slow_pairs[i].log[k]);
		rig_node(&b.rig, 1)->state = slow_pairs[i].own;
		rig_node(&b.rig, 3)->state = slow_pairs[i].other;
		list = bu_gate_remarks(b.gate, rig_node(&b.rig, 1));
		ck_assert_msg(json_array_size(list) == (slow_pairs[i].says != NULL),
			      "row %zu", i);
		if (slow_pairs[i].says)
			ck_assert_str_eq(json_string_value(json_array_get(list, 0)),
					 slow_pairs[i].says);
		between_end(&b);
	}
}
END_TEST

/* The row of the path MTU that was measured, where the profile has no mtu: of a pair
 * its own, of a whole rail the least: ports with less may be meant to have it. */
static const struct {
	struct probed log[3];
	double least; /* of all pairs of the rail */
	int slow;
} by_mtu[] = {
	{{{1, 3, "fabric", .gbps = {360, 360}, .mtu = 1024}}, 351.83, 0},
	{{{1, 3, "fabric", .gbps = {360, 373}, .mtu = 4096}}, 372.54, 1},
	{{{1, 3, "fabric", .gbps = {373, 360}, .mtu = 4096}}, 372.54, 1},
	{{{1, 3, "fabric", .gbps = {373, 373}, .mtu = 4096}}, 372.54, 0},
	{{{1, 3, "fabric", .gbps = {360, 360}, .mtu = 1024},
	  {2, 4, "fabric", .gbps = {373, 373}, .mtu = 4096},
	  {2, 3, "fabric", .gbps = {373, 373}, .mtu = 4096}},
	 351.83,
	 0},
	{{{1, 3, "fabric", .gbps = {360, 360}, .mtu = 2048},
	  {2, 4, "fabric", .gbps = {373, 373}, .mtu = 4096}},
	 365.37,
	 1},
	{{{2, 4, "rail1", .gbps = {373, 373}, .mtu = 4096}}, 351.83, 0},
	{{{1, 3, "fabric", .failed = 1, .mtu = 4096}}, 351.83, 0},
};

START_TEST(without_an_mtu_a_pair_has_the_row_of_its_path)
{
	for (size_t i = 0; i < BU_LEN(by_mtu); i++) {
		bu_autojson json_t *list = NULL;
		const struct bu_desired_node *want;
		struct bu_desired_network *rail;
		struct bu_expect expect;
		struct bu_err err;
		struct between b;

		between_begin(&b, 4, 1, 2, NULL);
		ck_assert_msg(bu_gate_load_data(b.gate, BU_SRCDIR "/data/rates.json",
						BU_SRCDIR "/data/gpus.json", &err) == 0,
			      "%s", err.text);
		want = &b.rig.fleet->desired->nodes[0];
		rail = (struct bu_desired_network *)(uintptr_t)want->pool->rails[0];
		rail->rdma = BU_RDMA_HARDWARE;
		rail->link_gbps = 400;
		rail->mtu = 0;
		for (size_t k = 0; k < 3 && by_mtu[i].log[k].rail; k++)
			between_log(&b, &by_mtu[i].log[k]);
		for (int n = 1; n <= 4; n++)
			rig_node(&b.rig, n)->state = BU_STATE_READY;
		expect = bu_gate_expect_all(b.gate, want->validation, rail);
		ck_assert_msg(fabs(bu_expect_min_gbps(&expect, 0) - by_mtu[i].least) <
				      1e-6,
			      "row %zu: %g", i, bu_expect_min_gbps(&expect, 0));
		list = bu_gate_remarks(b.gate, rig_node(&b.rig, 1));
		ck_assert_msg((int)json_array_size(list) == by_mtu[i].slow, "row %zu",
			      i);
		between_end(&b);
	}
}
END_TEST

RIG_UNIT("remarks", without_an_mtu_a_pair_has_the_row_of_its_path,
	 a_slow_pair_is_a_remark_of_both, a_cable_to_another_leaf_is_noticed,
	 a_tree_as_declared_is_not_mentioned, a_weak_gate_needs_a_reason,
	 where_nobody_can_tell_nothing_is_said)
