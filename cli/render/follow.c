/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a rollout is at its end, and what has changed since the last look. Invariant:
 * READY is said only when bringupd has carried out every order of the rollout.
 */
#include "cli/render/follow.h"

#include <string.h>

#include "base/json.h"
#include "cli/render/node_text.h"
#include "cli/render/output.h"
#include "cli/render/render.h"
#include "model/state.h"

struct watched {
	char *name;
	char *state; /* "" until it was seen */
	int64_t since_ms;
	int tenths; /* of its progress; -1 = none */
	char *wait; /* what keeps it there, without figures; "" = nothing */
	json_t *node;
};

struct bu_follow {
	struct watched *nodes; /* sorted by name */
	size_t count;
	char *told; /* what was said of the rollout last */
};

static int
compare(const void *a, const void *b)
{
	return strcmp(((const struct watched *)a)->name,
		      ((const struct watched *)b)->name);
}

struct bu_follow *
bu_follow_create(const json_t *nodes)
{
	struct bu_follow *follow = bu_xcalloc(1, sizeof(*follow));
	json_t *name;
	size_t i;

	follow->told = bu_xstrdup("");
	follow->nodes = bu_xcalloc(json_array_size(nodes) + 1, sizeof(*follow->nodes));
	json_array_foreach (nodes, i, name)
		follow->nodes[follow->count++] = (struct watched){
			.name = bu_xstrdup(
				json_is_string(name) ? json_string_value(name) : "?"),
			.state = bu_xstrdup(""),
			.wait = bu_xstrdup(""),
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
		free(follow->nodes[i].wait);
		json_decref(follow->nodes[i].node);
	}
	free(follow->nodes);
	free(follow->told);
	free(follow);
}

/* fallback: said where there is no note. */
static void
print_change(const struct watched *watched, const char *fallback, FILE *changes)
{
	bu_autofree char *progress = bu_node_progress(watched->node);
	bu_autofree char *note = bu_node_note(watched->node);
	bu_autofree char *state = bu_node_state(watched->node);
	const char *why = *note ? note : fallback;
	bu_autofree char *raw =
		bu_xasprintf("%s: %s%s%s%s%s", watched->name, state,
			     *progress ? ", " : "", progress, *why ? ": " : "", why);
	bu_autofree char *line = bu_out_clean(raw, 0);

	fprintf(changes, "%s\n", line);
	fflush(changes);
}

/* What keeps the node, without the figures that run: "power, 2 s" is "power,  s", and
 * node002 stays as it is. Owned. */
static char *
wait_of(const json_t *node)
{
	char *text = bu_node_wait(node), *to = text;
	int in_word = 0;

	for (const char *p = text; *p; p++) {
		int digit = *p >= '0' && *p <= '9';

		if (!digit || in_word)
			*to++ = *p;
		in_word = (digit && in_word) || (!digit && strchr(" .,:(", *p) == NULL);
	}
	*to = '\0';
	return text;
}

