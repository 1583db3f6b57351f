/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of GPU checks and the judges of one GPU. Called by gpu.c. Invariant:
 * nothing is judged that was not expected or not told: unknown is not good and not bad.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "checks/gpu/gpu_impl.h"
#include "checks/gpu/imex.h"

/* nvmlClocksEventReason*: what is a fault, and what a setting or a load explains. */
enum {
	SLOW_POWER_CAP = 0x4,
	SLOW_HARDWARE = 0x8,
	SLOW_THERMAL = 0x20,
	SLOW_HARDWARE_THERMAL = 0x40,
	SLOW_POWER_BRAKE = 0x80,
	REMAPPED_WARN = 10, /* rows; more than that: most of them came back broken */
};

static int
judge_number(struct bu_gpu_case *c, int64_t seen, const char *key, const char *unit,
	     int exact)
{
	const json_t *wanted = json_object_get(c->expect, key);
	int64_t least = json_integer_value(wanted);

	if (!json_is_integer(wanted) || seen == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->seen, "%lld%s", (long long)seen, unit);
	BU_CHECK_SET(c->row->expected, "%s%lld%s", exact ? "" : "at least ",
		     (long long)least, unit);
	if (exact ? seen == least : seen >= least)
		return BU_VERDICT_PASS;
	return BU_VERDICT_FAIL;
}

/* seen must be one of a list of names, or the one name. */
static int
judge_name(struct bu_gpu_case *c, const char *seen, const char *key)
{
	const json_t *wanted = json_object_get(c->expect, key);
	bu_autofree char *all = NULL;
	size_t i;
	json_t *one;

	if (json_is_string(wanted)) {
		BU_CHECK_SET(c->row->expected, "%s", json_string_value(wanted));
	} else if (json_array_size(wanted)) {
		json_array_foreach (wanted, i, one) {
			bu_autofree char *before = all;

			if (strcmp(seen, json_string_value(one)) == 0)
				BU_CHECK_SET(c->row->seen, "%s", seen);
			all = bu_xasprintf("%s%s%s", before ? before : "",
					   before ? " or " : "",
					   json_string_value(one));
		}
		BU_CHECK_SET(c->row->expected, "%s", all);
		if (c->row->seen[0])
			return BU_VERDICT_PASS;
	} else {
		return BU_GPU_NOT_JUDGED;
	}
	BU_CHECK_SET(c->row->seen, "%s", seen[0] ? seen : "unknown");
	return strcmp(c->row->seen, c->row->expected) == 0 ? BU_VERDICT_PASS
							   : BU_VERDICT_FAIL;
}

static int
judge_answers(struct bu_gpu_case *c)
{
	BU_CHECK_SET(c->row->seen, "%s",
		     c->gpu->trouble[0] ? c->gpu->trouble : "answers");
	if (c->gpu->needs_reset)
		BU_CHECK_SET(
			c->row->hint,
			"reset the GPU: nvidia-smi -r, or restart the machine; when "
			"it comes back, replace the GPU");
	return c->gpu->trouble[0] ? BU_VERDICT_FAIL : BU_VERDICT_PASS;
}

static int
judge_model(struct bu_gpu_case *c)
{
	return judge_name(c, c->gpu->name, "names");
}

static int
judge_memory_size(struct bu_gpu_case *c)
{
	return judge_number(c, c->gpu->memory_bytes, "memory_bytes", " bytes", 0);
}

/* "570" is any version of this branch. */
static int
judge_driver(struct bu_gpu_case *c)
{
	const char *branch = bu_json_str(c->expect, "driver", "");
	size_t length = strlen(branch);
	int verdict = judge_name(c, c->all->driver, "driver");

	if (length && strncmp(c->all->driver, branch, length) == 0 &&
	    c->all->driver[length] == '.')
		return BU_VERDICT_PASS;
	return verdict;
}

static int
judge_vbios(struct bu_gpu_case *c)
{
	return judge_name(c, c->gpu->vbios, "vbios");
}

/* It is not judged: it tells which one is which. */
static int
tell_serial(struct bu_gpu_case *c)
{
	BU_CHECK_SET(c->row->seen, "%s", c->gpu->serial);
	return c->gpu->serial[0] ? BU_VERDICT_PASS : BU_GPU_NOT_JUDGED;
}

