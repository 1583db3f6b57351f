/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a file that is a whole disk; import.c calls it. The file is anybody's. It is
 * copied first, and all that is looked at is the copy. Invariants: qemu-img sees a
 * qcow2 only after its header was read here and names no other file, and it runs with
 * bounds of memory, time and output.
 */
#include "images/build/import_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "base/worker.h"
#include "images/whole.h"

#define SIZE_MAX_BYTES (INT64_C(1) << 40) /* what a part may have */

enum {
	CHUNK = 1024 * 1024,
	CONVERT_MS = 4 * 3600 * 1000,
	QCOW2_HEAD = 64 * 1024,
	QCOW2_V2 = 72,
	QCOW2_V3 = 104,
};

/* --- a copy with its holes --- */

static int
copy_range(int from, int to, off_t at, off_t end, struct bu_err *err)
{
	bu_autofree char *buffer = bu_xmalloc(CHUNK);

	while (at < end) {
		size_t size = end - at < CHUNK ? (size_t)(end - at) : CHUNK;
		ssize_t got = pread(from, buffer, size, at);

		if (got <= 0)
			return bu_err_set(err, BU_ERR_IO, got < 0 ? errno : 0,
					  "it ends at byte %lld while it is read",
					  (long long)at);
		if (lseek(to, at, SEEK_SET) < 0 ||
		    bu_write_all(to, buffer, (size_t)got, err) != 0)
			return -1;
		at += got;
	}
	return 0;
}

