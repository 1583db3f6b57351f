/* SPDX-License-Identifier: Apache-2.0 */
/* Equal texts have one address, however many there are. */
#include "base/intern.h"

#include <stdio.h>

#include "tests/support/unit.h"

enum { MANY = 3000 };

START_TEST(equal_texts_are_one)
{
	static const char *kept[MANY];
	char text[16] = "n1";
	const char *one = bu_intern(text);

	ck_assert_ptr_null(bu_intern(NULL));
	ck_assert_ptr_ne(one, text);
	ck_assert_ptr_ne(one, bu_intern(""));
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < MANY; i++) {
			snprintf(text, sizeof(text), "n%d", i);
			if (round)
				ck_assert_ptr_eq(bu_intern(text), kept[i]);
			kept[i] = bu_intern(text);
			ck_assert_str_eq(kept[i], text);
		}
	ck_assert_ptr_eq(one, kept[1]);
}
END_TEST

BU_UNIT("intern", equal_texts_are_one)
