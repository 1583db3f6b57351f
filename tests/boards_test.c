/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU checks with the shipped rows of data/ on each board that the stand-in plays.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "checks/gpu/gpu.h"
#include "fabric/judge/gpus.h"
#include "profiles/load/gpu.h"
#include "tests/support/unit.h"

#define FAKEGPU BU_BUILDDIR "/tests/support/fakegpu.so"
#define FAKEAMD BU_BUILDDIR "/tests/support/fakeamd.so"

/* Healthy ones, each by its own row of the data. */

static const struct {
	const char *board, *model;
	int count;
	const char *mig; /* of the profile */
} boards[] = {
	{"h100-hgx-8", "h100-80gb", 8, NULL},
	{"h100-hgx-4", "h100-80gb", 4, NULL},
	{"h100-one", "h100-80gb", 1, NULL},
	{"h100-mig", "h100-80gb", 8, "1g.10gb*7"},
	{"h100-pcie", "h100-80gb-pcie", 4, NULL},
	{"h100-nvl", "h100-nvl", 2, NULL},
	{"h100-nvl-apart", "h100-nvl", 4, NULL},
	{"a100-hgx-8", "a100-80gb", 8, NULL},
	{"a100-hgx-4", "a100-80gb", 4, NULL},
	{"a100-pcie", "a100-80gb-pcie", 4, NULL},
	{"a100-bridged", "a100-80gb-pcie", 4, NULL},
	{"h200-hgx-8", "h200-141gb", 8, NULL},
	{"h20-3e", "h20-141gb", 8, NULL},
	{"b200-hgx-8", "b200-180gb", 8, NULL},
	{"b300-hgx-8", "b300", 8, NULL},
	{"gb200", "gb200", 4, NULL},
	{"gb300", "gb300", 4, NULL},
	{"l4-pcie", "l4", 8, NULL},
	{"l40s", "l40s", 8, NULL},
	{"a30", "a30", 4, NULL},
	{"a10-pcie", "a10", 4, NULL},
	{"rtx-pro", "rtx-pro-6000", 8, NULL},
};

static json_t *
shipped(const char *model, int count, const char *mig)
{
	bu_autojson json_t *gpus = bu_json_load(BU_SRCDIR "/data/gpus.json", NULL);
	struct bu_rates rates;
	struct bu_err err = {0};
	double share = 0;
	json_t *expect;

	ck_assert_int_eq(bu_rates_load(BU_SRCDIR "/data/rates.json", &rates, NULL), 0);
	expect = bu_gpus_expect(gpus, &rates, model, count, &err);
	ck_assert_msg(expect != NULL, "%s: %s", model, err.text);
	if (mig)
		bu_gpus_divide(expect, bu_gpu_mig_alike(mig, model, &share), share);
	bu_rates_fini(&rates);
	return expect;
}

static void
check_board(size_t i, const char *fault, const struct bu_checks_ctx *ctx,
	    struct bu_checks *ret)
{
	bu_autojson json_t *expect =
		shipped(boards[i].model, boards[i].count, boards[i].mig);
	struct bu_gpu_opts opts = {.nvml = FAKEGPU,
				   .cuda = FAKEGPU,
				   .expect = expect,
				   .copy_bytes = 65536,
				   .ctx = ctx};

	setenv("FAKEBOARD", boards[i].board, 1);
	setenv("FAKEGPU", fault, 1);
	bu_checks_init(ret);
	bu_gpu_check(&opts, ret);
	unsetenv("FAKEBOARD");
}

static size_t
board_of(const char *name)
{
	size_t i = 0;

	while (i < BU_LEN(boards) - 1 && strcmp(boards[i].board, name) != 0)
		i++;
	ck_assert_str_eq(boards[i].board, name);
	return i;
}

/* A100: NVML says N/A for its fabric; one H100 alone has none; of four each pair has 6
 * links; an H20 copies 2.2 TB/s; an instance has an eighth; without a bridge, alone and
 * divided all links are down: none of this is a fault. */
