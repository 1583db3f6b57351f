/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a rollout is at its end, and what has changed since the last look. Invariant:
 * READY is said only when bringupd has carried out every order of the rollout.
 */
#include "cli/render/follow.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/record.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/render/node_text.h"
#include "cli/render/output.h"
#include "cli/render/render.h"
#include "model/sentence.h"
#include "model/state.h"

struct watched {
	char *name;
	char *state; /* "" until it was seen */
	int64_t since_ms;
	int tenths; /* of its progress; -1 = none */
	char *wait; /* what keeps it there, without figures; "" = nothing */
	json_t *of; /* that is `node`; NULL until it was seen */
	struct bu_shown_node node;
};

struct bu_follow {
	struct watched *nodes; /* sorted by name */
	size_t count;
	char *told;       /* what was said of the rollout last */
	json_t *document; /* that is `last` */
	struct bu_followed last;
};

static const struct bu_field followed_fields[] = {
	BU_FIELD(INT, struct bu_followed, version),
	BU_FIELD(INT, struct bu_followed, time_ms),
	BU_FIELD(RECORD, struct bu_followed, rollout,
		 .fields = bu_shown_rollout_whole_fields, .need = BU_NULL),
	BU_FIELD_END,
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
	follow->nodes = bu_xcalloc(json_array_size(nodes), sizeof(*follow->nodes));
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
		bu_record_fini(bu_shown_listed_fields, &follow->nodes[i].node);
		json_decref(follow->nodes[i].of);
	}
	bu_record_fini(followed_fields, &follow->last);
	json_decref(follow->document);
	free(follow->nodes);
	free(follow->told);
	free(follow);
}

