/* SPDX-License-Identifier: Apache-2.0 */
/* bringup pool: how many nodes of a pool are in service, and how many are to be. */
#include <stdio.h>

#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "base/url.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"

static void
print_list(const json_t *pools, FILE *out)
{
	static const char *const headings[] = {"POOL",   "NODES", "IN SERVICE",
					       "WANTED", "MIN",   "MAX",
					       "SPARES", "BY",    NULL};
	static const char *const numbers[] = {"nodes", "in",  "wanted",
					      "min",   "max", "spares"};
	struct bu_table *table = bu_table_create(headings);
	const json_t *pool;
	size_t i;

	json_array_foreach ((json_t *)pools, i, pool) {
		bu_autofree char *by = bu_out_clean(bu_json_str(pool, "by", ""), 0);
		int scaled = bu_json_int(pool, "max", 0) > 0;
		char text[BU_LEN(numbers)][24];

		for (size_t j = 0; j < BU_LEN(numbers); j++)
			snprintf(text[j], sizeof(text[j]), "%lld",
				 (long long)bu_json_int(pool, numbers[j], 0));
		bu_table_row(table, (const char *const[]){
					    bu_json_str(pool, "pool", ""), text[0],
					    text[1], text[2], scaled ? text[3] : "-",
					    scaled ? text[4] : "-", text[5], by, NULL});
	}
	bu_out_table(table, out);
	bu_table_destroy(table);
}

int
bu_cmd_pool_list(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *reply = bu_client_get(client, 0, err, "/v1/pools");
	const json_t *pools = json_object_get(reply, "pools");

	if (!reply)
		return -1;
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(pools, stdout);
	else
		print_list(pools, stdout);
	return 0;
}

int
bu_cmd_pool_scale(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autofree char *name = bu_url_escape(options->args[0]);
	bu_autofree char *path = bu_xasprintf("/v1/pools/%s/scale", name);
	bu_autojson json_t *body = NULL, *reply = NULL;
	int64_t count;

	if (bu_text_int(options->args[1], 0, 100000, &count) != 0)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "'%s': give a number of nodes, as in bringup pool "
				  "scale infer 12",
				  options->args[1]);
	body = json_pack("{s:I,s:s}", "count", (json_int_t)count, "reason",
			 options->reason ? options->reason : "");
	if (!body)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "pool scale: the words are not UTF-8");
	reply = bu_client_post(client, path, body, err);
	if (!reply)
		return -1;
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(reply, stdout);
	else
		printf("pool %s: %lld in service, %lld wanted\n", options->args[0],
		       (long long)bu_json_int(reply, "in", 0),
		       (long long)bu_json_int(reply, "wanted", 0));
	return 0;
}
