/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the audit about PCI: links, errors, IOMMU, NUMA. Called by audit.c, each
 * function once. Invariant: a link or bridge that two endpoints share is one row.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "checks/audit/audit_impl.h"

static const char pci_dir[] = "sys/bus/pci/devices";

/* A link is told by its lower end: a card, or the upper port of a switch. */
struct link {
	const char *low, *high; /* high: the port above; NULL = not visible */
	char label[120];
	double gts, best_gts; /* GT/s per lane; 0 = unknown */
	int width, best_width;
	int wired; /* the best width is the profile's word */
};

/* "32.0 GT/s PCIe" */
static double
speed_of(const struct bu_audit *a, const char *address, const char *file)
{
	char text[64];
	double gts = 0;

	bu_sysroot_line(a->root, text, sizeof(text), "%s/%s/%s", pci_dir, address,
			file);
	return sscanf(text, "%lf GT/s", &gts) == 1 && gts > 0 ? gts : 0;
}

static int
width_of(const struct bu_audit *a, const char *address, const char *file)
{
	int64_t width = bu_sysroot_int(a->root, 0, "%s/%s/%s", pci_dir, address, file);

	return width > 0 && width <= 32 ? (int)width : 0; /* 63, 255: unknown */
}

static int
gen_of(double gts)
{
	static const double gens[] = {2.5, 5, 8, 16, 32, 64, 128};

	for (size_t i = 0; i < BU_LEN(gens); i++)
		if (gts <= gens[i] + 0.1)
			return (int)i + 1;
	return 8;
}

/* GT/s of one lane in payload-carrying Gbit/s: 8b/10b up to Gen2, 128b/130b later. */
static double
lane_gbps(double gts)
{
	return gts <= 5 ? gts * 0.8 : gts * 128 / 130;
}

/* That the slot of this card is wired with, as the profile says; 0 = as its port
 * claims, or this link is not that of the slot. A switch on the card is of the card's
 * maker. */
static int
wired_lanes(const struct bu_audit *a, const struct bu_audit_pci *pci, const char *low)
{
	int64_t card =
		bu_sysroot_int(a->root, 0, "%s/%s/vendor", pci_dir, pci->address);
	int64_t end = bu_sysroot_int(a->root, 0, "%s/%s/vendor", pci_dir, low);

	if (card != end)
		return 0;
	return (int)bu_audit_threshold(
		a, pci->is_gpu ? "gpu_pcie_width" : "nic_pcie_width", 0);
}

static void
read_link(const struct bu_audit *a, const struct bu_audit_pci *pci, int hop,
	  struct link *ret)
{
	double high_gts;
	int high_width, wired;

	memset(ret, 0, sizeof(*ret));
	ret->low = pci->hops[hop];
	ret->high = hop > 0 ? pci->hops[hop - 1] : NULL;
	ret->gts = speed_of(a, ret->low, "current_link_speed");
	ret->best_gts = speed_of(a, ret->low, "max_link_speed");
	ret->width = width_of(a, ret->low, "current_link_width");
	ret->best_width = width_of(a, ret->low, "max_link_width");
	high_gts = ret->high ? speed_of(a, ret->high, "max_link_speed") : 0;
	high_width = ret->high ? width_of(a, ret->high, "max_link_width") : 0;
	if (high_gts > 0 && high_gts < ret->best_gts)
		ret->best_gts = high_gts;
	if (high_width > 0 && high_width < ret->best_width)
		ret->best_width = high_width;
	wired = wired_lanes(a, pci, ret->low);
	ret->wired = wired > 0 && wired < ret->best_width;
	if (ret->wired)
		ret->best_width = wired > ret->width ? wired : ret->width;
	if (hop == pci->hop_count - 1)
		snprintf(ret->label, sizeof(ret->label), "%s", pci->label);
	else
		snprintf(ret->label, sizeof(ret->label), "switch %s above %s", ret->low,
			 pci->label);
}

/* Each link once, nearest to the root first. From the root port down every second
 * member is the lower end of a link; between two of them lies a switch's inside. */
static void
each_link(struct bu_audit *a,
	  void (*fn)(struct bu_audit *a, const struct bu_audit_pci *pci,
		     const struct link *link))
{
	for (size_t i = 0; i < a->pci_count; i++) {
		const struct bu_audit_pci *pci = &a->pci[i];

		for (int hop = pci->hop_count > 1 ? 1 : 0; hop < pci->hop_count;
		     hop += 2) {
			struct link link;
			int seen = 0;

			for (size_t k = 0; k < i && !seen; k++)
				seen = hop < a->pci[k].hop_count &&
				       strcmp(a->pci[k].hops[hop], pci->hops[hop]) == 0;
			if (seen)
				continue;
			read_link(a, pci, hop, &link);
			bu_audit_look_at(a, pci);
			fn(a, pci, &link);
		}
	}
}

