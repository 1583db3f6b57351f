/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup apply DIR|FILE: plan, show, ask, order, and with --wait follow it to its end.
 * Invariant: what is ordered is the plan that was shown, by its digest.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/grant.h"
#include "cli/render/output.h"
#include "cli/render/planned.h"
#include "cli/wait.h"

/* A plan that was saved says by itself what it is about. */
static int
load_saved(const struct bu_options *options, struct bu_planned *ret, struct bu_err *err)
{
	if (options->only || options->restart || options->ref || options->path)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--%s: %s is a finished plan; give this option to "
				  "bringup plan",
				  options->only      ? "limit"
				  : options->restart ? "restart-orders"
				  : options->ref     ? "ref"
						     : "path",
				  options->args[0]);
	return bu_planned_load(options->args[0], ret, err);
}

static int
load(struct bu_client *client, const struct bu_options *options, struct bu_planned *ret,
     struct bu_err *err)
{
	struct bu_git_source source;
	struct stat st;
	int rc;

	if (!options->git && options->args_count && stat(options->args[0], &st) == 0 &&
	    S_ISREG(st.st_mode))
		return load_saved(options, ret, err);
	if (bu_git_source_open(options, &source, err) != 0)
		return -1;
	rc = bu_planned_make(
		client, &source,
		&(struct bu_planned_request){options->only, options->restart}, ret,
		err);
	bu_git_source_close(&source);
	return rc;
}

static int
ask(struct bu_err *err)
{
	char line[16] = "";

	if (!isatty(STDIN_FILENO))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "no terminal to ask on; add --yes to apply without "
				  "a question");
	printf("Apply? [y/N] ");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin) || strspn(line, "yY") == 0)
		return bu_err_set(err, BU_ERR_CANCELLED, 0, "nothing was applied");
	return 0;
}

/* Whether a person has something to agree to. */
static int
changes(const struct bu_planned *planned)
{
	return bu_planned_changes(planned) || planned->read.left_count > 0;
}

/* What became of it, for a person or a program. */
static void
tell(const struct bu_planned *planned, const json_t *reply, int format)
{
	const char *rollout = bu_json_str(reply, "rollout", "");
	const char *revision = planned->read.revision;
	long long nodes = (long long)bu_json_int(reply, "nodes", 0);
	bu_autojson json_t *value = NULL;
	bu_autofree char *names = NULL;

	if (format == BU_FORMAT_JSON) {
		value = json_pack("{s:s,s:s,s:s,s:I,s:O}", "plan", planned->digest,
				  "revision", revision, "rollout", rollout, "nodes",
				  (json_int_t)nodes, "refused",
				  json_object_get(planned->plan, "refused"));
		bu_out_json(value, stdout);
	} else if (format == BU_FORMAT_HOSTLIST) {
		names = bu_planned_hostlist(planned);
		bu_out_names(names, stdout);
	} else if (*rollout) {
		printf("applied: rollout %s of %lld node%s\n", rollout, nodes,
		       nodes == 1 ? "" : "s");
	} else if (strcmp(revision, planned->read.base) == 0) {
		puts("applied: nothing to do");
	} else if (bu_planned_reach(planned)) {
		printf("applied: revision %.12s; no node gets a step, what changes has "
		       "taken effect\n",
		       revision);
	} else {
		printf("applied: revision %.12s, which changes no node\n", revision);
	}
	fflush(stdout);
}

static int
order(struct bu_client *client, const struct bu_planned *planned, json_t *grants,
      const struct bu_options *options, struct bu_err *err)
{
	bu_autojson json_t *body = bu_planned_request(planned, grants);
	bu_autojson json_t *reply = NULL;
	const char *rollout;
	int64_t nodes;

	reply = bu_client_post(client, "/v1/apply", body, err);
	if (!reply || bu_json_get_str(reply, "rollout", &rollout, err) != 0 ||
	    bu_json_get_int(reply, "nodes", &nodes, err) != 0)
		return -1;
	tell(planned, reply, options->format);
	/* A node that failed is worse than one that was left alone. */
	if (options->wait && *rollout &&
	    bu_wait_for(client, planned, rollout, options->timeout_s, err) != 0)
		return -1;
	return bu_planned_whole(planned, err);
}

/* What a program reads has no question in it, and no progress. */
static int
check_format(const struct bu_options *options, struct bu_err *err)
{
	if (options->format == BU_FORMAT_TABLE || (options->yes && !options->wait))
		return 0;
	if (options->wait)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--wait prints for people and does not go with -o; "
				  "follow with bringup rollout show -o json");
	return bu_err_set(err, BU_ERR_USAGE, 0,
			  "-o: it cannot ask a question; add --yes");
}

static int
agree(struct bu_client *client, const struct bu_planned *planned,
      const struct bu_options *options, struct bu_err *err)
{
	const struct bu_plan *plan = &planned->read;
	bu_autojson json_t *grants = bu_grants_make(&options->grants, plan, err);

	if (!grants || bu_grants_check(grants, plan, err) != 0 ||
	    (!options->yes && changes(planned) && ask(err) != 0))
		return -1;
	return order(client, planned, grants, options, err);
}

int
bu_cmd_apply(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_open(options);
	struct bu_planned planned;
	int rc;

	if (check_format(options, err) != 0 ||
	    load(client, options, &planned, err) != 0)
		return -1;
	if (options->format == BU_FORMAT_TABLE)
		bu_planned_print(&planned, stdout);
	rc = bu_planned_allowed(&planned, err);
	if (rc == 0)
		rc = agree(client, &planned, options, err);
	bu_planned_fini(&planned);
	return rc;
}
