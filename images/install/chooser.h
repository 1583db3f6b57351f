/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of two roots a disk starts. Its boot partition has the loaders that the
 * firmware starts; they go on to the loader of a slot: to the confirmed one, or once to
 * the one that is to be tried. Under UEFI, GRUB clears the try in `grubenv` before it
 * goes on; under BIOS, syslinux does so in its auxiliary data vector ("boot once").
 * GRUB does not make a try that it could not clear. syslinux does not look whether its
 * write succeeded: on a disk that takes no more writes it tries at each start.
 */
#ifndef BU_IMAGES_INSTALL_CHOOSER_H
#define BU_IMAGES_INSTALL_CHOOSER_H

#include "base/err.h"

enum { BU_SLOT_NONE = -1, BU_SLOT_A, BU_SLOT_B };

struct bu_chooser {
	int slot; /* confirmed */
	int try;  /* BU_SLOT_NONE = none is to be tried */
};

/* The kernel's argument that says which root it is to have: "bringup.slot=b". */
#define BU_SLOT_ARG "bringup.slot"
/* "a" or "b". */
const char *bu_slot_name(int slot);
/* Of such an argument; BU_SLOT_NONE for any other word, or NULL. */
int bu_slot_of(const char *word);

/* dir: where the boot partition, a copy of a slot's system partition, is mounted. It
 * starts slot a afterwards. */
bu_must int bu_chooser_make(const char *dir, struct bu_err *err);
/* As the loader of this machine's firmware will, or of that kind of firmware.
 * BU_ERR_STATE when it was not made. */
bu_must int bu_chooser_read(const char *dir, struct bu_chooser *ret,
			    struct bu_err *err);
bu_must int bu_chooser_read_as(const char *dir, int efi, struct bu_chooser *ret,
			       struct bu_err *err);
/* 1 when both loaders do that already, and nothing is left of a try. */
int bu_chooser_is(const char *dir, const struct bu_chooser *to);
/* In place, synced; what is there already is not written. At any moment one of the two
 * loaders does the old thing or the new one; that of this machine's firmware is first.
 */
bu_must int bu_chooser_set(const char *dir, const struct bu_chooser *to,
			   struct bu_err *err);
/* The same for bu_bootargs_mounted(); to: a struct bu_chooser. */
bu_must int bu_chooser_set_mounted(const char *dir, void *to, struct bu_err *err);

/* Of the running system, whose root this is: it is confirmed from now on. Where it
 * is so already the partition is only looked at. BU_SLOT_NONE: it has one root, and
 * there is nothing to do. */
bu_must int bu_chooser_confirm(int slot, struct bu_err *err);
/* What was installed on this disk is started by other means, and its loader does not
 * try it any more. */
bu_must int bu_chooser_untry(const char *disk, struct bu_err *err);

/* In a slot's system partition: its kernel is told which root it has, and there is
 * nothing in it that a firmware would start. */
bu_must int bu_slot_fill(const char *esp_dir, int slot, const char *kargs,
			 struct bu_err *err);

#endif
