/* SPDX-License-Identifier: Apache-2.0 */
#include "provisioner/boot/lines.h"

#include <string.h>

#include "tests/support/unit.h"

struct heard {
	char text[64];
	const char *last; /* after this line no more are read */
};

static int
hear(char *line, void *arg)
{
	struct heard *heard = arg;

	strcat(heard->text, line);
	strcat(heard->text, "|");
	return !heard->last || strcmp(line, heard->last) != 0;
}

START_TEST(whole_lines_are_taken_and_the_rest_stays)
{
	struct heard heard = {.text = ""};
	char text[32] = "start\n\nwiden\nrel";
	size_t size = strlen(text);

	bu_lines_take(text, &size, hear, &heard);
	ck_assert_str_eq(heard.text, "start||widen|");
	ck_assert_uint_eq(size, 3);
	memcpy(text + size, "oad\n", 4);
	size += 4;
	bu_lines_take(text, &size, hear, &heard);
	ck_assert_str_eq(heard.text, "start||widen|reload|");
	ck_assert_uint_eq(size, 0);
}
END_TEST

START_TEST(after_the_last_line_none_is_read)
{
	struct heard heard = {.text = "", .last = "ended"};
	char text[32] = "ended\nmore\n";
	size_t size = strlen(text);

	bu_lines_take(text, &size, hear, &heard);
	ck_assert_str_eq(heard.text, "ended|");
}
END_TEST

BU_UNIT("lines", whole_lines_are_taken_and_the_rest_stays,
	after_the_last_line_none_is_read)
