/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw file -> frames file. The image builder and `bringup image verify` call it.
 * Threads take frames in order, compress on their own and append in order, so the file
 * is the same for any number of threads. Holes are never read.
 */
#include "images/build/frames.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"

enum { LEVEL = 3, THREADS_MAX = 16 };

struct packer {
	int raw_fd, out_fd;
	struct bu_part *part;
	pthread_mutex_t lock;
	pthread_cond_t turn;
	size_t next;    /* next frame to take */
	size_t written; /* frames that are in the file */
	uint64_t offset;
	int failed;
	struct bu_err err;
};

static int
is_hole(int fd, uint64_t offset, size_t size)
{
	off_t data = lseek(fd, offset, SEEK_DATA);

	return data < 0 ? errno == ENXIO : (uint64_t)data >= offset + size;
}

static int
is_zero(const char *buf, size_t size)
{
	return !buf[0] && !memcmp(buf, buf + 1, size - 1);
}

/* What a thread compresses with. */
struct room {
	ZSTD_CCtx *zstd;
	char *plain, *packed;
};

/* *ret_size 0 = all zeros. */
static int
compress_frame(struct packer *packer, const struct room *room, size_t index,
	       size_t *ret_size, struct bu_err *err)
{
	size_t size = bu_part_frame_bytes(packer->part, index);
	uint64_t offset = (uint64_t)index * packer->part->frame_bytes;
	size_t got;

	*ret_size = 0;
	if (is_hole(packer->raw_fd, offset, size))
		return 0;
	if (bu_read_at(packer->raw_fd, room->plain, size, offset, err))
		return -1;
	if (is_zero(room->plain, size))
		return 0;
	got = ZSTD_compressCCtx(room->zstd, room->packed,
				bu_frame_bound(BU_FRAME_BYTES), room->plain, size,
				LEVEL);
	if (ZSTD_isError(got))
		return bu_err_set(err, BU_ERR_IO, 0, "zstd: %s",
				  ZSTD_getErrorName(got));
	bu_sha256_hex(room->packed, got, packer->part->frames[index].digest);
	*ret_size = got;
	return 0;
}

static void
append_frame(struct packer *packer, size_t index, const char *packed, size_t size,
	     const struct bu_err *failure)
{
	struct bu_frame *frame = &packer->part->frames[index];

	pthread_mutex_lock(&packer->lock);
	while (packer->written != index && !packer->failed)
		pthread_cond_wait(&packer->turn, &packer->lock);
	if (!packer->failed && failure) {
		packer->failed = 1;
		packer->err = *failure;
	}
	if (!packer->failed && size &&
	    bu_write_all(packer->out_fd, packed, size, &packer->err))
		packer->failed = 1;
	frame->offset = packer->offset;
	frame->size = size;
	packer->offset += size;
	packer->written = index + 1;
	pthread_cond_broadcast(&packer->turn);
	pthread_mutex_unlock(&packer->lock);
}

static void *
pack_thread(void *arg)
{
	struct packer *packer = arg;
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	bu_autofree char *plain = bu_xmalloc(BU_FRAME_BYTES);
	bu_autofree char *packed = bu_xmalloc(bu_frame_bound(BU_FRAME_BYTES));
	const struct room room = {zstd, plain, packed};

	for (;;) {
		struct bu_err err;
		size_t index, size;
		int rc;

		pthread_mutex_lock(&packer->lock);
		index = packer->failed ? packer->part->frame_count : packer->next++;
		pthread_mutex_unlock(&packer->lock);
		if (index >= packer->part->frame_count)
			break;
		rc = compress_frame(packer, &room, index, &size, &err);
		append_frame(packer, index, packed, size, rc ? &err : NULL);
	}
	ZSTD_freeCCtx(zstd);
	return NULL;
}

static int
run_threads(struct packer *packer, int threads, struct bu_err *err)
{
	pthread_t ids[THREADS_MAX];
	int started = 0;

	bu_assert(threads >= 1 && threads <= THREADS_MAX);
	pthread_mutex_init(&packer->lock, NULL);
	pthread_cond_init(&packer->turn, NULL);
	while (started < threads &&
	       !pthread_create(&ids[started], NULL, pack_thread, packer))
		started++;
	if (!started)
		pack_thread(packer);
	for (int i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
	pthread_mutex_destroy(&packer->lock);
	pthread_cond_destroy(&packer->turn);
	if (packer->failed) {
		if (err)
			*err = packer->err;
		return -1;
	}
	return 0;
}

static int
pack(struct packer *packer, uint64_t size, int threads, struct bu_err *err)
{
	struct bu_part *part = packer->part;
	size_t count = (size + BU_FRAME_BYTES - 1) / BU_FRAME_BYTES;

	if (!size || size % 4096 || count > BU_PART_FRAMES_MAX)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"%llu bytes; a part is a multiple of 4096, not empty, "
			"at most %d frames of 4 MiB",
			(unsigned long long)size, BU_PART_FRAMES_MAX);
	part->size_bytes = size;
	part->frame_bytes = BU_FRAME_BYTES;
	part->frame_count = count;
	part->frames = bu_xcalloc(count, sizeof(*part->frames));
	if (!run_threads(packer, threads, err)) {
		if (!fsync(packer->out_fd))
			return 0;
		bu_err_set(err, BU_ERR_IO, errno, "writing frames");
	}
	free(part->frames);
	part->frames = NULL;
	part->frame_count = 0;
	return -1;
}

int
bu_frames_pack(const char *raw_path, const char *frames_path, int threads,
	       struct bu_part *part, struct bu_err *err)
{
	bu_autoclose int raw_fd = open(raw_path, O_RDONLY | O_CLOEXEC);
	bu_autoclose int out_fd = -1;
	struct packer packer = {.part = part};
	struct stat st;

	if (raw_fd < 0 || fstat(raw_fd, &st))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", raw_path);
	out_fd = open(frames_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (out_fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", frames_path);
	packer.raw_fd = raw_fd;
	packer.out_fd = out_fd;
	if (!pack(&packer, st.st_size, threads, err))
		return 0;
	unlink(frames_path);
	return bu_err_wrap(err, "%s", raw_path);
}

int
bu_frames_check(const char *frames_path, const struct bu_part *part, struct bu_err *err)
{
	bu_autoclose int fd = open(frames_path, O_RDONLY | O_CLOEXEC);
	bu_autofree char *buf = bu_xmalloc(bu_frame_bound(part->frame_bytes));
	char digest[BU_DIGEST_SIZE];

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", frames_path);
	for (size_t i = 0; i < part->frame_count; i++) {
		const struct bu_frame *frame = &part->frames[i];

		if (!frame->size)
			continue;
		if (bu_read_at(fd, buf, frame->size, frame->offset, err))
			return bu_err_wrap(err, "%s: frame %zu", frames_path, i);
		bu_sha256_hex(buf, frame->size, digest);
		if (strcmp(digest, frame->digest) != 0)
			return bu_err_set(err, BU_ERR_VERIFY, 0,
					  "%s: frame %zu: expected %.16s, got %.16s",
					  frames_path, i, frame->digest, digest);
	}
	return 0;
}
