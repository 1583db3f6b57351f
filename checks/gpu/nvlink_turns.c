/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What both ends do in step for one GPU; called by nvlink.c. After each step they tell
 * each other how it went, over the authenticated channel. Invariants: both leave a GPU
 * at the same step; no memory is given back before the other end has let go of it, but
 * where an end is gone; nothing of CUDA is called unannounced.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "checks/gpu/nvlink_impl.h"

enum { STEP_MS = 20000, BOTH = 2 };

/* Parts of the largest copy, and how many are timed together: about as much in all. */
static const struct {
	size_t divisor;
	int repeats;
} sizes[] = {{8, 32}, {1, 8}};

void
bu_nvlink_doing(struct bu_nvlink *link, const char *what)
{
	const struct bu_nvlink_row *row = bu_nvlink_kind(BU_NVLINK_ANSWERS);
	struct bu_doing doing = {.limit_ms = STEP_MS,
				 .id = row->id,
				 .subject = link->subject,
				 .what = what,
				 .hint = row->hint};

	bu_checks_doing(link->ctx, link->out, what ? &doing : NULL);
}

static const struct {
	enum bu_err_kind error;
	enum bu_nvlink_kind row;
} kinds[] = {
	{BU_ERR_DENIED, BU_NVLINK_IMEX},
	{BU_ERR_STATE, BU_NVLINK_DOMAIN},
	{BU_ERR_VERIFY, BU_NVLINK_PAYLOAD},
	{BU_ERR_REMOTE, BU_NVLINK_ANSWERS},
};

static void
tell_own(struct bu_nvlink *link, const struct bu_err *own)
{
	for (size_t i = 0; i < BU_LEN(kinds); i++)
		if (kinds[i].error == own->kind) {
			bu_nvlink_add(link, kinds[i].row,
				      bu_nvlink_kind(kinds[i].row)->verdict, own->text,
				      "");
			return;
		}
	bu_nvlink_add(link, BU_NVLINK_ANSWERS, BU_VERDICT_INCONCLUSIVE, own->text, "");
}

static int
tell_peer(struct bu_nvlink *link, const char *text)
{
	bu_autofree char *seen = bu_xasprintf("%s: %s", link->peer, text);

	bu_nvlink_add(link, BU_NVLINK_PEER, BU_VERDICT_INCONCLUSIVE, seen, "");
	return -1;
}

/* New reference; NULL: the other end is gone. */
static json_t *
exchange(struct bu_nvlink *link, const char *step, json_t *message)
{
	struct bu_err err = {0};
	json_t *said = NULL;

	if (bu_channel_send(link->channel, message, &link->wait, &err) == 0)
		said = bu_channel_receive(link->channel, &link->wait, &err);
	if (said && strcmp(bu_json_str(said, "step", ""), step) != 0) {
		bu_err_set(&err, BU_ERR_REMOTE, 0, "it spoke out of turn");
		json_decref(said);
		said = NULL;
	}
	if (said)
		return said;
	link->lost = 1;
	bu_ignore(tell_peer(link, err.text));
	return NULL;
}

int
bu_nvlink_meet(struct bu_nvlink *link, const char *step, json_t *more,
	       const struct bu_err *own, json_t **ret_said)
{
	bu_autojson json_t *message = more ? more : json_object();
	bu_autojson json_t *said = NULL;
	const json_t *error;
	int bad = own->kind != BU_ERR_NONE;

	bu_nvlink_doing(link, NULL);
	json_object_set_new(message, "step", json_string(step));
	if (bad) {
		json_object_set_new(message, "error", bu_json_from_err(own));
		tell_own(link, own);
	}
	said = exchange(link, step, message);
	if (!said)
		return -1;
	error = json_object_get(said, "error");
	if (error && !bad)
		bad = tell_peer(link, bu_json_str(error, "text", "it failed"));
	if (ret_said)
		*ret_said = json_incref(said);
	return bad ? -1 : 0;
}

/* The same at both ends, another one for each run, direction, GPU and probe. */
static uint64_t
seed_of(const struct bu_nvlink *link, int from, int phase, size_t size, int run)
{
	bu_autofree char *text = bu_xasprintf("%s %d %d %d %zu %d", link->work.probe,
					      link->gpu, from, phase, size, run);
	char hex[BU_DIGEST_SIZE];

	bu_sha256_hex(text, strlen(text), hex);
	hex[16] = '\0';
	return strtoull(hex, NULL, 16);
}

