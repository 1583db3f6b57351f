/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the libraries, judges what they said, makes rows of it. Called by the runner of
 * checks. Invariant: libraries that are absent or broken are rows, never silence.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "checks/gpu/gpu_impl.h"
#include "checks/gpu/gpu_list.h"
#include "checks/gpu/imex.h"
#include "checks/gpu/partition.h"

static const double over = 1.02; /* the clock of the events */

enum { SETTLE_PAUSES = 60, SETTLE_PAUSE_MS = 1000 };

/* The sentence for people, when something is to be said. A judge that knows more than
 * the table has given a hint. */
static void
finish(struct bu_check *row, const struct bu_gpu_row *kind)
{
	if (row->verdict == BU_VERDICT_PASS)
		return;
	if (!row->hint[0])
		BU_CHECK_SET(row->hint, "%s", kind->hint);
	if (row->expected[0])
		BU_CHECK_SET(row->text, "%s%s%s: %s; expected %s", row->subject,
			     row->subject[0] ? ": " : "", kind->what, row->seen,
			     row->expected);
	else
		BU_CHECK_SET(row->text, "%s%s%s: %s", row->subject,
			     row->subject[0] ? ": " : "", kind->what, row->seen);
}

static const struct bu_gpu_row *
kind_of(const char *id)
{
	size_t count;
	const struct bu_gpu_row *rows = bu_gpu_rows(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].id, id) == 0)
			return &rows[i];
	bu_assert(!"a row of the table");
	return NULL;
}

static struct bu_check *
add(struct bu_checks *ret, const char *id, enum bu_verdict verdict, const char *subject,
    const char *seen, const char *expected)
{
	struct bu_check *row = bu_checks_add(ret, "gpu", id, verdict, subject);

	BU_CHECK_SET(row->seen, "%s", seen);
	BU_CHECK_SET(row->expected, "%s", expected);
	finish(row, kind_of(id));
	return row;
}

/* What a judge has found. */
static void
take(struct bu_checks *ret, const struct bu_gpu_row *kind, int verdict,
     const char *subject, const struct bu_check *draft)
{
	struct bu_check *row =
		bu_checks_add(ret, "gpu", kind->id, (enum bu_verdict)verdict, subject);

	memcpy(row->seen, draft->seen, sizeof(row->seen));
	memcpy(row->value, draft->value, sizeof(row->value));
	memcpy(row->expected, draft->expected, sizeof(row->expected));
	if (verdict != BU_VERDICT_PASS)
		memcpy(row->hint, draft->hint, sizeof(row->hint));
	finish(row, kind);
}

static void
judge_gpu(struct bu_gpu_case *c, size_t index, struct bu_checks *ret)
{
	size_t count;
	const struct bu_gpu_row *rows = bu_gpu_rows(&count);
	struct bu_check draft;
	char subject[64];

	snprintf(subject, sizeof(subject), "GPU %zu%s%s", index,
		 c->gpu->pci[0] ? " at " : "", c->gpu->pci);
	for (size_t i = 0; i < count; i++) {
		int verdict;

		memset(&draft, 0, sizeof(draft));
		c->row = &draft;
		verdict = bu_gpu_row_judge(i, c);
		if (verdict == BU_GPU_NOT_JUDGED)
			continue;
		take(ret, &rows[i], verdict, subject, &draft);
		/* One that does not answer has told nothing else. */
		if (c->gpu->trouble[0])
			return;
	}
}

static void
judge_partition(const struct bu_nvml_facts *facts, const json_t *expect,
		struct bu_checks *ret)
{
	struct bu_check draft;
	int verdict;

	memset(&draft, 0, sizeof(draft));
	verdict = bu_gpu_partition_judge(facts, expect, &draft);
	if (verdict != BU_GPU_NOT_JUDGED)
		take(ret, kind_of("gpu-partition"), verdict, "", &draft);
}

void
bu_gpu_judge(const struct bu_nvml_facts *facts, const json_t *expect,
	     struct bu_checks *ret)
{
	const json_t *wanted = json_object_get(expect, "count");
	char seen[24], expected[24];

	if (json_is_integer(wanted)) {
		size_t count = (size_t)json_integer_value(wanted);

		snprintf(seen, sizeof(seen), "%zu", facts->count);
		snprintf(expected, sizeof(expected), "%zu", count);
		add(ret, "gpu-count",
		    facts->count == count ? BU_VERDICT_PASS : BU_VERDICT_FAIL, "", seen,
		    expected);
	}
	judge_partition(facts, expect, ret);
	for (size_t i = 0; i < facts->count; i++) {
		struct bu_gpu_case c = {&facts->gpus[i], facts, expect, NULL};

		judge_gpu(&c, i, ret);
	}
}

