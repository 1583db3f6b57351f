/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bandwidth of the copy engines. Called by the GPU checks. Each figure is the best of
 * five runs, because healthy machines spread by 5 to 8 % downwards; a run times several
 * copies between two events, after one that warms up. Whatever the host takes part in
 * runs on the CPUs next to the GPU, and so do its pages lie there.
 * Invariant: whatever was allocated is freed, also when a GPU falls over in the middle.
 */
#include "checks/gpu/gpu_copy_impl.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/sysroot.h"
#include "base/text.h"

enum {
	RUNS = 5,
	PORTABLE = 1,
	PEER_ALREADY_ENABLED = 704,
	TOO_MANY_PEERS = 711, /* without NVSwitches a GPU has eight at most */
};

enum kind { TO_DEVICE, TO_HOST, INSIDE, TO_PEER };

static void
gpu_close(const struct bu_cuda_calls *cuda, struct bu_gpu_open *gpu)
{
	if (!gpu->context)
		return;
	cuda->use(gpu->context);
	for (int i = 0; i < 2; i++) {
		if (gpu->memory[i])
			cuda->release_memory(gpu->memory[i]);
		if (gpu->host[i])
			cuda->host_free(gpu->host[i]);
		if (gpu->event[i])
			cuda->event_destroy(gpu->event[i]);
	}
	if (gpu->stream)
		cuda->stream_destroy(gpu->stream);
	cuda->release(gpu->device);
	memset(gpu, 0, sizeof(*gpu));
}

/* A hint: where the kernel does not tell which CPUs are near, it runs anywhere. */
static void
move_near(const struct bu_gpu_bench *bench, const char *pci)
{
	cpu_set_t near;

	bu_sysroot_cpus(bench->root, &near, "sys/bus/pci/devices/%s/local_cpulist",
			pci);
	CPU_AND(&near, &near, &bench->everywhere);
	sched_setaffinity(0, sizeof(near),
			  CPU_COUNT(&near) ? &near : &bench->everywhere);
}

static int
gpu_open(struct bu_gpu_bench *bench, int index, struct bu_gpu_rates *rates,
	 struct bu_err *err)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;
	struct bu_gpu_open *gpu = &bench->gpus[index];
	int rc = bu_cuda_check(cuda, cuda->device(&gpu->device, index), "device", err);

	if (rc == 0)
		rc = bu_cuda_check(
			cuda, cuda->pci(rates->pci, sizeof(rates->pci), gpu->device),
			"PCI address", err);
	bu_cuda_small(rates->pci);
	gpu->pci = rates->pci;
	if (rc == 0)
		move_near(bench, rates->pci);
	if (rc == 0)
		rc = bu_cuda_check(cuda, cuda->retain(&gpu->context, gpu->device),
				   "context", err);
	if (rc == 0)
		rc = bu_cuda_check(cuda, cuda->use(gpu->context), "context", err);
	if (rc == 0)
		rc = bu_cuda_check(cuda, cuda->stream_create(&gpu->stream, 1), "stream",
				   err);
	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = bu_cuda_check(cuda, cuda->alloc(&gpu->memory[i], bench->bytes),
				   "GPU memory", err);
		if (rc == 0)
			rc = bu_cuda_check(cuda,
					   cuda->host_alloc((void **)&gpu->host[i],
							    bench->bytes, PORTABLE),
					   "pinned memory", err);
		if (rc == 0)
			rc = bu_cuda_check(cuda, cuda->event_create(&gpu->event[i], 0),
					   "event", err);
	}
	return rc;
}

static int
copy_once(const struct bu_gpu_bench *bench, const struct bu_gpu_open *gpu,
	  enum kind kind, const struct bu_gpu_open *peer)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;

	switch (kind) {
	case TO_DEVICE:
		return cuda->to_device(gpu->memory[0], gpu->host[0], bench->bytes,
				       gpu->stream);
	case TO_HOST:
		return cuda->to_host(gpu->host[1], gpu->memory[0], bench->bytes,
				     gpu->stream);
	case INSIDE:
		return cuda->inside(gpu->memory[1], gpu->memory[0], bench->bytes,
				    gpu->stream);
	case TO_PEER:
		return cuda->to_peer(peer->memory[1], peer->context, gpu->memory[0],
				     gpu->context, bench->bytes, gpu->stream);
	}
	return 0;
}

