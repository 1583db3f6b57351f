/* SPDX-License-Identifier: Apache-2.0 */
/* The page's words, by the node that is installed: words_test.js has the cases. */
#include <stdlib.h>

#include "tests/support/unit.h"

START_TEST(the_page_says_what_is_so)
{
	BU_NEEDS("node");
	ck_assert_int_eq(system("node " BU_SRCDIR "/webui/words_test.js >&2"), 0);
}
END_TEST

BU_UNIT("words", the_page_says_what_is_so)
