/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder that dnsmasq serves by TFTP: copies of the loaders of the boot table, of
 * kernel and ramdisk, and GRUB's files. Called by bringupd and by the boot routes.
 */
#ifndef BU_BOOT_TFTP_H
#define BU_BOOT_TFTP_H

#include "base/err.h"
#include "provisioner/boot/loaders.h"

/* Makes the folder where it is missing. */
bu_must int bu_tftp_folder(const char *dir, struct bu_err *err);
/* Makes the folder anew: no file of a machine is in it, and no system. */
bu_must int bu_tftp_make(const char *dir, const struct bu_loader_dirs *dirs,
			 struct bu_err *err);
/* Kernel and ramdisk of machines that load GRUB, as they are in that folder now. */
bu_must int bu_tftp_system(const char *dir, const char *ramdisk, struct bu_err *err);
/* GRUB's file of the machine with this MAC ("52:54:00:77:00:01"); NULL removes it. */
bu_must int bu_tftp_put(const char *dir, const char *mac, const char *text,
			struct bu_err *err);
/* Removes the file of each machine that keeps() does not want. */
bu_must int bu_tftp_prune(const char *dir, int (*keeps)(const char *mac, void *arg),
			  void *arg, struct bu_err *err);

#endif
