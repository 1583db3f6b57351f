/* SPDX-License-Identifier: Apache-2.0 */
/* Rollouts as tables; the nodes of one folded by what becomes of them. Pure. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/render/output.h"
#include "cli/render/render.h"

const char *
bu_rollout_state(const json_t *rollout)
{
	const char *state = bu_json_str(rollout, "state", "?");
	int64_t done = bu_json_int(rollout, "done", 0);

	if (strcmp(state, "done") == 0 && done != bu_json_int(rollout, "total", done))
		return "ended";
	return state;
}

char *
bu_rollout_words(const json_t *rollout)
{
	static const char *const parts[][2] = {
		{"done", "done"},
		{"under_way", "under way"},
		{"turn", "not started"},
		{"failed", "failed"},
		{"withdrawn", "taken back"},
	};
	const char *reason = bu_json_str(rollout, "reason", "");
	bu_autofree char *text = bu_xstrdup(bu_rollout_state(rollout)), *all = NULL;
	const char *mark = ": ";

	for (size_t i = 0; i < BU_LEN(parts); i++) {
		long long count = (long long)bu_json_int(rollout, parts[i][0], 0);
		bu_autofree char *old = NULL;

		if (!count)
			continue;
		old = text;
		text = bu_xasprintf("%s%s%lld %s", old, mark, count, parts[i][1]);
		mark = ", ";
	}
	all = bu_xasprintf("%s%s%s", text, *reason ? ": " : "", reason);
	return bu_out_clean(all, 0);
}

static char *
count_of(const json_t *object, const char *key)
{
	return bu_xasprintf("%lld", (long long)bu_json_int(object, key, 0));
}

static char *
time_of(const json_t *rollout, const char *key)
{
	int64_t time_ms = bu_json_int(rollout, key, 0);
	char text[24] = "";

	if (time_ms > 0)
		bu_time_iso(time_ms, text);
	return bu_xstrdup(text);
}

void
bu_render_rollouts(const json_t *rollouts, FILE *out)
{
	static const char *const headings[] = {"ROLLOUT", "STATE",  "STARTED", ">NODES",
					       ">NOW",    ">DONE",  ">FAILED", ">WAIT",
					       "COMMIT",  "REASON", NULL};
	struct bu_table *table = bu_table_create(headings);
	json_t *rollout;
	size_t i;

	json_array_foreach (rollouts, i, rollout) {
		bu_autofree char *started = time_of(rollout, "started_ms");
		bu_autofree char *total = count_of(rollout, "total");
		bu_autofree char *now = count_of(rollout, "under_way");
		bu_autofree char *done = count_of(rollout, "done");
		bu_autofree char *failed = count_of(rollout, "failed");
		bu_autofree char *turn = count_of(rollout, "turn");
		bu_autofree char *commit =
			bu_out_commit(bu_json_str(rollout, "commit", ""));
		bu_autofree char *reason =
			bu_out_clean(bu_json_str(rollout, "reason", ""), 0);

		bu_table_row(table, (const char *const[]){
					    bu_json_str(rollout, "id", "?"),
					    bu_rollout_state(rollout), started, total,
					    now, done, failed, turn, commit, reason});
	}
	bu_table_print(table, out);
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
render_head(const json_t *rollout, FILE *out)
{
	static const char *const texts[][2] = {
		{"reason", "reason"}, {"plan", "plan"},   {"revision", "revision"},
		{"commit", "commit"}, {"limit", "limit"}, {"by", "by"},
	};
	bu_autofree char *started = time_of(rollout, "started_ms");
	bu_autofree char *ended = time_of(rollout, "ended_ms");
	json_t *grant;
	size_t i;

	line(out, "rollout", bu_json_str(rollout, "id", ""));
	line(out, "state", bu_rollout_state(rollout));
	for (i = 0; i < BU_LEN(texts); i++)
		line(out, texts[i][0], bu_json_str(rollout, texts[i][1], ""));
	json_array_foreach (json_object_get(rollout, "grants"), i, grant) {
		const char *nodes = bu_json_str(grant, "nodes", "");
		bu_autofree char *text =
			bu_xasprintf("%s of %s", bu_json_str(grant, "class", "?"),
				     *nodes ? nodes : "all its nodes");

		line(out, "grant", text);
	}
	line(out, "started", started);
	line(out, "ended", ended);
}

static void
render_pools(const json_t *pools, FILE *out)
{
	static const char *const headings[] = {"POOL",    ">NODES", ">DONE", ">FAILED",
					       ">BUDGET", ">AWAY",  ">WAIT", "CANARY",
					       "NOW",     NULL};
	struct bu_table *table = bu_table_create(headings);
	json_t *pool;
	size_t i;

	json_array_foreach (pools, i, pool) {
		bu_autofree char *total = count_of(pool, "total");
		bu_autofree char *done = count_of(pool, "done");
		bu_autofree char *failed = count_of(pool, "failed");
		bu_autofree char *spent = bu_xasprintf(
			"%lld of %lld", (long long)bu_json_int(pool, "faults", 0),
			(long long)bu_json_int(pool, "failure_budget", 0));
		bu_autofree char *away = bu_xasprintf(
			"%lld of %lld", (long long)bu_json_int(pool, "away", 0),
			(long long)bu_json_int(pool, "max_unavailable", 0));
		bu_autofree char *turn = count_of(pool, "turn");
		bu_autofree char *canary = bu_xasprintf(
			"%lld of %lld", (long long)bu_json_int(pool, "canary_done", 0),
			(long long)bu_json_int(pool, "canary", 0));
		bu_autofree char *why = bu_out_clean(bu_json_str(pool, "why", ""), 0);

		bu_table_row(table, (const char *const[]){
					    bu_json_str(pool, "pool", "?"), total, done,
					    failed, spent, away, turn, canary, why});
	}
	if (json_array_size(pools)) {
		fputc('\n', out);
		bu_table_print(table, out);
	}
	bu_table_destroy(table);
}

/* What makes two orders one row. */
static char *
key_of(const json_t *order)
{
	static const char *const keys[] = {"pool", "class", "status", "state",
					   "reason"};
	char *key = count_of(order, "batch");

	for (size_t i = 0; i < BU_LEN(keys); i++) {
		bu_autofree char *old = key;

		key = bu_xasprintf("%s\n%s", old, bu_json_str(order, keys[i], ""));
	}
	return key;
}

