/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what a crashed kernel left; session.c tells it with the first hello. A crash is
 * several records, as large as a UEFI variable each: the last part of its log is
 * "Part1". systemd-pstore puts them together in a dmesg.txt, in a folder of their own.
 * Invariants: only the records of one crash are put together; what is told is short and
 * printable, whatever is in them.
 */
#include "agent/crash.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "model/hello.h"

enum {
	DEPTH = 3, /* of folders, as systemd-pstore makes them */
	RECORDS_MAX = 64,
	RECORD_BYTES = 1 << 20,
	SAME_S = 60, /* between the first and the last record of a crash */
};

struct record {
	char *text;
	char kind[BU_CRASH_KIND_SIZE]; /* "Panic", "Oops"; "" = it does not say */
	int count, part;
};

/* What a folder has: the records of its newest crash. */
struct crash {
	time_t at;
	int whole; /* they are in one text already */
	struct record records[RECORDS_MAX];
	size_t records_count;
};

static void
crash_fini(struct crash *crash)
{
	for (size_t i = 0; i < crash->records_count; i++)
		free(crash->records[i].text);
	*crash = (struct crash){0};
}

/* "Panic#2 Part1" is the first line of a record. 1 = it is one. */
static int
read_header(const char *line, struct record *ret)
{
	char kind[BU_CRASH_KIND_SIZE];
	int count, part, end = 0;

	if (sscanf(line, "%15[A-Za-z ]#%d Part%d%n", kind, &count, &part, &end) != 3 ||
	    !strchr("\r\n", line[end])) /* that, or its end */
		return 0;
	bu_text_copy(ret->kind, sizeof(ret->kind), kind);
	ret->count = count;
	ret->part = part;
	return 1;
}

/* A text that is whole takes the place of the parts, if there is something in it. */
static void
add_record(struct crash *crash, const char *path, time_t at, int whole)
{
	bu_autofree char *text = bu_file_read(path, RECORD_BYTES, NULL, NULL);
	struct record record = {0};
	size_t header = 0;

	if (text && read_header(text, &record))
		header = strcspn(text, "\n");
	if (!text || !text[header + strspn(text + header, "\r\n")])
		return;
	if (whole || (crash->records_count && at > crash->at + SAME_S))
		crash_fini(crash);
	if (crash->records_count == RECORDS_MAX)
		return;
	crash->whole = whole;
	record.text = bu_steal(&text);
	crash->records[crash->records_count++] = record;
	if (at > crash->at)
		crash->at = at;
}

static void
take_file(struct crash *crash, const char *path, const char *name)
{
	int whole = strcmp(name, "dmesg.txt") == 0;
	struct stat st;

	/* A kernel that cannot unpack a record names it so. */
	if (strncmp(name, "dmesg", 5) != 0 || strstr(name, ".enc.") || crash->whole ||
	    stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (!whole && st.st_mtime < crash->at - SAME_S))
		return;
	add_record(crash, path, st.st_mtime, whole);
}

/* The newest of this folder and of those in it. */
static void
look_into(const char *folder, int depth, struct crash *newest)
{
	struct crash own = {0};
	struct dirent **names;
	int count = depth > 0 ? scandir(folder, &names, NULL, alphasort) : 0;

	for (int i = 0; i < count; i++) {
		bu_autofree char *path =
			bu_xasprintf("%s/%s", folder, names[i]->d_name);

		if (names[i]->d_name[0] != '.') {
			take_file(&own, path, names[i]->d_name);
			look_into(path, depth - 1, newest);
		}
		free(names[i]);
	}
	if (count > 0)
		free(names);
	if (own.records_count && (!newest->records_count || own.at > newest->at)) {
		crash_fini(newest);
		*newest = own;
	} else {
		crash_fini(&own);
	}
}

/* --- as text --- */

/* The log of a panic begins with that of the oops before it. Its last part is the first
 * one. */
static int
by_part(const void *a, const void *b)
{
	const struct record *first = a, *second = b;

	if (first->count != second->count)
		return first->count < second->count ? -1 : 1;
	return second->part - first->part;
}

/* Without "<6>", the level. */
static const char *
without_level(const char *line)
{
	const char *end = *line == '<' ? strchr(line, '>') : NULL;

	return end && end - line <= 4 ? end + 1 : line;
}

static void
add_lines(json_t *lines, struct record *record)
{
	struct bu_terminal_text state = {0};
	char *text = NULL, *rest, *line;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_terminal_plain(&state, record->text, strlen(record->text), out);
	fclose(out);
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		bu_autofree char *told =
			bu_xasprintf("%.*s", BU_CRASH_LINE, without_level(line));

		if (!read_header(line, record))
			json_array_append_new(lines, json_string(told));
	}
	while (json_array_size(lines) > BU_CRASH_LINES)
		json_array_remove(lines, 0);
	free(text);
}

static json_t *
said_of(struct crash *crash)
{
	bu_autojson json_t *lines = json_array();
	const struct record *last;
	int count;

	qsort(crash->records, crash->records_count, sizeof(crash->records[0]), by_part);
	last = &crash->records[crash->records_count - 1];
	count = last->count;
	for (size_t i = 0; i < crash->records_count; i++)
		if (crash->records[i].count == count)
			add_lines(lines, &crash->records[i]);
	if (json_array_size(lines) == 0)
		return NULL;
	return bu_record_to_json(bu_crash_said_fields,
				 &(struct bu_crash_said){
					 .kind = last->kind,
					 .at_ms = (int64_t)crash->at * 1000,
					 .lines = lines,
				 });
}

json_t *
bu_crash_read(const char *root)
{
	static const char *const places[] = {"sys/fs/pstore", "var/lib/systemd/pstore"};
	struct crash crash = {0};
	json_t *said = NULL;

	for (size_t i = 0; i < BU_LEN(places); i++) {
		bu_autofree char *folder = bu_xasprintf("%s/%s", root, places[i]);

		look_into(folder, DEPTH, &crash);
	}
	if (crash.records_count)
		said = said_of(&crash);
	crash_fini(&crash);
	return said;
}
