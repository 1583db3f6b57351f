/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools and their size: for people, and for programs that scale by load. Called by the
 * router. Invariant: what is answered as taken is in the log before the answer is sent.
 */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "profiles/language/schema.h"
#include "provisioner/api/api.h"
#include "provisioner/node/scale.h"

/* {"pool","nodes","in","wanted","count","min","max","spares","by","at_ms"} */
static json_t *
pool_json(const struct bu_fleet *fleet, const struct bu_desired_pool *pool, int wanted)
{
	const struct bu_scale *scale = bu_scale_of(fleet, pool);
	struct bu_scale_tally tally;

	bu_scale_count(fleet, pool, &tally);
	return json_pack("{s:s,s:i,s:i,s:i,s:i,s:i,s:i,s:i,s:s,s:I}", "pool",
			 pool->name, "nodes", (int)pool->nodes_count, "in", tally.in,
			 "wanted", wanted, "count", pool->count, "min", pool->min,
			 "max", pool->max, "spares", tally.spares, "by",
			 scale ? scale->by : "", "at_ms",
			 (json_int_t)(scale ? scale->at_ms : 0));
}

BU_HANDLER(bu_api_pools)
{
	const struct bu_api *api = arg;
	const struct bu_desired *desired = api->fleet->desired;
	json_t *list = json_array();

	for (size_t i = 0; desired && i < desired->pools_count; i++)
		json_array_append_new(
			list,
			pool_json(api->fleet, &desired->pools[i],
				  bu_scale_wanted(api->fleet, &desired->pools[i])));
	reply->json = json_pack("{s:o}", "pools", list);
	return BU_ANSWER_NOW;
}

static const struct bu_desired_pool *
find_pool(const struct bu_desired *desired, const char *name, struct bu_err *err)
{
	size_t count = desired ? desired->pools_count : 0;
	bu_autofree const char **names = bu_xcalloc(count + 1, sizeof(*names));
	bu_autofree char *hint = NULL;

	for (size_t i = 0; i < count; i++) {
		names[i] = desired->pools[i].name;
		if (strcmp(names[i], name) == 0)
			return &desired->pools[i];
	}
	hint = bu_did_you_mean(name, names, count);
	bu_err_set(err, BU_ERR_NOTFOUND, 0,
		   "no pool '%.63s'%s; bringup pool list names them", name, hint);
	return NULL;
}

struct wish {
	int64_t count;
	const char *reason;
};
static const struct bu_field wish_fields[] = {
	BU_FIELD(INT, struct wish, count),
	BU_FIELD(STRING, struct wish, reason, .need = BU_SPARSE, .unsaid = ""),
	BU_FIELD_END,
};

BU_HANDLER(bu_api_pool_scale)
{
	struct bu_api *api = arg;
	const struct bu_desired_pool *pool =
		find_pool(api->fleet->desired, request->params[0], err);
	struct wish wish;

	if (!pool || bu_request_read(request, wish_fields, &wish, err) != 0 ||
	    bu_scale_ask(api->rec, pool, wish.count, bu_request_by(request),
			 wish.reason, err) != 0)
		return BU_ANSWER_ERROR;
	reply->logged = api->fleet->store;
	reply->json = pool_json(api->fleet, pool, (int)wish.count);
	return BU_ANSWER_NOW;
}
