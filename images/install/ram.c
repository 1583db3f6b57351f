/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a system into memory; the agent of the boot ramdisk calls it, and its init goes
 * there. Invariants: no frame is in the file before its digest was right, and the file
 * is mounted when all are; no disk is opened, for reading or writing.
 */
#include "images/install/ram.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "images/install/fetch.h"
#include "images/install/part_writer.h"
#include "images/install/target.h"

/* For the system itself, beside its files. */
enum { RESERVE_BYTES = 128 * 1024 * 1024 };

struct ram {
	const struct bu_install_opts *opts;
	const struct bu_install_hooks *hooks;
	const struct bu_ram_place *place;
	struct bu_manifest *manifest;
	uint64_t bytes;
	char image[128], lower[128], rw[128], root[128];
};

/* With all that is mounted in it; twice where two loads ended before their end. */
static void
unmount(const char *dir)
{
	while (!umount2(dir, MNT_DETACH))
		;
}

int
bu_ram_place(const char *dir, char *release, struct bu_ram_place *ret,
	     struct bu_err *err)
{
	bu_autofree char *text = NULL;
	const char *at;
	unsigned long long kib = 0;
	struct utsname names;

	unmount(dir); /* what it holds is not free */
	text = bu_file_read("/proc/meminfo", 65536, NULL, err);
	at = text ? strstr(text, "MemAvailable:") : NULL;
	if (!text)
		return -1;
	if (uname(&names) || !at || sscanf(at, "MemAvailable: %llu", &kib) != 1)
		return bu_err_set(err, BU_ERR_IO, errno,
				  "/proc/meminfo does not say what is free");
	snprintf(release, 65, "%s", names.release);
	*ret = (struct bu_ram_place){dir, release, kib * 1024};
	return 0;
}

static const struct bu_part *
root_part(const struct bu_manifest *manifest)
{
	for (size_t i = 0; i < manifest->part_count; i++)
		if (strcmp(manifest->parts[i].name, "root") == 0)
			return &manifest->parts[i];
	return NULL;
}

uint64_t
bu_ram_bytes(const struct bu_manifest *manifest)
{
	const struct bu_part *part = root_part(manifest);
	uint64_t bytes = 0;

	for (size_t i = 0; part && i < part->frame_count; i++)
		if (part->frames[i].size)
			bytes += bu_part_frame_bytes(part, i);
	return bytes;
}

/* All that can say no, before a frame is fetched. */
static int
check(const struct ram *ram, struct bu_err *err)
{
	const struct bu_ram_place *place = ram->place;
	uint64_t needed = ram->bytes + RESERVE_BYTES;

	if (!ram->bytes)
		return bu_err_set(err, BU_ERR_STATE, 0, "image %s has no part 'root'",
				  ram->manifest->name);
	if (strcmp(ram->manifest->kernel, place->kernel) != 0)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "image %s has kernel %s, and the boot ramdisk %s: a "
				  "system in memory runs under the ramdisk's; build "
				  "both anew (bringup image build ramdisk)",
				  ram->manifest->name, ram->manifest->kernel,
				  place->kernel);
	if (place->memory_bytes < needed)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "image %s needs %llu MiB of memory to run from it, "
				  "and %llu MiB are free",
				  ram->manifest->name,
				  (unsigned long long)(needed >> 20),
				  (unsigned long long)(place->memory_bytes >> 20));
	return 0;
}

static int
mount_at(const char *what, const char *dir, const char *type, unsigned long flags,
	 const char *options, struct bu_err *err)
{
	if (bu_mkdir_p(dir, 0755, err))
		return -1;
	if (mount(what, dir, type, flags, options))
		return bu_err_set(err, BU_ERR_IO, errno, "%s on %s", type, dir);
	return 0;
}

static int
is_mounted(const struct ram *ram)
{
	return !ram->opts->root_dir;
}

/* A file for the part and nothing else. What the image leaves out stays a hole. */
static int
make_file(const struct ram *ram, const struct bu_part *part, struct bu_err *err)
{
	bu_autofree char *options = bu_xasprintf(
		"mode=700,size=%llu", (unsigned long long)ram->bytes + (1 << 20));
	bu_autoclose int fd = -1;

	if (is_mounted(ram) &&
	    mount_at("image", ram->place->dir, "tmpfs", 0, options, err))
		return -1;
	fd = open(ram->image, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)part->size_bytes))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", ram->image);
	return 0;
}

