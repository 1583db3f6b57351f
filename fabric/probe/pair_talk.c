/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages between the ends of a running probe; called by pair_phase.c and pair_end.c.
 * Invariants: a failed control connection never counts as a fault of the path. A
 * message that comes early is kept for the step that needs it.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "fabric/probe/pair_impl.h"

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

/* Reads a message that comes during a transfer. Early steps are fine: "begin" during
 * the first word, "sent" with both directions at work, "pinged" before the last
 * acknowledgement came. */
static int
heard_early(struct session *s)
{
	const char *step;

	if (s->early || s->peer_end)
		return 0;
	s->early = bu_channel_receive(s->channel, &s->talk, NULL);
	s->early_ns = bu_raw_ns();
	if (s->early && json_object_get(s->early, "end"))
		s->peer_end = bu_steal(&s->early);
	step = bu_json_str(s->early, "step", "");
	return strcmp(step, "begin") == 0 || strcmp(step, "sent") == 0 ||
	       strcmp(step, "pinged") == 0;
}

int
bu_pair_interrupted(void *arg, struct bu_err *err)
{
	struct session *s = arg;

	if (bu_channel_has_input(s->channel) && !heard_early(s)) {
		s->echo = 1;
		return bu_err_set(err, BU_ERR_BUSY, 0, "the peer gave up this run");
	}
	return stop_cancelled(arg, err);
}

/* A failed control connection tells nothing about the fabric: its error kind must not
 * be one that the judge takes as a fault of the path. */
static int
talk_failed(struct bu_err *err)
{
	if (err->kind != BU_ERR_CANCELLED)
		err->kind = BU_ERR_BUSY;
	return -1;
}

int
bu_pair_say(struct session *s, const char *step, json_t *message, struct bu_err *err)
{
	bu_autojson json_t *owned = message ? message : json_object();

	json_object_set_new(owned, "step", json_string(step));
	if (bu_channel_send(s->channel, owned, &s->talk, err))
		return talk_failed(err);
	return 0;
}

json_t *
bu_pair_hear(struct session *s, const char *step, struct bu_err *err)
{
	bu_autojson json_t *message = NULL;

	if (s->early) {
		message = bu_steal(&s->early);
		s->heard_ns = s->early_ns;
	} else {
		message = bu_channel_receive(s->channel, &s->talk, err);
		s->heard_ns = bu_raw_ns();
	}
	if (!message) {
		talk_failed(err);
		return NULL;
	}
	if (json_object_get(message, "end")) {
		s->peer_end = bu_steal(&message);
		s->echo = 1;
		bu_err_set(err, BU_ERR_BUSY, 0, "the peer gave up this direction");
		return NULL;
	}
	if (strcmp(bu_json_str(message, "step", ""), step) != 0) {
		bu_err_set(err, BU_ERR_INVAL, 0, "the peer is not at step '%s'", step);
		return NULL;
	}
	return bu_steal(&message);
}

int
bu_pair_expect(struct session *s, const char *step, struct bu_err *err)
{
	bu_autojson json_t *message = bu_pair_hear(s, step, err);

	return message ? 0 : -1;
}

int
bu_pair_figure(const json_t *message, const char *key, double *ret, struct bu_err *err)
{
	*ret = bu_json_real(message, key, NAN);
	if (!isfinite(*ret) || *ret < 0)
		return bu_err_set(err, BU_ERR_INVAL, 0, "peer's '%s' is not a number",
				  key);
	return 0;
}
