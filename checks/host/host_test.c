/* SPDX-License-Identifier: Apache-2.0 */
/* Host checks over a tree that the test makes, good and with one fault each. */
#include "checks/host/host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/worker.h"
#include "checks/host/host_load.h"
#include "tests/support/unit.h"

static char root[64];

static void put(const char *path, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void
put_bytes(const char *path, const void *bytes, size_t size)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", root, path);
	bu_autofree char *dir = bu_xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(full, bytes, size, 0644, NULL), 0);
}

static void
put(const char *path, const char *fmt, ...)
{
	bu_autofree char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	put_bytes(path, text, strlen(text));
}

struct slot {
	unsigned int mib; /* 0 = empty */
	unsigned int configured, rated;
	char locator[16];
};

static void
put_slot_table(const struct slot *slots, int count)
{
	unsigned char table[4096] = {0};
	size_t at = 0;

	for (int i = 0; i < count; i++) {
		/* 0x7fff: the real size is in the long field */
		unsigned int size = slots[i].mib < 32768 ? slots[i].mib : 32767;
		unsigned char *entry = table + at;

		entry[0] = 17;
		entry[1] = 0x28;
		entry[0x0c] = size & 0xff;
		entry[0x0d] = (unsigned char)(size >> 8);
		if (size == 32767)
			memcpy(entry + 0x1c, &slots[i].mib, 4);
		entry[0x10] = 1;
		memcpy(entry + 0x15, &slots[i].rated, 2);
		memcpy(entry + 0x20, &slots[i].configured, 2);
		at += 0x28;
		at += (size_t)snprintf((char *)table + at, 16, "%s", slots[i].locator) +
		      2;
	}
	put_bytes("sys/firmware/dmi/tables/DMI", table, at);
}

/* Four modules; number `odd` (-1 = none) is smaller, `slow` runs slower than it can. */
static void
put_dmi(int odd, int slow)
{
	struct slot slots[4];

	for (int i = 0; i < 4; i++) {
		slots[i] = (struct slot){i == odd ? 16384 : 32768,
					 i == slow ? 4000 : 4800, 4800, ""};
		snprintf(slots[i].locator, sizeof(slots[i].locator), "DIMM_%c1",
			 'A' + i);
	}
	put_slot_table(slots, 4);
}

static void
put_slots(int count, int empty, unsigned int configured, unsigned int rated)
{
	struct slot slots[32];

	for (int i = 0; i < count; i++) {
		slots[i] = (struct slot){i < count - empty ? 65536 : 0, configured,
					 rated, ""};
		snprintf(slots[i].locator, sizeof(slots[i].locator), "DIMM_%d", i + 1);
	}
	put_slot_table(slots, count);
}

static void
put_good_tree(void)
{
	bu_autofree char *disk = bu_xcalloc(1, 4 << 20);

	snprintf(root, sizeof(root), "/var/tmp/bringup-host-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	put("sys/devices/system/cpu/online", "0-3\n");
	for (int i = 0; i < 4; i++) {
		bu_autofree char *cpu = bu_xasprintf("sys/devices/system/cpu/cpu%d", i);
		bu_autofree char *now =
			bu_xasprintf("%s/cpufreq/scaling_cur_freq", cpu);
		bu_autofree char *top = bu_xasprintf("%s/cpufreq/base_frequency", cpu);
		bu_autofree char *hot =
			bu_xasprintf("%s/thermal_throttle/core_throttle_count", cpu);

		put(now, "3000000\n");
		put(top, "2800000\n");
		put(hot, "7\n");
	}
	put("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
	put("sys/devices/system/node/node0/cpulist", "0-3\n");
	put("sys/devices/system/edac/mc/mc0/ue_count", "0\n");
	put("sys/devices/system/edac/mc/mc0/ce_count", "0\n");
	put("proc/meminfo", "MemTotal:       134217728 kB\n");
	put("sys/block/vda/size", "8192\n");
	put("sys/block/vda/removable", "0\n");
	put("sys/block/loop0/size", "8192\n");
	put_bytes("dev/vda", disk, 4 << 20);
	put_dmi(-1, -1);
}

static void
remove_tree(void)
{
	const char *argv[] = {"rm", "-r", root, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};

	ck_assert_int_eq(bu_job_run(&opts, NULL, NULL), 0);
}

static int64_t offset_us = 40;

static int
clock_offset(void *arg, int64_t *ret_offset_us, int64_t *ret_error_us)
{
	*ret_offset_us = offset_us;
	*ret_error_us = 100;
	return arg != NULL;
}

static void
run(const char *expectation, struct bu_checks *ret)
{
	bu_autojson json_t *expect =
		bu_json_parse(expectation, strlen(expectation), "expect", NULL);
	bu_autojson json_t *groups = json_pack("[s]", "host");
	struct bu_checks_ctx ctx = {
		.root = root, .expect = expect, .clock_offset = clock_offset};
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(expect);
	if (!json_object_get(expect, "host"))
		json_object_set_new(expect, "host", json_object());
	json_object_set_new(json_object_get(expect, "host"), "memory_load_bytes",
			    json_integer(8 << 20));
	json_object_set_new(json_object_get(expect, "host"), "load_ms",
			    json_integer(100));
	ck_assert_msg(bu_checks_run(&ctx, groups, ret, &err) == 0, "%s", err.text);
}

static const char good[] = "{\"hardware\":{\"cpus\":4,\"memory_bytes\":137438953472},"
			   "\"host\":{\"turbo\":true,\"numa_nodes\":1}}";

static const struct bu_check *
find(const struct bu_checks *checks, const char *id)
{
	for (size_t i = 0; i < checks->count; i++)
		if (strcmp(checks->list[i].id, id) == 0)
			return &checks->list[i];
	return NULL;
}

static int
is_one_of(const char *id, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], id) == 0)
			return 1;
	return 0;
}

