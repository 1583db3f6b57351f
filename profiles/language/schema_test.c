/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys is sound, and values are typed. */
#include "profiles/language/schema.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "profiles/desired.h"
#include "profiles/language/window.h"
#include "profiles/load/gpu.h"
#include "tests/support/unit.h"

START_TEST(every_row_has_a_section_help_and_a_right_default)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		const char *fallback = bu_key_default(&keys[i]);
		struct bu_err err;

		ck_assert_ptr_nonnull(bu_schema_kind(keys[i].section));
		ck_assert_ptr_eq(bu_schema_key(keys[i].section, keys[i].key), &keys[i]);
		ck_assert(keys[i].help[0]);
		if (fallback)
			ck_assert_msg(
				bu_value_parse(&keys[i], fallback, NULL, &err) == 0,
				"%s %s: %s", keys[i].section, keys[i].key, err.text);
		if (keys[i].type == BU_KEY_REF || keys[i].type == BU_KEY_REFS)
			ck_assert_ptr_nonnull(bu_schema_kind(keys[i].arg));
	}
}
END_TEST

/* A new row says which it is. What an order carries out is not how its machine is
 * reached, and changing how a machine is reached does nothing to a node in service. */
START_TEST(every_row_says_whether_it_is_reach_or_content)
{
	size_t count, reach = 0;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		ck_assert_msg(keys[i].use != BU_KEY_UNSAID, "[%s] %s", keys[i].section,
			      keys[i].key);
		if (keys[i].use != BU_KEY_REACH)
			continue;
		reach++;
		ck_assert_msg(keys[i].change == BU_CLASS_NONE, "[%s] %s",
			      keys[i].section, keys[i].key);
	}
	ck_assert_uint_gt(reach, 20);
}
END_TEST

/* Inherited keys are one thing, wherever they are said. */
START_TEST(a_key_of_nodes_and_pools_is_one_or_the_other_in_both)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++) {
		const struct bu_key *of_pool = bu_schema_key("pool", keys[i].key);

		if (strcmp(keys[i].section, "node") == 0 && of_pool)
			ck_assert_msg(keys[i].use == of_pool->use, "%s", keys[i].key);
	}
}
END_TEST

/* What is inherited is copied by its bytes. */
START_TEST(what_is_inherited_has_one_type)
{
	static const char *const bases[][2] = {{"node", "pool"}, {"pool", "hardware"}};

	for (size_t i = 0; i < BU_LEN(bases); i++) {
		struct bu_inherit pairs[BU_INHERIT_MAX];
		size_t count = bu_schema_inherits(bases[i][0], bases[i][1], pairs);

		ck_assert_uint_ge(count, 12);
		for (size_t j = 0; j < count; j++) {
			ck_assert_int_eq(pairs[j].key->type, pairs[j].from->type);
			ck_assert(bu_key_is_text(pairs[j].key) ||
				  pairs[j].key->type == BU_KEY_REF ||
				  pairs[j].key->type == BU_KEY_INT);
		}
	}
}
END_TEST

START_TEST(windows_open_and_close)
{
	/* 2026-11-21 is a Saturday; 00:00 UTC is 1795219200. */
	const int64_t saturday = 1795219200, hour = 3600;

	ck_assert(bu_window_open(NULL, saturday));
	ck_assert(bu_window_open("sat 00:00-06:00", saturday));
	ck_assert(bu_window_open("sat 00:00-06:00", saturday + 6 * hour - 1));
	ck_assert(!bu_window_open("sat 00:00-06:00", saturday + 6 * hour));
	ck_assert(!bu_window_open("sun 00:00-06:00", saturday));
	ck_assert(bu_window_open("fri-sun 10:00-11:00", saturday + 10 * hour));
	ck_assert(bu_window_open("sun-mon 00:00-24:00", saturday + 25 * hour));
	ck_assert(bu_window_open("sat-mon 00:00-24:00", saturday + 49 * hour));
	ck_assert(!bu_window_open("sun-fri 00:00-24:00", saturday));
	ck_assert(bu_window_open("fri 22:00-02:00", saturday + hour));
	ck_assert(!bu_window_open("fri 22:00-02:00", saturday + 23 * hour));
	ck_assert(bu_window_open("mon 01:00-02:00, sat 03:00-04:00",
				 saturday + 3 * hour));
}
END_TEST

