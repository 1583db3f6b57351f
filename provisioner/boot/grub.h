/* SPDX-License-Identifier: Apache-2.0 */
/* Files that signed GRUB reads by TFTP: pure text, like script.h. */
#ifndef BU_BOOT_GRUB_H
#define BU_BOOT_GRUB_H

#include "provisioner/boot/script.h"

/* grub/grub.cfg: loads the machine's own file, else boots its disk. Owned. */
char *bu_grub_first(void);
/* grub/MAC.cfg: boots the ramdisk with the agent. Owned. */
char *bu_grub_agent(const struct bu_script_agent *agent);
/* boot/grub/grub.cfg of a boot medium. Owned. */
char *bu_grub_media(const struct bu_script_agent *agent);

#endif
