/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for a rollout, for apply --wait: asks bringupd, shows what has changed, says
 * how it ended. Invariant: it only looks; bringupd goes on without it.
 */
#include "cli/wait.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "cli/render/follow.h"
#include "cli/render/node_text.h"
#include "cli/render/output.h"
#include "cli/render/render.h"
#include "cli/render/screen.h"
#include "model/sentence.h"

enum {
	POLL_TERMINAL_S = 1, /* the seconds on the screen go on */
	POLL_S = 25,
	RETRY_MS = 1000,
};

struct wait {
	struct bu_client *client;
	struct bu_follow *follow;
	const char *rollout;
	struct bu_screen screen;
	int on_terminal;
	int64_t deadline_ms; /* monotonic */
	int64_t version;     /* of the last document; -1 = none */
	int silent;          /* bringupd did not answer the last time */
};

static const struct bu_shown_rollout *
last_of(const struct wait *wait)
{
	return &bu_follow_last(wait->follow)->rollout;
}

/* --- Ctrl-C --- */

/* Made before the signal can come: its handler may only write. */
static char goodbye[320];

static void
on_interrupt(int signo)
{
	ssize_t ignored = write(STDERR_FILENO, goodbye, strlen(goodbye));

	(void)ignored;
	_exit(128 + signo);
}

static void
say_goodbye_on_interrupt(const char *rollout)
{
	struct sigaction action = {.sa_handler = on_interrupt};

	snprintf(
		goodbye, sizeof(goodbye),
		"\nbringup: no longer waiting; rollout %s goes on. bringup rollout pause "
		"%s starts no further node, bringup rollout abort %s takes back what can "
		"be, bringup rollout show %s says how far it is\n",
		rollout, rollout, rollout, rollout);
	sigaction(SIGINT, &action, NULL);
}

/* The whole rollout; null while its first event is on its way to the log. */
static json_t *
ask_rollout(struct wait *wait, struct bu_err *err)
{
	struct bu_err failure = {0};
	json_t *rollout = bu_client_get(wait->client, 0, &failure, "/v1/rollouts/%s",
					wait->rollout);

	if (!rollout && failure.kind == BU_ERR_NOTFOUND && !last_of(wait)->id)
		return json_null();
	if (!rollout)
		*err = failure;
	return rollout;
}

/* The next document; NULL when there is none now. */
static json_t *
poll_status(struct wait *wait, struct bu_err *err)
{
	int64_t left_s = (wait->deadline_ms - bu_mono_ms(bu_clock_system())) / 1000 + 1;
	int wait_s = wait->on_terminal ? POLL_TERMINAL_S : POLL_S;
	json_t *status, *rollout;

	if (left_s < wait_s)
		wait_s = left_s > 0 ? (int)left_s : 0;
	if (wait->version < 0)
		status = bu_client_get(wait->client, 0, err, "/v1/status");
	else
		status = bu_client_get(wait->client, wait_s, err,
				       "/v1/status?since=%lld&wait=%d",
				       (long long)wait->version, wait_s);
	rollout = status ? ask_rollout(wait, err) : NULL;
	if (!rollout) {
		json_decref(status);
		return NULL;
	}
	json_object_set_new(status, "rollout", rollout);
	return status;
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

/* On a terminal the nodes are drawn in place, and what is said of the rollout stays
 * above them. */
static void
show(struct wait *wait, const char *notes)
{
	struct bu_shown_nodes nodes = bu_follow_nodes(wait->follow);

	if (*notes) {
		if (wait->on_terminal)
			bu_screen_clear(&wait->screen);
		fputs(notes, stdout);
		fflush(stdout);
	}
	if (wait->on_terminal)
		bu_screen_nodes(&wait->screen, &nodes);
	free(nodes.nodes);
}

static int
look(struct wait *wait, enum bu_follow_end *ret_end, struct bu_err *err)
{
	bu_autojson json_t *document = poll_status(wait, err);
	bu_autofree char *text = NULL;
	size_t size;
	FILE *notes;
	int rc;

	*ret_end = BU_FOLLOW_MORE;
	if (!document)
		return on_silence(wait, err);
	notes = open_memstream(&text, &size);
	if (!notes)
		return bu_err_set(err, BU_ERR_IO, 0, "no memory stream: %m");
	rc = bu_follow_update(wait->follow, document, wait->on_terminal ? NULL : stdout,
			      notes, ret_end, err);
	fclose(notes);
	wait->silent = 0;
	wait->version = bu_follow_last(wait->follow)->version;
	if (rc == 0)
		show(wait, text);
	return rc;
}

static int
fail_timeout(const struct wait *wait, int timeout_s, struct bu_err *err)
{
	const struct bu_shown_rollout *rollout = last_of(wait);
	bu_autofree char *who = bu_follow_unsettled(wait->follow);

	bu_follow_print_unready(wait->follow, stderr);
	return bu_err_set(err, BU_ERR_TIMEOUT, 0,
			  "not settled after %d s: %" PRId64 " under way, %" PRId64
			  " not started%s%s; the rollout is %s, see bringup rollout "
			  "show %s",
			  timeout_s, rollout->under_way, rollout->turn,
			  *who ? "; " : "", who,
			  rollout->state ? rollout->state : "running", wait->rollout);
}

static int
fail_stopped(const struct wait *wait, struct bu_err *err)
{
	const struct bu_shown_rollout *rollout = last_of(wait);
	bu_autofree char *reason = bu_said_text(rollout->reason);

	bu_follow_print_unready(wait->follow, stderr);
	if (strcmp(rollout->state, "stopped") != 0)
		return bu_err_set(err, BU_ERR_CANCELLED, 0, "rollout %s is %s%s%s",
				  wait->rollout, rollout->state, *reason ? ": " : "",
				  reason);
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "rollout %s stopped itself: %s; %" PRId64
			  " node%s untouched; bringup rollout resume %s goes on",
			  wait->rollout, reason, rollout->turn,
			  rollout->turn == 1 ? " is" : "s are", wait->rollout);
}

