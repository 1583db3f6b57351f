/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of two roots is written; the steps of install.c. Invariant: from the first write
 * to the last the confirmed root, its system partition and the choice of it are as they
 * were: cut off anywhere, the disk starts it.
 */
#include "images/install/roots.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "images/install/bootargs.h"
#include "images/install/target.h"

enum { COPY_BYTES = 1024 * 1024 };

/* Of the layout's parts. */
static size_t
esp_of(int slot)
{
	return 1 + 2 * (size_t)slot;
}

static int
is_block(const char *disk)
{
	struct stat st;

	return stat(disk, &st) == 0 && S_ISBLK(st.st_mode);
}

/* The partition with this number, from 0 on; a file has a folder for it. */
static int
with_part(const struct bu_install_opts *opts, size_t which, const char *dir,
	  int (*fn)(const char *dir, void *arg, struct bu_err *err), void *arg,
	  struct bu_err *err)
{
	bu_autofree char *node = NULL;

	if (!is_block(opts->disk))
		return fn(dir ? dir : "", arg, err);
	node = bu_disk_part(opts->disk, which);
	return bu_bootargs_mounted(node, fn, arg, err);
}

static int
read_chooser(const char *dir, void *arg, struct bu_err *err)
{
	return bu_chooser_read(dir, arg, err);
}

static int
make_chooser(const char *dir, void *arg, struct bu_err *err)
{
	return bu_chooser_make(dir, err);
}

static int
set_boot(const struct bu_install_opts *opts, struct bu_chooser to, struct bu_err *err)
{
	return with_part(opts, 0, opts->boot_dir, bu_chooser_set_mounted, &to, err) == 0
		       ? 0
		       : bu_err_wrap(err, "disk %s", opts->disk);
}

/* Before it is known that anything may be written. */
static int
look_at_boot(const struct bu_install_opts *opts, struct bu_chooser *ret,
	     struct bu_err *err)
{
	bu_autofree char *node = NULL;

	if (!is_block(opts->disk))
		return bu_chooser_read(opts->boot_dir, ret, err);
	node = bu_disk_part(opts->disk, 0);
	return bu_bootargs_looked(node, read_chooser, ret, err);
}

int
bu_roots_look(const struct bu_install_opts *opts, struct bu_roots *ret,
	      struct bu_err *err)
{
	struct bu_gpt_esp part;
	struct bu_err why = {0};

	*ret = (struct bu_roots){.was = {BU_SLOT_NONE, BU_SLOT_NONE}};
	if (!opts->keep_data || opts->allow_wipe)
		return 0;
	if (bu_gpt_find_part(opts->disk, "root-b", &part, &why)) {
		if (why.kind != BU_ERR_IO)
			return 0;
		if (err)
			*err = why;
		return -1;
	}
	ret->keeps = 1;
	return look_at_boot(opts, &ret->was, err) == 0
		       ? 0
		       : bu_err_wrap(err, "disk %s", opts->disk);
}

int
bu_roots_choose(const struct bu_install_opts *opts, const struct bu_disk *disk,
		const struct bu_layout *layout, struct bu_roots *roots,
		struct bu_err *err)
{
	size_t esp;

	if (roots->keeps && !bu_gpt_has_parts(disk->fd, layout))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "disk %s has two roots in other places than the "
				  "profile puts them; a wipe writes it anew",
				  disk->path);
	if (!roots->keeps && opts->keep_data && !opts->allow_wipe &&
	    bu_gpt_has_parts(disk->fd, layout))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "disk %s has two roots, and had none a moment ago; "
				  "retry it, and replace the disk if it says so again",
				  disk->path);
	roots->slot = roots->was.slot == BU_SLOT_A ? BU_SLOT_B : BU_SLOT_A;
	esp = esp_of(roots->slot);
	roots->part = *layout;
	roots->part.count = 2;
	roots->part.data_count = 0;
	roots->part.parts[0] = layout->parts[esp];
	roots->part.parts[1] = layout->parts[esp + 1];
	roots->mark_at = layout->parts[esp].begin_bytes - BU_ROOTS_GAP_BYTES;
	roots->reused = roots->keeps && opts->reuse &&
			bu_slot_has_image(disk, roots->mark_at, opts);
	return 0;
}

