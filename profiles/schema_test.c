/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys is sound, values are typed, and the reference names every key. */
#include "profiles/schema.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "profiles/desired.h"
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

START_TEST(the_reference_names_every_key)
{
	bu_autofree char *text =
		bu_file_read(BU_SRCDIR "/profiles/README.md", 0, NULL, NULL);
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < count; i++) {
		bu_autofree char *row = bu_xasprintf("| `%s` | %s |", keys[i].key,
						     keys[i].need ? keys[i].need : "");
		bu_autofree char *head = bu_xasprintf("### [%s", keys[i].section);
		const char *section = strstr(text, head), *next, *found;

		ck_assert_msg(section != NULL, "README.md has no '%s'", head);
		next = strstr(section + 3, "### [");
		found = strstr(section, row);
		ck_assert_msg(found && (!next || found < next),
			      "README.md lacks '%s' below '%s'", row, head);
	}
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

START_TEST(texts_are_checked_and_owned)
{
	static const struct {
		enum bu_key_type type;
		const char *text, *want; /* NULL = refused */
	} rows[] = {
		{BU_KEY_PATH, "/dev/vda", "/dev/vda"},
		{BU_KEY_PATH, "/a/../etc/shadow", NULL},
		{BU_KEY_PATH, "/", NULL},
		{BU_KEY_PATH, "/a b", NULL},
		{BU_KEY_SECRET, "file:/etc/munge/munge.key", "/etc/munge/munge.key"},
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
		{BU_KEY_URL, "qemu:///system#node001", "qemu:///system#node001"},
		{BU_KEY_URL, "-oProxyCommand=x", NULL},
		{BU_KEY_MAC, "52540077000A", "52:54:00:77:00:0a"},
		{BU_KEY_NAME, "gpu001", "gpu001"},
		{BU_KEY_NAME, "Gpu", NULL},
		{BU_KEY_WORD, "ae-dxb-1", "ae-dxb-1"},
		{BU_KEY_WORD, "a;b", NULL},
		{BU_KEY_TEXT, "console=ttyS0 quiet", "console=ttyS0 quiet"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_key key = {.type = rows[i].type};
		char *value = bu_xstrdup("old");
		struct bu_err err;
		int rc = bu_value_parse(&key, rows[i].text, &value, &err);

		ck_assert_msg(rc == (rows[i].want ? 0 : -1), "'%s'", rows[i].text);
		ck_assert_str_eq(value, rows[i].want ? rows[i].want : "old");
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

BU_UNIT("schema", every_row_has_a_section_help_and_a_right_default,
	the_reference_names_every_key, numbers_sizes_and_durations,
	texts_are_checked_and_owned, limits_are_of_the_pool,
	suggestions_are_near_or_none)
