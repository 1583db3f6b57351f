/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public keys that lie in files of the tree. Called by load_objects.c for each value
 * that names one, and by load_checks.c for the files that nobody names. Invariant: what
 * comes out is a list of whole keys with a line each, or there is a finding for each
 * line that is none.
 */
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "model/sshkey.h"
#include "profiles/load/load_internal.h"

#define FILE_PREFIX "file:"
#define PRIVATE                                                                        \
	"is a private key; put the .pub file in its place, and make a new key: "       \
	"everyone with read access to the tree has this one"

/* Of one list: more people log in by certificates. LINE_MAX_BYTES: of a file. */
enum { KEYS_MAX = 100, LINE_MAX_BYTES = 4096 };

struct reader {
	struct bu_loader *ld;
	const struct bu_ini_section *section;
	const char *key;     /* of the section */
	struct bu_origin at; /* of the value, or of what is read of a file */
	struct bu_sshkey *room;
	char *list; /* owned; a line for each key */
	size_t count;
};

static const char *
path_of(const char *item)
{
	size_t size = sizeof(FILE_PREFIX) - 1;

	return strncmp(item, FILE_PREFIX, size) == 0 ? item + size : NULL;
}

static void wrong(struct reader *rd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void
wrong(struct reader *rd, const char *fmt, ...)
{
	bu_autofree char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	bu_findings_add(rd->ld->findings, BU_FINDING_ERROR, rd->at.file, rd->at.line,
			"[%s%s%s] %s: %s", rd->section->kind,
			rd->section->name[0] ? " " : "", rd->section->name, rd->key,
			text);
}

static void
add_key(struct reader *rd, const char *text)
{
	struct bu_err err;

	if (bu_sshkey_parse(text, rd->room, &err) < 0) {
		wrong(rd, "%s", err.text);
		return;
	}
	if (++rd->count == KEYS_MAX + 1)
		wrong(rd,
		      "is one key too many; a list has at most %d, more log in by "
		      "certificates of [access] user_ca",
		      KEYS_MAX);
	bu_text_add(&rd->list, "", "%s\n", text);
}

/* One key; a second one behind a comma would be a comment to sshd. */
static void
read_key_line(struct reader *rd, const char *text)
{
	const char *rest = text;
	bu_autofree char *key = bu_sshkey_next(&rest);

	for (const char *p = text; *p; p++)
		if ((unsigned char)*p < ' ' && *p != '\t') {
			wrong(rd, "holds a control character; a file of keys is plain "
				  "text");
			return;
		}
	if (rest)
		wrong(rd, "has a comma and another key behind a key; a file of keys "
			  "has a key a line");
	else
		add_key(rd, key);
}

static void
read_line(struct reader *rd, const char *start, size_t size)
{
	bu_autofree char *line = NULL;

	while (size && strchr(" \t\r", start[size - 1]))
		size--;
	while (size && strchr(" \t", *start)) {
		start++;
		size--;
	}
	if (size == 0 || *start == '#')
		return;
	line = bu_xstrndup(start, size);
	if (size > LINE_MAX_BYTES)
		wrong(rd, "the line is longer than %d bytes; shorten its comment",
		      LINE_MAX_BYTES);
	else
		read_key_line(rd, line);
}

/* The file as the tree has it, NULL with a finding. */
static const struct bu_tree_file *
find_file(struct reader *rd, const char *path)
{
	const struct bu_tree *tree = rd->ld->tree;
	const struct bu_tree_file *file =
		bu_tree_is_keys(path) ? bu_tree_find(tree, path) : NULL;
	const char **names;

	if (file)
		return file;
	if (!bu_tree_is_keys(path)) {
		wrong(rd,
		      "'" FILE_PREFIX
		      "%.80s' is wrong; allowed is " FILE_PREFIX BU_TREE_KEYS
		      "NAME, a file in the folder " BU_TREE_KEYS
		      " of the profile tree, its name not *.ini or *.csv",
		      path);
		return NULL;
	}
	names = bu_xcalloc(tree->count, sizeof(*names));
	for (size_t i = 0; i < tree->count; i++)
		if (bu_tree_is_keys(tree->files[i].path))
			names[i] = tree->files[i].path;

	bu_autofree char *hint = bu_did_you_mean(path, names, tree->count);

	wrong(rd, "there is no file %.80s in the profile tree%s", path, hint);
	free(names);
	return NULL;
}

static void
read_lines(struct reader *rd, const struct bu_tree_file *file)
{
	const char *p = file->text, *end = p + file->size;

	if (strncmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	for (; p < end; rd->at.line++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		if (!stop)
			stop = end;
		read_line(rd, p, (size_t)(stop - p));
		p = stop < end ? stop + 1 : end;
	}
	rd->at.line = 1;
}

/* A file of another form has one finding, not one a line. */
static void
read_file(struct reader *rd, const char *path)
{
	const struct bu_tree_file *file = find_file(rd, path);
	size_t errors = rd->ld->findings->errors, count = rd->count;
	struct bu_origin value = rd->at;

	if (!file)
		return;
	rd->at = (struct bu_origin){file->path, 1};
	if (bu_sshkey_is_private(file->text))
		wrong(rd, PRIVATE);
	else if (bu_sshkey_is_foreign(file->text))
		wrong(rd, "is not in the form of OpenSSH; take what `ssh-keygen -i -f "
			  "FILE` prints");
	else
		read_lines(rd, file);
	if (rd->count == count && rd->ld->findings->errors == errors)
		wrong(rd, "holds no key; put in a key a line, as .pub files have them");
	rd->at = value;
}

int
bu_load_names_keys(const char *value)
{
	char *item;

	while ((item = bu_sshkey_next(&value))) {
		int found = path_of(item) != NULL;

		free(item);
		if (found)
			return 1;
	}
	return 0;
}

void
bu_load_sshkeys(struct bu_loader *ld, const struct bu_ini_section *section,
		const struct bu_ini_entry *entry, char **ret)
{
	struct reader rd = {.ld = ld,
			    .section = section,
			    .key = entry->key,
			    .at = {entry->file, entry->line}};
	const char *value = entry->value;
	char *item;

	rd.room = bu_xcalloc(1, sizeof(*rd.room));
	while ((item = bu_sshkey_next(&value))) {
		const char *path = path_of(item);

		if (path)
			read_file(&rd, path);
		else
			add_key(&rd, item);
		free(item);
	}
	free(rd.room);
	free(*ret);
	*ret = rd.list;
}

static int
list_names(const char *value, const char *path)
{
	int found = 0;
	char *item;

	while (!found && (item = bu_sshkey_next(&value))) {
		const char *named = path_of(item);

		found = named && strcmp(named, path) == 0;
		free(item);
	}
	return found;
}

static int
is_named(const struct bu_ini *ini, const char *path)
{
	for (size_t i = 0; i < ini->count; i++) {
		const struct bu_ini_section *section = &ini->sections[i];

		for (size_t j = 0; j < section->count; j++) {
			const struct bu_ini_entry *entry = &section->entries[j];
			const struct bu_key *key =
				strstr(entry->value, path)
					? bu_schema_key(section->kind, entry->key)
					: NULL;

			if (key && key->type == BU_KEY_SSHKEYS &&
			    list_names(entry->value, path))
				return 1;
		}
	}
	return 0;
}

void
bu_load_check_sshkeys(struct bu_loader *ld)
{
	for (size_t i = 0; i < ld->tree->count; i++) {
		const struct bu_tree_file *file = &ld->tree->files[i];

		if (!bu_tree_is_keys(file->path) || is_named(&ld->ini, file->path))
			continue;
		if (bu_sshkey_is_private(file->text))
			bu_findings_add(ld->findings, BU_FINDING_ERROR, file->path, 1,
					PRIVATE);
		else
			bu_findings_add(ld->findings, BU_FINDING_WARNING, file->path, 0,
					"is not read; no [user] keys and no CA of "
					"[access] names it");
	}
}
