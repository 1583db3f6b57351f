/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slice of a soak. Called by the runner of checks. Invariant: only differences of
 * counters over the slice are judged: what happened before it is not this slice's.
 */
#include "checks/soak/soak_impl.h"

#include <fnmatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/sysroot.h"
#include "base/text.h"
#include "checks/gpu/gpu.h"
#include "checks/gpu/gpu_compute.h"
#include "checks/host/host_disk.h"
#include "checks/host/host_load.h"

enum {
	COUNTERS_MAX = 8192,
	GPU_BYTES = 64 << 20,
	MEMORY_MAX_MIB = 65536,
	SLOT_GPUS = 1,
	DISKS_MS = 120000,
	COMPUTE_MS = 10000
};

/* Counters in files: the folder whose members are looked at, the file below each. */
static const struct {
	const char *folder, *members, *file;
	enum bu_soak_kind row;
} sources[] = {
	{"sys/devices/system/edac/mc", "mc[0-9]*", "ue_count", BU_SOAK_MEMORY_LOST},
	{"sys/devices/system/edac/mc", "mc[0-9]*", "ce_count",
	 BU_SOAK_MEMORY_CORRECTED},
	{"sys/devices/system/cpu", "cpu[0-9]*", "thermal_throttle/core_throttle_count",
	 BU_SOAK_THROTTLE},
	{"sys/bus/pci/devices", "*", "aer_dev_fatal", BU_SOAK_PCIE_LOST},
	{"sys/bus/pci/devices", "*", "aer_dev_nonfatal", BU_SOAK_PCIE_LOST},
	{"sys/bus/pci/devices", "*", "aer_dev_correctable", BU_SOAK_PCIE_CORRECTED},
	{"sys/class/net", "*", "carrier_down_count", BU_SOAK_FLAPS},
};

struct counter {
	char subject[64];
	enum bu_soak_kind row;
	int source; /* in sources; -1 = of a GPU */
	int64_t value;
};

struct counters {
	struct counter *list;
	size_t count;
	const char *root;
	int source; /* that is being read */
};

/* AER files have a line for each kind and one for their sum; others a number. */
static int
read_counter(const struct counters *all, const char *name, int64_t *ret)
{
	const char *folder = sources[all->source].folder;
	const char *file = sources[all->source].file;
	bu_autofree char *text =
		bu_sysroot_read(all->root, 8192, NULL, "%s/%s/%s", folder, name, file);
	const char *total = text ? strstr(text, "TOTAL_ERR_") : NULL;
	const char *at = total ? strchr(total, ' ') : text;
	char *end;

	if (!at)
		return -1;
	*ret = strtoll(at, &end, 10);
	return end == at ? -1 : 0;
}

static void
add_counter(struct counters *all, const char *subject, enum bu_soak_kind row,
	    int source, int64_t value)
{
	struct counter *counter = &all->list[all->count];

	if (all->count == COUNTERS_MAX)
		return;
	all->count++;
	bu_text_copy(counter->subject, sizeof(counter->subject), subject);
	counter->row = row;
	counter->source = source;
	counter->value = value;
}

static void
look_at(const char *name, void *arg)
{
	struct counters *all = arg;
	int64_t value;

	if (fnmatch(sources[all->source].members, name, 0) == 0 &&
	    read_counter(all, name, &value) == 0)
		add_counter(all, name, sources[all->source].row, all->source, value);
}

/* Without persistence the driver forgets the errors of GPUs that no process uses: while
 * this is open it does not. NULL where there are none of NVIDIA's. */
static struct bu_nvml *
hold_gpus(const struct bu_checks_ctx *ctx)
{
	bu_autofree char *library =
		ctx->libs ? bu_xasprintf("%s/libnvidia-ml.so.1", ctx->libs) : NULL;
	const json_t *expect = json_object_get(ctx->expect, "gpu");
	struct bu_gpu_steps steps;
	struct bu_nvml *nvml;
	struct bu_err err;

	if (!expect || bu_gpu_is_amd(expect, ctx->root))
		return NULL;
	bu_gpu_steps_init(&steps, ctx, NULL, 0, "NVML");
	steps.asking.fn(-1, steps.asking.arg);
	nvml = bu_nvml_open(library, &err);
	bu_checks_doing(ctx, NULL, NULL);
	return nvml;
}

