/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets all GPUs compute at once and compares what comes out; called by the soak.
 * Invariant: a result is right when it has every bit that the CPU's has. The kernel
 * uses integers and single operations of IEEE 754 (multiply, fused multiply-add,
 * conversion), so there is one right result.
 */
#include "checks/gpu/gpu_compute.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/symbols.h"
#include "base/text.h"
#include "checks/gpu/gpu_copy_impl.h"

enum { BLOCKS = 1024, THREADS = 256, RESULTS = BLOCKS * THREADS, ROUNDS = 1 << 18 };

/* As LLVM's back end for PTX made it from the C of reference_of() below; a GPU from
 * compute capability 7.0 on (Volta) takes it. */
static const char kernel[] =
	".version 6.0\n"
	".target sm_70\n"
	".address_size 64\n"
	".visible .entry bringup_burn(.param .u64 p_out, .param .u32 p_rounds)\n"
	"{\n"
	".reg .pred %p<2>;\n"
	".reg .b32 %r<12>;\n"
	".reg .f32 %f<6>;\n"
	".reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [p_out];\n"
	"ld.param.u32 %r1, [p_rounds];\n"
	"cvta.to.global.u64 %rd1, %rd1;\n"
	"mov.u32 %r2, %ctaid.x;\n"
	"mov.u32 %r3, %ntid.x;\n"
	"mov.u32 %r4, %tid.x;\n"
	"mad.lo.s32 %r5, %r2, %r3, %r4;\n"
	"and.b32 %r6, %r5, 255;\n"
	"mad.lo.s32 %r7, %r6, -1640531535, 1;\n"
	"cvt.rn.f32.u32 %f1, %r6;\n"
	"mov.f32 %f2, 0f3F800000;\n"
	"LOOP:\n"
	"mad.lo.s32 %r7, %r7, 1664525, 1013904223;\n"
	"shr.u32 %r8, %r7, 8;\n"
	"cvt.rn.f32.u32 %f3, %r8;\n"
	"mul.rn.f32 %f4, %f3, 0f33800000;\n"
	"fma.rn.f32 %f1, %f1, %f4, 0f3F000000;\n"
	"fma.rn.f32 %f2, %f2, %f4, %f1;\n"
	"add.s32 %r1, %r1, -1;\n"
	"setp.ne.s32 %p1, %r1, 0;\n"
	"@%p1 bra LOOP;\n"
	"mov.b32 %r9, %f1;\n"
	"mov.b32 %r10, %f2;\n"
	"xor.b32 %r9, %r9, %r10;\n"
	"xor.b32 %r9, %r9, %r7;\n"
	"mul.wide.u32 %rd2, %r5, 4;\n"
	"add.s64 %rd3, %rd1, %rd2;\n"
	"st.global.u32 [%rd3], %r9;\n"
	"ret;\n"
	"}\n";

/* What this file needs besides the calls that copies need. */
struct compute_calls {
	int (*load)(void **module, const void *image);
	int (*unload)(void *module);
	int (*function)(void **function, void *module, const char *name);
	int (*launch)(void *function, unsigned int grid_x, unsigned int grid_y,
		      unsigned int grid_z, unsigned int block_x, unsigned int block_y,
		      unsigned int block_z, unsigned int shared, void *stream,
		      void **parameters, void **extra);
};

struct burner {
	int device;
	void *context, *stream, *event, *module, *function;
	uint64_t memory;
	uint32_t *host;
};

struct bench {
	struct bu_cuda_calls cuda;
	struct compute_calls calls;
	const struct bu_gpu_compute_opts *opts;
	uint32_t rounds, right[BU_GPU_SEEDS];
	int count, refused; /* the driver does not compile the kernel */
	struct burner gpus[BU_GPUS_MAX];
};

static uint32_t
bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static uint32_t
reference_of(uint32_t seed, uint32_t rounds)
{
	uint32_t word = seed * 2654435761u + 1;
	float a = (float)seed, b = 1;

	for (uint32_t i = 0; i < rounds; i++) {
		float part;

		word = word * 1664525u + 1013904223u;
		part = (float)(word >> 8) * 0x1p-24f;
		a = fmaf(a, part, 0.5f);
		b = fmaf(b, part, a);
	}
	return word ^ bits_of(a) ^ bits_of(b);
}

void
bu_gpu_compute_reference(uint32_t rounds, uint32_t ret[BU_GPU_SEEDS])
{
	for (uint32_t seed = 0; seed < BU_GPU_SEEDS; seed++)
		ret[seed] = reference_of(seed, rounds);
}

