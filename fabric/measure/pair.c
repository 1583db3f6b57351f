// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a probe with the peer, called by the agent for a work item.
 *
 * Each direction is a phase with a queue pair of its own: offer, ready, runs, pings.
 * Whoever fails, or is done, says {"end": ERROR|null} once and then reads until the
 * other's; so both leave a phase together and the next one starts clean. Invariant:
 * every wait has a deadline that both ends know, and nothing of a phase outlives it.
 */
#include "fabric/measure/pair.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "fabric/measure/channel.h"
#include "fabric/measure/verbs.h"

enum { RESERVE_MS = 4000, CANCEL_MS = 1000 };

struct session {
	const struct bu_pair_opts *opts;
	struct bu_channel *channel;
	struct bu_pair_result *result;
	int64_t deadline_ns;
	int64_t grace_ns; /* how much longer than a transfer the other end waits for it
			   */
	/* the phase */
	struct bu_verbs *verbs;
	struct bu_wait transfer; /* ends when the peer speaks out of turn */
	struct bu_wait talk;
	json_t *peer_end; /* the peer's {"end":...}, NULL until it came */
	int echo;         /* we stopped only because the peer did */
};

static int
stop_cancelled(void *arg, struct bu_err *err)
{
	const struct session *s = arg;

	if (s->opts->cancelled && s->opts->cancelled(s->opts->arg))
		return bu_err_set(err, BU_ERR_CANCELLED, 0, "the probe was cancelled");
	return 0;
}

static int
stop_transfer(void *arg, struct bu_err *err)
{
	struct session *s = arg;

	if (bu_channel_has_input(s->channel)) {
		s->echo = 1;
		return bu_err_set(err, BU_ERR_BUSY, 0, "the peer gave this run up");
	}
	return stop_cancelled(arg, err);
}

static struct bu_wait
wait_until(struct session *s, int64_t deadline_ns)
{
	return (struct bu_wait){
		.deadline_ns = deadline_ns, .stop = stop_cancelled, .arg = s};
}

/* A control connection that fails says nothing about the fabric: never an error kind
 * that the judge takes for a finding about the path. */
static int
talk_failed(struct bu_err *err)
{
	if (err->kind != BU_ERR_CANCELLED)
		err->kind = BU_ERR_BUSY;
	return -1;
}

static int
send_step(struct session *s, const char *step, json_t *message, struct bu_err *err)
{
	bu_autojson json_t *owned = message ? message : json_object();

	json_object_set_new(owned, "step", json_string(step));
	if (bu_channel_send(s->channel, owned, &s->talk, err))
		return talk_failed(err);
	return 0;
}

/* The peer's next message, which must be this step. New reference. */
static json_t *
receive_step(struct session *s, const char *step, struct bu_err *err)
{
	bu_autojson json_t *message = bu_channel_receive(s->channel, &s->talk, err);

	if (!message) {
		talk_failed(err);
		return NULL;
	}
	if (json_object_get(message, "end")) {
		s->peer_end = bu_steal(&message);
		s->echo = 1;
		bu_err_set(err, BU_ERR_BUSY, 0, "the peer gave this direction up");
		return NULL;
	}
	if (strcmp(bu_json_str(message, "step", ""), step) != 0) {
		bu_err_set(err, BU_ERR_INVAL, 0, "the peer is not at step '%s'", step);
		return NULL;
	}
	return bu_steal(&message);
}

static int
expect_step(struct session *s, const char *step, struct bu_err *err)
{
	bu_autojson json_t *message = receive_step(s, step, err);

	return message ? 0 : -1;
}

static uint64_t
run_stamp(const struct session *s, int direction, int run)
{
	bu_autofree char *text =
		bu_xasprintf("%s %d %d", s->opts->probe, direction, run);
	uint8_t hash[BU_SHA256_SIZE];
	uint64_t stamp;

	bu_sha256(text, strlen(text), hash);
	memcpy(&stamp, hash, sizeof(stamp));
	return stamp;
}

static int
peer_end_facts(const json_t *offer, struct bu_pair_end *ret, struct bu_err *err)
{
	if (bu_json_copy_str(offer, "device", ret->device, sizeof(ret->device), err) ||
	    bu_json_copy_str(offer, "gid", ret->gid, sizeof(ret->gid), err))
		return bu_err_wrap(err, "peer's offer");
	ret->gid_index = (int)bu_json_int(offer, "gid_index", 0) & 0xffff;
	ret->port = (int)bu_json_int(offer, "port", 0) & 0xff;
	ret->mtu = (int)bu_json_int(offer, "mtu", 0) & 0xffff;
	return 0;
}

