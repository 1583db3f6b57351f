/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The group "nvlink": this end of the copies between two nodes. Called by the runner of
 * checks, in a process of its own. Invariants: what this node lacks is said before any
 * memory is shared; a rate is told only of a GPU whose payload arrived as it was sent,
 * all of it; what the other end failed in is no finding about this one.
 */
#include "checks/gpu/nvlink.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "checks/gpu/nvlink_impl.h"
#include "fabric/probe/pair.h"

enum { START_MS = 90000, COPY_BYTES = 128 << 20 };

static const double over = 1.02; /* the clock of the events */

/* --- what this node needs --- */

static int
find_domain(const char *library, char ret[BU_DOMAIN_SIZE], struct bu_err *err)
{
	struct bu_nvml_facts facts;

	if (bu_nvml_read(library, NULL, &facts, err) != 0) {
		bu_err_wrap(err, "NVML");
		err->kind = BU_ERR_REMOTE;
		return -1;
	}
	bu_imex_domain(&facts, ret);
	bu_nvml_facts_fini(&facts);
	if (!ret[0])
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "its GPUs are in no NVLink domain of several nodes");
	return 0;
}

static int
find_channel(const struct bu_nvlink *link, struct bu_err *err)
{
	struct bu_imex imex;
	char text[128];

	bu_imex_look(link->ctx->root, &imex);
	if (imex.channel[0])
		return 0;
	bu_imex_text(&imex, text, sizeof(text));
	return bu_err_set(err, BU_ERR_DENIED, 0, "IMEX is not up here: %s", text);
}

/* A library of the folder that the context names, or of the system. */
static char *
library(const struct bu_nvlink *link, const char *name)
{
	const char *folder = link->ctx->libs;

	return bu_xasprintf("%s%s%s", folder ? folder : "", folder ? "/" : "", name);
}

static int
prepare(struct bu_nvlink *link, char ret_domain[BU_DOMAIN_SIZE], struct bu_err *err)
{
	bu_autofree char *cuda = library(link, "libcuda.so.1");
	bu_autofree char *nvml = library(link, "libnvidia-ml.so.1");
	const struct bu_nvlink_row *row = bu_nvlink_kind(BU_NVLINK_ANSWERS);
	const struct bu_doing doing = {.limit_ms = START_MS,
				       .id = row->id,
				       .subject = "the GPU driver",
				       .what = "NVML and CUDA",
				       .hint = row->hint};

	bu_checks_doing(link->ctx, link->out, &doing);
	if (find_domain(nvml, ret_domain, err) != 0 || find_channel(link, err) != 0)
		return -1;
	if (bu_far_load(cuda, &link->bench, err) != 0) {
		err->kind = BU_ERR_DENIED;
		return -1;
	}
	return bu_far_supported(&link->bench, err);
}

/* Both have what they need, and are in one domain. GPUs that both have. */
static int
agree(struct bu_nvlink *link, const char *domain, const struct bu_err *own,
      int *ret_count)
{
	bu_autojson json_t *said = NULL;
	struct bu_err err = {0};
	const char *other;
	int64_t count;

	if (bu_nvlink_meet(
		    link, "here",
		    json_pack("{s:s,s:i}", "domain", domain, "gpus", link->bench.count),
		    own, &said) != 0)
		return -1;
	other = bu_json_str(said, "domain", "");
	if (strcmp(other, domain) != 0) {
		bu_err_set(&err, BU_ERR_STATE, 0,
			   "it is in NVLink domain %.60s, %s in %.60s", domain,
			   link->peer, other);
		bu_nvlink_add(link, BU_NVLINK_DOMAIN,
			      bu_nvlink_kind(BU_NVLINK_DOMAIN)->verdict, err.text, "");
		return -1;
	}
	count = bu_json_int(said, "gpus", 0);
	*ret_count = count < link->bench.count ? (int)count : link->bench.count;
	return 0;
}

/* --- what came of it --- */

