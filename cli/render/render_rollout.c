/* SPDX-License-Identifier: Apache-2.0 */
/* Rollouts as tables; the nodes of one folded by what becomes of them. Pure. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/render/output.h"
#include "cli/render/render.h"
#include "model/sentence.h"

const char *
bu_rollout_state(const struct bu_shown_rollout *rollout)
{
	int done = strcmp(rollout->state, "done") == 0;

	return done && rollout->done != rollout->total ? "ended" : rollout->state;
}

char *
bu_rollout_words(const struct bu_shown_rollout *rollout)
{
	const struct {
		int64_t count;
		const char *what;
	} parts[] = {
		{rollout->done, "done"},
		{rollout->under_way, "under way"},
		{rollout->turn, "not started"},
		{rollout->failed, "failed"},
		{rollout->withdrawn, "taken back"},
	};
	bu_autofree char *text = bu_xstrdup(bu_rollout_state(rollout));
	bu_autofree char *why = bu_said_text(rollout->reason);
	const char *mark = ": ";

	for (size_t i = 0; i < BU_LEN(parts); i++) {
		if (!parts[i].count)
			continue;
		bu_text_add(&text, mark, "%" PRId64 " %s", parts[i].count,
			    parts[i].what);
		mark = ", ";
	}
	if (*why)
		bu_text_add(&text, ": ", "%s", why);
	return bu_out_clean(text, 0);
}

static char *
count_text(int64_t count)
{
	return bu_xasprintf("%" PRId64, count);
}

static char *
share_text(int64_t part, int64_t of)
{
	return bu_xasprintf("%" PRId64 " of %" PRId64, part, of);
}

static char *
time_text(int64_t time_ms)
{
	char text[24] = "";

	if (time_ms > 0)
		bu_time_iso(time_ms, text);
	return bu_xstrdup(text);
}

void
bu_render_rollouts(const struct bu_shown_rollouts *rollouts, FILE *out)
{
	static const char *const headings[] = {"ROLLOUT", "STATE",  "STARTED", ">NODES",
					       ">NOW",    ">DONE",  ">FAILED", ">WAIT",
					       "COMMIT",  "REASON", NULL};
	struct bu_table *table = bu_table_create(headings);

	for (size_t i = 0; i < rollouts->rollouts_count; i++) {
		const struct bu_shown_rollout *rollout = &rollouts->rollouts[i];
		bu_autofree char *started = time_text(rollout->started_ms);
		bu_autofree char *total = count_text(rollout->total);
		bu_autofree char *now = count_text(rollout->under_way);
		bu_autofree char *done = count_text(rollout->done);
		bu_autofree char *failed = count_text(rollout->failed);
		bu_autofree char *turn = count_text(rollout->turn);
		bu_autofree char *commit = bu_out_commit(rollout->commit);
		bu_autofree char *reason = bu_out_said(rollout->reason);

		bu_table_row(table,
			     (const char *const[]){
				     rollout->id, bu_rollout_state(rollout), started,
				     total, now, done, failed, turn, commit, reason});
	}
	bu_out_table(table, out);
	bu_table_destroy(table);
}

static void
line(FILE *out, const char *name, const char *text)
{
	bu_autofree char *clean = bu_out_clean(text, 0);

	if (*clean)
		fprintf(out, "%-9s %s\n", name, clean);
}

static void
render_head(const struct bu_shown_rollout *rollout, FILE *out)
{
	bu_autofree char *started = time_text(rollout->started_ms);
	bu_autofree char *ended = time_text(rollout->ended_ms);
	bu_autofree char *why = bu_said_text(rollout->reason);

	line(out, "rollout", rollout->id);
	line(out, "state", bu_rollout_state(rollout));
	line(out, "reason", why);
	line(out, "plan", rollout->plan);
	line(out, "revision", rollout->revision);
	line(out, "commit", rollout->commit);
	line(out, "limit", rollout->limit);
	line(out, "by", rollout->by);
	for (size_t i = 0; i < rollout->grants_count; i++) {
		const char *nodes = rollout->grants[i].nodes;
		bu_autofree char *text =
			bu_xasprintf("%s of %s", rollout->grants[i].class,
				     *nodes ? nodes : "all its nodes");

		line(out, "grant", text);
	}
	line(out, "started", started);
	line(out, "ended", ended);
}

static void
render_pools(const struct bu_shown_rollout *rollout, FILE *out)
{
	static const char *const headings[] = {"POOL",    ">NODES", ">DONE", ">FAILED",
					       ">BUDGET", ">AWAY",  ">WAIT", "CANARY",
					       "NOW",     NULL};
	struct bu_table *table = bu_table_create(headings);

	for (size_t i = 0; i < rollout->pools_count; i++) {
		const struct bu_shown_pool *pool = &rollout->pools[i];
		bu_autofree char *total = count_text(pool->total);
		bu_autofree char *done = count_text(pool->done);
		bu_autofree char *failed = count_text(pool->failed);
		bu_autofree char *spent =
			share_text(pool->faults, pool->failure_budget);
		bu_autofree char *away = share_text(pool->away, pool->max_unavailable);
		bu_autofree char *turn = count_text(pool->turn);
		bu_autofree char *canary = share_text(pool->canary_done, pool->canary);
		bu_autofree char *why = bu_out_said(pool->why);

		bu_table_row(table,
			     (const char *const[]){pool->pool, total, done, failed,
						   spent, away, turn, canary, why});
	}
	if (rollout->pools_count) {
		fputc('\n', out);
		bu_out_table(table, out);
	}
	bu_table_destroy(table);
}

/* What makes two orders one row. */
static char *
key_of(const struct bu_shown_order *order)
{
	bu_autofree char *why = bu_said_text(order->reason);

	return bu_xasprintf("%" PRId64 "\n%s\n%s\n%s\n%s\n%s", order->batch,
			    order->pool, order->class, order->status, order->state,
			    why);
}

