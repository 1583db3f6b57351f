/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides about the array of an install, and makes it with mdadm; called by install.c.
 * Each disk has the step's mark, as the system's has, from its first write until the
 * array is there: a step that was cut off is done again over its own disks.
 * Invariant: a disk is written only when it is empty, has the present step's mark, or
 * the order says that whatever is on it may go.
 */
#include "images/install/scratch.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "images/install/array.h"

static struct bu_layout
layout_of(const struct bu_install_opts *opts, const struct bu_disk *disk, size_t which)
{
	struct bu_layout layout = {.disk_bytes = disk->size_bytes,
				   .sector_bytes = disk->sector_bytes,
				   .data_count = 1};

	/* The last MiB has the copy of the table, and is looked at when a disk must be
	 * empty. */
	layout.data[0].begin_bytes = BU_PARTS_BEGIN;
	layout.data[0].size_bytes =
		disk->size_bytes / BU_EDGE_BYTES * BU_EDGE_BYTES - 2 * BU_EDGE_BYTES;
	layout.data[0].name = BU_SCRATCH_LABEL;
	layout.data[0].guid = opts->scratch[which].guid;
	layout.data[0].type = BU_RAID_TYPE;
	return layout;
}

static struct bu_array
array_of(const struct bu_install_opts *opts)
{
	return (struct bu_array){"raid0", opts->scratch_uuid, opts->scratch_count};
}

/* The disk is one of the array that is wanted. */
static int
is_member(const struct bu_install_opts *opts, const struct bu_disk *disk, size_t which)
{
	struct bu_layout layout = layout_of(opts, disk, which);
	bu_autofree char *part = NULL;
	struct bu_array array = array_of(opts);

	if (bu_gpt_check_data(disk->fd, &layout, NULL))
		return 0;
	part = bu_array_part(disk->path, 0);
	return bu_array_has(opts, &array, part);
}

static int
open_disks(const struct bu_install_opts *opts, struct bu_scratch *ret,
	   struct bu_err *err)
{
	for (size_t i = 0; i < opts->scratch_count; i++) {
		const char *path = opts->scratch[i].disk;

		if (strcmp(path, opts->disk) == 0 ||
		    (opts->mirror && strcmp(path, opts->mirror) == 0))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "disk %s of the array is the system's", path);
		for (size_t j = 0; j < i; j++)
			if (strcmp(path, opts->scratch[j].disk) == 0)
				return bu_err_set(err, BU_ERR_INVAL, 0,
						  "disk %s of the array is there twice",
						  path);
		if (bu_disk_open(path, &ret->disks[i], err))
			return bu_err_wrap(err, "array");
		ret->count++;
	}
	return 0;
}

/* Whether they may be written, each by itself. */
static int
may_write(const struct bu_install_opts *opts, const struct bu_scratch *scratch,
	  struct bu_err *err)
{
	struct bu_install_opts each = *opts;
	enum bu_look look;

	each.allow_wipe = opts->scratch_wipe;
	each.keep_data = 0;
	for (size_t i = 0; i < scratch->count; i++)
		if (bu_disk_check(&scratch->disks[i], &each, &look, err))
			return bu_err_wrap(
				err, "array: the disks do not have the one that is "
				     "wanted, and making it was not granted (wipe)");
	return 0;
}

int
bu_scratch_check(const struct bu_install_opts *opts, struct bu_scratch *ret,
		 struct bu_err *err)
{
	size_t members = 0, unfinished = 0;

	*ret = (struct bu_scratch){.count = 0};
	if (opts->scratch_count > BU_INSTALL_SCRATCH_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "array of %zu disks; %d at most", opts->scratch_count,
				  BU_INSTALL_SCRATCH_MAX);
	if (open_disks(opts, ret, err))
		return -1;
	for (size_t i = 0; i < ret->count; i++) {
		members += is_member(opts, &ret->disks[i], i);
		unfinished += bu_disk_is_unfinished(&ret->disks[i], opts);
	}
	ret->keep = members == ret->count && !unfinished && !opts->scratch_wipe;
	return ret->keep ? 0 : may_write(opts, ret, err);
}

