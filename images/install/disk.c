/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the disk, decides whether it may be written, keeps the mark; used by install.c
 * and part_writer.c. Invariant: nothing here writes before bu_mark_write() has
 * succeeded.
 */
#include "images/install/disk.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "images/install/gpt.h"

#define MAGIC "BUMARK01"
#define MAGIC_DONE "BUDONE01"
#define MAGIC_SIZE 8

/* A disk array may need seconds for so much, and a call cannot be broken off. NVMe
 * takes up to 2 TiB at once, and milliseconds. */
#define SLICE_BYTES (UINT64_C(8) << 30)
enum { PROGRESS_MS = 500 };

static int
block_size(struct bu_disk *disk, struct bu_err *err)
{
	int sector;

	if (ioctl(disk->fd, BLKGETSIZE64, &disk->size_bytes) ||
	    ioctl(disk->fd, BLKSSZGET, &sector))
		return bu_err_set(err, BU_ERR_IO, errno, "disk %s", disk->path);
	if (sector != 512 && sector != 4096)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "disk %s has sectors of %d bytes; images go to those "
				  "of 512 and 4096",
				  disk->path, sector);
	disk->sector_bytes = sector;
	return 0;
}

static int
measure(struct bu_disk *disk, struct bu_err *err)
{
	struct stat st;

	if (fstat(disk->fd, &st))
		return bu_err_set(err, BU_ERR_IO, errno, "disk %s", disk->path);
	disk->is_block = S_ISBLK(st.st_mode);
	if (disk->is_block) {
		if (block_size(disk, err))
			return -1;
	} else if (S_ISREG(st.st_mode)) {
		disk->size_bytes = st.st_size / 512 * 512;
		disk->sector_bytes = 512;
	} else {
		return bu_err_set(err, BU_ERR_INVAL, 0, "%s is not a disk", disk->path);
	}
	if (disk->size_bytes < 4 * BU_EDGE_BYTES)
		return bu_err_set(err, BU_ERR_INVAL, 0, "disk %s has only %llu bytes",
				  disk->path, (unsigned long long)disk->size_bytes);
	return 0;
}

int
bu_disk_open(const char *path, struct bu_disk *ret, struct bu_err *err)
{
	struct bu_disk disk = {.path = path, .direct_fd = -1};
	struct stat st;
	int flags = O_RDWR | O_CLOEXEC;

	if (!stat(path, &st) && S_ISBLK(st.st_mode))
		flags |= O_EXCL; /* refused while a file system on it is mounted */
	disk.fd = open(path, flags);
	if (disk.fd < 0) {
		enum bu_err_kind kind = errno == ENOENT || errno == ENXIO
						? BU_ERR_NOTFOUND
					: errno == EBUSY ? BU_ERR_BUSY
							 : BU_ERR_IO;
		return bu_err_set(err, kind, errno, "disk %s", path);
	}
	if (measure(&disk, err)) {
		bu_disk_close(&disk);
		return -1;
	}
	disk.direct_fd = open(path, O_RDWR | O_CLOEXEC | O_DIRECT);
	*ret = disk;
	return 0;
}

void
bu_disk_close(struct bu_disk *disk)
{
	if (disk->fd >= 0)
		close(disk->fd);
	if (disk->direct_fd >= 0)
		close(disk->direct_fd);
	disk->fd = disk->direct_fd = -1;
}

int
bu_disk_reread(const struct bu_disk *disk, struct bu_err *err)
{
	if (disk->is_block && ioctl(disk->fd, BLKRRPART))
		return bu_err_set(err, BU_ERR_BUSY, errno,
				  "disk %s: old partitions are in use", disk->path);
	return 0;
}

int
bu_disk_write(int fd, const void *data, size_t size, uint64_t offset,
	      struct bu_err *err)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = pwrite(fd, (const char *)data + done, size - done,
				     offset + done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return bu_err_set(err, BU_ERR_IO, got < 0 ? errno : ENOSPC,
					  "writing to the disk at byte %llu",
					  (unsigned long long)(offset + done));
		done += got;
	}
	return 0;
}

int
bu_disk_sync(const struct bu_disk *disk, struct bu_err *err)
{
	if (fsync(disk->fd))
		return bu_err_set(err, BU_ERR_IO, errno, "disk %s: sync", disk->path);
	return 0;
}

static int
mark_matches(const char *text, size_t size, const char *sig, const char *public_pem,
	     const char *step_id, struct bu_err *err)
{
	bu_autojson json_t *value = NULL;

	if (bu_verify(public_pem, text, size, sig, err))
		return bu_err_wrap(err, "mark of the install");
	value = bu_json_parse(text, size, "mark of the install", err);
	if (!value)
		return -1;
	if (strcmp(bu_json_str(value, "step", ""), step_id) != 0)
		return bu_err_set(
			err, BU_ERR_VERIFY, 0,
			"mark of the install: it is of step '%.64s', not '%s'",
			bu_json_str(value, "step", ""), step_id);
	return 0;
}