/* {key: {"at": the first order of the row, "nodes": [names]}} */
static json_t *
group(const struct bu_shown_rollout *rollout)
{
	json_t *groups = json_object();

	for (size_t i = 0; i < rollout->nodes_count; i++) {
		bu_autofree char *key = key_of(&rollout->nodes[i]);
		json_t *found = json_object_get(groups, key);

		if (!found) {
			found = json_pack("{s:I,s:[]}", "at", (json_int_t)i, "nodes");
			json_object_set_new(groups, key, found);
		}
		json_array_append_new(json_object_get(found, "nodes"),
				      json_string(rollout->nodes[i].node));
	}
	return groups;
}

/* Of an order; "turn" is what the log calls it. */
static const char *
status_of(const struct bu_shown_order *order)
{
	return strcmp(order->status, "turn") == 0 ? "waiting" : order->status;
}

static void
render_orders(const struct bu_shown_rollout *rollout, FILE *out)
{
	static const char *const headings[] = {"POOL",  ">COUNT", "NODES",
					       "STEP",  ">BATCH", "STATUS",
					       "STATE", "REASON", NULL};
	bu_autojson json_t *groups = group(rollout);
	struct bu_table *table = bu_table_create(headings);
	const char *key;
	json_t *found;

	json_object_foreach (groups, key, found) {
		const struct bu_shown_order *order =
			&rollout->nodes[bu_json_int(found, "at", 0)];
		const json_t *names = json_object_get(found, "nodes");
		bu_autofree char *count = bu_xasprintf("%zu", json_array_size(names));
		bu_autofree char *nodes = bu_out_fold(names);
		/* Nodes that are out of service have none. */
		bu_autofree char *batch =
			order->batch < 0 ? bu_xstrdup("-") : count_text(order->batch);
		bu_autofree char *reason = bu_out_said(order->reason);

		bu_table_row(table, (const char *const[]){order->pool, count, nodes,
							  order->class, batch,
							  status_of(order),
							  order->state, reason});
	}
	if (rollout->nodes_count) {
		fputc('\n', out);
		bu_out_table(table, out);
	}
	bu_table_destroy(table);
}

void
bu_render_rollout(const struct bu_shown_rollout *rollout, FILE *out)
{
	render_head(rollout, out);
	render_pools(rollout, out);
	render_orders(rollout, out);
}
