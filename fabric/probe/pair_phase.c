/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures one direction, or both at once; called by pair.c.
 *
 * A phase has queue pairs of its own, which pair_open.c connected. Each run has the
 * steps begin, sent, checked. The pings follow, then the end (pair_end.c): both ends
 * leave a phase together, and the next one starts clean. Invariant: no queue pair of a
 * phase outlives it.
 */
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "fabric/probe/pair_impl.h"

/* direction: the end that sends payload. */
static struct bu_verbs_run
make_run(const struct session *s, int direction, int number)
{
	bu_autofree char *text =
		bu_xasprintf("%s %d %d", s->opts->probe, direction, number);
	struct bu_verbs_run run = {.number = number};
	uint8_t hash[BU_SHA256_SIZE];

	bu_sha256(text, strlen(text), hash);
	memcpy(&run.stamp, hash, sizeof(run.stamp));
	return run;
}

static int
post_run(struct session *s, int direction, struct bu_verbs_run *run, int64_t start_ns,
	 struct bu_err *err)
{
	struct bu_pair_dir *dir = &s->result->dir[direction];

	if (bu_verbs_run(s->verbs, run, &s->transfer, err))
		return -1;
	*bu_pair_clock(s, direction) += (double)(bu_raw_ns() - start_ns) / 1e9;
	if (bu_pair_say(s, "sent",
			json_pack("{s:f, s:I}", "bw_gbps", run->ret_gbps, "bytes",
				  (json_int_t)run->ret_bytes),
			err))
		return -1;
	bu_pair_dir_add(dir, run->ret_gbps);
	dir->sent_bytes += run->ret_bytes;
	return 0;
}

static int
hear_run(struct session *s, int direction, int64_t start_ns, struct bu_err *err)
{
	struct bu_pair_dir *dir = &s->result->dir[direction];
	bu_autojson json_t *sent = bu_pair_hear(s, "sent", err);
	int64_t bytes;
	double bw_gbps;

	if (!sent || bu_pair_figure(sent, "bw_gbps", &bw_gbps, err) ||
	    bu_json_get_int(sent, "bytes", &bytes, err))
		return -1;
	if (bytes < 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "peer's 'bytes' is not a "
				  "number");
	*bu_pair_clock(s, direction) += (double)(s->heard_ns - start_ns) / 1e9;
	bu_pair_dir_add(dir, bw_gbps);
	dir->sent_bytes += (uint64_t)bytes;
	return 0;
}

/* Writes and sends are posted by the source, reads by the sink. With both directions at
 * once each end posts one and waits for the other. A run with a bad payload does not
 * count. */
static int
phase_run(struct session *s, int number, struct bu_err *err)
{
	int self = s->opts->self, reads = s->opts->op == BU_OP_READ;
	struct bu_verbs_run out = make_run(s, self, number);
	struct bu_verbs_run in = make_run(s, !self, number);
	struct bu_verbs_run *run = reads ? &in : &out;
	int64_t start_ns;

	if (s->source && bu_verbs_stamp(s->verbs, &out, err))
		return -1;
	if (bu_pair_say(s, "begin", NULL, err) || bu_pair_expect(s, "begin", err))
		return -1;
	start_ns = bu_raw_ns();
	run->posts = reads ? s->sink : s->source;
	run->takes = s->opts->op == BU_OP_SEND && s->sink;
	if (run->posts) {
		if (post_run(s, reads ? !self : self, run, start_ns, err))
			return -1;
	} else if (run->takes && bu_verbs_run(s->verbs, run, &s->transfer, err)) {
		return -1;
	}
	if ((reads ? s->source : s->sink) &&
	    hear_run(s, reads ? self : !self, start_ns, err))
		return -1;
	if (s->sink && (bu_verbs_check(s->verbs, &in, err) ||
			bu_pair_say(s, "checked", NULL, err)))
		return -1;
	return s->source ? bu_pair_expect(s, "checked", err) : 0;
}

static const struct {
	const char *key;
	size_t at;
} latencies[] = {
	{"median", offsetof(struct bu_pair_dir, lat_median_us)},
	{"p90", offsetof(struct bu_pair_dir, lat_p90_us)},
	{"p99", offsetof(struct bu_pair_dir, lat_p99_us)},
	{"p999", offsetof(struct bu_pair_dir, lat_p999_us)},
	{"min", offsetof(struct bu_pair_dir, lat_min_us)},
	{"max", offsetof(struct bu_pair_dir, lat_max_us)},
};

static double *
latency(struct bu_pair_dir *dir, size_t i)
{
	return (double *)(void *)((char *)dir + latencies[i].at);
}

/* The answering end says "pinged" once its last write is acknowledged. Only then may
 * "latency" come, which would end its transfer. */
static int
start_pings(struct session *s, struct bu_pair_dir *dir, struct bu_err *err)
{
	size_t count = (size_t)s->opts->pings;
	bu_autofree double *samples = bu_xcalloc(count, sizeof(*samples));
	json_t *message;

	if (bu_verbs_ping(s->verbs, 1, (int)count, &s->transfer, samples, err) ||
	    bu_pair_expect(s, "pinged", err))
		return -1;
	bu_pair_dir_latency(dir, samples, count);
	message = json_object();
	for (size_t i = 0; i < BU_LEN(latencies); i++)
		json_object_set_new(message, latencies[i].key,
				    json_real(*latency(dir, i)));
	return bu_pair_say(s, "latency", message, err);
}