/* Both ends open, tell each other, connect and wait for each other. */
static int
phase_open(struct session *s, struct bu_err *err)
{
	const struct bu_pair_opts *opts = s->opts;
	const struct bu_verbs_opts verbs_opts = {
		.device = opts->device[0] ? opts->device : NULL,
		.local_ip = opts->local_ip[0] ? opts->local_ip : NULL,
		.message_bytes = opts->message_bytes,
	};
	struct bu_pair_end *own = &s->result->end[opts->self];
	struct bu_verbs_peer local, peer;
	bu_autojson json_t *offer = NULL;

	s->verbs = bu_verbs_create(&verbs_opts, err);
	if (!s->verbs)
		return -1;
	bu_verbs_describe(s->verbs, own);
	bu_verbs_local(s->verbs, &local);
	if (send_step(s, "offer",
		      json_pack("{s:o, s:s, s:s, s:i, s:i, s:i}", "qp",
				bu_verbs_peer_to_json(&local), "device", own->device,
				"gid", own->gid, "gid_index", own->gid_index, "port",
				own->port, "mtu", own->mtu),
		      err))
		return -1;
	offer = receive_step(s, "offer", err);
	if (!offer || peer_end_facts(offer, &s->result->end[!opts->self], err) ||
	    bu_verbs_peer_from_json(json_object_get(offer, "qp"), &peer, err) ||
	    bu_verbs_connect(s->verbs, &peer, &s->result->mtu, err))
		return -1;
	if (send_step(s, "ready", NULL, err))
		return -1;
	return expect_step(s, "ready", err);
}

static int
send_run(struct session *s, int direction, int run, struct bu_err *err)
{
	double bw_gbps;

	if (bu_verbs_write(s->verbs, run_stamp(s, direction, run), s->opts->bytes,
			   &s->transfer, &bw_gbps, err) ||
	    send_step(s, "sent", json_pack("{s:f}", "bw_gbps", bw_gbps), err) ||
	    expect_step(s, "checked", err))
		return -1;
	bu_pair_dir_add(&s->result->dir[direction], bw_gbps);
	return 0;
}

static int
get_figure(const json_t *message, const char *key, double *ret, struct bu_err *err)
{
	*ret = bu_json_real(message, key, NAN);
	if (!isfinite(*ret) || *ret < 0)
		return bu_err_set(err, BU_ERR_INVAL, 0, "peer's '%s' is no figure",
				  key);
	return 0;
}

static int
receive_run(struct session *s, int direction, int run, struct bu_err *err)
{
	bu_autojson json_t *sent = receive_step(s, "sent", err);
	double bw_gbps;

	if (!sent || get_figure(sent, "bw_gbps", &bw_gbps, err) ||
	    bu_verbs_check(s->verbs, run_stamp(s, direction, run), s->opts->bytes,
			   err) ||
	    send_step(s, "checked", NULL, err))
		return -1;
	bu_pair_dir_add(&s->result->dir[direction], bw_gbps);
	return 0;
}

/* The answering end says "pinged" when its last write is acknowledged: until then a
 * word on the channel would end its transfer. */
static int
start_pings(struct session *s, struct bu_pair_dir *dir, struct bu_err *err)
{
	double samples[BU_PAIR_PINGS];

	if (bu_verbs_ping(s->verbs, 1, BU_PAIR_PINGS, &s->transfer, samples, err) ||
	    expect_step(s, "pinged", err))
		return -1;
	dir->lat_median_us = bu_quantile(samples, BU_PAIR_PINGS, 0.5);
	dir->lat_p99_us = bu_quantile(samples, BU_PAIR_PINGS, 0.99);
	dir->lat_count = BU_PAIR_PINGS;
	return send_step(s, "latency",
			 json_pack("{s:f, s:f}", "median_us", dir->lat_median_us,
				   "p99_us", dir->lat_p99_us),
			 err);
}

static int
answer_pings(struct session *s, struct bu_pair_dir *dir, struct bu_err *err)
{
	bu_autojson json_t *latency = NULL;

	if (bu_verbs_ping(s->verbs, 0, BU_PAIR_PINGS, &s->transfer, NULL, err) ||
	    send_step(s, "pinged", NULL, err))
		return -1;
	latency = receive_step(s, "latency", err);
	if (!latency || get_figure(latency, "median_us", &dir->lat_median_us, err) ||
	    get_figure(latency, "p99_us", &dir->lat_p99_us, err))
		return -1;
	dir->lat_count = BU_PAIR_PINGS;
	return 0;
}

