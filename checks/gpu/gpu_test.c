/* SPDX-License-Identifier: Apache-2.0 */
/* GPU checks against a stand-in for the libraries that plays good and bad machines. */
#include "checks/gpu/gpu.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

static const char expectation[] =
	"{\"count\":8,\"names\":[\"NVIDIA H100 80GB HBM3\",\"NVIDIA H100 SXM\"],"
	"\"memory_bytes\":85000000000,\"nvlinks\":18,\"fabric\":true,"
	"\"driver\":\"570.86.15\",\"vbios\":[\"96.00.89.00.01\"],\"mig\":false,"
	"\"pcie_gen\":5,\"pcie_width\":16,\"pcie_gbs\":52,\"p2p_gbs\":338.4,"
	"\"hbm_gbs\":2245.5,\"p2p_all_gbs\":338.4,\"p2p_limit_gbs\":450,"
	"\"measure\":true}";

static char library[4096];

static int pauses, ready_after; /* while the fabric manager registers; 0 = never */
static void (*pausing)(int64_t ms);

static void
pause_ms(int64_t ms)
{
	ck_assert_int_eq(ms, 1000);
	if (++pauses == ready_after)
		setenv("FAKEGPU", "", 1);
}

static void
find_library(void)
{
	snprintf(library, sizeof(library), "%s/fakegpu.so",
		 BU_BUILDDIR "/tests/support");
}

static void
check_for(const char *wanted, const char *fault, const char *nvml, const char *cuda,
	  struct bu_checks *ret)
{
	bu_autojson json_t *expect =
		bu_json_parse(wanted, strlen(wanted), "expect", NULL);
	struct bu_gpu_opts opts = {.nvml = nvml,
				   .cuda = cuda,
				   .expect = expect,
				   .copy_bytes = 65536,
				   .pause = pausing};

	find_library();
	opts.nvml = nvml ? nvml : library;
	opts.cuda = cuda ? cuda : library;
	setenv("FAKEGPU", fault, 1);
	bu_checks_init(ret);
	bu_gpu_check(&opts, ret);
}

static void
check(const char *fault, const char *nvml, const char *cuda, struct bu_checks *ret)
{
	check_for(expectation, fault, nvml, cuda, ret);
}

/* The one row that is not good, or NULL when there are none or several. */
static const struct bu_check *
only_bad(const struct bu_checks *checks)
{
	const struct bu_check *bad = NULL;

	for (size_t i = 0; i < checks->count; i++) {
		if (checks->list[i].verdict == BU_VERDICT_PASS)
			continue;
		if (bad)
			return NULL;
		bad = &checks->list[i];
	}
	return bad;
}

START_TEST(a_good_machine_passes_every_row)
{
	struct bu_checks checks;
	size_t rows, seen = 0;
	const struct bu_gpu_row *row = bu_gpu_rows(&rows);

	check("", NULL, NULL, &checks);
	for (size_t i = 0; i < checks.count; i++)
		ck_assert_msg(checks.list[i].verdict == BU_VERDICT_PASS, "%s: %s",
			      checks.list[i].id, checks.list[i].text);
	for (size_t r = 0; r < rows; r++)
		for (size_t i = 0; i < checks.count; i++)
			if (strcmp(checks.list[i].id, row[r].id) == 0) {
				seen++;
				break;
			}
	/* gpu-library speaks only when it fails, XGMI and the partition mode are
	 * AMD's, and IMEX is of GPUs that share NVLink with other nodes. */
	ck_assert_uint_eq(seen, rows - 4);
	bu_checks_fini(&checks);
}
END_TEST

