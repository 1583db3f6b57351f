/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets a probe up; called by pair.c. Everything that needs no peer is opened first:
 * device, memory, and the queue pairs of every phase. Then each end sends one message
 * with its options and what it has open. The listening end answers once its queue pairs
 * can send. Invariant: an end with nothing open says so, and both go on to record the
 * reason.
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "fabric/probe/pair_impl.h"

static int
sets_of(const struct bu_pair_opts *opts)
{
	return opts->duplex ? 1 : 2;
}

static int
roles_of(const struct bu_pair_opts *opts, int set)
{
	if (opts->duplex)
		return BU_VERBS_SOURCE | BU_VERBS_SINK;
	return set == opts->self ? BU_VERBS_SOURCE : BU_VERBS_SINK;
}

static struct bu_verbs_opts
verbs_opts(const struct session *s, int set)
{
	const struct bu_pair_opts *o = s->opts;

	return (struct bu_verbs_opts){
		.opened = &s->open.device,
		.rail = o->rail,
		.with = set ? s->open.set[0] : NULL,
		.message_bytes = o->message_bytes,
		.bytes = o->bytes,
		.runs = o->runs,
		.op = o->op,
		.lat_op = o->lat_op,
		.qps = o->qps,
		.sport = o->sport,
		.roles = roles_of(o, set),
		.window_bytes = o->window_bytes,
		.min_gbps = o->min_gbps,
		.depth = o->depth,
		.warm_bytes = o->warm_bytes,
		.gpu = o->gpu,
		.cuda = o->cuda,
		.root = o->root,
		.loopback = o->loopback,
	};
}

static int
open_sets(struct session *s, struct bu_err *err)
{
	const struct bu_pair_opts *o = s->opts;

	if (bu_device_open(&o->rail, o->root, &s->open.device, err))
		return -1;
	for (int i = 0; i < sets_of(o); i++) {
		const struct bu_verbs_opts opts = verbs_opts(s, i);

		s->open.set[i] = bu_verbs_create(&opts, err);
		if (!s->open.set[i])
			return -1;
	}
	return 0;
}

void
bu_pair_drop(struct bu_pair_kept *kept)
{
	/* the first set owns what both share */
	for (int i = 1; i >= 0; i--)
		bu_verbs_destroy(kept->set[i]);
	if (kept->device.context)
		ibv_close_device(kept->device.context);
	memset(kept, 0, sizeof(*kept));
}

/* The port alone: the fields about packets are set anew for each queue pair. */
static int
same_port(const struct bu_work_rail *a, const struct bu_work_rail *b)
{
	return strcmp(a->port, b->port) == 0 && strcmp(a->address, b->address) == 0 &&
	       a->gid_index == b->gid_index && a->gid_family == b->gid_family &&
	       a->pkey == b->pkey;
}

static int
same_needs(const struct bu_pair_opts *a, const struct bu_pair_opts *b)
{
	return same_port(&a->rail, &b->rail) && a->message_bytes == b->message_bytes &&
	       a->bytes == b->bytes && a->runs == b->runs && a->op == b->op &&
	       a->lat_op == b->lat_op && a->qps == b->qps && a->duplex == b->duplex &&
	       a->window_bytes == b->window_bytes && a->depth == b->depth &&
	       a->warm_bytes == b->warm_bytes && a->gpu == b->gpu;
}

/* Takes the set that the last probe left, where it fits this probe and still works. */
static int
renew_sets(struct session *s)
{
	const struct bu_pair_opts *o = s->opts;

	if (!o->kept || !o->kept->set[0])
		return -1;
	s->open = *o->kept;
	memset(o->kept, 0, sizeof(*o->kept));
	if (!same_needs(o, &s->open.opts))
		return -1;
	for (int i = 0; i < sets_of(o); i++) {
		const struct bu_verbs_opts opts = verbs_opts(s, i);

		if (bu_verbs_renew(s->open.set[i], &opts, NULL))
			return -1;
	}
	return 0;
}