/* GPUs that are in no domain of several nodes need none. */
static void
judge_imex(const struct bu_nvml_facts *facts, const char *root, struct bu_checks *ret)
{
	char domain[BU_DOMAIN_SIZE], seen[128];
	struct bu_imex imex;

	bu_imex_domain(facts, domain);
	if (!domain[0])
		return;
	bu_imex_look(root, &imex);
	bu_imex_text(&imex, seen, sizeof(seen));
	add(ret, "gpu-imex", imex.channel[0] ? BU_VERDICT_PASS : BU_VERDICT_WARN, "",
	    seen, "a channel device");
}

/* The least rate that passes; of: what carries it, where that is not the part. */
struct least {
	double gbs; /* 0 = no figure */
	const char *of;
	int measure;
	const char *none; /* said where there is no figure */
	int warns;        /* nobody has published it: less is no fault yet */
};

static const char no_figure[] = "no figure of this part; compared with its like";

/* Without a figure it is told, and the gate compares it. */
static void
judge_least(struct bu_checks *ret, const char *id, const char *subject, double seen_gbs,
	    const struct least *least)
{
	int told = least->gbs > 0 || (seen_gbs > 0 && least->measure);
	char seen[32], expected[64];

	if (!told || seen_gbs == 0)
		return;
	snprintf(expected, sizeof(expected), "%s", least->none);
	if (least->gbs > 0)
		snprintf(expected, sizeof(expected), "at least %.1f GB/s%s", least->gbs,
			 least->of);
	snprintf(seen, sizeof(seen), "%.1f GB/s", seen_gbs);
	add(ret, id,
	    seen_gbs >= least->gbs ? BU_VERDICT_PASS
	    : least->warns         ? BU_VERDICT_WARN
				   : BU_VERDICT_FAIL,
	    subject, seen_gbs < 0 ? "no peer access" : seen, expected);
}

static void
judge_rate(struct bu_checks *ret, const char *id, const char *subject, double seen_gbs,
	   const json_t *expect, const char *key)
{
	const struct least least = {.gbs = bu_json_real(expect, key, 0),
				    .of = "",
				    .measure = bu_json_bool(expect, "measure", 0),
				    .none = no_figure};

	judge_least(ret, id, subject, seen_gbs, &least);
}

/* To and from the host: no more than the slot carries. */
static void
judge_host(struct bu_checks *ret, const char *subject, const struct bu_gpu_rates *gpu,
	   const struct bu_gpu_link *link, const json_t *expect)
{
	double share = bu_gpu_link_share(link, expect);
	double to_gpu = bu_json_real(expect, "pcie_gbs", 0);
	char of[40] = "";
	struct least least = {.gbs = share * to_gpu,
			      .of = of,
			      .measure = bu_json_bool(expect, "measure", 0),
			      .none = no_figure};

	if (share < 1)
		snprintf(of, sizeof(of), " of gen %d x%d", link->gen_max,
			 link->width_max);
	judge_least(ret, "gpu-h2d", subject, gpu->h2d_gbs, &least);
	least.gbs = share * bu_json_real(expect, "d2h_gbs", to_gpu);
	judge_least(ret, "gpu-d2h", subject, gpu->d2h_gbs, &least);
}

/* More than the links can carry: then the clock or the copies are wrong, not the GPU.
 * Where a pair of it was found slow, the sum says nothing new. */
static void
judge_sum(struct bu_checks *ret, const char *subject, double seen_gbs,
	  const json_t *expect, int has_bad_pair)
{
	const struct least least = {
		.gbs = has_bad_pair ? 0 : bu_json_real(expect, "p2p_all_gbs", 0),
		.of = "",
		.measure = bu_json_bool(expect, "measure", 0),
		.none = has_bad_pair ? "not judged: see its pairs" : no_figure,
		.warns = 1};
	double most = bu_json_real(expect, "p2p_limit_gbs", 0);
	char seen[32], expected[48];

	if (most <= 0 || seen_gbs <= most * over) {
		judge_least(ret, "gpu-p2p-all", subject, seen_gbs, &least);
		return;
	}
	snprintf(seen, sizeof(seen), "%.1f GB/s", seen_gbs);
	snprintf(expected, sizeof(expected), "at most %.1f GB/s", most);
	add(ret, "gpu-p2p-all", BU_VERDICT_INCONCLUSIVE, subject, seen, expected);
}

/* Only a GPU that changed data is a bad part for sure: another error of CUDA ("busy or
 * unavailable") may be one that a reset clears. */
static void
add_copy(struct bu_checks *ret, const struct bu_gpu_rates *gpu, const char *subject)
{
	struct bu_check *row = add(
		ret, "gpu-copy", gpu->trouble[0] ? BU_VERDICT_FAIL : BU_VERDICT_PASS,
		subject, gpu->trouble[0] ? gpu->trouble : "verified", "");

	if (gpu->trouble[0])
		BU_CHECK_SET(row->hint, "%s",
			     gpu->changed ? "replace the GPU: it changes data"
					  : "end what uses the GPU, then reset it: "
					    "nvidia-smi -r; when it comes back, reseat "
					    "it, then replace it");
}