static int
judge_ecc(struct bu_gpu_case *c)
{
	long long deferred = c->gpu->ecc_deferred;
	char more[48] = "";

	if (c->gpu->ecc == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	if (deferred > 0)
		snprintf(more, sizeof(more), ", %lld set aside unused", deferred);
	BU_CHECK_SET(c->row->expected, "ECC on, 0 uncorrected errors");
	BU_CHECK_SET(c->row->seen, "ECC %s, %lld uncorrected errors%s",
		     c->gpu->ecc ? "on" : "off",
		     c->gpu->ecc_uncorrected > 0 ? (long long)c->gpu->ecc_uncorrected
						 : 0LL,
		     more);
	if (!c->gpu->ecc && c->gpu->ecc_uncorrected <= 0)
		BU_CHECK_SET(
			c->row->hint,
			"switch ECC on: nvidia-smi -e 1 (AMD: in the firmware), then "
			"restart the machine");
	if (!c->gpu->ecc || c->gpu->ecc_uncorrected > 0)
		return BU_VERDICT_FAIL;
	return deferred > 0 ? BU_VERDICT_WARN : BU_VERDICT_PASS;
}

static int
judge_remap(struct bu_gpu_case *c)
{
	int64_t rows = c->gpu->remap_corrected + c->gpu->remap_uncorrected;

	if (c->gpu->remap_pending == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "none pending, none failed, at most %d rows",
		     REMAPPED_WARN);
	BU_CHECK_SET(c->row->seen, "%lld rows%s%s", (long long)rows,
		     c->gpu->remap_pending ? ", one pending" : "",
		     c->gpu->remap_failed ? ", one failed" : "");
	if (c->gpu->remap_failed)
		BU_CHECK_SET(c->row->hint,
			     "replace the GPU: its memory has no rows left");
	else if (c->gpu->remap_pending)
		BU_CHECK_SET(c->row->hint,
			     "reset the GPU: nvidia-smi -r; that ends the remap");
	if (c->gpu->remap_pending || c->gpu->remap_failed)
		return BU_VERDICT_FAIL;
	return rows > REMAPPED_WARN ? BU_VERDICT_WARN : BU_VERDICT_PASS;
}

/* "4,17"; 0 when there are none. */
static size_t
list_links(uint64_t links, char *ret, size_t size)
{
	size_t used = 0;

	ret[0] = '\0';
	for (int i = 0; i < BU_NVLINKS_MAX; i++)
		if (links >> i & 1 && used < size - 8)
			used += (size_t)snprintf(ret + used, size - used, "%s%d",
						 used ? "," : "", i);
	return used;
}

static int
is_divided(const struct bu_gpu_case *c)
{
	return c->gpu->mig == 1 || bu_json_bool(c->expect, "mig", 0);
}

/* Where nobody knows how many a GPU should have: one without a bridge answers on all of
 * its links that they are down, and what MIG leaves of them is no fault either. */
static int
tell_links(struct bu_gpu_case *c, int there, int up)
{
	if (is_divided(c) || !up) {
		BU_CHECK_SET(c->row->seen, "%d of %d links up", up, there);
		BU_CHECK_SET(c->row->expected, "%s",
			     is_divided(c) ? "not judged under MIG"
					   : "no number of this part; not judged");
		return BU_VERDICT_PASS;
	}
	BU_CHECK_SET(c->row->expected, "%d links up, or none", there);
	BU_CHECK_SET(c->row->hint,
		     "reseat the bridge of this GPU, or its baseboard; compare with a "
		     "machine of its kind");
	return up == there ? BU_VERDICT_PASS : BU_VERDICT_WARN;
}

/* there: as many as the GPU tells of. */
static int
judge_up(struct bu_gpu_case *c, const char *key, int there, uint64_t is_down)
{
	const json_t *wanted = json_object_get(c->expect, key);
	int up = there - __builtin_popcountll(is_down);
	int expected =
		json_is_integer(wanted) ? (int)json_integer_value(wanted) : there;
	char down[96];
	size_t used = list_links(is_down, down, sizeof(down));

	if (!expected || (!there && is_divided(c)))
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->seen, "%d links up%s%s", up, used ? "; down: " : "", down);
	if (is_divided(c) || !json_is_integer(wanted))
		return tell_links(c, there, up);
	BU_CHECK_SET(c->row->expected, "%d links up", expected);
	return up == expected ? BU_VERDICT_PASS : BU_VERDICT_FAIL;
}

static int
judge_links(struct bu_gpu_case *c)
{
	return judge_up(c, "nvlinks", c->gpu->links, c->gpu->links_down);
}

/* A guest is not told of them. */
static int
judge_xgmi(struct bu_gpu_case *c)
{
	if (c->gpu->xgmi == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	return judge_up(c, "xgmi_links",
			c->gpu->xgmi + __builtin_popcountll(c->gpu->xgmi_down),
			c->gpu->xgmi_down);
}

static int
judge_link_errors(struct bu_gpu_case *c)
{
	if (c->gpu->link_errors == BU_NVML_UNKNOWN || !c->gpu->links)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "0 errors");
	BU_CHECK_SET(c->row->seen, "%lld errors", (long long)c->gpu->link_errors);
	return c->gpu->link_errors ? BU_VERDICT_WARN : BU_VERDICT_PASS;
}

