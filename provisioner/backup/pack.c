/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs files into a sealed archive. Called by make.c. Invariant: what is said to be
 * packed was read back from the disk, opened, and is the archive that was written.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/seal.h"
#include "provisioner/backup/backup.h"

enum { BLOCK = 256 * 1024 };

/* archive -> seal -> file, with the digests of what goes in and what comes out. */
struct packing {
	struct archive *archive;
	struct bu_seal *seal;
	int fd;
	int64_t bytes;
	struct bu_sha256_state *inner, *outer;
	struct bu_err *err;
};

void
bu_pack_add(struct bu_pack *pack, const char *name, const char *path)
{
	pack->files = bu_xgrow(pack->files, &pack->cap, pack->count + 1,
			       sizeof(*pack->files));
	pack->files[pack->count++] =
		(struct bu_pack_file){bu_xstrdup(name), bu_xstrdup(path)};
}

void
bu_pack_fini(struct bu_pack *pack)
{
	for (size_t i = 0; i < pack->count; i++) {
		free(pack->files[i].name);
		free(pack->files[i].path);
	}
	free(pack->files);
	memset(pack, 0, sizeof(*pack));
}

static int
on_sealed(const void *data, size_t size, void *arg, struct bu_err *err)
{
	struct packing *packing = arg;

	bu_sha256_add(packing->outer, data, size);
	packing->bytes += (int64_t)size;
	return bu_write_all(packing->fd, data, size, err);
}

static la_ssize_t
on_packed(struct archive *archive, void *arg, const void *data, size_t size)
{
	struct packing *packing = arg;

	bu_sha256_add(packing->inner, data, size);
	if (bu_seal_add(packing->seal, data, size, packing->err) == 0)
		return (la_ssize_t)size;
	archive_set_error(archive, EIO, "%s",
			  packing->err ? packing->err->text : "cannot be written");
	return -1;
}

static int
archive_failed(struct packing *packing, const char *name, struct bu_err *err)
{
	const char *text = archive_error_string(packing->archive);

	return bu_err_set(err, BU_ERR_IO, 0, "pack %s: %.300s", name,
			  text ? text : "failed");
}

static int
copy_content(struct packing *packing, int fd, const char *name, struct bu_err *err)
{
	bu_autofree char *block = bu_xmalloc(BLOCK);
	ssize_t got;

	while ((got = read(fd, block, BLOCK)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return bu_err_set(err, BU_ERR_IO, errno, "read %s", name);
		if (archive_write_data(packing->archive, block, (size_t)got) != got)
			return archive_failed(packing, name, err);
	}
	return 0;
}

static int
pack_file(struct packing *packing, const struct bu_pack_file *file, struct bu_err *err)
{
	bu_autoclose int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct archive_entry *entry;
	struct stat st;
	int rc;

	if (fd < 0 || fstat(fd, &st) < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "open '%s'", file->path);
	entry = archive_entry_new();
	archive_entry_set_pathname(entry, file->name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, 0600);
	archive_entry_set_size(entry, st.st_size);
	archive_entry_set_mtime(entry, st.st_mtime, 0);
	rc = archive_write_header(packing->archive, entry);
	archive_entry_free(entry);
	return rc == ARCHIVE_OK ? copy_content(packing, fd, file->name, err)
				: archive_failed(packing, file->name, err);
}

static int
pack_all(struct packing *packing, const struct bu_pack *pack, struct bu_err *err)
{
	struct archive *archive = packing->archive;

	if (archive_write_add_filter_zstd(archive) != ARCHIVE_OK ||
	    archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
	    archive_write_set_bytes_in_last_block(archive, 1) != ARCHIVE_OK ||
	    archive_write_open(archive, packing, NULL, on_packed, NULL) != ARCHIVE_OK)
		return archive_failed(packing, "the archive", err);
	for (size_t i = 0; i < pack->count; i++)
		if (pack_file(packing, &pack->files[i], err) != 0)
			return -1;
	if (archive_write_close(archive) != ARCHIVE_OK)
		return archive_failed(packing, "the archive", err);
	return bu_seal_end(packing->seal, err);
}

static int
on_opened(const void *data, size_t size, void *arg, struct bu_err *err)
{
	bu_sha256_add(arg, data, size);
	return 0;
}

/* From the disk and not from memory, where the kernel does that. */
static int
feed_back(struct bu_seal *seal, int fd, struct bu_err *err)
{
	bu_autofree char *block = bu_xmalloc(BLOCK);
	off_t at = 0;
	ssize_t got;

	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	while ((got = pread(fd, block, BLOCK, at)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return bu_err_set(err, BU_ERR_IO, errno, "read it back");
		if (bu_seal_add(seal, block, (size_t)got, err) != 0)
			return -1;
		at += got;
	}
	return bu_seal_end(seal, err);
}

static int
read_back(const struct packing *packing, const char *inner, struct bu_err *err)
{
	struct bu_sha256_state *state = bu_sha256_begin();
	struct bu_seal *seal = bu_unseal_again(packing->seal, on_opened, state);
	int rc = feed_back(seal, packing->fd, err);
	char seen[BU_DIGEST_SIZE];

	bu_seal_destroy(seal);
	bu_sha256_final(state, seen);
	if (rc == 0 && strcmp(seen, inner) != 0)
		rc = bu_err_set(err, BU_ERR_VERIFY, 0,
				"it holds another archive than was written");
	return rc == 0 ? 0
		       : bu_err_wrap(err, "the backup that was written cannot be "
					  "opened; look at that disk");
}

int
bu_pack_write(const struct bu_pack *pack, const char *recipient, int fd,
	      struct bu_backup_made *ret, struct bu_err *err)
{
	struct packing packing = {.fd = fd,
				  .archive = archive_write_new(),
				  .inner = bu_sha256_begin(),
				  .outer = bu_sha256_begin(),
				  .err = err};
	char inner[BU_DIGEST_SIZE], outer[BU_DIGEST_SIZE];
	int rc;

	packing.seal = bu_seal_create(recipient, on_sealed, &packing, err);
	rc = packing.seal ? pack_all(&packing, pack, err) : -1;
	/* Freeing closes the archive, which may write once more. */
	if (rc != 0)
		archive_write_fail(packing.archive);
	archive_write_free(packing.archive);
	bu_sha256_final(packing.inner, inner);
	bu_sha256_final(packing.outer, outer);
	if (rc == 0 && fsync(fd) != 0)
		rc = bu_err_set(err, BU_ERR_IO, errno, "sync the backup");
	if (rc == 0)
		rc = read_back(&packing, inner, err);
	bu_seal_destroy(packing.seal);
	if (rc != 0)
		return -1;
	memcpy(ret->digest, outer, sizeof(outer));
	ret->bytes = packing.bytes;
	return 0;
}
