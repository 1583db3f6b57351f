/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of the command line share: a stream into memory, JSON written in place. */
#ifndef BU_TESTS_SUPPORT_CLI_H
#define BU_TESTS_SUPPORT_CLI_H

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/quoted.h"

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

#endif
