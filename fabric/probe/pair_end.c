/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How both ends leave a phase together; called by pair_phase.c. Whoever fails, or is
 * done, says {"end": ERROR|null} once, with what only it can know (its clock, its
 * counters), and then reads until the other's. Invariant: of one phase nothing is left
 * in the connection when the next one starts.
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
		json_array_append_new(clocks, json_real(*bu_pair_clock(s, i)));
	json_object_set_new(message, "clock", clocks);
	json_object_set_new(message, "unreached", json_boolean(s->unreached));
	if (!s->verbs)
		return message;
	if (!s->counted)
		bu_verbs_counters(s->verbs, &s->after);
	bu_counters_since(&s->before, &s->after, &since);
	for (int i = 0; i < 2; i++) {
		if (bu_pair_moves(s, i))
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

	s->unreached |= json_is_true(json_object_get(s->peer_end, "unreached"));
	bu_counters_from_json(json_object_get(s->peer_end, "counters"), &counters,
			      NULL);
	for (int i = 0; i < 2; i++) {
		struct bu_pair_dir *dir = &s->result->dir[i];
		double seconds = json_number_value(json_array_get(
			json_object_get(s->peer_end, "clock"), (size_t)i));

		if (!bu_pair_moves(s, i))
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
		/* A write to a peer that died is lost too: no finding about the path.
		 */
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
