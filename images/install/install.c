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
#include "images/install/parts.h"
#include "images/install/raw.h"
#include "images/install/scratch.h"
#include "images/install/seed.h"
#include "images/install/target.h"
#include "images/manifest.h"

struct install {
	const struct bu_install_opts *opts;
	const struct bu_install_hooks *hooks;
	struct bu_manifest *manifest;
	struct bu_layout layout;
	struct bu_disk disk;
	struct bu_scratch scratch;
	struct bu_raw raw; /* of a whole disk */
};

static int
enter_stage(const struct install *install, const char *stage, struct bu_err *err)
{
	if (bu_parts_cancelled(install->hooks, err))
		return -1;
	if (install->hooks->progress)
		install->hooks->progress(stage, 0, 0, install->hooks->arg);
	return 0;
}

/* An image ends before the part that it grows in: what labels itself at its end (RAID,
 * ZFS) must not be seen there beside the new file system. */
static int
empty_ends(const struct install *install, struct bu_err *err)
{
	for (size_t i = 0; i < install->layout.count; i++) {
		uint64_t end = install->layout.parts[i].begin_bytes +
			       install->layout.parts[i].size_bytes;

		if (bu_disk_zero(&install->disk, end - BU_EDGE_BYTES, BU_EDGE_BYTES,
				 err))
			return -1;
	}
	return 0;
}

/* What was a file system there must not look like one: the ends of each data partition
 * are zeroed. */
static int
empty_data(const struct install *install, struct bu_err *err)
{
	for (size_t i = 0; i < install->layout.data_count; i++) {
		uint64_t begin = install->layout.data[i].begin_bytes;
		uint64_t end = begin + install->layout.data[i].size_bytes;

		if (bu_disk_zero(&install->disk, begin, BU_EDGE_BYTES, err) ||
		    bu_disk_zero(&install->disk, end - BU_EDGE_BYTES, BU_EDGE_BYTES,
				 err))
			return -1;
	}
	return 0;
}

/* All that can say no comes before the first write, which is the mark. Data that is
 * kept is in a partition table at any moment. */
static int
prepare_disk(struct install *install, struct bu_err *err)
{
	const struct bu_install_opts *opts = install->opts;
	const struct bu_layout *layout = &install->layout;
	struct bu_disk *disk = &install->disk;
	enum bu_look look;
	int keep;

	if (bu_mark_check(opts, err) || bu_disk_open(opts->disk, disk, err))
		return -1;
	if (bu_disk_check(disk, opts, &look, err) ||
	    bu_layout_make(install->manifest, opts, disk->size_bytes,
			   disk->sector_bytes, &install->layout, err))
		return -1;
	if (look == BU_LOOK_IF_LEGIBLE && !bu_gpt_is_ours(disk->fd, disk->sector_bytes))
		look = BU_LOOK_NOT;
	if (look && bu_gpt_check_data(disk->fd, install->manifest, layout, err))
		return bu_err_wrap(err, "disk %s", opts->disk);
	if (bu_scratch_check(opts, &install->scratch, err))
		return -1;
	keep = opts->keep_data && layout->data_count > 0;
	if (bu_mark_write(disk, opts, err) ||
	    bu_scratch_make(opts, &install->scratch, err) ||
	    (keep && bu_gpt_write_data(disk->fd, layout, err)) ||
	    bu_disk_clear(disk, keep, err) || empty_ends(install, err))
		return -1;
	return keep ? 0 : empty_data(install, err);
}

/* Images are made for sectors of 512 bytes. */
static int
fit_sectors(struct install *install, struct bu_err *err)
{
	const struct bu_manifest *manifest = install->manifest;

	if (install->disk.sector_bytes == 512)
		return 0;
	for (size_t i = 0; i < manifest->part_count; i++)
		if (!strcmp(manifest->parts[i].name, "esp") &&
		    bu_fat_fit(&install->disk, install->layout.parts[i].begin_bytes,
			       err))
			return -1;
	return bu_disk_sync(&install->disk, err);
}

/* The mount needs the disk not to be open exclusively. */
static int
fill_root(struct install *install, struct bu_err *err)
{
	bu_disk_close(&install->disk);
	if (bu_target_fill(install->opts, install->manifest, &install->layout, err))
		return -1;
	return bu_disk_open(install->opts->disk, &install->disk, err);
}

static int
finish(struct install *install, struct bu_err *err)
{
	if (bu_gpt_write(install->disk.fd, install->manifest, &install->layout, err) ||
	    bu_disk_sync(&install->disk, err))
		return -1;
	return bu_mark_finish(&install->disk, err);
}

/* All that can say no comes before the first write, which is the mark. */
static int
prepare_raw(struct install *install, struct bu_err *err)
{
	const struct bu_install_opts *opts = install->opts;
	struct bu_disk *disk = &install->disk;
	struct bu_err taken = {0};
	enum bu_look look;

	if (bu_mark_check(opts, err) || bu_disk_open(opts->disk, disk, err))
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
	bu_raw_layout(install->manifest, disk, &install->layout);
	if (bu_mark_write(disk, opts, err))
		return -1;
	return bu_disk_clear(disk, 0, err);
}

static int
run_raw(struct install *install, struct bu_err *err)
{
	if (prepare_raw(install, err) ||
	    bu_parts_write(install->opts, install->hooks, install->manifest,
			   &install->layout, &install->disk, err))
		return -1;
	if (enter_stage(install, "files", err))
		return -1;
	return bu_raw_finish(install->opts, &install->raw, &install->disk, err);
}

static int
run_parts(struct install *install, struct bu_err *err)
{
	if (prepare_disk(install, err))
		return -1;
	if (bu_parts_write(install->opts, install->hooks, install->manifest,
			   &install->layout, &install->disk, err) ||
	    fit_sectors(install, err))
		return -1;
	if (enter_stage(install, "files", err) || fill_root(install, err))
		return -1;
	return finish(install, err);
}

static int
run(struct install *install, struct bu_err *err)
{
	if (enter_stage(install, "manifest", err))
		return -1;
	install->manifest = bu_fetch_manifest(install->opts, install->hooks, err);
	if (!install->manifest)
		return -1;
	/* They came later than the ramdisks that find it. */
	if (install->opts->ret_finds_disk)
		*install->opts->ret_finds_disk = install->manifest->agent_brought;
	if (enter_stage(install, "disk", err))
		return -1;
	if (install->opts->raw ? run_raw(install, err) : run_parts(install, err))
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
		.opts = opts, .hooks = hooks, .disk = {.fd = -1, .direct_fd = -1}};
	int64_t begin_ms = bu_mono_ms(bu_clock_system());
	int rc = run(&install, err);

	bu_disk_close(&install.disk);
	bu_scratch_close(&install.scratch);
	bu_raw_fini(&install.raw);
	bu_manifest_destroy(install.manifest);
	if (!rc)
		bu_info("install", "image %s is on %s after %.1f s", opts->image,
			opts->disk,
			(bu_mono_ms(bu_clock_system()) - begin_ms) / 1000.0);
	return rc;
}