static int
time_run(const struct bu_gpu_bench *bench, const struct bu_gpu_open *gpu,
	 enum kind kind, const struct bu_gpu_open *peer, double *ret_gbs,
	 struct bu_err *err)
{
	static const char *const names[] = {"copy to the GPU", "copy from the GPU",
					    "copy inside the GPU",
					    "copy to another GPU"};
	const struct bu_cuda_calls *cuda = &bench->cuda;
	float ms = 0;
	int rc = cuda->use(gpu->context);

	if (rc == 0)
		rc = copy_once(bench, gpu, kind, peer);
	if (rc == 0)
		rc = cuda->event_record(gpu->event[0], gpu->stream);
	for (int i = 0; i < bench->repeats && rc == 0; i++)
		rc = copy_once(bench, gpu, kind, peer);
	if (rc == 0)
		rc = cuda->event_record(gpu->event[1], gpu->stream);
	if (rc == 0 && bench->busy && (kind == TO_DEVICE || kind == TO_HOST))
		bench->busy(gpu->pci, bench->arg);
	if (rc == 0)
		rc = cuda->event_wait(gpu->event[1]);
	if (rc == 0)
		rc = cuda->event_ms(&ms, gpu->event[0], gpu->event[1]);
	if (bu_cuda_check(cuda, rc, names[kind], err) != 0)
		return -1;
	if (!(ms > 0))
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "%s took no time; the clock of the GPU is wrong",
				  names[kind]);
	*ret_gbs = (double)bench->bytes * bench->repeats / ((double)ms * 1e6);
	return 0;
}

static void
ask_about(const struct bu_gpu_bench *bench, int gpu)
{
	if (bench->asking)
		bench->asking->fn(gpu, bench->asking->arg);
}

/* Each has its time to answer: over a slow way the copies to all peers take longer. */
static int
rate(const struct bu_gpu_bench *bench, const struct bu_gpu_open *gpu, enum kind kind,
     const struct bu_gpu_open *peer, double *ret_gbs, struct bu_err *err)
{
	double best = 0, run = 0;

	ask_about(bench, (int)(gpu - bench->gpus));
	for (int i = 0; i < RUNS; i++) {
		if (time_run(bench, gpu, kind, peer, &run, err) != 0)
			return -1;
		best = run > best ? run : best;
	}
	*ret_gbs = best;
	return 0;
}

/* Another pattern for each GPU, so that what another one left is not taken for ours. */
static void
stamp(unsigned char *memory, size_t bytes, unsigned int seed)
{
	uint64_t value = 0x9e3779b97f4a7c15u * (seed + 1);

	for (size_t i = 0; i + sizeof(value) <= bytes; i += sizeof(value)) {
		value = value * 6364136223846793005u + 1442695040888963407u;
		memcpy(memory + i, &value, sizeof(value));
	}
}

static int
verify(const struct bu_gpu_bench *bench, const struct bu_gpu_open *gpu,
       struct bu_err *err)
{
	size_t i = 0;

	if (memcmp(gpu->host[0], gpu->host[1], bench->bytes) == 0)
		return 0;
	while (gpu->host[0][i] == gpu->host[1][i])
		i++;
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "byte %zu came back as 0x%02x, sent was 0x%02x", i,
			  gpu->host[1][i], gpu->host[0][i]);
}

static int
measure_gpu(struct bu_gpu_bench *bench, int index, struct bu_gpu_rates *rates,
	    struct bu_err *err)
{
	struct bu_gpu_open *gpu = &bench->gpus[index];

	if (gpu_open(bench, index, rates, err) != 0)
		return -1;
	stamp(gpu->host[0], bench->bytes, (unsigned int)index);
	memset(gpu->host[1], 0, bench->bytes);
	if (rate(bench, gpu, TO_DEVICE, NULL, &rates->h2d_gbs, err) != 0 ||
	    rate(bench, gpu, TO_HOST, NULL, &rates->d2h_gbs, err) != 0)
		return -1;
	rates->changed = verify(bench, gpu, err) != 0;
	if (rates->changed)
		return -1;
	if (bench->host_only)
		return 0;
	if (rate(bench, gpu, INSIDE, NULL, &rates->hbm_gbs, err) != 0)
		return -1;
	rates->hbm_gbs *= 2;
	return 0;
}

