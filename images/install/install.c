/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of an install, in order; the agent calls it. Invariant: from the first
 * write to the last the disk holds the signed mark, and it does not boot, because
 * partition table and boot code are the last thing before the mark says "finished".
 */
#include "images/install/install.h"

#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "images/install/disk.h"
#include "images/install/fat.h"
#include "images/install/fetch.h"
#include "images/install/gpt.h"
#include "images/install/part_writer.h"
#include "images/install/raw.h"
#include "images/install/roots.h"
#include "images/install/scratch.h"
#include "images/install/seed.h"
#include "images/install/target.h"
#include "images/manifest.h"

enum { DISKS_MAX = 2 };

struct install {
	const struct bu_install_opts *opts;
	const struct bu_install_hooks *hooks;
	struct bu_manifest *manifest;
	size_t count;                        /* of the disks that are open */
	struct bu_disk disks[DISKS_MAX];     /* of the system: all or none written */
	struct bu_layout layouts[DISKS_MAX]; /* the same places on each */
	struct bu_scratch scratch;
	struct bu_raw raw; /* of a whole disk */
	struct bu_roots roots;
	struct bu_discard discard;
};

static void
close_disks(struct install *install)
{
	for (size_t i = 0; i < install->count; i++)
		bu_disk_close(&install->disks[i]);
	install->count = 0;
}

static int
open_disks(struct install *install, struct bu_err *err)
{
	const struct bu_install_opts *opts = install->opts;
	const char *const paths[DISKS_MAX] = {opts->disk, opts->mirror};

	if (opts->mirror && strcmp(opts->disk, opts->mirror) == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "disk %s is to be its own mirror", opts->disk);
	install->discard.total_bytes = 0;
	for (size_t i = 0; i < DISKS_MAX && paths[i]; i++) {
		if (bu_disk_open(paths[i], &install->disks[i], err))
			return -1;
		install->discard.total_bytes += install->disks[i].size_bytes;
		install->count++;
	}
	if (install->count > 1)
		install->disks[0].mirror = &install->disks[1];
	return 0;
}

/* The disk may forget what was there. An image ends before the part that it grows in:
 * what labels itself at its end (RAID, ZFS) must not be seen there beside the new file
 * system. */
static int
empty_ends(struct install *install, const struct bu_disk *disk,
	   const struct bu_layout *layout, struct bu_err *err)
{
	for (size_t i = 0; i < layout->count; i++) {
		uint64_t begin = layout->parts[i].begin_bytes;
		uint64_t end = begin + layout->parts[i].size_bytes;

		if (bu_disk_discard(disk, begin, end - begin, &install->discard, err) ||
		    bu_disk_zero(disk, end - BU_EDGE_BYTES, BU_EDGE_BYTES, err))
			return -1;
	}
	return 0;
}

/* The same of data partitions. What was a file system there must not look like one: the
 * ends of each are zeroed. */
static int
empty_data(struct install *install, const struct bu_disk *disk,
	   const struct bu_layout *layout, struct bu_err *err)
{
	for (size_t i = 0; i < layout->data_count; i++) {
		uint64_t begin = layout->data[i].begin_bytes;
		uint64_t end = begin + layout->data[i].size_bytes;

		if (bu_disk_discard(disk, begin, end - begin, &install->discard, err) ||
		    bu_disk_zero(disk, begin, BU_EDGE_BYTES, err) ||
		    bu_disk_zero(disk, end - BU_EDGE_BYTES, BU_EDGE_BYTES, err))
			return -1;
	}
	return 0;
}

