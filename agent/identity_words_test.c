/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent knows without asking: by its command line and by what it kept. */
#include "agent/identity.h"

#include <string.h>

#include "base/file.h"
#include "tests/support/unit.h"

START_TEST(values_of_a_command_line)
{
	static const char cmdline[] = "BOOT_IMAGE=/vmlinuz quiet bringup.node=node001  "
				      "bringup.url=https://10.77.0.1:8443\t"
				      "bringup.empty= xbringup.token=no "
				      "bringup.token=t=1 bringup.node=other\n";
	static const struct {
		const char *name, *value;
	} rows[] = {
		{"bringup.node", "node001"}, /* the first counts */
		{"bringup.url", "https://10.77.0.1:8443"},
		{"bringup.token", "t=1"},
		{"bringup.empty", ""},
		{"BOOT_IMAGE", "/vmlinuz"},
		{"quiet", NULL},
		{"bringup", NULL},
		{"bringup.nod", NULL},
		{"bringup.ca", NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *value = bu_cmdline_value(cmdline, rows[i].name);

		if (rows[i].value)
			ck_assert_pstr_eq(value, rows[i].value);
		else
			ck_assert_msg(!value || !*value, "%s: %s", rows[i].name, value);
	}
	ck_assert_ptr_null(bu_cmdline_value("", "a"));
	ck_assert_ptr_null(bu_cmdline_value("   ", "a"));
}
END_TEST

START_TEST(a_clock_that_is_far_off_is_the_appliances)
{
	static const struct {
		int64_t theirs_s, ours_s, to_s;
	} rows[] = {
		{1700000000, 0, 1700000000},
		{1700000000, 1700000000 - 86400, 1700000000},
		{1700000000, 1900000000, 1700000000},
		{1700000000, 1700000200, 0},
		{1700000000, 1699999800, 0},
		{1700000000, 1700000300, 0},
		{1700000000, 1699999700, 0},
		{1700000000, 1700000301, 1700000000},
		{1700000000, 1699999699, 1700000000},
		{0, 1700000000, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_int_eq(bu_identity_clock_s(rows[i].theirs_s, rows[i].ours_s),
				 rows[i].to_s);
}
END_TEST

/* Each of the words must be there; without a node and a token all the others. */
START_TEST(a_boot_that_nobody_ordered_is_refused_here)
{
	static const char *const words[] = {"bringup.node=node001", "bringup.token=t",
					    "bringup.url=http://127.0.0.1:1",
					    "bringup.boot=http://127.0.0.1:1",
					    "bringup.ca=00"};
	bu_autoinventory struct bu_inventory *inventory = bu_inventory_create();

	for (size_t lacks = 0; lacks < BU_LEN(words); lacks++)
		for (size_t begin = 0; begin <= 2 && begin <= lacks; begin += 2) {
			bu_autofree char *cmdline = bu_xstrdup("quiet");
			struct bu_identity identity = {0};
			struct bu_err err = {0};

			for (size_t i = begin; i < BU_LEN(words); i++) {
				bu_autofree char *old = cmdline;

				cmdline = bu_xasprintf("%s %s", old,
						       i == lacks ? "" : words[i]);
			}
			ck_assert_int_eq(bu_identity_enroll(cmdline, "/proc/no/such",
							    inventory, &identity, &err),
					 -1);
			ck_assert_msg(err.kind == BU_ERR_INVAL, "%s: %s", cmdline,
				      err.text);
			ck_assert_ptr_nonnull(
				strstr(err.text, "was not ordered by bringup"));
			ck_assert_ptr_null(identity.dir);
		}
}
END_TEST

START_TEST(an_installed_agent_knows_who_it_is)
{
	static const struct {
		const char *text;
		int good;
	} rows[] = {
		{"{\"node\":\"node001\",\"url\":\"https://a\",\"boot_url\":\"http://"
		 "b\"}",
		 1},
		{"{\"node\":\"node001\",\"url\":\"https://a\"}", 0},
		{"{\"node\":\"node001\",\"boot_url\":\"http://b\"}", 0},
		{"{\"url\":\"https://a\",\"boot_url\":\"http://b\"}", 0},
		{"{\"node\":7,\"url\":\"https://a\",\"boot_url\":\"http://b\"}", 0},
		{"[]", 0},
		{"", 0},
	};
	char dir[] = "/tmp/bringup-agent-XXXXXX";
	bu_autofree char *path = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = bu_xasprintf("%s/agent.json", dir);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_identity identity = {0};
		struct bu_err err = {0};

		ck_assert_int_eq(bu_file_write(path, rows[i].text, strlen(rows[i].text),
					       0600, NULL),
				 0);
		ck_assert_int_eq(bu_identity_load(dir, 1, &identity, &err) == 0,
				 rows[i].good);
		if (rows[i].good) {
			ck_assert_int_eq(identity.installed, 1);
			ck_assert_str_eq(identity.url, "https://a");
			ck_assert_str_eq(identity.dir, dir);
		} else {
			ck_assert_ptr_nonnull(strstr(err.text, path));
			ck_assert_ptr_null(identity.node);
		}
		bu_identity_fini(&identity);
		ck_assert_ptr_null(identity.dir);
		ck_assert_ptr_null(identity.node);
	}
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

BU_UNIT("identity words", values_of_a_command_line,
	a_clock_that_is_far_off_is_the_appliances,
	a_boot_that_nobody_ordered_is_refused_here, an_installed_agent_knows_who_it_is)
