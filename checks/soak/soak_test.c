/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of a soak over a tree whose counters grow meanwhile, or do not. */
#include "checks/soak/soak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "tests/support/unit.h"

static char root[64];

static void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", root, path);
	bu_autofree char *dir = bu_xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(full, text, strlen(text), 0644, NULL), 0);
}

static const struct {
	const char *path, *before, *after, *id, *text;
	enum bu_verdict verdict;
} counters[] = {
	{"sys/devices/system/edac/mc/mc0/ue_count", "1\n", "2\n", "soak-memory-errors",
	 "mc0: memory errors that could not be corrected during the soak: 1 more",
	 BU_VERDICT_FAIL},
	{"sys/devices/system/edac/mc/mc0/ce_count", "5\n", "9\n",
	 "soak-memory-corrected",
	 "mc0: memory errors that were corrected during the soak: 4 more",
	 BU_VERDICT_WARN},
	{"sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count", "0\n",
	 "12\n", "soak-throttle",
	 "cpu3: throttling of the CPUs during the soak: 12 more", BU_VERDICT_FAIL},
	{"sys/bus/pci/devices/0000:18:00.0/aer_dev_correctable",
	 "RxErr 2\nBadTLP 0\nTOTAL_ERR_COR 2\n", "RxErr 2\nBadTLP 7\nTOTAL_ERR_COR 9\n",
	 "soak-pcie-corrected",
	 "0000:18:00.0: PCIe errors that were corrected during the soak: 7 more",
	 BU_VERDICT_WARN},
	{"sys/bus/pci/devices/0000:18:00.0/aer_dev_fatal", "DLP 0\nTOTAL_ERR_FATAL 0\n",
	 "DLP 1\nTOTAL_ERR_FATAL 1\n", "soak-pcie-errors",
	 "0000:18:00.0: PCIe errors that lost something during the soak: 1 more",
	 BU_VERDICT_FAIL},
	{"sys/class/net/eth2/carrier_down_count", "3\n", "4\n", "soak-link-flaps",
	 "eth2: losses of the link's carrier during the soak: 1 more", BU_VERDICT_FAIL},
	{"sys/class/infiniband/mlx5_0/ports/1/counters/link_downed", "0\n", "1\n",
	 "soak-link-downed",
	 "mlx5_0: times that the RDMA link went down during the soak: 1 more "
	 "(link_downed)",
	 BU_VERDICT_FAIL},
	{"sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "0\n", "15\n",
	 "soak-symbol-errors",
	 "mlx5_0: symbol errors of the RDMA link during the soak: 15 more "
	 "(symbol_error)",
	 BU_VERDICT_WARN},
	{"sys/class/infiniband/mlx5_1/ports/2/counters/port_rcv_errors", "4\n", "7\n",
	 "soak-link-errors",
	 "mlx5_1/2: packets that came damaged or were thrown away during the soak: 3 "
	 "more (port_rcv_errors)",
	 BU_VERDICT_WARN},
	{"sys/class/infiniband/mlx5_0/ports/1/hw_counters/rnr_nak_retry_err", "0\n",
	 "1\n", "soak-rnr",
	 "mlx5_0: requests that failed because the peer was not ready during the soak: "
	 "1 more (rnr_nak_retry_err)",
	 BU_VERDICT_FAIL},
	{"sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer", "0\n", "2\n",
	 "soak-rdma-errors",
	 "mlx5_0: requests that the adapter refused during the soak: 2 more "
	 "(out_of_buffer)",
	 BU_VERDICT_WARN},
	{"sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "0\n", "90\n",
	 "soak-congestion",
	 "mlx5_0: signs of congestion, between neighbours at one switch during the "
	 "soak: 90 more (np_cnp_sent)",
	 BU_VERDICT_WARN},
	{"sys/class/net/eth2/statistics/rx_crc_errors", "0\n", "3\n",
	 "soak-link-errors",
	 "mlx5_0: packets that came damaged or were thrown away during the soak: 3 "
	 "more (rx_crc_errors)",
	 BU_VERDICT_WARN},
};

static int growing; /* index in counters; -1 = none */
static int asked;
static const char *libs = BU_BUILDDIR "/tests/support";

/* Asked once before the slice and often while the load runs: then the counter grows. */
static int
on_asked(void *arg)
{
	if (asked++ && growing >= 0)
		put(counters[growing].path, counters[growing].after);
	return arg != NULL;
}

static void
run(const char *expectation, struct bu_checks *ret)
{
	bu_autojson json_t *expect =
		bu_json_parse(expectation, strlen(expectation), "expect", NULL);
	bu_autojson json_t *groups = json_pack("[s]", "soak");
	struct bu_checks_ctx ctx = {
		.root = root, .libs = libs, .expect = expect, .cancelled = on_asked};
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(expect);
	ck_assert_msg(bu_checks_run(&ctx, groups, ret, &err) == 0, "%s", err.text);
}

