/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a file of advisories in pieces; scan.c judges them. Invariant: no more than one
 * source package, or one advisory, is in memory at a time.
 */
#include "images/build/advisories.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"

struct reader {
	FILE *file;
	const struct bu_advisories_to *to;
};

/* The next byte that is no blank; EOF at the end. */
static int
next(FILE *file)
{
	int c;

	do
		c = getc(file);
	while (c != EOF && isspace(c));
	return c;
}

static int
broken(const struct reader *reader, const char *what, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_INVAL, 0, "byte %ld: %s", ftell(reader->file),
			  what);
}

static json_t *
read_value(const struct reader *reader, struct bu_err *err)
{
	json_error_t why;
	int c = next(reader->file);
	json_t *value;

	if (c == EOF || ungetc(c, reader->file) == EOF) {
		broken(reader, "the file ends in the middle", err);
		return NULL;
	}
	value = json_loadf(reader->file, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK,
			   &why);
	if (!value)
		broken(reader, why.text, err);
	/* Of what has no end of its own, jansson took the byte behind it. */
	else if (!json_is_string(value) && !json_is_object(value) &&
		 !json_is_array(value))
		fseek(reader->file, -1, SEEK_CUR);
	return value;
}

/* 1 when a source package's entries look so. */
static int
is_debian(const json_t *value)
{
	json_t *first = json_object_iter_value(json_object_iter((json_t *)value));

	return json_object_get(first, "releases") != NULL;
}

/* Behind "{": the members of the tracker's one object, or of one advisory. */
static int
read_members(const struct reader *reader, struct bu_err *err)
{
	bu_autojson json_t *advisory = json_object();
	int c = next(reader->file), debian = 0;

	if (c != '}')
		ungetc(c, reader->file);
	for (; c != '}'; c = next(reader->file)) {
		bu_autojson json_t *key = NULL, *value = NULL;

		if (json_object_size(advisory) + (size_t)debian > 0 && c != ',')
			return broken(reader, "no ',' between two members", err);
		key = read_value(reader, err);
		if (!json_is_string(key))
			return key ? broken(reader, "no name of a member", err) : -1;
		if (next(reader->file) != ':')
			return broken(reader, "no ':' behind a name", err);
		value = read_value(reader, err);
		if (!value)
			return -1;
		debian |= is_debian(value);
		if (debian)
			reader->to->debian(json_string_value(key), value,
					   reader->to->arg);
		else
			json_object_set(advisory, json_string_value(key), value);
	}
	if (debian)
		return 0;
	if (!json_is_string(json_object_get(advisory, "id")))
		return broken(reader,
			      "neither an advisory of OSV (it has no id) nor Debian's "
			      "security tracker",
			      err);
	reader->to->osv(advisory, reader->to->arg);
	return 0;
}

static int
read_all(const struct reader *reader, struct bu_err *err)
{
	int c = next(reader->file), list = c == '[', first = 1;

	if (list)
		c = next(reader->file);
	for (; c != EOF && !(list && c == ']'); c = next(reader->file), first = 0) {
		if (list && !first && c != ',')
			return broken(reader, "no ',' between two advisories", err);
		if (list && !first)
			c = next(reader->file);
		if (c != '{')
			return broken(reader, "no JSON object", err);
		if (read_members(reader, err))
			return -1;
	}
	if (list && (c != ']' || next(reader->file) != EOF))
		return broken(reader, "the list ends in the middle", err);
	return first && !list ? broken(reader, "the file is empty", err) : 0;
}

int
bu_advisories_read(const char *path, const struct bu_advisories_to *to,
		   struct bu_err *err)
{
	struct reader reader = {fopen(path, "re"), to};
	int rc;

	if (!reader.file)
		return bu_err_set(err, errno == ENOENT ? BU_ERR_NOTFOUND : BU_ERR_IO,
				  errno, "%s", path);
	rc = read_all(&reader, err);
	fclose(reader.file);
	return rc ? bu_err_wrap(err, "%s", path) : 0;
}