static void
judge_gen(struct bu_audit *a, const struct bu_audit_pci *pci, const struct link *link)
{
	char seen[32], best[32];

	if (link->gts <= 0 || link->best_gts <= 0)
		return;
	if (pci->rests && strcmp(link->low, pci->address) == 0)
		return;
	snprintf(seen, sizeof(seen), "Gen%d", gen_of(link->gts));
	snprintf(best, sizeof(best), "Gen%d", gen_of(link->best_gts));
	bu_audit_judge(a, link->gts + 0.1 >= link->best_gts, link->low, seen, best,
		       "%s: PCIe runs at %s, both ends can %s", link->label, seen,
		       best);
}

void
bu_audit_pcie_gen(struct bu_audit *a)
{
	each_link(a, judge_gen);
}

static void
judge_width(struct bu_audit *a, const struct bu_audit_pci *pci, const struct link *link)
{
	char seen[32], best[32];

	(void)pci;
	if (link->width <= 0 || link->best_width <= 0)
		return;
	snprintf(seen, sizeof(seen), "x%d", link->width);
	snprintf(best, sizeof(best), "x%d", link->best_width);
	bu_audit_judge(a, link->width >= link->best_width, link->low, seen, best,
		       "%s: PCIe has %s, %s %s", link->label, seen,
		       link->wired ? "its slot has" : "both ends can", best);
}

void
bu_audit_pcie_width(struct bu_audit *a)
{
	each_link(a, judge_width);
}

void
bu_audit_pcie_fits(struct bu_audit *a)
{
	for (size_t i = 0; i < a->pci_count; i++) {
		const struct bu_audit_pci *pci = &a->pci[i];
		double least = 0;
		char seen[32], expected[32];

		if (pci->link_gbps <= 0 || pci->is_gpu)
			continue;
		for (int hop = pci->hop_count > 1 ? 1 : 0; hop < pci->hop_count;
		     hop += 2) {
			struct link link;
			double gbps;

			read_link(a, pci, hop, &link);
			/* At its best: what runs below it is another row's. */
			gbps = lane_gbps(link.best_gts) * link.best_width * 0.91;
			if (gbps > 0 && (least == 0 || gbps < least))
				least = gbps;
		}
		snprintf(seen, sizeof(seen), "%.0f Gbit/s", least);
		snprintf(expected, sizeof(expected), "%.0f Gbit/s", pci->link_gbps);
		if (least >= pci->link_gbps)
			bu_audit_good(a, pci->address, "%s", seen);
		else if (least > 0)
			bu_audit_bad(a, pci->address, seen, expected,
				     "%s: its slot carries about %s, its link has %s",
				     pci->label, seen, expected);
	}
}

/* --- errors --- */

/* "TOTAL_ERR_COR 3" in a file of lines "NAME count"; -1 without the file. */
static int64_t
aer_total(const struct bu_audit *a, const char *address, const char *file,
	  const char *total)
{
	bu_autofree char *text = bu_sysroot_read(a->root, 4096, NULL, "%s/%s/%s",
						 pci_dir, address, file);
	const char *at = text ? strstr(text, total) : NULL;
	long long count;

	return at && sscanf(at + strlen(total), " %lld", &count) == 1 ? count : -1;
}

/* Calls fn for each function on the way of an endpoint, bridges too, once. */
static void
each_hop(struct bu_audit *a,
	 void (*fn)(struct bu_audit *a, const char *address, const char *label))
{
	for (size_t i = 0; i < a->pci_count; i++) {
		for (int hop = 0; hop < a->pci[i].hop_count; hop++) {
			const struct bu_audit_pci *pci = &a->pci[i];
			char label[128];
			int seen = 0;

			for (size_t k = 0; k < i && !seen; k++)
				seen = hop < a->pci[k].hop_count &&
				       strcmp(a->pci[k].hops[hop], pci->hops[hop]) == 0;
			if (seen)
				continue;
			if (hop == pci->hop_count - 1)
				snprintf(label, sizeof(label), "%s", pci->label);
			else
				snprintf(label, sizeof(label), "bridge %s above %s",
					 pci->hops[hop], pci->label);
			bu_audit_look_at(a, pci);
			fn(a, pci->hops[hop], label);
		}
	}
}

