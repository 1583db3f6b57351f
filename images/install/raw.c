/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An image that is a whole disk; install.c calls it. Invariants: all that can say no
 * comes before the first write; until the last frames are synced, the first sectors of
 * the disk are zeros, so that nothing boots from it; but for the table, cloud-init's
 * partition and the mark (where the image has zeros in no partition) every byte of the
 * image is on the disk as it was.
 */
#include "images/install/raw.h"

#include <string.h>

#include "images/install/part_writer.h"
#include "images/install/seed.h"

/* The type "basic data", as that of any FAT. */
static const char seed_type[] = "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7";
static const char seed_guid[] = "62726e67-7570-4369-8461-746130303031";

/* The image is as its manifest says, and the disk can take it. */
static int
fit(const struct bu_manifest *manifest, const struct bu_disk *disk, struct bu_raw *raw,
    struct bu_err *err)
{
	const struct bu_whole_part seed = {seed_type, seed_guid, BU_SEED_LABEL,
					   BU_SEED_BYTES};

	if (bu_whole_read(raw->front, manifest->disk.size_bytes, &raw->whole, err) != 0)
		return bu_err_wrap(err, "image %s", manifest->name);
	if (raw->whole.sector_bytes != manifest->disk.sector_bytes)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "image %s: its table is for other sectors than its "
				  "manifest says",
				  manifest->name);
	if (bu_whole_move(&raw->whole, disk->size_bytes, disk->sector_bytes, err) != 0)
		return -1;
	if (manifest->parts[0].size_bytes > disk->size_bytes)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the disk has %llu bytes, the image %llu",
				  (unsigned long long)disk->size_bytes,
				  (unsigned long long)manifest->parts[0].size_bytes);
	return bu_whole_add(&raw->whole, &seed, &raw->seed_begin, err);
}

int
bu_raw_check(const struct bu_install_opts *opts, const struct bu_install_hooks *hooks,
	     const struct bu_manifest *manifest, const struct bu_disk *disk,
	     struct bu_raw *ret, struct bu_err *err)
{
	memset(ret, 0, sizeof(*ret));
	if (opts->keep_data || opts->data_count || opts->scratch_count || opts->mirror)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "image %s is a whole disk; no data partition, no "
				  "array and no mirror goes with it",
				  manifest->name);
	ret->front_bytes = bu_part_frame_bytes(&manifest->parts[0], 0);
	if (ret->front_bytes < BU_WHOLE_FRONT_BYTES)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "image %s: its first frame is too small",
				  manifest->name);
	ret->front = bu_part_writer_first(opts, hooks, manifest, err);
	if (!ret->front)
		return -1;
	return fit(manifest, disk, ret, err) == 0
		       ? 0
		       : bu_err_wrap(err, "disk %s", disk->path);
}

void
bu_raw_layout(const struct bu_manifest *manifest, const struct bu_disk *disk,
	      struct bu_layout *ret)
{
	*ret = (struct bu_layout){.disk_bytes = disk->size_bytes,
				  .sector_bytes = disk->sector_bytes,
				  .count = 1,
				  .skip_frames = 1};
	ret->parts[0].size_bytes = manifest->parts[0].size_bytes;
}

static int
is_zero(const uint8_t *at, size_t size)
{
	return !at[0] && memcmp(at, at + 1, size - 1) == 0;
}

/* The first sectors come when all else is there. */
static int
write_front(const struct bu_raw *raw, const struct bu_disk *disk, struct bu_err *err)
{
	size_t boot = 2 * (size_t)raw->whole.sector_bytes;
	size_t after = BU_MARK_OFFSET + BU_MARK_SIZE;
	const uint8_t *front = raw->front;

	if (bu_disk_write(disk->fd, front + after, raw->front_bytes - after, after,
			  err) != 0 ||
	    bu_disk_write(disk->fd, front + boot, BU_MARK_OFFSET - boot, boot, err) !=
		    0 ||
	    bu_disk_sync(disk, err) != 0 ||
	    bu_disk_write(disk->fd, front, boot, 0, err) != 0)
		return -1;
	return bu_disk_sync(disk, err);
}

int
bu_raw_finish(const struct bu_install_opts *opts, struct bu_raw *raw,
	      const struct bu_disk *disk, struct bu_err *err)
{
	size_t size;
	bu_autofree uint8_t *back = bu_whole_make_back(&raw->whole, &size);
	int is_taken = bu_whole_uses(&raw->whole, BU_MARK_OFFSET, BU_MARK_SIZE) ||
		       !is_zero(raw->front + BU_MARK_OFFSET, BU_MARK_SIZE);

	bu_whole_put_front(&raw->whole, raw->front);
	if (bu_seed_write(disk, raw->seed_begin, opts->seed_files,
			  opts->seed_file_count, err) != 0 ||
	    bu_disk_write(disk->fd, back, size, raw->whole.size_bytes - size, err) !=
		    0 ||
	    write_front(raw, disk, err) != 0)
		return -1;
	if (!is_taken)
		return bu_mark_finish(disk, BU_MARK_OFFSET, err);
	if (bu_disk_write(disk->fd, raw->front + BU_MARK_OFFSET, BU_MARK_SIZE,
			  BU_MARK_OFFSET, err) != 0)
		return -1;
	return bu_disk_sync(disk, err);
}

void
bu_raw_fini(struct bu_raw *raw)
{
	bu_whole_fini(&raw->whole);
	free(raw->front);
	raw->front = NULL;
}
