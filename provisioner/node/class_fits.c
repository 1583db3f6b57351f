/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a machine fit its hardware class: product, memory, CPUs, NICs, GPUs and the
 * disks of its system? Called by agents.c and for machines that are not a node's.
 * Invariant: the reason of a misfit names what the machine has.
 */
#include <fnmatch.h>
#include <string.h>

#include "profiles/load/disk.h"
#include "provisioner/node/reconcile_impl.h"

/* Has each of the disks, all in inv->disks, a serial number or WWN of its own? */
static int
have_numbers(const struct bu_inventory *inv, const struct bu_disk *const *disks,
	     size_t count)
{
	bu_autofree struct bu_disk *own =
		bu_xcalloc(inv->disks_count + 1, sizeof(*own));

	memcpy(own, inv->disks, inv->disks_count * sizeof(*own));
	bu_disks_own(own, inv->disks_count);
	for (size_t i = 0; i < count; i++) {
		const struct bu_disk *disk = &own[disks[i] - inv->disks];

		if (!*bu_disk_number(disk->serial, disk->wwn))
			return 0;
	}
	return 1;
}

/* Finds system[1], the second disk of the system, where the class has a mirror. */
static int
check_mirror(const struct bu_desired_hardware *class, const struct bu_inventory *inv,
	     const struct bu_disk *system[2], struct bu_reason *ret)
{
	const char *wanted = class->disks ? class->disks->mirror : NULL;
	size_t found;

	system[1] = NULL;
	if (!wanted)
		return 0;
	found = bu_disk_choose_other(wanted, inv->disks, inv->disks_count, system[0],
				     &system[1]);
	if (found != 1)
		BU_REASON_SET(ret, MIRROR_DISKS, .text = {class->name, wanted},
			      .number = {(int64_t)found});
	else if (!have_numbers(inv, system, 2))
		BU_REASON_SET(ret, MIRROR_NUMBERS, .text = {class->name});
	else
		return 0;
	return -1;
}

/* Checks number and identity of the disks of the scratch array. */
static int
check_scratch(const struct bu_desired_hardware *class, const struct bu_inventory *inv,
	      const struct bu_disk *const system[2], struct bu_reason *ret)
{
	const char *wanted = class->disks ? class->disks->scratch : NULL;
	bu_autofree const struct bu_disk **found =
		bu_xcalloc(inv->disks_count + 1, sizeof(struct bu_disk *));
	size_t count, want;

	if (!wanted)
		return 0;
	count = bu_disk_choose_all(wanted, inv->disks, inv->disks_count, system, found);
	want = class->disks->scratch_disks > 0 ? (size_t) class->disks->scratch_disks
	       : count                         ? count
					       : 1;
	if (count != want)
		BU_REASON_SET(ret, SCRATCH_DISKS, .text = {class->name, wanted},
			      .number = {(int64_t)want, (int64_t)count});
	else if (!have_numbers(inv, found, count))
		BU_REASON_SET(ret, SCRATCH_NUMBERS, .text = {wanted, class->name});
	else
		return 0;
	return -1;
}

static void
lacks_pair(const struct bu_desired_hardware *class, const struct bu_inventory *inv,
	   size_t found, struct bu_reason *ret)
{
	bu_autofree char *has = bu_disk_words(inv->disks, inv->disks_count);

	BU_REASON_SET(ret, NO_BOOT_PAIR, .text = {class->name, class->disk, has},
		      .number = {(int64_t)found});
}

int
bu_class_fits(const struct bu_desired_hardware *class, int ram,
	      const struct bu_inventory *inv, struct bu_reason *ret)
{
	const struct bu_disk *system[2];
	/* A system that runs from memory needs no disk. */
	size_t found = ram ? 1
			   : bu_disk_choose(class->disk, inv->disks, inv->disks_count,
					    &system[0]);

	if (class->product && fnmatch(class->product, inv->dmi.product, 0) != 0)
		BU_REASON_SET(ret, OTHER_PRODUCT,
			      .text = {class->name, class->product,
				       *inv->dmi.product ? inv->dmi.product
							 : "without a name"});
	else if (found != 1 && bu_disk_is_boot_pair(class->disk))
		lacks_pair(class, inv, found, ret);
	else if (!found)
		BU_REASON_SET(ret, NO_DISK, .text = {class->name, class->disk});
	else if (found > 1)
		BU_REASON_SET(ret, MANY_DISKS, .text = {class->name, class->disk},
			      .number = {(int64_t)found});
	else if ((uint64_t)inv->memory_bytes < class->memory_min_bytes)
		BU_REASON_SET(ret, TOO_LITTLE_MEMORY, .text = {class->name},
			      .number = {(int64_t)(class->memory_min_bytes >> 20),
					 inv->memory_bytes >> 20});
	else if (inv->cpu.threads < class->cpus_min)
		BU_REASON_SET(ret, TOO_FEW_CPUS, .text = {class->name},
			      .number = {class->cpus_min, inv->cpu.threads});
	else if ((int)inv->nics_count < class->nics)
		BU_REASON_SET(ret, TOO_FEW_NICS, .text = {class->name},
			      .number = {class->nics, (int64_t)inv->nics_count});
	else if ((int)inv->gpus_count < class->gpus)
		BU_REASON_SET(ret, TOO_FEW_GPUS, .text = {class->name},
			      .number = {class->gpus, (int64_t)inv->gpus_count});
	else
		return ram || (check_mirror(class, inv, system, ret) == 0 &&
			       check_scratch(class, inv, system, ret) == 0);
	return 0;
}
