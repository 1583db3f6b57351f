/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends leave a phase together; called by pair_phase.c. An end that fails or is
 * done sends {"end": ERROR|null} once, with its clock and counters. It then reads until
 * the other's. Invariant: no message of a phase is left in the connection when the next
 * one starts.
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "fabric/probe/pair_impl.h"

enum { CANCEL_MS = 1000 };

int
bu_pair_moves(const struct session *s, int direction)
{
	return direction == s->opts->self ? s->source : s->sink;
}

double *
bu_pair_clock(struct session *s, int direction)
{
	return &s->result->dir[direction].clock_seconds[direction != s->opts->self];
}

/* Message of an end that leaves a phase. */
struct farewell {
	const json_t *end; /* the end's error, or null */
	double clock[2];   /* of each direction */
	int unreached;
	struct bu_counters counters; /* since the start of the phase */
};

static const struct bu_field clock_field[] = {
	BU_FIELD_ONE(REAL, sizeof(double), .max = 1000000)};
static const struct bu_field farewell_fields[] = {
	BU_FIELD(JSON, struct farewell, end),
	BU_FIELD_ALL(ARRAY, struct farewell, clock, clock_field),
	BU_FIELD(FLAG, struct farewell, unreached),
	BU_FIELD(RECORD, struct farewell, counters, .fields = bu_counter_fields,
		 .need = BU_SPARSE),
	BU_FIELD_END,
};

static void
set_counters(struct session *s, int end, const struct bu_counters *counters)
{
	for (int i = 0; i < 2; i++)
		if (bu_pair_moves(s, i))
			s->result->dir[i].counters[end] = *counters;
}

/* own->kind NONE: success here, or the peer has the error. */
static json_t *
make_end(struct session *s, const struct bu_err *own)
{
	bu_autojson json_t *end =
		own->kind == BU_ERR_NONE ? json_null() : bu_json_from_err(own);
	struct farewell farewell = {.end = end, .unreached = s->unreached};

	for (int i = 0; i < 2; i++)
		farewell.clock[i] = *bu_pair_clock(s, i);
	bu_counters_init(&farewell.counters);
	if (s->verbs) {
		if (!s->counted)
			bu_verbs_counters(s->verbs, &s->after);
		bu_counters_since(&s->before, &s->after, &farewell.counters);
		set_counters(s, s->opts->self, &farewell.counters);
	}
	return bu_record_to_json(farewell_fields, &farewell);
}

static int
read_end(struct session *s, struct bu_err *err)
{
	int other = !s->opts->self;
	struct farewell farewell;

	if (bu_record_from_json(farewell_fields, s->peer_end, &farewell, err))
		return bu_err_wrap(err, "peer's end of a phase");
	s->unreached |= farewell.unreached;
	for (int i = 0; i < 2; i++)
		if (bu_pair_moves(s, i))
			s->result->dir[i].clock_seconds[i != other] = farewell.clock[i];
	set_counters(s, other, &farewell.counters);
	return 0;
}

/* Sends this end's {"end":...} and reads the peer's. */
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
	return read_end(s, err);
}

/* Of two errors the posting end's counts: that end sees a lost message. */
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

/* A cancellation is told to the peer, which has CANCEL_MS to answer. */
int
bu_pair_close(struct session *s, struct bu_err *own, struct bu_err *err)
{
	int cancelled = own->kind == BU_ERR_CANCELLED;
	int rc;

	if (cancelled) {
		s->talk.stop = NULL;
		s->talk.deadline_ns = bu_raw_ns() + CANCEL_MS * INT64_C(1000000);
	}
	rc = phase_close(s, own, err);
	if (cancelled) {
		*err = *own;
		return -1;
	}
	if (rc) {
		/* A write to a dead peer is lost, too: no finding about the path. */
		if (own->kind != BU_ERR_NONE)
			bu_err_wrap(err, "%.160s", own->text);
		return -1;
	}
	for (int i = 0; i < 2; i++) {
		if (!bu_pair_moves(s, i))
			continue;
		phase_record(s, i, own);
		if (s->result->dir[i].error.kind == BU_ERR_CANCELLED)
			return bu_err_set(err, BU_ERR_REMOTE, 0,
					  "the peer cancelled the probe");
	}
	return 0;
}
