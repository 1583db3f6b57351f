/* SPDX-License-Identifier: Apache-2.0 */
/* Words for one node, from its JSON alone. */
#include "cli/render/node_text.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/render/output.h"
#include "model/state.h"

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

const char *
bu_node_away(const json_t *node)
{
	json_t *condition;
	size_t i;

	json_array_foreach (json_object_get(node, "conditions"), i, condition)
		if (bu_json_bool(condition, "away", 0))
			return bu_json_str(condition, "name", "?");
	return NULL;
}

int
bu_node_is_ready(const json_t *node)
{
	return strcmp(bu_json_str(node, "state", ""), bu_state_name(BU_STATE_READY)) ==
		       0 &&
	       !bu_node_away(node);
}

static int
ended_badly(const json_t *node)
{
	const char *state = bu_json_str(node, "state", "");

	return strcmp(state, bu_state_name(BU_STATE_FAILED)) == 0 ||
	       strcmp(state, bu_state_name(BU_STATE_QUARANTINED)) == 0;
}

/* A node that stays in service after a failed change; who failed with it says so by the
 * reason of its state. */
static void
add_failure(const json_t *node, char **text)
{
	const json_t *order = json_object_get(node, "order");

	if (strcmp(bu_json_str(order, "status", ""), "failed") == 0 &&
	    !ended_badly(node))
		bu_text_add(text, "; ", "its last order (%s) failed: %s",
			    bu_json_str(order, "class", "?"),
			    bu_json_str(order, "reason", ""));
}

/* What keeps it in its state: all that is so now. */
static void
add_waits(const json_t *node, char **text)
{
	static const char *const of[][2] = {{"waiting", "waits"},
					    {"trouble", "not measured"},
					    {"cluster_words", "its cluster says"}};
	const json_t *step = json_object_get(node, "step");
	const char *error = bu_json_str(step, "error", "");

	for (size_t i = 0; i < BU_LEN(of); i++) {
		const char *words = bu_json_str(node, of[i][0], "");

		if (*words)
			bu_text_add(text, "; ", "%s: %s", of[i][1], words);
	}
	if (*error)
		bu_text_add(text, "; ", "%s failed: %s; trying again",
			    bu_json_str(step, "action", "?"), error);
}

static void
add_conditions(const json_t *node, char **text)
{
	json_t *condition;
	size_t i;

	json_array_foreach (json_object_get(node, "conditions"), i, condition)
		bu_text_add(text, "; ", "%s", bu_json_str(condition, "text", "?"));
}

char *
bu_node_wait(const json_t *node)
{
	const json_t *held = json_object_get(node, "held");
	bu_autofree char *text = bu_xstrdup("");

	if (bu_node_is_held(node))
		bu_text_add(&text, "; ", "held by %s: %s", bu_json_str(held, "by", "?"),
			    bu_json_str(held, "reason", ""));
	else
		add_waits(node, &text);
	add_conditions(node, &text);
	add_failure(node, &text);
	return bu_out_clean(text, 0);
}

char *
bu_node_note(const json_t *node)
{
	const json_t *order = json_object_get(node, "order");
	const char *why = bu_json_str(order, "reason", "");
	bu_autofree char *text = bu_node_wait(node), *waits = bu_xstrdup("");

	/* Why it came here is less than what keeps it here. */
	add_waits(node, &waits);
	if (!*waits && !bu_node_is_held(node) && *bu_json_str(node, "reason", ""))
		bu_text_add(&text, "; ", "%s", bu_json_str(node, "reason", ""));
	if (strcmp(bu_json_str(order, "status", ""), "turn") == 0)
		bu_text_add(&text, "; ", "waits for its turn (%s)%s%s",
			    bu_json_str(order, "class", "?"), *why ? ": " : "", why);
	return bu_out_clean(text, 0);
}

int
bu_node_needs_a_look(const json_t *node)
{
	bu_autofree char *wait = bu_node_wait(node);

	return *wait || ended_badly(node);
}