static int
load_calls(const char *library, struct bench *bench, struct bu_err *err)
{
	static const struct bu_symbol calls[] = {
		{"cuModuleLoadData", offsetof(struct bench, calls.load), 0},
		{"cuModuleUnload", offsetof(struct bench, calls.unload), 0},
		{"cuModuleGetFunction", offsetof(struct bench, calls.function), 0},
		{"cuLaunchKernel", offsetof(struct bench, calls.launch), 0},
	};
	const char *missing;

	if (bu_cuda_load(library, &bench->cuda, err) != 0)
		return -1;
	missing = bu_symbols_find(bench->cuda.handle, calls, BU_LEN(calls), bench);
	if (!missing)
		return 0;
	dlclose(bench->cuda.handle);
	return bu_err_set(err, BU_ERR_VERIFY, 0, "%s is not a usable CUDA: it lacks %s",
			  library, missing);
}

static void
ask_about(const struct bench *bench, int gpu)
{
	if (bench->opts->asking)
		bench->opts->asking->fn(gpu, bench->opts->asking->arg);
}

static void
close_gpu(struct bench *bench, struct burner *gpu)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;

	if (!gpu->context)
		return;
	cuda->use(gpu->context);
	if (gpu->module)
		bench->calls.unload(gpu->module);
	if (gpu->memory)
		cuda->release_memory(gpu->memory);
	if (gpu->host)
		cuda->host_free(gpu->host);
	if (gpu->event)
		cuda->event_destroy(gpu->event);
	if (gpu->stream)
		cuda->stream_destroy(gpu->stream);
	cuda->release(gpu->device);
	memset(gpu, 0, sizeof(*gpu));
}

static int
open_memory(struct bench *bench, int index, struct bu_gpu_work *work,
	    struct bu_err *err)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;
	struct burner *gpu = &bench->gpus[index];
	const size_t bytes = RESULTS * sizeof(uint32_t);
	int rc = cuda->device(&gpu->device, index);

	if (rc == 0)
		rc = cuda->pci(work->pci, sizeof(work->pci), gpu->device);
	bu_cuda_small(work->pci);
	if (rc == 0)
		rc = cuda->retain(&gpu->context, gpu->device);
	if (rc == 0)
		rc = cuda->use(gpu->context);
	if (rc == 0)
		rc = cuda->stream_create(&gpu->stream, 1);
	if (rc == 0)
		rc = cuda->event_create(&gpu->event, 0);
	if (rc == 0)
		rc = cuda->alloc(&gpu->memory, bytes);
	if (rc == 0)
		rc = cuda->host_alloc((void **)&gpu->host, bytes, 1);
	return bu_cuda_check(cuda, rc, "prepare to compute", err);
}

/* Of the driver's compiler: it is no GPU's fault. */
static int
is_refusal(int code)
{
	static const int codes[] = {
		209, /* CUDA_ERROR_NO_BINARY_FOR_GPU */
		218, /* CUDA_ERROR_INVALID_PTX */
		221, /* CUDA_ERROR_JIT_COMPILER_NOT_FOUND */
		222, /* CUDA_ERROR_UNSUPPORTED_PTX_VERSION */
		223, /* CUDA_ERROR_JIT_COMPILATION_DISABLED */
	};

	for (size_t i = 0; i < BU_LEN(codes); i++)
		if (code == codes[i])
			return 1;
	return 0;
}

static int
open_gpu(struct bench *bench, int index, struct bu_gpu_work *work, struct bu_err *err)
{
	struct burner *gpu = &bench->gpus[index];
	int rc;

	if (open_memory(bench, index, work, err) != 0)
		return -1;
	rc = bench->calls.load(&gpu->module, kernel);
	if (rc == 0)
		rc = bench->calls.function(&gpu->function, gpu->module, "bringup_burn");
	bench->refused |= is_refusal(rc);
	return bu_cuda_check(&bench->cuda, rc, "compile the kernel", err);
}

static int
launch(struct bench *bench, struct burner *gpu)
{
	void *parameters[] = {&gpu->memory, &bench->rounds};
	const struct bu_cuda_calls *cuda = &bench->cuda;
	int rc = cuda->use(gpu->context);

	/* What is not written must not look like an earlier result. */
	memset(gpu->host, 0, RESULTS * sizeof(uint32_t));
	if (rc == 0)
		rc = cuda->to_device(gpu->memory, gpu->host, RESULTS * sizeof(uint32_t),
				     gpu->stream);
	if (rc == 0)
		rc = bench->calls.launch(gpu->function, BLOCKS, 1, 1, THREADS, 1, 1, 0,
					 gpu->stream, parameters, NULL);
	if (rc == 0)
		rc = cuda->to_host(gpu->host, gpu->memory, RESULTS * sizeof(uint32_t),
				   gpu->stream);
	return rc ? rc : cuda->event_record(gpu->event, gpu->stream);
}

