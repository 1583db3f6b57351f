/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel messages of a node's crash, which its agent tells at a later boot. They are
 * evidence in the log, and `node why` shows them. Called by the API. Invariants: a
 * crash is in the log once, however often it is told; a boot tells one at most; the
 * machine's text decides nothing and is made printable.
 */
#include <ctype.h>
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

/* SHOWN_DAYS: an older crash has little to do with the node's present state. */
enum { SHOWN_LINES = 20, SHOWN_DAYS = 30, AHEAD_MS = 24 * 3600 * 1000 };

static json_t *
plain_line(const char *line)
{
	struct bu_terminal_text state = {0};
	bu_autofree char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_terminal_plain(&state, line, strnlen(line, BU_CRASH_LINE), out);
	fclose(out);
	text[strcspn(text, "\n")] = '\0';
	return json_string(text);
}

/* The last BU_CRASH_LINES lines; new reference. */
static json_t *
plain_lines(const json_t *lines)
{
	size_t count = json_array_size(lines);
	json_t *plain = json_array();

	for (size_t i = count > BU_CRASH_LINES ? count - BU_CRASH_LINES : 0; i < count;
	     i++) {
		const char *line = json_string_value(json_array_get(lines, i));

		if (line)
			json_array_append_new(plain, plain_line(line));
	}
	return plain;
}

/* 0 = unknown: the machine's clock was wrong. */
static int64_t
plain_time(const struct bu_reconcile *rec, int64_t at_ms)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));

	return at_ms > 0 && at_ms <= now_ms + AHEAD_MS ? at_ms : 0;
}

static const char *
plain_kind(const char *kind)
{
	for (const char *at = kind; *at; at++)
		if (!isalpha((unsigned char)*at))
			return "";
	return kind;
}

/* All boots that tell a crash give the same text. Owned; NULL = no lines. */
static char *
text_of(const struct bu_node *node, const struct bu_crash_said *said)
{
	bu_autojson json_t *lines = plain_lines(said->lines);
	bu_autojson json_t *body = NULL;

	if (json_array_size(lines) == 0)
		return NULL;
	body = json_pack("{s:i,s:s,s:O}", "v", 1, "machine", node->machine, "lines",
			 lines);
	return bu_json_canonical(body);
}

void
bu_reconcile_crashed(struct bu_reconcile *rec, struct bu_node *node,
		     const char *boot_id, const json_t *crash)
{
	struct bu_crash_said said;
	bu_autofree char *text = NULL;
	char digest[BU_DIGEST_SIZE];
	struct bu_event event;
	struct bu_err err = {0};

	if (!crash || strcmp(node->crash->boot_id, boot_id) == 0)
		return;
	if (bu_record_from_json(bu_crash_said_fields, crash, &said, &err) != 0) {
		bu_warn("agents", "crash of %s: %s", node->name, err.text);
		return;
	}
	text = text_of(node, &said);
	if (!text)
		return;
	bu_sha256_hex(text, strlen(text), digest);
	if (strcmp(digest, node->crash->digest) == 0)
		return;
	if (bu_store_put_blob(rec->fleet->store, text, digest, &err) != 0) {
		bu_error("agents", "crash of %s: %s", node->name, err.text);
		return;
	}
	BU_EVENT_MAKE(&event, BU_EVENT_CRASH, node->name, crash, .digest = digest,
		      .kind = plain_kind(said.kind),
		      .at_ms = plain_time(rec, said.at_ms), .boot_id = boot_id);
	bu_reconcile_append(rec, node, &event, 1);
}

void
bu_reconcile_crash(const struct bu_reconcile *rec, const struct bu_node *node,
		   json_t *ret)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(rec->fleet->loop));
	bu_autofree char *kept = NULL;
	bu_autojson json_t *body = NULL;
	const json_t *lines;
	char at[24] = "";
	size_t count;

	if (!node->crash->digest[0] ||
	    now_ms - node->crash->seen_ms > SHOWN_DAYS * INT64_C(24) * 3600 * 1000)
		return;
	kept = bu_store_get_blob(rec->fleet->store, node->crash->digest, NULL);
	body = kept ? bu_json_parse(kept, strlen(kept), "crash", NULL) : NULL;
	if (strcmp(bu_json_str(body, "machine", ""), node->machine) != 0)
		return;
	lines = json_object_get(body, "lines");
	count = json_array_size(lines);
	if (node->crash->at_ms > 0)
		bu_time_iso(node->crash->at_ms, at);
	json_array_append_new(ret, BU_SAID(CRASHED, BU_ARG("kind", node->crash->kind),
					   BU_ARG("at", at)));
	for (size_t i = count > SHOWN_LINES ? count - SHOWN_LINES : 0; i < count; i++)
		json_array_append_new(
			ret,
			BU_SAID(RAW, BU_ARG("words", json_string_value(json_array_get(
							     lines, i)))));
}
