/* SPDX-License-Identifier: Apache-2.0 */
/* What people hear of and nobody is held for: weak validations, and slow pairs. */
#include "base/json.h"
#include "provisioner/gate/gate.h"
#include "provisioner/gate/terms/terms.h"
#include "tests/support/between.h"
#include "tests/support/unit.h"

static char *
remarks_of(const struct rig *rig, int number)
{
	return rig_lines(bu_gate_remarks(rig->gate, rig_node(rig, number)));
}

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
	first = bu_xstrdup(rig_sentence(json_array_get(warnings, 0)));
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
						   "is 200.0 Gbit/s of network fabric; "
						   "the table of rates rejects less "
						   "than ") != NULL,
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
		bu_autojson json_t *list = NULL, *shown = NULL, *none = NULL;
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
			ck_assert_str_eq(rig_sentence(json_array_get(list, 0)),
					 slow_pairs[i].says);
		/* Where the node's whole story is told, too. */
		shown = bu_gate_show(b.gate, rig_node(&b.rig, 1), NULL);
		ck_assert_int_eq(json_equal(json_object_get(shown, "remarks"), list),
				 1);
		/* A node that is not measured any more has no slow pair. */
		b.rig.fleet->desired->nodes[0].validation = NULL;
		none = bu_gate_remarks(b.gate, rig_node(&b.rig, 1));
		ck_assert_uint_eq(json_array_size(none), 0);
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
	 a_slow_pair_is_a_remark_of_both, a_weak_gate_needs_a_reason)