START_TEST(a_good_host_passes_every_row)
{
	/* The good host has neither a disk of its own nor a file server. */
	static const char *const silent[] = {"disk-health", "disk-write", "mount"};
	struct bu_checks checks;
	size_t count;
	const struct bu_host_row *rows = bu_host_rows(&count);

	put_good_tree();
	run(good, &checks);
	for (size_t i = 0; i < checks.count; i++)
		ck_assert_msg(checks.list[i].verdict == BU_VERDICT_PASS, "%s: %s",
			      checks.list[i].id, checks.list[i].text);
	for (size_t i = 0; i < count; i++)
		ck_assert_msg((find(&checks, rows[i].id) != NULL) !=
				      is_one_of(rows[i].id, silent, BU_LEN(silent)),
			      "%s", rows[i].id);
	ck_assert(strtod(find(&checks, "memory-bandwidth")->seen, NULL) > 0);
	ck_assert_str_eq(find(&checks, "memory-modules")->seen,
			 "4 modules of 32768 MiB");
	bu_checks_fini(&checks);
	remove_tree();
}
END_TEST

static const struct {
	const char *path, *content; /* NULL path: `dmi` says what is wrong */
	int odd, slow;
	const char *id;
	enum bu_verdict verdict;
	const char *text;
} faults[] = {
	{"sys/devices/system/cpu/online", "0,2-3\n", -1, -1, "cpu-online",
	 BU_VERDICT_FAIL, "CPUs that are online: 3; expected at least 4"},
	{"sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "1400000\n", -1, -1,
	 "cpu-frequency", BU_VERDICT_FAIL,
	 "cpu2: frequency of the slowest CPU under load: 50 % of its top; expected at "
	 "least 80 %"},
	{"sys/devices/system/cpu/intel_pstate/no_turbo", "1\n", -1, -1, "turbo",
	 BU_VERDICT_FAIL, "turbo frequencies: off; expected on"},
	{"sys/devices/system/node/node1/cpulist", "4-7\n", -1, -1, "numa-nodes",
	 BU_VERDICT_FAIL, "NUMA nodes: 2; expected 1"},
	{"proc/meminfo", "MemTotal:       100663296 kB\n", -1, -1, "memory-size",
	 BU_VERDICT_FAIL,
	 "memory that the kernel has: 98304 MiB; expected at least 131072 MiB"},
	{"sys/devices/system/edac/mc/mc0/ue_count", "1\n", -1, -1, "memory-errors",
	 BU_VERDICT_FAIL,
	 "mc0: memory errors that could not be corrected: 1 errors; expected 0 errors"},
	{"sys/devices/system/edac/mc/mc0/ce_count", "12\n", -1, -1, "memory-corrected",
	 BU_VERDICT_WARN,
	 "mc0: memory errors that were corrected: 12 errors, 12 a day; expected at most "
	 "10 a day"},
	{NULL, NULL, 2, -1, "memory-modules", BU_VERDICT_WARN,
	 "DIMM_C1: memory modules are alike on all channels: 16384 MiB at 4800 MT/s; "
	 "expected 32768 MiB at 4800 MT/s, as the others"},
	{NULL, NULL, -1, 3, "memory-modules", BU_VERDICT_WARN,
	 "DIMM_D1: memory modules are alike on all channels: 32768 MiB at 4000 MT/s; "
	 "expected 32768 MiB at 4800 MT/s, as the others"},
};

