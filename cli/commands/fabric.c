/* SPDX-License-Identifier: Apache-2.0 */
/* bringup fabric run, matrix, and show of one node. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "cli/render/render.h"
#include "model/result.h"

enum { POLL_S = 25 };

static int
print_run(const json_t *run, const struct bu_options *options)
{
	const json_t *pairs = json_object_get(run, "pairs");
	const json_t *missed = json_object_get(run, "missed");
	int bad = json_array_size(missed) > 0;
	size_t i;
	json_t *pair;

	json_array_foreach (pairs, i, pair) {
		enum bu_verdict verdict = bu_verdict_of(pair);

		bad |= verdict != BU_VERDICT_PASS && verdict != BU_VERDICT_WARN;
	}
	if (options->format == BU_FORMAT_TABLE)
		bu_render_pairs(pairs, stdout);
	else
		bu_out_json(run, stdout);
	json_array_foreach (missed, i, pair)
		fprintf(stderr, "%s <-> %s was not measured on %s: %s\n",
			bu_json_str(pair, "a", "?"), bu_json_str(pair, "b", "?"),
			bu_json_str(pair, "rail", "?"), bu_json_str(pair, "why", "?"));
	return bad;
}

int
bu_cmd_fabric_run(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	bu_autojson json_t *body = json_pack("{s:s}", "set", options->args[0]);
	bu_autojson json_t *begun = NULL;

	begun = body ? bu_client_post(client, "/v1/fabric/runs", body, err) : NULL;
	if (!begun)
		return body ? -1
			    : bu_err_set(err, BU_ERR_USAGE, 0, "this is not UTF-8");
	for (;;) {
		bu_autojson json_t *run =
			bu_client_get(client, POLL_S, err, "/v1/fabric/runs/%s?wait=%d",
				      bu_json_str(begun, "run", ""), POLL_S);

		if (!run)
			return -1;
		if (bu_json_bool(run, "done", 0))
			return print_run(run, options);
	}
}

/* Everything that is known of one node; of a quarantine, its evidence. */
int
bu_fabric_show_node(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	bu_autofree char *name = bu_client_escape(options->args[0]);
	bu_autojson json_t *shown =
		bu_client_get(client, 0, err, "/v1/nodes/%s/fabric", name);

	if (!shown)
		return -1;
	if (options->format == BU_FORMAT_TABLE)
		bu_render_evidence(shown, stdout);
	else
		bu_out_json(shown, stdout);
	return 0;
}

static double
gbps_of(const json_t *pairs, const char *rail, const char *from, const char *to)
{
	size_t i;
	json_t *pair;

	json_array_foreach (pairs, i, pair) {
		const char *a = bu_json_str(pair, "a", ""),
			   *b = bu_json_str(pair, "b", "");

		if (strcmp(bu_json_str(pair, "rail", ""), rail) != 0)
			continue;
		if (strcmp(a, from) == 0 && strcmp(b, to) == 0)
			return bu_json_real(pair, "ab_gbps", -1);
		if (strcmp(b, from) == 0 && strcmp(a, to) == 0)
			return bu_json_real(pair, "ba_gbps", -1);
	}
	return -1;
}

/* A row per sender, a column per receiver, Gbit/s of the last probe on this rail. */
static void
print_rail(const json_t *names, const json_t *pairs, const char *rail)
{
	size_t i, k, count = json_array_size(names);

	printf("%-16s", "from \\ to");
	for (k = 0; k < count; k++)
		printf(" %10.10s", json_string_value(json_array_get(names, k)));
	putchar('\n');
	for (i = 0; i < count; i++) {
		const char *from = json_string_value(json_array_get(names, i));

		printf("%-16s", from);
		for (k = 0; k < count; k++) {
			double gbps =
				gbps_of(pairs, rail, from,
					json_string_value(json_array_get(names, k)));

			if (gbps < 0)
				printf(" %10s", "-");
			else
				printf(" %10.4g", gbps);
		}
		putchar('\n');
	}
}

/* The rails that were measured, in the order of their names. */
static json_t *
rails_of(const json_t *pairs)
{
	bu_autojson json_t *seen = json_object();
	json_t *rails = json_array(), *value;
	const char *rail;
	size_t i;
	json_t *pair;

	json_array_foreach (pairs, i, pair)
		json_object_set_new(seen, bu_json_str(pair, "rail", ""), json_true());
	bu_autofree char *sorted = json_dumps(seen, JSON_SORT_KEYS | JSON_COMPACT);
	bu_autojson json_t *again = json_loads(sorted, 0, NULL);

	json_object_foreach (again, rail, value)
		json_array_append_new(rails, json_string(rail));
	return rails;
}

static void
print_matrix(const json_t *names, const json_t *pairs)
{
	bu_autojson json_t *rails = rails_of(pairs);
	size_t count = json_array_size(rails);

	if (count == 0)
		print_rail(names, pairs, "");
	for (size_t i = 0; i < count; i++) {
		const char *rail = json_string_value(json_array_get(rails, i));

		if (count > 1)
			printf("%srail %s\n", i ? "\n" : "", *rail ? rail : "-");
		print_rail(names, pairs, rail);
	}
}

int
bu_cmd_fabric_matrix(const struct bu_options *options, struct bu_err *err)
{
	const char *set = options->args_count ? options->args[0] : NULL;
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	bu_autojson json_t *reply = bu_client_nodes(client, set, err), *names = NULL;
	bu_autojson json_t *status = bu_client_get(client, 0, err, "/v1/status");

	if (!reply || !status)
		return -1;
	names = bu_out_pick(json_object_get(reply, "nodes"), "name");
	if (options->format == BU_FORMAT_TABLE)
		print_matrix(names, json_object_get(status, "pairs"));
	else
		bu_out_json(json_object_get(status, "pairs"), stdout);
	return 0;
}