/* phase: the end that sends, or BOTH. */
static int
run_once(struct bu_nvlink *link, int phase, size_t size, int run, double *best)
{
	size_t bytes = link->bytes / sizes[size].divisor;
	int sends = phase == BOTH || phase == link->self;
	int receives = phase == BOTH || phase != link->self;
	struct bu_far_bench *bench = &link->bench;
	struct bu_err err = {0};
	double gbs = 0;

	bu_nvlink_doing(link, "CUDA, to fill its memory");
	if (sends)
		bu_ignore(bu_far_fill(bench, bytes,
				      seed_of(link, link->self, phase, size, run),
				      &err));
	if (bu_nvlink_meet(link, "filled", NULL, &err, NULL) != 0)
		return -1;
	bu_nvlink_doing(link, "CUDA, to copy to the other node");
	if (sends)
		bu_ignore(bu_far_copy(bench, bytes, sizes[size].repeats, &gbs, &err));
	if (bu_nvlink_meet(link, "copied", NULL, &err, NULL) != 0)
		return -1;
	*best = gbs > *best ? gbs : *best;
	bu_nvlink_doing(link, "CUDA, to read what came");
	if (receives)
		bu_ignore(bu_far_verify(bench, bytes,
					seed_of(link, !link->self, phase, size, run),
					&err));
	return bu_nvlink_meet(link, "verified", NULL, &err, NULL);
}

static int
run_phase(struct bu_nvlink *link, int phase, double *best)
{
	for (size_t size = 0; size < BU_LEN(sizes); size++)
		for (int run = 0; run < link->work.runs; run++)
			if (run_once(link, phase, size, run, best) != 0)
				return -1;
	return 0;
}

static int
run_phases(struct bu_nvlink *link, struct bu_nvlink_rates *ret)
{
	for (int from = BU_END_A; from <= BU_END_B; from++)
		if (run_phase(link, from, &ret->alone_gbs) != 0)
			return -1;
	return run_phase(link, BOTH, &ret->both_gbs);
}

/* The peer's memory is ours, too. */
static int
import(struct bu_nvlink *link, const json_t *said)
{
	const char *hex = bu_json_str(said, "handle", "");
	int64_t bytes = bu_json_int(said, "bytes", 0);
	unsigned char handle[BU_FAR_HANDLE_SIZE];
	struct bu_err err = {0};

	if (bytes < (int64_t)link->bytes || strlen(hex) != 2 * sizeof(handle) ||
	    bu_hex_decode(hex, handle, sizeof(handle)) != 0) {
		bu_err_set(&err, BU_ERR_REMOTE, 0, "%s sent no handle", link->peer);
	} else {
		bu_nvlink_doing(link, "CUDA, to reach the other node's memory");
		bu_ignore(bu_far_import(&link->bench, handle, (size_t)bytes, &err));
	}
	return bu_nvlink_meet(link, "reached", NULL, &err, NULL);
}

static int
share(struct bu_nvlink *link)
{
	unsigned char handle[BU_FAR_HANDLE_SIZE] = {0};
	char hex[2 * sizeof(handle) + 1];
	bu_autojson json_t *said = NULL;
	struct bu_err err = {0};

	bu_nvlink_doing(link, "CUDA, to share memory with the other node");
	bu_ignore(bu_far_open(&link->bench, link->gpu, link->bytes, handle, &err));
	bu_hex_encode(handle, sizeof(handle), hex);
	if (bu_nvlink_meet(link, "shared",
			   json_pack("{s:s,s:I}", "handle", hex, "bytes",
				     (json_int_t)link->bench.own.bytes),
			   &err, &said) != 0)
		return -1;
	return import(link, said);
}

int
bu_nvlink_measure(struct bu_nvlink *link, struct bu_nvlink_rates *ret)
{
	int rc = share(link);

	*ret = (struct bu_nvlink_rates){0, 0};
	if (rc == 0)
		rc = run_phases(link, ret);
	/* Whatever became of it, each waits for the other before memory goes. */
	bu_nvlink_doing(link, NULL);
	if (!link->lost) {
		bu_autojson json_t *done = json_pack("{s:s}", "step", "done");

		json_decref(exchange(link, "done", done));
	}
	bu_nvlink_doing(link, "CUDA, to release its memory");
	bu_far_close(&link->bench);
	bu_nvlink_doing(link, NULL);
	return rc;
}
