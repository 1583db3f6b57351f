/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of this folder share: a stream into memory, JSON written in place. */
#ifndef BU_TESTS_SUPPORT_CLI_H
#define BU_TESTS_SUPPORT_CLI_H

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the statement writes to the stream `out`; owned. */
#define WRITTEN(statement)                                                             \
	({                                                                             \
		char *written_text = NULL;                                             \
		size_t written_size;                                                   \
		FILE *out = open_memstream(&written_text, &written_size);              \
		statement;                                                             \
		fclose(out);                                                           \
		written_text;                                                          \
	})

/* JSON with ' for ", so that it reads well in C; new reference. */
static inline json_t *
parse(const char *text)
{
	char *copy = strdup(text);
	json_error_t error;
	json_t *value;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	value = json_loads(copy, 0, &error);
	ck_assert_msg(value != NULL, "%s: %s", error.text, copy);
	free(copy);
	return value;
}

#endif
