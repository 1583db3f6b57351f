/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BU_TESTS_SUPPORT_QUOTED_H
#define BU_TESTS_SUPPORT_QUOTED_H

#include <jansson.h>

#include "base/err.h"
#include "tests/support/unit.h"

/* JSON with ' for ", so that it reads well in C; new reference. */
static inline json_t *
quoted(const char *text)
{
	bu_autofree char *copy = bu_xstrdup(text);
	json_error_t error;
	json_t *value;

	for (char *c = copy; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	value = json_loads(copy, 0, &error);
	ck_assert_msg(value != NULL, "%s: %s", error.text, copy);
	return value;
}

#endif