static void
judge_copy(const struct bu_gpu_copy *copy, const struct bu_gpu_links *links,
	   const json_t *expect, struct bu_checks *ret)
{
	for (size_t i = 0; i < copy->count; i++) {
		const struct bu_gpu_rates *gpu = &copy->gpus[i];
		double pair_gbs = bu_json_real(expect, "p2p_gbs", 0);
		char subject[64], pair[64];
		int bad = 0;

		snprintf(subject, sizeof(subject), "GPU %zu%s%s", i,
			 gpu->pci[0] ? " at " : "", gpu->pci);
		add_copy(ret, gpu, subject);
		judge_host(ret, subject, gpu, bu_gpu_links_find(links, gpu->pci),
			   expect);
		judge_rate(ret, "gpu-hbm", subject, gpu->hbm_gbs, expect, "hbm_gbs");
		for (size_t to = 0; to < copy->count; to++) {
			double seen_gbs = copy->p2p_gbs[i * copy->count + to];

			snprintf(pair, sizeof(pair), "GPU %zu to GPU %zu", i, to);
			judge_rate(ret, "gpu-p2p", pair, seen_gbs, expect, "p2p_gbs");
			bad |= to != i && seen_gbs < pair_gbs;
		}
		judge_sum(ret, subject, gpu->out_gbs, expect, bad);
	}
}

/* --- which GPU is asked, for the watcher --- */

enum { GPU_MS = 20000, LIBRARY_MS = 90000 }; /* drivers start eight GPUs in a minute */

/* " at 0000:1b:00.0" as the driver counts them: by their addresses. */
static void
name_gpu(const struct bu_gpu_steps *steps, int gpu, char *ret, size_t size)
{
	struct bu_gpu_list list;

	bu_gpu_list(steps->ctx->root, steps->vendor, &list);
	if ((size_t)gpu < list.count)
		snprintf(ret, size, "GPU %d at %s", gpu, list.pci[gpu]);
	else
		snprintf(ret, size, "GPU %d", gpu);
}

static void
on_asking(int gpu, void *arg)
{
	const struct bu_gpu_steps *steps = arg;
	struct bu_doing doing = {.slot = steps->slot,
				 .limit_ms = gpu < 0 ? LIBRARY_MS : GPU_MS,
				 .id = "gpu-answers",
				 .subject = "the GPU driver",
				 .what = steps->library,
				 .hint = kind_of("gpu-answers")->hint};
	char subject[64];

	if (gpu >= 0) {
		name_gpu(steps, gpu, subject, sizeof(subject));
		doing.subject = subject;
	}
	bu_checks_doing(steps->ctx, steps->rows, &doing);
}

void
bu_gpu_steps_init(struct bu_gpu_steps *steps, const struct bu_checks_ctx *ctx,
		  const struct bu_checks *rows, int slot, const char *library)
{
	*steps = (struct bu_gpu_steps){ctx,     rows,          slot,
				       library, BU_GPU_NVIDIA, {on_asking, steps}};
}

int
bu_gpu_is_amd(const json_t *expect, const char *root)
{
	struct bu_gpu_list nvidia, amd;

	if (json_object_get(expect, "names"))
		return strcmp(bu_json_str(expect, "vendor", ""), "AMD") == 0;
	bu_gpu_list(root, BU_GPU_NVIDIA, &nvidia);
	bu_gpu_list(root, BU_GPU_AMD, &amd);
	return nvidia.count == 0 && amd.count > 0;
}

int
bu_gpu_read(const struct bu_gpu_opts *opts, const struct bu_checks *rows,
	    struct bu_nvml_facts *ret, struct bu_err *err)
{
	int amd = bu_gpu_is_amd(opts->expect, opts->ctx ? opts->ctx->root : "");
	struct bu_gpu_steps steps;
	const struct bu_gpu_asking *asking = opts->ctx ? &steps.asking : NULL;

	bu_gpu_steps_init(&steps, opts->ctx, rows, 0, amd ? "AMD SMI" : "NVML");
	if (!amd)
		return bu_nvml_read(opts->nvml, asking, ret, err);
	steps.vendor = BU_GPU_AMD;
	return bu_amdsmi_read(opts->amd, asking, ret, err);
}

static int
wants_rates(const json_t *expect)
{
	return bu_json_bool(expect, "measure", 0) ||
	       json_object_get(expect, "pcie_gbs") ||
	       json_object_get(expect, "p2p_gbs") || json_object_get(expect, "hbm_gbs");
}

