/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and judges the partition modes of AMD's GPUs. Called by gpu.c. Invariant: a
 * machine has one row for its mode, however many GPUs are in it; a mode that nobody
 * wants otherwise is no fault as long as all GPUs are in it.
 *
 * Source of the files: Linux, drivers/gpu/drm/amd/amdgpu: current_compute_partition
 * (amdgpu_gfx.c), current_memory_partition (amdgpu_gmc.c) and mem_info_vram_total
 * (amdgpu_vram_mgr.c), all of the PCI function;
 * Documentation/gpu/amdgpu/driver-misc.rst. The parts after the first are platform
 * devices (amdgpu_xcp_N) without these files. A driver that is older, a GPU that cannot
 * be divided, and one in a reset tell none of them, or "UNKNOWN".
 */
#include "checks/gpu/partition.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "base/text.h"

enum { NOT_JUDGED = -1, MODE_SIZE = 24 };

static void
read_mode(const char *root, const char *pci, const char *file, char *ret, size_t size)
{
	char text[32];

	if (bu_sysroot_line(root, text, sizeof(text), "sys/bus/pci/devices/%s/%s", pci,
			    file) &&
	    strcmp(text, "UNKNOWN") != 0 && strlen(text) < size)
		bu_text_copy(ret, size, text);
}

static int
is_divided(const struct bu_gpu_facts *gpu)
{
	return gpu->parts > 1 || (gpu->compute_partition[0] &&
				  strcmp(gpu->compute_partition, "SPX") != 0);
}

static void
learn(const char *root, struct bu_gpu_facts *gpu)
{
	/* Some releases tell the number of a part as the function. */
	const size_t length = strcspn(gpu->pci, ".");
	char pci[sizeof(gpu->pci)];

	bu_text_copy(pci, sizeof(pci), gpu->pci);
	if (!bu_sysroot_exists(root, "sys/bus/pci/devices/%s", pci))
		snprintf(pci + length, sizeof(pci) - length, ".0");
	read_mode(root, pci, "current_compute_partition", gpu->compute_partition,
		  sizeof(gpu->compute_partition));
	read_mode(root, pci, "current_memory_partition", gpu->memory_partition,
		  sizeof(gpu->memory_partition));
	if (is_divided(gpu))
		gpu->memory_bytes = bu_sysroot_int(
			root, BU_NVML_UNKNOWN,
			"sys/bus/pci/devices/%s/mem_info_vram_total", pci);
}

void
bu_gpu_partition_learn(const char *root, struct bu_nvml_facts *facts)
{
	for (size_t i = 0; i < facts->count; i++)
		if (facts->gpus[i].pci[0])
			learn(root, &facts->gpus[i]);
}

/* "CPX/NPS4"; "8 parts" where the driver tells no mode; "" = nothing is told. */
static void
mode_of(const struct bu_gpu_facts *gpu, char ret[MODE_SIZE])
{
	const char *compute = gpu->compute_partition, *memory = gpu->memory_partition;

	ret[0] = '\0';
	if (compute[0] || memory[0])
		snprintf(ret, MODE_SIZE, "%s%s%s", compute,
			 compute[0] && memory[0] ? "/" : "", memory);
	else if (gpu->parts > 1)
		snprintf(ret, MODE_SIZE, "%d parts", gpu->parts);
}

/* Has told the same; one that does not answer has told nothing. */
static int
is_in(const struct bu_gpu_facts *gpu, const char *mode)
{
	char its[MODE_SIZE];

	mode_of(gpu, its);
	return !gpu->trouble[0] && its[0] && strcmp(its, mode) == 0;
}

/* "SPX/NPS1 (GPU 0,1,2), CPX/NPS1 (GPU 3)": each mode with who is in it; where all are
 * in one, that alone. Returns how many modes there are. */
static size_t
list_modes(const struct bu_nvml_facts *facts, char *ret, size_t size)
{
	bu_autofree char *text = NULL;
	char mode[MODE_SIZE];
	size_t modes = 0, last = 0;

	for (size_t i = 0; i < facts->count; i++) {
		bu_autofree char *who = NULL;
		int listed = 0;

		mode_of(&facts->gpus[i], mode);
		if (!is_in(&facts->gpus[i], mode))
			continue;
		for (size_t k = 0; k < facts->count; k++) {
			if (!is_in(&facts->gpus[k], mode))
				continue;
			listed |= k < i;
			bu_text_add(&who, ",", "%zu", k);
		}
		if (listed)
			continue;
		modes++;
		last = i;
		bu_text_add(&text, ", ", "%s (GPU %s)", mode, who);
	}
	if (modes == 1)
		mode_of(&facts->gpus[last], mode);
	snprintf(ret, size, "%s", modes == 0 ? "not told" : modes == 1 ? mode : text);
	return modes;
}

/* 1 where it is told and is another one; *ret_told = 0 where it is not told. */
static int
differs(const struct bu_nvml_facts *facts, const char *compute, const char *memory,
	int *ret_told)
{
	int differ = 0;

	*ret_told = 1;
	for (size_t i = 0; i < facts->count; i++) {
		const struct bu_gpu_facts *gpu = &facts->gpus[i];
		const char *const pairs[][2] = {{compute, gpu->compute_partition},
						{memory, gpu->memory_partition}};

		for (size_t k = 0; k < BU_LEN(pairs) && !gpu->trouble[0]; k++) {
			if (!pairs[k][0][0])
				continue;
			if (!pairs[k][1][0])
				*ret_told = 0;
			else if (strcmp(pairs[k][0], pairs[k][1]) != 0)
				differ = 1;
		}
	}
	return differ;
}

static void
say_how(struct bu_check *row, const char *compute, const char *memory)
{
	BU_CHECK_SET(row->expected, "%s%s%s on all", compute,
		     *compute && *memory ? "/" : "", memory);
	BU_CHECK_SET(row->hint,
		     "drain the node, end what uses the GPUs, then amd-smi set -g "
		     "all%s%s%s%s, or correct [hardware] gpu_compute_partition and "
		     "gpu_memory_partition",
		     *memory ? " --memory-partition " : "", memory,
		     *compute ? " --compute-partition " : "", compute);
}

int
bu_gpu_partition_judge(const struct bu_nvml_facts *facts, const json_t *expect,
		       struct bu_check *row)
{
	const char *compute = bu_json_str(expect, "compute_partition", "");
	const char *memory = bu_json_str(expect, "memory_partition", "");
	size_t modes = list_modes(facts, row->seen, sizeof(row->seen));
	int told;

	if (modes == 0 && !*compute && !*memory)
		return NOT_JUDGED;
	if (*compute || *memory) {
		say_how(row, compute, memory);
		if (differs(facts, compute, memory, &told))
			return BU_VERDICT_FAIL;
		if (told)
			return BU_VERDICT_PASS;
		BU_CHECK_SET(row->hint,
			     "install a driver that tells it, or leave out [hardware] "
			     "gpu_compute_partition and gpu_memory_partition");
		return BU_VERDICT_INCONCLUSIVE;
	}
	BU_CHECK_SET(row->expected, "one mode on all");
	return modes == 1 ? BU_VERDICT_PASS : BU_VERDICT_FAIL;
}