START_TEST(a_healthy_board_of_every_kind_passes)
{
	for (size_t i = 0; i < BU_LEN(boards); i++) {
		struct bu_checks checks;

		check_board(i, "", NULL, &checks);
		ck_assert_uint_gt(checks.count, 0);
		for (size_t k = 0; k < checks.count; k++)
			ck_assert_msg(checks.list[k].verdict == BU_VERDICT_PASS,
				      "%s: %s", boards[i].board, checks.list[k].text);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* Eight of AMD's, of whose links each has seven. */
START_TEST(a_healthy_board_of_amd_passes)
{
	bu_autojson json_t *expect = shipped("mi300x", 8, NULL);
	struct bu_gpu_opts opts = {.amd = FAKEAMD, .expect = expect};
	struct bu_checks checks;

	ck_assert_int_eq(json_integer_value(json_object_get(expect, "xgmi_links")), 7);
	setenv("FAKEGPU", "", 1);
	bu_checks_init(&checks);
	bu_gpu_check(&opts, &checks);
	ck_assert_uint_gt(checks.count, 8);
	for (size_t k = 0; k < checks.count; k++)
		ck_assert_msg(checks.list[k].verdict == BU_VERDICT_PASS, "%s",
			      checks.list[k].text);
	bu_checks_fini(&checks);
}
END_TEST

/* A sum of links, of which nobody has published a figure, is only a warning. */
static int
has_bad(const struct bu_checks *checks, const char *id)
{
	enum bu_verdict bad =
		strcmp(id, "gpu-p2p-all") ? BU_VERDICT_FAIL : BU_VERDICT_WARN;

	for (size_t i = 0; i < checks->count; i++)
		if (checks->list[i].verdict == bad &&
		    strcmp(checks->list[i].id, id) == 0)
			return 1;
	return 0;
}

/* What a board has is still judged: nothing is let off for its sake. */
START_TEST(a_fault_shows_on_every_board_that_can_have_it)
{
	static const struct {
		const char *fault, *id, *on; /* on: words of the boards; NULL = all */
	} rows[] = {
		{"ecc", "gpu-ecc", NULL},
		{"model", "gpu-model", NULL},
		{"remap-failed", "gpu-remap", NULL},
		{"nvlink", "gpu-nvlink",
		 "h100-hgx-8 h100-hgx-4 h200-hgx-8 b200-hgx-8 b300-hgx-8 gb300"},
		{"p2p", "gpu-p2p", "h100-hgx-8 h100-hgx-4 a100-hgx-8 h200-hgx-8 gb200"},
		{"p2p-all", "gpu-p2p-all",
		 "h100-hgx-8 h100-hgx-4 a100-hgx-8 h200-hgx-8 gb200"},
		{"fabric", "gpu-fabric",
		 "h100-hgx-8 h200-hgx-8 b200-hgx-8 b300-hgx-8 gb200 gb300"},
		{"h2d", "gpu-h2d", "h100-hgx-8 h100-hgx-4 a100-hgx-8 a100-pcie l40s"},
		{"hbm", "gpu-hbm", "h100-hgx-8 h100-hgx-4 h20-3e"},
		{"mig-instance", "gpu-mig", "h100-mig"},
	};

	for (size_t r = 0; r < BU_LEN(rows); r++)
		for (size_t i = 0; i < BU_LEN(boards); i++) {
			struct bu_checks checks;

			if (boards[i].count < 4 ||
			    (rows[r].on && !strstr(rows[r].on, boards[i].board)))
				continue;
			check_board(i, rows[r].fault, NULL, &checks);
			ck_assert_msg(has_bad(&checks, rows[r].id), "%s on %s",
				      rows[r].fault, boards[i].board);
			bu_checks_fini(&checks);
		}
}
END_TEST

static const struct bu_check *
row_of(const struct bu_checks *checks, const char *id, const char *gpu)
{
	for (size_t i = 0; i < checks->count; i++)
		if (strcmp(checks->list[i].id, id) == 0 &&
		    strncmp(checks->list[i].subject, gpu, strlen(gpu)) == 0)
			return &checks->list[i];
	ck_abort_msg("no row %s of %s", id, gpu);
	return NULL;
}

/* Where nobody knows the number of links: what is said of GPU 3. */
START_TEST(links_without_a_number_are_told)
{
	static const struct {
		const char *board, *fault;
		enum bu_verdict verdict;
		const char *seen, *expected;
	} rows[] = {
		{"a100-pcie", "", BU_VERDICT_PASS, "0 of 12 links up",
		 "no number of this part; not judged"},
		{"a100-pcie", "bridge", BU_VERDICT_WARN,
		 "4 links up; down: 4,5,6,7,8,9,10,11", "12 links up, or none"},
		{"a100-bridged", "", BU_VERDICT_PASS, "12 links up",
		 "12 links up, or none"},
		{"a100-bridged", "nvlink", BU_VERDICT_WARN, "11 links up; down: 4",
		 "12 links up, or none"},
		{"h100-mig", "", BU_VERDICT_PASS, "0 of 18 links up",
		 "not judged under MIG"},
		{"h100-mig", "bridge", BU_VERDICT_PASS, "4 of 18 links up",
		 "not judged under MIG"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_check *row;
		struct bu_checks checks;

		check_board(board_of(rows[i].board), rows[i].fault, NULL, &checks);
		ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_FAIL), 0);
		row = row_of(&checks, "gpu-nvlink", "GPU 3");
		ck_assert_int_eq(row->verdict, rows[i].verdict);
		ck_assert_str_eq(row->seen, rows[i].seen);
		ck_assert_str_eq(row->expected, rows[i].expected);
		ck_assert(!row->hint[0] || strstr(row->hint, "bridge"));
		bu_checks_fini(&checks);
	}
}
END_TEST

/* What host and part can do together is no fault of either: what is said of GPU 3. */
START_TEST(a_slot_that_is_less_than_the_part_is_a_warning)
{
	static const struct {
		const char *board, *slot, *fault;
		enum bu_verdict link, copy;
		const char *seen, *least;
	} rows[] = {
		{"h100-pcie", "4x16", "", BU_VERDICT_WARN, BU_VERDICT_PASS,
		 "gen 4 x16, the most of this slot", "at least 23.4 GB/s of gen 4 x16"},
		{"l4-pcie", "4x8", "", BU_VERDICT_WARN, BU_VERDICT_PASS,
		 "gen 4 x8, the most of this slot", "at least 11.0 GB/s of gen 4 x8"},
		{"a100-pcie", "3x16", "", BU_VERDICT_WARN, BU_VERDICT_PASS,
		 "gen 3 x16, the most of this slot", "at least 11.0 GB/s of gen 3 x16"},
		{"a100-pcie", "5x16", "", BU_VERDICT_PASS, BU_VERDICT_PASS, "gen 4 x16",
		 "at least 24.5 GB/s"},
		/* What the slot could do is still wanted. */
		{"h100-pcie", "5x16", "pcie-width", BU_VERDICT_FAIL, BU_VERDICT_PASS,
		 "gen 5 x8", "at least 52.0 GB/s"},
		{"h100-pcie", "5x16", "pcie-gen", BU_VERDICT_FAIL, BU_VERDICT_PASS,
		 "gen 3 x16", "at least 52.0 GB/s"},
		{"h100-pcie", "4x16", "pcie-width", BU_VERDICT_FAIL, BU_VERDICT_PASS,
		 "gen 4 x8", "at least 23.4 GB/s of gen 4 x16"},
		{"h100-pcie", "4x16", "h2d", BU_VERDICT_WARN, BU_VERDICT_FAIL,
		 "gen 4 x16, the most of this slot", "at least 23.4 GB/s of gen 4 x16"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_check *link, *copy;
		struct bu_checks checks;

		setenv("FAKESLOT", rows[i].slot, 1);
		check_board(board_of(rows[i].board), rows[i].fault, NULL, &checks);
		unsetenv("FAKESLOT");
		link = row_of(&checks, "gpu-pcie", "GPU 3");
		copy = row_of(&checks, "gpu-h2d", "GPU 3");
		ck_assert_int_eq(link->verdict, rows[i].link);
		ck_assert_int_eq(copy->verdict, rows[i].copy);
		ck_assert_str_eq(link->seen, rows[i].seen);
		ck_assert_str_eq(copy->expected, rows[i].least);
		ck_assert_int_eq(rows[i].link == BU_VERDICT_FAIL,
				 strstr(link->hint, "reseat") != NULL);
		ck_assert_int_eq(rows[i].link == BU_VERDICT_WARN,
				 strstr(link->hint, "slot") != NULL);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* A port may claim lanes that its slot lacks: the profile says how many there are. */
START_TEST(lanes_that_no_slot_has_are_not_wanted)
{
	static const struct {
		const char *fault;
		int lanes; /* of the profile; 0 = it is silent */
		const char *gpu;
		enum bu_verdict verdict;
		const char *seen;
	} rows[] = {
		{"pcie-width", 0, "GPU 3", BU_VERDICT_FAIL, "gen 5 x8"},
		{"pcie-width", 8, "GPU 3", BU_VERDICT_WARN,
		 "gen 5 x8, the most of this slot"},
		/* Its own slot has them all. */
		{"pcie-width", 8, "GPU 2", BU_VERDICT_PASS, "gen 5 x16"},
		{"pcie-quarter", 8, "GPU 3", BU_VERDICT_FAIL, "gen 5 x4"},
		{"pcie-width", 16, "GPU 3", BU_VERDICT_FAIL, "gen 5 x8"},
		{"pcie-width", 32, "GPU 3", BU_VERDICT_FAIL, "gen 5 x8"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *expect = json_pack("{s:{s:i}}", "thresholds",
						       "gpu_pcie_width", rows[i].lanes);
		struct bu_checks_ctx ctx = {.root = "/nowhere", .expect = expect};
		const struct bu_check *link, *copy;
		struct bu_checks checks;

		check_board(board_of("h100-pcie"), rows[i].fault, &ctx, &checks);
		link = row_of(&checks, "gpu-pcie", rows[i].gpu);
		copy = row_of(&checks, "gpu-h2d", rows[i].gpu);
		ck_assert_int_eq(link->verdict, rows[i].verdict);
		ck_assert_str_eq(link->seen, rows[i].seen);
		/* The same of each, so that the gate compares them. */
		ck_assert_str_eq(copy->expected,
				 rows[i].lanes == 8 ? "at least 23.4 GB/s of gen 5 x8"
						    : "at least 52.0 GB/s");
		bu_checks_fini(&checks);
	}
}
END_TEST

/* Four of its five runs are 12 % under what it can do: healthy machines spread so. */
START_TEST(the_best_of_five_runs_counts)
{
	struct bu_checks checks;

	check_board(0, "spread", NULL, &checks);
	ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_FAIL), 0);
	bu_checks_fini(&checks);
}
END_TEST

/* From the other socket's memory it would be 30 % slower. */
START_TEST(copies_use_memory_next_to_the_gpu)
{
	char root[] = "/tmp/bringup-gpu-XXXXXX";
	struct bu_checks_ctx ctx = {.root = root};
	struct bu_checks checks;
	bu_autofree char *dir = NULL, *path = NULL;

	ck_assert_ptr_nonnull(mkdtemp(root));
	dir = bu_xasprintf("%s/sys/bus/pci/devices/0000:1b:00.0", root);
	path = bu_xasprintf("%s/local_cpulist", dir);
	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "0\n"), 0);
	check_board(0, "far", &ctx, &checks);
	ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_FAIL), 0);
	bu_checks_fini(&checks);
	bu_ignore(bu_remove_tree(root, NULL));
}
END_TEST