static int
phase_measure(struct session *s, int direction, struct bu_err *err)
{
	int sends = s->opts->self == direction;
	struct bu_pair_dir *dir = &s->result->dir[direction];

	if (phase_open(s, err))
		return -1;
	for (int run = 0; run < s->opts->runs; run++) {
		if (sends ? send_run(s, direction, run, err)
			  : receive_run(s, direction, run, err))
			return -1;
	}
	return sends ? start_pings(s, dir, err) : answer_pings(s, dir, err);
}

/* Says our end and reads the peer's. own->kind NONE: it went well here, or it is the
 * peer that knows why not. */
static int
phase_close(struct session *s, const struct bu_err *own, struct bu_err *err)
{
	bu_autojson json_t *message = json_object();

	json_object_set_new(message, "end",
			    own->kind == BU_ERR_NONE ? json_null()
						     : bu_json_from_err(own));
	if (bu_channel_send(s->channel, message, &s->talk, err))
		return -1;
	while (!s->peer_end) {
		bu_autojson json_t *next =
			bu_channel_receive(s->channel, &s->talk, err);

		if (!next)
			return -1;
		if (json_object_get(next, "end"))
			s->peer_end = bu_steal(&next);
	}
	return 0;
}

/* Of two errors the sending end's counts: it is the one that sees a lost write. */
static void
phase_record(struct session *s, int direction, const struct bu_err *own)
{
	const json_t *end = s->peer_end ? json_object_get(s->peer_end, "end") : NULL;
	struct bu_pair_error *error = &s->result->dir[direction].error;
	struct bu_err peer = {.kind = BU_ERR_NONE};
	int self = s->opts->self;

	if (json_is_object(end))
		bu_json_to_err(end, &peer);
	if (own->kind != BU_ERR_NONE && (peer.kind == BU_ERR_NONE || self == direction))
		bu_pair_error_set(error, self, own);
	else if (peer.kind != BU_ERR_NONE)
		bu_pair_error_set(error, !self, &peer);
}

/* After a cancellation the peer is still told, but not waited for. */
static int
phase_end(struct session *s, int direction, struct bu_err *own, struct bu_err *err)
{
	int cancelled = own->kind == BU_ERR_CANCELLED;
	int rc;

	if (cancelled) {
		s->talk.stop = NULL;
		s->talk.deadline_ns = bu_mono_ns() + CANCEL_MS * INT64_C(1000000);
	}
	rc = phase_close(s, own, err);
	if (cancelled) {
		*err = *own;
		return -1;
	}
	if (rc) {
		/* A write to a peer that died is lost too: no finding about the path.
		 */
		if (own->kind != BU_ERR_NONE)
			bu_err_wrap(err, "%.160s", own->text);
		return -1;
	}
	phase_record(s, direction, own);
	if (s->result->dir[direction].error.kind != BU_ERR_CANCELLED)
		return 0;
	return bu_err_set(err, BU_ERR_REMOTE, 0, "the peer cancelled the probe");
}

/* One direction. -1: the probe cannot go on. */
static int
phase(struct session *s, int direction, int64_t deadline_ns, struct bu_err *err)
{
	int64_t start_ns = bu_mono_ns();
	struct bu_err own = {.kind = BU_ERR_NONE};
	int rc;

	s->echo = 0;
	s->transfer = wait_until(s, deadline_ns);
	s->transfer.stop = stop_transfer;
	s->talk = wait_until(s, deadline_ns + s->grace_ns);
	if (phase_measure(s, direction, &own) == 0 || s->echo)
		own.kind = BU_ERR_NONE;
	s->talk.deadline_ns = deadline_ns + 2 * s->grace_ns;
	rc = phase_end(s, direction, &own, err);
	s->result->dir[direction].seconds = (double)(bu_mono_ns() - start_ns) / 1e9;
	bu_verbs_destroy(s->verbs);
	s->verbs = NULL;
	json_decref(s->peer_end);
	s->peer_end = NULL;
	return rc;
}

static json_t *
hello_message(const struct session *s, int64_t left_ms)
{
	const struct bu_pair_opts *o = s->opts;

	return json_pack("{s:i, s:s, s:s, s:i, s:I, s:I, s:i, s:I}", "v", 1, "a",
			 o->node[BU_END_A], "b", o->node[BU_END_B], "self", o->self,
			 "message_bytes", (json_int_t)o->message_bytes, "bytes",
			 (json_int_t)o->bytes, "runs", o->runs, "left_ms",
			 (json_int_t)left_ms);
}