/* One that fits each of the disks. */
static int
make_layouts(struct install *install, struct bu_err *err)
{
	const struct bu_disk *disks = install->disks;
	uint64_t bytes = disks[0].size_bytes;
	uint32_t sector = disks[0].sector_bytes;

	for (size_t i = 1; i < install->count; i++) {
		if (disks[i].size_bytes < bytes)
			bytes = disks[i].size_bytes;
		if (disks[i].sector_bytes > sector)
			sector = disks[i].sector_bytes;
	}
	for (size_t i = 0; i < install->count; i++) {
		if (bu_layout_make(install->manifest, install->opts, bytes, sector,
				   &install->layouts[i], err))
			return install->opts->roots
				       ? bu_err_wrap(err, "disk %s", disks[i].path)
				       : -1;
		/* The tables are the disk's own. */
		install->layouts[i].disk_bytes = disks[i].size_bytes;
		install->layouts[i].sector_bytes = disks[i].sector_bytes;
	}
	return 0;
}

/* What was granted for one of the disks is not granted for the other. */
static int
check_disk(const struct install *install, size_t i, enum bu_look *ret,
	   struct bu_err *err)
{
	struct bu_install_opts its = *install->opts;

	if (i > 0 && !its.mirror_granted)
		its.allow_wipe = its.keep_data = 0;
	return bu_disk_check(&install->disks[i], &its, ret, err);
}

static int
check_disks(struct install *install, struct bu_err *err)
{
	enum bu_look looks[DISKS_MAX];

	for (size_t i = 0; i < install->count; i++)
		if (check_disk(install, i, &looks[i], err))
			return -1;
	if (make_layouts(install, err))
		return -1;
	for (size_t i = 0; i < install->count; i++) {
		const struct bu_disk *disk = &install->disks[i];

		if (looks[i] == BU_LOOK_IF_LEGIBLE &&
		    !bu_gpt_is_ours(disk->fd, disk->sector_bytes))
			looks[i] = BU_LOOK_NOT;
		if (looks[i] && bu_gpt_check_data(disk->fd, &install->layouts[i], err))
			return bu_err_wrap(err, "disk %s", disk->path);
	}
	return 0;
}

static int
empty_disk(struct install *install, size_t i, struct bu_err *err)
{
	const struct bu_layout *layout = &install->layouts[i];
	const struct bu_disk *disk = &install->disks[i];
	int keep = install->opts->keep_data && layout->data_count > 0;

	if ((keep && bu_gpt_write_data(disk->fd, layout, err)) ||
	    bu_disk_clear(disk, keep, err) || empty_ends(install, disk, layout, err))
		return -1;
	return keep ? 0 : empty_data(install, disk, layout, err);
}

/* All that can say no comes before the first write, which is the mark. Data that is
 * kept is in a partition table at any moment. */
static int
prepare_disks(struct install *install, struct bu_err *err)
{
	const struct bu_install_opts *opts = install->opts;

	if (bu_mark_check(opts, err) || open_disks(install, err) ||
	    check_disks(install, err) || bu_scratch_check(opts, &install->scratch, err))
		return -1;
	for (size_t i = 0; i < install->count; i++)
		if (bu_mark_write(&install->disks[i], BU_MARK_OFFSET, opts, err))
			return -1;
	if (bu_scratch_make(opts, &install->scratch, err))
		return -1;
	for (size_t i = 0; i < install->count; i++)
		if (empty_disk(install, i, err))
			return -1;
	return 0;
}

/* Images are made for sectors of 512 bytes. */
static int
fit_sectors(const struct bu_manifest *manifest, const struct bu_disk *disk,
	    const struct bu_layout *layout, struct bu_err *err)
{
	if (disk->sector_bytes == 512)
		return 0;
	for (size_t i = 0; i < manifest->part_count; i++)
		if (!strcmp(manifest->parts[i].name, "esp") &&
		    bu_fat_fit(disk, layout->parts[i].begin_bytes, err))
			return -1;
	return bu_disk_sync(disk, err);
}

