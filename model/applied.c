/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of what was written, and what is told of it. Used by provisioner/api
 * (writes the record), agent/itself.c (reads it, tells) and provisioner/node/found.c
 * (keeps what was told). Invariant: the same files give the same record, byte for byte.
 */
#include "model/applied.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"

const char *const bu_differs_names[] = {"changed", "missing", "added", NULL};

static const struct bu_field file_fields[] = {
	BU_FIELD(STRING, struct bu_applied_file, path),
	BU_FIELD(INT, struct bu_applied_file, mode, .max = 07777),
	BU_FIELD(STRING, struct bu_applied_file, digest, .max = 64),
	BU_FIELD_END,
};

static const struct bu_field word_field[] = {BU_FIELD_ONE(STRING, sizeof(char *))};

const struct bu_field bu_applied_fields[] = {
	BU_FIELD_V(BU_APPLIED_VERSION, BU_APPLIED_VERSION),
	BU_FIELD(STRING, struct bu_applied, node),
	BU_FIELD(STRING, struct bu_applied, step),
	BU_FIELD(STRING, struct bu_applied, facets, .max = 64),
	BU_FIELD(STRING, struct bu_applied, kargs, .need = BU_SPARSE),
	BU_FIELD_MANY(LIST, struct bu_applied, files, BU_WORK_FILES_MAX, file_fields),
	BU_FIELD_MANY(ARRAY, struct bu_applied, patterns, BU_WORK_WORDS_MAX,
		      word_field),
	BU_FIELD_END,
};

const struct bu_field bu_runs_file_fields[] = {
	BU_FIELD(STRING, struct bu_runs_file, path, .max = BU_RUNS_PATH_MAX),
	BU_FIELD(WORD, struct bu_runs_file, how, .words = bu_differs_names),
	BU_FIELD_END,
};

#define KARGS .need = BU_SPARSE, .max = BU_APPLIED_KARGS_MAX
const struct bu_field bu_runs_fields[] = {
	BU_FIELD(STRING, struct bu_runs, kernel, .max = 79),
	BU_FIELD(STRING, struct bu_runs, cmdline, .max = BU_APPLIED_KARGS_MAX),
	BU_FIELD(STRING, struct bu_runs, node, .need = BU_SPARSE, .max = 63),
	BU_FIELD(STRING, struct bu_runs, step, .need = BU_SPARSE, .max = 111),
	BU_FIELD(STRING, struct bu_runs, facets, .need = BU_SPARSE, .max = 64),
	BU_FIELD(STRING, struct bu_runs, kargs, KARGS),
	BU_FIELD(STRING, struct bu_runs, loader, KARGS),
	BU_FIELD(STRING, struct bu_runs, booted, KARGS),
	BU_FIELD_MANY(LIST, struct bu_runs, differs, BU_RUNS_DIFFERS_MAX,
		      bu_runs_file_fields, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_runs, more, .need = BU_SPARSE),
	BU_FIELD_END,
};

static char *
digest_of(const struct bu_work_file *file)
{
	size_t size = strlen(file->content ? file->content : file->content_hex) /
		      (file->content ? 1 : 2);
	bu_autofree char *bytes = bu_xmalloc(size + 1);
	char hex[BU_DIGEST_SIZE];

	if (file->content)
		memcpy(bytes, file->content, size);
	else
		bu_assert(bu_hex_decode(file->content_hex, bytes, size) == 0);
	bu_sha256_hex(bytes, size, hex);
	explicit_bzero(bytes, size);
	return bu_xstrdup(hex);
}

char *
bu_applied_text(const struct bu_applied *applied, const struct bu_work_file *files,
		size_t count)
{
	struct bu_applied whole = *applied;
	bu_autofree struct bu_applied_file *list = bu_xcalloc(count + 1, sizeof(*list));
	bu_autojson json_t *value = NULL;

	for (size_t i = 0; i < count; i++)
		list[i] = (struct bu_applied_file){files[i].path, files[i].mode,
						   digest_of(&files[i])};
	whole.files = list;
	whole.files_count = count;
	value = bu_record_to_json(bu_applied_fields, &whole);
	for (size_t i = 0; i < count; i++)
		free((char *)(uintptr_t)list[i].digest);
	return bu_json_canonical(value);
}

/* The next word of *at, plain; owned, NULL = there is no more. */
static char *
next_word(const char **at)
{
	char *word = bu_xmalloc(strlen(*at) + 1);
	size_t size = 0;

	*at += strspn(*at, " \t\r\n");
	for (; **at && !strchr(" \t\r\n", **at); (*at)++)
		if (!strchr("\"'\\", **at))
			word[size++] = **at;
	word[size] = '\0';
	if (size)
		return word;
	free(word);
	return NULL;
}

/* What each word passes; at: of what. */
typedef int (*keeps_fn)(const char *word, const char **at);

static char *
filter(const char *line, keeps_fn keeps, const char *among)
{
	const char *before = "";
	char *text = NULL, *word;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out); /* only for want of memory */
	while ((word = next_word(&line))) {
		if (keeps(word, &among)) {
			fprintf(out, "%s%s", before, word);
			before = " ";
		}
		free(word);
	}
	fclose(out);
	return text;
}

static int
any(const char *word, const char **at)
{
	(void)word;
	(void)at;
	return 1;
}

/* Further on in the line. What is not there leaves the place as it is. */
static int
stands(const char *word, const char **at)
{
	const char *rest = *at;
	char *other;
	int found = 0;

	while (!found && (other = next_word(&rest))) {
		found = strcmp(other, word) == 0;
		free(other);
	}
	if (found)
		*at = rest;
	return found;
}

static int
is_told(const char *word, const char **at)
{
	(void)at;
	return strncmp(word, "bringup.", 8) != 0;
}

char *
bu_kargs_plain(const char *line)
{
	return filter(line, any, NULL);
}

char *
bu_kargs_in(const char *kargs, const char *line)
{
	return filter(kargs, stands, line);
}

char *
bu_kargs_told(const char *line)
{
	return filter(line, is_told, NULL);
}