/* Both ends must have been told the same; the shorter deadline counts for both. */
static int
greet(struct session *s, struct bu_err *err)
{
	static const char *const same[] = {"v",     "a",   "b", "message_bytes",
					   "bytes", "runs"};
	int64_t left_ms = (s->deadline_ns - bu_mono_ns()) / 1000000;
	int64_t peer_ms;
	bu_autojson json_t *own = hello_message(s, left_ms);
	bu_autojson json_t *peer = NULL;

	s->talk = wait_until(s, s->deadline_ns);
	if (bu_channel_send(s->channel, own, &s->talk, err))
		return -1;
	peer = bu_channel_receive(s->channel, &s->talk, err);
	if (!peer || bu_json_get_int(peer, "left_ms", &peer_ms, err))
		return -1;
	for (size_t i = 0; i < BU_LEN(same); i++) {
		if (!json_equal(json_object_get(own, same[i]),
				json_object_get(peer, same[i])))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "the peer was told another '%s'", same[i]);
	}
	if (bu_json_int(peer, "self", -1) != !s->opts->self)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "both ends take themselves for %s",
				  s->opts->node[s->opts->self]);
	if (peer_ms < left_ms)
		left_ms = peer_ms;
	s->deadline_ns = bu_mono_ns() + left_ms * 1000000;
	return 0;
}

/* The connecting end's result becomes the listening end's too. */
static int
share_result(struct session *s, int64_t start_ns, struct bu_err *err)
{
	bu_autojson json_t *message = NULL;
	struct bu_pair_result shared;

	s->talk = wait_until(s, s->deadline_ns);
	s->result->seconds = (double)(bu_mono_ns() - start_ns) / 1e9;
	if (!s->opts->listens) {
		message = bu_pair_result_to_json(s->result);
		return bu_channel_send(s->channel, message, &s->talk, err);
	}
	message = bu_channel_receive(s->channel, &s->talk, err);
	if (!message || bu_pair_result_from_json(message, &shared, err))
		return -1;
	if (strcmp(shared.probe, s->result->probe) != 0 ||
	    strcmp(shared.end[0].node, s->result->end[0].node) != 0 ||
	    strcmp(shared.end[1].node, s->result->end[1].node) != 0)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "the peer sent the result of another probe");
	*s->result = shared;
	return 0;
}

static int
session_run(struct session *s, int64_t start_ns, struct bu_err *err)
{
	const struct bu_pair_opts *opts = s->opts;
	const struct bu_channel_opts channel_opts = {
		.listens = opts->listens,
		.addr = opts->addr,
		.port = opts->port,
		.peer = opts->peer[0] ? opts->peer : NULL,
		.probe = opts->probe,
		.secret = opts->secret,
	};
	struct bu_wait open = wait_until(s, s->deadline_ns);
	int64_t left_ns, reserve_ns = RESERVE_MS * INT64_C(1000000);

	s->channel = bu_channel_open(&channel_opts, &open, err);
	if (!s->channel || greet(s, err))
		return -1;
	left_ns = s->deadline_ns - bu_mono_ns();
	if (reserve_ns > left_ns / 4)
		reserve_ns = left_ns / 4;
	s->grace_ns = reserve_ns / 4;
	/* Half of the time each: one direction that hangs does not cost the other. */
	if (phase(s, BU_END_A, s->deadline_ns - reserve_ns - (left_ns - reserve_ns) / 2,
		  err) ||
	    phase(s, BU_END_B, s->deadline_ns - reserve_ns, err))
		return -1;
	return share_result(s, start_ns, err);
}

int
bu_pair_run(const struct bu_pair_opts *opts, struct bu_pair_result *ret,
	    struct bu_err *err)
{
	int64_t start_ns = bu_mono_ns();
	struct bu_err failure = {.kind = BU_ERR_NONE};
	struct bu_pair_result result;
	struct session s = {
		.opts = opts,
		.result = &result,
		.deadline_ns = start_ns + opts->deadline_ms * 1000000,
	};
	int rc;

	bu_pair_result_init(&result);
	memcpy(result.probe, opts->probe, sizeof(result.probe));
	memcpy(result.end[0].node, opts->node[0], sizeof(result.end[0].node));
	memcpy(result.end[1].node, opts->node[1], sizeof(result.end[1].node));
	result.at_ms = bu_wall_ms(bu_clock_system());
	result.message_bytes = opts->message_bytes;
	result.bytes = opts->bytes;
	rc = session_run(&s, start_ns, &failure);
	bu_channel_destroy(s.channel);
	if (rc && failure.kind == BU_ERR_CANCELLED)
		return bu_err_set(err, failure.kind, 0, "%s", failure.text);
	if (rc) {
		bu_pair_error_set(&result.error, opts->self, &failure);
		result.seconds = (double)(bu_mono_ns() - start_ns) / 1e9;
	}
	*ret = result;
	return 0;
}
