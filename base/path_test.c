/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that others give: each row with what each check says to it. */
#include "base/path.h"

#include <limits.h>

#include "base/err.h"
#include "tests/support/unit.h"

enum { NAME = 1, RELATIVE = 2, ABSOLUTE = 4, PLAIN_FILE = 8, ETC = 16, PLAIN = 32 };

static const struct {
	int (*check)(const char *text);
	int bit;
} checks[] = {{bu_path_is_name, NAME},
	      {bu_path_is_relative, RELATIVE},
	      {bu_path_is_absolute, ABSOLUTE},
	      {bu_path_is_file, PLAIN_FILE},
	      {bu_path_is_plain, PLAIN}};

static int
passes(const char *text)
{
	int bits = bu_path_is_below(text, "/etc") ? ETC : 0;

	for (size_t i = 0; i < BU_LEN(checks); i++)
		bits |= checks[i].check(text) ? checks[i].bit : 0;
	return bits;
}

START_TEST(each_check_lets_through_what_it_says)
{
	static const struct {
		const char *text;
		int want;
	} rows[] = {
		{"vmlinuz-6.1.0+deb12_1", NAME | RELATIVE},
		{"pools/train.ini", RELATIVE},
		{"pools/", RELATIVE},
		{"a..b/...", RELATIVE},
		{".hidden", RELATIVE},
		{"-x", RELATIVE},
		{"a b", RELATIVE},
		{"a\\b", RELATIVE},
		{"caf\xc3\xa9", RELATIVE},
		{"/srv", ABSOLUTE | PLAIN_FILE | PLAIN},
		{"/srv/", ABSOLUTE | PLAIN},
		{"/srv/a b", ABSOLUTE | PLAIN_FILE},
		{"/srv/..a/b..", ABSOLUTE | PLAIN_FILE | PLAIN},
		{"/etc/hosts", ABSOLUTE | PLAIN_FILE | ETC | PLAIN},
		{"/etc/a/b", ABSOLUTE | PLAIN_FILE | ETC | PLAIN},
		{"/etc", ABSOLUTE | PLAIN_FILE | PLAIN},
		{"/etc/", ABSOLUTE | PLAIN},
		{"/etcetera/x", ABSOLUTE | PLAIN_FILE | PLAIN},
		/* out of the folder, in all ways to write it */
		{"/etc/../root/x", PLAIN},
		{"/etc/..", PLAIN},
		{"/..", PLAIN},
		{"/../etc/x", PLAIN},
		{"/etc/./x", PLAIN},
		{"/etc/.", PLAIN},
		{"/etc//x", PLAIN},
		{"//etc/x", PLAIN},
		{"/etc/x//", PLAIN},
		{"/", PLAIN},
		{"//", PLAIN},
		{"", 0},
		{".", 0},
		{"..", 0},
		{"../x", 0},
		{"a/..", 0},
		{"a/../b", 0},
		{"a//b", 0},
		{"./a", 0},
		{"a\nb", 0},
		{"/etc/a\x7f", 0},
		{"/etc/\x1b[2J", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(passes(rows[i].text) == rows[i].want, "'%s': %#x",
			      rows[i].text, (unsigned)passes(rows[i].text));
}
END_TEST

START_TEST(what_the_kernel_takes_not_is_too_long)
{
	char text[PATH_MAX + 1] = "/";

	memset(text + 1, 'a', NAME_MAX + 1);
	ck_assert_int_eq(bu_path_is_name(text + 2), 1);
	ck_assert_int_eq(bu_path_is_name(text + 1), 0);
	ck_assert_int_eq(bu_path_is_absolute(text), 0);
	text[NAME_MAX + 1] = '\0';
	ck_assert_int_eq(bu_path_is_absolute(text), 1);
	for (size_t i = 0; i < PATH_MAX; i++)
		text[i] = i % 2 ? 'a' : '/';
	text[PATH_MAX] = '\0';
	ck_assert_int_eq(bu_path_is_absolute(text + 2), 1);
	ck_assert_int_eq(bu_path_is_relative(text + 1), 1);
	ck_assert_int_eq(bu_path_is_relative("a/a"), 1);
	memmove(text + 1, text, PATH_MAX - 1);
	text[0] = 'a';
	text[PATH_MAX] = '\0';
	ck_assert_int_eq(bu_path_is_relative(text), 0);
}
END_TEST

START_TEST(the_name_is_the_last_part)
{
	ck_assert_str_eq(bu_path_name("/srv/images/a.img"), "a.img");
	ck_assert_str_eq(bu_path_name("a.img"), "a.img");
	ck_assert_str_eq(bu_path_name("/srv/"), "");
}
END_TEST

START_TEST(the_folder_is_what_is_before_it)
{
	static const char *const rows[][2] = {
		{"/run/bringup/sock", "/run/bringup"},
		{"a/b", "a"},
		{"/sock", "/"},
		{"sock", "."},
		{"/srv/", "/srv"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *folder = bu_path_folder(rows[i][0]);

		ck_assert_str_eq(folder, rows[i][1]);
	}
}
END_TEST

BU_UNIT("path", each_check_lets_through_what_it_says,
	what_the_kernel_takes_not_is_too_long, the_name_is_the_last_part,
	the_folder_is_what_is_before_it)
