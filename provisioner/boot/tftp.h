/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The folder that dnsmasq serves by TFTP: copies of the loaders in the boot table,
 * kernel and ramdisk, and GRUB's files. Called by bringupd and by the boot routes.
 */
#ifndef BU_BOOT_TFTP_H
#define BU_BOOT_TFTP_H

#include "base/err.h"
#include "provisioner/boot/loaders.h"

/* Makes the folder if missing. */
bu_must int bu_tftp_folder(const char *dir, struct bu_err *err);
/* Makes the folder anew, without files of machines, kernel or ramdisk. */
bu_must int bu_tftp_make(const char *dir, const struct bu_loader_dirs *dirs,
			 struct bu_err *err);
/* Copies kernel and ramdisk from that folder, for machines that load GRUB. */
bu_must int bu_tftp_system(const char *dir, const char *ramdisk, struct bu_err *err);
/* Writes GRUB's file of the machine with this MAC ("52:54:00:77:00:01"); NULL removes
 * it. */
bu_must int bu_tftp_put(const char *dir, const char *mac, const char *text,
			struct bu_err *err);
/* Removes the files of machines for which keeps() returns 0. */
bu_must int bu_tftp_prune(const char *dir, int (*keeps)(const char *mac, void *arg),
			  void *arg, struct bu_err *err);

#endif
