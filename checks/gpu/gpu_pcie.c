/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCIe link of a GPU: what it is while data moves, what part and slot can do
 * together, and what that carries. Called by gpu.c and gpu_rows.c. Invariant: a GPU is
 * never faulty for what its slot cannot do, and never good for less than both can.
 */
#include <stdio.h>
#include <strings.h>

#include "base/json.h"
#include "base/text.h"
#include "checks/gpu/gpu_impl.h"

/* Of a slot that is below the part: lower generations reach less of their lanes than
 * higher ones (fabric reference 2.3: 12 to 13 GB/s seen of gen 3 x16, 26.0 of gen 4,
 * 55.1 of gen 5). */
static const double slot_margin = 0.9;

/* GB/s of one lane after its coding. */
static double
lane_gbs(int gen)
{
	static const double gbs[] = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};

	return gen > 0 && gen < (int)BU_LEN(gbs) ? gbs[gen] : 0;
}

int
bu_gpu_wired_lanes(const struct bu_checks_ctx *ctx)
{
	const json_t *limits = ctx ? json_object_get(ctx->expect, "thresholds") : NULL;

	return (int)bu_json_int(limits, "gpu_pcie_width", 0);
}

void
bu_gpu_links_look(const char *pci, void *arg)
{
	struct bu_gpu_links *links = arg;
	struct bu_gpu_link now, *kept;
	size_t i = 0;

	if (!links->nvml)
		return;
	while (i < links->count && strcasecmp(links->list[i].pci, pci) != 0)
		i++;
	if (i == BU_GPUS_MAX)
		return;
	bu_nvml_link(links->nvml, pci, &now);
	if (links->wired > 0 && links->wired < now.width_max)
		now.width_max = links->wired;
	kept = &links->list[i].link;
	if (i == links->count) {
		bu_text_copy(links->list[i].pci, sizeof(links->list[i].pci), pci);
		links->count++;
		*kept = now;
	}
	/* A link that rested takes its first copies to wake up. */
	kept->gen = now.gen > kept->gen ? now.gen : kept->gen;
	kept->width = now.width > kept->width ? now.width : kept->width;
}

const struct bu_gpu_link *
bu_gpu_links_find(const struct bu_gpu_links *links, const char *pci)
{
	for (size_t i = 0; i < links->count; i++)
		if (strcasecmp(links->list[i].pci, pci) == 0)
			return &links->list[i].link;
	return NULL;
}

double
bu_gpu_link_share(const struct bu_gpu_link *link, const json_t *expect)
{
	int width = (int)bu_json_int(expect, "pcie_width", 0);
	double part = lane_gbs((int)bu_json_int(expect, "pcie_gen", 0)) * width;
	double slot = link ? lane_gbs(link->gen_max) * link->width_max : 0;

	return part > 0 && slot > 0 && slot < part ? slot_margin * slot / part : 1;
}

void
bu_gpu_pcie_learn(struct bu_gpu_facts *gpu, const struct bu_gpu_links *links)
{
	const struct bu_gpu_link *link = bu_gpu_links_find(links, gpu->pci);
	int most = gpu->pcie_width > links->wired ? gpu->pcie_width : links->wired;

	if (link)
		gpu->pcie_gen_busy = link->gen;
	/* One that has more lanes than that shows what its slot can. */
	if (links->wired > 0 && most < gpu->pcie_width_max)
		gpu->pcie_width_max = most;
}

/* The part's figure, or what part and slot can do together where that is less. */
static int
lower(int part, int together)
{
	return together != BU_NVML_UNKNOWN && together < part ? together : part;
}

int
bu_gpu_pcie_judge(struct bu_gpu_case *c)
{
	const struct bu_gpu_facts *gpu = c->gpu;
	int part_width = (int)bu_json_int(c->expect, "pcie_width", gpu->pcie_width_max);
	int part_gen = (int)bu_json_int(c->expect, "pcie_gen", gpu->pcie_gen_max);
	int width = lower(part_width, gpu->pcie_width_max);
	int gen = lower(part_gen, gpu->pcie_gen_max);
	int busy = gpu->pcie_gen_busy > 0;

	if (gpu->pcie_width == BU_NVML_UNKNOWN || width == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "gen %d x%d", gen, width);
	BU_CHECK_SET(c->row->seen, "gen %d x%d",
		     busy ? gpu->pcie_gen_busy : gpu->pcie_gen, gpu->pcie_width);
	/* At rest a link may have gone down to a lower generation: only what it was
	 * while data moved counts. */
	if (gpu->pcie_width < width || (busy && gpu->pcie_gen_busy < gen))
		return BU_VERDICT_FAIL;
	if (width == part_width && gen == part_gen)
		return BU_VERDICT_PASS;
	BU_CHECK_SET(c->row->seen, "gen %d x%d, the most of this slot", gen, width);
	BU_CHECK_SET(c->row->expected, "gen %d x%d, as the part can", part_gen,
		     part_width);
	BU_CHECK_SET(c->row->hint,
		     "nothing is loose: look at the slot's speed and bifurcation in "
		     "the firmware, or use a better slot; copies are held to what it "
		     "carries, compare them with machines of this kind");
	return BU_VERDICT_WARN;
}