static int
judge_slowdown(struct bu_gpu_case *c)
{
	static const struct {
		int bit;
		const char *name;
		int fault;
	} reasons[] = {
		{SLOW_HARDWARE, "hardware slowdown", 1},
		{SLOW_HARDWARE_THERMAL, "hardware thermal slowdown", 1},
		{SLOW_POWER_BRAKE, "power brake", 1},
		{SLOW_THERMAL, "software thermal slowdown", 1},
		{SLOW_POWER_CAP, "power cap", 0},
	};
	int verdict = BU_VERDICT_PASS;
	size_t used = 0;

	if (c->gpu->slowdown == BU_GPU_SLOWDOWN_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "not slowed down");
	for (size_t i = 0; i < BU_LEN(reasons); i++) {
		if (!(c->gpu->slowdown & (uint64_t)reasons[i].bit))
			continue;
		used += (size_t)snprintf(c->row->seen + used,
					 sizeof(c->row->seen) - used, "%s%s",
					 used ? ", " : "", reasons[i].name);
		if (reasons[i].fault)
			verdict = BU_VERDICT_FAIL;
		else if (verdict == BU_VERDICT_PASS)
			verdict = BU_VERDICT_WARN;
	}
	if (used && c->gpu->temperature_c != BU_NVML_UNKNOWN)
		snprintf(c->row->seen + used, sizeof(c->row->seen) - used, ", at %d C",
			 c->gpu->temperature_c);
	if (!used)
		BU_CHECK_SET(c->row->seen, "not slowed down");
	return verdict;
}

static int
judge_power_limit(struct bu_gpu_case *c)
{
	if (c->gpu->power_limit_mw == BU_NVML_UNKNOWN ||
	    c->gpu->power_default_mw == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "%lld W, its default",
		     (long long)c->gpu->power_default_mw / 1000);
	BU_CHECK_SET(c->row->seen, "%lld W", (long long)c->gpu->power_limit_mw / 1000);
	return c->gpu->power_limit_mw < c->gpu->power_default_mw ? BU_VERDICT_WARN
								 : BU_VERDICT_PASS;
}

static int
judge_replays(struct bu_gpu_case *c)
{
	if (c->gpu->pcie_replays == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "0 replays");
	BU_CHECK_SET(c->row->seen, "%lld replays", (long long)c->gpu->pcie_replays);
	return c->gpu->pcie_replays ? BU_VERDICT_WARN : BU_VERDICT_PASS;
}

static int
judge_mig(struct bu_gpu_case *c)
{
	const json_t *wanted = json_object_get(c->expect, "mig");
	int64_t instances = bu_json_int(c->expect, "mig_instances", 0);

	if (!json_is_boolean(wanted) || c->gpu->mig == BU_NVML_UNKNOWN)
		return BU_GPU_NOT_JUDGED;
	BU_CHECK_SET(c->row->expected, "MIG %s", json_is_true(wanted) ? "on" : "off");
	BU_CHECK_SET(c->row->seen, "MIG %s", c->gpu->mig ? "on" : "off");
	if (c->gpu->mig != json_is_true(wanted))
		return BU_VERDICT_FAIL;
	if (!instances || c->gpu->instances == BU_NVML_UNKNOWN)
		return BU_VERDICT_PASS;
	BU_CHECK_SET(c->row->expected, "MIG on, %lld instances", (long long)instances);
	BU_CHECK_SET(c->row->seen, "MIG on, %d instances", c->gpu->instances);
	return c->gpu->instances == instances ? BU_VERDICT_PASS : BU_VERDICT_FAIL;
}

