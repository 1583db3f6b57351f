/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of events. */
#include "model/event.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
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
	free(bu_steal(&event->blob.text));
}

void
bu_event_attach(struct bu_event *event, const char *key, char *text)
{
	bu_assert(!event->blob.text);
	bu_sha256_hex(text, strlen(text), event->blob.digest);
	event->blob.text = text;
	json_object_set_new(event->body, key, json_string(event->blob.digest));
}