void
bu_pair_prepare(struct session *s)
{
	const struct bu_pair_opts *o = s->opts;
	struct bu_pair_end *own = &s->result->end[o->self];

	if (renew_sets(s)) {
		bu_pair_drop(&s->open);
		if (open_sets(s, &s->open_err)) {
			bu_pair_drop(&s->open);
			return;
		}
	}
	bu_verbs_describe(s->open.set[0], own);
	/* an address of the other family is not this GID's */
	if (bu_device_takes_address(&o->rail))
		memcpy(own->address, o->rail.address, sizeof(own->address));
	bu_verbs_paths(s->open.set[o->duplex ? 0 : o->self], &s->result->dir[o->self]);
}

void
bu_pair_release(struct session *s, int keep)
{
	/* a test may remove its library and tree */
	if (!keep || !s->opts->kept || s->opts->cuda || s->opts->root ||
	    !s->open.set[0]) {
		bu_pair_drop(&s->open);
		return;
	}
	for (int i = 0; i < sets_of(s->opts); i++)
		bu_verbs_rest(s->open.set[i]);
	s->open.opts = *s->opts;
	*s->opts->kept = s->open;
}

static json_t *
make_set(const struct bu_verbs *verbs)
{
	struct bu_pair_dir paths = {.qps = 0};
	json_t *sports = json_array(), *labels = json_array();
	struct bu_verbs_peer local;

	bu_verbs_local(verbs, &local);
	bu_verbs_paths(verbs, &paths);
	for (int i = 0; i < paths.qps; i++) {
		json_array_append_new(sports, json_integer(paths.sport[i]));
		json_array_append_new(labels, json_integer(paths.flow_label[i]));
	}
	return json_pack("{s:o, s:o, s:o}", "qp", bu_verbs_peer_to_json(&local),
			 "sport", sports, "flow_label", labels);
}

static json_t *
make_offer(const struct session *s)
{
	json_t *sets = json_array();

	if (!s->open.set[0]) {
		json_decref(sets);
		return json_null();
	}
	for (int i = 0; i < sets_of(s->opts); i++)
		json_array_append_new(sets, make_set(s->open.set[i]));
	return json_pack(
		"{s:o, s:o}", "port",
		bu_record_to_json(bu_pair_end_fields, &s->result->end[s->opts->self]),
		"sets", sets);
}

static json_t *
make_hello(const struct session *s)
{
	const struct bu_pair_opts *o = s->opts;
	int64_t now_ns = bu_raw_ns();

	return json_pack(
		"{s:i, s:s, s:s, s:i, s:I, s:I, s:i, s:I, s:f, s:s, s:s, s:i, "
		"s:b, s:i, s:b, s:f, s:o*, s:o*, s:o*, s:o}",
		"v", 4, "a", o->node[BU_END_A], "b", o->node[BU_END_B], "self", o->self,
		"message_bytes", (json_int_t)o->message_bytes, "bytes",
		(json_int_t)o->bytes, "runs", o->runs, "left_ms",
		(json_int_t)((s->deadline_ns - now_ns) / 1000000), "age_seconds",
		(double)(now_ns - s->start_ns) / 1e9, "op", bu_op_names[o->op],
		"lat_op", bu_op_names[o->lat_op], "qps", o->qps, "duplex", o->duplex,
		"pings", o->pings, "gpu", o->gpu >= 0, "min_gbps", o->min_gbps, "depth",
		o->depth ? json_integer(o->depth) : NULL, "warm_bytes",
		o->warm_bytes ? json_integer((json_int_t)o->warm_bytes) : NULL, "trace",
		o->trace ? json_true() : NULL, "offer", make_offer(s));
}