/* What the image leaves out was zeroed. */
static int
copy_range(const struct bu_disk *disk, uint64_t from, uint64_t to, uint64_t size,
	   struct bu_err *err)
{
	bu_autofree char *block = bu_xmalloc(COPY_BYTES);

	for (uint64_t done = 0; done < size; done += COPY_BYTES) {
		size_t now = size - done < COPY_BYTES ? size - done : COPY_BYTES;

		if (bu_read_at(disk->fd, block, now, from + done, err) ||
		    bu_disk_write(disk->fd, block, now, to + done, err))
			return bu_err_wrap(err, "disk %s", disk->path);
	}
	return 0;
}

int
bu_roots_copy(const struct bu_disk *disk, const struct bu_manifest *manifest,
	      const struct bu_layout *layout, const struct bu_roots *roots,
	      struct bu_err *err)
{
	const struct bu_part *part = &manifest->parts[0];
	uint64_t from = roots->part.parts[0].begin_bytes;
	uint64_t to = layout->parts[0].begin_bytes;

	for (int slot = BU_SLOT_A; slot <= BU_SLOT_B; slot++) {
		uint64_t at = layout->parts[esp_of(slot)].begin_bytes;

		if (slot != roots->slot && bu_disk_zero(disk, at - BU_ROOTS_GAP_BYTES,
							BU_ROOTS_GAP_BYTES, err))
			return -1;
	}
	for (size_t i = 0; i < part->frame_count; i++) {
		uint64_t at = (uint64_t)i * part->frame_bytes;
		uint64_t size = bu_part_frame_bytes(part, i);

		if (part->frames[i].size
			    ? copy_range(disk, from + at, to + at, size, err)
			    : bu_disk_zero(disk, to + at, size, err))
			return -1;
	}
	return bu_disk_sync(disk, err);
}

int
bu_roots_disarm(const struct bu_install_opts *opts, const struct bu_roots *roots,
		struct bu_err *err)
{
	return set_boot(opts, (struct bu_chooser){roots->was.slot, BU_SLOT_NONE}, err);
}

struct slot_args {
	int slot;
	const char *kargs;
};

static int
fill_slot(const char *dir, void *arg, struct bu_err *err)
{
	const struct slot_args *args = arg;

	return bu_slot_fill(dir, args->slot, args->kargs, err);
}

int
bu_roots_fill(const struct bu_install_opts *opts, const struct bu_manifest *manifest,
	      const struct bu_layout *layout, const struct bu_roots *roots,
	      struct bu_err *err)
{
	struct slot_args args = {roots->slot, opts->kargs ? opts->kargs : ""};
	struct bu_install_opts its = *opts;
	size_t esp = esp_of(roots->slot);
	bu_autofree char *device = NULL;

	if (is_block(opts->disk)) {
		if (!roots->keeps && bu_target_add(opts->disk, layout, err))
			return -1;
		device = bu_disk_part(opts->disk, esp + 1);
	}
	its.forget = roots->reused;
	if (bu_target_root(&its, &manifest->parts[1], device, err) ||
	    with_part(opts, esp, opts->esp_dir, fill_slot, &args, err))
		return bu_err_wrap(err, "root %s", bu_slot_name(roots->slot));
	return roots->keeps
		       ? 0
		       : with_part(opts, 0, opts->boot_dir, make_chooser, NULL, err);
}

int
bu_roots_arm(const struct bu_install_opts *opts, const struct bu_roots *roots,
	     struct bu_err *err)
{
	return set_boot(opts, (struct bu_chooser){roots->was.slot, roots->slot}, err);
}
