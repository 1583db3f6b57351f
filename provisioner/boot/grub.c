/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GRUB's files. Debian's signed GRUB has TFTP and no HTTP, and it is what firmware with
 * Secure Boot lets through shim: so kernel and ramdisk come by TFTP, too. tftp.c writes
 * the files.
 */
#include "provisioner/boot/grub.h"

#include "base/err.h"
#include "base/text.h"

/* A machine that is not ordered to boot from the network has no file, and starts its
 * own disk's loader: the firmware's list may have other machines' networks in it. The
 * second search wins where it finds something: /kargs is of our images alone, and there
 * may be disks of others. The loader gets the device of root, whatever device its path
 * names. disk.efi, which iPXE loads, does the same
 * (images/build/recipes/ramdisk.sh). */
char *
bu_grub_first(void)
{
	return bu_xstrdup(
		"# Written by bringup; changes are lost.\n"
		"set net=(tftp,$net_default_server)\n"
		/* GRUB's test -f lists folders, which TFTP cannot: so it just tries. */
		"source $net/grub/$net_default_mac.cfg\n"
		"echo bringup: no network boot is ordered, booting from the disk\n"
		"search --no-floppy --file --set=root /EFI/BOOT/BOOTX64.EFI\n"
		"search --no-floppy --file --set=root /kargs\n"
		"chainloader /EFI/BOOT/BOOTX64.EFI\n"
		"boot\n"
		"exit 1\n");
}

char *
bu_grub_media(const struct bu_script_agent *agent)
{
	bu_autofree char *plain = bu_script_kargs(agent), *kargs = bu_text_grub(plain);

	return bu_xasprintf("echo bringup: %s boots the agent from its medium\n"
			    "linux /boot/vmlinuz %s\n"
			    "initrd /boot/agent.img\n"
			    "boot\n",
			    agent->node, kargs);
}

/* It asks again until it gets them: this boot was ordered, and its order has the
 * deadline. */
char *
bu_grub_agent(const struct bu_script_agent *agent)
{
	bu_autofree char *plain = bu_script_kargs(agent), *kargs = bu_text_grub(plain);

	return bu_xasprintf("echo bringup: %s boots the agent\n"
			    "linux $net/vmlinuz %s\n"
			    "initrd $net/agent.img\n"
			    "boot\n"
			    "echo bringup: that did not work; again in 5 s\n"
			    "sleep 5\n"
			    "reboot\n",
			    agent->node, kargs);
}