static void
judge_aer(struct bu_audit *a, const char *address, const char *label)
{
	int64_t fatal = aer_total(a, address, "aer_dev_fatal", "TOTAL_ERR_FATAL");
	int64_t nonfatal =
		aer_total(a, address, "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL");
	char seen[64];

	if (fatal < 0 && nonfatal < 0)
		return;
	snprintf(seen, sizeof(seen), "%lld fatal, %lld nonfatal",
		 (long long)(fatal < 0 ? 0 : fatal),
		 (long long)(nonfatal < 0 ? 0 : nonfatal));
	bu_audit_judge(a, fatal <= 0 && nonfatal <= 0, address, seen, "none",
		       "%s: PCIe errors since boot: %s", label, seen);
}

void
bu_audit_pcie_aer(struct bu_audit *a)
{
	each_hop(a, judge_aer);
}

static void
judge_correctable(struct bu_audit *a, const char *address, const char *label)
{
	int64_t count = aer_total(a, address, "aer_dev_correctable", "TOTAL_ERR_COR");
	int64_t most = bu_audit_threshold(a, "aer_correctable", 100);
	char seen[32], expected[32];

	if (count < 0)
		return;
	snprintf(seen, sizeof(seen), "%lld", (long long)count);
	snprintf(expected, sizeof(expected), "at most %lld", (long long)most);
	bu_audit_judge(a, count <= most, address, seen, expected,
		       "%s: %s PCIe errors corrected since boot, %s are normal", label,
		       seen, expected);
}

void
bu_audit_pcie_aer_correctable(struct bu_audit *a)
{
	each_hop(a, judge_correctable);
}

void
bu_audit_iommu(struct bu_audit *a)
{
	for (size_t i = 0; i < a->pci_count; i++) {
		const struct bu_audit_pci *pci = &a->pci[i];
		char type[32];

		bu_audit_look_at(a, pci);
		if (!bu_sysroot_line(a->root, type, sizeof(type),
				     "%s/%s/iommu_group/type", pci_dir, pci->address) ||
		    strcmp(type, "identity") == 0)
			bu_audit_good(a, pci->address, "%s", *type ? type : "none");
		else
			bu_audit_bad(a, pci->address, type, "identity",
				     "%s: an IOMMU translates its DMA (type %s)",
				     pci->label, type);
	}
}

/* --- places --- */

void
bu_audit_gpu_nic_affinity(struct bu_audit *a)
{
	enum { NODES = 64 };
	int gpus[NODES] = {0}, nics[NODES] = {0}, all_gpus = 0, all_nics = 0;

	for (size_t i = 0; i < a->pci_count; i++) {
		const struct bu_audit_pci *pci = &a->pci[i];

		if (pci->numa < 0 || pci->numa >= NODES)
			return; /* nic-numa says so */
		/* Cards that carry no network of the fabric do not count. */
		if (!pci->is_gpu && pci->link_gbps <= 0)
			continue;
		*(pci->is_gpu ? &gpus[pci->numa] : &nics[pci->numa]) += 1;
		*(pci->is_gpu ? &all_gpus : &all_nics) += 1;
	}
	if (all_gpus == 0 || all_gpus != all_nics || bu_audit_numa_nodes(a) < 2)
		return;
	for (int node = 0; node < NODES; node++) {
		char subject[32], seen[64], expected[64];

		if (gpus[node] == 0 && nics[node] == 0)
			continue;
		snprintf(subject, sizeof(subject), "NUMA node %d", node);
		snprintf(seen, sizeof(seen), "%d GPUs, %d fabric NICs", gpus[node],
			 nics[node]);
		snprintf(expected, sizeof(expected), "%d fabric NICs", gpus[node]);
		if (gpus[node] == nics[node])
			bu_audit_good(a, subject, "%s", seen);
		else if (gpus[node] > nics[node])
			bu_audit_bad(a, subject, seen, expected,
				     "%s has %s: a NIC is in a wrong slot", subject,
				     seen);
	}
}

void
bu_audit_nic_numa(struct bu_audit *a)
{
	if (bu_audit_numa_nodes(a) < 2)
		return;
	for (size_t i = 0; i < a->pci_count; i++) {
		const struct bu_audit_pci *pci = &a->pci[i];

		if (pci->is_gpu)
			continue;
		bu_audit_look_at(a, pci);
		if (pci->numa >= 0)
			bu_audit_good(a, pci->address, "%d", pci->numa);
		else
			bu_audit_bad(a, pci->address, "unknown", "a NUMA node",
				     "%s: its NUMA node is unknown", pci->label);
	}
}
