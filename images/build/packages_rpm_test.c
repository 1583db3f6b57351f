/* SPDX-License-Identifier: Apache-2.0 */
/* What rpm prints about its packages, line by line; describe_test.c asks rpm itself. */
#include <string.h>

#include "images/build/packages_impl.h"
#include "tests/support/unit.h"

START_TEST(a_source_package_is_split_in_name_and_version)
{
	static const struct {
		const char *rpm, *source, *version;
	} rows[] = {
		{"small-tool-1.2-3.el9.src.rpm", "small-tool", "1.2-3.el9"},
		{"closed-2-1.nosrc.rpm", "closed", "2-1"},
		/* What has not both of them says nothing: it is its own source. */
		{"(none)", "lib", "1:7-8"},
		{"", "lib", "1:7-8"},
		{".src.rpm", "lib", "1:7-8"},
		{"a-1.src.rpm", "lib", "1:7-8"},
		{"-1.src.rpm", "lib", "1:7-8"},
		{"-1-2.src.rpm", "lib", "1:7-8"},
		{"a--1.src.rpm", "a", "-1"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text =
			bu_xasprintf("a-b\t0\t1-2\t3\tnoarch\ta-b-1-3.src.rpm\n"
				     "lib\t1\t7\t8\tx86_64\t%s\n",
				     rows[i].rpm);
		struct bu_packages packages = {0};
		struct bu_err err = {0};

		ck_assert_msg(!bu_packages_rpm_list(text, &packages, &err), "%s",
			      err.text);
		ck_assert_int_eq(packages.kind, BU_PACKAGES_RPM);
		ck_assert_uint_eq(packages.count, 2);
		ck_assert_str_eq(packages.list[0].version, "1-2-3");
		ck_assert_str_eq(packages.list[1].name, "lib");
		ck_assert_str_eq(packages.list[1].version, "1:7-8");
		ck_assert_str_eq(packages.list[1].arch, "x86_64");
		ck_assert_msg(!strcmp(packages.list[1].source, rows[i].source) &&
				      !strcmp(packages.list[1].source_version,
					      rows[i].version),
			      "%s: %s, %s", rows[i].rpm, packages.list[1].source,
			      packages.list[1].source_version);
		bu_packages_fini(&packages);
	}
}
END_TEST

START_TEST(a_key_is_no_package_and_no_line_is_guessed)
{
	static const struct {
		const char *text;
		int rc;
	} rows[] = {
		{"", 0},
		{"gpg-pubkey\t0\t1\t2\t(none)\t(none)\n", 0},
		{"lib\t0\t1\t2\tnoarch\n", -1},
		{"lib\t0\t1\t2\tnoarch\t(none)\tmore\n", -1},
		{"\n", -1},
		{"\t0\t1\t2\tnoarch\t(none)\n", -1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_xstrdup(rows[i].text);
		struct bu_packages packages = {0};
		struct bu_err err = {0};

		ck_assert_msg(bu_packages_rpm_list(text, &packages, &err) == rows[i].rc,
			      "%zu", i);
		ck_assert_int_eq(err.kind, rows[i].rc ? BU_ERR_VERIFY : 0);
		ck_assert_uint_eq(packages.count, 0);
		bu_packages_fini(&packages);
	}
}
END_TEST

BU_UNIT("packages_rpm", a_source_package_is_split_in_name_and_version,
	a_key_is_no_package_and_no_line_is_guessed)
