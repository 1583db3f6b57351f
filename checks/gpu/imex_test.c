/* SPDX-License-Identifier: Apache-2.0 */
/* IMEX as one node sees it, and the row of the GPU checks about it. */
#include "checks/gpu/imex.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "checks/gpu/gpu.h"
#include "tests/support/unit.h"

#define FAKEGPU BU_BUILDDIR "/tests/support/fakegpu.so"

static char root[] = "/tmp/bringup-imex-XXXXXX";

static void
put(const char *at, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, at);
	bu_autofree char *dir = bu_xstrndup(path, (size_t)(strrchr(path, '/') - path));

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(path, 0600, NULL, "%s", text), 0);
}

static const char *
look(void)
{
	static char text[160];
	struct bu_imex imex;

	bu_imex_look(root, &imex);
	bu_imex_text(&imex, text, sizeof(text));
	return text;
}

START_TEST(what_is_there_is_told)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_str_eq(look(), "no channel device, nvidia-imex does not run");
	put("dev/nvidia-caps-imex-channels/control", "");
	put("proc/self/comm", "nvidia-imex\n");
	put("proc/17/comm", "nvidia-imex-ctl\n");
	ck_assert_str_eq(look(), "no channel device, nvidia-imex does not run");
	put("proc/18/comm", "nvidia-imex\n");
	put("etc/nvidia-imex/nodes_config.cfg", "# nodes\n10.0.0.1\n\n  10.0.0.2\n");
	ck_assert_str_eq(look(), "no channel device, nvidia-imex runs, its "
				 "configuration names 2 nodes");
	put("dev/nvidia-caps-imex-channels/channel3", "");
	ck_assert_str_eq(look(), "channel3, nvidia-imex runs, its configuration names "
				 "2 nodes");
	bu_ignore(bu_remove_tree(root, NULL));
}
END_TEST

/* Of the row gpu-imex: its verdict, -1 = there is none; and the domain that is told. */
static int
verdict_on(const char *board, const char *domain, char *ret_text, size_t size)
{
	bu_autojson json_t *expect = json_pack("{s:b}", "fabric", 1);
	struct bu_checks_ctx ctx = {.root = root};
	struct bu_gpu_opts opts = {.nvml = FAKEGPU, .expect = expect, .ctx = &ctx};
	struct bu_checks checks;
	int verdict = -1;

	setenv("FAKEBOARD", board, 1);
	bu_checks_init(&checks);
	bu_gpu_check(&opts, &checks);
	for (size_t i = 0; i < checks.count; i++) {
		const struct bu_check *row = &checks.list[i];

		if (strcmp(row->id, BU_CHECK_GPU_FABRIC) == 0)
			ck_assert_str_eq(row->value, domain);
		if (strcmp(row->id, "gpu-imex") == 0) {
			verdict = row->verdict;
			snprintf(ret_text, size, "%s", row->text);
		}
	}
	bu_checks_fini(&checks);
	return verdict;
}

/* A board of eight with switches of its own, and one that has no fabric, need none. */
START_TEST(only_gpus_of_several_nodes_need_a_channel)
{
	static const char rack[] = "abcd0000-0000-0000-0000-000000000000.1";
	char text[256];

	ck_assert_ptr_nonnull(mkdtemp(root));
	unsetenv("FAKEGPU");
	ck_assert_int_eq(verdict_on("h100-hgx-8", "", text, sizeof(text)), -1);
	ck_assert_int_eq(verdict_on("a100-pcie", "", text, sizeof(text)), -1);
	ck_assert_int_eq(verdict_on("gb200", rack, text, sizeof(text)),
			 BU_VERDICT_WARN);
	ck_assert_ptr_nonnull(
		strstr(text, "no channel device, nvidia-imex does not run"));
	put("dev/nvidia-caps-imex-channels/channel0", "");
	ck_assert_int_eq(verdict_on("gb200", rack, text, sizeof(text)),
			 BU_VERDICT_PASS);
	ck_assert_int_eq(verdict_on("gb300", rack, text, sizeof(text)),
			 BU_VERDICT_PASS);
	bu_ignore(bu_remove_tree(root, NULL));
}
END_TEST

/* The clusters of boards with switches of their own are all zeros: such nodes would all
 * be of one NVLink domain. */
START_TEST(a_cluster_of_zeros_is_no_domain)
{
	static const struct {
		const char *board, *domain;
	} rows[] = {
		{"h100-hgx-8", ""},
		{"b200-hgx-8", ""},
		{"gb200", "abcd0000-0000-0000-0000-000000000000.1"},
	};

	unsetenv("FAKEGPU");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char domain[BU_DOMAIN_SIZE];
		struct bu_nvml_facts facts;

		setenv("FAKEBOARD", rows[i].board, 1);
		ck_assert_int_eq(bu_nvml_read(FAKEGPU, NULL, &facts, NULL), 0);
		bu_imex_domain(&facts, domain);
		ck_assert_str_eq(domain, rows[i].domain);
		ck_assert_int_eq(facts.gpus[0].fabric, BU_GPU_FABRIC_COMPLETED);
		bu_nvml_facts_fini(&facts);
	}
}
END_TEST

BU_UNIT("imex", what_is_there_is_told, only_gpus_of_several_nodes_need_a_channel,
	a_cluster_of_zeros_is_no_domain)