START_TEST(each_fault_is_one_row_in_these_words)
{
	for (size_t i = 0; i < BU_LEN(faults); i++) {
		struct bu_checks checks;
		const struct bu_check *row;
		size_t good_rows;

		put_good_tree();
		if (faults[i].path)
			put(faults[i].path, "%s", faults[i].content);
		else
			put_dmi(faults[i].odd, faults[i].slow);
		run(good, &checks);
		row = find(&checks, faults[i].id);
		good_rows = bu_checks_count(&checks, BU_VERDICT_PASS);
		ck_assert_msg(row != NULL, "no row %s", faults[i].id);
		ck_assert_str_eq(row->text, faults[i].text);
		ck_assert_int_eq(row->verdict, faults[i].verdict);
		ck_assert(row->hint[0]);
		ck_assert_uint_eq(good_rows, checks.count - 1);
		bu_checks_fini(&checks);
		remove_tree();
	}
}
END_TEST

START_TEST(each_row_has_a_fault)
{
	/* Of disks, servers, the clock and thresholds other tests say what is wrong; a
	 * CPU or memory that fails under load is not to be had. */
	static const char *const others[] = {
		"cpu-throttle", "cpu-arithmetic", "memory-bandwidth",
		"disk-health",  "disk-read",      "disk-write",
		"mount",        "clock-offset",   "memory-pattern"};
	size_t count;
	const struct bu_host_row *rows = bu_host_rows(&count);

	for (size_t i = 0; i < count; i++) {
		int found = is_one_of(rows[i].id, others, BU_LEN(others));

		for (size_t k = 0; k < BU_LEN(faults); k++)
			found |= strcmp(faults[k].id, rows[i].id) == 0;
		ck_assert_msg(found, "%s has no host that fails it", rows[i].id);
	}
}
END_TEST

START_TEST(thresholds_and_the_clock_are_judged)
{
	struct bu_checks checks;

	put_good_tree();
	offset_us = -1200;
	run("{\"thresholds\":{\"memory_gbs\":1000000,\"disk_read_mbs\":1e9,"
	    "\"disk_write_mbs\":1e9,\"clock_offset_us\":1000}}",
	    &checks);
	ck_assert_int_eq(find(&checks, "memory-bandwidth")->verdict, BU_VERDICT_FAIL);
	ck_assert_int_eq(find(&checks, "disk-read")->verdict, BU_VERDICT_FAIL);
	ck_assert_int_eq(find(&checks, "disk-write")->verdict, BU_VERDICT_FAIL);
	ck_assert_str_eq(find(&checks, "clock-offset")->text,
			 "clock against the appliance's: -1200 us, give or take 100 "
			 "us; expected at most 1000 us");
	bu_checks_fini(&checks);
	run("{}", &checks);
	ck_assert_int_eq(find(&checks, "clock-offset")->verdict, BU_VERDICT_WARN);
	bu_checks_fini(&checks);
	/* Not surely wrong: the way to the appliance may account for it. */
	offset_us = 1099;
	run("{}", &checks);
	ck_assert_int_eq(find(&checks, "clock-offset")->verdict, BU_VERDICT_PASS);
	bu_checks_fini(&checks);
	offset_us = 40;
	remove_tree();
}
END_TEST

START_TEST(a_profile_may_switch_a_row_off)
{
	struct bu_checks checks;

	put_good_tree();
	put("sys/devices/system/edac/mc/mc0/ue_count", "1\n");
	put("sys/devices/system/edac/mc/mc0/ce_count", "11\n");
	run("{\"severity\":{\"memory-errors\":\"off\",\"memory-corrected\":\"fail\"}}",
	    &checks);
	ck_assert_ptr_null(find(&checks, "memory-errors"));
	ck_assert_int_eq(find(&checks, "memory-corrected")->verdict, BU_VERDICT_FAIL);
	bu_checks_fini(&checks);
	remove_tree();
}
END_TEST