static void
look_at_gpus(const struct bu_checks_ctx *ctx, struct counters *all)
{
	bu_autofree char *nvml =
		ctx->libs ? bu_xasprintf("%s/libnvidia-ml.so.1", ctx->libs) : NULL;
	bu_autofree char *amd =
		ctx->libs ? bu_xasprintf("%s/libamd_smi.so.26", ctx->libs) : NULL;
	struct bu_gpu_opts opts = {.nvml = nvml,
				   .amd = amd,
				   .ctx = ctx,
				   .expect = json_object_get(ctx->expect, "gpu")};
	struct bu_nvml_facts facts;

	/* Without GPUs that are expected there are none to be loaded. */
	if (!opts.expect || bu_gpu_read(&opts, NULL, &facts, NULL) != 0)
		return;
	bu_checks_doing(ctx, NULL, NULL);
	for (size_t i = 0; i < facts.count; i++) {
		const struct bu_gpu_facts *gpu = &facts.gpus[i];
		const struct {
			enum bu_soak_kind row;
			int64_t value;
		} seen[] = {
			{BU_SOAK_GPU_LOST, gpu->ecc_uncorrected},
			{BU_SOAK_GPU_CORRECTED, gpu->ecc_corrected},
			{BU_SOAK_GPU_LINKS, gpu->link_errors},
			{BU_SOAK_GPU_REPLAYS, gpu->pcie_replays},
		};
		char subject[64];

		snprintf(subject, sizeof(subject), "GPU %zu at %s", i, gpu->pci);
		for (size_t k = 0; k < BU_LEN(seen); k++)
			if (seen[k].value != BU_NVML_UNKNOWN)
				add_counter(all, subject, seen[k].row, -1,
					    seen[k].value);
	}
	bu_nvml_facts_fini(&facts);
}

static void
take_counters(const struct bu_checks_ctx *ctx, struct counters *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->root = ctx->root;
	ret->list = bu_xcalloc(COUNTERS_MAX, sizeof(*ret->list));
	for (ret->source = 0; ret->source < (int)BU_LEN(sources); ret->source++)
		bu_sysroot_each(ctx->root, look_at, ret, "%s",
				sources[ret->source].folder);
	look_at_gpus(ctx, ret);
}

/* --- the load beside CPUs and memory: disks and GPUs, in a thread of its own --- */

struct beside {
	const struct bu_checks_ctx *ctx;
	pthread_t thread;
	atomic_int stop;
	char disk_trouble[160], gpu_trouble[200];
	char compute_trouble[240], idle_trouble[200];
};

static int
beside_stopped(void *arg)
{
	return atomic_load(&((struct beside *)arg)->stop);
}

static int
copy_on_gpus(struct beside *beside)
{
	bu_autofree char *library =
		beside->ctx->libs ? bu_xasprintf("%s/libcuda.so.1", beside->ctx->libs)
				  : NULL;
	struct bu_gpu_steps steps;
	const json_t *soak = json_object_get(beside->ctx->expect, "soak");
	struct bu_gpu_copy_opts opts = {
		.library = library,
		.bytes = (size_t)bu_json_int(soak, "gpu_bytes", GPU_BYTES),
		.asking = &steps.asking};
	struct bu_gpu_copy copy;
	struct bu_err err;

	bu_gpu_steps_init(&steps, beside->ctx, NULL, SLOT_GPUS, "CUDA");
	if (bu_gpu_copy_run(&opts, &copy, &err) != 0) {
		bu_text_copy(beside->gpu_trouble, sizeof(beside->gpu_trouble),
			     err.text);
		return -1;
	}
	for (size_t i = 0; i < copy.count && !beside->gpu_trouble[0]; i++)
		if (copy.gpus[i].trouble[0])
			snprintf(beside->gpu_trouble, sizeof(beside->gpu_trouble),
				 "GPU %zu: %.170s", i, copy.gpus[i].trouble);
	bu_gpu_copy_fini(&copy);
	return beside->gpu_trouble[0] ? -1 : 0;
}

