/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's command line of an installed system: the image's own arguments (the file
 * /kargs of the system partition), then the node's, in the configurations of both boot
 * loaders. The installer writes them; the agent changes them for the next boot.
 */
#ifndef BU_IMAGES_INSTALL_BOOTARGS_H
#define BU_IMAGES_INSTALL_BOOTARGS_H

#include "base/err.h"

enum { BU_BOOTARGS_MAX = 2047 }; /* of x86, both parts together */

/* esp_dir: where the system partition is mounted. What is there already is not written
 * again. BU_ERR_INVAL for a line that is too long or holds control characters,
 * BU_ERR_STATE for an image that has no /kargs (fine when kargs is ""). */
bu_must int bu_bootargs_write(const char *esp_dir, const char *kargs,
			      struct bu_err *err);
/* All of it, as it is there; owned. */
char *bu_bootargs_line(const char *esp_dir, struct bu_err *err);
/* The node's part as it is there; where loaders differ, of the first that is not as the
 * first one of all; owned. */
char *bu_bootargs_read(const char *esp_dir, struct bu_err *err);

/* Mounts a system partition ("/dev/vda1") at a folder of its own and unmounts it after
 * fn, which has the folder. */
bu_must int bu_bootargs_mounted(const char *device,
				int (*fn)(const char *esp_dir, void *arg,
					  struct bu_err *err),
				void *arg, struct bu_err *err);
/* The same, and nothing on it changes. */
bu_must int bu_bootargs_looked(const char *device,
			       int (*fn)(const char *esp_dir, void *arg,
					 struct bu_err *err),
			       void *arg, struct bu_err *err);
struct bu_bootargs_esps {
	size_t count;
	char *devices[2]; /* "/dev/vda1"; owned */
};
/* The system partition beside this partition, its own where that is one of two roots,
 * or beside each that this array has now; device: its folder in /sys. */
void bu_bootargs_find(const char *device, struct bu_bootargs_esps *ret);
/* Those of the disks that this array has left out, though they have half of it: what
 * the machine starts with may be the loader of one. root: "", or a test's tree; array:
 * the kernel's name. */
void bu_bootargs_left_out(const char *root, const char *array,
			  struct bu_bootargs_esps *ret);
/* Of the running system: the system partition on the disk, or on each disk, that / is
 * on; those of disks that the array has left out get the same where they take it.
 * *ret_old (may be NULL; owned) gets the node's part as it was; kargs NULL only reads.
 */
bu_must int bu_bootargs_system(const char *kargs, char **ret_old, struct bu_err *err);
/* Of the running system: the boot partition of the disk that / is on, "/dev/vda1";
 * owned. */
char *bu_bootargs_boot(struct bu_err *err);

#endif
