/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup apply DIR|FILE: plan, show, ask, order, and with --wait follow it to its end.
 * Invariant: what is ordered is the plan that was shown, by its digest.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/follow.h"
#include "cli/grant.h"
#include "cli/output.h"
#include "cli/planned.h"
#include "cli/render.h"
#include "cli/screen.h"

enum {
	POLL_TERMINAL_S = 1, /* the seconds on the screen go on */
	POLL_S = 25,
	RETRY_MS = 1000,
};

/* A plan that was saved says by itself what it is about. */
static int
load_saved(const struct bu_options *options, struct bu_planned *ret, struct bu_err *err)
{
	if (options->only || options->ref || options->path)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--%s: %s is a plan that is made already; give this "
				  "option to bringup plan",
				  options->only  ? "limit"
				  : options->ref ? "ref"
						 : "path",
				  options->args[0]);
	return bu_planned_load(options->args[0], ret, err);
}

static int
load(struct bu_client *client, const struct bu_options *options, struct bu_planned *ret,
     struct bu_err *err)
{
	struct bu_source source;
	struct stat st;
	int rc;

	if (!options->git && options->args_count && stat(options->args[0], &st) == 0 &&
	    S_ISREG(st.st_mode))
		return load_saved(options, ret, err);
	if (bu_source_open(options, &source, err) != 0)
		return -1;
	rc = bu_planned_make(client, &source, options->only, ret, err);
	bu_source_close(&source);
	return rc;
}

static int
ask(struct bu_err *err)
{
	char line[16] = "";

	if (!isatty(STDIN_FILENO))
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "there is no terminal to ask on; add --yes to apply "
				  "without a question");
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
	return bu_planned_steps(planned) > 0 ||
	       json_array_size(json_object_get(planned->plan, "left")) > 0;
}

struct wait {
	struct bu_client *client;
	struct bu_follow *follow;
	struct bu_screen screen;
	int on_terminal;
	int64_t deadline_ms; /* monotonic */
	int64_t version;     /* of the last document; -1 = none */
	int silent;          /* bringupd did not answer the last time */
	json_t *status;      /* the last document */
};

/* The next document; NULL when there is none now. */
static json_t *
poll_status(struct wait *wait, struct bu_err *err)
{
	int64_t left_s = (wait->deadline_ms - bu_mono_ms(bu_clock_system())) / 1000 + 1;
	int wait_s = wait->on_terminal ? POLL_TERMINAL_S : POLL_S;

	if (left_s < wait_s)
		wait_s = left_s > 0 ? (int)left_s : 0;
	if (wait->version < 0)
		return bu_client_get(wait->client, 0, err, "/v1/status");
	return bu_client_get(wait->client, wait_s, err, "/v1/status?since=%lld&wait=%d",
			     (long long)wait->version, wait_s);
}

/* bringupd may be started again at any time; the rollout goes on without us. */
static int
on_silence(struct wait *wait, const struct bu_err *err)
{
	bu_autofree char *text = bu_out_clean(err->text, 0);

	if (err->kind != BU_ERR_REMOTE && err->kind != BU_ERR_TIMEOUT &&
	    err->kind != BU_ERR_BUSY)
		return -1;
	if (!wait->silent) {
		bu_screen_clear(&wait->screen);
		fprintf(stderr, "%s; trying again\n", text);
	}
	wait->silent = 1;
	wait->version = -1;
	usleep(RETRY_MS * 1000);
	return 0;
}

static int
look(struct wait *wait, enum bu_follow_end *ret_end, struct bu_err *err)
{
	json_t *status = poll_status(wait, err);

	*ret_end = BU_FOLLOW_MORE;
	if (!status)
		return on_silence(wait, err);
	json_decref(wait->status);
	wait->status = status;
	wait->silent = 0;
	wait->version = bu_json_int(status, "version", -1);
	*ret_end = bu_follow_update(wait->follow, status,
				    wait->on_terminal ? NULL : stdout);
	if (wait->on_terminal) {
		bu_autojson json_t *nodes = bu_follow_nodes(wait->follow);

		bu_screen_nodes(&wait->screen, nodes,
				bu_json_int(status, "time_ms", 0));
	}
	return 0;
}

