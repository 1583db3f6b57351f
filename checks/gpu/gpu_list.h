/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of one vendor as the kernel lists them. */
#ifndef BU_CHECKS_GPU_GPU_LIST_H
#define BU_CHECKS_GPU_GPU_LIST_H

#include <stddef.h>

enum { BU_GPU_LIST_MAX = 64, BU_GPU_NVIDIA = 0x10de, BU_GPU_AMD = 0x1002 };

struct bu_gpu_list {
	char pci[BU_GPU_LIST_MAX][16]; /* as the driver counts them: by address */
	size_t count;
};
void bu_gpu_list(const char *root, int vendor, struct bu_gpu_list *ret);

#endif