int
bu_mark_check(const struct bu_install_opts *opts, struct bu_err *err)
{
	size_t size = strlen(opts->mark_text);

	if (size > BU_MARK_TEXT_MAX || strlen(opts->mark_sig) != BU_SIG_HEX_SIZE - 1)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "mark of the install: text or signature has a wrong "
				  "size");
	return mark_matches(opts->mark_text, size, opts->mark_sig,
			    opts->appliance_public_pem, opts->step_id, err);
}

int
bu_disk_is_note(const struct bu_install_opts *opts, const char *text, const char *sig)
{
	return !mark_matches(text, strlen(text), sig, opts->appliance_public_pem,
			     opts->step_id, NULL);
}

/* What the block on the disk says, where it is a mark with this magic; NULL: it is
 * none. */
static const char *
mark_text(const uint8_t *block, const char *magic, size_t *ret_size,
	  char ret_sig[BU_SIG_HEX_SIZE])
{
	size_t size = (size_t)bu_le_get(block + MAGIC_SIZE, 4);
	const char *text = (const char *)block + MAGIC_SIZE + 4;

	if (memcmp(block, magic, MAGIC_SIZE) != 0 || size > BU_MARK_TEXT_MAX)
		return NULL;
	snprintf(ret_sig, BU_SIG_HEX_SIZE, "%.*s", BU_SIG_HEX_SIZE - 1, text + size);
	*ret_size = size;
	return text;
}

/* 1 when it is a mark of the present step. */
static int
is_own_mark(const uint8_t *block, const char *magic, const struct bu_install_opts *opts)
{
	char sig[BU_SIG_HEX_SIZE];
	size_t size;
	const char *text = mark_text(block, magic, &size, sig);

	return text && !mark_matches(text, size, sig, opts->appliance_public_pem,
				     opts->step_id, NULL);
}

static int
check_edge(const struct bu_disk *disk, uint64_t offset, const uint8_t *edge,
	   struct bu_err *err)
{
	for (size_t i = 0; i < BU_EDGE_BYTES; i++)
		if (edge[i])
			return bu_err_set(
				err, BU_ERR_STATE, 0,
				"disk %s is not empty (byte %llu is 0x%02x) and "
				"wiping it was not granted; if what is on it may go, "
				"plan again and apply with --grant wipe:NODE",
				disk->path, (unsigned long long)(offset + i), edge[i]);
	return 0;
}

/* devtmpfs makes the node ("/dev/vda2", "/dev/nvme0n1p2") within a moment. */
char *
bu_disk_part(const char *disk, size_t which)
{
	int digit = isdigit((unsigned char)disk[strlen(disk) - 1]);
	char *node = bu_xasprintf("%s%s%zu", disk, digit ? "p" : "", which + 1);

	for (int try = 0; access(node, F_OK) && try < 50; try++)
		usleep(100 * 1000);
	return node;
}

int
bu_disk_is_unfinished(const struct bu_disk *disk, const struct bu_install_opts *opts)
{
	uint8_t block[BU_MARK_SIZE];

	return bu_read_at(disk->fd, block, sizeof(block), BU_MARK_OFFSET, NULL) == 0 &&
	       is_own_mark(block, MAGIC, opts);
}

int
bu_disk_check(const struct bu_disk *disk, const struct bu_install_opts *opts,
	      enum bu_look *ret_look, struct bu_err *err)
{
	bu_autofree uint8_t *edge = bu_xmalloc(BU_EDGE_BYTES);
	uint64_t tail = disk->size_bytes - BU_EDGE_BYTES;

	*ret_look = BU_LOOK_NOT;
	if (opts->allow_wipe)
		return 0;
	if (bu_read_at(disk->fd, edge, BU_EDGE_BYTES, 0, err))
		return bu_err_wrap(err, "disk %s", disk->path);
	if (is_own_mark(edge + BU_MARK_OFFSET, MAGIC, opts)) {
		if (opts->keep_data)
			*ret_look = BU_LOOK_IF_LEGIBLE;
		return 0;
	}
	if (opts->keep_data) {
		if (check_edge(disk, 0, edge, NULL))
			*ret_look = BU_LOOK;
		return 0;
	}
	/* Nobody may have heard that it was finished. */
	if (is_own_mark(edge + BU_MARK_OFFSET, MAGIC_DONE, opts))
		return 0;
	if (check_edge(disk, 0, edge, err))
		return -1;
	if (bu_read_at(disk->fd, edge, BU_EDGE_BYTES, tail, err))
		return bu_err_wrap(err, "disk %s", disk->path);
	return check_edge(disk, tail, edge, err);
}

