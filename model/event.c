/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of events and their shape for people. */
#include "model/event.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"

static const char *const names[] = {
#define X(id, name, says) name,
	BU_EVENTS(X)
#undef X
};

const char *
bu_event_name(enum bu_event_kind kind)
{
	bu_assert(kind < BU_EVENT_COUNT);
	return names[kind];
}

int
bu_event_from_name(const char *name, enum bu_event_kind *ret, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(names); i++) {
		if (strcmp(names[i], name) == 0) {
			*ret = (enum bu_event_kind)i;
			return 0;
		}
	}
	return bu_err_set(err, BU_ERR_INVAL, 0, "unknown kind of event '%s'", name);
}

void
bu_event_init(struct bu_event *event, enum bu_event_kind kind, const char *node,
	      json_t *body)
{
	bu_assert(body);
	memset(event, 0, sizeof(*event));
	event->kind = kind;
	bu_text_copy(event->node, sizeof(event->node), node);
	event->body = body;
}

void
bu_event_fini(struct bu_event *event)
{
	json_decref(event->body);
	event->body = NULL;
}

static char *
text_of_soak(const json_t *body)
{
	return bu_xasprintf("soaked %lld s: %s",
			    (long long)bu_json_int(body, "ms", 0) / 1000,
			    bu_json_str(body, "verdict", "?"));
}

static char *
text_of_crash(const json_t *body)
{
	const char *kind = bu_json_str(body, "kind", "");

	return bu_xasprintf("its kernel had crashed%s%s", *kind ? ": " : "", kind);
}

static char *
text_of_incast(const json_t *body)
{
	return bu_xasprintf("%zu nodes sent to it at once: %s",
			    json_array_size(json_object_get(body, "senders")),
			    bu_json_str(body, "verdict", "?"));
}

static char *
text_of_pair(const json_t *body)
{
	return bu_xasprintf(
		"%s <-> %s: %s, %.4f and %.4f Gbit/s, expected %.4f",
		bu_json_str(body, "a", "?"), bu_json_str(body, "b", "?"),
		bu_json_str(body, "verdict", "?"), bu_json_real(body, "ab_gbps", 0),
		bu_json_real(body, "ba_gbps", 0), bu_json_real(body, "expect_gbps", 0));
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

char *
bu_event_text(const struct bu_event *event)
{
	const json_t *body = event->body;
	const char *why;

	switch (event->kind) {
	case BU_EVENT_STATE:
		why = bu_json_str(body, "reason", "");
		return bu_xasprintf("%s -> %s (%s)%s%s", bu_json_str(body, "from", "?"),
				    bu_json_str(body, "to", "?"),
				    bu_json_str(body, "on", "?"), *why ? ": " : "",
				    why);
	case BU_EVENT_STARTED:
		return bu_xasprintf("bringup runs (%s); before that it ran for %lld s",
				    bu_json_str(body, "why", "start"),
				    (long long)bu_json_int(body, "lasted_ms", 0) /
					    1000);
	case BU_EVENT_INTENT:
		return bu_xasprintf("%s, attempt %lld",
				    bu_json_str(body, "action", "?"),
				    (long long)bu_json_int(body, "attempt", 0));
	case BU_EVENT_OUTCOME:
		why = bu_json_str(body, "detail", "");
		return bu_xasprintf("%s %s%s%s", bu_json_str(body, "action", "step"),
				    bu_json_str(body, "result", "?"), *why ? ": " : "",
				    why);
	case BU_EVENT_PAIR:
		return text_of_pair(body);
	case BU_EVENT_CONDITION:
		why = bu_json_str(body, "detail", "");
		return bu_xasprintf("%s%s%s%s", bu_json_str(body, "name", "?"),
				    bu_json_bool(body, "on", 0) ? "" : " is over",
				    *why ? ": " : "", why);
	case BU_EVENT_WAITS:
		return bu_xstrdup(bu_json_bool(body, "on", 0)
					  ? "it waits; its deadline is stopped"
					  : "it no longer waits; its deadline counts");
	case BU_EVENT_HELD:
		return bu_xasprintf("held by %s: %s", bu_json_str(body, "owner", "?"),
				    bu_json_str(body, "reason", ""));
	case BU_EVENT_CHECKS:
		return bu_xasprintf("checks: %s", bu_json_str(body, "verdict", "?"));
	case BU_EVENT_VERDICT:
		return bu_xasprintf("%s says %s: %s", bu_json_str(body, "source", "?"),
				    bu_json_str(body, "verdict", "?"),
				    bu_json_str(body, "text", ""));
	case BU_EVENT_SOAK:
		return text_of_soak(body);
	case BU_EVENT_INCAST:
		return text_of_incast(body);
	case BU_EVENT_CRASH:
		return text_of_crash(body);
	case BU_EVENT_LEASE:
		return bu_xasprintf("used as partner for %s",
				    bu_json_str(body, "for", "?"));
	case BU_EVENT_CERTIFICATE:
		return bu_xasprintf("%s certificate", bu_json_str(body, "kind", "?"));
	default:
		return text_of_members(event);
	}
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
