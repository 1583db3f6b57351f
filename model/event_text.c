/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events as people and their tools see them. Called by the API, the evidence and the
 * log of bringupd. Invariant: what a row says is read by the table that wrote it.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/event_body.h"
#include "model/sentence.h"

static char *
text_of_pair(const struct bu_body_pair *pair)
{
	return bu_xasprintf("%s <-> %s: %s, %.4f and %.4f Gbit/s, expected %.4f",
			    pair->a, pair->b, bu_verdict_names[pair->verdict],
			    pair->ab_gbps, pair->ba_gbps, pair->expect_gbps);
}

static char *
text_of_state(const struct bu_body_state *state)
{
	bu_autofree char *why = bu_reason_text(&state->reason);

	return bu_xasprintf("%s -> %s (%s)%s%s", state->from, state->to, state->on,
			    *why ? ": " : "", why);
}

static char *
text_of_condition(const struct bu_body_condition *condition)
{
	bu_autofree char *detail = bu_said_text(condition->detail);

	return bu_xasprintf("%s%s%s%s", condition->name,
			    condition->on ? "" : " is over", *detail ? ": " : "",
			    detail);
}

static char *
text_of_hold(const struct bu_body_held *held)
{
	bu_autofree char *why = bu_reason_text(&held->reason);

	return bu_xasprintf("held by %s: %s", held->owner, why);
}

static char *
text_of_soak(const struct bu_body_soak *soak)
{
	long long ms = soak->ms == BU_UNSAID_INT ? 0 : soak->ms;

	return bu_xasprintf("soaked %lld s: %s", ms / 1000,
			    bu_verdict_names[soak->verdict]);
}

/* "booted: boot_id 1c766a5e-4b96, where ramdisk"; long digests are cut. */
static char *
text_of_members(const struct bu_event *event)
{
	char *text = bu_xstrdup(bu_event_name(event->kind));
	const char *key, *before = ": ";
	json_t *value;

	json_object_foreach (event->body, key, value) {
		bu_autofree char *old = NULL;
		char brief[17];

		if (json_is_string(value) && *json_string_value(value)) {
			old = text;
			bu_text_copy(brief, sizeof(brief), json_string_value(value));
			text = bu_xasprintf("%s%s%s %s", old, before, key, brief);
		} else if (json_is_integer(value)) {
			old = text;
			text = bu_xasprintf("%s%s%s %lld", old, before, key,
					    (long long)json_integer_value(value));
		} else {
			continue;
		}
		before = ", ";
	}
	return text;
}

const char *
bu_event_word(const struct bu_event *event, const char *field)
{
	return bu_json_str(event->body, field, "");
}

static char *
text_of_body(const struct bu_event *event, const union bu_body *is)
{
	switch (event->kind) {
	case BU_EVENT_STATE:
		return text_of_state(&is->state);
	case BU_EVENT_STARTED:
		return bu_xasprintf("bringup runs (%s); before that it ran for %lld s",
				    *is->started.why ? is->started.why : "start",
				    (long long)is->started.lasted_ms / 1000);
	case BU_EVENT_INTENT:
		return bu_xasprintf("%s, attempt %lld", is->intent.action,
				    (long long)is->intent.attempt);
	case BU_EVENT_OUTCOME:
		return bu_xasprintf(
			"%s %s%s%s", *is->outcome.action ? is->outcome.action : "step",
			bu_outcome_names[is->outcome.result],
			*is->outcome.detail ? ": " : "", is->outcome.detail);
	case BU_EVENT_PAIR:
		return text_of_pair(&is->pair);
	case BU_EVENT_CONDITION:
		return text_of_condition(&is->condition);
	case BU_EVENT_WAITS:
		return bu_xstrdup(is->waits.on
					  ? "it waits; its deadline is stopped"
					  : "it no longer waits; its deadline counts");
	case BU_EVENT_OFF:
		return bu_xasprintf("its machine was seen off (%s)", is->off.asked);
	case BU_EVENT_HELD:
		return text_of_hold(&is->held);
	case BU_EVENT_CHECKS:
		return bu_xasprintf("checks: %s", bu_verdict_names[is->checks.verdict]);
	case BU_EVENT_VERDICT:
		return bu_xasprintf("%s says %s: %s", is->verdict.source,
				    bu_verdict_names[is->verdict.verdict],
				    is->verdict.text);
	case BU_EVENT_SOAK:
		return text_of_soak(&is->soak);
	case BU_EVENT_INCAST:
		return bu_xasprintf("%zu nodes sent to it at once: %s",
				    json_array_size(is->incast.senders),
				    bu_verdict_names[is->incast.verdict]);
	case BU_EVENT_NVLINK:
		return bu_xasprintf("NVLink between it and %s: %s", is->nvlink.peer,
				    bu_verdict_names[is->nvlink.verdict]);
	case BU_EVENT_CRASH:
		return bu_xasprintf("its kernel had crashed%s%s",
				    *is->crash.kind ? ": " : "", is->crash.kind);
	case BU_EVENT_LEASE:
		return bu_xasprintf("used as partner for %s", is->lease.to);
	case BU_EVENT_CERTIFICATE:
		return bu_xasprintf("%s certificate",
				    bu_certificate_kinds[is->certificate.kind]);
	default:
		return text_of_members(event);
	}
}

char *
bu_event_text(const struct bu_event *event)
{
	struct bu_err err;
	union bu_body body;

	if (bu_event_read(event, &body, &err) != 0)
		return bu_xasprintf("event %lld (%s) cannot be read: %s",
				    (long long)event->seq, bu_event_name(event->kind),
				    err.text);
	return text_of_body(event, &body);
}

json_t *
bu_event_to_json(const struct bu_event *event)
{
	bu_autofree char *text = bu_event_text(event);

	return json_pack("{s:I,s:I,s:s,s:s,s:s,s:O}", "seq", (json_int_t)event->seq,
			 "time_ms", (json_int_t)event->time_ms, "kind",
			 bu_event_name(event->kind), "node", event->node, "text", text,
			 "body", event->body);
}
