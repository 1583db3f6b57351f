/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of an install. Each takes the next frame, fetches it by its range over
 * its own connection, compares the SHA-256 of what came, decompresses and writes it.
 * Invariant: no byte reaches the disk before its frame's digest was right.
 */
#include "images/install/part_writer.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/log.h"
#include "images/install/frame.h"

enum {
	THREADS_MAX = 4,
	FETCH_TIMEOUT_MS = 60 * 1000,
	PATIENCE_MS = 180 * 1000,
	RETRY_MS = 1000,
	PROGRESS_MS = 500,
	BLOCK = 4096,
};

struct job {
	const struct bu_install_opts *opts;
	const struct bu_install_hooks *hooks;
	const struct bu_manifest *manifest;
	const struct bu_layout *layout;
	const struct bu_disk *disk;
	pthread_mutex_t lock; /* all below */
	size_t part, frame;   /* the next one to take */
	uint64_t done_bytes, total_bytes;
	int64_t told_ms;
	int failed;
	struct bu_err err;
};

/* What one thread works with. */
struct hand {
	struct job *job;
	struct bu_http *http;
	ZSTD_DCtx *zstd;
	char *packed, *plain; /* plain is aligned for O_DIRECT */
};

int
bu_part_writer_wait(const struct bu_install_opts *opts, const struct bu_err *err,
		    int64_t since_ms)
{
	int64_t patience_ms = opts->patience_ms ? opts->patience_ms : PATIENCE_MS;
	int64_t now_ms = bu_mono_ms(bu_clock_system());
	int64_t pause_ms = patience_ms < 10 * RETRY_MS ? patience_ms / 10 : RETRY_MS;

	if (err->kind != BU_ERR_REMOTE && err->kind != BU_ERR_TIMEOUT &&
	    err->kind != BU_ERR_IO && err->kind != BU_ERR_BUSY)
		return -1;
	if (now_ms - since_ms >= patience_ms)
		return -1;
	usleep(pause_ms * 1000);
	return 0;
}

int
bu_part_writer_cancelled(const struct bu_install_hooks *hooks, struct bu_err *err)
{
	if (hooks->cancelled && hooks->cancelled(hooks->arg))
		return bu_err_set(err, BU_ERR_CANCELLED, 0,
				  "the install was cancelled");
	return 0;
}

int
bu_part_writer_enter(const struct bu_install_hooks *hooks, const char *stage,
		     struct bu_err *err)
{
	if (bu_part_writer_cancelled(hooks, err))
		return -1;
	if (hooks->progress)
		hooks->progress(stage, 0, 0, hooks->arg);
	return 0;
}

static int
check_cancelled(struct job *job, struct bu_err *err)
{
	int rc;

	pthread_mutex_lock(&job->lock);
	rc = job->failed ? bu_err_set(err, BU_ERR_CANCELLED, 0, "another thread failed")
			 : bu_part_writer_cancelled(job->hooks, err);
	pthread_mutex_unlock(&job->lock);
	return rc;
}

/* Once, with patience for a server that is away (it may be starting again). */
static int
fetch(const struct hand *hand, const struct bu_part *part, const struct bu_frame *frame,
      struct bu_err *err)
{
	bu_autofree char *path =
		bu_xasprintf("/images/%s/%s", hand->job->opts->image, part->file);
	int64_t since_ms = bu_mono_ms(bu_clock_system());

	while (bu_http_range(hand->http,
			     &(struct bu_http_part){path, frame->offset, frame->size},
			     hand->packed, FETCH_TIMEOUT_MS, err)) {
		if (bu_part_writer_wait(hand->job->opts, err, since_ms) ||
		    check_cancelled(hand->job, err))
			return -1;
	}
	return 0;
}

static int
fetch_verified(const struct hand *hand, const struct bu_part *part, size_t index,
	       struct bu_err *err)
{
	const struct bu_frame *frame = &part->frames[index];
	char digest[BU_DIGEST_SIZE];

	for (int try = 0; try < 2; try++) {
		if (fetch(hand, part, frame, err))
			return bu_err_wrap(err, "part %s, frame %zu", part->name,
					   index);
		if (bu_frame_is(frame, hand->packed, digest))
			return 0;
		bu_warn("install", "part %s, frame %zu: expected %.16s, got %.16s%s",
			part->name, index, frame->digest, digest,
			try ? "" : "; fetching it once more");
	}
	return bu_err_set(
		err, BU_ERR_VERIFY, 0,
		"part %s, frame %zu: wrong twice: expected SHA-256 %s, got %s",
		part->name, index, frame->digest, digest);
}

static int
write_plain(const struct bu_disk *disk, const char *plain, size_t size, uint64_t offset,
	    struct bu_err *err)
{
	if (disk->direct_fd >= 0) {
		struct bu_err direct_err = {0};

		if (!bu_disk_write(disk->direct_fd, plain, size, offset, &direct_err))
			return 0;
		if (direct_err.sys_errno != EINVAL) {
			if (err)
				*err = direct_err;
			return -1;
		}
	}
	return bu_disk_write(disk->fd, plain, size, offset, err);
}

static int
do_frame(const struct hand *hand, size_t part_index, size_t index, struct bu_err *err)
{
	const struct job *job = hand->job;
	const struct bu_part *part = &job->manifest->parts[part_index];
	uint64_t offset = job->layout->parts[part_index].begin_bytes +
			  (uint64_t)index * part->frame_bytes;
	size_t size = bu_part_frame_bytes(part, index);

	if (part->frames[index].size &&
	    (fetch_verified(hand, part, index, err) ||
	     bu_frame_unpack(hand->zstd, part, index, hand->packed, hand->plain, err)))
		return -1;
	for (const struct bu_disk *disk = job->disk; disk; disk = disk->mirror)
		if (part->frames[index].size
			    ? write_plain(disk, hand->plain, size, offset, err)
			    : bu_disk_zero(disk, offset, size, err))
			return bu_err_wrap(err, "disk %s, part %s, frame %zu",
					   disk->path, part->name, index);
	return 0;
}

