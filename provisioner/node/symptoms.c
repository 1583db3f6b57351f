/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's last messages before its node failed. The end of its console is
 * evidence in the commit that fails or holds the node; the BMC's event log since the
 * last try began is added later. `node why` shows both. Called by ladder.c,
 * bmc_reports.c, the API for users of this machine (a console may show a password) and
 * the gate for its own evidence. Invariant: a machine's text decides nothing.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/terminal.h"
#include "base/text.h"
#include "model/sentence.h"
#include "provisioner/node/reconcile_impl.h"

enum { WHY_LINES = 10 };

static json_t *
lines_of(const struct bu_console_part *part)
{
	struct bu_terminal_text state = {0};
	json_t *lines = json_array();
	char *text = NULL, *rest, *line;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_terminal_plain(&state, part->bytes, part->size, out);
	fclose(out);
	for (line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(lines, json_string(line));
	while (json_array_size(lines) > BU_SYMPTOM_LINES)
		json_array_remove(lines, 0);
	free(text);
	return lines;
}

json_t *
bu_reconcile_console(const struct bu_reconcile *rec, const struct bu_node *node)
{
	struct bu_console_part part;
	json_t *lines;

	if (!rec->console_dir || bu_console_tail(rec->console_dir, node->name,
						 BU_SYMPTOM_LINES, &part, NULL) != 0)
		return json_null();
	lines = lines_of(&part);
	free(part.bytes);
	return lines;
}

size_t
bu_symptoms_event(struct bu_reconcile *rec, const struct bu_node *node,
		  struct bu_event *ret)
{
	bu_autojson json_t *console = bu_reconcile_console(rec, node);
	bu_autojson json_t *evidence = NULL;
	bu_autofree char *text = NULL;
	char digest[BU_DIGEST_SIZE];
	struct bu_err err;

	if (json_array_size(console) == 0 &&
	    !bu_bmc_is(bu_fleet_desired(rec->fleet, node)))
		return 0;
	evidence = json_pack("{s:i,s:s,s:s,s:s,s:s,s:I,s:O}", "v", 1, "node",
			     node->name, "machine", node->machine, "boot_id",
			     node->boot_id, "step", node->step.id, "since_ms",
			     (json_int_t)node->since_ms, "console", console);
	text = bu_json_canonical(evidence);
	if (bu_store_put_blob(rec->fleet->store, text, digest, &err) != 0) {
		bu_error("node", "evidence of %s: %s", node->name, err.text);
		return 0;
	}
	BU_EVENT_MAKE(ret, BU_EVENT_EVIDENCE, node->name, evidence, .digest = digest);
	return 1;
}

/* --- kept evidence --- */

int
bu_symptoms_are_now(const struct bu_node *node)
{
	return node->evidence_is_now && node->evidence[0] &&
	       (node->state == BU_STATE_FAILED || node->hold->owner);
}

json_t *
bu_symptoms_read(const struct bu_reconcile *rec, const struct bu_node *node)
{
	bu_autofree char *kept =
		bu_store_get_blob(rec->fleet->store, node->evidence, NULL);

	return kept ? bu_json_parse(kept, strlen(kept), "evidence", NULL) : NULL;
}

/* --- as lines --- */

/* At most 200 bytes of it. */
static char *
cut(const char *text)
{
	return bu_xasprintf("%.200s", text);
}

static void
say_console(const struct bu_node *node, const json_t *lines, json_t *ret)
{
	size_t count = json_array_size(lines);

	if (count == 0)
		return;
	json_array_append_new(ret, BU_SAID(CONSOLE_END, BU_ARG("node", node->name)));
	for (size_t i = count > WHY_LINES ? count - WHY_LINES : 0; i < count; i++) {
		const char *line = json_string_value(json_array_get(lines, i));
		bu_autofree char *words = cut(line ? line : "");

		json_array_append_new(ret, BU_SAID(RAW, BU_ARG("words", words)));
	}
}

static void
say_event(const json_t *event, json_t *ret)
{
	int64_t at_ms = bu_json_int(event, "at_ms", 0);
	bu_autofree char *words = cut(bu_json_str(event, "text", ""));
	char at[24] = "";

	if (at_ms > 0)
		bu_time_iso(at_ms, at);
	json_array_append_new(
		ret, BU_SAID(BMC_ROW, BU_ARG("at", at), BU_ARG_NUMBER("undated", !*at),
			     BU_ARG("severity", bu_json_str(event, "severity", "")),
			     BU_ARG("words", words)));
}

static void
say_rows(const json_t *events, size_t from, size_t end, json_t *ret)
{
	for (size_t i = from; i < end; i++)
		say_event(json_array_get(events, i), ret);
}

/* Events without a time come first, and may be from long before. */
static void
say_events(const struct bu_node *node, const json_t *events, json_t *ret)
{
	size_t count = json_array_size(events), undated = 0;
	size_t first = count > WHY_LINES ? count - WHY_LINES : 0;

	while (undated < count &&
	       bu_json_int(json_array_get(events, undated), "at_ms", 0) <= 0)
		undated++;
	if (count > undated)
		json_array_append_new(ret,
				      BU_SAID(BMC_LOGGED, BU_ARG("node", node->name)));
	say_rows(events, first > undated ? first : undated, count, ret);
	if (undated > first)
		json_array_append_new(ret,
				      BU_SAID(BMC_UNDATED, BU_ARG("node", node->name)));
	say_rows(events, first, undated, ret);
}

static void
say_bmc(const struct bu_node *node, const json_t *bmc, json_t *ret)
{
	const json_t *events = json_object_get(bmc, "events");

	if (!bmc)
		return;
	if (!events)
		json_array_append_new(
			ret, BU_SAID(BMC_UNKNOWN,
				     BU_ARG("error", bu_json_str(bmc, "error", "?"))));
	else if (json_array_size(events) == 0)
		json_array_append_new(ret, BU_SAID_ALONE(BMC_QUIET));
	else
		say_events(node, events, ret);
	if (bu_json_bool(bmc, "full", 0))
		json_array_append_new(ret, BU_SAID_ALONE(BMC_FULL));
}

void
bu_reconcile_symptoms(const struct bu_reconcile *rec, const struct bu_node *node,
		      json_t *lines)
{
	bu_autojson json_t *evidence =
		bu_symptoms_are_now(node) ? bu_symptoms_read(rec, node) : NULL;

	say_console(node, json_object_get(evidence, "console"), lines);
	say_bmc(node, json_object_get(evidence, "bmc"), lines);
}