/* Every order was carried out, and yet not every node can be used. */
static int
fail_away(const struct wait *wait, const struct bu_shown_nodes *nodes,
	  struct bu_err *err)
{
	bu_autofree char *summary = bu_node_summary(nodes);

	bu_follow_print_unready(wait->follow, stderr);
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "rollout %s is done, but its nodes are not all ready: %s; "
			  "`bringup node why NODE` says more",
			  wait->rollout, summary);
}

static int
conclude(struct wait *wait, enum bu_follow_end end, const struct bu_shown_nodes *nodes,
	 int timeout_s, struct bu_err *err)
{
	bu_autofree char *words = NULL;

	bu_screen_clear(&wait->screen);
	bu_render_stages(nodes, stdout);
	fflush(stdout);
	switch (end) {
	case BU_FOLLOW_READY:
		return 0;
	case BU_FOLLOW_MORE:
		return fail_timeout(wait, timeout_s, err);
	case BU_FOLLOW_STOPPED:
		return fail_stopped(wait, err);
	case BU_FOLLOW_AWAY:
		return fail_away(wait, nodes, err);
	case BU_FOLLOW_BAD:
		break;
	}
	words = bu_rollout_words(last_of(wait));
	bu_follow_print_unready(wait->follow, stderr);
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "rollout %s %s; `bringup rollout show %s` and `bringup node "
			  "why NODE` say more",
			  wait->rollout, words, wait->rollout);
}

int
bu_wait_for(struct bu_client *client, const struct bu_planned *planned,
	    const char *rollout, int timeout_s, struct bu_err *err)
{
	bu_autojson json_t *names =
		bu_out_pick(json_object_get(planned->plan, "steps"), "node");
	struct wait wait = {
		.client = client,
		.follow = bu_follow_create(names),
		.rollout = rollout,
		.screen = {.out = stdout},
		.on_terminal = isatty(STDOUT_FILENO),
		.deadline_ms =
			bu_mono_ms(bu_clock_system()) + (int64_t)timeout_s * 1000,
		.version = -1,
	};
	struct bu_shown_nodes nodes;
	enum bu_follow_end end;
	int rc;

	say_goodbye_on_interrupt(rollout);
	do {
		rc = look(&wait, &end, err);
	} while (rc == 0 && end == BU_FOLLOW_MORE &&
		 bu_mono_ms(bu_clock_system()) < wait.deadline_ms);
	nodes = bu_follow_nodes(wait.follow);
	if (rc == 0)
		rc = conclude(&wait, end, &nodes, timeout_s, err);
	free(nodes.nodes);
	bu_follow_destroy(wait.follow);
	return rc;
}
