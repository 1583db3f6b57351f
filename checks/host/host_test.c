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

/* Four modules; number `odd` (-1 = none) is smaller, `slow` runs slower than it can. */
static void
put_dmi(int odd, int slow)
{
	unsigned char table[1024] = {0};
	size_t at = 0;

	for (int i = 0; i < 4; i++) {
		unsigned int size = i == odd ? 16384 : 32767, speed = 4800;
		unsigned int configured = i == slow ? 4000 : 4800;
		unsigned char *entry = table + at;

		entry[0] = 17;
		entry[1] = 0x28;
		entry[0x0c] = size & 0xff;
		entry[0x0d] = size >> 8;
		if (i != odd) { /* 0x7fff: the real size is in the long field */
			entry[0x1c] = 0;
			entry[0x1d] = 0x80;
		}
		entry[0x10] = 1;
		entry[0x15] = speed & 0xff;
		entry[0x16] = (unsigned char)(speed >> 8);
		entry[0x20] = configured & 0xff;
		entry[0x21] = (unsigned char)(configured >> 8);
		at += 0x28;
		at += (size_t)snprintf((char *)table + at, 16, "DIMM_%c1", 'A' + i) + 2;
	}
	put_bytes("sys/firmware/dmi/tables/DMI", table, at);
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

START_TEST(a_good_host_passes_every_row)
{
	struct bu_checks checks;
	static const char *const seen[] = {
		"cpu-online",       "cpu-frequency",  "cpu-throttle",
		"cpu-arithmetic",   "turbo",          "numa-nodes",
		"memory-size",      "memory-modules", "memory-errors",
		"memory-corrected", "memory-pattern", "memory-bandwidth",
		"clock-offset",     "disk-read"};

	put_good_tree();
	run(good, &checks);
	for (size_t i = 0; i < checks.count; i++)
		ck_assert_msg(checks.list[i].verdict == BU_VERDICT_PASS, "%s: %s",
			      checks.list[i].id, checks.list[i].text);
	for (size_t i = 0; i < BU_LEN(seen); i++)
		ck_assert_msg(find(&checks, seen[i]) != NULL, "no row %s", seen[i]);
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
	 "mc0: memory errors that were corrected: 12 errors; expected 0 errors"},
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
	put("sys/devices/system/edac/mc/mc0/ce_count", "1\n");
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
	thresholds_and_the_clock_are_judged, a_profile_may_switch_a_row_off,
	a_cut_table_of_modules_is_survived, a_load_ends_when_it_is_told_to)
