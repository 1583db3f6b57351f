/* SPDX-License-Identifier: Apache-2.0 */
/* AMD's GPUs: a stand-in for their library, of each release that is known and of some
 * that are not. */
#include "checks/gpu/amdsmi.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "checks/gpu/gpu.h"
#include "tests/support/unit.h"

#define FAKEAMD BU_BUILDDIR "/tests/support/fakeamd.so"

static const char expectation[] =
	"{\"vendor\":\"AMD\",\"count\":8,\"names\":[\"AMD Instinct MI300X\",\"MI300X\"],"
	"\"memory_bytes\":182400000000,\"xgmi_links\":7,\"driver\":\"6.12\","
	"\"vbios\":\"022.040.003.042\"}";

static void
check(const char *fault, const char *library, struct bu_checks *ret)
{
	bu_autojson json_t *expect =
		bu_json_parse(expectation, strlen(expectation), "expect", NULL);
	struct bu_gpu_opts opts = {.nvml = "/nowhere",
				   .cuda = "/nowhere",
				   .amd = library,
				   .expect = expect};

	setenv("FAKEGPU", fault, 1);
	bu_checks_init(ret);
	bu_gpu_check(&opts, ret);
}

START_TEST(each_release_tells_the_same)
{
	static const char *const releases[] = {"25", "26"};

	setenv("FAKEGPU", "", 1);
	for (size_t i = 0; i < BU_LEN(releases); i++) {
		struct bu_nvml_facts facts;
		struct bu_err err = {0};
		const struct bu_gpu_facts *gpu;

		setenv("FAKEAMD", releases[i], 1);
		ck_assert_msg(bu_amdsmi_read(FAKEAMD, NULL, &facts, &err) == 0, "%s",
			      err.text);
		ck_assert_uint_eq(facts.count, 8);
		ck_assert_str_eq(facts.driver, "6.12.12");
		gpu = &facts.gpus[7];
		ck_assert_str_eq(gpu->name, "AMD Instinct MI300X");
		ck_assert_str_eq(gpu->serial, "0x1650007");
		ck_assert_str_eq(gpu->vbios, "022.040.003.042");
		ck_assert_str_eq(gpu->pci, "0000:1f:00.0");
		ck_assert_int_eq(gpu->memory_bytes, 192000000000);
		ck_assert_int_eq(gpu->ecc, 1);
		ck_assert_int_eq(gpu->ecc_corrected, 5);
		ck_assert_int_eq(gpu->ecc_uncorrected, 0);
		ck_assert_int_eq(gpu->xgmi, 7);
		ck_assert_uint_eq(gpu->xgmi_down, 0);
		ck_assert_int_eq(gpu->temperature_c, BU_NVML_UNKNOWN);
		bu_nvml_facts_fini(&facts);
	}
	unsetenv("FAKEAMD");
}
END_TEST