/* Each of the disks boots before one of them says that it is finished. */
static int
finish(struct install *install, struct bu_err *err)
{
	for (size_t i = 0; i < install->count; i++)
		if (bu_gpt_write(install->disks[i].fd, install->manifest,
				 &install->layouts[i], err) ||
		    bu_disk_sync(&install->disks[i], err))
			return -1;
	for (size_t i = 0; i < install->count; i++)
		if (bu_mark_finish(&install->disks[i], BU_MARK_OFFSET, err))
			return -1;
	return 0;
}

/* --- a disk with two roots --- */

static int
check_roots(struct install *install, struct bu_err *err)
{
	const struct bu_install_opts *opts = install->opts;

	if (bu_mark_check(opts, err) || bu_roots_look(opts, &install->roots, err) ||
	    open_disks(install, err) || check_disks(install, err) ||
	    bu_roots_choose(opts, &install->disks[0], &install->layouts[0],
			    &install->roots, err))
		return -1;
	return bu_scratch_check(opts, &install->scratch, err);
}

/* Whoever tries it meanwhile finds it as it was: its frames come later. */
static int
disarm(struct install *install, struct bu_err *err)
{
	if (install->roots.was.try == BU_SLOT_NONE)
		return 0;
	close_disks(install);
	return bu_roots_disarm(install->opts, &install->roots, err) ||
			       open_disks(install, err)
		       ? -1
		       : 0;
}

/* All that can say no comes before the first write, which is the mark: of the slot, or
 * of the disk. */
static int
prepare_roots(struct install *install, struct bu_err *err)
{
	const struct bu_install_opts *opts = install->opts;
	const struct bu_roots *roots = &install->roots;
	const struct bu_disk *disk = &install->disks[0];

	if (check_roots(install, err))
		return -1;
	if (bu_mark_write(disk, roots->keeps ? roots->mark_at : BU_MARK_OFFSET, opts,
			  err) ||
	    (roots->keeps && disarm(install, err)) ||
	    bu_scratch_make(opts, &install->scratch, err))
		return -1;
	if (!roots->keeps)
		return empty_disk(install, 0, err) ||
				       bu_mark_write(disk, roots->mark_at, opts, err)
			       ? -1
			       : 0;
	return roots->reused ? 0 : empty_ends(install, disk, &roots->part, err);
}

static int
write_slot(struct install *install, struct bu_err *err)
{
	const struct bu_disk *disk = &install->disks[0];
	const struct bu_roots *roots = &install->roots;

	if (roots->reused)
		return 0;
	if (bu_part_writer_write(install->opts, install->hooks, install->manifest,
				 &roots->part, disk, err))
		return -1;
	if (!roots->keeps &&
	    bu_roots_copy(disk, install->manifest, &install->layouts[0], roots, err))
		return -1;
	if (!roots->keeps &&
	    fit_sectors(install->manifest, disk, &install->layouts[0], err))
		return -1;
	if (fit_sectors(install->manifest, disk, &roots->part, err))
		return -1;
	return roots->keeps ? bu_disk_reread(disk, err) : 0;
}

static int
finish_roots(struct install *install, struct bu_err *err)
{
	const struct bu_roots *roots = &install->roots;

	if (bu_mark_finish(&install->disks[0], roots->mark_at, err))
		return -1;
	if (!roots->keeps)
		return finish(install, err);
	close_disks(install);
	return bu_roots_arm(install->opts, roots, err);
}

static int
run_roots(struct install *install, struct bu_err *err)
{
	const struct bu_roots *roots = &install->roots;

	if (prepare_roots(install, err) || write_slot(install, err) ||
	    bu_part_writer_enter(install->hooks, "files", err))
		return -1;
	close_disks(install);
	if (bu_roots_fill(install->opts, install->manifest, &install->layouts[0], roots,
			  err) ||
	    open_disks(install, err) || finish_roots(install, err))
		return -1;
	if (install->opts->ret_slot)
		*install->opts->ret_slot = (struct bu_install_slot){
			roots->slot, roots->keeps, roots->reused};
	return 0;
}

/* --- one root --- */

