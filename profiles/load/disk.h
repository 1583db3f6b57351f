/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which disk of a machine a profile means: properties that stay with the disk or with
 * the place it is in, never the name that a kernel gives it at each start.
 *
 *	serial:S6X1NE0T                 its serial number
 *	wwn:eui.0025384c31b5a1f0        its world-wide name
 *	path:pci-0000:02:00.0-nvme-1    the place it is in; '*' and '?' stand for others
 *	model:SAMSUNG MZ1L2*            '*' and '?' stand for others
 *	size:400GiB-1TiB                also 400GiB- and -1TiB
 *	rotational:no                   or yes
 *	smallest                        of those that are left; equal ones stay
 *	first                           of those that are left, by their paths
 *	boot-pair                       the two that a server boots from, one mirroring
 *	                                the other: the smallest of those that are left,
 *	                                when they are two, of one model
 *
 * with commas between them; all of them hold, the last three at the end. An order of a
 * disk without a number has its path instead, "/dev/vda", which no profile may say.
 */
#ifndef BU_PROFILES_LOAD_DISK_H
#define BU_PROFILES_LOAD_DISK_H

#include "model/disk_own.h"
#include "model/inventory.h"

/* 1 for the above. */
int bu_disk_form_ok(const char *selector);

/* 1 when it picks of those that are left: the smallest, the first, a boot-pair. */
int bu_disk_is_for_one(const char *selector);
/* 1 when it names one by its world-wide name or its place (without '*' and '?'): no
 * other disk is it when that one is away. */
int bu_disk_is_named(const char *selector);
/* 1 when it says two: bu_disk_choose() has the first of them, bu_disk_choose_other()
 * the other one. */
int bu_disk_is_boot_pair(const char *selector);

/* How many disks fit: 1 fills *ret; 0; or more, which is one too many. Those
 * that bear no system (bu_disk_bears()) never do, nor those that a multipath map or an
 * array has by any path. Two paths to
 * one disk (of one serial number and world-wide name) are one.
 */
size_t bu_disk_choose(const char *selector, const struct bu_disk *disks, size_t count,
		      const struct bu_disk **ret);
/* The one that was known by these, of bu_disks_own(); 1, or 0 = it is not there. */
size_t bu_disk_choose_known(const char *serial, const char *wwn,
			    const struct bu_disk *disks, size_t count,
			    const struct bu_disk **ret);
/* The same of those that are not `except`, however many ways lead to it. */
size_t bu_disk_choose_other(const char *selector, const struct bu_disk *disks,
			    size_t count, const struct bu_disk *except,
			    const struct bu_disk **ret);
/* All that fit but the system's (either may be NULL), however many ways lead to
 * them; by their paths, each once. ret has room for count. How many. */
size_t bu_disk_choose_all(const char *selector, const struct bu_disk *disks,
			  size_t count, const struct bu_disk *const system[2],
			  const struct bu_disk **ret);
/* "2 of 894 GiB (MZ1L2960), 1 of 28 GiB (Cruzer, removable)": what there is for a
 * boot-pair. Owned. */
char *bu_disk_words(const struct bu_disk *disks, size_t count);

#endif
