/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which GPU is next to an adapter, by the folders of sysfs: those of two devices below
 * one switch begin alike for longest. Called by loops.c. Pure but for sysfs.
 */
#include <stdio.h>

#include "base/mem.h"
#include "base/sysroot.h"
#include "checks/fabric/loops_impl.h"

/* Folders that both paths begin with. */
static int
shared(const char *a, const char *b)
{
	int count = 0;

	for (; *a && *a == *b; a++, b++)
		count += *a == '/';
	return count;
}

/* A root port has one device below it, unless that is a switch: "pci0000:90" alone is
 * the root complex, which joins two root ports. */
static int
is_below_one_switch(const char *a, const char *b)
{
	const char *last = NULL, *slash = NULL;
	unsigned int part[4];

	for (; *a && *a == *b; a++, b++)
		if (*a == '/') {
			last = slash;
			slash = a;
		}
	return last && sscanf(last, "/%x:%x:%x.%x/", &part[0], &part[1], &part[2],
			      &part[3]) == 4;
}

int
bu_loop_gpu_near(const char *root, const char *device, struct bu_loop_gpus *gpus,
		 int *ret_switch)
{
	bu_autofree char *at =
		bu_sysroot_real(root, "sys/class/infiniband/%s/device", device);
	int best = -1, best_shared = 0;

	*ret_switch = 0;
	for (size_t i = 0; i < gpus->list.count; i++) {
		bu_autofree char *gpu = bu_sysroot_real(root, "sys/bus/pci/devices/%s",
							gpus->list.pci[i]);
		int near = at && gpu ? shared(at, gpu) : 0;

		if (best < 0 || near > best_shared ||
		    (near == best_shared && gpus->taken[i] < gpus->taken[best])) {
			best = (int)i;
			best_shared = near;
			*ret_switch = at && gpu && is_below_one_switch(at, gpu);
		}
	}
	if (best >= 0)
		gpus->taken[best]++;
	return best;
}
