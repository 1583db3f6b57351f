// SPDX-License-Identifier: Apache-2.0
/*
 * What a probe measures, in one direction or in both at once; called by pair.c.
 *
 * A phase has queue pairs of its own: offer, ready, then for each run begin, sent,
 * checked; then the pings. Whoever fails, or is done, says {"end": ERROR|null} once,
 * with what only it can know (its clock, its counters), and then reads until the
 * other's; so both leave a phase together and the next one starts clean. Invariant:
 * nothing of a phase outlives it.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "fabric/measure/pair_impl.h"

enum { CANCEL_MS = 1000 };

static int
stop_cancelled(void *arg, struct bu_err *err)
{
	const struct session *s = arg;

	if (s->opts->cancelled && s->opts->cancelled(s->opts->arg))
		return bu_err_set(err, BU_ERR_CANCELLED, 0, "the probe was cancelled");
	return 0;
}

struct bu_wait
bu_pair_wait(struct session *s, int64_t deadline_ns)
{
	return (struct bu_wait){
		.deadline_ns = deadline_ns, .stop = stop_cancelled, .arg = s};
}

/* The peer may be done before us, and says so: of its run, when both directions are at
 * work, or of its last ping, whose acknowledgement is still under way to us. */
static int
heard_early(struct session *s)
{
	const char *step;

	if (s->early || s->peer_end)
		return 0;
	s->early = bu_channel_receive(s->channel, &s->talk, NULL);
	s->early_ns = bu_mono_ns();
	if (s->early && json_object_get(s->early, "end"))
		s->peer_end = bu_steal(&s->early);
	step = bu_json_str(s->early, "step", "");
	return strcmp(step, "sent") == 0 || strcmp(step, "pinged") == 0;
}

