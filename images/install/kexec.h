/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the ramdisk into the system that it has installed, without the firmware: one
 * POST less. The disk's boot loader, the firmware's boot order and (where Secure Boot
 * is on and refuses it) signatures are not proven by it; the next boot does that.
 */
#ifndef BU_IMAGES_INSTALL_KEXEC_H
#define BU_IMAGES_INSTALL_KEXEC_H

#include "base/err.h"
#include "images/install/gpt.h"

/* Kernel and initial ramdisk of the system partition on this disk, with two roots of
 * the one with this name ("ESP-b"; NULL: it has one), with the arguments
 * that its boot loaders would give; reboot(RB_KEXEC) starts it. 0 when it cannot be,
 * which is said in the log. */
int bu_kexec_load(const char *disk, const char *name);
/* Starts what is loaded, if it may; else the machine goes off. Comes back where neither
 * is allowed. */
void bu_kexec_leave(int may_kexec);
/* Its command line; esp_dir: where the system partition is mounted. Owned. */
char *bu_kexec_line(const char *esp_dir, const struct bu_gpt_esp *esp,
		    struct bu_err *err);

#endif
