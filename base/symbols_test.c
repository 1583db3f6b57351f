/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the C library, which is open anyway. */
#include "base/symbols.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "tests/support/unit.h"

struct calls {
	size_t (*length)(const char *text);
	int (*none)(void);
	int (*absolute)(int number);
};

START_TEST(fills_what_is_there)
{
	static const struct bu_symbol list[] = {
		{"strlen", offsetof(struct calls, length), 0},
		{"bu_no_such_call", offsetof(struct calls, none), 1},
		{"abs", offsetof(struct calls, absolute), 1},
	};
	struct calls calls;

	memset(&calls, 0xff, sizeof(calls));
	ck_assert_ptr_null(bu_symbols_find(RTLD_DEFAULT, list, BU_LEN(list), &calls));
	ck_assert_uint_eq(calls.length("abc"), 3);
	ck_assert_ptr_null((void *)(uintptr_t)calls.none);
	ck_assert_int_eq(calls.absolute(-7), 7);
}
END_TEST

START_TEST(names_what_is_missing)
{
	static const struct bu_symbol list[] = {
		{"strlen", offsetof(struct calls, length), 0},
		{"bu_no_such_call", offsetof(struct calls, none), 0},
	};
	struct calls calls;

	ck_assert_str_eq(bu_symbols_find(RTLD_DEFAULT, list, BU_LEN(list), &calls),
			 "bu_no_such_call");
}
END_TEST

BU_UNIT("symbols", fills_what_is_there, names_what_is_missing)