static int
answer_pings(struct session *s, struct bu_pair_dir *dir, struct bu_err *err)
{
	bu_autojson json_t *message = NULL;

	if (bu_verbs_ping(s->verbs, 0, s->opts->pings, &s->transfer, NULL, err) ||
	    bu_pair_say(s, "pinged", NULL, err))
		return -1;
	message = bu_pair_hear(s, "latency", err);
	if (!message)
		return -1;
	for (size_t i = 0; i < BU_LEN(latencies); i++) {
		if (bu_pair_figure(message, latencies[i].key, latency(dir, i), err))
			return -1;
	}
	dir->lat_count = s->opts->pings;
	return 0;
}

/* True where more than half of all runs are below min_gbps in every direction of the
 * phase: the other runs cannot lift the median. */
static int
is_decided(const struct session *s)
{
	for (int i = 0; i < 2; i++) {
		const struct bu_pair_dir *dir = &s->result->dir[i];
		int low = 0;

		for (int run = 0; run < dir->runs; run++)
			low += dir->bw_gbps[run] < s->opts->min_gbps;
		if (bu_pair_moves(s, i) && 2 * low <= s->opts->runs)
			return 0;
	}
	return 1;
}

/* Runs with a failed check do not count. */
static int
phase_runs(struct session *s, struct bu_err *err)
{
	for (int run = 0; run < s->opts->runs && !is_decided(s); run++) {
		if (phase_run(s, run, err) == 0)
			continue;
		for (int i = 0; i < 2; i++) {
			if (bu_pair_moves(s, i) && s->result->dir[i].runs > run)
				bu_pair_dir_drop(&s->result->dir[i], run);
		}
		return -1;
	}
	return 0;
}

static int
phase_open(struct session *s, struct bu_err *err)
{
	if (s->open_err.kind != BU_ERR_NONE)
		return bu_err_set(err, s->open_err.kind, 0, "%s", s->open_err.text);
	if (!s->peer_opened) {
		s->echo = 1;
		return bu_err_set(err, BU_ERR_BUSY, 0, "the peer has nothing open");
	}
	if (s->unreached)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "nothing was acknowledged in the other direction: "
				  "link, cable or switch");
	bu_verbs_counters(s->verbs, &s->before);
	return 0;
}

/* A first word shows a dead path before any long run. */
static int
phase_reach(struct session *s, struct bu_err *err)
{
	if (!s->source || bu_verbs_reach(s->verbs, &s->transfer, err) == 0)
		return 0;
	s->unreached = err->kind == BU_ERR_REMOTE;
	return -1;
}

static int
phase_measure(struct session *s, struct bu_err *err)
{
	if (phase_open(s, err) || phase_reach(s, err) || phase_runs(s, err))
		return -1;
	/* Counters stop before the pings. Soft-RoCE sometimes retransmits a request
	 * whose answer has come, because its timer was set by an earlier one. */
	bu_verbs_counters(s->verbs, &s->after);
	s->counted = 1;
	for (int i = 0; i < 2 && s->opts->pings > 0; i++) {
		struct bu_pair_dir *dir = &s->result->dir[i];
		int rc = 0;

		if (!bu_pair_moves(s, i))
			continue;
		/* with both directions at once the runs end at different times */
		if (s->source && s->sink &&
		    (bu_pair_say(s, "ping", NULL, err) ||
		     bu_pair_expect(s, "ping", err)))
			return -1;
		rc = s->opts->self == i ? start_pings(s, dir, err)
					: answer_pings(s, dir, err);
		if (rc)
			return -1;
	}
	return 0;
}

int
bu_pair_phase(struct session *s, int direction, int64_t deadline_ns, struct bu_err *err)
{
	int64_t start_ns = bu_raw_ns();
	struct bu_err own = {.kind = BU_ERR_NONE};
	int rc;

	s->source = direction == BU_PHASE_BOTH || direction == s->opts->self;
	s->sink = direction == BU_PHASE_BOTH || direction != s->opts->self;
	s->verbs = s->open.set[direction == BU_END_B];
	s->echo = s->counted = 0;
	bu_counters_init(&s->before);
	s->transfer = bu_pair_wait(s, deadline_ns);
	s->transfer.stop = bu_pair_interrupted;
	s->talk = bu_pair_wait(s, deadline_ns + s->grace_ns);
	if (phase_measure(s, &own) == 0 || s->echo)
		own.kind = BU_ERR_NONE;
	s->talk.deadline_ns = deadline_ns + 2 * s->grace_ns;
	rc = bu_pair_close(s, &own, err);
	for (int i = 0; i < 2; i++) {
		if (bu_pair_moves(s, i))
			s->result->dir[i].seconds =
				(double)(bu_raw_ns() - start_ns) / 1e9;
	}
	if (s->verbs)
		bu_verbs_disconnect(s->verbs);
	s->verbs = NULL;
	json_decref(s->peer_end);
	s->peer_end = NULL;
	json_decref(s->early);
	s->early = NULL;
	return rc;
}