static int
measure_peer(struct bu_gpu_bench *bench, int from, int to, double *ret_gbs,
	     struct bu_err *err)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;
	const struct bu_gpu_open *gpu = &bench->gpus[from], *peer = &bench->gpus[to];
	int can = 0, rc;

	if (bu_cuda_check(cuda, cuda->can_peer(&can, gpu->device, peer->device),
			  "peer access", err) != 0)
		return -1;
	if (!can) {
		*ret_gbs = -1;
		return 0;
	}
	rc = cuda->use(gpu->context);
	if (rc == 0)
		rc = cuda->enable_peer(peer->context, 0);
	if (rc == TOO_MANY_PEERS)
		return 0;
	if (rc != PEER_ALREADY_ENABLED &&
	    bu_cuda_check(cuda, rc, "peer access", err) != 0)
		return -1;
	return rate(bench, gpu, TO_PEER, peer, ret_gbs, err);
}

static void
measure_all(struct bu_gpu_bench *bench, struct bu_gpu_copy *ret)
{
	struct bu_err err;

	for (int i = 0; i < bench->count; i++) {
		struct bu_gpu_rates *rates = &ret->gpus[i];

		ask_about(bench, i);

		if (measure_gpu(bench, i, rates, &err) != 0) {
			bu_text_copy(rates->trouble, sizeof(rates->trouble), err.text);
			gpu_close(&bench->cuda, &bench->gpus[i]);
		}
	}
	for (int from = 0; from < bench->count && !bench->host_only; from++) {
		ask_about(bench, from);
		for (int to = 0; to < bench->count; to++) {
			double *cell = &ret->p2p_gbs[from * bench->count + to];
			struct bu_gpu_rates *rates = &ret->gpus[from];

			if (from == to || !bench->gpus[from].context ||
			    !bench->gpus[to].context)
				continue;
			if (measure_peer(bench, from, to, cell, &err) != 0)
				bu_text_copy(rates->trouble, sizeof(rates->trouble),
					     err.text);
		}
	}
	ask_about(bench, -1);
	bu_gpu_copy_at_once(bench, ret);
	for (int i = 0; i < bench->count; i++) {
		ask_about(bench, i);
		gpu_close(&bench->cuda, &bench->gpus[i]);
	}
	ask_about(bench, -1);
}

int
bu_gpu_copy_run(const struct bu_gpu_copy_opts *opts, struct bu_gpu_copy *ret,
		struct bu_err *err)
{
	bu_autofree struct bu_gpu_bench *bench = bu_xcalloc(1, sizeof(*bench));
	size_t cells;
	int rc;

	memset(ret, 0, sizeof(*ret));
	bench->bytes = opts->bytes ? opts->bytes : (size_t)256 << 20;
	bench->repeats = opts->repeats ? opts->repeats : 8;
	bench->host_only = opts->host_only;
	bench->asking = opts->asking;
	bench->busy = opts->busy;
	bench->arg = opts->arg;
	bench->root = opts->root ? opts->root : "";
	sched_getaffinity(0, sizeof(bench->everywhere), &bench->everywhere);
	ask_about(bench, -1);
	if (bu_cuda_load(opts->library ? opts->library : "libcuda.so.1", &bench->cuda,
			 err) != 0)
		return -1;
	rc = bu_cuda_check(&bench->cuda, bench->cuda.init(0), "cuInit", err);
	if (rc == 0)
		rc = bu_cuda_check(&bench->cuda, bench->cuda.count(&bench->count),
				   "number of GPUs", err);
	if (rc == 0 && (bench->count < 0 || bench->count > BU_GPUS_MAX))
		rc = bu_err_set(err, BU_ERR_VERIFY, 0,
				"CUDA reports %d GPUs; at most %d are supported",
				bench->count, BU_GPUS_MAX);
	if (rc == 0) {
		cells = (size_t)bench->count * (size_t)bench->count;
		ret->count = (size_t)bench->count;
		ret->gpus = bu_xcalloc(ret->count + 1, sizeof(*ret->gpus));
		ret->p2p_gbs = bu_xcalloc(cells + 1, sizeof(*ret->p2p_gbs));
		measure_all(bench, ret);
		sched_setaffinity(0, sizeof(bench->everywhere), &bench->everywhere);
	}
	dlclose(bench->cuda.handle);
	return rc;
}

void
bu_gpu_copy_fini(struct bu_gpu_copy *copy)
{
	free(copy->gpus);
	free(copy->p2p_gbs);
	memset(copy, 0, sizeof(*copy));
}
