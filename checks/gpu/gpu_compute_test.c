/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs that compute, against the stand-in for CUDA. */
#include "checks/gpu/gpu_compute.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/unit.h"

enum { RESULTS = 1024 * 256, ROUNDS = 300 };

static int turns;

/* Three launches on each GPU. */
static int
enough(void *arg)
{
	(void)arg;
	return ++turns == 3;
}

static int
burn(const char *fault, struct bu_gpu_compute *ret, struct bu_err *err)
{
	const struct bu_gpu_compute_opts opts = {.library = BU_BUILDDIR
						 "/tests/support/fakegpu.so",
						 .ms = 60000,
						 .rounds = ROUNDS,
						 .stop = enough};

	turns = 0;
	setenv("FAKEGPU", fault, 1);
	return bu_gpu_compute_run(&opts, ret, err);
}

START_TEST(good_gpus_compute_what_the_cpu_does)
{
	struct bu_gpu_compute compute;
	struct bu_err err;

	ck_assert_msg(burn("", &compute, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(compute.count, 4);
	for (size_t i = 0; i < compute.count; i++) {
		ck_assert_str_eq(compute.gpus[i].trouble, "");
		ck_assert_uint_eq(compute.gpus[i].results, 3 * RESULTS);
		ck_assert_uint_eq(compute.gpus[i].wrong, 0);
	}
	bu_gpu_compute_fini(&compute);
}
END_TEST

/* What is wrong with GPU 3 is said of it, and the others go on. */
START_TEST(a_wrong_bit_is_found_on_its_gpu)
{
	static const struct {
		const char *fault, *trouble;
		uint64_t wrong, results;
	} rows[] = {
		{"sdc", "result 1000 is 0x", 1, 3 * RESULTS - 1},
		{"lazy", "result 262143 is 0x00000000, right is 0x", 3,
		 3 * RESULTS - 3},
		{"launch", "compute: CUDA_ERROR_LAUNCH_FAILED", 0, 0},
		{"cuda-memory", "prepare to compute: CUDA_ERROR_OUT_OF_MEMORY", 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_gpu_compute compute;
		struct bu_err err;

		ck_assert_int_eq(burn(rows[i].fault, &compute, &err), 0);
		ck_assert_msg(strncmp(compute.gpus[3].trouble, rows[i].trouble,
				      strlen(rows[i].trouble)) == 0,
			      "%s", compute.gpus[3].trouble);
		ck_assert_uint_eq(compute.gpus[3].wrong, rows[i].wrong);
		ck_assert_uint_eq(compute.gpus[3].results, rows[i].results);
		for (size_t k = 0; k < 3; k++) {
			ck_assert_str_eq(compute.gpus[k].trouble, "");
			ck_assert_uint_eq(compute.gpus[k].results, 3 * RESULTS);
		}
		bu_gpu_compute_fini(&compute);
	}
}
END_TEST

START_TEST(a_driver_that_does_not_compile_accuses_no_gpu)
{
	struct bu_gpu_compute compute;
	struct bu_err err;

	ck_assert_int_eq(burn("nojit", &compute, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_ptr_nonnull(strstr(err.text, "UNSUPPORTED_PTX_VERSION"));
	ck_assert_int_eq(burn("no-device", &compute, &err), -1);
}
END_TEST

/* Other rounds, other results; each seed its own. */
START_TEST(results_depend_on_every_round)
{
	uint32_t one[BU_GPU_SEEDS], two[BU_GPU_SEEDS];

	bu_gpu_compute_reference(ROUNDS, one);
	bu_gpu_compute_reference(ROUNDS + 1, two);
	for (int i = 0; i < BU_GPU_SEEDS; i++) {
		ck_assert_uint_ne(one[i], two[i]);
		ck_assert(i == 0 || one[i] != one[i - 1]);
	}
}
END_TEST

BU_UNIT("gpu_compute", good_gpus_compute_what_the_cpu_does,
	a_wrong_bit_is_found_on_its_gpu, a_driver_that_does_not_compile_accuses_no_gpu,
	results_depend_on_every_round)
