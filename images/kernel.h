/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel's file says of itself (Linux, Documentation/arch/x86/boot.rst). */
#ifndef BU_IMAGES_KERNEL_H
#define BU_IMAGES_KERNEL_H

#include "base/err.h"

enum { BU_KERNEL_RELEASE_SIZE = 65 };

/* "6.1.0-28-amd64", as `uname -r` says it when that file runs. BU_ERR_INVAL for a file
 * that is no bzImage, or does not say it. */
bu_must int bu_kernel_release(const char *path, char ret[BU_KERNEL_RELEASE_SIZE],
			      struct bu_err *err);

#endif
