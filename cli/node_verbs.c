/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup node hold, drain, validate and the others of model/verb.h: asked of a nodeset
 * at once, answered for each of its nodes. It exits with 0 only when all were taken.
 */
#include "cli/node_verbs.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/client.h"
#include "cli/output.h"

/* Who is kept in the log: whoever became root says who they are. */
static const char *
whoami(void)
{
	const char *sudo = getenv("SUDO_USER");
	const struct passwd *user = sudo && *sudo ? NULL : getpwuid(getuid());

	if (sudo && *sudo)
		return sudo;
	return user ? user->pw_name : "local";
}

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

		fprintf(out, "%s\n", names);
	}
	return code;
}

int
bu_cmd_node_verb(enum bu_verb verb, const struct bu_options *options,
		 struct bu_err *err)
{
	const char *name = bu_verb_info(verb)->name;
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	bu_autofree char *path = bu_xasprintf("/v1/verbs/%s", name);
	bu_autojson json_t *body = NULL, *reply = NULL;

	if (verb == BU_VERB_HOLD && !options->reason)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "node hold needs --reason: whoever finds the node "
				  "held reads it in node why");
	if (options->grants.count > 1)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "node %s takes one --grant, for all of its nodes",
				  name);
	body = json_pack("{s:s,s:s,s:s,s:s,s:b}", "nodes", options->args[0], "by",
			 whoami(), "reason", options->reason ? options->reason : "",
			 "grant", options->grants.count ? options->grants.items[0] : "",
			 "dry_run", options->dry_run);
	if (!body)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "node %s: the words given are no UTF-8", name);
	reply = bu_client_post(client, path, body, err);
	if (!reply)
		return -1;
	return bu_node_verb_print(reply, options->format, stdout, stderr);
}