/* 1 and the next frame, or 0 when there is none. */
static int
take(struct job *job, size_t *ret_part, size_t *ret_frame)
{
	int found = 0;

	pthread_mutex_lock(&job->lock);
	if (!job->failed && bu_part_writer_cancelled(job->hooks, &job->err))
		job->failed = 1;
	while (!job->failed && job->part < job->manifest->part_count) {
		if (job->frame < job->manifest->parts[job->part].frame_count) {
			*ret_part = job->part;
			*ret_frame = job->frame++;
			found = 1;
			break;
		}
		job->part++;
		job->frame = 0;
	}
	pthread_mutex_unlock(&job->lock);
	return found;
}

static void
account(struct job *job, uint64_t bytes, const struct bu_err *failure)
{
	int64_t now_ms = bu_mono_ms(bu_clock_system());

	pthread_mutex_lock(&job->lock);
	job->done_bytes += bytes;
	if (failure && !job->failed) {
		job->failed = 1;
		job->err = *failure;
	}
	if (!job->failed && job->hooks->progress &&
	    now_ms - job->told_ms >= PROGRESS_MS) {
		job->told_ms = now_ms;
		job->hooks->progress("write", job->done_bytes, job->total_bytes,
				     job->hooks->arg);
	}
	pthread_mutex_unlock(&job->lock);
}

static uint32_t
largest_frame(const struct bu_manifest *manifest)
{
	uint32_t largest = 0;

	for (size_t i = 0; i < manifest->part_count; i++)
		if (manifest->parts[i].frame_bytes > largest)
			largest = manifest->parts[i].frame_bytes;
	return largest;
}

static void
take_hand(struct job *job, struct hand *ret)
{
	const struct bu_http_opts http_opts = {.base_url = job->opts->base_url};
	uint32_t largest = largest_frame(job->manifest);

	*ret = (struct hand){
		.job = job,
		.http = bu_http_create(&http_opts),
		.zstd = ZSTD_createDCtx(),
		.packed = bu_xmalloc(bu_frame_bound(largest)),
		.plain = aligned_alloc(BLOCK, largest),
	};
	bu_assert(ret->plain && ret->zstd); /* out of memory */
}

static void
drop_hand(struct hand *hand)
{
	bu_http_destroy(hand->http);
	ZSTD_freeDCtx(hand->zstd);
	free(hand->packed);
	free(hand->plain);
}

static void *
work(void *arg)
{
	struct job *job = arg;
	struct hand hand;
	size_t part, frame;

	take_hand(job, &hand);
	while (take(job, &part, &frame)) {
		struct bu_err err = {0};
		int rc = do_frame(&hand, part, frame, &err);

		account(job, rc ? 0 : job->manifest->parts[part].frames[frame].size,
			rc ? &err : NULL);
	}
	drop_hand(&hand);
	return NULL;
}

uint8_t *
bu_part_writer_first(const struct bu_install_opts *opts,
		     const struct bu_install_hooks *hooks,
		     const struct bu_manifest *manifest, struct bu_err *err)
{
	struct job job = {
		.opts = opts,
		.hooks = hooks,
		.manifest = manifest,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	const struct bu_part *part = &manifest->parts[0];
	size_t size = bu_part_frame_bytes(part, 0);
	uint8_t *first = bu_xcalloc(1, size);
	struct hand hand;
	int rc = 0;

	take_hand(&job, &hand);
	if (part->frames[0].size)
		rc = fetch_verified(&hand, part, 0, err) != 0 ||
		     bu_frame_unpack(hand.zstd, part, 0, hand.packed, first, err) != 0;
	drop_hand(&hand);
	pthread_mutex_destroy(&job.lock);
	if (!rc)
		return first;
	free(first);
	return NULL;
}

static int
thread_count(const struct bu_install_opts *opts)
{
	long cpus = opts->threads > 0 ? opts->threads : sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 1 ? 1 : cpus > THREADS_MAX ? THREADS_MAX : cpus;
}

int
bu_part_writer_write(const struct bu_install_opts *opts,
		     const struct bu_install_hooks *hooks,
		     const struct bu_manifest *manifest, const struct bu_layout *layout,
		     const struct bu_disk *disk, struct bu_err *err)
{
	struct job job = {
		.opts = opts,
		.hooks = hooks,
		.manifest = manifest,
		.layout = layout,
		.disk = disk,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.frame = layout->skip_frames,
	};
	pthread_t ids[THREADS_MAX];
	int wanted = thread_count(opts);
	int started = 0;

	for (size_t i = 0; i < manifest->part_count; i++)
		job.total_bytes += bu_part_stored_bytes(&manifest->parts[i]);
	for (size_t i = 0; i < layout->skip_frames; i++)
		job.done_bytes += manifest->parts[0].frames[i].size;
	if (hooks->progress)
		hooks->progress("write", job.done_bytes, job.total_bytes, hooks->arg);
	job.told_ms = bu_mono_ms(bu_clock_system());
	while (started < wanted && !pthread_create(&ids[started], NULL, work, &job))
		started++;
	if (!started)
		work(&job);
	for (int i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
	pthread_mutex_destroy(&job.lock);
	if (job.failed) {
		if (err)
			*err = job.err;
		return -1;
	}
	for (; disk; disk = disk->mirror)
		if (bu_disk_sync(disk, err))
			return -1;
	return 0;
}