static void
update_node(struct watched *watched, json_t *node, FILE *changes)
{
	const char *state = bu_json_str(node, "state", "?");
	int percent = bu_node_percent(node);
	int tenths = percent < 0 ? -1 : percent / 10;
	int64_t since_ms = bu_json_int(node, "since_ms", 0);
	bu_autofree char *before = watched->wait;
	/* A state that is tried again begins anew. */
	int moved = strcmp(watched->state, state) != 0 || watched->since_ms != since_ms;
	int changed;

	watched->wait = wait_of(node);
	changed = moved || (tenths >= 0 && tenths != watched->tenths) ||
		  strcmp(watched->wait, before) != 0;
	json_incref(node);
	json_decref(watched->node);
	watched->node = node;
	free(watched->state);
	watched->state = bu_xstrdup(state);
	watched->since_ms = since_ms;
	watched->tenths = tenths;
	if (changed && changes)
		print_change(watched, *before && !moved ? "goes on" : "", changes);
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

/* Those that are ready and cannot be counted on. */
static int
count_away(const struct bu_follow *follow)
{
	int away = 0;

	for (size_t i = 0; i < follow->count; i++)
		away += is_state(&follow->nodes[i], BU_STATE_READY) &&
			!bu_node_is_ready(follow->nodes[i].node);
	return away;
}

/* Orders of which the end is still to come; those of held nodes wait for a person, and
 * no end would come. */
static int
count_open(const struct bu_follow *follow, const json_t *rollout, int turns_given)
{
	int open = 0;
	json_t *order;
	size_t i;

	json_array_foreach (json_object_get(rollout, "nodes"), i, order) {
		const char *status = bu_json_str(order, "status", "");
		struct watched key = {.name = (char *)bu_json_str(order, "node", "")};
		const struct watched *watched =
			bsearch(&key, follow->nodes, follow->count,
				sizeof(*follow->nodes), compare);

		if (watched && watched->node && bu_node_is_held(watched->node))
			continue;
		open += strcmp(status, "under-way") == 0 ||
			(turns_given && strcmp(status, "turn") == 0);
	}
	return open;
}

/* "; pool train: 1 of 1 canary node done", or why no node of it has a turn now. */
static void
add_pool(char **text, const json_t *pool, int running)
{
	bu_autofree char *old = NULL;
	const char *why = bu_json_str(pool, "why", "");
	long long canary = (long long)bu_json_int(pool, "canary", 0);
	long long done = (long long)bu_json_int(pool, "canary_done", 0);
	int stalled = running && *why && bu_json_int(pool, "under_way", 0) == 0;
	int shown = done > 0 && (long long)bu_json_int(pool, "total", 0) > canary;

	if (!stalled && !shown)
		return;
	old = *text;
	if (stalled)
		*text = bu_xasprintf("%s; pool %s waits: %s", old,
				     bu_json_str(pool, "pool", "?"), why);
	else
		*text = bu_xasprintf("%s; pool %s: %lld of %lld canary node%s done",
				     old, bu_json_str(pool, "pool", "?"), done, canary,
				     canary == 1 ? "" : "s");
}

/* "running", "paused: by local", "running; pool train: 1 of 1 canary done", "ended: 3
 * done, 2 failed"; owned. */
static char *
words_of(const json_t *rollout)
{
	const char *reason = bu_json_str(rollout, "reason", "");
	/* The state of a paused one says why no node moves. */
	int running = strcmp(bu_rollout_state(rollout), "running") == 0;
	char *text;
	json_t *pool;
	size_t i;

	if (strcmp(bu_rollout_state(rollout), "ended") == 0)
		return bu_rollout_words(rollout);
	text = bu_xasprintf("%s%s%s", bu_rollout_state(rollout), *reason ? ": " : "",
			    reason);
	json_array_foreach (json_object_get(rollout, "pools"), i, pool)
		add_pool(&text, pool, running);
	return text;
}

static void
update_rollout(struct bu_follow *follow, const json_t *rollout, FILE *notes)
{
	bu_autofree char *words = words_of(rollout);
	bu_autofree char *clean = bu_out_clean(words, 0);

	/* That it runs is what one expects. */
	if (strcmp(clean, follow->told) == 0 ||
	    (!*follow->told && strcmp(clean, "running") == 0))
		return;
	fprintf(notes, "rollout: %s\n", clean);
	fflush(notes);
	free(follow->told);
	follow->told = bu_steal(&clean);
}

static int
is_one_of(const char *text, const char *const *list)
{
	while (*list && strcmp(text, *list) != 0)
		list++;
	return *list != NULL;
}

enum bu_follow_end
bu_follow_update(struct bu_follow *follow, const json_t *document, FILE *changes,
		 FILE *notes)
{
	static const char *const ended[] = {"stopped", "aborted", NULL};
	const json_t *rollout = json_object_get(document, "rollout");
	const char *state = bu_json_str(rollout, "state", "");
	int stopped = is_one_of(state, ended);

	if (follow->count == 0)
		return BU_FOLLOW_READY;
	update_nodes(follow, json_object_get(document, "nodes"), changes);
	if (!json_is_object(rollout))
		return BU_FOLLOW_MORE; /* it is not in the log yet */
	update_rollout(follow, rollout, notes);
	if (count_open(follow, rollout, !stopped))
		return BU_FOLLOW_MORE;
	if (stopped)
		return BU_FOLLOW_STOPPED;
	if (bu_json_int(rollout, "done", 0) != bu_json_int(rollout, "total", -1))
		return BU_FOLLOW_BAD;
	return count_away(follow) ? BU_FOLLOW_AWAY : BU_FOLLOW_READY;
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
		if (!follow->nodes[i].node || !bu_node_is_ready(follow->nodes[i].node))
			print_change(&follow->nodes[i], "", out);
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
		    (watched->node && bu_node_is_held(watched->node)))
			continue;
		if (json_array_size(names) == 0)
			note = bu_node_note(watched->node);
		json_array_append_new(names, json_string(watched->name));
	}
	nodes = bu_out_fold(names);
	return bu_xasprintf("%s%s%s", nodes, note && *note ? ": " : "",
			    note ? note : "");
}
