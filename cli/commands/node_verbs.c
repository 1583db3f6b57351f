/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup node hold, drain, validate and the others of model/verb.h: asked of a nodeset
 * at once, answered for each of its nodes. It exits with 0 only when all were taken.
 */
#include "cli/commands/node_verbs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/answer.h"
#include "cli/client.h"
#include "cli/render/output.h"
#include "model/class.h"
#include "model/power_request.h"

int
bu_node_verb_print(const json_t *reply, int format, FILE *out, FILE *errors)
{
	int dry_run = bu_json_bool(reply, "dry_run", 0), code = 0;
	bu_autojson json_t *taken = json_array();
	size_t i;
	json_t *answer;

	json_array_foreach (json_object_get(reply, "nodes"), i, answer) {
		int ok = bu_json_bool(answer, "ok", 0);
		bu_autofree char *text =
			bu_out_clean(bu_json_str(answer, "text", ""), 0);

		if (ok)
			json_array_append(taken, json_object_get(answer, "node"));
		else if (!code)
			code = bu_err_exit_code(
				bu_err_from_name(bu_json_str(answer, "kind", "")));
		if (ok && format == BU_FORMAT_TABLE)
			fprintf(out, "%s: %s%s\n", bu_json_str(answer, "node", "?"),
				dry_run ? "would be: " : "", text);
		else if (!ok && format != BU_FORMAT_JSON)
			fprintf(errors, "bringup: %s\n", text);
	}
	if (format == BU_FORMAT_JSON) {
		bu_out_json(json_object_get(reply, "nodes"), out);
	} else if (format == BU_FORMAT_HOSTLIST) {
		bu_autofree char *names = bu_out_fold(taken);

		bu_out_names(names, out);
	}
	return code;
}

/* --- power: the answer is what came of it --- */

/* A BMC is back after minutes. */
enum { POWER_POLL_MS = 300, POWER_WAIT_S = 90, BMC_WAIT_S = 510 };

/* NULL while it is under way; the line for people, owned; *ret_ok whether it is done.
 */
static char *
power_outcome(const struct bu_shown_power *power, const char *op, int64_t since_ms,
	      int *ret_ok)
{
	const struct bu_shown_seen *seen = &power->seen;
	int status =
		bu_word_find(bu_power_request_names, op) == BU_POWER_REQUEST_STATUS;
	const char *error = status ? seen->error : power->detail;
	const char *is = status ? seen->power : power->power;

	if (status ? seen->at_ms < since_ms
		   : strcmp(power->result, bu_outcome_names[BU_OUTCOME_ASKED]) == 0)
		return NULL;
	*ret_ok = !*error;
	if (!*error)
		return bu_xstrdup(is);
	return bu_xasprintf("%s: %s%s%s%s", status ? "unknown" : power->result, error,
			    *is ? " (it is " : "", is, *is ? " now)" : "");
}

int
bu_node_power_take(json_t *answers, const struct bu_shown_nodes *now, const char *op,
		   int64_t since_ms)
{
	size_t i;
	json_t *answer;
	int open = 0;

	json_array_foreach (answers, i, answer) {
		const char *name = bu_json_str(answer, "node", "");
		bu_autofree char *text = NULL;
		int ok = 0;

		if (!bu_json_bool(answer, "ok", 0) || json_object_get(answer, "ended"))
			continue;
		for (size_t k = 0; k < now->nodes_count && !text; k++)
			if (strcmp(now->nodes[k].name, name) == 0)
				text = power_outcome(&now->nodes[k].power, op, since_ms,
						     &ok);
		open += text == NULL;
		if (!text)
			continue;
		json_object_set_new(answer, "ended", json_true());
		json_object_set_new(answer, "ok", json_boolean(ok));
		json_object_set_new(answer, "text", json_string(text));
		if (!ok)
			json_object_set_new(answer, "kind",
					    json_string(bu_err_name(BU_ERR_REMOTE)));
	}
	return open;
}

/* How many are still open; -1: it cannot be asked. */
static int
look_at_power(struct bu_client *client, const char *nodes, const char *op,
	      json_t *reply, struct bu_err *err)
{
	bu_autojson json_t *answer = bu_client_nodes(client, nodes, err);
	struct bu_shown_nodes now;
	int open;

	if (!answer || bu_answer_read(bu_shown_nodes_fields, answer, &now, err) != 0)
		return -1;
	open = bu_node_power_take(json_object_get(reply, "nodes"), &now, op,
				  bu_json_int(reply, "time_ms", 0));
	bu_record_fini(bu_shown_nodes_fields, &now);
	return open;
}

/* op: "" = the verb is done when it is taken. */
static int
wait_for_power(struct bu_client *client, const char *nodes, const char *op,
	       json_t *reply, struct bu_err *err)
{
	int wait_s =
		bu_word_find(bu_power_request_names, op) == BU_POWER_REQUEST_BMC_RESET
			? BMC_WAIT_S
			: POWER_WAIT_S;
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + wait_s * 1000;

	while (*op) {
		int open = look_at_power(client, nodes, op, reply, err);

		if (open <= 0)
			return open;
		if (bu_mono_ms(bu_clock_system()) > until_ms)
			return bu_err_set(err, BU_ERR_TIMEOUT, 0,
					  "power %s: no outcome after %d s; bringup "
					  "events has it when it comes",
					  op, wait_s);
		usleep(POWER_POLL_MS * 1000);
	}
	return 0;
}

int
bu_cmd_node_verb(enum bu_verb verb, const struct bu_options *options,
		 struct bu_err *err)
{
	const char *name = bu_verb_info(verb)->name;
	int power = verb == BU_VERB_POWER;
	const char *op = power ? options->args[0]
			 : verb == BU_VERB_BMC_RESET
				 ? bu_power_request_names[BU_POWER_REQUEST_BMC_RESET]
				 : "";
	bu_autoclient struct bu_client *client = bu_client_open(options);
	bu_autofree char *path = bu_xasprintf("/v1/verbs/%s", name);
	bu_autojson json_t *body = NULL, *reply = NULL;

	if (verb == BU_VERB_HOLD && !options->reason)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "node hold needs --reason; node why shows it");
	if (options->grants.count > 1)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "node %s takes one --grant, for all of its nodes",
				  name);
	if (options->grants.count && !bu_grant_name_ok(options->grants.items[0]))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--grant '%s': give one of " BU_GRANT_NAMES
				  " alone; it is for the nodes of the command",
				  options->grants.items[0]);
	body = json_pack("{s:s,s:s,s:s,s:s,s:b,s:b}", "nodes", options->args[power],
			 "reason", options->reason ? options->reason : "", "grant",
			 options->grants.count ? options->grants.items[0] : "", "op",
			 power ? options->args[0] : "", "force", options->force,
			 "dry_run", options->dry_run);
	if (!body)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "node %s: the text is not UTF-8", name);
	reply = bu_client_post(client, path, body, err);
	if (reply && json_array_size(json_object_get(reply, "nodes")) == 0)
		fprintf(stderr, "bringup: no node is in '%s'; nothing is done\n",
			options->args[power]);
	if (!reply || (!options->dry_run && wait_for_power(client, options->args[power],
							   op, reply, err) != 0))
		return -1;
	return bu_node_verb_print(reply, options->format, stdout, stderr);
}
