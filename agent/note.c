/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The journal of a change as a record; change.c writes and reads it, apply.c fills in
 * what no file says. Invariant: a file is only removed where the journal says in so
 * many words that nothing was there.
 */
#include "agent/note.h"

#include <string.h>

#include "base/path.h"

enum { LIST_MAX = 65536 };

static const char *const was_names[] = {"nothing", "file", "link", NULL};
static const struct bu_form path_form = {bu_path_is_file, "a clean absolute path"};

static int
is_device(const char *text)
{
	return strlen(text) < 16 && bu_path_is_name(text);
}

static const struct bu_form device_form = {is_device, "the name of a network device"};

/* What the kernel takes for one: a link that is not ours may be called anything. */
static int
is_link(const char *text)
{
	return *text && strlen(text) < 16 && !strchr(text, '/') &&
	       strcmp(text, ".") != 0 && strcmp(text, "..") != 0;
}

static const struct bu_form link_form = {is_link, "the name of a link"};

static const struct bu_field word_field[] = {
	BU_FIELD_ONE(STRING, sizeof(char *)),
};

static const struct bu_field device_field[] = {
	BU_FIELD_ONE(STRING, sizeof(char *), .form = &device_form),
};

static const struct bu_field file_fields[] = {
	BU_FIELD(STRING, struct bu_note_file, path, .form = &path_form),
	BU_FIELD(WORD, struct bu_note_file, was, .words = was_names),
	BU_FIELD(STRING, struct bu_note_file, link, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_note_file, old, .max = LIST_MAX, .otherwise = -1,
		 .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_note_file, mode, .max = 07777, .otherwise = -1,
		 .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_note_file, uid, .max = UINT32_MAX - 1LL,
		 .otherwise = -1, .need = BU_SPARSE),
	BU_FIELD(INT, struct bu_note_file, gid, .max = UINT32_MAX - 1LL,
		 .otherwise = -1, .need = BU_SPARSE),
	BU_FIELD_END,
};

static const struct bu_field value_fields[] = {
	BU_FIELD(STRING, struct bu_note_value, path, .form = &path_form),
	BU_FIELD(STRING, struct bu_note_value, value),
	BU_FIELD_END,
};

static const struct bu_field mtu_fields[] = {
	BU_FIELD(STRING, struct bu_note_mtu, name, .form = &link_form),
	BU_FIELD(INT, struct bu_note_mtu, mtu),
	BU_FIELD_END,
};

static const struct bu_field note_fields[] = {
	BU_FIELD_V(1, 1),
	BU_FIELD(STRING, struct bu_note, id),
	BU_FIELD(INT, struct bu_note, attempt),
	BU_FIELD(STRING, struct bu_note, boot_id),
	BU_FIELD(FLAG, struct bu_note, live),
	BU_FIELD(INT, struct bu_note, confirm_ms),
	BU_FIELD(STRING, struct bu_note, kargs, .need = BU_SPARSE),
	BU_FIELD_MANY(ARRAY, struct bu_note, groups, LIST_MAX, word_field),
	BU_FIELD_MANY(ARRAY, struct bu_note, drops, LIST_MAX, device_field),
	BU_FIELD_MANY(LIST, struct bu_note, files, LIST_MAX, file_fields),
	BU_FIELD_MANY(LIST, struct bu_note, values, LIST_MAX, value_fields),
	BU_FIELD_MANY(LIST, struct bu_note, mtus, LIST_MAX, mtu_fields),
	BU_FIELD_END,
};

json_t *
bu_note_to_json(const struct bu_note *note)
{
	return bu_record_to_json(note_fields, note);
}

static int
check_file(const struct bu_note_file *file, size_t i, struct bu_err *err)
{
	int has_owner = file->mode >= 0 && file->uid >= 0 && file->gid >= 0;
	int has_none = file->mode < 0 && file->uid < 0 && file->gid < 0;

	if ((file->was == BU_WAS_LINK) != (file->link != NULL) ||
	    (file->was == BU_WAS_FILE) != (file->old >= 0) ||
	    (file->was == BU_WAS_FILE ? !has_owner : !has_none))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "files[%zu]: '%s' was a %s, with the fields of "
				  "something else",
				  i, file->path, was_names[file->was]);
	return 0;
}

int
bu_note_from_json(const json_t *value, struct bu_note *ret, struct bu_err *err)
{
	if (bu_record_from_json(note_fields, value, ret, err) != 0)
		return -1;
	for (size_t i = 0; i < ret->files_count; i++)
		if (check_file(&ret->files[i], i, err) != 0) {
			bu_note_fini(ret);
			return -1;
		}
	return 0;
}

void
bu_note_fini(struct bu_note *note)
{
	bu_record_fini(note_fields, note);
}

int
bu_note_has_word(const char *const *list, size_t count, const char *word)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], word) == 0)
			return 1;
	return 0;
}

void
bu_note_add_word(const char ***list, size_t *count, const char *word)
{
	if (bu_note_has_word(*list, *count, word))
		return;
	*list = bu_xrealloc(*list, (*count + 1) * sizeof(**list));
	(*list)[(*count)++] = word;
}
