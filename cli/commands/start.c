/* SPDX-License-Identifier: Apache-2.0 */
/* bringup start: after a power loss of everything, the machines in the profile's order.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/client.h"
#include "cli/commands/commands.h"
#include "cli/render/output.h"
#include "model/sentence.h"

static void
print_pool(const json_t *row, FILE *out)
{
	const json_t *nodes = json_object_get(row, "nodes");
	bu_autofree char *folded = bu_out_fold(nodes);
	bu_autofree char *names = bu_out_clean(folded, 0);
	bu_autofree char *pool = bu_out_clean(bu_json_str(row, "pool", ""), 0);

	fprintf(out, "start = %lld: pool %s, %zu node%s (%s), %zu of them up\n",
		(long long)bu_json_int(row, "tier", 0), pool, json_array_size(nodes),
		json_array_size(nodes) == 1 ? "" : "s", names,
		json_array_size(json_object_get(row, "up")));
}

static void
print_left(const json_t *left, FILE *out)
{
	bu_autofree char *why = bu_said_text(json_object_get(left, "why"));
	bu_autofree char *clean = bu_out_clean(why, 0);
	bu_autofree char *names = bu_out_fold(json_object_get(left, "nodes"));
	bu_autofree char *nodes = bu_out_clean(names, 0);

	fprintf(out, "left alone: %s: %s\n", nodes, clean);
}

void
bu_start_print(const json_t *plan, FILE *out)
{
	size_t at;
	json_t *row;

	json_array_foreach (json_object_get(plan, "pools"), at, row)
		print_pool(row, out);
	json_array_foreach (json_object_get(plan, "left"), at, row)
		print_left(row, out);
	fprintf(out,
		"machines that are off are switched on, in this order and at most %lld of "
		"a rack at a time; none is switched off or reset\n",
		(long long)bu_json_int(plan, "per_rack", 0));
}

static int
ask(struct bu_err *err)
{
	char line[16] = "";

	if (!isatty(STDIN_FILENO))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "no terminal to ask on; add --yes to start without a "
				  "question");
	printf("Start? [y/N] ");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin) || strspn(line, "yY") == 0)
		return bu_err_set(err, BU_ERR_CANCELLED, 0, "nothing was started");
	return 0;
}

static int
post(struct bu_client *client, const struct bu_options *options, const char *op,
     const json_t *plan, struct bu_err *err)
{
	const json_t *running = json_object_get(plan, "running");
	bu_autojson json_t *body =
		json_pack("{s:s,s:I,s:s}", "op", op, "tier",
			  (json_int_t)bu_json_int(running, "tier", 0), "reason",
			  options->reason ? options->reason : "");
	bu_autojson json_t *reply = bu_client_post(client, "/v1/start", body, err);

	return reply ? 0 : -1;
}

static int
begin(struct bu_client *client, const struct bu_options *options, const json_t *plan,
      struct bu_err *err)
{
	int runs = json_is_object(json_object_get(plan, "running"));

	bu_start_print(plan, stdout);
	/* Of one that runs bringupd says by whom. */
	if ((!runs && !options->yes && ask(err) != 0) ||
	    post(client, options, "begin", plan, err) != 0)
		return -1;
	puts("started; bringup status says how far it is");
	return 0;
}

int
bu_cmd_start(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = NULL;
	bu_autojson json_t *plan = NULL;

	if (options->next && options->abort)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--next goes on and --abort ends it: one of them");
	client = bu_client_open(options);
	plan = bu_client_get(client, 0, err, "/v1/start");
	if (!plan)
		return -1;
	if (!options->next && !options->abort)
		return begin(client, options, plan, err);
	if (post(client, options, options->next ? "next" : "abort", plan, err) != 0)
		return -1;
	puts(options->next ? "the start goes on without the nodes that are not up"
			   : "the start has ended; machines that are on stay on");
	return 0;
}
