/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine says, on a terminal. */
#include "base/terminal.h"

#include <string.h>

#include "tests/support/cli.h"
#include "tests/support/unit.h"

/* Whole, and byte by byte: it is the same. */
static void
check(const char *bytes, const char *shown)
{
	struct bu_terminal_text whole = {0}, parts = {0};
	char *text = WRITTEN(bu_terminal_plain(&whole, bytes, strlen(bytes), out));
	char *again = WRITTEN({
		for (size_t i = 0; i < strlen(bytes); i++)
			bu_terminal_plain(&parts, bytes + i, 1, out);
	});

	ck_assert_str_eq(text, shown);
	ck_assert_str_eq(again, shown);
	free(text);
	free(again);
}

START_TEST(nothing_that_a_machine_says_drives_the_terminal)
{
	check("Linux version 6.1\r\n[    0.000000] x\ty\r\n",
	      "Linux version 6.1\n[    0.000000] x\ty\n");
	/* colours, the cursor, a title, a clipboard, a reset */
	check("\033[1;31mred\033[0m \033[2J\033[Hhome\n", "red home\n");
	check("\033]0;title\007a\033]52;c;cm0=\033\\b\033(Bc\033cd\n", "abcd\n");
	check("\233"
	      "31m\x9b\x7f\x01\b\n",
	      "31m???\n");
	check("\xe2\x97\x8f ok\n", "? ok\n");
	/* one that is never ended hides no more than its line */
	check("\033]0;open\nnext\n", "next\n");
	check("10 %\r20 %\r\r\nend", "10 %\n20 %\nend");
}
END_TEST

BU_UNIT("terminal", nothing_that_a_machine_says_drives_the_terminal)
