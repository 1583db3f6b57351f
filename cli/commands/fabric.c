/* SPDX-License-Identifier: Apache-2.0 */
/* bringup fabric run, matrix, and show of one node. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/url.h"
#include "cli/answer.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "cli/render/render.h"
#include "model/result.h"

enum { POLL_S = 25 };

int
bu_fabric_print_pairs(const json_t *answer, struct bu_err *err)
{
	struct bu_shown_pairs shown;

	if (bu_answer_read(bu_shown_pairs_fields, answer, &shown, err) != 0)
		return -1;
	bu_render_pairs(shown.pairs, shown.pairs_count, stdout);
	bu_record_fini(bu_shown_pairs_fields, &shown);
	return 0;
}

/* 1: some of it is bad; -1: it cannot be read. */
static int
print_run(const json_t *run, const struct bu_options *options, struct bu_err *err)
{
	const json_t *pairs = json_object_get(run, "pairs");
	const json_t *missed = json_object_get(run, "missed");
	const json_t *refused = json_object_get(run, "refused");
	int bad = json_array_size(missed) + json_array_size(refused) > 0;
	size_t i;
	json_t *pair;

	json_array_foreach (pairs, i, pair) {
		enum bu_verdict verdict = bu_verdict_of(pair);

		bad |= verdict != BU_VERDICT_PASS && verdict != BU_VERDICT_WARN;
	}
	if (options->format != BU_FORMAT_TABLE)
		bu_out_json(run, stdout);
	else if (bu_fabric_print_pairs(run, err) != 0)
		return -1;
	json_array_foreach (missed, i, pair) {
		bu_autofree char *why = bu_out_said(json_object_get(pair, "why"));

		fprintf(stderr, "%s <-> %s was not measured on %s: %s\n",
			bu_json_str(pair, "a", "?"), bu_json_str(pair, "b", "?"),
			bu_json_str(pair, "rail", "?"), why);
	}
	json_array_foreach (refused, i, pair) {
		bu_autofree char *why = bu_out_said(json_object_get(pair, "why"));

		fprintf(stderr, "%s\n", why);
	}
	return bad;
}

int
bu_cmd_fabric_run(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
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
			return print_run(run, options, err);
	}
}

/* Everything that is known of one node; of a quarantine, its evidence. */
int
bu_fabric_show_node(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autofree char *name = bu_url_escape(options->args[0]);
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
gbps_of(const struct bu_shown_pairs *shown, const char *rail, const char *from,
	const char *to)
{
	for (size_t i = 0; i < shown->pairs_count; i++) {
		const struct bu_shown_pair *pair = &shown->pairs[i];

		if (strcmp(pair->rail, rail) != 0)
			continue;
		if (strcmp(pair->a, from) == 0 && strcmp(pair->b, to) == 0)
			return pair->ab_gbps;
		if (strcmp(pair->b, from) == 0 && strcmp(pair->a, to) == 0)
			return pair->ba_gbps;
	}
	return -1;
}

/* A row per sender, a column per receiver, Gbit/s of the last probe on this rail. */
static void
print_rail(const json_t *names, const struct bu_shown_pairs *shown, const char *rail)
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
				gbps_of(shown, rail, from,
					json_string_value(json_array_get(names, k)));

			if (gbps < 0)
				printf(" %10s", "-");
			else
				printf(" %10.4g", gbps);
		}
		putchar('\n');
	}
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Few pairs of many rails: a line each. */
static void
print_across(const struct bu_shown_pairs *shown)
{
	bu_autofree struct bu_shown_pair *list =
		bu_xcalloc(shown->pairs_count, sizeof(*list));
	size_t count = 0;

	for (size_t i = 0; i < shown->pairs_count; i++)
		if (bu_rail_is_across(shown->pairs[i].rail))
			list[count++] = shown->pairs[i];
	if (count)
		puts("\nacross rails");
	bu_render_pairs(list, count, stdout);
}

/* A table of each rail that was measured, in the order of their names, then what was
 * measured across them. */
static void
print_matrix(const json_t *names, const struct bu_shown_pairs *shown)
{
	size_t count = shown->pairs_count, printed = 0;
	bu_autofree const char **rails = bu_xcalloc(count, sizeof(*rails));

	for (size_t i = 0; i < count; i++)
		rails[i] = shown->pairs[i].rail;
	qsort(rails, count, sizeof(*rails), by_name);
	if (count == 0)
		print_rail(names, shown, "");
	for (size_t i = 0; i < count; i++) {
		if (bu_rail_is_across(rails[i]) ||
		    (i && strcmp(rails[i], rails[i - 1]) == 0))
			continue;
		if (strcmp(rails[0], rails[count - 1]) != 0)
			printf("%srail %s\n", printed++ ? "\n" : "",
			       *rails[i] ? rails[i] : "-");
		print_rail(names, shown, rails[i]);
	}
	print_across(shown);
}

int
bu_cmd_fabric_matrix(const struct bu_options *options, struct bu_err *err)
{
	const char *set = options->args_count ? options->args[0] : NULL;
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autojson json_t *reply = bu_client_nodes(client, set, err), *names = NULL;
	bu_autojson json_t *pairs =
		reply ? bu_client_pairs(client, NULL, SIZE_MAX, err) : NULL;
	struct bu_shown_pairs shown;

	if (!pairs || bu_answer_read(bu_shown_pairs_fields, pairs, &shown, err) != 0)
		return -1;
	names = bu_out_pick(json_object_get(reply, "nodes"), "name");
	if (options->format == BU_FORMAT_TABLE)
		print_matrix(names, &shown);
	else
		bu_out_json(json_object_get(pairs, "pairs"), stdout);
	bu_record_fini(bu_shown_pairs_fields, &shown);
	return 0;
}