static void
compare(const struct bench *bench, const struct burner *gpu, struct bu_gpu_work *work)
{
	for (uint32_t i = 0; i < RESULTS; i++) {
		uint32_t right = bench->right[i % BU_GPU_SEEDS];

		if (gpu->host[i] == right) {
			work->results++;
			continue;
		}
		if (work->wrong++ == 0)
			snprintf(work->trouble, sizeof(work->trouble),
				 "result %" PRIu32 " is 0x%08" PRIx32 ", right is "
				 "0x%08" PRIx32,
				 i, gpu->host[i], right);
	}
}

static void
trouble(struct bench *bench, int index, struct bu_gpu_work *work,
	const struct bu_err *err)
{
	bu_text_copy(work->trouble, sizeof(work->trouble), err->text);
	close_gpu(bench, &bench->gpus[index]);
}

/* One launch on each GPU, all at work before the first is waited for. */
static void
burn_once(struct bench *bench, struct bu_gpu_compute *ret)
{
	struct bu_err err;

	for (int i = 0; i < bench->count; i++) {
		if (!bench->gpus[i].context)
			continue;
		ask_about(bench, i);
		if (bu_cuda_check(&bench->cuda, launch(bench, &bench->gpus[i]),
				  "compute", &err) != 0)
			trouble(bench, i, &ret->gpus[i], &err);
	}
	for (int i = 0; i < bench->count; i++) {
		struct burner *gpu = &bench->gpus[i];

		if (!gpu->context)
			continue;
		ask_about(bench, i);
		bench->cuda.use(gpu->context);
		if (bu_cuda_check(&bench->cuda, bench->cuda.event_wait(gpu->event),
				  "compute", &err) != 0)
			trouble(bench, i, &ret->gpus[i], &err);
		else
			compare(bench, gpu, &ret->gpus[i]);
	}
	ask_about(bench, -1);
}

static int
any_left(const struct bench *bench)
{
	for (int i = 0; i < bench->count; i++)
		if (bench->gpus[i].context)
			return 1;
	return 0;
}

static void
burn(struct bench *bench, struct bu_gpu_compute *ret)
{
	const struct bu_gpu_compute_opts *opts = bench->opts;
	int64_t until_ns = bu_raw_ns() + opts->ms * 1000000;
	struct bu_err err;

	for (int i = 0; i < bench->count && !bench->refused; i++) {
		ask_about(bench, i);
		if (open_gpu(bench, i, &ret->gpus[i], &err) != 0)
			trouble(bench, i, &ret->gpus[i], &err);
	}
	if (!bench->refused && any_left(bench)) {
		bu_gpu_compute_reference(bench->rounds, bench->right);
		do
			burn_once(bench, ret);
		while (bu_raw_ns() < until_ns && any_left(bench) &&
		       !(opts->stop && opts->stop(opts->arg)));
	}
	for (int i = 0; i < bench->count; i++) {
		ask_about(bench, i);
		close_gpu(bench, &bench->gpus[i]);
	}
	ask_about(bench, -1);
}

void
bu_gpu_compute_fini(struct bu_gpu_compute *compute)
{
	free(compute->gpus);
	memset(compute, 0, sizeof(*compute));
}

static int
compute(struct bench *bench, struct bu_gpu_compute *ret, struct bu_err *err)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;

	if (bu_cuda_check(cuda, cuda->init(0), "cuInit", err) != 0 ||
	    bu_cuda_check(cuda, cuda->count(&bench->count), "number of GPUs", err) != 0)
		return -1;
	if (bench->count < 0 || bench->count > BU_GPUS_MAX)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "CUDA reports %d GPUs; at most %d are supported",
				  bench->count, BU_GPUS_MAX);
	ret->count = (size_t)bench->count;
	ret->gpus = bu_xcalloc(ret->count + 1, sizeof(*ret->gpus));
	burn(bench, ret);
	if (!bench->refused)
		return 0;
	for (size_t i = 0; i < ret->count; i++)
		if (ret->gpus[i].trouble[0])
			bu_err_set(err, BU_ERR_STATE, 0, "%s", ret->gpus[i].trouble);
	bu_gpu_compute_fini(ret);
	return -1;
}

int
bu_gpu_compute_run(const struct bu_gpu_compute_opts *opts, struct bu_gpu_compute *ret,
		   struct bu_err *err)
{
	bu_autofree struct bench *bench = bu_xcalloc(1, sizeof(*bench));
	int rc;

	memset(ret, 0, sizeof(*ret));
	bench->opts = opts;
	bench->rounds = opts->rounds ? opts->rounds : ROUNDS;
	ask_about(bench, -1);
	if (load_calls(opts->library ? opts->library : "libcuda.so.1", bench, err) != 0)
		return -1;
	rc = compute(bench, ret, err);
	dlclose(bench->cuda.handle);
	return rc;
}