static int
fill_file(const struct ram *ram, const struct bu_part *part, struct bu_err *err)
{
	struct bu_manifest *only = bu_xcalloc(1, sizeof(*only));
	struct bu_layout layout = {.count = 1};
	struct bu_disk file;
	int rc = bu_disk_open(ram->image, &file, err);

	only->part_count = 1;
	only->parts[0] = *part;
	layout.parts[0].size_bytes = part->size_bytes;
	if (rc == 0) {
		rc = bu_part_writer_write(ram->opts, ram->hooks, only, &layout, &file,
					  err);
		bu_disk_close(&file);
	}
	free(only); /* its frames are the image's */
	return rc;
}

/* Freed by the kernel when its last mount goes. */
static int
attach(const char *path, char ret_device[32], struct bu_err *err)
{
	bu_autoclose int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	bu_autoclose int image = open(path, O_RDONLY | O_CLOEXEC);
	int number = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);
	struct loop_config config = {
		.fd = (uint32_t)image,
		.block_size = 4096,
		.info = {.lo_flags = LO_FLAGS_READ_ONLY | LO_FLAGS_AUTOCLEAR},
	};
	int device;

	if (image < 0 || number < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "no loop device for %s", path);
	snprintf(ret_device, 32, "/dev/loop%d", number);
	device = open(ret_device, O_RDONLY | O_CLOEXEC);
	if (device < 0 || ioctl(device, LOOP_CONFIGURE, &config)) {
		bu_err_set(err, BU_ERR_IO, errno, "%s", ret_device);
		if (device >= 0)
			close(device);
		return -1;
	}
	return device;
}

/* What is written may take half of the memory, as any tmpfs. */
static int
mount_root(const struct ram *ram, struct bu_err *err)
{
	bu_autofree char *layers =
		bu_xasprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work",
			     ram->lower, ram->rw, ram->rw);
	bu_autofree char *upper = bu_xasprintf("%s/upper", ram->rw);
	bu_autofree char *work = bu_xasprintf("%s/work", ram->rw);
	char device[32];
	bu_autoclose int loop = attach(ram->image, device, err);

	if (loop < 0 ||
	    mount_at(device, ram->lower, "ext4", MS_RDONLY, "noload", err) ||
	    mount_at("written", ram->rw, "tmpfs", 0, "mode=755", err) ||
	    bu_mkdir_p(upper, 0755, err) || bu_mkdir_p(work, 0755, err))
		return -1;
	return mount_at("system", ram->root, "overlay", 0, layers, err);
}

static int
fill_root(const struct ram *ram, struct bu_err *err)
{
	const char *dir = is_mounted(ram) ? ram->root : ram->opts->root_dir;
	bu_autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", dir);
	return bu_target_write(ram->opts, fd, err);
}

static int
run(struct ram *ram, struct bu_err *err)
{
	const struct bu_part *part;

	if (bu_part_writer_enter(ram->hooks, "manifest", err))
		return -1;
	ram->manifest = bu_fetch_manifest(ram->opts, ram->hooks, err);
	if (!ram->manifest)
		return -1;
	ram->bytes = bu_ram_bytes(ram->manifest);
	part = root_part(ram->manifest);
	if (check(ram, err) || make_file(ram, part, err) || fill_file(ram, part, err) ||
	    bu_part_writer_enter(ram->hooks, "files", err) ||
	    (is_mounted(ram) && mount_root(ram, err)) || fill_root(ram, err))
		return -1;
	return bu_part_writer_enter(ram->hooks, "done", err);
}

static void
drop(const struct ram *ram)
{
	if (!is_mounted(ram)) {
		unlink(ram->image);
		return;
	}
	unmount(ram->place->dir);
}

int
bu_ram_load(const struct bu_install_opts *opts, const struct bu_install_hooks *hooks,
	    const struct bu_ram_place *place, struct bu_err *err)
{
	struct ram ram = {.opts = opts, .hooks = hooks, .place = place};
	int64_t begin_ms = bu_mono_ms(bu_clock_system());
	int rc;

	snprintf(ram.image, sizeof(ram.image), "%s/image", place->dir);
	snprintf(ram.lower, sizeof(ram.lower), "%s/lower", place->dir);
	snprintf(ram.rw, sizeof(ram.rw), "%s/rw", place->dir);
	snprintf(ram.root, sizeof(ram.root), "%s/root", place->dir);
	rc = run(&ram, err);
	if (rc)
		drop(&ram);
	else
		bu_info("ram", "image %s is in memory (%llu MiB) after %.1f s",
			opts->image, (unsigned long long)(ram.bytes >> 20),
			(bu_mono_ms(bu_clock_system()) - begin_ms) / 1000.0);
	bu_manifest_destroy(ram.manifest);
	return rc;
}