START_TEST(mig_layouts_fit_their_gpus)
{
	static const struct {
		const char *text, *model;
		int gpus;
		const char *want; /* NULL = right */
	} rows[] = {
		{"1g.10gb*7", "h100-80gb", 8, NULL},
		{"1g.20gb*4", "a100-80gb", 8, NULL},
		{"4g.71gb+3g.71gb", "h200-141gb", 8, NULL},
		{"0-6:1g.23gb*7,7:7g.180gb", "b200-180gb", 8, NULL},
		{"1g.99gb*7", NULL, 0, NULL},
		{"1g.10gb*8", "h100-80gb", 8,
		 "asks for 8 compute slices and 8 of memory; a h100-80gb has 7 and 8"},
		{"1g.20gb*5", "a100-80gb", 8,
		 "asks for 5 compute slices and 10 of memory; a a100-80gb has 7 and 8"},
		{"1g.10gb", "h200-141gb", 8,
		 "a h200-141gb has no instance 1g.10gb; allowed is 1g.18gb, 1g.35gb, "
		 "2g.35gb, 3g.71gb, 4g.71gb, 7g.141gb"},
		{"1g.10gb", "l40s", 8,
		 "no way to divide a l40s is known; leave mig out"},
		{"0-8:1g.10gb", "h100-80gb", 8,
		 "names GPU 8; the machine has GPUs 0 to 7"},
		{"0-3:1g.10gb,3:2g.20gb", "h100-80gb", 8,
		 "names GPU 3 twice; name each once"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err = {0};
		int rc = bu_gpu_mig_check(rows[i].text, rows[i].model, rows[i].gpus,
					  &err);

		ck_assert_msg(rc == (rows[i].want ? -1 : 0), "%s", rows[i].text);
		ck_assert_str_eq(err.text, rows[i].want ? rows[i].want : "");
	}
}
END_TEST

START_TEST(whole_layouts_divide_each_gpu)
{
	ck_assert_int_eq(bu_gpu_mig_is_whole("1g.10gb*7", 8), 1);
	ck_assert_int_eq(bu_gpu_mig_is_whole("4-7:7g.80gb,0-3:1g.10gb*7", 8), 1);
	ck_assert_int_eq(bu_gpu_mig_is_whole("0-2:1g.10gb*7,4-7:7g.80gb", 8), 0);
	ck_assert_int_eq(bu_gpu_mig_is_whole("0-6:1g.10gb*7", 8), 0);
}
END_TEST

START_TEST(numbers_sizes_and_durations)
{
	static const struct {
		enum bu_key_type type;
		const char *text;
		double want; /* -1 = refused */
	} rows[] = {
		{BU_KEY_SIZE, "16 GiB", 17179869184.0},
		{BU_KEY_SIZE, "16GiB", 17179869184.0},
		{BU_KEY_SIZE, "1.5 KiB", 1536},
		{BU_KEY_SIZE, "4096", 4096},
		{BU_KEY_SIZE, "16 GB", -1},
		{BU_KEY_SIZE, "-1", -1},
		{BU_KEY_SIZE, "1e3", -1},
		{BU_KEY_SIZE, "0x10", -1},
		{BU_KEY_SIZE, "inf", -1},
		{BU_KEY_SIZE, "1.2.3", -1},
		{BU_KEY_DURATION, "90 s", 90000},
		{BU_KEY_DURATION, "500ms", 500},
		{BU_KEY_DURATION, "2h", 7200000},
		{BU_KEY_DURATION, "90", -1},
		{BU_KEY_PERCENT, "80%", 80},
		{BU_KEY_PERCENT, "0.5 %", 0.5},
		{BU_KEY_PERCENT, "80", -1},
		{BU_KEY_REAL, "0.02", 0.02},
		{BU_KEY_REAL, ".5", -1},
		{BU_KEY_REAL, "nan", -1},
		{BU_KEY_INT, "12", 12},
		{BU_KEY_INT, "1.0", -1},
		{BU_KEY_INT, "999999999999999999999", -1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_key key = {.type = rows[i].type, .min = 0, .max = 1e12};
		union {
			int i;
			double d;
			uint64_t u;
			int64_t s;
		} value = {.u = 0};
		struct bu_err err;
		int rc = bu_value_parse(&key, rows[i].text, &value, &err);
		double got = key.type == BU_KEY_INT        ? value.i
			     : key.type == BU_KEY_SIZE     ? (double)value.u
			     : key.type == BU_KEY_DURATION ? (double)value.s
							   : value.d;

		ck_assert_msg(rc == (rows[i].want < 0 ? -1 : 0), "'%s'", rows[i].text);
		if (rc == 0)
			ck_assert_msg(got == rows[i].want, "'%s': %f", rows[i].text,
				      got);
	}
}
END_TEST

#define SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static const struct {
	enum bu_key_type type;
	const char *text, *want; /* NULL = refused */
} texts[] = {
	{BU_KEY_PATH, "/dev/vda", "/dev/vda"},
	{BU_KEY_PATH, "/a/../etc/shadow", NULL},
	{BU_KEY_PATH, "/", NULL},
	{BU_KEY_PATH, "/a/..", NULL},
	{BU_KEY_PATH, "/a/./b", NULL},
	{BU_KEY_PATH, "/a b", NULL},
	{BU_KEY_EXEC, "exec:/usr/bin/scan", "exec:/usr/bin/scan"},
	{BU_KEY_EXEC, "file:/usr/bin/scan", NULL},
	{BU_KEY_EXEC, "exec:scan", NULL},
	{BU_KEY_EXEC, "exec:/bin/sh -c x", NULL},
	{BU_KEY_KEYFILE, "file:/etc/k.pub", "/etc/k.pub"},
	{BU_KEY_KEYFILE, "env:K", NULL},
	{BU_KEY_KEYFILES, "file:/a , file:/b", "file:/a,file:/b"},
	{BU_KEY_SECRET, "file:/etc/munge/munge.key", "file:/etc/munge/munge.key"},
	{BU_KEY_SECRET, "env:MUNGE_KEY", "env:MUNGE_KEY"},
	{BU_KEY_SECRET, "env:1X", NULL},
	{BU_KEY_SECRET, "credential:munge.key", "credential:munge.key"},
	{BU_KEY_SECRET, "credential:../x", NULL},
	{BU_KEY_SECRET, "exec:/usr/bin/vault-munge", "exec:/usr/bin/vault-munge"},
	{BU_KEY_SECRET, "exec:/bin/sh -c x", NULL},
	{BU_KEY_SECRET, "file:munge.key", NULL},
	{BU_KEY_SECRET, "/etc/munge/munge.key", NULL},
	{BU_KEY_SECRET, "hunter2", NULL},
	{BU_KEY_WORDS, "a , b,c", "a,b,c"},
	{BU_KEY_WORDS, "a,,b", NULL},
	{BU_KEY_WORDS, "a,", NULL},
	{BU_KEY_WORDS, "a\"b", NULL},
	{BU_KEY_FILE, "racks/r1.csv", "racks/r1.csv"},
	{BU_KEY_FILE, "/etc/passwd", NULL},
	{BU_KEY_FILE, "../x.csv", NULL},
	{BU_KEY_HOSTPORT, "10.77.0.1:6817", "10.77.0.1:6817"},
	{BU_KEY_HOSTPORT, "ctl.lab:1", "ctl.lab:1"},
	{BU_KEY_HOSTPORT, "10.77.0.1", NULL},
	{BU_KEY_HOSTPORT, "10.77.0.1:0", NULL},
	{BU_KEY_HOSTPORT, "10.77.0.1:65536", NULL},
	{BU_KEY_HOSTPORT, "a b:1", NULL},
	{BU_KEY_BMC, "qemu:///system#node001", "qemu:///system#node001"},
	{BU_KEY_BMC, "-oProxyCommand=x", NULL},
	{BU_KEY_BMC, "https://root:calvin@10.1.0.1", NULL},
	{BU_KEY_URL, "oci://registry.example.org/gpu:1",
	 "oci://registry.example.org/gpu:1"},
	{BU_KEY_URL, "https://u:p@h/x", NULL},
	{BU_KEY_URL, "registry.example.org", NULL},
	{BU_KEY_URL, "javascript:x", NULL},
	{BU_KEY_URL, "https:///x", NULL},
	{BU_KEY_URL, "https://h:99999/", NULL},
	{BU_KEY_URL, "https://h\\@evil/", NULL},
	{BU_KEY_BMC, "[fd00::5]:623", "[fd00::5]:623"},
	{BU_KEY_BMC, "https://h:0", NULL},
	{BU_KEY_BMC, "10.1.0", NULL},
	{BU_KEY_DOMAIN, "falcon.example.org", "falcon.example.org"},
	{BU_KEY_DOMAIN, "falcon..org", NULL},
	{BU_KEY_DOMAIN, "-a.org", NULL},
	{BU_KEY_HOSTS, "10.0.0.1, ntp.example.org", "10.0.0.1,ntp.example.org"},
	{BU_KEY_HOSTS, "10.0.0.256", NULL},
	{BU_KEY_HOSTS, "a,a", NULL},
	{BU_KEY_IPV4, "10.0.0.1", "10.0.0.1"},
	{BU_KEY_IPV4, "10.0.0", NULL},
	{BU_KEY_PCI, "0000:18:00.0", "0000:18:00.0"},
	{BU_KEY_PCI, "18:00.0", NULL},
	{BU_KEY_PCI, "0000:18:00.0x", NULL},
	{BU_KEY_RDMAPORT, "0000:18:00.0", "0000:18:00.0"},
	{BU_KEY_RDMAPORT, "mlx5_3/1", "mlx5_3/1"},
	{BU_KEY_RDMAPORT, "ib0", "ib0"},
	{BU_KEY_RDMAPORT, "18:00.0", NULL},
	{BU_KEY_RDMAPORT, "0000:18:00.0/1", NULL},
	{BU_KEY_RDMAPORT, "mlx5_3/", NULL},
	{BU_KEY_RDMAPORT, "mlx5_3/1/2", NULL},
	{BU_KEY_RDMAPORT, "/1", NULL},
	{BU_KEY_RDMAPORT, "ib0, ib1", NULL},
	{BU_KEY_SHA256, SHA256, SHA256},
	{BU_KEY_SHA256, SHA256 "0", NULL},
	{BU_KEY_SHA256, "ab:cd", NULL},
	{BU_KEY_NICS, "0, 1", "0,1"},
	{BU_KEY_NICS, "0", NULL},
	{BU_KEY_NICS, "0,0", NULL},
	{BU_KEY_NICS, "0000:18:00.0,0000:3b:00.0", "0000:18:00.0,0000:3b:00.0"},
	{BU_KEY_NICMACS, "fabric=52:54:00:78:00:01", "fabric=52:54:00:78:00:01"},
	{BU_KEY_NICMACS, "fabric", NULL},
	{BU_KEY_PRIORITIES, "3, 4", "3,4"},
	{BU_KEY_PRIORITIES, "none", "none"},
	{BU_KEY_PRIORITIES, "8", NULL},
	{BU_KEY_PRIORITIES, "3,3", NULL},
	{BU_KEY_PRIORITIES, "none,3", NULL},
	{BU_KEY_PKEYS, "0x8001, 0xFFFF", "0x8001,0xFFFF"},
	{BU_KEY_PKEYS, "0x8000", NULL},
	{BU_KEY_PKEYS, "0x", NULL},
	{BU_KEY_PKEYS, "0x18001", NULL},
	{BU_KEY_PKEYS, "8001", NULL},
	{BU_KEY_PKEY, "0x8001", "0x8001"},
	{BU_KEY_PKEY, "0x8001, 0x8002", NULL},
	{BU_KEY_PKEY, "0x0000", NULL},
	{BU_KEY_ROUTES, "10.0.0.0/8 via 10.78.0.1 , 0.0.0.0/0 via 10.78.0.2",
	 "10.0.0.0/8 via 10.78.0.1,0.0.0.0/0 via 10.78.0.2"},
	{BU_KEY_ROUTES, "10.0.0.1/8 via 10.78.0.1", NULL},
	{BU_KEY_ROUTES, "10.0.0.0/8", NULL},
	{BU_KEY_SETTINGS, "vm.swappiness=1, net.ipv4.tcp_rmem=4096 87380 6291456",
	 "vm.swappiness=1,net.ipv4.tcp_rmem=4096 87380 6291456"},
	{BU_KEY_SETTINGS, "vm.swappiness", NULL},
	{BU_KEY_SETTINGS, "a=$(x)", NULL},
	{BU_KEY_HUGEPAGES, "1GiB*64, 2MiB*1024", "1GiB*64,2MiB*1024"},
	{BU_KEY_HUGEPAGES, "3MiB*1", NULL},
	{BU_KEY_HUGEPAGES, "2MiB*0", NULL},
	{BU_KEY_LABELS, "tier=gold, example.org/rack=r1",
	 "tier=gold,example.org/rack=r1"},
	{BU_KEY_LABELS, "empty=", "empty="},
	{BU_KEY_LABELS, "tier", NULL},
	{BU_KEY_LABELS, "tier=-x", NULL},
	{BU_KEY_TAINTS, "gpu=true:NoSchedule, drained:NoExecute",
	 "gpu=true:NoSchedule,drained:NoExecute"},
	{BU_KEY_TAINTS, "gpu=true:Never", NULL},
	{BU_KEY_TAINTS, "gpu=true", NULL},
	{BU_KEY_MIG, "1g.10gb*7", "1g.10gb*7"},
	{BU_KEY_MIG, "3g.40gb+2g.20gb*2", "3g.40gb+2g.20gb*2"},
	{BU_KEY_MIG, "0-3:1g.10gb*7,4:7g.80gb", "0-3:1g.10gb*7,4:7g.80gb"},
	{BU_KEY_MIG, "1g.10gb*7,2g.20gb", NULL},
	{BU_KEY_MIG, "3-0:1g.10gb", NULL},
	{BU_KEY_MIG, "1g.10gb*0", NULL},
	{BU_KEY_MIG, "1g10gb", NULL},
	{BU_KEY_WINDOW, "sat-sun 00:00-24:00, mon 22:00-02:00",
	 "sat-sun 00:00-24:00,mon 22:00-02:00"},
	{BU_KEY_WINDOW, "sat 24:00-02:00", NULL},
	{BU_KEY_WINDOW, "sat 25:00-26:00", NULL},
	{BU_KEY_WINDOW, "sat 00:00-24:01", NULL},
	{BU_KEY_WINDOW, "sat 00:60-02:00", NULL},
	{BU_KEY_WINDOW, "sat 10:00-10:00", NULL},
	{BU_KEY_WINDOW, "day 10:00-11:00", NULL},
	{BU_KEY_WINDOW, "sat 10:60-11:00", NULL},
	{BU_KEY_DATA, "scratch:500GiB:ext4:/scratch, cache:rest:xfs:/cache",
	 "scratch:500GiB:ext4:/scratch,cache:rest:xfs:/cache"},
	{BU_KEY_DATA, "cache:rest:xfs:/cache,scratch:500GiB:ext4:/scratch", NULL},
	{BU_KEY_DATA, "scratch:500GB:ext4:/scratch", NULL},
	{BU_KEY_DATA, "scratch:500GiB:btrfs:/scratch", NULL},
	{BU_KEY_DATA, "scratch:500GiB:ext4:scratch", NULL},
	{BU_KEY_MAC, "52540077000A", "52:54:00:77:00:0a"},
	{BU_KEY_NAME, "gpu001", "gpu001"},
	{BU_KEY_NAME, "Gpu", NULL},
	{BU_KEY_WORD, "ae-dxb-1", "ae-dxb-1"},
	{BU_KEY_WORD, "a;b", NULL},
	{BU_KEY_TEXT, "console=ttyS0 quiet", "console=ttyS0 quiet"},
};

START_TEST(texts_are_checked_and_owned)
{
	for (size_t i = 0; i < BU_LEN(texts); i++) {
		struct bu_key key = {.type = texts[i].type};
		char *value = bu_xstrdup("old");
		struct bu_err err;
		int rc = bu_value_parse(&key, texts[i].text, &value, &err);

		ck_assert_msg(rc == (texts[i].want ? 0 : -1), "'%s'", texts[i].text);
		ck_assert_str_eq(value, texts[i].want ? texts[i].want : "old");
		free(value);
	}
}
END_TEST

START_TEST(limits_are_of_the_pool)
{
	ck_assert_int_eq(bu_value_limit("5%", 200), 10);
	ck_assert_int_eq(bu_value_limit("5 %", 3), 1);
	ck_assert_int_eq(bu_value_limit("50 %", 3), 1);
	ck_assert_int_eq(bu_value_limit("100%", 3), 3);
	ck_assert_int_eq(bu_value_limit("2", 3), 2);
	ck_assert_int_eq(bu_value_limit("9", 3), 3);
}
END_TEST

START_TEST(suggestions_are_near_or_none)
{
	bu_autofree char *near = bu_schema_suggest("pool", "max_unavailble");
	bu_autofree char *none = bu_schema_suggest("pool", "colour");
	bu_autofree char *kind = bu_schema_suggest("netwrok", NULL);

	ck_assert_str_eq(near, " (did you mean 'max_unavailable'?)");
	ck_assert_str_eq(none, "");
	ck_assert_str_eq(kind, " (did you mean 'network'?)");
}
END_TEST

/* A letter more, less or wrong is one mistake; three are forgiven in a long word. */
START_TEST(a_suggestion_is_near)
{
	static const struct {
		const char *word, *candidate;
		int near;
	} rows[] = {
		{"abcdefgh", "abcde", 1},   {"abcdefgh", "abcd", 0},
		{"abcdef", "abcdefghi", 1}, {"abcdef", "abcdefghij", 0},
		{"abcdefg", "abXdYfZ", 1},  {"abcdefg", "WbXdYfZ", 0},
		{"abc", "abcde", 1},        {"abc", "abcdef", 0},
		{"abcde", "abc", 1},        {"abcde", "ab", 0},
		{"abc", "aXY", 1},          {"abc", "XYZ", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text =
			bu_did_you_mean(rows[i].word, &rows[i].candidate, 1);

		ck_assert_msg(!!*text == rows[i].near, "%s, %s: '%s'", rows[i].word,
			      rows[i].candidate, text);
	}
}
END_TEST

BU_UNIT("schema", a_suggestion_is_near,
	every_row_has_a_section_help_and_a_right_default,
	every_row_says_whether_it_is_reach_or_content,
	a_key_of_nodes_and_pools_is_one_or_the_other_in_both,
	what_is_inherited_has_one_type, windows_open_and_close,
	mig_layouts_fit_their_gpus, whole_layouts_divide_each_gpu,
	numbers_sizes_and_durations, texts_are_checked_and_owned,
	limits_are_of_the_pool, suggestions_are_near_or_none)
