/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/unit.h"

START_TEST(finds_data_and_programs)
{
	bu_autofree char *from_source = NULL;
	bu_autofree char *from_env = NULL;
	bu_autofree char *self = bu_program_path("places_test");
	bu_autofree char *missing = bu_program_path("no-such-program");

	unsetenv("BRINGUP_DATADIR");
	from_source = bu_data_path("base/file.c");
	ck_assert_msg(bu_file_exists(from_source), "%s", from_source);
	setenv("BRINGUP_DATADIR", "/elsewhere", 1);
	from_env = bu_data_path("webui");
	ck_assert_str_eq(from_env, "/elsewhere/webui");
	ck_assert_int_eq(access(self, X_OK), 0);
	ck_assert_str_eq(missing, BU_PKGLIBDIR "/no-such-program");
}
END_TEST

START_TEST(the_cache_is_named_or_below_home)
{
	const struct passwd *user = getpwuid(geteuid());
	bu_autofree char *own = NULL;
	static const struct {
		const char *cache, *home, *want; /* NULL = not set, no path */
	} cases[] = {
		{"/srv/cache", "/home/a", "/srv/cache"},
		{"", "/home/a", "/home/a/.cache/bringup"},
		{NULL, "/home/a", "/home/a/.cache/bringup"},
		{"cache", "/home/a", NULL},
		{"/srv/a b", "/home/a", NULL},
		{"/srv/$(id)", "/home/a", NULL},
		{NULL, "relative", NULL},
		{NULL, "/home/a,b", NULL},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct bu_err err = {0};
		bu_autofree char *dir = NULL;

		setenv("HOME", cases[i].home, 1);
		if (cases[i].cache)
			setenv("BRINGUP_CACHE", cases[i].cache, 1);
		else
			unsetenv("BRINGUP_CACHE");
		dir = bu_cache_dir(&err);
		ck_assert_pstr_eq(dir, cases[i].want);
		ck_assert_int_eq(err.kind, dir ? BU_ERR_NONE : BU_ERR_INVAL);
	}
	ck_assert_ptr_nonnull(user);
	own = bu_xasprintf("%s/.cache/bringup", user->pw_dir);
	for (int set = 0; set < 2; set++) {
		bu_autofree char *dir = NULL;

		unsetenv("HOME");
		if (set)
			setenv("HOME", "", 1);
		dir = bu_cache_dir(NULL);
		ck_assert_pstr_eq(dir, own);
	}
}
END_TEST

BU_UNIT("places", finds_data_and_programs, the_cache_is_named_or_below_home)
