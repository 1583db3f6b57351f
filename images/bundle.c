/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the list of an agent's bundle; for the appliance, which serves it, and the
 * agent, which puts it into a slot. Invariant: a struct bu_bundle that leaves this file
 * has passed every check, so that its paths can be written below a folder as they are.
 */
#include "images/bundle.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/record.h"
#include "base/text.h"

static int
is_digest(const char *text)
{
	uint8_t hash[BU_SHA256_SIZE];

	return bu_hex_decode(text, hash, sizeof(hash)) == 0;
}

/* Of a file: none ends with '/'. */
static int
is_inside(const char *text)
{
	return bu_path_is_relative(text) && text[strlen(text) - 1] != '/';
}

static int
is_version(const char *text)
{
	return *text && !strpbrk(text, " \t") && bu_text_is_ascii(text);
}

static const struct bu_form digest_form = {is_digest, "64 hexadecimal digits"};
static const struct bu_form path_form = {is_inside, "the path of a file below a slot"};
static const struct bu_form version_form = {is_version, "a version"};
static const char *const kind[] = {"agent", NULL};

static const struct bu_field file_fields[] = {
	BU_FIELD(TEXT, struct bu_bundle_file, path, .form = &path_form),
	BU_FIELD(INT, struct bu_bundle_file, mode, .min = 0, .max = 0755),
	BU_FIELD(INT, struct bu_bundle_file, size_bytes, .min = 0,
		 .max = BU_BUNDLE_FILE_MAX),
	BU_FIELD(TEXT, struct bu_bundle_file, sha256, .form = &digest_form),
	BU_FIELD_END,
};
static const struct bu_field bundle_fields[] = {
	BU_FIELD_V(1, 1),
	{.key = "kind", .kind = BU_FIELD_IS, .words = kind},
	BU_FIELD(TEXT, struct bu_bundle, version, .form = &version_form),
	BU_FIELD_MANY(LIST, struct bu_bundle, files, BU_BUNDLE_FILES_MAX, file_fields),
	BU_FIELD_END,
};

const struct bu_bundle_file *
bu_bundle_find(const struct bu_bundle *bundle, const char *path)
{
	for (size_t i = 0; i < bundle->files_count; i++)
		if (strcmp(bundle->files[i].path, path) == 0)
			return &bundle->files[i];
	return NULL;
}

static int
check(const struct bu_bundle *bundle, struct bu_err *err)
{
	static const char *const needed[] = {"agent", "bringup-agent",
					     "ld-linux-x86-64.so.2"};

	for (size_t i = 0; i < bundle->files_count; i++) {
		const struct bu_bundle_file *file = &bundle->files[i];

		if (bu_bundle_find(bundle, file->path) != file)
			return bu_err_set(err, BU_ERR_INVAL, 0, "'%s' is there twice",
					  file->path);
		if (file->mode != 0644 && file->mode != 0755)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "'%s' has mode %04o; 0644 and 0755 are "
					  "allowed",
					  file->path, (unsigned int)file->mode);
	}
	for (size_t i = 0; i < BU_LEN(needed); i++) {
		const struct bu_bundle_file *file = bu_bundle_find(bundle, needed[i]);

		if (!file || file->mode != 0755)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "it holds no program '%s'", needed[i]);
	}
	return 0;
}

int
bu_bundle_parse(const char *text, size_t size, struct bu_bundle *ret,
		struct bu_err *err)
{
	bu_autojson json_t *value = bu_json_parse(text, size, "agent's bundle", err);

	memset(ret, 0, sizeof(*ret));
	if (!value || bu_record_from_json(bundle_fields, value, ret, err) != 0)
		return bu_err_wrap(err, "agent's bundle");
	bu_sha256_hex(text, size, ret->digest);
	if (check(ret, err) == 0)
		return 0;
	bu_bundle_fini(ret);
	return bu_err_wrap(err, "agent's bundle");
}

int
bu_bundle_load(const char *dir, struct bu_bundle *ret, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/bundle.json", dir);
	size_t size = 0;
	bu_autofree char *text = bu_file_read(path, BU_BUNDLE_LIST_MAX, &size, err);

	memset(ret, 0, sizeof(*ret));
	return text ? bu_bundle_parse(text, size, ret, err) : -1;
}

void
bu_bundle_fini(struct bu_bundle *bundle)
{
	bu_record_fini(bundle_fields, bundle);
}