/* The mount needs the disks not to be open exclusively. */
static int
fill_root(struct install *install, struct bu_err *err)
{
	close_disks(install);
	if (bu_target_fill(install->opts, install->manifest, &install->layouts[0], err))
		return -1;
	return open_disks(install, err);
}

/* All that can say no comes before the first write, which is the mark. */
static int
prepare_raw(struct install *install, struct bu_err *err)
{
	const struct bu_install_opts *opts = install->opts;
	struct bu_disk *disk = &install->disks[0];
	struct bu_err taken = {0};
	enum bu_look look;

	if (bu_mark_check(opts, err) || open_disks(install, err))
		return -1;
	bu_ignore(bu_disk_check(disk, opts, &look, &taken));
	if (bu_raw_check(opts, install->hooks, install->manifest, disk, &install->raw,
			 err))
		return -1;
	/* Its end may be known to nobody, and no mark is left where that image has
	 * bytes of its own. */
	if (taken.kind && !bu_seed_is_own(disk, install->raw.seed_begin, opts)) {
		*err = taken;
		return -1;
	}
	bu_raw_layout(install->manifest, disk, &install->layouts[0]);
	if (bu_mark_write(disk, BU_MARK_OFFSET, opts, err))
		return -1;
	if (bu_disk_discard(disk, BU_EDGE_BYTES, disk->size_bytes - 2 * BU_EDGE_BYTES,
			    &install->discard, err))
		return -1;
	return bu_disk_clear(disk, 0, err);
}

static int
run_raw(struct install *install, struct bu_err *err)
{
	if (prepare_raw(install, err) ||
	    bu_part_writer_write(install->opts, install->hooks, install->manifest,
				 &install->layouts[0], &install->disks[0], err))
		return -1;
	if (bu_part_writer_enter(install->hooks, "files", err))
		return -1;
	return bu_raw_finish(install->opts, &install->raw, &install->disks[0], err);
}

static int
run_parts(struct install *install, struct bu_err *err)
{
	if (prepare_disks(install, err) ||
	    bu_part_writer_write(install->opts, install->hooks, install->manifest,
				 &install->layouts[0], &install->disks[0], err))
		return -1;
	for (size_t i = 0; i < install->count; i++)
		if (fit_sectors(install->manifest, &install->disks[i],
				&install->layouts[i], err))
			return -1;
	if (bu_part_writer_enter(install->hooks, "files", err) ||
	    fill_root(install, err))
		return -1;
	return finish(install, err);
}

static int
run(struct install *install, struct bu_err *err)
{
	if (bu_part_writer_enter(install->hooks, "manifest", err))
		return -1;
	install->manifest = bu_fetch_manifest(install->opts, install->hooks, err);
	if (!install->manifest)
		return -1;
	if (bu_part_writer_enter(install->hooks, "disk", err))
		return -1;
	if (install->opts->raw          ? run_raw(install, err)
	    : install->opts->roots == 2 ? run_roots(install, err)
					: run_parts(install, err))
		return -1;
	if (install->hooks->progress)
		install->hooks->progress("done", 0, 0, install->hooks->arg);
	return 0;
}

int
bu_install_run(const struct bu_install_opts *opts, const struct bu_install_hooks *hooks,
	       struct bu_err *err)
{
	struct install install = {
		.opts = opts, .hooks = hooks, .discard = {.hooks = hooks}};
	int64_t begin_ms = bu_mono_ms(bu_clock_system());
	int rc = run(&install, err);

	close_disks(&install);
	bu_scratch_close(&install.scratch);
	bu_raw_fini(&install.raw);
	bu_manifest_destroy(install.manifest);
	if (!rc)
		bu_info("install", "image %s is on %s%s%s after %.1f s", opts->image,
			opts->disk, opts->mirror ? " and " : "",
			opts->mirror ? opts->mirror : "",
			(bu_mono_ms(bu_clock_system()) - begin_ms) / 1000.0);
	return rc;
}
