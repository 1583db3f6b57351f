/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts GPUs as their driver does, without asking it: called where a GPU must be named
 * that may not answer, or found near an adapter. Invariant: the order is that of the
 * addresses.
 */
#include "checks/gpu/gpu_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sysroot.h"
#include "base/text.h"

/* A display of AMD's may be that of a processor: its accelerators are none. */
static const struct {
	int vendor, class;
} kinds[] = {{BU_GPU_NVIDIA, 0x300}, {BU_GPU_NVIDIA, 0x302}, {BU_GPU_AMD, 0x1200}};

struct looking {
	const char *root;
	int vendor;
	struct bu_gpu_list *list;
};

static void
look_at_function(const char *name, void *arg)
{
	const struct looking *looking = arg;
	struct bu_gpu_list *list = looking->list;
	int64_t vendor =
		bu_sysroot_int(looking->root, 0, "sys/bus/pci/devices/%s/vendor", name);
	int64_t class =
		bu_sysroot_int(looking->root, 0, "sys/bus/pci/devices/%s/class", name);

	for (size_t i = 0; i < BU_LEN(kinds) && vendor == looking->vendor; i++)
		if (kinds[i].vendor == vendor && kinds[i].class == class >> 8 &&
		    list->count < BU_GPU_LIST_MAX)
			bu_text_copy(list->pci[list->count++], sizeof(list->pci[0]),
				     name);
}

static int
by_address(const void *a, const void *b)
{
	return strcmp(a, b);
}

void
bu_gpu_list(const char *root, int vendor, struct bu_gpu_list *ret)
{
	struct looking looking = {root, vendor, ret};

	ret->count = 0;
	bu_sysroot_each(root, look_at_function, &looking, "sys/bus/pci/devices");
	qsort(ret->pci, ret->count, sizeof(ret->pci[0]), by_address);
}
