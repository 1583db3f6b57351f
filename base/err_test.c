/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/support/unit.h"

START_TEST(says_what_failed_and_why)
{
	struct bu_err err = {0};

	ck_assert_int_eq(bu_err_set(&err, BU_ERR_IO, ENOENT, "open '%s'", "x"), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	ck_assert_str_eq(err.text, "open 'x': No such file or directory");
	ck_assert_int_eq(bu_err_wrap(&err, "node %s", "gpu001"), -1);
	ck_assert_str_eq(err.text, "node gpu001: open 'x': No such file or directory");
}
END_TEST

START_TEST(may_be_left_out)
{
	ck_assert_int_eq(bu_err_set(NULL, BU_ERR_IO, 0, "x"), -1);
	ck_assert_int_eq(bu_err_wrap(NULL, "y"), -1);
}
END_TEST

START_TEST(long_text_is_cut_not_overrun)
{
	char longer[2000];
	struct bu_err err;

	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	bu_err_set(&err, BU_ERR_IO, EIO, "%s", longer);
	bu_err_wrap(&err, "%s", longer);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
}
END_TEST

START_TEST(names_lead_back_to_their_kind)
{
	for (int kind = BU_ERR_NONE; kind <= BU_ERR_CANCELLED; kind++) {
		const char *name = bu_err_name((enum bu_err_kind)kind);

		ck_assert_int_eq(bu_err_from_name(name), kind);
	}
	ck_assert_int_eq(bu_err_from_name("no such kind"), BU_ERR_IO);
}
END_TEST

START_TEST(exit_codes_are_those_of_the_design)
{
	ck_assert_int_eq(bu_err_exit_code(BU_ERR_NONE), 0);
	ck_assert_int_eq(bu_err_exit_code(BU_ERR_USAGE), 1);
	for (int kind = BU_ERR_INVAL; kind <= BU_ERR_CANCELLED; kind++) {
		ck_assert_int_ge(bu_err_exit_code((enum bu_err_kind)kind), 3);
		for (int other = BU_ERR_INVAL; other < kind; other++)
			ck_assert_int_ne(bu_err_exit_code((enum bu_err_kind)kind),
					 bu_err_exit_code((enum bu_err_kind)other));
	}
}
END_TEST

START_TEST(what_is_logged_is_one_line)
{
	char text[200] = "";
	int ends[2], stderr_fd = dup(STDERR_FILENO);
	ssize_t size;

	ck_assert_int_eq(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	bu_warn("agents", "it said: %s", "x\n<3>bringupd: all is well\x1b[2J");
	dup2(stderr_fd, STDERR_FILENO);
	size = read(ends[0], text, sizeof(text) - 1);
	ck_assert_int_gt(size, 0);
	ck_assert_ptr_eq(strchr(text, '\n'), text + size - 1);
	ck_assert_ptr_null(strchr(text, '\x1b'));
	ck_assert_ptr_nonnull(strstr(text, "it said: x <3>bringupd: all is well [2J"));
	close(stderr_fd);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

BU_UNIT("err", what_is_logged_is_one_line, says_what_failed_and_why, may_be_left_out,
	long_text_is_cut_not_overrun, names_lead_back_to_their_kind,
	exit_codes_are_those_of_the_design)
