/* SPDX-License-Identifier: Apache-2.0 */
/* bringup status, fabric show: the site's nodes, and its measured pairs. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/answer.h"
#include "cli/changes.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "cli/render/render.h"

/* PAIRS: rows of pairs below the nodes; there may be tens of thousands. */
enum { POLL_S = 25, PAIRS_MAX = 20 };

struct watching {
	struct bu_client *client;
	const struct bu_options *options;
	json_t *status;
	json_t *pairs; /* those to print; NULL = not asked for yet */
	int64_t pairs_seq;
};

static void
print_names(const json_t *names)
{
	bu_autofree char *text = bu_out_fold(names);

	bu_out_names(text, stdout);
}

/* First those that did not pass. */
static int
ask_pairs(struct watching *watching, struct bu_err *err)
{
	int64_t seq = bu_json_int(watching->status, "pairs_seq", 0);
	bu_autojson json_t *good = NULL;
	json_t *bad, *list;

	if (watching->pairs && watching->pairs_seq == seq)
		return 0;
	bad = bu_client_pairs(watching->client, "fail,warn,inconclusive", PAIRS_MAX + 1,
			      err);
	if (!bad)
		return -1;
	json_decref(watching->pairs);
	watching->pairs = bad;
	watching->pairs_seq = seq;
	list = json_object_get(bad, "pairs");
	good = bu_client_pairs(watching->client, "pass",
			       PAIRS_MAX + 1 - json_array_size(list), err);
	json_array_extend(list, json_object_get(good, "pairs"));
	return good ? 0 : -1;
}

static int
show_pairs(struct watching *watching, struct bu_err *err)
{
	struct bu_shown_pairs shown;
	size_t count;

	if (ask_pairs(watching, err) != 0 ||
	    bu_answer_read(bu_shown_pairs_fields, watching->pairs, &shown, err) != 0)
		return -1;
	count = shown.pairs_count;
	if (count)
		putchar('\n');
	bu_render_pairs(shown.pairs, count < PAIRS_MAX ? count : PAIRS_MAX, stdout);
	if (count > PAIRS_MAX)
		puts("more pairs were measured; `bringup fabric show` lists them all");
	bu_record_fini(bu_shown_pairs_fields, &shown);
	return 0;
}

static int
show(struct watching *watching, struct bu_err *err)
{
	struct bu_shown_status status;

	if (bu_answer_read(bu_shown_status_fields, watching->status, &status, err) != 0)
		return -1;
	if (watching->options->watch && isatty(STDOUT_FILENO))
		fputs("\033[H\033[2J", stdout);
	bu_render_status(&status, stdout);
	bu_record_fini(bu_shown_status_fields, &status);
	return show_pairs(watching, err);
}

static int
print_status(struct watching *watching, struct bu_err *err)
{
	const struct bu_options *options = watching->options;
	bu_autojson json_t *names =
		bu_out_pick(json_object_get(watching->status, "nodes"), "name");
	int rc = 0;

	if (options->format == BU_FORMAT_HOSTLIST)
		print_names(names);
	else if (options->format == BU_FORMAT_TABLE)
		rc = show(watching, err);
	else if (options->watch)
		bu_out_json_line(watching->status, stdout);
	else
		bu_out_json(watching->status, stdout);
	fflush(stdout);
	return rc;
}

/* Until the daemon does not answer or a person ends it. */
static int
watch(struct watching *watching, struct bu_err *err)
{
	while (!ferror(stdout)) {
		int64_t version = bu_json_int(watching->status, "version", 0);
		bu_autojson json_t *answer = bu_client_get(
			watching->client, POLL_S, err, "/v1/status?since=%lld&wait=%d",
			(long long)version, POLL_S);

		if (!answer)
			return -1;
		bu_changes_take(&watching->status, answer);
		if ((bu_json_int(answer, "version", 0) != version ||
		     isatty(STDOUT_FILENO)) &&
		    print_status(watching, err) != 0)
			return -1;
	}
	return bu_err_set(err, BU_ERR_IO, 0, "cannot write the output");
}

int
bu_cmd_status(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	struct watching watching = {.client = client, .options = options};
	int rc = -1;

	watching.status = bu_client_get(client, 0, err, "/v1/status");
	if (watching.status)
		rc = print_status(&watching, err);
	if (rc == 0 && options->watch)
		rc = watch(&watching, err);
	json_decref(watching.status);
	json_decref(watching.pairs);
	return rc;
}

int
bu_cmd_fabric_show(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = NULL;
	bu_autojson json_t *answer = NULL;
	bu_autojson json_t *names = NULL;
	bu_autojson json_t *others = NULL;
	const json_t *pairs;

	if (options->args_count)
		return bu_fabric_show_node(options, err);
	client = bu_client_open(options);
	answer = bu_client_pairs(client, NULL, SIZE_MAX, err);
	if (!answer)
		return -1;
	pairs = json_object_get(answer, "pairs");
	names = bu_out_pick(pairs, "a");
	others = bu_out_pick(pairs, "b");
	json_array_extend(names, others);
	if (options->format == BU_FORMAT_JSON)
		bu_out_json(pairs, stdout);
	else if (options->format == BU_FORMAT_HOSTLIST)
		print_names(names);
	else if (json_array_size(pairs))
		return bu_fabric_print_pairs(answer, err);
	else
		puts("no pair of nodes has been measured yet");
	return 0;
}
