/* SPDX-License-Identifier: Apache-2.0 */
/* Words for one node, from its JSON alone. */
#include "cli/node_text.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "cli/output.h"

enum { BAR_WIDTH = 20 };

int
bu_node_percent(const json_t *node)
{
	const json_t *progress = json_object_get(node, "progress");
	int64_t total = bu_json_int(progress, "total_bytes", 0);
	int64_t done = bu_json_int(progress, "done_bytes", 0);

	if (total <= 0 || done < 0)
		return -1;
	return done >= total ? 100 : (int)(100.0 * (double)done / (double)total);
}

char *
bu_node_progress(const json_t *node)
{
	int percent = bu_node_percent(node);

	if (percent < 0)
		return bu_xstrdup("");
	return bu_xasprintf("%s %d %%",
			    bu_json_str(json_object_get(node, "progress"), "stage", ""),
			    percent);
}

int
bu_node_is_held(const json_t *node)
{
	return json_is_object(json_object_get(node, "held"));
}

char *
bu_node_state(const json_t *node)
{
	char *text = bu_xstrdup(bu_json_str(node, "state", "?"));
	json_t *condition;
	size_t i;

	json_array_foreach (json_object_get(node, "conditions"), i, condition) {
		bu_autofree char *old = text;

		text = bu_xasprintf("%s, %s", old, bu_json_str(condition, "name", "?"));
	}
	return text;
}

/* What its conditions say; owned, "" = none is on. */
static char *
conditions_text(const json_t *node)
{
	char *text = bu_xstrdup("");
	json_t *condition;
	size_t i;

	json_array_foreach (json_object_get(node, "conditions"), i, condition) {
		bu_autofree char *old = text;

		text = bu_xasprintf("%s%s%s", old, *old ? "; " : "",
				    bu_json_str(condition, "text", "?"));
	}
	return text;
}

char *
bu_node_note(const json_t *node)
{
	const json_t *held = json_object_get(node, "held");
	const char *waiting = bu_json_str(node, "waiting", "");
	const char *reason = bu_json_str(node, "reason", "");
	bu_autofree char *text = NULL, *conditions = conditions_text(node);

	if (json_is_object(held))
		text = bu_xasprintf("held by %s: %s", bu_json_str(held, "by", "?"),
				    bu_json_str(held, "reason", ""));
	else if (*waiting)
		text = bu_xasprintf("waits: %s", waiting);
	else
		text = bu_xasprintf("%s%s%s", conditions,
				    *conditions && *reason ? "; " : "", reason);
	return bu_out_clean(text, 0);
}

/* Cuts UTF-8 at a character; each counts as one column. */
static void
cut(char *text, int width)
{
	int columns = 0;
	char *p = text;

	for (; *p; p++)
		if (((unsigned char)*p & 0xc0) != 0x80 && ++columns > width)
			break;
	*p = '\0';
}

static char *
bar(const json_t *node)
{
	int percent = bu_node_percent(node), full;
	char *text;

	if (percent < 0)
		return bu_xstrdup("");
	full = BAR_WIDTH * percent / 100;
	text = bu_xasprintf("[%*s] %3d %%", BAR_WIDTH, "", percent);
	memset(text + 1, '.', BAR_WIDTH);
	memset(text + 1, '#', (size_t)full);
	return text;
}

char *
bu_node_line(const json_t *node, int64_t now_ms, int name_width, int width)
{
	bu_autofree char *took =
		bu_out_duration(now_ms - bu_json_int(node, "since_ms", now_ms));
	bu_autofree char *progress = bar(node);
	bu_autofree char *note = bu_node_note(node);
	bu_autofree char *state = bu_node_state(node);
	bu_autofree char *raw = bu_xasprintf(
		"%-*s  %-11s %8s  %s%s%s", name_width, bu_json_str(node, "name", "?"),
		state, took, progress, *progress ? "  " : "", note);
	char *line = bu_out_clean(raw, 0);
	size_t size;

	cut(line, width);
	size = strlen(line);
	while (size > 0 && line[size - 1] == ' ')
		line[--size] = '\0';
	return line;
}
