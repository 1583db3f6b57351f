/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes as lines that are drawn again, and all of them as one line; called by screen.c
 * and render.c. Invariant: no line is wider than the caller's width.
 */
#include <string.h>

#include "base/err.h"
#include "base/json.h"
#include "cli/render/columns.h"
#include "cli/render/node_text.h"
#include "cli/render/output.h"
#include "model/state.h"

enum { BAR_WIDTH = 20, INDENT = 4 };

static char *
bar(const struct bu_shown_node *node)
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

/* "node001   imaging         12 s  [####...]  45 %", cut; without blanks at the end. */
static char *
head_of(const struct bu_shown_node *node, int64_t now_ms,
	const struct bu_node_widths *widths)
{
	bu_autofree char *took = bu_out_duration(now_ms - node->since_ms);
	bu_autofree char *progress = bar(node), *state = bu_node_state(node);
	bu_autofree char *raw =
		bu_xasprintf("%-*s  %-*s %8s  %s", widths->name, node->name,
			     widths->state, state, took, progress);
	char *head = bu_out_clean(raw, 0);
	size_t size;

	bu_columns_cut(head, widths->line);
	size = strlen(head);
	while (size > 0 && head[size - 1] == ' ')
		head[--size] = '\0';
	return head;
}

char *
bu_node_lines(const struct bu_shown_node *node, int64_t now_ms,
	      const struct bu_node_widths *widths, int rows)
{
	bu_autofree char *head = head_of(node, now_ms, widths);
	bu_autofree char *note = bu_node_note(node);
	bu_autofree char *both = bu_xasprintf("%s  %s", head, note);
	bu_autofree char *more = NULL;

	if (!*note)
		return bu_steal(&head);
	if (bu_columns(both) <= widths->line || rows == 1)
		return bu_columns_wrap(both, widths->line, 0, 1);
	more = bu_columns_wrap(note, widths->line, INDENT, rows - 1);
	return bu_xasprintf("%s\n%s", head, more);
}

struct bu_node_widths
bu_node_widths(const struct bu_shown_nodes *nodes, int line)
{
	struct bu_node_widths widths = {.line = line, .state = 11};

	for (size_t i = 0; i < nodes->nodes_count; i++) {
		bu_autofree char *state = bu_node_state(&nodes->nodes[i]);
		int name = (int)strlen(nodes->nodes[i].name);

		if (name > widths.name)
			widths.name = name;
		if ((int)strlen(state) > widths.state)
			widths.state = (int)strlen(state);
	}
	return widths;
}

static void
add_count(char **text, long long number, const char *what)
{
	bu_autofree char *old = *text;

	*text = number ? bu_xasprintf("%s, %lld %s", old, number, what)
		       : bu_steal(&old);
}

char *
bu_node_summary(const struct bu_shown_nodes *nodes)
{
	bu_autojson json_t *away = json_object(), *states = json_object();
	long long ready = 0, held = 0;
	const char *name;
	json_t *value;
	char *text;

	for (size_t i = 0; i < nodes->nodes_count; i++) {
		const struct bu_shown_node *node = &nodes->nodes[i];

		held += bu_node_is_held(node);
		if (bu_node_is_ready(node))
			ready++;
		else if (strcmp(node->state, bu_state_name(BU_STATE_READY)) == 0)
			bu_json_count_up(away, bu_node_away(node));
		else
			bu_json_count_up(states, node->state);
	}
	text = bu_xasprintf("%lld/%zu ready", ready, nodes->nodes_count);
	json_object_foreach (away, name, value)
		add_count(&text, json_integer_value(value), name);
	for (size_t i = 0; i < BU_STATE_COUNT; i++)
		add_count(&text, bu_json_int(states, bu_state_name(i), 0),
			  bu_state_name(i));
	add_count(&text, held, "held");
	return text;
}
