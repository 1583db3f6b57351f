/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the loops of stage 0. Called by the runner of checks, in a process of its own.
 * Invariants: one port at a time, so that a figure is of that port alone, and all of
 * them at once only when each was good alone; each loop is announced to the watcher
 * before it begins, because an adapter may hang; no packet of payload crosses a link
 * between two switches.
 */
#include "checks/fabric/loops.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "checks/audit/ibpeer.h"
#include "checks/fabric/loops_impl.h"
#include "fabric/probe/rails.h"

/* CUDA starts all GPUs of a machine for the first one that is opened. */
enum { GRACE_MS = 5000, CUDA_MS = 90000, PEER_MS = 1000 };

struct run {
	const struct bu_checks_ctx *ctx;
	const struct bu_loops_probes *probes;
	struct bu_checks *out;
	struct bu_work_probe work;
	char *cuda; /* NULL = the host's */
	int gpus_wanted;
	struct bu_loop_gpus gpus;
	/* Of each rail, as its loop found it; no device: it has none. */
	struct bu_pair_end end[BU_RAILS_MAX];
	struct bu_lldp peer[BU_RAILS_MAX]; /* that it hangs at, over InfiniBand */
	int good[BU_RAILS_MAX];            /* it carried what it must, alone */
};

static void
announce(const struct run *run, const struct bu_loop *loop, int64_t limit_ms)
{
	size_t count;
	const struct bu_loops_row *kind = &bu_loops_rows(&count)[loop->row];
	bu_autofree char *subject =
		bu_xasprintf("the adapter of rail %s", loop->subject);

	bu_checks_doing(run->ctx, run->out,
			&(struct bu_doing){.limit_ms = limit_ms,
					   .id = kind->id,
					   .subject = subject,
					   .what = "the verbs",
					   .hint = kind->hint});
}

/* 0: the result is there. */
static int
measure(struct run *run, struct bu_loop *loop, size_t rail, int gpu)
{
	struct bu_pair_opts opts;
	struct bu_err err = {0};

	if (bu_checks_stop(run->ctx)) {
		bu_loop_unmeasured(loop, "the time ran out", run->out);
		return -1;
	}
	announce(run, loop,
		 run->work.deadline_ms + GRACE_MS + (gpu >= 0 ? CUDA_MS : 0));
	bu_pair_opts_of(&run->work, rail, &opts);
	opts.root = run->ctx->root;
	opts.cuda = run->cuda;
	opts.gpu = gpu;
	opts.min_gbps = 0; /* of both directions together: all runs are made */
	opts.other = loop->row == BU_LOOP_PAIR ? loop->rails[1] : NULL;
	opts.cancelled = run->ctx->cancelled;
	opts.arg = run->ctx->arg;
	if (bu_pair_run(&opts, &loop->result, &err) == 0)
		return 0;
	bu_loop_unmeasured(loop, err.text, run->out);
	return -1;
}

static void
loop_self(struct run *run, size_t rail)
{
	struct bu_loop loop = {.row = BU_LOOP_SELF};

	loop.rails[0] = loop.rails[1] = &run->work.rails[rail];
	bu_text_copy(loop.subject, sizeof(loop.subject), loop.rails[0]->rail);
	if (measure(run, &loop, rail, -1) != 0)
		return;
	run->end[rail] = loop.result.end[0];
	bu_loop_judge(&loop, run->out);
	run->good[rail] =
		loop.rails[0]->min_gbps > 0 &&
		run->out->list[run->out->count - 1].verdict == BU_VERDICT_PASS;
}

static void
loop_gpu(struct run *run, size_t rail)
{
	struct bu_loop loop = {.row = BU_LOOP_GPU};
	int gpu;

	/* What is wrong with the port itself was said. */
	if (!run->gpus_wanted || !run->end[rail].device[0])
		return;
	loop.rails[0] = loop.rails[1] = &run->work.rails[rail];
	gpu = bu_loop_gpu_near(run->ctx->root, run->end[rail].device, &run->gpus,
			       &loop.has_switch);
	if (gpu < 0)
		return; /* the checks of GPUs say that there is none */
	snprintf(loop.subject, sizeof(loop.subject), "%.24s and GPU %d at %s",
		 loop.rails[0]->rail, gpu, run->gpus.list.pci[gpu]);
	if (measure(run, &loop, rail, gpu) == 0)
		bu_loop_judge(&loop, run->out);
}

static int
is_one_subnet(const struct bu_pair_end *a, const struct bu_pair_end *b)
{
	uint8_t gids[2][16];

	return a->infiniband && b->infiniband && a->device[0] && b->device[0] &&
	       inet_pton(AF_INET6, a->gid, gids[0]) == 1 &&
	       inet_pton(AF_INET6, b->gid, gids[1]) == 1 &&
	       memcmp(gids[0], gids[1], 8) == 0;
}

/* Only then is what is between them this machine's alone. */
static int
is_one_switch(const struct bu_lldp *a, const struct bu_lldp *b)
{
	return a->heard && b->heard && strcmp(a->chassis, b->chassis) == 0;
}

/* A port that could meet another one asks where it hangs. */
static void
ask_peer(struct run *run, size_t rail)
{
	struct bu_loop loop = {.row = BU_LOOP_PAIR};
	const struct bu_pair_end *end = &run->end[rail];
	bu_autofree char *why = NULL;
	struct bu_err err = {0};
	size_t others = 0;

	for (size_t i = 0; i < run->work.rails_count; i++)
		others += i != rail && is_one_subnet(end, &run->end[i]);
	if (others == 0 || bu_checks_stop(run->ctx))
		return;
	bu_text_copy(loop.subject, sizeof(loop.subject), run->work.rails[rail].rail);
	announce(run, &loop, 4 * PEER_MS + GRACE_MS);
	if (run->probes->ib_peer(run->ctx->root, end->device, end->port, PEER_MS,
				 &run->peer[rail], &err) == 0)
		return;
	why = bu_xasprintf("it is not known which switch it is at: %s", err.text);
	bu_loop_unmeasured(&loop, why, run->out);
}

