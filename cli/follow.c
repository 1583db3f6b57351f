/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a rollout is at its end, and what has changed since the last look. Invariant:
 * READY is said only when bringupd counts as many ready nodes as were ordered.
 */
#include "cli/follow.h"

#include <string.h>

#include "base/json.h"
#include "cli/node_text.h"
#include "cli/output.h"
#include "model/state.h"

struct watched {
	char *name;
	char *state; /* "" until it was seen */
	int64_t since_ms;
	int tenths; /* of its progress; -1 = none */
	int stuck;  /* it waits for something or is held */
	json_t *node;
};

struct bu_follow {
	char *rollout;
	struct watched *nodes; /* sorted by name */
	size_t count;
	int seen; /* the rollout was in a document */
};

static int
compare(const void *a, const void *b)
{
	return strcmp(((const struct watched *)a)->name,
		      ((const struct watched *)b)->name);
}

struct bu_follow *
bu_follow_create(const char *rollout, const json_t *nodes)
{
	struct bu_follow *follow = bu_xcalloc(1, sizeof(*follow));
	json_t *name;
	size_t i;

	follow->rollout = bu_xstrdup(rollout);
	follow->nodes = bu_xcalloc(json_array_size(nodes) + 1, sizeof(*follow->nodes));
	json_array_foreach (nodes, i, name)
		follow->nodes[follow->count++] = (struct watched){
			.name = bu_xstrdup(
				json_is_string(name) ? json_string_value(name) : "?"),
			.state = bu_xstrdup(""),
			.tenths = -1,
		};
	qsort(follow->nodes, follow->count, sizeof(*follow->nodes), compare);
	return follow;
}

void
bu_follow_destroy(struct bu_follow *follow)
{
	if (!follow)
		return;
	for (size_t i = 0; i < follow->count; i++) {
		free(follow->nodes[i].name);
		free(follow->nodes[i].state);
		json_decref(follow->nodes[i].node);
	}
	free(follow->nodes);
	free(follow->rollout);
	free(follow);
}

static void
print_change(const struct watched *watched, FILE *changes)
{
	bu_autofree char *progress = bu_node_progress(watched->node);
	bu_autofree char *note = bu_node_note(watched->node);
	bu_autofree char *raw =
		bu_xasprintf("%s: %s%s%s%s%s", watched->name, watched->state,
			     *progress ? ", " : "", progress, *note ? ": " : "", note);
	bu_autofree char *line = bu_out_clean(raw, 0);

	fprintf(changes, "%s\n", line);
	fflush(changes);
}

static void
update_node(struct watched *watched, json_t *node, FILE *changes)
{
	const char *state = bu_json_str(node, "state", "?");
	int percent = bu_node_percent(node);
	int tenths = percent < 0 ? -1 : percent / 10;
	int stuck = bu_node_is_held(node) || *bu_json_str(node, "waiting", "");
	int64_t since_ms = bu_json_int(node, "since_ms", 0);
	/* A state that is tried again begins anew. */
	int changed = strcmp(watched->state, state) != 0 ||
		      watched->since_ms != since_ms ||
		      (tenths >= 0 && tenths != watched->tenths) ||
		      (stuck && !watched->stuck);

	json_incref(node);
	json_decref(watched->node);
	watched->node = node;
	free(watched->state);
	watched->state = bu_xstrdup(state);
	watched->since_ms = since_ms;
	watched->tenths = tenths;
	watched->stuck = stuck;
	if (changed && changes)
		print_change(watched, changes);
}

static void
update_nodes(struct bu_follow *follow, const json_t *nodes, FILE *changes)
{
	json_t *node;
	size_t i;

	json_array_foreach (nodes, i, node) {
		struct watched key = {.name = (char *)bu_json_str(node, "name", "")};
		struct watched *watched = bsearch(&key, follow->nodes, follow->count,
						  sizeof(*follow->nodes), compare);

		if (watched)
			update_node(watched, node, changes);
	}
}

static int
is_state(const struct watched *watched, enum bu_state state)
{
	return strcmp(watched->state, bu_state_name(state)) == 0;
}

/* Waits for a person, not for time: no end would come. */
static int
waits_for_person(const struct watched *watched)
{
	return bu_node_is_held(watched->node) && !is_state(watched, BU_STATE_READY) &&
	       !is_state(watched, BU_STATE_FAILED) &&
	       !is_state(watched, BU_STATE_QUARANTINED);
}

static int64_t
count_held(const struct bu_follow *follow)
{
	int64_t held = 0;

	for (size_t i = 0; i < follow->count; i++)
		held += waits_for_person(&follow->nodes[i]);
	return held;
}

enum bu_follow_end
bu_follow_update(struct bu_follow *follow, const json_t *status, FILE *changes)
{
	const json_t *rollout = json_object_get(status, "rollout");
	int64_t want = (int64_t)follow->count, open;

	if (want == 0)
		return BU_FOLLOW_READY;
	update_nodes(follow, json_object_get(status, "nodes"), changes);
	if (strcmp(bu_json_str(rollout, "id", ""), follow->rollout) != 0)
		return follow->seen ? BU_FOLLOW_REPLACED : BU_FOLLOW_MORE;
	follow->seen = 1;
	if (bu_json_int(rollout, "total", 0) < want)
		return BU_FOLLOW_MORE; /* not all of its orders are in the log */
	open = bu_json_int(rollout, "turn", want) +
	       bu_json_int(rollout, "under_way", want);
	if (open > count_held(follow))
		return BU_FOLLOW_MORE;
	return bu_json_int(rollout, "ready", 0) >= want ? BU_FOLLOW_READY
							: BU_FOLLOW_BAD;
}

json_t *
bu_follow_nodes(const struct bu_follow *follow)
{
	json_t *nodes = json_array();

	for (size_t i = 0; i < follow->count; i++)
		if (follow->nodes[i].node)
			json_array_append(nodes, follow->nodes[i].node);
	return nodes;
}

void
bu_follow_print_unready(const struct bu_follow *follow, FILE *out)
{
	for (size_t i = 0; i < follow->count; i++)
		if (!is_state(&follow->nodes[i], BU_STATE_READY))
			print_change(&follow->nodes[i], out);
}

char *
bu_follow_unsettled(const struct bu_follow *follow)
{
	bu_autojson json_t *names = json_array();
	bu_autofree char *nodes = NULL;
	bu_autofree char *note = NULL;

	for (size_t i = 0; i < follow->count; i++) {
		const struct watched *watched = &follow->nodes[i];

		if (is_state(watched, BU_STATE_READY) ||
		    is_state(watched, BU_STATE_FAILED) ||
		    is_state(watched, BU_STATE_QUARANTINED) ||
		    waits_for_person(watched))
			continue;
		if (json_array_size(names) == 0)
			note = bu_node_note(watched->node);
		json_array_append_new(names, json_string(watched->name));
	}
	nodes = bu_out_fold(names);
	return bu_xasprintf("%s%s%s", nodes, note && *note ? ": " : "",
			    note ? note : "");
}