/* fallback: said where there is no note. */
static void
print_change(const struct watched *watched, const char *fallback, FILE *changes)
{
	const struct bu_shown_node *node = &watched->node;
	int seen = watched->of != NULL;
	bu_autofree char *progress = seen ? bu_node_progress(node) : bu_xstrdup("");
	bu_autofree char *note = seen ? bu_node_note(node) : bu_xstrdup("");
	bu_autofree char *state = seen ? bu_node_state(node) : bu_xstrdup("?");
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
wait_of(const struct bu_shown_node *node)
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
tell_node(struct watched *watched, FILE *changes)
{
	const struct bu_shown_node *node = &watched->node;
	int percent = bu_node_percent(node);
	int tenths = percent < 0 ? -1 : percent / 10;
	bu_autofree char *before = watched->wait;
	/* A state that is tried again begins anew. */
	int moved = strcmp(watched->state, node->state) != 0 ||
		    watched->since_ms != node->since_ms;
	int changed;

	watched->wait = wait_of(node);
	changed = moved || (tenths >= 0 && tenths != watched->tenths) ||
		  strcmp(watched->wait, before) != 0;
	free(watched->state);
	watched->state = bu_xstrdup(node->state);
	watched->since_ms = node->since_ms;
	watched->tenths = tenths;
	if (changed && changes)
		print_change(watched, *before && !moved ? "goes on" : "", changes);
}

static struct watched *
find(const struct bu_follow *follow, const char *name)
{
	struct watched key = {.name = (char *)name};

	return bsearch(&key, follow->nodes, follow->count, sizeof(*follow->nodes),
		       compare);
}

static int
update_nodes(struct bu_follow *follow, const json_t *nodes, FILE *changes,
	     struct bu_err *err)
{
	json_t *node;
	size_t i;

	json_array_foreach (nodes, i, node) {
		struct watched *watched = find(follow, bu_json_str(node, "name", ""));
		struct bu_shown_node now = {0};

		if (!watched)
			continue;
		if (bu_answer_read(bu_shown_listed_fields, node, &now, err) != 0)
			return bu_err_wrap(err, "node %s", watched->name);
		bu_record_fini(bu_shown_listed_fields, &watched->node);
		json_decref(watched->of);
		watched->of = json_incref(node);
		watched->node = now;
		tell_node(watched, changes);
	}
	return 0;
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
			!bu_node_is_ready(&follow->nodes[i].node);
	return away;
}

/* Orders of which the end is still to come; those of held nodes wait for a person, and
 * no end would come. */
static int
count_open(const struct bu_follow *follow, const struct bu_shown_rollout *rollout,
	   int turns_given)
{
	int open = 0;

	for (size_t i = 0; i < rollout->nodes_count; i++) {
		const struct bu_shown_order *order = &rollout->nodes[i];
		const struct watched *watched = find(follow, order->node);

		if (watched && bu_node_is_held(&watched->node))
			continue;
		open += strcmp(order->status, "under-way") == 0 ||
			(turns_given && strcmp(order->status, "turn") == 0);
	}
	return open;
}

/* "; pool train: 1 of 1 canary node done", or why no node of it has a turn now. */
static void
add_pool(char **text, const struct bu_shown_pool *pool, int running)
{
	bu_autofree char *why = bu_said_text(pool->why);
	int stalled = running && *why && pool->under_way == 0;

	if (stalled)
		bu_text_add(text, "; ", "pool %s waits: %s", pool->pool, why);
	else if (pool->canary_done > 0 && pool->total > pool->canary)
		bu_text_add(text, "; ",
			    "pool %s: %" PRId64 " of %" PRId64 " canary node%s done",
			    pool->pool, pool->canary_done, pool->canary,
			    pool->canary == 1 ? "" : "s");
}

/* "running", "paused: by local", "running; pool train: 1 of 1 canary done", "ended: 3
 * done, 2 failed"; owned. */
static char *
words_of(const struct bu_shown_rollout *rollout)
{
	const char *state = bu_rollout_state(rollout);
	/* The state of a paused one says why no node moves. */
	int running = strcmp(state, "running") == 0;
	bu_autofree char *why = bu_said_text(rollout->reason);
	char *text;

	if (strcmp(state, "ended") == 0)
		return bu_rollout_words(rollout);
	text = bu_xasprintf("%s%s%s", state, *why ? ": " : "", why);
	for (size_t i = 0; i < rollout->pools_count; i++)
		add_pool(&text, &rollout->pools[i], running);
	return text;
}

static void
update_rollout(struct bu_follow *follow, FILE *notes)
{
	bu_autofree char *words = words_of(&follow->last.rollout);
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
take(struct bu_follow *follow, json_t *document, struct bu_err *err)
{
	struct bu_followed now = {0};

	if (bu_answer_read(followed_fields, document, &now, err) != 0)
		return -1;
	bu_record_fini(followed_fields, &follow->last);
	json_decref(follow->document);
	follow->document = json_incref(document);
	follow->last = now;
	return 0;
}

static enum bu_follow_end
end_of(const struct bu_follow *follow)
{
	static const char *const ended[] = {"stopped", "aborted", NULL};
	const struct bu_shown_rollout *rollout = &follow->last.rollout;
	int stopped = bu_word_find(ended, rollout->state) >= 0;

	if (count_open(follow, rollout, !stopped))
		return BU_FOLLOW_MORE;
	if (stopped)
		return BU_FOLLOW_STOPPED;
	if (rollout->done != rollout->total)
		return BU_FOLLOW_BAD;
	return count_away(follow) ? BU_FOLLOW_AWAY : BU_FOLLOW_READY;
}

int
bu_follow_update(struct bu_follow *follow, json_t *document, FILE *changes, FILE *notes,
		 enum bu_follow_end *ret, struct bu_err *err)
{
	*ret = BU_FOLLOW_READY;
	if (follow->count == 0)
		return 0;
	if (take(follow, document, err) != 0 ||
	    update_nodes(follow, json_object_get(document, "nodes"), changes, err) != 0)
		return -1;
	*ret = BU_FOLLOW_MORE;
	if (!follow->last.rollout.id)
		return 0; /* it is not in the log yet */
	update_rollout(follow, notes);
	*ret = end_of(follow);
	return 0;
}

const struct bu_followed *
bu_follow_last(const struct bu_follow *follow)
{
	return &follow->last;
}

struct bu_shown_nodes
bu_follow_nodes(const struct bu_follow *follow)
{
	struct bu_shown_nodes nodes = {.time_ms = follow->last.time_ms};

	nodes.nodes = bu_xcalloc(follow->count, sizeof(*nodes.nodes));
	for (size_t i = 0; i < follow->count; i++)
		if (follow->nodes[i].of)
			nodes.nodes[nodes.nodes_count++] = follow->nodes[i].node;
	return nodes;
}

void
bu_follow_print_unready(const struct bu_follow *follow, FILE *out)
{
	for (size_t i = 0; i < follow->count; i++)
		if (!follow->nodes[i].of || !bu_node_is_ready(&follow->nodes[i].node))
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
		    bu_node_is_held(&watched->node))
			continue;
		if (json_array_size(names) == 0)
			note = watched->of ? bu_node_note(&watched->node) : NULL;
		json_array_append_new(names, json_string(watched->name));
	}
	nodes = bu_out_fold(names);
	return bu_xasprintf("%s%s%s", nodes, note && *note ? ": " : "",
			    note ? note : "");
}