static const struct {
	const char *fault;
	const char *id;
	enum bu_verdict verdict;
	const char *text;
} faults[] = {
	{"missing", "gpu-count", BU_VERDICT_FAIL, "number of GPUs: 7; expected 8"},
	{"lost", "gpu-answers", BU_VERDICT_FAIL,
	 "GPU 3: the GPU answers its driver: lost: GPU is lost"},
	{"gone", "gpu-answers", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: the GPU answers its driver: lost: GPU is lost"},
	{"model", "gpu-model", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: exact model: NVIDIA T4; expected NVIDIA "
	 "H100 80GB HBM3 or NVIDIA H100 SXM"},
	{"memory", "gpu-memory", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: size of its memory: 68719476736 bytes; expected "
	 "at least 85000000000 bytes"},
	{"vbios", "gpu-vbios", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: version of the VBIOS: 96.00.61.00.01; expected "
	 "96.00.89.00.01"},
	{"ecc", "gpu-ecc", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: ECC is on and has not failed: ECC on, 2 "
	 "uncorrected errors; expected ECC on, 0 uncorrected errors"},
	{"ecc-load", "gpu-ecc", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: ECC is on and has not failed: ECC on, 2 "
	 "uncorrected errors; expected ECC on, 0 uncorrected errors"},
	{"ecc-off", "gpu-ecc", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: ECC is on and has not failed: ECC off, 0 "
	 "uncorrected errors; expected ECC on, 0 uncorrected errors"},
	{"remap-pending", "gpu-remap", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: rows of memory that were remapped: 0 rows, one "
	 "pending; expected none pending, none failed, at most 10 rows"},
	{"remap-failed", "gpu-remap", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: rows of memory that were remapped: 3 rows, one "
	 "failed; expected none pending, none failed, at most 10 rows"},
	{"remap-many", "gpu-remap", BU_VERDICT_WARN,
	 "GPU 3 at 0000:1b:00.0: rows of memory that were remapped: 11 rows; "
	 "expected none pending, none failed, at most 10 rows"},
	{"nvlink", "gpu-nvlink", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: state of each NVLink: 16 links up; down: 4,17; "
	 "expected 18 links up"},
	{"nvlink-errors", "gpu-nvlink-errors", BU_VERDICT_WARN,
	 "GPU 3 at 0000:1b:00.0: errors of the NVLinks: 77 errors; expected 0 "
	 "errors"},
	{"fabric", "gpu-fabric", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: fabric manager has registered the GPU: in "
	 "progress, status 0; expected completed, status 0"},
	{"degraded", "gpu-fabric", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: fabric manager has registered the GPU: completed, "
	 "status 0, degraded bandwidth; expected completed, status 0"},
	{"recovery", "gpu-recovery", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: action that the driver asks for: reset the GPU; "
	 "expected none"},
	{"sram", "gpu-sram", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: errors of its SRAM: above NVIDIA's threshold; expected "
	 "below NVIDIA's threshold"},
	{"persistence", "gpu-persistence", BU_VERDICT_WARN,
	 "GPU 3 at 0000:1b:00.0: persistence mode: off; expected on"},
	{"thermal", "gpu-slowdown", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: clocks are not held down: hardware slowdown, "
	 "hardware thermal slowdown, at 91 C; expected not slowed down"},
	{"power-cap", "gpu-slowdown", BU_VERDICT_WARN,
	 "GPU 3 at 0000:1b:00.0: clocks are not held down: power cap, at 35 C; "
	 "expected not slowed down"},
	{"power-limit", "gpu-power-limit", BU_VERDICT_WARN,
	 "GPU 3 at 0000:1b:00.0: power limit is the default: 500 W; expected 700 "
	 "W, its default"},
	{"pcie-gen", "gpu-pcie", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: PCIe link of the GPU: gen 3 x16; expected gen 5 "
	 "x16"},
	{"pcie-width", "gpu-pcie", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: PCIe link of the GPU: gen 5 x8; expected gen 5 "
	 "x16"},
	{"pcie-slot", "gpu-pcie", BU_VERDICT_WARN,
	 "GPU 3 at 0000:1b:00.0: PCIe link of the GPU: gen 4 x16, the most of this "
	 "slot; expected gen 5 x16, as the part can"},
	{"replays", "gpu-pcie-replays", BU_VERDICT_WARN,
	 "GPU 3 at 0000:1b:00.0: replays on its PCIe link: 9 replays; expected 0 "
	 "replays"},
	{"too-fast", "gpu-p2p-all", BU_VERDICT_INCONCLUSIVE,
	 "GPU 3 at 0000:1b:00.0: bandwidth to all other GPUs at once: 752.0 GB/s; "
	 "expected at most 450.0 GB/s"},
	{"p2p-all", "gpu-p2p-all", BU_VERDICT_WARN,
	 "GPU 3 at 0000:1b:00.0: bandwidth to all other GPUs at once: 188.0 GB/s; "
	 "expected at least 338.4 GB/s"},
	{"mig", "gpu-mig", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: MIG is as the profile says: MIG on; expected MIG "
	 "off"},
	{"no-driver", "gpu-library", BU_VERDICT_FAIL,
	 "NVML: the libraries of the GPU driver can be used: NVML: Driver Not Loaded; "
	 "expected readable GPUs"},
	{"no-device", "gpu-library", BU_VERDICT_FAIL,
	 "CUDA: the libraries of the GPU driver can be used: cuInit: "
	 "CUDA_ERROR_NO_DEVICE; expected measured rates"},
	{"cuda-memory", "gpu-copy", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: copies come back as they were sent: GPU memory: "
	 "CUDA_ERROR_OUT_OF_MEMORY"},
	{"peer-context", "gpu-copy", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: copies come back as they were sent: peer access: "
	 "CUDA_ERROR_INVALID_VALUE"},
	{"corrupt", "gpu-copy", BU_VERDICT_FAIL, NULL},
	{"clock", "gpu-copy", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: copies come back as they were sent: copy to the GPU "
	 "took no time; the clock of the GPU is wrong"},
	{"h2d", "gpu-h2d", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: bandwidth from memory to the GPU: 12.5 GB/s; expected "
	 "at least 52.0 GB/s"},
	{"d2h", "gpu-d2h", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: bandwidth from the GPU to memory: 12.5 GB/s; expected "
	 "at least 52.0 GB/s"},
	{"hbm", "gpu-hbm", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: bandwidth of the GPU's memory: 1000.0 GB/s; expected "
	 "at least 2245.5 GB/s"},
	{"p2p", "gpu-p2p", BU_VERDICT_FAIL,
	 "GPU 3 to GPU 1: bandwidth between two GPUs: 10.0 GB/s; expected at least "
	 "338.4 GB/s"},
};

START_TEST(each_fault_is_one_row_in_these_words)
{
	for (size_t i = 0; i < BU_LEN(faults); i++) {
		struct bu_checks checks;
		const struct bu_check *bad;

		check(faults[i].fault, NULL, NULL, &checks);
		bad = only_bad(&checks);
		ck_assert_msg(bad != NULL, "%s: not exactly one row", faults[i].fault);
		ck_assert_str_eq(bad->id, faults[i].id);
		ck_assert_int_eq(bad->verdict, faults[i].verdict);
		if (faults[i].text)
			ck_assert_str_eq(bad->text, faults[i].text);
		ck_assert(bad->hint[0]);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* A part is replaced when it is bad, and not when it wants a reset or a setting. */
START_TEST(each_row_has_a_fault)
{
	/* Of AMD's GPUs, of IMEX and of the driver other tests say what is wrong. */
	static const char *const others[] = {"gpu-driver", "gpu-imex", "gpu-partition",
					     "gpu-serial", "gpu-xgmi"};
	size_t count;
	const struct bu_gpu_row *rows = bu_gpu_rows(&count);

	for (size_t i = 0; i < count; i++) {
		int found = 0;

		for (size_t k = 0; k < BU_LEN(others); k++)
			found |= strcmp(others[k], rows[i].id) == 0;
		for (size_t k = 0; k < BU_LEN(faults); k++)
			found |= strcmp(faults[k].id, rows[i].id) == 0;
		ck_assert_msg(found, "%s has no machine that fails it", rows[i].id);
	}
}
END_TEST

START_TEST(the_hint_follows_the_fault)
{
	static const struct {
		const char *fault, *hint;
	} rows[] = {
		{"corrupt", "replace the GPU"},
		{"cuda-memory", "end what uses the GPU, then reset it"},
		{"peer-context", "end what uses the GPU, then reset it"},
		{"ecc-off", "switch ECC on: nvidia-smi -e 1"},
		{"ecc", "reset the GPU"},
		{"remap-pending", "reset the GPU"},
		{"remap-failed", "replace the GPU"},
		{"recovery", "end what runs on the GPU, then nvidia-smi -r"},
		{"lost", "power the machine off and on; when it comes back, reseat"},
		{"reset", "reset the GPU"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_checks checks;
		const struct bu_check *bad;

		check(rows[i].fault, NULL, NULL, &checks);
		bad = only_bad(&checks);
		ck_assert_msg(bad != NULL, "%s", rows[i].fault);
		ck_assert_msg(strncmp(bad->hint, rows[i].hint, strlen(rows[i].hint)) ==
				      0,
			      "%s: %s", rows[i].fault, bad->hint);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* The ways to and from the host of a Grace differ. */
START_TEST(each_direction_has_a_figure_of_its_own)
{
	bu_autojson json_t *expect = json_loads(expectation, 0, NULL);
	bu_autofree char *text = NULL;
	const struct bu_check *bad;
	struct bu_checks checks;

	json_object_set_new(expect, "d2h_gbs", json_real(12));
	text = json_dumps(expect, 0);
	check_for(text, "d2h", NULL, NULL, &checks);
	ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_PASS), checks.count);
	bu_checks_fini(&checks);
	check_for(text, "h2d", NULL, NULL, &checks);
	bad = only_bad(&checks);
	ck_assert(bad && strcmp(bad->id, "gpu-h2d") == 0);
	bu_checks_fini(&checks);
}
END_TEST

/* Of a model that nobody has named. */
START_TEST(what_part_and_slot_can_is_wanted_of_any_gpu)
{
	static const char only_the_number[] = "{\"count\":8}";
	const struct bu_check *bad;
	struct bu_checks checks;

	check_for(only_the_number, "pcie-gen", NULL, NULL, &checks);
	bad = only_bad(&checks);
	ck_assert_ptr_nonnull(bad);
	ck_assert_str_eq(bad->text, "GPU 3 at 0000:1b:00.0: PCIe link of the GPU: gen "
				    "3 x16; expected gen 5 x16");
	bu_checks_fini(&checks);
	check_for(only_the_number, "", NULL, NULL, &checks);
	ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_PASS), checks.count);
	for (size_t i = 0; i < checks.count; i++)
		ck_assert_msg(!strstr("gpu-h2d gpu-hbm gpu-p2p", checks.list[i].id),
			      "%s", checks.list[i].text);
	bu_checks_fini(&checks);
	check_for(only_the_number, "no-device", NULL, NULL, &checks);
	bad = only_bad(&checks);
	ck_assert(bad && strstr(bad->text, "expected verified copies"));
	bu_checks_fini(&checks);
	/* It needs no CUDA. */
	check_for(only_the_number, "pcie-gen", NULL, "/nowhere", &checks);
	ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_PASS), checks.count);
	bu_checks_fini(&checks);
}
END_TEST

