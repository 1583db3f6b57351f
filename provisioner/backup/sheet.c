/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The site key on paper: the appliance's keys as plain lines, with their SHA-256 at the
 * end, so that one who types them in again finds a slip. Called by init.c. Invariant:
 * no key is written of a sheet that is not whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/secret.h"
#include "base/text.h"
#include "provisioner/backup/backup.h"

enum { SHEET_MAX = 1024 * 1024 };

static const char head[] = "bringup site key\n";
static const char begins[] = "==== ";
static const char ends[] = "==== SHA-256 ";

/* --- writing --- */

static int
add_key(char **text, const char *keys, const char *name, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", keys, name);
	size_t size;
	char *key = bu_file_read(path, SHEET_MAX, &size, err);

	if (!key)
		return -1;
	bu_text_add(text, "", "%s%s\n%s%s", begins, name, key,
		    size && key[size - 1] == '\n' ? "" : "\n");
	bu_secret_free(key, size);
	return 0;
}

static char *
beside(const char *file)
{
	return bu_xasprintf("%s.new", file);
}

static int
sync_folder_of(const char *file, struct bu_err *err)
{
	const char *name = strrchr(file, '/');
	int length = name ? (int)(name - file) + 1 : 0;
	bu_autofree char *folder = bu_xasprintf("%.*s.", length, file);

	return bu_place_sync(folder, err);
}

/* One that a killed run has left is written anew. */
static int
write_beside(const char *file, const char *text, struct bu_err *err)
{
	bu_autofree char *path = beside(file);
	bu_autoclose int fd = -1;

	if (unlink(path) != 0 && errno != ENOENT)
		return bu_err_set(err, BU_ERR_IO, errno, "remove '%s'", path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "write '%s'", path);
	if (bu_write_all(fd, text, strlen(text), err) != 0)
		return bu_err_wrap(err, "'%s'", path);
	if (fsync(fd) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "write '%s'", path);
	return sync_folder_of(file, err);
}

int
bu_sheet_put(const char *file, struct bu_err *err)
{
	bu_autofree char *path = beside(file);

	if (rename(path, file) != 0)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "the state directory is made, and its site key is in "
				  "'%s', which cannot be renamed to '%s'",
				  path, file);
	return sync_folder_of(file, err);
}

void
bu_sheet_drop(const char *file)
{
	bu_autofree char *path = beside(file);

	bu_ignore(unlink(path));
}

int
bu_sheet_write(const char *keys, const char *file, int64_t now_ms, struct bu_err *err)
{
	char digest[BU_DIGEST_SIZE], at[24];
	char *text = NULL;
	int rc = 0;

	if (access(file, F_OK) == 0)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "'%s' is there already; name a new file", file);
	bu_time_iso(now_ms, at);
	bu_text_add(&text, "",
		    "%smade %s. The holder of this paper can be the appliance.\n"
		    "bringup init --site-key FILE reads it, typed in again.\n",
		    head, at);
	for (size_t i = 0; rc == 0 && bu_place_keys[i]; i++)
		rc = add_key(&text, keys, bu_place_keys[i], err);
	bu_sha256_hex(text, strlen(text), digest);
	bu_text_add(&text, "", "%s%s\n", ends, digest);
	if (rc == 0)
		rc = write_beside(file, text, err);
	bu_secret_free(text, strlen(text));
	return rc;
}

/* --- reading --- */

static int
is_key(const char *name, size_t length)
{
	for (size_t i = 0; bu_place_keys[i]; i++)
		if (strlen(bu_place_keys[i]) == length &&
		    strncmp(bu_place_keys[i], name, length) == 0)
			return 1;
	return 0;
}

/* The line of the digest; NULL: the text has none, or another one. */
static const char *
end_of(const char *text)
{
	const char *end = strstr(text, ends);
	char digest[BU_DIGEST_SIZE];

	if (!end)
		return NULL;
	bu_sha256_hex(text, (size_t)(end - text), digest);
	return strncmp(end + strlen(ends), digest, strlen(digest)) == 0 ? end : NULL;
}

/* From one line with a name to the next. */
static int
write_keys(const char *text, const char *end, const char *keys, struct bu_err *err)
{
	const char *at = strstr(text, begins);

	while (at && at < end) {
		const char *name = at + strlen(begins);
		size_t length = strcspn(name, "\n");
		const char *key = name + length + 1;
		const char *next = strstr(key, begins);
		bu_autofree char *path =
			bu_xasprintf("%s/%.*s", keys, (int)length, name);
		size_t size = (size_t)(next - key);

		/* The secret is a line of its own here, and has none in its file. */
		if (size && strncmp(name, "token.secret", length) == 0)
			size--;
		if (!is_key(name, length))
			return bu_err_set(err, BU_ERR_VERIFY, 0,
					  "a site key has no '%.*s'", (int)length,
					  name);
		if (bu_file_write(path, key, size, 0600, err) != 0)
			return -1;
		at = next;
	}
	return 0;
}

/* A backup is larger than any sheet, and is not read for this. */
static int
check_head(const char *file, struct bu_err *err)
{
	char found[sizeof(head)] = "";
	FILE *in = fopen(file, "re");
	size_t size = in ? fread(found, 1, sizeof(head) - 1, in) : 0;

	if (!in)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", file);
	fclose(in);
	return size == sizeof(head) - 1 && strcmp(found, head) == 0
		       ? 0
		       : bu_err_set(err, BU_ERR_NOTFOUND, 0, "'%s' is not a site key",
				    file);
}

int
bu_sheet_read(const char *file, const char *keys, struct bu_err *err)
{
	size_t size;
	char *text = check_head(file, err) == 0
			     ? bu_file_read(file, SHEET_MAX, &size, err)
			     : NULL;
	const char *end = text ? end_of(text) : NULL;
	int rc = -1;

	if (!text)
		return -1;
	if (!end)
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "'%s': its SHA-256 is not that of its lines: a character is "
			   "another one, or a line is missing",
			   file);
	else if (bu_mkdir_p(keys, 0700, err) == 0)
		rc = write_keys(text, end, keys, err);
	bu_secret_free(text, size);
	return rc;
}