/* After the fabric manager has started it registers GPUs for a while, and until then
 * neither their links nor CUDA can be used. */
static void
wait_for_fabric(const struct bu_gpu_opts *opts, const struct bu_nvml *nvml,
		const struct bu_gpu_asking *asking)
{
	for (int i = 0; nvml && opts->pause && i < SETTLE_PAUSES; i++) {
		if ((opts->ctx && bu_checks_stop(opts->ctx)) ||
		    !bu_nvml_registering(nvml, asking))
			return;
		opts->pause(SETTLE_PAUSE_MS);
	}
}

/* What their links did while they copied is in ret_links. Where no rate is wanted the
 * copies are for that alone, and done where CUDA is there. NVML stays open: without a
 * client the driver forgets which errors there were. */
static void
check_copies(const struct bu_gpu_opts *opts, struct bu_gpu_links *ret_links,
	     struct bu_checks *ret)
{
	struct bu_gpu_copy_opts copying = {
		.library = opts->cuda,
		.bytes = opts->copy_bytes,
		.host_only = !wants_rates(opts->expect),
		.root = opts->ctx ? opts->ctx->root : "",
		.busy = bu_gpu_links_look,
		.arg = ret_links,
	};
	struct bu_gpu_steps cuda, nvml;
	struct bu_gpu_copy copy;
	struct bu_err err;

	bu_gpu_steps_init(&nvml, opts->ctx, ret, 0, "NVML");
	bu_gpu_steps_init(&cuda, opts->ctx, ret, 0, "CUDA");
	if (opts->ctx) {
		copying.asking = &cuda.asking;
		on_asking(-1, &nvml);
	}
	/* Without it no link was seen; bu_gpu_read() says why. */
	ret_links->nvml = bu_nvml_open(opts->nvml, &err);
	wait_for_fabric(opts, ret_links->nvml, opts->ctx ? &nvml.asking : NULL);
	if (bu_gpu_copy_run(&copying, &copy, &err) == 0) {
		judge_copy(&copy, ret_links, opts->expect, ret);
		bu_gpu_copy_fini(&copy);
	} else if (!copying.host_only || err.kind != BU_ERR_NOTFOUND) {
		add(ret, "gpu-library", BU_VERDICT_FAIL, "CUDA", err.text,
		    copying.host_only ? "verified copies" : "measured rates");
	}
}

void
bu_gpu_check(const struct bu_gpu_opts *opts, struct bu_checks *ret)
{
	bu_autofree struct bu_gpu_links *links = bu_xcalloc(1, sizeof(*links));
	struct bu_nvml_facts facts;
	struct bu_err err;
	int amd;

	if (!opts->expect)
		return;
	amd = bu_gpu_is_amd(opts->expect, opts->ctx ? opts->ctx->root : "");
	links->wired = bu_gpu_wired_lanes(opts->ctx);
	if (!amd)
		check_copies(opts, links, ret);
	if (bu_gpu_read(opts, ret, &facts, &err) == 0) {
		if (amd)
			bu_gpu_partition_learn(opts->ctx ? opts->ctx->root : "",
					       &facts);
		for (size_t i = 0; i < facts.count; i++)
			bu_gpu_pcie_learn(&facts.gpus[i], links);
		bu_gpu_judge(&facts, opts->expect, ret);
		if (opts->ctx)
			judge_imex(&facts, opts->ctx->root, ret);
		bu_nvml_facts_fini(&facts);
	} else {
		add(ret, "gpu-library", BU_VERDICT_FAIL, amd ? "AMD SMI" : "NVML",
		    err.text, "readable GPUs");
	}
	bu_nvml_close(links->nvml);
	bu_checks_doing(opts->ctx, ret, NULL);
}

static void
pause_ms(int64_t ms)
{
	poll(NULL, 0, (int)ms);
}

int
bu_gpu_run(const struct bu_checks_ctx *ctx, struct bu_checks *out, struct bu_err *err)
{
	bu_autofree char *nvml =
		ctx->libs ? bu_xasprintf("%s/libnvidia-ml.so.1", ctx->libs) : NULL;
	bu_autofree char *cuda =
		ctx->libs ? bu_xasprintf("%s/libcuda.so.1", ctx->libs) : NULL;
	bu_autofree char *amd =
		ctx->libs ? bu_xasprintf("%s/libamd_smi.so.26", ctx->libs) : NULL;
	const json_t *expect = json_object_get(ctx->expect, "gpu");
	struct bu_gpu_opts opts = {.nvml = nvml,
				   .cuda = cuda,
				   .expect = expect,
				   .copy_bytes =
					   (size_t)bu_json_int(expect, "copy_bytes", 0),
				   .ctx = ctx,
				   .amd = amd,
				   .pause = pause_ms};

	bu_gpu_check(&opts, out);
	return 0;
}