/* Their structs are others: nothing is read by guess. */
START_TEST(an_unknown_release_is_refused_by_its_number)
{
	static const struct {
		const char *release, *says;
	} rows[] = {
		{"24", "AMD SMI 24.3.1 is not known here; 25 and 26 are, of ROCm 6.4 "
		       "and 7"},
		{"27", "AMD SMI 27.3.1 is not known here; 25 and 26 are, of ROCm 6.4 "
		       "and 7"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_nvml_facts facts;
		struct bu_err err = {0};

		setenv("FAKEAMD", rows[i].release, 1);
		ck_assert_int_eq(bu_amdsmi_read(FAKEAMD, NULL, &facts, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
		ck_assert_str_eq(err.text, rows[i].says);
	}
	unsetenv("FAKEAMD");
}
END_TEST

START_TEST(a_good_machine_passes_every_row)
{
	static const char *const ids[] = {"gpu-count",  "gpu-answers", "gpu-model",
					  "gpu-serial", "gpu-memory",  "gpu-driver",
					  "gpu-vbios",  "gpu-ecc",     "gpu-xgmi"};
	size_t seen[BU_LEN(ids)] = {0};
	struct bu_checks checks;

	check("", FAKEAMD, &checks);
	for (size_t i = 0; i < checks.count; i++) {
		size_t k = 0;

		ck_assert_msg(checks.list[i].verdict == BU_VERDICT_PASS, "%s: %s",
			      checks.list[i].id, checks.list[i].text);
		while (k < BU_LEN(ids) && strcmp(ids[k], checks.list[i].id) != 0)
			k++;
		/* What its library was not asked is not said to be good. */
		ck_assert_msg(k < BU_LEN(ids), "%s", checks.list[i].id);
		seen[k]++;
	}
	for (size_t k = 0; k < BU_LEN(ids); k++)
		ck_assert_msg(seen[k] == (k ? 8 : 1), "%s: %zu", ids[k], seen[k]);
	bu_checks_fini(&checks);
}
END_TEST

static const struct {
	const char *fault, *id;
	enum bu_verdict verdict;
	const char *text;
} faults[] = {
	{"missing", "gpu-count", BU_VERDICT_FAIL, "number of GPUs: 7; expected 8"},
	{"lost", "gpu-answers", BU_VERDICT_FAIL,
	 "GPU 3: the GPU answers its driver: does not answer: AMDSMI_STATUS_BUSY"},
	{"model", "gpu-model", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: exact model: AMD Instinct MI210; expected AMD "
	 "Instinct MI300X or MI300X"},
	{"memory", "gpu-memory", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: size of its memory: 64000000000 bytes; expected at "
	 "least 182400000000 bytes"},
	{"vbios", "gpu-vbios", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: version of the VBIOS: 022.040.002.011; expected "
	 "022.040.003.042"},
	{"ecc", "gpu-ecc", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: ECC is on and has not failed: ECC on, 2 uncorrected "
	 "errors; expected ECC on, 0 uncorrected errors"},
	{"ecc-off", "gpu-ecc", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: ECC is on and has not failed: ECC off, 0 uncorrected "
	 "errors; expected ECC on, 0 uncorrected errors"},
	{"ecc-deferred", "gpu-ecc", BU_VERDICT_WARN,
	 "GPU 3 at 0000:1b:00.0: ECC is on and has not failed: ECC on, 0 uncorrected "
	 "errors, 3 set aside unused; expected ECC on, 0 uncorrected errors"},
	{"xgmi", "gpu-xgmi", BU_VERDICT_FAIL,
	 "GPU 3 at 0000:1b:00.0: state of each XGMI link: 5 links up; down: 1,5; "
	 "expected 7 links up"},
	{"no-driver", "gpu-library", BU_VERDICT_FAIL,
	 "AMD SMI: the libraries of the GPU driver can be used: AMD SMI: "
	 "AMDSMI_STATUS_DRIVER_NOT_LOADED; expected readable GPUs"},
};

START_TEST(each_fault_is_one_row_in_these_words)
{
	for (size_t i = 0; i < BU_LEN(faults); i++) {
		const struct bu_check *bad = NULL;
		struct bu_checks checks;

		check(faults[i].fault, FAKEAMD, &checks);
		for (size_t k = 0; k < checks.count; k++) {
			if (checks.list[k].verdict == BU_VERDICT_PASS)
				continue;
			ck_assert_msg(!bad, "%s: %s", faults[i].fault,
				      checks.list[k].text);
			bad = &checks.list[k];
		}
		ck_assert_msg(bad != NULL, "%s is not seen", faults[i].fault);
		ck_assert_str_eq(bad->id, faults[i].id);
		ck_assert_int_eq(bad->verdict, faults[i].verdict);
		ck_assert_str_eq(bad->text, faults[i].text);
		ck_assert(bad->hint[0]);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* Links that a guest is not told of are not links that are down. */
START_TEST(what_is_not_supported_is_no_failure)
{
	struct bu_checks checks;

	check("guest", FAKEAMD, &checks);
	ck_assert_uint_eq(bu_checks_count(&checks, BU_VERDICT_PASS), checks.count);
	for (size_t i = 0; i < checks.count; i++)
		ck_assert_str_ne(checks.list[i].id, "gpu-xgmi");
	bu_checks_fini(&checks);
}
END_TEST

START_TEST(a_library_that_is_absent_or_another_one_is_named)
{
	struct bu_checks checks;

	check("", "/nowhere/libamd_smi.so.26", &checks);
	ck_assert_uint_eq(checks.count, 1);
	ck_assert_str_eq(checks.list[0].id, "gpu-library");
	ck_assert_ptr_nonnull(strstr(checks.list[0].text, "cannot load AMD SMI: "));
	bu_checks_fini(&checks);
	check("", "libm.so.6", &checks);
	ck_assert_ptr_nonnull(strstr(checks.list[0].text,
				     "libm.so.6 is not a usable AMD SMI: it lacks "
				     "amdsmi_get_lib_version"));
	bu_checks_fini(&checks);
}
END_TEST

static char root[] = "/tmp/bringup-amdsmi-XXXXXX";

static void
list_gpus(const char *vendor, const char *class)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
	for (int i = 0; i < 8; i++) {
		bu_autofree char *dir = bu_xasprintf(
			"%s/sys/bus/pci/devices/0000:%02x:00.0", root, 0x18 + i);
		bu_autofree char *its = bu_xasprintf("%s/vendor", dir);
		bu_autofree char *kind = bu_xasprintf("%s/class", dir);

		ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
		ck_assert_int_eq(bu_file_write_text(its, 0644, NULL, "%s\n", vendor),
				 0);
		ck_assert_int_eq(bu_file_write_text(kind, 0644, NULL, "%s\n", class),
				 0);
	}
}

/* What the driver says of a GPU's mode; NULL = it has no such file. */
static void
set_mode(int gpu, const char *compute, const char *memory)
{
	const char *const files[][2] = {{"current_compute_partition", compute},
					{"current_memory_partition", memory},
					{"mem_info_vram_total", "205822885888"}};

	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *path =
			bu_xasprintf("%s/sys/bus/pci/devices/0000:%02x:00.0/%s", root,
				     0x18 + gpu, files[i][0]);

		if (files[i][1])
			ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "%s\n",
							    files[i][1]),
					 0);
		else
			unlink(path);
	}
}

/* The machine of expectation, with more of it; modes of all its GPUs and of GPU 3. */
struct divided {
	const char *fault, *more;
	const char *all[2], *third[2];
	enum bu_verdict verdict; /* of gpu-partition */
	const char *text, *seen; /* text "" = it is no finding; seen NULL = no row */
};

static const struct divided divided[] = {
	/* nobody wants a mode: any will do that is that of all */
	{"", "", {NULL}, {NULL}, BU_VERDICT_PASS, "", NULL},
	{"", "", {"UNKNOWN"}, {"UNKNOWN"}, BU_VERDICT_PASS, "", NULL},
	{"", "", {"SPX", "NPS1"}, {"SPX", "NPS1"}, BU_VERDICT_PASS, "", "SPX/NPS1"},
	{"", "", {"SPX", "NPS1"}, {"UNKNOWN", NULL}, BU_VERDICT_PASS, "", "SPX/NPS1"},
	{"cpx", "", {"CPX", "NPS4"}, {"CPX", "NPS4"}, BU_VERDICT_PASS, "", "CPX/NPS4"},
	{"cpx", "", {NULL}, {NULL}, BU_VERDICT_PASS, "", "8 parts"},
	{"cpx-one",
	 "",
	 {"SPX", "NPS1"},
	 {"CPX", "NPS1"},
	 BU_VERDICT_FAIL,
	 "partition mode of AMD's GPUs: SPX/NPS1 (GPU 0,1,2,4,5,6,7), CPX/NPS1 (GPU 3); "
	 "expected one mode on all",
	 NULL},
	{"",
	 "",
	 {"SPX", "NPS1"},
	 {"SPX", "NPS4"},
	 BU_VERDICT_FAIL,
	 "partition mode of AMD's GPUs: SPX/NPS1 (GPU 0,1,2,4,5,6,7), SPX/NPS4 (GPU 3); "
	 "expected one mode on all",
	 NULL},
	/* wanted */
	{"cpx",
	 ",\"compute_partition\":\"SPX\",\"memory_partition\":\"NPS1\"",
	 {"CPX", "NPS4"},
	 {"CPX", "NPS4"},
	 BU_VERDICT_FAIL,
	 "partition mode of AMD's GPUs: CPX/NPS4; expected SPX/NPS1 on all",
	 NULL},
	{"cpx-one",
	 ",\"compute_partition\":\"SPX\"",
	 {"SPX", "NPS1"},
	 {"CPX", "NPS1"},
	 BU_VERDICT_FAIL,
	 "partition mode of AMD's GPUs: SPX/NPS1 (GPU 0,1,2,4,5,6,7), CPX/NPS1 (GPU 3); "
	 "expected SPX on all",
	 NULL},
	{"cpx",
	 ",\"compute_partition\":\"CPX\",\"memory_partition\":\"NPS4\"",
	 {"CPX", "NPS4"},
	 {"CPX", "NPS4"},
	 BU_VERDICT_PASS,
	 "",
	 "CPX/NPS4"},
	{"cpx",
	 ",\"memory_partition\":\"NPS1\"",
	 {"CPX", "NPS1"},
	 {"CPX", "NPS1"},
	 BU_VERDICT_PASS,
	 "",
	 "CPX/NPS1"},
	{"",
	 ",\"compute_partition\":\"SPX\"",
	 {NULL},
	 {NULL},
	 BU_VERDICT_INCONCLUSIVE,
	 "partition mode of AMD's GPUs: not told; expected SPX on all",
	 NULL},
};

static void
judge_divided(const struct divided *row, const char *release)
{
	bu_autofree char *text = bu_xasprintf("%.*s%s}", (int)strlen(expectation) - 1,
					      expectation, row->more);
	bu_autojson json_t *expect = bu_json_parse(text, strlen(text), "expect", NULL);
	const struct bu_checks_ctx ctx = {.root = root};
	const struct bu_gpu_opts opts = {.amd = FAKEAMD, .expect = expect, .ctx = &ctx};
	const struct bu_check *mode = NULL;
	struct bu_checks checks;

	for (int i = 0; i < 8; i++)
		set_mode(i, (i == 3 ? row->third : row->all)[0],
			 (i == 3 ? row->third : row->all)[1]);
	setenv("FAKEGPU", row->fault, 1);
	setenv("FAKEAMD", release, 1);
	bu_checks_init(&checks);
	bu_gpu_check(&opts, &checks);
	for (size_t i = 0; i < checks.count; i++) {
		const struct bu_check *check = &checks.list[i];

		if (strcmp(check->id, "gpu-partition") == 0) {
			ck_assert_ptr_null(mode);
			mode = check;
			continue;
		}
		/* Nothing of a GPU is judged by a part of it, and none is told twice.
		 */
		ck_assert_msg(check->verdict == BU_VERDICT_PASS, "%s: %s", row->fault,
			      check->text);
		ck_assert_ptr_null(strstr(check->subject, "GPU 8"));
	}
	ck_assert_msg(!mode == (!row->text[0] && !row->seen), "%s%s: %s", row->fault,
		      row->more, mode ? mode->seen : "no row");
	if (mode) {
		ck_assert_int_eq(mode->verdict, row->verdict);
		ck_assert_str_eq(mode->text, row->text);
		ck_assert_int_eq(mode->hint[0] != '\0', row->text[0] != '\0');
	}
	if (row->seen)
		ck_assert_str_eq(mode->seen, row->seen);
	bu_checks_fini(&checks);
}

/* One row a machine, whatever the release tells of the parts of a GPU. */
START_TEST(a_divided_gpu_is_one_gpu_and_its_mode_is_one_row)
{
	static const char *const releases[] = {"25", "26"};

	list_gpus("0x1002", "0x120000");
	for (size_t i = 0; i < BU_LEN(divided); i++)
		for (size_t k = 0; k < BU_LEN(releases); k++)
			judge_divided(&divided[i], releases[k]);
	unsetenv("FAKEAMD");
	bu_ignore(bu_remove_tree(root, NULL));
}
END_TEST

/* With no model in the profile the kernel's list tells whose library is asked; the
 * driver that does not answer is named with the GPU. */
START_TEST(a_gpu_that_hangs_is_named)
{
	bu_autojson json_t *groups = json_pack("[s]", "gpu");
	bu_autojson json_t *expect = json_pack("{s:{s:i}}", "gpu", "count", 8);
	struct bu_checks_ctx ctx = {.root = root,
				    .libs = BU_BUILDDIR "/tests/support/libs",
				    .expect = expect,
				    .hurry = 0.02};
	struct bu_checks checks;
	int named = 0;

	list_gpus("0x1002", "0x120000");
	setenv("FAKEGPU", "hang:amdsmi_get_gpu_asic_info", 1);
	ck_assert_int_eq(bu_checks_run(&ctx, groups, &checks, NULL), 0);
	for (size_t i = 0; i < checks.count; i++)
		named += strcmp(checks.list[i].text,
				"GPU 3 at 0000:1b:00.0 did not answer AMD SMI within "
				"0.4 s") == 0;
	ck_assert_int_eq(named, 1);
	bu_checks_fini(&checks);
	bu_ignore(bu_remove_tree(root, NULL));
}
END_TEST

BU_UNIT("amdsmi", each_release_tells_the_same,
	an_unknown_release_is_refused_by_its_number, a_good_machine_passes_every_row,
	each_fault_is_one_row_in_these_words, what_is_not_supported_is_no_failure,
	a_library_that_is_absent_or_another_one_is_named,
	a_divided_gpu_is_one_gpu_and_its_mode_is_one_row, a_gpu_that_hangs_is_named)