static void
with_tree(int grows, const char *expect, struct bu_checks *ret)
{
	const char *argv[] = {"rm", "-r", root, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};

	snprintf(root, sizeof(root), "/tmp/bringup-soak-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	for (size_t i = 0; i < BU_LEN(counters); i++)
		put(counters[i].path, counters[i].before);
	put("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/3", "eth2\n");
	growing = grows;
	asked = 0;
	run(expect, ret);
	ck_assert_int_eq(bu_job_run(&opts, NULL, NULL), 0);
}

static const char slice[] = "{\"soak\":{\"slice_ms\":300,\"memory_bytes\":8388608}}";

START_TEST(a_slice_in_which_nothing_grew_passes)
{
	struct bu_checks checks;

	with_tree(-1, slice, &checks);
	ck_assert_uint_eq(checks.count, 1);
	ck_assert_str_eq(checks.list[0].id, "soak-time");
	ck_assert(strtod(checks.list[0].seen, NULL) > 0.2);
	bu_checks_fini(&checks);
}
END_TEST

START_TEST(each_counter_that_grew_is_a_row_with_the_difference)
{
	for (size_t i = 0; i < BU_LEN(counters); i++) {
		struct bu_checks checks;

		with_tree((int)i, slice, &checks);
		ck_assert_uint_eq(checks.count, 2);
		ck_assert_str_eq(checks.list[0].id, counters[i].id);
		ck_assert_str_eq(checks.list[0].text, counters[i].text);
		ck_assert_int_eq(checks.list[0].verdict, counters[i].verdict);
		ck_assert(checks.list[0].hint[0]);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* The folder of the stand-in holds no libcuda.so.1: the load says so. */
START_TEST(gpus_that_cannot_be_loaded_are_a_row)
{
	struct bu_checks checks;

	with_tree(-1,
		  "{\"soak\":{\"slice_ms\":300,\"memory_bytes\":8388608},\"gpu\":{"
		  "\"count\":8}}",
		  &checks);
	ck_assert_uint_eq(checks.count, 2);
	ck_assert_str_eq(checks.list[0].id, "soak-gpu-copy");
	ck_assert_ptr_nonnull(strstr(checks.list[0].text, "cannot load CUDA"));
	bu_checks_fini(&checks);
}
END_TEST

/* GPUs compute between their copies; only what is wrong with one of them fails. */
START_TEST(gpus_compute_in_a_slice)
{
	static const struct {
		const char *fault, *id, *text;
		enum bu_verdict verdict;
	} rows[] = {
		{"", "soak-time", "", BU_VERDICT_PASS},
		{"lazy", "soak-gpu-compute",
		 "computations of the GPUs during the soak: GPU 3 at 0000:1b:00.0: "
		 "result 262143 is 0x00000000, right is ",
		 BU_VERDICT_FAIL},
		{"ecc-load", "soak-gpu-ecc",
		 "GPU 3 at 0000:1b:00.0: GPU memory errors that were not corrected "
		 "during the soak: 2 more",
		 BU_VERDICT_FAIL},
		{"nojit", "soak-gpu-idle",
		 "GPUs that did not compute during the soak: compile the kernel: "
		 "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
		 BU_VERDICT_WARN},
	};

	libs = BU_BUILDDIR "/tests/support/libs";
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_checks checks;

		setenv("FAKEGPU", rows[i].fault, 1);
		with_tree(-1,
			  "{\"soak\":{\"slice_ms\":300,\"memory_bytes\":8388608,"
			  "\"gpu_bytes\":65536},\"gpu\":{\"count\":8}}",
			  &checks);
		ck_assert_uint_eq(checks.count, *rows[i].fault ? 2 : 1);
		ck_assert_str_eq(checks.list[0].id, rows[i].id);
		ck_assert_int_eq(checks.list[0].verdict, rows[i].verdict);
		ck_assert_msg(strncmp(checks.list[0].text, rows[i].text,
				      strlen(rows[i].text)) == 0,
			      "%s", checks.list[0].text);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* AMD's are given no load, which is said; what they count is judged all the same. */
START_TEST(gpus_of_amd_are_read_and_not_loaded)
{
	struct bu_checks checks;

	libs = BU_BUILDDIR "/tests/support/libs";
	setenv("FAKEGPU", "ecc-grows", 1);
	with_tree(
		-1,
		"{\"soak\":{\"slice_ms\":300,\"memory_bytes\":8388608},\"gpu\":{"
		"\"count\":8,\"vendor\":\"AMD\",\"names\":[\"AMD Instinct MI300X\"]}}",
		&checks);
	ck_assert_uint_eq(checks.count, 3);
	ck_assert_str_eq(checks.list[0].text,
			 "GPU 3 at 0000:1b:00.0: GPU memory errors that were not "
			 "corrected during the soak: 1 more");
	ck_assert_int_eq(checks.list[0].verdict, BU_VERDICT_FAIL);
	ck_assert_str_eq(checks.list[1].text,
			 "GPUs that did not compute during the soak: GPUs of AMD: no "
			 "load is known for them");
	ck_assert_int_eq(checks.list[1].verdict, BU_VERDICT_WARN);
	ck_assert_str_eq(checks.list[2].id, "soak-time");
	bu_checks_fini(&checks);
}
END_TEST

START_TEST(a_profile_may_switch_a_row_off)
{
	struct bu_checks checks;

	with_tree(1,
		  "{\"soak\":{\"slice_ms\":300,\"memory_bytes\":8388608},"
		  "\"severity\":{\"soak-memory-corrected\":\"off\"}}",
		  &checks);
	ck_assert_uint_eq(checks.count, 1);
	bu_checks_fini(&checks);
}
END_TEST

BU_UNIT("soak", a_slice_in_which_nothing_grew_passes,
	each_counter_that_grew_is_a_row_with_the_difference,
	gpus_that_cannot_be_loaded_are_a_row, gpus_compute_in_a_slice,
	gpus_of_amd_are_read_and_not_loaded, a_profile_may_switch_a_row_off)