/* Of four each pair has a third of the links: what they must carry together is the same
 * share of all links. Without a figure of a pair there is none of the sum. */
START_TEST(all_links_of_a_gpu_must_carry_the_share_of_a_pair)
{
	static const struct {
		const char *board, *expected;
	} rows[] = {
		{"h100-hgx-8", "at least 338.4 GB/s"},
		{"h100-hgx-4", "at least 352.2 GB/s"},
		{"a100-hgx-4", "no figure of this part; compared with its like"},
		{"b200-hgx-8", "no figure of this part; compared with its like"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_checks checks;

		check_board(board_of(rows[i].board), "", NULL, &checks);
		ck_assert_str_eq(row_of(&checks, "gpu-p2p-all", "GPU 3")->expected,
				 rows[i].expected);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* Nobody has published what a pair of four A100 reaches: it is measured and told. */
START_TEST(a_figure_that_nobody_has_is_told_and_not_judged)
{
	struct bu_checks checks;
	int told = 0;

	check_board(board_of("a100-hgx-4"), "p2p", NULL, &checks);
	for (size_t i = 0; i < checks.count; i++)
		if (strcmp(checks.list[i].subject, "GPU 3 to GPU 1") == 0) {
			told++;
			ck_assert_int_eq(checks.list[i].verdict, BU_VERDICT_PASS);
			ck_assert_str_eq(checks.list[i].seen, "10.0 GB/s");
			ck_assert_str_eq(checks.list[i].expected,
					 "no figure of this part; compared with its "
					 "like");
		}
	ck_assert_int_eq(told, 1);
	bu_checks_fini(&checks);
}
END_TEST

BU_UNIT("boards", a_healthy_board_of_every_kind_passes, a_healthy_board_of_amd_passes,
	a_fault_shows_on_every_board_that_can_have_it, links_without_a_number_are_told,
	a_slot_that_is_less_than_the_part_is_a_warning,
	lanes_that_no_slot_has_are_not_wanted, the_best_of_five_runs_counts,
	copies_use_memory_next_to_the_gpu,
	all_links_of_a_gpu_must_carry_the_share_of_a_pair,
	a_figure_that_nobody_has_is_told_and_not_judged)
