/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the log in the journal of the system, each with its fields, as they come into
 * the log; without a journal only what becomes of nodes, on standard error. Called by
 * replay.c. Invariant: the journal is a copy for people and their tools; nothing is
 * read from it.
 */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include "base/log.h"
#include "model/state.h"
#include "provisioner/node/replay_impl.h"

/* Of all rows: journalctl MESSAGE_ID=... */
#define ROW_ID "2f5d6ad0e2a94bcb8a4d3b36c6d5b9f1"

enum { FIELDS_MAX = 10 };

struct entry {
	struct iovec fields[FIELDS_MAX];
	int count;
};

/* Nothing for an empty value: what is asked for by a field has it. */
static void
add(struct entry *entry, const char *name, const char *value)
{
	char *text;

	if (!value || !*value)
		return;
	bu_assert(entry->count < FIELDS_MAX);
	text = bu_xasprintf("%s=%s", name, value);
	entry->fields[entry->count++] = (struct iovec){text, strlen(text)};
}

static int
send_entry(struct entry *entry)
{
	int rc = sd_journal_sendv(entry->fields, entry->count);

	for (int i = 0; i < entry->count; i++)
		free(entry->fields[i].iov_base);
	return rc;
}

static int
is_state(const char *name, enum bu_state state)
{
	return strcmp(name, bu_state_name(state)) == 0;
}

/* A row that a person may have to look at is a warning. */
static enum bu_log_level
level_of(const struct bu_event *event, const char *by)
{
	const char *to = bu_event_word(event, "to");
	union bu_body body;
	int bad = event->kind == BU_EVENT_HELD;

	if (event->kind == BU_EVENT_BRAKE || event->kind == BU_EVENT_CONDITION)
		bad = bu_event_read(event, &body, NULL) == 0 &&
		      (event->kind == BU_EVENT_BRAKE ? body.brake.on
						     : body.condition.on);
	if (event->kind == BU_EVENT_STATE)
		bad = is_state(to, BU_STATE_FAILED) ||
		      is_state(to, BU_STATE_QUARANTINED);
	if (bad)
		return BU_LOG_WARN;
	return *by || event->kind == BU_EVENT_STATE ? BU_LOG_INFO : BU_LOG_DEBUG;
}

/* "gpu001: held: held by ann: DIMM A3" */
static char *
message_of(const struct bu_event *event)
{
	bu_autofree char *text = bu_event_text(event);

	return bu_xasprintf("%s: %s: %s", event->node[0] ? event->node : "site",
			    bu_event_name(event->kind), text);
}

static int
to_journal(const struct bu_event *event)
{
	const char *by =
		bu_event_word(event, event->kind == BU_EVENT_HELD ? "owner" : "by");
	bu_autofree char *message = message_of(event);
	char seq[24], priority[4];
	struct entry entry = {.count = 0};

	snprintf(seq, sizeof(seq), "%lld", (long long)event->seq);
	snprintf(priority, sizeof(priority), "%d", (int)level_of(event, by));
	add(&entry, "MESSAGE_ID", ROW_ID);
	add(&entry, "MESSAGE", message);
	add(&entry, "PRIORITY", priority);
	add(&entry, "SYSLOG_IDENTIFIER", "bringupd");
	add(&entry, "BRINGUP_EVENT", bu_event_name(event->kind));
	add(&entry, "BRINGUP_SEQ", seq);
	add(&entry, "BRINGUP_NODE", event->node);
	add(&entry, "BRINGUP_BY", by);
	add(&entry, "BRINGUP_STEP", bu_event_word(event, "step"));
	add(&entry, "BRINGUP_REASON", bu_event_word(event, "code"));
	return send_entry(&entry);
}

void
bu_journald_row(const struct bu_event *event)
{
	bu_autofree char *text = NULL;

	if (event->kind == BU_EVENT_DELIVERED)
		return;
	if (getenv("JOURNAL_STREAM") && to_journal(event) == 0)
		return;
	if (event->kind != BU_EVENT_STATE)
		return;
	text = bu_event_text(event);
	bu_info("node", "%s: %s", event->node, text);
}
