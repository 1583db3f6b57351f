/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a backup. Called by restore.c. Whoever knows the recipient can seal a file to
 * it, so the archive is a stranger's. Invariant: nothing is written before the whole
 * stream was opened, and only files by the names of the table, each once, into one
 * folder.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/seal.h"
#include "provisioner/backup/backup.h"

enum { BLOCK = 256 * 1024, KEY_MAX = 1024 * 1024 };

/* What a backup may have; most 0 = any size. */
static const struct {
	const char *name;
	int64_t most;
} allowed[] = {
	{"anchor.json", 64 * 1024 * 1024},
	{"bringupd.conf", KEY_MAX},
	{"journal.db", 0},
};

struct opening {
	int fd;
	struct bu_seal *seal;
	int at_end;
	char block[BLOCK];
	char *text; /* opened and not read yet */
	size_t used, cap;
	struct bu_err *err;
};

static int
keep(const void *data, size_t size, void *arg, struct bu_err *err)
{
	struct opening *opening = arg;

	opening->text = bu_xgrow(opening->text, &opening->cap, opening->used + size, 1);
	memcpy(opening->text + opening->used, data, size);
	opening->used += size;
	return 0;
}

static int
pass_over(const void *data, size_t size, void *arg, struct bu_err *err)
{
	return 0;
}

/* The next bytes of the file go through the seal. */
static int
advance(struct opening *opening, struct bu_err *err)
{
	ssize_t got = read(opening->fd, opening->block, BLOCK);

	if (got < 0)
		return errno == EINTR
			       ? 0
			       : bu_err_set(err, BU_ERR_IO, errno, "read the backup");
	if (got > 0)
		return bu_seal_add(opening->seal, opening->block, (size_t)got, err);
	opening->at_end = 1;
	return bu_seal_end(opening->seal, err);
}

static int
open_seal(struct opening *opening, const char *identity, bu_seal_fn fn,
	  struct bu_err *err)
{
	opening->at_end = 0;
	if (lseek(opening->fd, 0, SEEK_SET) != 0)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "read the backup twice; copy it to a file");
	opening->seal = bu_unseal_create(identity, fn, opening, err);
	return opening->seal ? 0 : -1;
}

static int
open_all(struct opening *opening, const char *identity, struct bu_err *err)
{
	int rc = open_seal(opening, identity, pass_over, err);

	while (rc == 0 && !opening->at_end)
		rc = advance(opening, err);
	bu_seal_destroy(bu_steal(&opening->seal));
	return rc;
}

static la_ssize_t
on_read(struct archive *archive, void *arg, const void **ret)
{
	struct opening *opening = arg;

	opening->used = 0;
	while (!opening->used && !opening->at_end)
		if (advance(opening, opening->err) != 0) {
			archive_set_error(archive, EIO, "the seal is broken");
			return -1;
		}
	*ret = opening->text;
	return (la_ssize_t)opening->used;
}

static int
archive_failed(struct archive *archive, struct bu_err *err)
{
	const char *text = archive_error_string(archive);

	return bu_err_set(err, BU_ERR_VERIFY, 0, "the archive is damaged: %.200s",
			  text ? text : "cut");
}

static int
is_key(const char *name)
{
	return strncmp(name, "keys/", 5) == 0 && bu_path_is_name(name + 5);
}

static int
check_entry(struct archive_entry *entry, struct bu_err *err)
{
	const char *name = archive_entry_pathname(entry);
	int64_t most = -1;

	for (size_t i = 0; name && i < BU_LEN(allowed); i++)
		if (strcmp(name, allowed[i].name) == 0)
			most = allowed[i].most;
	if (name && is_key(name))
		most = KEY_MAX;
	if (most < 0 || archive_entry_filetype(entry) != AE_IFREG ||
	    archive_entry_hardlink(entry) || archive_entry_symlink(entry))
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "'%.100s' is in it, which is not a part of a backup",
				  name ? name : "a nameless file");
	if (most && archive_entry_size(entry) > most)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "%s in it is too large for a backup", name);
	return 0;
}

static int
write_content(struct archive *archive, int fd, struct bu_err *err)
{
	la_int64_t offset;
	const void *data;
	size_t size;
	int rc;

	while ((rc = archive_read_data_block(archive, &data, &size, &offset)) ==
	       ARCHIVE_OK)
		if (lseek(fd, offset, SEEK_SET) < 0 ||
		    bu_write_all(fd, data, size, err) != 0)
			return bu_err_set(err, BU_ERR_IO, errno, "write");
	if (rc != ARCHIVE_EOF)
		return archive_failed(archive, err);
	return fsync(fd) == 0 ? 0 : bu_err_set(err, BU_ERR_IO, errno, "sync");
}

static int
write_entry(struct archive *archive, struct archive_entry *entry, const char *dir,
	    struct bu_err *err)
{
	const char *name = archive_entry_pathname(entry);
	bu_autofree char *keys = bu_xasprintf("%s/keys", dir);
	bu_autofree char *path = NULL;
	bu_autoclose int fd = -1;

	if (check_entry(entry, err) != 0 ||
	    (is_key(name) && bu_mkdir_p(keys, 0700, err) != 0))
		return -1;
	path = bu_xasprintf("%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0 && errno == EEXIST)
		return bu_err_set(err, BU_ERR_VERIFY, 0, "%s is in it twice", name);
	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "write '%s'", path);
	return write_content(archive, fd, err) == 0 ? 0 : bu_err_wrap(err, "%s", path);
}

static int
write_all(struct opening *opening, const char *dir, struct bu_err *err)
{
	struct archive *archive = archive_read_new();
	struct archive_entry *entry;
	int rc = 0, next;

	archive_read_support_filter_zstd(archive);
	archive_read_support_format_tar(archive);
	if (archive_read_open(archive, opening, NULL, on_read, NULL) != ARCHIVE_OK)
		rc = archive_failed(archive, err);
	while (rc == 0 &&
	       (next = archive_read_next_header(archive, &entry)) != ARCHIVE_EOF)
		rc = next == ARCHIVE_OK ? write_entry(archive, entry, dir, err)
					: archive_failed(archive, err);
	archive_read_free(archive);
	return rc;
}

int
bu_unpack(int fd, const char *identity, const char *dir, struct bu_err *err)
{
	struct opening *opening = bu_xcalloc(1, sizeof(*opening));
	int rc;

	opening->fd = fd;
	rc = open_all(opening, identity, err);
	if (rc == 0)
		rc = open_seal(opening, identity, keep, err);
	if (rc == 0)
		rc = write_all(opening, dir, err);
	bu_seal_destroy(opening->seal);
	free(opening->text);
	free(opening);
	return rc;
}