static int
fail_timeout(const struct wait *wait, int timeout_s, struct bu_err *err)
{
	const json_t *rollout = json_object_get(wait->status, "rollout");
	bu_autofree char *who = bu_follow_unsettled(wait->follow);

	bu_follow_print_unready(wait->follow, stderr);
	return bu_err_set(err, BU_ERR_TIMEOUT, 0,
			  "not settled after %d s: %lld under way, %lld not yet "
			  "begun%s%s; it goes on, see bringup status --watch",
			  timeout_s, (long long)bu_json_int(rollout, "under_way", 0),
			  (long long)bu_json_int(rollout, "turn", 0), *who ? "; " : "",
			  who);
}

static int
conclude(struct wait *wait, enum bu_follow_end end, const char *rollout, int timeout_s,
	 struct bu_err *err)
{
	bu_autojson json_t *nodes = bu_follow_nodes(wait->follow);

	bu_screen_clear(&wait->screen);
	bu_render_stages(nodes, stdout);
	fflush(stdout);
	switch (end) {
	case BU_FOLLOW_READY:
		return 0;
	case BU_FOLLOW_MORE:
		return fail_timeout(wait, timeout_s, err);
	case BU_FOLLOW_REPLACED:
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "another rollout took the place of %s; see bringup "
				  "status",
				  rollout);
	case BU_FOLLOW_BAD:
		break;
	}
	bu_follow_print_unready(wait->follow, stderr);
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "not all nodes are ready; bringup node why NODE says more");
}

static int
wait_for(struct bu_client *client, const struct bu_planned *planned,
	 const char *rollout, int timeout_s, struct bu_err *err)
{
	bu_autojson json_t *names =
		bu_out_pick(json_object_get(planned->plan, "steps"), "node");
	struct wait wait = {
		.client = client,
		.follow = bu_follow_create(rollout, names),
		.screen = {.out = stdout},
		.on_terminal = isatty(STDOUT_FILENO),
		.deadline_ms =
			bu_mono_ms(bu_clock_system()) + (int64_t)timeout_s * 1000,
		.version = -1,
	};
	enum bu_follow_end end;
	int rc;

	do {
		rc = look(&wait, &end, err);
	} while (rc == 0 && end == BU_FOLLOW_MORE &&
		 bu_mono_ms(bu_clock_system()) < wait.deadline_ms);
	if (rc == 0)
		rc = conclude(&wait, end, rollout, timeout_s, err);
	bu_follow_destroy(wait.follow);
	json_decref(wait.status);
	return rc;
}

static int
order(struct bu_client *client, const struct bu_planned *planned, json_t *grants,
      const struct bu_options *options, struct bu_err *err)
{
	bu_autojson json_t *body =
		json_pack("{s:s,s:O}", "digest", planned->digest, "grants", grants);
	bu_autojson json_t *reply = bu_client_post(client, "/v1/apply", body, err);
	const char *rollout;
	int64_t nodes;

	if (!reply || bu_json_get_str(reply, "rollout", &rollout, err) != 0 ||
	    bu_json_get_int(reply, "nodes", &nodes, err) != 0)
		return -1;
	printf("applied: rollout %s of %lld node%s\n", rollout, (long long)nodes,
	       nodes == 1 ? "" : "s");
	fflush(stdout);
	if (!options->wait || nodes == 0)
		return 0;
	return wait_for(client, planned, rollout, options->timeout_s, err);
}

static int
agree(struct bu_client *client, const struct bu_planned *planned,
      const struct bu_options *options, struct bu_err *err)
{
	const json_t *steps = json_object_get(planned->plan, "steps");
	bu_autojson json_t *grants = bu_grants_make(&options->grants, steps, err);

	if (!grants || bu_grants_check(grants, steps, err) != 0 ||
	    (!options->yes && changes(planned) && ask(err) != 0))
		return -1;
	return order(client, planned, grants, options, err);
}

int
bu_cmd_apply(const struct bu_options *options, struct bu_err *err)
{
	bu_autoclient struct bu_client *client = bu_client_create(options->socket);
	struct bu_planned planned;
	int rc;

	if (load(client, options, &planned, err) != 0)
		return -1;
	bu_planned_print(&planned, stdout);
	rc = agree(client, &planned, options, err);
	bu_planned_fini(&planned);
	return rc;
}