/* Both ends must have the same options; the shorter deadline counts for both. */
static int
read_hello(struct session *s, const json_t *own, const json_t *peer, struct bu_err *err)
{
	static const char *const same[] = {
		"v",        "a",      "b",          "message_bytes", "bytes", "runs",
		"op",       "lat_op", "qps",        "duplex",        "pings", "gpu",
		"min_gbps", "depth",  "warm_bytes", "trace"};
	int64_t left_ms = bu_json_int(own, "left_ms", 0), peer_ms;

	if (bu_json_get_int(peer, "left_ms", &peer_ms, err))
		return -1;
	for (size_t i = 0; i < BU_LEN(same); i++) {
		const json_t *mine = json_object_get(own, same[i]);
		const json_t *its = json_object_get(peer, same[i]);

		if ((mine || its) && !json_equal(mine, its))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "the peer has another '%s'", same[i]);
	}
	if (bu_json_int(peer, "self", -1) != !s->opts->self)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "both ends say that they are %s",
				  s->opts->node[s->opts->self]);
	if (peer_ms < left_ms)
		left_ms = peer_ms;
	s->deadline_ns = bu_raw_ns() + left_ms * 1000000;
	return 0;
}

/* Source ports and flow labels of the peer's packets. */
static void
read_paths(const json_t *set, int qps, struct bu_pair_dir *ret)
{
	const json_t *sports = json_object_get(set, "sport");
	const json_t *labels = json_object_get(set, "flow_label");

	ret->qps = qps;
	for (int i = 0; i < qps; i++) {
		json_int_t sport =
			json_integer_value(json_array_get(sports, (size_t)i));
		json_int_t label =
			json_integer_value(json_array_get(labels, (size_t)i));

		ret->sport[i] = (uint16_t)sport;
		ret->flow_label[i] = (uint32_t)label & 0xfffff;
	}
}

/* Takes the peer's port, then connects the queue pairs of both ends. */
static int
connect_sets(struct session *s, const json_t *offer, struct bu_err *err)
{
	int other = !s->opts->self;
	struct bu_pair_end end;

	if (bu_record_from_json(bu_pair_end_fields, json_object_get(offer, "port"),
				&end, err))
		return bu_err_wrap(err, "peer's offer: port");
	memcpy(end.node, s->opts->node[other], sizeof(end.node));
	s->result->end[other] = end;
	for (int i = 0; i < sets_of(s->opts); i++) {
		const json_t *set =
			json_array_get(json_object_get(offer, "sets"), (size_t)i);
		struct bu_verbs_peer peer;

		if (bu_verbs_peer_from_json(json_object_get(set, "qp"), &peer, err))
			return bu_err_wrap(err, "peer's offer");
		if (s->opts->duplex || i == other)
			read_paths(set, peer.qps, &s->result->dir[other]);
		if (bu_verbs_connect(s->open.set[i], &peer, &s->result->mtu, err))
			return -1;
	}
	return 0;
}

/* Set-up time since both ends had their work item: the shorter of both ages. The peer's
 * age is the one in its hello, plus at most the time since said_ns. */
static void
note_setup(struct session *s, const json_t *peer, int64_t said_ns)
{
	int64_t now_ns = bu_raw_ns();
	double own = (double)(now_ns - s->start_ns) / 1e9;
	double others =
		bu_json_real(peer, "age_seconds", 0) + (double)(now_ns - said_ns) / 1e9;

	for (int i = 0; i < 2; i++)
		s->result->dir[i].setup_seconds = others < own ? others : own;
}

int
bu_pair_open(struct session *s, struct bu_err *err)
{
	int listens = s->opts->listens;
	bu_autojson json_t *own = listens ? NULL : make_hello(s);
	bu_autojson json_t *peer = NULL;
	int64_t said_ns = bu_raw_ns();
	int rc;

	s->talk = bu_pair_wait(s, s->deadline_ns);
	if (own && bu_channel_send(s->channel, own, &s->talk, err))
		return -1;
	peer = bu_channel_receive(s->channel, &s->talk, err);
	if (!peer)
		return -1;
	if (listens)
		own = make_hello(s);
	rc = read_hello(s, own, peer, err);
	s->peer_opened = json_is_object(json_object_get(peer, "offer"));
	if (rc == 0 && s->peer_opened && s->open.set[0] &&
	    connect_sets(s, json_object_get(peer, "offer"), &s->open_err) == 0)
		note_setup(s, peer, said_ns);
	if (listens && bu_channel_send(s->channel, own, &s->talk, rc ? NULL : err))
		return -1;
	return rc;
}
