/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET /v1/fabric/pairs: the last measurement of each pair in the present boots of both
 * nodes, in pages. Called by the page and by `bringup fabric show` and `matrix`.
 * Invariant: one request looks at PAIRS_SCAN pairs at most, however many there are.
 */
#include <string.h>

#include "base/json.h"
#include "model/shown_status.h"
#include "provisioner/api/api.h"

enum { PAIRS_MAX = 1000, PAIRS_SCAN = 10000 };

/* Whether a name is one of a list "fail,warn"; NULL = every one is. */
static int
is_listed(const char *list, const char *name)
{
	size_t size = strlen(name);

	for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
		if (strncmp(at, name, size) == 0 && (at[size] == ',' || !at[size]))
			return 1;
	return !list;
}

/* Both nodes have their names still, and have not booted since. */
static int
is_present(const struct bu_fleet *fleet, const struct bu_pair_log *log)
{
	for (int i = 0; i < 2; i++) {
		const struct bu_node *node = bu_fleet_node(fleet, log->name[i]);

		if (!node || strcmp(node->boot_id, log->boot[i]) != 0)
			return 0;
	}
	return 1;
}

/* The short form, without every run of it. */
static json_t *
pair_json(const struct bu_pair_log *log)
{
	bu_autojson json_t *pair = bu_measurements_brief(log);
	json_t *brief = json_object();

	for (const struct bu_field *f = bu_shown_pair_fields; f->key; f++)
		json_object_set(brief, f->key, json_object_get(pair, f->key));
	return brief;
}

BU_HANDLER(bu_api_pairs)
{
	const struct bu_api *api = arg;
	const struct bu_measurements *all = &api->fleet->measurements;
	const char *verdicts = bu_request_query(request, "verdict");
	size_t after = (size_t)bu_request_number(request, "after", 0, INT32_MAX);
	size_t limit =
		(size_t)bu_request_number(request, "limit", PAIRS_MAX, PAIRS_MAX);
	size_t end = after + PAIRS_SCAN, at = after;
	json_t *pairs = json_array();

	if (end > all->count)
		end = all->count;
	for (; at < end && json_array_size(pairs) < limit; at++)
		if (is_listed(verdicts, bu_verdict_name(all->logs[at].last.verdict)) &&
		    is_present(api->fleet, &all->logs[at]))
			json_array_append_new(pairs, pair_json(&all->logs[at]));
	reply->json = json_pack("{s:o,s:I,s:b}", "pairs", pairs, "after",
				(json_int_t)at, "more", at < all->count);
	return BU_ANSWER_NOW;
}