static json_t *
group(const json_t *orders)
{
	json_t *groups = json_object(), *order;
	size_t i;

	json_array_foreach (orders, i, order) {
		bu_autofree char *key = key_of(order);
		json_t *found = json_object_get(groups, key);

		if (!found) {
			found = json_pack("{s:O,s:[]}", "order", order, "nodes");
			json_object_set_new(groups, key, found);
		}
		json_array_append_new(json_object_get(found, "nodes"),
				      json_string(bu_json_str(order, "node", "?")));
	}
	return groups;
}

/* Of an order; "turn" is what the log calls it. */
static const char *
status_of(const json_t *order)
{
	const char *status = bu_json_str(order, "status", "");

	return strcmp(status, "turn") == 0 ? "waiting" : status;
}

static void
render_orders(const json_t *orders, FILE *out)
{
	static const char *const headings[] = {"POOL",  ">COUNT", "NODES",
					       "STEP",  ">BATCH", "STATUS",
					       "STATE", "REASON", NULL};
	bu_autojson json_t *groups = group(orders);
	struct bu_table *table = bu_table_create(headings);
	const char *key;
	json_t *found;

	json_object_foreach (groups, key, found) {
		const json_t *order = json_object_get(found, "order");
		const json_t *names = json_object_get(found, "nodes");
		bu_autofree char *count = bu_xasprintf("%zu", json_array_size(names));
		bu_autofree char *nodes = bu_out_fold(names);
		/* Nodes that are out of service have none. */
		bu_autofree char *batch = bu_json_int(order, "batch", 0) < 0
						  ? bu_xstrdup("-")
						  : count_of(order, "batch");
		bu_autofree char *reason =
			bu_out_clean(bu_json_str(order, "reason", ""), 0);

		bu_table_row(table, (const char *const[]){
					    bu_json_str(order, "pool", ""), count,
					    nodes, bu_json_str(order, "class", ""),
					    batch, status_of(order),
					    bu_json_str(order, "state", ""), reason});
	}
	if (json_array_size(orders)) {
		fputc('\n', out);
		bu_table_print(table, out);
	}
	bu_table_destroy(table);
}

void
bu_render_rollout(const json_t *rollout, FILE *out)
{
	render_head(rollout, out);
	render_pools(json_object_get(rollout, "pools"), out);
	render_orders(json_object_get(rollout, "nodes"), out);
}