/* id, what, hint, judge of one GPU (NULL: judged below) */
#define ROWS(X)                                                                        \
	X("gpu-library", "the libraries of the GPU driver can be used",                \
	  "install or repair the driver in the image", NULL)                           \
	X("gpu-count", "number of GPUs", "reseat or replace the GPU that is missing",  \
	  NULL)                                                                        \
	X("gpu-partition", "partition mode of AMD's GPUs",                             \
	  "drain the node, end what uses the GPUs, then amd-smi set -g all "           \
	  "--compute-partition and --memory-partition: the same on all",               \
	  NULL)                                                                        \
	X("gpu-answers", "the GPU answers its driver",                                 \
	  "power the machine off and on; when it comes back, reseat the GPU, then "    \
	  "replace it",                                                                \
	  judge_answers)                                                               \
	X("gpu-model", "exact model",                                                  \
	  "correct [hardware] gpu_model, or the GPU is the wrong part", judge_model)   \
	X("gpu-serial", "its serial number", "", tell_serial)                          \
	X("gpu-memory", "size of its memory", "replace the GPU", judge_memory_size)    \
	X("gpu-driver", "version of the driver", "rebuild the image or the node",      \
	  judge_driver)                                                                \
	X("gpu-vbios", "version of the VBIOS", "flash the VBIOS of the manifest",      \
	  judge_vbios)                                                                 \
	X("gpu-ecc", "ECC is on and has not failed",                                   \
	  "reset the GPU; if errors come back, replace it", judge_ecc)                 \
	X("gpu-sram", "errors of its SRAM", "replace the GPU", bu_gpu_sram_judge)      \
	X("gpu-recovery", "action that the driver asks for", "",                       \
	  bu_gpu_recovery_judge)                                                       \
	X("gpu-persistence", "persistence mode",                                       \
	  "start nvidia-persistenced in the image, or nvidia-smi -pm 1",               \
	  bu_gpu_persistence_judge)                                                    \
	X("gpu-remap", "rows of memory that were remapped",                            \
	  "reset the GPU to finish a pending remap; a failed one: replace it",         \
	  judge_remap)                                                                 \
	X("gpu-nvlink", "state of each NVLink",                                        \
	  "reseat the GPU baseboard; look at the NVSwitch", judge_links)               \
	X("gpu-nvlink-errors", "errors of the NVLinks",                                \
	  "soak; if they grow, reseat the GPU", judge_link_errors)                     \
	X("gpu-xgmi", "state of each XGMI link",                                       \
	  "reseat the GPU; if it stays down, replace its baseboard", judge_xgmi)       \
	X(BU_CHECK_GPU_FABRIC, "fabric manager has registered the GPU",                \
	  "start nvidia-fabricmanager of exactly the driver's version",                \
	  bu_gpu_fabric_judge)                                                         \
	X("gpu-imex", "an IMEX channel, where GPUs share NVLink with other nodes",     \
	  BU_IMEX_TO_DO, NULL)                                                         \
	X("gpu-slowdown", "clocks are not held down",                                  \
	  "look at cooling and power supplies", judge_slowdown)                        \
	X("gpu-power-limit", "power limit is the default",                             \
	  "nvidia-smi -pl, or correct what sets it", judge_power_limit)                \
	X("gpu-pcie", "PCIe link of the GPU",                                          \
	  "reseat the GPU or its riser; if it has fewer lanes than its port claims, "  \
	  "say so: thresholds = gpu_pcie_width=8",                                     \
	  bu_gpu_pcie_judge)                                                           \
	X("gpu-pcie-replays", "replays on its PCIe link",                              \
	  "soak; if they grow, reseat the GPU or its riser", judge_replays)            \
	X("gpu-mig", "MIG is as the profile says", "reboot to apply the layout",       \
	  judge_mig)                                                                   \
	X("gpu-copy", "copies come back as they were sent",                            \
	  "replace the GPU: it changes data", NULL)                                    \
	X("gpu-h2d", "bandwidth from memory to the GPU",                               \
	  "look at gpu-pcie, the NUMA node and the IOMMU", NULL)                       \
	X("gpu-d2h", "bandwidth from the GPU to memory",                               \
	  "look at gpu-pcie, the NUMA node and the IOMMU", NULL)                       \
	X("gpu-hbm", "bandwidth of the GPU's memory",                                  \
	  "look at gpu-slowdown; else replace the GPU", NULL)                          \
	X("gpu-p2p", "bandwidth between two GPUs",                                     \
	  "look at gpu-nvlink and gpu-fabric; ACS on the bridges between", NULL)       \
	X("gpu-p2p-all", "bandwidth to all other GPUs at once",                        \
	  "look at gpu-p2p and gpu-nvlink of its pairs", NULL)

static const struct bu_gpu_row rows[] = {
#define X(id, what, hint, fn) {id, what, hint},
	ROWS(X)
#undef X
};

static int (*const judges[])(struct bu_gpu_case *c) = {
#define X(id, what, hint, fn) fn,
	ROWS(X)
#undef X
};

const struct bu_gpu_row *
bu_gpu_rows(size_t *ret_count)
{
	*ret_count = BU_LEN(rows);
	return rows;
}

int
bu_gpu_row_judge(size_t row, struct bu_gpu_case *c)
{
	return judges[row] ? judges[row](c) : BU_GPU_NOT_JUDGED;
}