START_TEST(a_cut_table_of_modules_is_survived)
{
	struct bu_checks checks;
	static const unsigned char broken[][8] = {{17, 200, 0, 0, 1, 2, 3, 4},
						  {17, 3, 0, 0, 0, 0, 0, 0},
						  {17, 8, 0, 0, 1, 1, 1, 1},
						  {255, 4, 0, 0, 'a', 'b', 'c', 'd'}};

	put_good_tree();
	for (size_t i = 0; i < BU_LEN(broken); i++) {
		put_bytes("sys/firmware/dmi/tables/DMI", broken[i], sizeof(broken[i]));
		run("{}", &checks);
		ck_assert_ptr_null(find(&checks, "memory-modules"));
		bu_checks_fini(&checks);
	}
	remove_tree();
}
END_TEST

/* Nodes of the memory of GPUs have no CPUs. */
START_TEST(numa_nodes_with_cpus_count)
{
	struct bu_checks checks;

	put_good_tree();
	for (int i = 1; i < 34; i++) {
		bu_autofree char *path =
			bu_xasprintf("sys/devices/system/node/node%d/cpulist", i);

		put(path, "%s", i == 1 ? "4-7\n" : "\n");
	}
	run("{\"host\":{\"numa_nodes\":2}}", &checks);
	ck_assert_int_eq(find(&checks, "numa-nodes")->verdict, BU_VERDICT_PASS);
	bu_checks_fini(&checks);
	remove_tree();
}
END_TEST

