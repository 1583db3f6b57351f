/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies between all pairs of GPUs at once: what their links carry together. Called by
 * gpu_copy.c after it has measured each pair alone. Invariant: a figure is the sum of
 * what each stream of a GPU reached in its own time; one failure leaves no figure.
 */
#include "base/json.h"
#include "checks/gpu/gpu_copy_impl.h"

/* One of all pairs that copy at once; each has a stream, so that links of a GPU's own
 * work side by side. */
struct way {
	int from, to;
	void *stream, *event[2];
};

static int
way_open(const struct bu_gpu_bench *bench, struct way *way)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;
	int rc = cuda->use(bench->gpus[way->from].context);

	if (rc == 0)
		rc = cuda->stream_create(&way->stream, 1);
	for (int i = 0; i < 2 && rc == 0; i++)
		rc = cuda->event_create(&way->event[i], 0);
	return rc;
}

static void
way_close(const struct bu_gpu_bench *bench, struct way *way)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;

	cuda->use(bench->gpus[way->from].context);
	for (int i = 0; i < 2; i++)
		if (way->event[i])
			cuda->event_destroy(way->event[i]);
	if (way->stream)
		cuda->stream_destroy(way->stream);
}

/* what: 0 and 1 mark its begin and end, 2 copies. */
static int
way_step(const struct bu_gpu_bench *bench, const struct way *way, int what)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;
	const struct bu_gpu_open *from = &bench->gpus[way->from],
				 *to = &bench->gpus[way->to];
	int rc = cuda->use(from->context);

	if (rc != 0)
		return rc;
	if (what < 2)
		return cuda->event_record(way->event[what], way->stream);
	return cuda->to_peer(to->memory[1], to->context, from->memory[0], from->context,
			     bench->bytes, way->stream);
}

static int
steps(const struct bu_gpu_bench *bench, const struct way *ways, size_t count, int what)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = way_step(bench, &ways[i], what);
	return rc;
}

static int
run_ways(const struct bu_gpu_bench *bench, struct way *ways, size_t count,
	 struct bu_gpu_copy *ret)
{
	const struct bu_cuda_calls *cuda = &bench->cuda;
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = way_open(bench, &ways[i]);
	if (rc == 0)
		rc = steps(bench, ways, count, 2);
	if (rc == 0)
		rc = steps(bench, ways, count, 0);
	for (int i = 0; i < bench->repeats && rc == 0; i++)
		rc = steps(bench, ways, count, 2);
	if (rc == 0)
		rc = steps(bench, ways, count, 1);
	for (size_t i = 0; i < count && rc == 0; i++) {
		float ms = 0;

		rc = cuda->event_wait(ways[i].event[1]);
		if (rc == 0)
			rc = cuda->event_ms(&ms, ways[i].event[0], ways[i].event[1]);
		if (ms > 0)
			ret->gpus[ways[i].from].out_gbs += (double)bench->bytes *
							   bench->repeats /
							   ((double)ms * 1e6);
	}
	return rc;
}

void
bu_gpu_copy_at_once(const struct bu_gpu_bench *bench, struct bu_gpu_copy *ret)
{
	bu_autofree struct way *ways =
		bu_xcalloc(ret->count * ret->count + 1, sizeof(*ways));
	size_t count = 0;

	for (size_t i = 0; i < ret->count * ret->count; i++)
		if (ret->p2p_gbs[i] > 0)
			ways[count++] = (struct way){.from = (int)(i / ret->count),
						     .to = (int)(i % ret->count)};
	if (run_ways(bench, ways, count, ret) != 0)
		for (size_t i = 0; i < ret->count; i++)
			ret->gpus[i].out_gbs = 0;
	for (size_t i = 0; i < count; i++)
		way_close(bench, &ways[i]);
}