START_TEST(a_flipped_bit_is_named_by_its_byte)
{
	struct bu_checks checks;
	const struct bu_check *bad;

	check("corrupt", NULL, NULL, &checks);
	bad = only_bad(&checks);
	ck_assert(bad && strstr(bad->seen, "byte 32768 came back as 0x") == bad->seen);
	bu_checks_fini(&checks);
}
END_TEST

START_TEST(an_old_driver_is_seen_on_every_gpu)
{
	struct bu_checks checks;
	size_t rows = 0;

	check("driver", NULL, NULL, &checks);
	for (size_t i = 0; i < checks.count; i++)
		rows += strcmp(checks.list[i].id, "gpu-driver") == 0 &&
			checks.list[i].verdict == BU_VERDICT_FAIL;
	ck_assert_uint_eq(rows, 8);
	ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_FAIL), 8);
	bu_checks_fini(&checks);
}
END_TEST

/* "570" is any version of the branch; "57" is none. */
START_TEST(a_branch_of_the_driver_is_enough)
{
	static const struct {
		const char *want;
		enum bu_verdict verdict;
	} rows[] = {
		{"570", BU_VERDICT_PASS},         {"570.86", BU_VERDICT_PASS},
		{"570.86.15", BU_VERDICT_PASS},   {"57", BU_VERDICT_FAIL},
		{"570.86.15.1", BU_VERDICT_FAIL}, {"565", BU_VERDICT_FAIL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *expect = json_pack("{s:s}", "driver", rows[i].want);
		struct bu_gpu_facts gpu = {.trouble = ""};
		struct bu_nvml_facts facts = {
			.driver = "570.86.15", .count = 1, .gpus = &gpu};
		struct bu_checks checks;
		size_t seen = 0;

		bu_checks_init(&checks);
		bu_gpu_judge(&facts, expect, &checks);
		for (size_t k = 0; k < checks.count; k++)
			if (strcmp(checks.list[k].id, "gpu-driver") == 0) {
				seen++;
				ck_assert_msg(checks.list[k].verdict == rows[i].verdict,
					      "%s", rows[i].want);
			}
		ck_assert_uint_eq(seen, 1);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* GPUs that need no fabric manager have no row of it, unless the profile wants it. */
START_TEST(the_fabric_is_judged_where_there_is_one)
{
	static const struct {
		int state, wanted, status;
		int verdict; /* -1: no row */
	} rows[] = {
		{BU_NVML_UNKNOWN, 0, 0, -1},
		{BU_NVML_UNKNOWN, 1, 0, BU_VERDICT_FAIL},
		{BU_GPU_FABRIC_NONE, 0, 0, -1},
		{BU_GPU_FABRIC_NONE, 1, 0, BU_VERDICT_FAIL},
		{2, 0, 0, BU_VERDICT_FAIL},
		{BU_GPU_FABRIC_COMPLETED, 0, 0, BU_VERDICT_PASS},
		{BU_GPU_FABRIC_COMPLETED, 1, 0, BU_VERDICT_PASS},
		{BU_GPU_FABRIC_COMPLETED, 0, 1, BU_VERDICT_FAIL},
		{4, 0, 0, BU_VERDICT_FAIL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *expect =
			json_pack("{s:b}", "fabric", rows[i].wanted);
		struct bu_gpu_facts gpu = {.fabric = rows[i].state,
					   .fabric_status = rows[i].status};
		struct bu_nvml_facts facts = {.count = 1, .gpus = &gpu};
		struct bu_checks checks;
		int verdict = -1;

		bu_checks_init(&checks);
		bu_gpu_judge(&facts, expect, &checks);
		for (size_t k = 0; k < checks.count; k++)
			if (strcmp(checks.list[k].id, "gpu-fabric") == 0)
				verdict = (int)checks.list[k].verdict;
		ck_assert_msg(verdict == rows[i].verdict, "%zu: %d", i, verdict);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* At the start of the system it takes a while. */
START_TEST(a_fabric_manager_that_has_just_started_is_waited_for)
{
	static const int after[] = {1, 7, 0};

	pausing = pause_ms;
	for (size_t i = 0; i < BU_LEN(after); i++) {
		struct bu_checks checks;

		pauses = 0;
		ready_after = after[i];
		check("fabric", NULL, NULL, &checks);
		ck_assert_int_eq(pauses, after[i] ? after[i] : 60);
		ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_FAIL), !after[i]);
		bu_checks_fini(&checks);
	}
	pausing = NULL;
}
END_TEST

/* The agent's environment may be meant for somebody's jobs. */
START_TEST(no_gpu_is_hidden_and_each_has_the_number_of_its_address)
{
	struct bu_checks checks;
	size_t copies = 0;

	setenv("CUDA_VISIBLE_DEVICES", "0", 1);
	setenv("CUDA_DEVICE_ORDER", "FASTEST_FIRST", 1);
	check("", NULL, NULL, &checks);
	for (size_t i = 0; i < checks.count; i++)
		copies += strcmp(checks.list[i].id, "gpu-copy") == 0;
	ck_assert_uint_eq(copies, 4);
	ck_assert_str_eq(getenv("CUDA_DEVICE_ORDER"), "PCI_BUS_ID");
	bu_checks_fini(&checks);
}
END_TEST

START_TEST(no_peer_access_is_said_for_each_pair)
{
	struct bu_checks checks;

	check("no-peer", NULL, NULL, &checks);
	ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_FAIL), 6);
	bu_checks_fini(&checks);
}
END_TEST

/* Another program of this process may have opened it before. */
START_TEST(peer_access_that_is_open_is_no_fault)
{
	struct bu_checks checks;

	check("peer-open", NULL, NULL, &checks);
	ck_assert_ptr_null(only_bad(&checks));
	ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_PASS), checks.count);
	bu_checks_fini(&checks);
}
END_TEST