/* 0: they computed, and go on; -1: no more. */
static int
compute_on_gpus(struct beside *beside)
{
	bu_autofree char *library =
		beside->ctx->libs ? bu_xasprintf("%s/libcuda.so.1", beside->ctx->libs)
				  : NULL;
	struct bu_gpu_steps steps;
	const struct bu_gpu_compute_opts opts = {.library = library,
						 .ms = COMPUTE_MS,
						 .stop = beside_stopped,
						 .arg = beside,
						 .asking = &steps.asking};
	struct bu_gpu_compute compute;
	struct bu_err err;

	bu_gpu_steps_init(&steps, beside->ctx, NULL, SLOT_GPUS, "CUDA");
	if (bu_gpu_compute_run(&opts, &compute, &err) != 0) {
		bu_text_copy(beside->idle_trouble, sizeof(beside->idle_trouble),
			     err.text);
		return -1;
	}
	for (size_t i = 0; i < compute.count && !beside->compute_trouble[0]; i++)
		if (compute.gpus[i].trouble[0])
			snprintf(beside->compute_trouble,
				 sizeof(beside->compute_trouble),
				 "GPU %zu at %s: %.170s", i, compute.gpus[i].pci,
				 compute.gpus[i].trouble);
	bu_gpu_compute_fini(&compute);
	return beside->compute_trouble[0] ? -1 : 0;
}

static void *
load_beside(void *arg)
{
	struct beside *beside = arg;
	const json_t *expect = json_object_get(beside->ctx->expect, "gpu");
	int gpus = expect != NULL, disks = 1, computes;

	if (gpus && bu_gpu_is_amd(expect, beside->ctx->root)) {
		bu_text_copy(beside->idle_trouble, sizeof(beside->idle_trouble),
			     "GPUs of AMD: no load is known for them");
		gpus = 0;
	}
	computes = gpus;
	while (!atomic_load(&beside->stop) && (gpus || computes || disks)) {
		if (gpus && copy_on_gpus(beside) != 0)
			gpus = computes = 0;
		if (computes && compute_on_gpus(beside) != 0)
			computes = 0;
		bu_checks_doing(beside->ctx, NULL,
				&(struct bu_doing){
					.slot = SLOT_GPUS,
					.limit_ms = DISKS_MS,
					.id = bu_soak_row(BU_SOAK_DISK_WRONG)->id,
					.subject = "a disk",
					.what = "reads",
					.hint = bu_soak_row(BU_SOAK_DISK_WRONG)->hint});
		if (disks && bu_host_disks_read(beside->ctx->root, beside_stopped,
						beside, beside->disk_trouble,
						sizeof(beside->disk_trouble)) <= 0)
			disks = 0;
	}
	bu_checks_doing(beside->ctx, NULL, &(struct bu_doing){.slot = SLOT_GPUS});
	return NULL;
}

static int
on_tick(void *arg)
{
	return bu_checks_stop(arg);
}

struct worn {
	struct bu_host_load cpu, memory;
	struct bu_err err;
	int failed;
};

/* Half of what is free, at most what expect.soak.memory_bytes says. */
static uint64_t
memory_bytes(const json_t *soak)
{
	uint64_t most = (uint64_t)bu_json_int(soak, "memory_bytes", 0);
	uint64_t bytes = (uint64_t)bu_sysroot_meminfo_bytes("", "MemAvailable:") / 2;

	if (!most)
		most = (uint64_t)MEMORY_MAX_MIB << 20;
	return bytes < most ? bytes : most;
}

static void
load(const struct bu_checks_ctx *ctx, int64_t slice_ms, struct beside *beside,
     struct worn *ret)
{
	uint64_t bytes = memory_bytes(json_object_get(ctx->expect, "soak"));
	int started;

	memset(ret, 0, sizeof(*ret));
	started = pthread_create(&beside->thread, NULL, load_beside, beside) == 0;
	if (bu_host_load_cpu(0, slice_ms / 2, on_tick, (void *)ctx, &ret->cpu,
			     &ret->err) != 0 ||
	    bu_host_load_memory(
		    &(struct bu_host_triad){0, bytes, slice_ms - slice_ms / 2}, on_tick,
		    (void *)ctx, &ret->memory, &ret->err) != 0)
		ret->failed = 1;
	atomic_store(&beside->stop, 1);
	if (started)
		pthread_join(beside->thread, NULL);
}