static int
copy_data(int from, int to, off_t size, struct bu_err *err)
{
	off_t at = 0;

	if (ftruncate(to, size) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "a copy of it");
	while (at < size) {
		off_t data = lseek(from, at, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			break;
		hole = data < 0 ? size : lseek(from, data, SEEK_HOLE);
		data = data < 0 ? at : data;
		hole = hole < 0 || hole > size ? size : hole;
		if (copy_range(from, to, data, hole, err) != 0)
			return -1;
		at = hole;
	}
	return 0;
}

static int
copy(const char *from_path, const char *to_path, struct bu_err *err)
{
	/* Who names a pipe does not wait for its other end. */
	bu_autoclose int from = open(from_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bu_autoclose int to = -1;
	struct stat st;

	if (from < 0 || fstat(from, &st) != 0)
		return bu_err_set(err, errno == ENOENT ? BU_ERR_NOTFOUND : BU_ERR_IO,
				  errno, "%s", from_path);
	if (!S_ISREG(st.st_mode) || st.st_size > SIZE_MAX_BYTES)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: a plain file of at most 1 TiB is needed",
				  from_path);
	to = open(to_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (to < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", to_path);
	return copy_data(from, to, st.st_size, err) == 0
		       ? 0
		       : bu_err_wrap(err, "%s", from_path);
}

/* --- qcow2 --- */

static uint64_t
get_be(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static int
refuse(struct bu_err *err, const char *what)
{
	return bu_err_set(err, BU_ERR_VERIFY, 0, "qcow2: %s", what);
}

/* Extensions: type, length and so many bytes, each at a multiple of 8. */
static int
check_extensions(const uint8_t *head, size_t size, size_t at, struct bu_err *err)
{
	enum { END = 0, BACKING_FORMAT = 0xe2792aca, DATA_FILE = 0x44415441 };

	while (at + 8 <= size) {
		uint32_t type = (uint32_t)get_be(head + at, 4);
		uint64_t length = get_be(head + at + 4, 4);

		if (type == END)
			return 0;
		if (type == (uint32_t)BACKING_FORMAT || type == DATA_FILE)
			return refuse(err, "it names another file");
		at += 8 + (length + 7) / 8 * 8;
	}
	return refuse(err, "its header has no end");
}

/* docs/interop/qcow2 of QEMU. Only what a plain disk needs is let through. */
static int
check_qcow2(const uint8_t *head, size_t size, struct bu_err *err)
{
	enum { DIRTY = 1, COMPRESSION = 8, WIDE_ENTRIES = 16 };
	uint64_t features = 0, length = QCOW2_V2, version;

	if (size < QCOW2_V3 || memcmp(head, "QFI\xfb", 4) != 0)
		return refuse(err, "the file is none");
	version = get_be(head + 4, 4);
	if (version != 2 && version != 3)
		return refuse(err, "only versions 2 and 3 are read");
	if (get_be(head + 8, 8) != 0 || get_be(head + 16, 4) != 0)
		return refuse(err, "it has a backing file; make one that has not: "
				   "qemu-img convert -O qcow2 FILE NEW");
	if (get_be(head + 32, 4) != 0)
		return refuse(err, "it is encrypted");
	if (get_be(head + 24, 8) > (uint64_t)SIZE_MAX_BYTES)
		return refuse(err, "its disk is larger than 1 TiB");
	if (version == 3) {
		features = get_be(head + 72, 8);
		length = get_be(head + 100, 4);
	}
	if (features & 4)
		return refuse(err, "its data is in another file");
	if (features & ~(uint64_t)(DIRTY | COMPRESSION | WIDE_ENTRIES))
		return refuse(err, "it is damaged, or made by a newer QEMU");
	if (length < QCOW2_V2 || length > size)
		return refuse(err, "its header has no known size");
	return check_extensions(head, size, length, err);
}

static int
read_head(const char *path, uint8_t *head, size_t size, size_t *ret_size,
	  struct bu_err *err)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : pread(fd, head, size, 0);

	if (got < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", path);
	*ret_size = (size_t)got;
	return 0;
}

/* Names with a colon are protocols for qemu-img; ours has none. */
static int
convert(const char *qcow2, const char *raw, struct bu_err *err)
{
	const char *const argv[] = {"prlimit",     "--as=4294967296",
				    "--core=0",    "--fsize=1099511627776",
				    "--cpu=14400", "qemu-img",
				    "convert",     "-f",
				    "qcow2",       "-O",
				    "raw",         qcow2,
				    raw,           NULL};
	const struct bu_job_opts opts = {.argv = argv, .deadline_ms = CONVERT_MS};

	return bu_job_run(&opts, NULL, err);
}

static int
take_qcow2(const char *source, const char *work, const char *raw,
	   char ret_digest[BU_DIGEST_SIZE], struct bu_err *err)
{
	bu_autofree char *copied = bu_xasprintf("%s/source.qcow2", work);
	bu_autofree uint8_t *head = bu_xmalloc(QCOW2_HEAD);
	size_t size = 0;
	int rc = copy(source, copied, err);

	if (rc == 0)
		rc = read_head(copied, head, QCOW2_HEAD, &size, err);
	if (rc == 0)
		rc = check_qcow2(head, size, err);
	if (rc == 0)
		rc = convert(copied, raw, err);
	if (rc == 0)
		rc = bu_sha256_file(copied, ret_digest, err);
	unlink(copied);
	return rc == 0 ? 0 : bu_err_wrap(err, "%s", source);
}

/* --- what is in it --- */

static int
look(const char *raw, struct bu_whole_disk *ret, struct bu_err *err)
{
	bu_autofree uint8_t *front = bu_xcalloc(1, BU_WHOLE_FRONT_BYTES);
	struct bu_whole whole;
	struct stat st;
	size_t size;

	if (stat(raw, &st) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", raw);
	if (read_head(raw, front, BU_WHOLE_FRONT_BYTES, &size, err) != 0 ||
	    bu_whole_read(front, (uint64_t)st.st_size, &whole, err) != 0)
		return -1;
	ret->sector_bytes = whole.sector_bytes;
	ret->size_bytes = whole.size_bytes;
	bu_whole_fini(&whole);
	if (bu_sha256_file(raw, ret->digest, err) != 0)
		return -1;
	/* A part has whole blocks. */
	if (truncate(raw, (st.st_size + 4095) / 4096 * 4096) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", raw);
	return 0;
}

/* The type is that of data that no system mounts by itself; no table has it. */
static int
describe(const char *out, const struct bu_whole_disk *disk, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/image.json", out);
	bu_autofree char *boot = bu_xasprintf("%s/boot.img", out);
	bu_autojson json_t *spec = json_pack(
		"{s:s, s:s, s:s, s:s, s:o, s:[{s:s, s:s, s:s, s:s, s:i, s:b}]}", "arch",
		"amd64", "kernel", "", "kargs", "", "boot_code", "boot.img", "disk",
		bu_whole_disk_to_json(disk), "parts", "raw", "disk.raw", "name", "disk",
		"type", "0FC63DAF-8483-4772-8E79-3D69D8477DE4", "label", "disk",
		"attrs", 0, "grow", 0);
	bu_autofree char *text = bu_json_canonical(spec);

	if (bu_file_write(path, text, strlen(text), 0644, err) != 0)
		return -1;
	return bu_file_write(boot, "", 0, 0644, err);
}

int
bu_import_is_disk(const char *source)
{
	return strncmp(source, BU_IMPORT_RAW, strlen(BU_IMPORT_RAW)) == 0 ||
	       strncmp(source, BU_IMPORT_QCOW2, strlen(BU_IMPORT_QCOW2)) == 0;
}

int
bu_import_disk(void *arg, const char *work, struct bu_image_origin *ret,
	       struct bu_err *err)
{
	const char *source = arg, *path = strchr(source, ':') + 1;
	bu_autofree char *out = bu_xasprintf("%s/out", work);
	bu_autofree char *raw = bu_xasprintf("%s/disk.raw", out);
	struct bu_whole_disk disk = {0};
	int is_raw = *source == 'r';
	struct bu_image_source *made_of = bu_origin_add(
		ret, is_raw ? BU_SOURCE_RAW : BU_SOURCE_QCOW2, bu_path_name(path), err);

	if (chmod(work, 0700) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", work);
	if (!made_of || (is_raw ? copy(path, raw, err)
				: take_qcow2(path, work, raw, made_of->digest, err)))
		return -1;
	if (look(raw, &disk, err) != 0)
		return bu_err_wrap(err, "%s", path);
	if (is_raw)
		memcpy(made_of->digest, disk.digest, sizeof(disk.digest));
	fprintf(stderr,
		"image: a disk of %.1f MB with sectors of %u bytes; its partition "
		"table is good; not looked at: its kernel, packages, agent, cluster's "
		"client, and secrets in its file systems\n",
		disk.size_bytes / 1e6, disk.sector_bytes);
	return describe(out, &disk, err);
}
