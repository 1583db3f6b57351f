/* SPDX-License-Identifier: Apache-2.0 */
/* Words for one node, from what bringupd shows of it alone. */
#include "cli/render/node_text.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/render/output.h"
#include "model/condition.h"
#include "model/sentence.h"
#include "model/state.h"

int
bu_node_percent(const struct bu_shown_node *node)
{
	int64_t total = node->progress.total_bytes, done = node->progress.done_bytes;

	if (total <= 0)
		return -1;
	return done >= total ? 100 : (int)(100.0 * (double)done / (double)total);
}

char *
bu_node_progress(const struct bu_shown_node *node)
{
	int percent = bu_node_percent(node);

	if (percent < 0)
		return bu_xstrdup("");
	return bu_xasprintf("%s %d %%", node->progress.stage, percent);
}

int
bu_node_is_held(const struct bu_shown_node *node)
{
	return node->held.by != NULL;
}

char *
bu_node_state(const struct bu_shown_node *node)
{
	char *text = bu_xstrdup(node->state);

	for (size_t i = 0; i < node->conditions_count; i++)
		bu_text_add(&text, ", ", "%s", node->conditions[i].name);
	return text;
}

const char *
bu_node_away(const struct bu_shown_node *node)
{
	for (size_t i = 0; i < node->conditions_count; i++)
		if (node->conditions[i].away)
			return node->conditions[i].name;
	return NULL;
}

static int
is_in(const struct bu_shown_node *node, enum bu_state state)
{
	return strcmp(node->state, bu_state_name(state)) == 0;
}

int
bu_node_is_ready(const struct bu_shown_node *node)
{
	return is_in(node, BU_STATE_READY) && !bu_node_away(node);
}

static int
ended_badly(const struct bu_shown_node *node)
{
	return is_in(node, BU_STATE_FAILED) || is_in(node, BU_STATE_QUARANTINED);
}

/* A node that stays in service after a failed change; who failed with it says so by the
 * reason of its state. */
static void
add_failure(const struct bu_shown_node *node, char **text)
{
	bu_autofree char *why = bu_said_text(node->order.reason);

	if (strcmp(node->order.status, "failed") == 0 && !ended_badly(node))
		bu_text_add(text, "; ", "its last order (%s) failed: %s",
			    node->order.class, why);
}

/* What keeps it in its state: all that is so now. */
static void
add_waits(const struct bu_shown_node *node, char **text)
{
	bu_autofree char *says = bu_said_text(node->says);
	int waits = strcmp(bu_json_str(node->says, "kind", ""),
			   bu_reason_kind_name(BU_REASON_KIND_WAIT)) == 0;

	if (*says)
		bu_text_add(text, "; ", "%s: %s", waits ? "waits" : "not measured",
			    says);
	if (*node->cluster_words)
		bu_text_add(text, "; ", "its cluster says: %s", node->cluster_words);
	if (*node->step.error)
		bu_text_add(text, "; ", "%s failed: %s; trying again",
			    node->step.action, node->step.error);
}

char *
bu_node_wait(const struct bu_shown_node *node)
{
	bu_autofree char *text = bu_xstrdup("");
	bu_autofree char *held = bu_said_text(node->held.reason);

	if (bu_node_is_held(node))
		bu_text_add(&text, "; ", "held by %s: %s", node->held.by, held);
	else
		add_waits(node, &text);
	for (size_t i = 0; i < node->conditions_count; i++) {
		bu_autofree char *words = bu_said_condition(node->conditions[i].name,
							    node->conditions[i].detail);

		bu_text_add(&text, "; ", "%s", words);
	}
	add_failure(node, &text);
	return bu_out_clean(text, 0);
}

char *
bu_node_note(const struct bu_shown_node *node)
{
	bu_autofree char *why = bu_said_text(node->order.reason);
	bu_autofree char *reason = bu_said_text(node->reason);
	bu_autofree char *text = bu_node_wait(node), *waits = bu_xstrdup("");

	/* Why it came here is less than what keeps it here. */
	add_waits(node, &waits);
	if (!*waits && !bu_node_is_held(node) && *reason)
		bu_text_add(&text, "; ", "%s", reason);
	if (strcmp(node->order.status, "turn") == 0)
		bu_text_add(&text, "; ", "waits for its turn (%s)%s%s",
			    node->order.class, *why ? ": " : "", why);
	return bu_out_clean(text, 0);
}

int
bu_node_needs_a_look(const struct bu_shown_node *node)
{
	bu_autofree char *wait = bu_node_wait(node);

	return *wait || ended_badly(node);
}