/* --- judging --- */

/* What grew. A counter that is gone or new (a card that fell off the bus comes back
 * with another name) is the audit's to find. */
static int
judge_counters(const struct counters *before, const struct counters *after,
	       struct bu_checks *out)
{
	int found = 0;

	for (size_t i = 0; i < after->count; i++) {
		const struct counter *now = &after->list[i];

		for (size_t k = 0; k < before->count; k++) {
			const struct counter *then = &before->list[k];
			char seen[48];

			if (then->row != now->row || then->source != now->source ||
			    strcmp(then->subject, now->subject) != 0)
				continue;
			if (now->value > then->value) {
				snprintf(seen, sizeof(seen), "%lld more",
					 (long long)(now->value - then->value));
				bu_soak_finding(out, now->row, now->subject, seen,
						"0 more");
				found++;
			}
			break;
		}
	}
	return found;
}

static void
judge_load(const struct worn *worn, const struct beside *beside, struct bu_checks *out)
{
	char seen[96];

	if (worn->cpu.wrong) {
		snprintf(seen, sizeof(seen), "%llu wrong results",
			 (unsigned long long)worn->cpu.wrong);
		bu_soak_finding(out, BU_SOAK_CPU_WRONG, "", seen, "0 wrong results");
	}
	if (worn->memory.wrong) {
		snprintf(seen, sizeof(seen), "%llu wrong words, CPU %d",
			 (unsigned long long)worn->memory.wrong,
			 worn->memory.wrong_cpu);
		bu_soak_finding(out, BU_SOAK_MEMORY_WRONG, "", seen, "0 wrong words");
	}
	if (beside->disk_trouble[0])
		bu_soak_finding(out, BU_SOAK_DISK_WRONG, "", beside->disk_trouble,
				"no error");
	if (beside->gpu_trouble[0])
		bu_soak_finding(out, BU_SOAK_GPU_COPY, "", beside->gpu_trouble,
				"verified");
	if (beside->compute_trouble[0])
		bu_soak_finding(out, BU_SOAK_GPU_COMPUTE, "", beside->compute_trouble,
				"the CPU's results");
	if (beside->idle_trouble[0])
		bu_soak_finding(out, BU_SOAK_GPU_IDLE, "", beside->idle_trouble,
				"they compute");
}

int
bu_soak_run(const struct bu_checks_ctx *ctx, struct bu_checks *out, struct bu_err *err)
{
	const json_t *soak = json_object_get(ctx->expect, "soak");
	int64_t slice_ms = bu_json_int(soak, "slice_ms", BU_SOAK_SLICE_MS);
	int64_t start_ms = bu_mono_ms(bu_clock_system());
	struct beside beside = {.ctx = ctx};
	bu_autofree struct bu_soak_links *links = bu_xcalloc(1, sizeof(*links));
	struct counters before, after;
	struct bu_soak_ports ports_before, ports_after;
	struct bu_check *row;
	struct worn worn;
	struct bu_nvml *held = hold_gpus(ctx);
	double seconds;

	take_counters(ctx, &before);
	bu_soak_ports_take(ctx->root, &ports_before);
	bu_soak_links_begin(ctx, links);
	load(ctx, slice_ms, &beside, &worn);
	bu_soak_links_end(links, out);
	bu_soak_ports_take(ctx->root, &ports_after);
	take_counters(ctx, &after);
	bu_nvml_close(held);
	seconds = (double)(bu_mono_ms(bu_clock_system()) - start_ms) / 1000;
	judge_counters(&before, &after, out);
	bu_soak_ports_judge(&ports_before, &ports_after, seconds, out);
	judge_load(&worn, &beside, out);
	free(before.list);
	free(after.list);
	bu_soak_ports_fini(&ports_before);
	bu_soak_ports_fini(&ports_after);
	if (worn.failed) {
		if (err)
			*err = worn.err;
		return -1;
	}
	row = bu_checks_add(out, "soak", BU_CHECK_SOAK_TIME, BU_VERDICT_PASS, "");
	BU_CHECK_SET(row->seen, "%.1f s", seconds);
	return 0;
}
