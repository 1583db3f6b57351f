/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts GPUs as their driver does, without asking it: called where a GPU must be named
 * that may not answer, or found near an adapter. Invariant: the order is that of the
 * addresses.
 */
#include "checks/gpu/gpu_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/sysroot.h"
#include "base/text.h"

enum { NVIDIA = 0x10de, DISPLAY_VGA = 0x300, DISPLAY_3D = 0x302 };

struct looking {
	const char *root;
	struct bu_gpu_list *list;
};

static void
look_at_function(const char *name, void *arg)
{
	const struct looking *looking = arg;
	struct bu_gpu_list *list = looking->list;
	int64_t class =
		bu_sysroot_int(looking->root, 0, "sys/bus/pci/devices/%s/class", name);

	if (list->count == BU_GPU_LIST_MAX ||
	    bu_sysroot_int(looking->root, 0, "sys/bus/pci/devices/%s/vendor", name) !=
		    NVIDIA ||
	    (class >> 8 != DISPLAY_VGA && class >> 8 != DISPLAY_3D))
		return;
	bu_text_copy(list->pci[list->count++], sizeof(list->pci[0]), name);
}

static int
by_address(const void *a, const void *b)
{
	return strcmp(a, b);
}

void
bu_gpu_list(const char *root, struct bu_gpu_list *ret)
{
	struct looking looking = {root, ret};

	ret->count = 0;
	bu_sysroot_each(root, look_at_function, &looking, "sys/bus/pci/devices");
	qsort(ret->pci, ret->count, sizeof(ret->pci[0]), by_address);
}