/* Each port with the next one at its switch, the last one with the first. */
static size_t
next_of(const struct run *run, size_t rail)
{
	size_t count = run->work.rails_count;

	for (size_t i = 1; i < count; i++) {
		size_t other = (rail + i) % count;

		if (is_one_subnet(&run->end[rail], &run->end[other]) &&
		    is_one_switch(&run->peer[rail], &run->peer[other]))
			return other;
	}
	return rail;
}

static void
loop_pair(struct run *run, size_t rail)
{
	struct bu_loop loop = {.row = BU_LOOP_PAIR};
	size_t other = next_of(run, rail);

	/* Two ports are each other's next one. */
	if (other == rail || (other < rail && next_of(run, other) == rail))
		return;
	loop.rails[0] = &run->work.rails[rail];
	loop.rails[1] = &run->work.rails[other];
	snprintf(loop.subject, sizeof(loop.subject), "%.28s to %.28s",
		 loop.rails[0]->rail, loop.rails[1]->rail);
	if (measure(run, &loop, rail, -1) == 0)
		bu_loop_judge(&loop, run->out);
}

/* The rails that are good alone, each with all its runs. */
static struct bu_work_probe
good_ones(const struct run *run, double *ret_least)
{
	struct bu_work_probe work = run->work;

	work.rails_count = 0;
	for (size_t i = 0; i < run->work.rails_count; i++) {
		if (!run->good[i])
			continue;
		*ret_least += run->work.rails[i].min_gbps;
		work.rails[work.rails_count] = run->work.rails[i];
		work.rails[work.rails_count++].min_gbps = 0;
	}
	return work;
}

/* What the switches of PCIe and the memory carry. */
static void
loop_together(struct run *run)
{
	struct bu_loop loop = {.row = BU_LOOP_TOGETHER, .subject = "all at once"};
	bu_autofree struct bu_rails_kept *kept = bu_xcalloc(1, sizeof(*kept));
	double least = 0, gbps = 0;
	struct bu_work_probe work = good_ones(run, &least);
	bu_autojson json_t *results = NULL;
	struct bu_err err = {0};

	if (work.rails_count < 2 || bu_checks_stop(run->ctx))
		return;
	announce(run, &loop, work.deadline_ms + GRACE_MS);
	kept->cancelled = run->ctx->cancelled;
	kept->arg = run->ctx->arg;
	kept->root = run->ctx->root;
	if (bu_rails_run(&work, kept, &results, &err) != 0)
		bu_loop_unmeasured(&loop, err.text, run->out);
	for (size_t i = 0; results && i < work.rails_count; i++) {
		const json_t *one =
			json_array_get(json_object_get(results, "rails"), i);

		if (bu_pair_result_from_json(one, &loop.result, &err) != 0 ||
		    bu_loop_gbps(&loop.result) <= 0) {
			bu_autofree char *why = bu_xasprintf(
				"rail %s: %s", work.rails[i].rail,
				err.kind                  ? err.text
				: *loop.result.error.text ? loop.result.error.text
							  : "no figure");

			bu_loop_unmeasured(&loop, why, run->out);
			break;
		}
		gbps += bu_loop_gbps(&loop.result);
		if (i + 1 == work.rails_count)
			bu_loops_judge_sum(work.rails_count, gbps, least, run->out);
	}
	bu_rails_drop(kept);
}

/* A part of a GPU has no number that the verbs could be given. */
static int
wants_gpus(const json_t *gpu)
{
	return bu_json_int(gpu, "count", 0) > 0 && !bu_json_bool(gpu, "mig", 0);
}

int
bu_loops_run_with(const struct bu_checks_ctx *ctx, const struct bu_loops_probes *probes,
		  struct bu_checks *out, struct bu_err *err)
{
	void (*const steps[])(struct run * run, size_t rail) = {loop_self, loop_gpu,
								ask_peer, loop_pair};
	const json_t *item = json_object_get(ctx->expect, "fabric");
	bu_autofree char *cuda =
		ctx->libs ? bu_xasprintf("%s/libcuda.so.1", ctx->libs) : NULL;
	bu_autofree struct run *run = bu_xcalloc(1, sizeof(*run));

	if (!item)
		return 0;
	if (bu_work_probe_from_json(item, &run->work, err) != 0)
		return -1;
	run->ctx = ctx;
	run->probes = probes;
	run->out = out;
	run->cuda = cuda;
	run->gpus_wanted = wants_gpus(json_object_get(ctx->expect, "gpu"));
	if (run->gpus_wanted)
		bu_gpu_list(ctx->root, BU_GPU_NVIDIA, &run->gpus.list);
	for (size_t k = 0; k < BU_LEN(steps); k++)
		for (size_t i = 0; i < run->work.rails_count; i++)
			steps[k](run, i);
	loop_together(run);
	bu_checks_doing(ctx, out, NULL);
	return 0;
}

int
bu_loops_run(const struct bu_checks_ctx *ctx, struct bu_checks *out, struct bu_err *err)
{
	static const struct bu_loops_probes probes = {.ib_peer = bu_ib_peer};

	return bu_loops_run_with(ctx, &probes, out, err);
}