int
bu_mark_write(const struct bu_disk *disk, uint64_t at,
	      const struct bu_install_opts *opts, struct bu_err *err)
{
	uint8_t block[BU_MARK_SIZE] = MAGIC;
	size_t size = strlen(opts->mark_text);

	bu_le_put(block + MAGIC_SIZE, size, 4);
	memcpy(block + MAGIC_SIZE + 4, opts->mark_text, size);
	memcpy(block + MAGIC_SIZE + 4 + size, opts->mark_sig, BU_SIG_HEX_SIZE - 1);
	if (bu_disk_write(disk->fd, block, sizeof(block), at, err))
		return -1;
	return bu_disk_sync(disk, err);
}

int
bu_mark_finish(const struct bu_disk *disk, uint64_t at, struct bu_err *err)
{
	if (bu_disk_write(disk->fd, MAGIC_DONE, MAGIC_SIZE, at, err))
		return -1;
	return bu_disk_sync(disk, err);
}

int
bu_slot_has_image(const struct bu_disk *disk, uint64_t at,
		  const struct bu_install_opts *opts)
{
	uint8_t block[BU_MARK_SIZE];
	char sig[BU_SIG_HEX_SIZE];
	bu_autojson json_t *value = NULL;
	const char *text;
	size_t size;

	if (bu_read_at(disk->fd, block, sizeof(block), at, NULL))
		return 0;
	text = mark_text(block, MAGIC_DONE, &size, sig);
	if (!text || bu_verify(opts->appliance_public_pem, text, size, sig, NULL))
		return 0;
	value = bu_json_parse(text, size, "mark of the slot", NULL);
	return value &&
	       !strcmp(bu_json_str(value, "digest", ""), opts->manifest_digest);
}

static int
write_zeros(const struct bu_disk *disk, uint64_t offset, uint64_t size,
	    struct bu_err *err)
{
	static const uint8_t zeros[65536];

	for (uint64_t done = 0; done < size;) {
		size_t now = size - done < sizeof(zeros) ? size - done : sizeof(zeros);

		if (bu_disk_write(disk->fd, zeros, now, offset + done, err))
			return -1;
		done += now;
	}
	return 0;
}

int
bu_disk_zero(const struct bu_disk *disk, uint64_t offset, uint64_t size,
	     struct bu_err *err)
{
	int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	/* On a block device this is "write zeroes, may unmap": it reads as zeros. */
	if (!fallocate(disk->fd, mode, offset, size))
		return 0;
	return write_zeros(disk, offset, size, err);
}

static int
discard_slice(const struct bu_disk *disk, uint64_t offset, uint64_t size)
{
	uint64_t range[2] = {offset, size};
	int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;

	return disk->is_block ? ioctl(disk->fd, BLKDISCARD, range)
			      : fallocate(disk->fd, mode, offset, size);
}

static void
tell(struct bu_discard *discard)
{
	const struct bu_install_hooks *hooks = discard->hooks;
	int64_t now_ms = bu_mono_ms(bu_clock_system());

	if (!hooks->progress || now_ms - discard->told_ms < PROGRESS_MS)
		return;
	discard->told_ms = now_ms;
	hooks->progress("disk", discard->done_bytes, discard->total_bytes, hooks->arg);
}

int
bu_disk_discard(const struct bu_disk *disk, uint64_t offset, uint64_t size,
		struct bu_discard *discard, struct bu_err *err)
{
	const struct bu_install_hooks *hooks = discard->hooks;
	uint64_t end = offset + size;

	while (offset < end) {
		uint64_t now = SLICE_BYTES - offset % SLICE_BYTES;

		if (now > end - offset)
			now = end - offset;
		if (hooks->cancelled && hooks->cancelled(hooks->arg))
			return bu_err_set(err, BU_ERR_CANCELLED, 0,
					  "the install was cancelled");
		if (discard_slice(disk, offset, now))
			return 0;
		offset += now;
		discard->done_bytes += now;
		tell(discard);
	}
	return 0;
}

int
bu_disk_clear(const struct bu_disk *disk, int keep_table, struct bu_err *err)
{
	uint64_t after_mark = BU_MARK_OFFSET + BU_MARK_SIZE;
	uint64_t tail = disk->size_bytes - BU_EDGE_BYTES;
	uint64_t front = keep_table ? bu_gpt_front_bytes(disk->sector_bytes) : 0;

	/* Plain writes: the edges matter more than speed, and sizes are odd. */
	if (write_zeros(disk, front, BU_MARK_OFFSET - front, err) ||
	    write_zeros(disk, after_mark, BU_EDGE_BYTES - after_mark, err) ||
	    (!keep_table && write_zeros(disk, tail, BU_EDGE_BYTES, err)) ||
	    bu_disk_sync(disk, err))
		return -1;
	return bu_disk_reread(disk, err);
}