static int
stop_transfer(void *arg, struct bu_err *err)
{
	struct session *s = arg;

	if (bu_channel_has_input(s->channel) && !heard_early(s)) {
		s->echo = 1;
		return bu_err_set(err, BU_ERR_BUSY, 0, "the peer gave this run up");
	}
	return stop_cancelled(arg, err);
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
	bu_autojson json_t *message = NULL;

	if (s->early) {
		message = bu_steal(&s->early);
		s->heard_ns = s->early_ns;
	} else {
		message = bu_channel_receive(s->channel, &s->talk, err);
		s->heard_ns = bu_mono_ns();
	}
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

/* direction: which end the payload comes from. */
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

/* The ends whose payload this phase moves. */
static int
moves(const struct session *s, int direction)
{
	return direction == s->opts->self ? s->source : s->sink;
}

static json_t *
make_offer(const struct session *s)
{
	const struct bu_pair_end *own = &s->result->end[s->opts->self];
	struct bu_pair_dir paths = {.qps = 0};
	json_t *sports = json_array(), *labels = json_array();
	struct bu_verbs_peer local;

	bu_verbs_local(s->verbs, &local);
	bu_verbs_paths(s->verbs, &paths);
	for (int i = 0; i < paths.qps; i++) {
		json_array_append_new(sports, json_integer(paths.sport[i]));
		json_array_append_new(labels, json_integer(paths.flow_label[i]));
	}
	return json_pack("{s:o, s:o, s:o, s:o}", "qp", bu_verbs_peer_to_json(&local),
			 "port", bu_pair_end_to_json(own), "sport", sports,
			 "flow_label", labels);
}

/* What the peer says of its own end, and of the way that its packets take. */
static int
read_offer(struct session *s, const json_t *offer, struct bu_verbs_peer *ret,
	   struct bu_err *err)
{
	int other = !s->opts->self;
	struct bu_pair_dir *dir = &s->result->dir[other];
	struct bu_pair_end end;

	if (bu_pair_end_from_json(json_object_get(offer, "port"), &end, err) ||
	    bu_verbs_peer_from_json(json_object_get(offer, "qp"), ret, err))
		return bu_err_wrap(err, "peer's offer");
	memcpy(end.node, s->opts->node[other], sizeof(end.node));
	s->result->end[other] = end;
	if (!moves(s, other))
		return 0;
	dir->qps = ret->qps;
	for (int i = 0; i < ret->qps; i++) {
		size_t at = (size_t)i;

		dir->sport[i] = (uint16_t)json_integer_value(
			json_array_get(json_object_get(offer, "sport"), at));
		dir->flow_label[i] =
			(uint32_t)json_integer_value(json_array_get(
				json_object_get(offer, "flow_label"), at)) &
			0xfffff;
	}
	return 0;
}

static int
open_verbs(struct session *s, struct bu_err *err)
{
	const struct bu_pair_opts *o = s->opts;
	const struct bu_verbs_opts opts = {
		.opened = &s->device,
		.message_bytes = o->message_bytes,
		.bytes = o->bytes,
		.runs = o->runs,
		.op = o->op,
		.lat_op = o->lat_op,
		.qps = o->qps,
		.sport = o->sport,
		.roles = (s->source ? BU_VERBS_SOURCE : 0) |
			 (s->sink ? BU_VERBS_SINK : 0),
		.window_bytes = o->window_bytes,
		.gpu = o->gpu,
		.cuda = o->cuda,
		.root = o->root,
		.loopback = o->loopback,
	};
	struct bu_pair_end *own = &s->result->end[o->self];

	if (!s->device.context)
		return bu_err_set(err, s->device_err.kind, 0, "%s", s->device_err.text);
	s->verbs = bu_verbs_create(&opts, err);
	if (!s->verbs)
		return -1;
	bu_verbs_describe(s->verbs, own);
	memcpy(own->address, o->local_ip, sizeof(own->address));
	if (s->source)
		bu_verbs_paths(s->verbs, &s->result->dir[o->self]);
	return 0;
}

/* Both ends open, tell each other, connect and wait for each other. */
static int
phase_open(struct session *s, struct bu_err *err)
{
	int64_t start_ns = bu_mono_ns();
	bu_autojson json_t *offer = NULL;
	struct bu_verbs_peer peer;
	double seconds;

	if (open_verbs(s, err) || send_step(s, "offer", make_offer(s), err))
		return -1;
	offer = receive_step(s, "offer", err);
	if (!offer || read_offer(s, offer, &peer, err) ||
	    bu_verbs_connect(s->verbs, &peer, &s->result->mtu, err))
		return -1;
	if (send_step(s, "ready", NULL, err) || expect_step(s, "ready", err))
		return -1;
	seconds = (double)(bu_mono_ns() - start_ns) / 1e9;
	for (int i = 0; i < 2; i++) {
		if (moves(s, i))
			s->result->dir[i].setup_seconds = seconds;
	}
	bu_verbs_counters(s->verbs, &s->before);
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

/* Our clock of a direction: [0] is the sender's, [1] the receiver's. */
static double *
own_clock(struct session *s, int direction)
{
	return &s->result->dir[direction].clock_seconds[direction != s->opts->self];
}

static int
post_run(struct session *s, int direction, struct bu_verbs_run *run, int64_t start_ns,
	 struct bu_err *err)
{
	struct bu_pair_dir *dir = &s->result->dir[direction];

	if (bu_verbs_run(s->verbs, run, &s->transfer, err))
		return -1;
	*own_clock(s, direction) += (double)(bu_mono_ns() - start_ns) / 1e9;
	if (send_step(s, "sent",
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
	bu_autojson json_t *sent = receive_step(s, "sent", err);
	int64_t bytes;
	double bw_gbps;

	if (!sent || get_figure(sent, "bw_gbps", &bw_gbps, err) ||
	    bu_json_get_int(sent, "bytes", &bytes, err))
		return -1;
	if (bytes < 0)
		return bu_err_set(err, BU_ERR_INVAL, 0, "peer's 'bytes' is no figure");
	*own_clock(s, direction) += (double)(s->heard_ns - start_ns) / 1e9;
	bu_pair_dir_add(dir, bw_gbps);
	dir->sent_bytes += (uint64_t)bytes;
	return 0;
}

/* The end that posts is the source, of a read the sink; with both directions at once
 * each end posts one and hears of the other. A run counts when its payload was good. */
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
	if (send_step(s, "begin", NULL, err) || expect_step(s, "begin", err))
		return -1;
	start_ns = bu_mono_ns();
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
	if (s->sink &&
	    (bu_verbs_check(s->verbs, &in, err) || send_step(s, "checked", NULL, err)))
		return -1;
	return s->source ? expect_step(s, "checked", err) : 0;
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

/* The answering end says "pinged" when its last write is acknowledged: until then a
 * word on the channel would end its transfer. */
static int
start_pings(struct session *s, struct bu_pair_dir *dir, struct bu_err *err)
{
	size_t count = (size_t)s->opts->pings;
	bu_autofree double *samples = bu_xcalloc(count, sizeof(*samples));
	json_t *message;

	if (bu_verbs_ping(s->verbs, 1, (int)count, &s->transfer, samples, err) ||
	    expect_step(s, "pinged", err))
		return -1;
	bu_pair_dir_latency(dir, samples, count);
	message = json_object();
	for (size_t i = 0; i < BU_LEN(latencies); i++)
		json_object_set_new(message, latencies[i].key,
				    json_real(*latency(dir, i)));
	return send_step(s, "latency", message, err);
}

static int
answer_pings(struct session *s, struct bu_pair_dir *dir, struct bu_err *err)
{
	bu_autojson json_t *message = NULL;

	if (bu_verbs_ping(s->verbs, 0, s->opts->pings, &s->transfer, NULL, err) ||
	    send_step(s, "pinged", NULL, err))
		return -1;
	message = receive_step(s, "latency", err);
	if (!message)
		return -1;
	for (size_t i = 0; i < BU_LEN(latencies); i++) {
		if (get_figure(message, latencies[i].key, latency(dir, i), err))
			return -1;
	}
	dir->lat_count = s->opts->pings;
	return 0;
}

/* Runs of which the check failed do not count. */
static int
phase_runs(struct session *s, struct bu_err *err)
{
	for (int run = 0; run < s->opts->runs; run++) {
		if (phase_run(s, run, err) == 0)
			continue;
		for (int i = 0; i < 2; i++) {
			if (moves(s, i) && s->result->dir[i].runs > run)
				bu_pair_dir_drop(&s->result->dir[i], run);
		}
		return -1;
	}
	return 0;
}

static int
phase_measure(struct session *s, struct bu_err *err)
{
	if (phase_open(s, err) || phase_runs(s, err))
		return -1;
	/* Not the pings: soft-RoCE repeats a request now and then whose answer came,
	 * when its timer was set by an earlier one. */
	bu_verbs_counters(s->verbs, &s->after);
	s->counted = 1;
	for (int i = 0; i < 2 && s->opts->pings > 0; i++) {
		struct bu_pair_dir *dir = &s->result->dir[i];
		int rc = 0;

		if (!moves(s, i))
			continue;
		/* What was measured by both at once ends at different times. */
		if (s->source && s->sink &&
		    (send_step(s, "ping", NULL, err) || expect_step(s, "ping", err)))
			return -1;
		rc = s->opts->self == i ? start_pings(s, dir, err)
					: answer_pings(s, dir, err);
		if (rc)
			return -1;
	}
	return 0;
}

/* own->kind NONE: it went well here, or it is the peer that knows why not. */
static json_t *
make_end(struct session *s, const struct bu_err *own)
{
	json_t *message = json_object(), *clocks = json_array();
	struct bu_counters since;

	json_object_set_new(message, "end",
			    own->kind == BU_ERR_NONE ? json_null()
						     : bu_json_from_err(own));
	for (int i = 0; i < 2; i++)
		json_array_append_new(clocks, json_real(*own_clock(s, i)));
	json_object_set_new(message, "clock", clocks);
	if (!s->verbs)
		return message;
	if (!s->counted)
		bu_verbs_counters(s->verbs, &s->after);
	bu_counters_since(&s->before, &s->after, &since);
	for (int i = 0; i < 2; i++) {
		if (moves(s, i))
			s->result->dir[i].counters[s->opts->self] = since;
	}
	json_object_set_new(message, "counters", bu_counters_to_json(&since));
	return message;
}

static void
read_end(struct session *s)
{
	int other = !s->opts->self;
	struct bu_counters counters;

	bu_counters_from_json(json_object_get(s->peer_end, "counters"), &counters,
			      NULL);
	for (int i = 0; i < 2; i++) {
		struct bu_pair_dir *dir = &s->result->dir[i];
		double seconds = json_number_value(json_array_get(
			json_object_get(s->peer_end, "clock"), (size_t)i));

		if (!moves(s, i))
			continue;
		if (seconds >= 0 && seconds < 1e6)
			dir->clock_seconds[i != other] = seconds;
		dir->counters[other] = counters;
	}
}

/* Says our end and reads the peer's. */
static int
phase_close(struct session *s, const struct bu_err *own, struct bu_err *err)
{
	bu_autojson json_t *message = make_end(s, own);

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
	read_end(s);
	return 0;
}

/* Of two errors the one counts whose end posts: it sees a lost message. */
static void
phase_record(struct session *s, int direction, const struct bu_err *own)
{
	const json_t *end = s->peer_end ? json_object_get(s->peer_end, "end") : NULL;
	struct bu_pair_error *error = &s->result->dir[direction].error;
	struct bu_err peer = {.kind = BU_ERR_NONE};
	int self = s->opts->self;
	int poster = s->opts->op == BU_OP_READ ? !direction : direction;

	if (json_is_object(end))
		bu_json_to_err(end, &peer);
	if (own->kind != BU_ERR_NONE && (peer.kind == BU_ERR_NONE || self == poster))
		bu_pair_error_set(error, self, own);
	else if (peer.kind != BU_ERR_NONE)
		bu_pair_error_set(error, !self, &peer);
}

/* After a cancellation the peer is still told, but not waited for. */
static int
phase_end(struct session *s, struct bu_err *own, struct bu_err *err)
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
	for (int i = 0; i < 2; i++) {
		if (!moves(s, i))
			continue;
		phase_record(s, i, own);
		if (s->result->dir[i].error.kind == BU_ERR_CANCELLED)
			return bu_err_set(err, BU_ERR_REMOTE, 0,
					  "the peer cancelled the probe");
	}
	return 0;
}

int
bu_pair_phase(struct session *s, int direction, int64_t deadline_ns, struct bu_err *err)
{
	int64_t start_ns = bu_mono_ns();
	struct bu_err own = {.kind = BU_ERR_NONE};
	int rc;

	s->source = direction == BU_PHASE_BOTH || direction == s->opts->self;
	s->sink = direction == BU_PHASE_BOTH || direction != s->opts->self;
	s->echo = s->counted = 0;
	bu_counters_init(&s->before);
	s->transfer = bu_pair_wait(s, deadline_ns);
	s->transfer.stop = stop_transfer;
	s->talk = bu_pair_wait(s, deadline_ns + s->grace_ns);
	if (phase_measure(s, &own) == 0 || s->echo)
		own.kind = BU_ERR_NONE;
	s->talk.deadline_ns = deadline_ns + 2 * s->grace_ns;
	rc = phase_end(s, &own, err);
	for (int i = 0; i < 2; i++) {
		if (moves(s, i))
			s->result->dir[i].seconds =
				(double)(bu_mono_ns() - start_ns) / 1e9;
	}
	bu_verbs_destroy(s->verbs);
	s->verbs = NULL;
	json_decref(s->peer_end);
	s->peer_end = NULL;
	json_decref(s->early);
	s->early = NULL;
	return rc;
}
