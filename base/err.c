/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error object and the table of its kinds.
 * Everything in the house uses this; nothing here allocates for an error.
 */
#include "base/err.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct {
	const char *name;
	int http;
	int exit_code;
} kinds[] = {
#define X(id, name, http, code) {name, http, code},
	BU_ERRS(X)
#undef X
};

int
bu_err_set(struct bu_err *err, enum bu_err_kind kind, int sys_errno, const char *fmt,
	   ...)
{
	char text[sizeof(err->text)];
	va_list args;
	size_t used;

	if (!err)
		return -1;
	err->kind = kind;
	err->sys_errno = sys_errno;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	used = strlen(text);
	if (sys_errno)
		snprintf(text + used, sizeof(text) - used, ": %s", strerror(sys_errno));
	BU_TEXT_COPY(err->text, text);
	return -1;
}

int
bu_err_wrap(struct bu_err *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list args;
	size_t used;

	if (!err)
		return -1;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	used = strlen(text);
	snprintf(text + used, sizeof(text) - used, ": %s", err->text);
	BU_TEXT_COPY(err->text, text);
	return -1;
}

const char *
bu_err_name(enum bu_err_kind kind)
{
	return kinds[kind].name;
}

enum bu_err_kind
bu_err_from_name(const char *name)
{
	for (size_t i = 0; i < BU_LEN(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return (enum bu_err_kind)i;
	return BU_ERR_IO;
}

int
bu_err_http(enum bu_err_kind kind)
{
	return kinds[kind].http;
}

int
bu_err_exit_code(enum bu_err_kind kind)
{
	return kinds[kind].exit_code;
}