/* Of ten GPUs without NVSwitches each reaches eight others at the same time. */
START_TEST(a_peer_too_many_is_no_fault)
{
	struct bu_checks checks;
	size_t pairs = 0;

	check("peers", NULL, NULL, &checks);
	ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_PASS), checks.count);
	for (size_t i = 0; i < checks.count; i++)
		pairs += strcmp(checks.list[i].id, "gpu-p2p") == 0;
	ck_assert_uint_eq(pairs, 11);
	bu_checks_fini(&checks);
}
END_TEST

START_TEST(libraries_that_are_absent_or_broken_are_rows)
{
	struct bu_checks checks;

	check("", "/nowhere/libnvidia-ml.so.1", "libm.so.6", &checks);
	ck_assert_uint_eq(checks.count, 2);
	ck_assert_ptr_nonnull(
		strstr(checks.list[0].text,
		       "libm.so.6 is not a usable CUDA: it lacks cuInit"));
	ck_assert_ptr_nonnull(strstr(checks.list[1].text, "cannot load NVML: "));
	ck_assert_int_eq(bu_checks_worst(&checks), BU_VERDICT_FAIL);
	bu_checks_fini(&checks);
	check("", "libm.so.6", "/nowhere", &checks);
	ck_assert_ptr_nonnull(strstr(checks.list[1].text, "it lacks nvmlInit_v2"));
	bu_checks_fini(&checks);
}
END_TEST

START_TEST(a_machine_without_gpus_has_no_rows)
{
	struct bu_gpu_opts opts = {.nvml = "/nowhere", .cuda = "/nowhere"};
	struct bu_checks checks;

	bu_checks_init(&checks);
	bu_gpu_check(&opts, &checks);
	ck_assert_uint_eq(checks.count, 0);
	bu_checks_fini(&checks);
}
END_TEST

BU_UNIT("gpu", a_good_machine_passes_every_row, each_fault_is_one_row_in_these_words,
	each_row_has_a_fault, the_hint_follows_the_fault,
	each_direction_has_a_figure_of_its_own,
	what_part_and_slot_can_is_wanted_of_any_gpu, a_branch_of_the_driver_is_enough,
	a_flipped_bit_is_named_by_its_byte, an_old_driver_is_seen_on_every_gpu,
	the_fabric_is_judged_where_there_is_one,
	a_fabric_manager_that_has_just_started_is_waited_for,
	no_gpu_is_hidden_and_each_has_the_number_of_its_address,
	no_peer_access_is_said_for_each_pair, peer_access_that_is_open_is_no_fault,
	a_peer_too_many_is_no_fault, libraries_that_are_absent_or_broken_are_rows,
	a_machine_without_gpus_has_no_rows)