/* Without a figure it is told, and the gate compares it. */
static void
judge(struct bu_nvlink *link, enum bu_nvlink_kind kind, double gbs, double least)
{
	const json_t *expect = json_object_get(link->ctx->expect, "gpu");
	double most = bu_json_real(expect, "p2p_limit_gbs", 0);
	char seen[48], expected[80] = "no figure of this part; compared with its like";
	enum bu_verdict verdict =
		gbs < least ? bu_nvlink_kind(kind)->verdict : BU_VERDICT_PASS;

	snprintf(seen, sizeof(seen), "%.1f GB/s", gbs);
	if (least > 0)
		snprintf(expected, sizeof(expected), "at least %.1f GB/s", least);
	if (most > 0 && gbs > most * over) {
		snprintf(expected, sizeof(expected), "at most %.1f GB/s", most);
		verdict = BU_VERDICT_INCONCLUSIVE;
	}
	bu_nvlink_add(link, kind, verdict, seen, expected);
}

static void
measure_gpu(struct bu_nvlink *link, int gpu)
{
	const json_t *expect = json_object_get(link->ctx->expect, "gpu");
	struct bu_nvlink_rates rates;

	link->gpu = gpu;
	snprintf(link->subject, sizeof(link->subject), "GPU %d to GPU %d of %.32s", gpu,
		 gpu, link->peer);
	if (bu_nvlink_measure(link, &rates) != 0)
		return;
	judge(link, BU_NVLINK_RATE, rates.alone_gbs,
	      bu_json_real(expect, "p2p_gbs", 0));
	judge(link, BU_NVLINK_BOTH, rates.both_gbs, 0);
}

static int
stop(void *arg, struct bu_err *err)
{
	const struct bu_nvlink *link = arg;

	return bu_checks_stop(link->ctx)
		       ? bu_err_set(err, BU_ERR_CANCELLED, 0, "it was cancelled")
		       : 0;
}

static int
connect_ends(struct bu_nvlink *link, const struct bu_channel_opts *opts, int begun)
{
	struct bu_err err = {0};

	link->channel = bu_channel_open(opts, begun, &link->wait, &err);
	if (link->channel)
		return 0;
	bu_nvlink_add(link, BU_NVLINK_PEER, BU_VERDICT_INCONCLUSIVE, err.text, "");
	return -1;
}

static void
run_ends(struct bu_nvlink *link)
{
	const struct bu_channel_opts opts = {
		.listens = link->work.role == BU_PROBE_LISTEN,
		.addr = link->work.addr,
		.port = link->work.port,
		.peer = link->work.peer[0] ? link->work.peer : NULL,
		.probe = link->work.probe,
		.secret = link->work.secret,
	};
	int begun = bu_channel_begin(&opts), count = 0;
	char domain[BU_DOMAIN_SIZE] = "";
	struct bu_err own = {0};

	bu_ignore(prepare(link, domain, &own));
	bu_nvlink_doing(link, NULL);
	if (connect_ends(link, &opts, begun) == 0 &&
	    agree(link, domain, &own, &count) == 0)
		for (int i = 0; i < count && !link->lost; i++)
			measure_gpu(link, i);
	bu_channel_destroy(link->channel);
	if (link->bench.cuda.handle)
		dlclose(link->bench.cuda.handle);
}

int
bu_nvlink_run(const struct bu_checks_ctx *ctx, struct bu_checks *out,
	      struct bu_err *err)
{
	const json_t *item = json_object_get(ctx->expect, "nvlink");
	int64_t bytes = bu_json_int(json_object_get(ctx->expect, "gpu"), "copy_bytes",
				    COPY_BYTES);
	bu_autofree struct bu_nvlink *link = bu_xcalloc(1, sizeof(*link));
	struct bu_pair_opts ends;

	if (bu_work_probe_from_json(item, &link->work, err) != 0)
		return -1;
	bu_pair_opts_of(&link->work, 0, &ends);
	link->ctx = ctx;
	link->out = out;
	link->self = ends.self;
	link->peer = link->work.node[!ends.self];
	link->bytes = (size_t)bytes;
	link->wait = (struct bu_wait){.deadline_ns = bu_raw_ns() +
						     link->work.deadline_ms * 1000000,
				      .stop = stop,
				      .arg = link};
	snprintf(link->subject, sizeof(link->subject), "NVLink to %.48s", link->peer);
	run_ends(link);
	return 0;
}
