/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel of an imported root its machines start. */
#ifndef BU_IMAGES_BUILD_ROOT_KERNEL_H
#define BU_IMAGES_BUILD_ROOT_KERNEL_H

struct bu_root_kernel {
	char version[65]; /* "6.1.0-28-amd64", a folder of modules; as uname(2) */
	char path[128];   /* of its file: "boot/vmlinuz-6.1.0-28-amd64" */
	char others[200]; /* older versions that are there: "5.10, 6.0"; "" = none */
};

/* The newest version of /lib/modules, and where its kernel lies: as
 * /boot/vmlinuz-VERSION or as /lib/modules/VERSION/vmlinuz. Adds to *wrong (owned, "; "
 * between) what is not as it must be; *ret counts where nothing was added. */
void bu_root_kernel(int root_fd, struct bu_root_kernel *ret, char **wrong);

/* Order of kernel versions, as strcmp(): 6.1.0-9 < 6.1.0-28, 6.6.0-rc7 < 6.6.0. */
int bu_kernel_compare(const char *a, const char *b);

#endif