/* What a file system or an older array has at the ends of the partition must not be
 * seen in the new one. */
static int
prepare(const struct bu_install_opts *opts, const struct bu_disk *disk, size_t which,
	struct bu_err *err)
{
	struct bu_layout layout = layout_of(opts, disk, which);
	uint64_t begin = layout.data[0].begin_bytes;
	uint64_t end = begin + layout.data[0].size_bytes;

	if (bu_mark_write(disk, BU_MARK_OFFSET, opts, err) ||
	    bu_disk_clear(disk, 0, err) ||
	    bu_disk_zero(disk, begin, BU_EDGE_BYTES, err) ||
	    bu_disk_zero(disk, end - BU_EDGE_BYTES, BU_EDGE_BYTES, err) ||
	    bu_gpt_write_data(disk->fd, &layout, err) || bu_disk_sync(disk, err) ||
	    bu_disk_reread(disk, err))
		return bu_err_wrap(err, "array");
	return 0;
}

/* The array's own ends: what was striped over the same disks before begins there. */
static int
empty_array(struct bu_err *err)
{
	struct bu_disk disk;
	int rc;

	if (bu_disk_open(BU_ARRAY_DEVICE, &disk, err))
		return -1;
	rc = bu_disk_zero(&disk, 0, BU_EDGE_BYTES, err) ||
	     bu_disk_zero(&disk, disk.size_bytes / 4096 * 4096 - BU_EDGE_BYTES,
			  BU_EDGE_BYTES, err) ||
	     bu_disk_sync(&disk, err);
	bu_disk_close(&disk);
	return rc ? -1 : 0;
}

/* mdadm wants the disks for itself. */
static int
assemble(const struct bu_install_opts *opts, struct bu_scratch *scratch,
	 struct bu_err *err)
{
	static const char *const more[] = {"--chunk=512", "--metadata=1.2",
					   "--name=scratch", NULL};
	char *parts[BU_INSTALL_SCRATCH_MAX] = {NULL};
	struct bu_array array = array_of(opts);
	int is_block = scratch->disks[0].is_block;
	size_t count = scratch->count;
	int rc;

	for (size_t i = 0; i < count; i++)
		parts[i] = bu_array_part(scratch->disks[i].path, 0);
	bu_scratch_close(scratch);
	rc = bu_array_create(opts, &array, parts, more, err);
	if (!rc && is_block)
		rc = empty_array(err);
	if (bu_array_stop(opts, rc ? NULL : err))
		rc = -1;
	for (size_t i = 0; i < count; i++)
		free(parts[i]);
	return rc ? bu_err_wrap(err, "array of %zu disks", count) : 0;
}

/* From now on the disks are those of the array, whatever comes of the system's. */
static int
finish(const struct bu_install_opts *opts, struct bu_scratch *scratch,
       struct bu_err *err)
{
	if (open_disks(opts, scratch, err))
		return -1;
	for (size_t i = 0; i < scratch->count; i++) {
		if (!is_member(opts, &scratch->disks[i], i))
			return bu_err_set(err, BU_ERR_IO, 0,
					  "array: disk %s is not in it after it was "
					  "made",
					  scratch->disks[i].path);
		if (bu_mark_finish(&scratch->disks[i], BU_MARK_OFFSET, err))
			return -1;
	}
	return 0;
}

int
bu_scratch_make(const struct bu_install_opts *opts, struct bu_scratch *scratch,
		struct bu_err *err)
{
	int rc = 0;

	if (!opts->scratch_count)
		return 0;
	if (scratch->keep) {
		bu_info("install", "the array of %zu disks is kept", scratch->count);
	} else {
		for (size_t i = 0; !rc && i < scratch->count; i++)
			rc = prepare(opts, &scratch->disks[i], i, err);
		rc = rc || assemble(opts, scratch, err) || finish(opts, scratch, err);
	}
	bu_scratch_close(scratch);
	return rc ? -1 : 0;
}

void
bu_scratch_close(struct bu_scratch *scratch)
{
	for (size_t i = 0; i < scratch->count; i++)
		bu_disk_close(&scratch->disks[i]);
	scratch->count = 0;
}