START_TEST(isolated_cpus_may_rest)
{
	struct bu_checks checks;

	put_good_tree();
	put("sys/devices/system/cpu/isolated", "2-3\n");
	put("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "800000\n");
	put("sys/devices/system/cpu/cpu3/cpufreq/scaling_cur_freq", "800000\n");
	run(good, &checks);
	ck_assert_int_eq(find(&checks, "cpu-frequency")->verdict, BU_VERDICT_PASS);
	bu_checks_fini(&checks);
	put("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "800000\n");
	run(good, &checks);
	ck_assert_int_eq(find(&checks, "cpu-frequency")->verdict, BU_VERDICT_FAIL);
	ck_assert_str_eq(find(&checks, "cpu-frequency")->subject, "cpu1");
	bu_checks_fini(&checks);
	remove_tree();
}
END_TEST

START_TEST(corrected_errors_of_a_year_are_no_finding)
{
	struct bu_checks checks;

	put_good_tree();
	put("sys/devices/system/edac/mc/mc0/ce_count", "300\n");
	put("sys/devices/system/edac/mc/mc0/seconds_since_reset", "31536000\n");
	run(good, &checks);
	ck_assert_int_eq(find(&checks, "memory-corrected")->verdict, BU_VERDICT_PASS);
	bu_checks_fini(&checks);
	remove_tree();
}
END_TEST

static size_t
modules_said(const struct bu_checks *checks, const struct bu_check **ret)
{
	size_t count = 0;

	for (size_t i = 0; i < checks->count; i++)
		if (strcmp(checks->list[i].id, "memory-modules") == 0) {
			*ret = &checks->list[i];
			count++;
		}
	return count;
}

START_TEST(slots_and_speeds_of_modules_are_judged_together)
{
	static const struct {
		int slots, empty; /* the last ones are empty */
		unsigned int configured, rated;
		enum bu_verdict verdict;
		size_t rows;
		const char *text; /* of the last row; NULL = not looked at */
	} cases[] = {
		{32, 0, 5600, 5600, BU_VERDICT_PASS, 1, NULL},
		{32, 1, 5600, 5600, BU_VERDICT_WARN, 1,
		 "DIMM_32: memory modules are alike on all channels: empty; expected a "
		 "module, as in 31 of 32 slots"},
		{32, 2, 5600, 5600, BU_VERDICT_WARN, 2, NULL},
		{4, 1, 5600, 5600, BU_VERDICT_WARN, 1, NULL},
		/* left empty by intent: one of two slots of each channel, six of eight
		 * channels */
		{32, 16, 5600, 5600, BU_VERDICT_PASS, 1, NULL},
		{16, 4, 5600, 5600, BU_VERDICT_PASS, 1, NULL},
		{2, 1, 5600, 5600, BU_VERDICT_PASS, 1, NULL},
		/* two a channel: one remark */
		{32, 0, 4400, 5600, BU_VERDICT_WARN, 1,
		 "memory modules are alike on all channels: all 32 at 4400 MT/s; expected "
		 "5600 MT/s, for which they are rated"},
		{32, 0, 0, 5600, BU_VERDICT_PASS, 1, NULL},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		const struct bu_check *row = NULL;
		struct bu_checks checks;

		put_good_tree();
		put_slots(cases[i].slots, cases[i].empty, cases[i].configured,
			  cases[i].rated);
		run(good, &checks);
		ck_assert_uint_eq(modules_said(&checks, &row), cases[i].rows);
		ck_assert_int_eq(row->verdict, cases[i].verdict);
		if (cases[i].text)
			ck_assert_str_eq(row->text, cases[i].text);
		bu_checks_fini(&checks);
		remove_tree();
	}
}
END_TEST

/* smartctl's words of an NVMe disk; the program of this name is looked for in PATH. */
static void
put_nvme(int warning, int used, int spare, int errors)
{
	bu_autofree char *path = bu_xasprintf("%s/bin/smartctl", root);

	put("bin/smartctl",
	    "#!/bin/sh\necho '{\"smart_status\":{\"passed\":%s},"
	    "\"nvme_smart_health_information_log\":{\"critical_warning\":%d,"
	    "\"percentage_used\":%d,\"available_spare\":%d,"
	    "\"available_spare_threshold\":10,\"media_errors\":%d}}'\n",
	    warning ? "false" : "true", warning, used, spare, errors);
	ck_assert_int_eq(chmod(path, 0755), 0);
}

START_TEST(a_worn_disk_is_a_warning_and_old_errors_are_no_fault)
{
	static const struct {
		int warning, used, spare, errors, last; /* errors of the last look */
		enum bu_verdict verdict;
	} cases[] = {
		{0, 3, 100, 0, 0, BU_VERDICT_PASS},
		{4, 103, 100, 0, 0, BU_VERDICT_WARN},
		{0, 103, 100, 0, 0, BU_VERDICT_WARN},
		{0, 3, 100, 3, -1, BU_VERDICT_WARN}, /* nobody looked before */
		{0, 3, 100, 3, 3, BU_VERDICT_WARN},
		{0, 3, 100, 4, 3, BU_VERDICT_FAIL},
		{4, 3, 100, 0, 0, BU_VERDICT_FAIL}, /* not for its wear */
		{1, 103, 5, 0, 0, BU_VERDICT_FAIL},
		{8, 3, 100, 0, 0, BU_VERDICT_FAIL},
		{2, 3, 100, 0, 0, BU_VERDICT_WARN},
	};
	bu_autofree char *before = bu_xstrdup(getenv("PATH"));

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autofree char *path = NULL;
		const struct bu_check *row;
		struct bu_checks checks;

		put_good_tree();
		put("sys/block/vda/serial", "DISK-1\n");
		path = bu_xasprintf("%s/bin:%s", root, before);
		setenv("PATH", path, 1);
		if (cases[i].last >= 0) {
			put_nvme(0, 3, 100, cases[i].last);
			run(good, &checks);
			bu_checks_fini(&checks);
		}
		put_nvme(cases[i].warning, cases[i].used, cases[i].spare,
			 cases[i].errors);
		run(good, &checks);
		row = find(&checks, "disk-health");
		ck_assert_ptr_nonnull(row);
		ck_assert_msg(row->verdict == cases[i].verdict, "%zu: %s", i,
			      row->seen);
		bu_checks_fini(&checks);
		setenv("PATH", before, 1);
		remove_tree();
	}
}
END_TEST

static int
stop_at_once(void *arg)
{
	(*(int *)arg)++;
	return 1;
}

START_TEST(a_load_ends_when_it_is_told_to)
{
	static const struct bu_host_triad long_one = {2, 1 << 20, 3600 * 1000};
	struct bu_host_load load;
	struct bu_err err = {0};
	int ticks = 0;

	ck_assert_msg(
		bu_host_load_memory(&long_one, stop_at_once, &ticks, &load, &err) == 0,
		"%s", err.text);
	ck_assert_int_eq(ticks, 1);
	ck_assert_uint_eq(load.wrong, 0);
	ck_assert(load.threads >= 1 && load.memory_gbs > 0);
	ck_assert_int_eq(
		bu_host_load_cpu(1, 3600 * 1000, stop_at_once, &ticks, &load, &err), 0);
	ck_assert_uint_eq(load.wrong, 0);
}
END_TEST

BU_UNIT("host", a_good_host_passes_every_row, each_fault_is_one_row_in_these_words,
	each_row_has_a_fault, thresholds_and_the_clock_are_judged,
	a_profile_may_switch_a_row_off, numa_nodes_with_cpus_count,
	isolated_cpus_may_rest, corrected_errors_of_a_year_are_no_finding,
	slots_and_speeds_of_modules_are_judged_together,
	a_worn_disk_is_a_warning_and_old_errors_are_no_fault,
	a_cut_table_of_modules_is_survived, a_load_ends_when_it_is_told_to)
