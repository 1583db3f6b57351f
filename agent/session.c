/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's loop: one item at a time. */
#include "agent/session.h"

#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "agent/crash.h"
#include "agent/hostcert.h"
#include "agent/jobs.h"
#include "agent/renew.h"
#include "agent/slots.h"
#include "agent/survey.h"
#include "agent/volumes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "base/worker.h"
#include "images/install/chooser.h"
#include "model/hello.h"
#include "model/work.h"

enum {
	CALL_MS = 30000,
	POLL_MS = 30000,
	POLL_SLACK_MS = 15000,
	AGAIN_MIN_S = 1,
	AGAIN_MAX_S = 8,
	LINKS_MS = 25000, /* less than a poll */
	LOOK_MS = 20000,
	SURVEY_MS = 45000, /* disks have 20 s of it */
	HUNG_MS = 1800000,
	SETTLE_MS = 5000, /* a cable shakes for longer than once */
	DAY_MS = 24 * 3600 * 1000,
	HOUR_MS = 3600 * 1000,
	TRIAL_MS = 20000, /* that a new agent is answered before it stays */
};

static json_t *
read_stamp(const struct bu_identity *identity)
{
	bu_autofree char *text_path = bu_xasprintf("%s/stamp.json", identity->dir);
	bu_autofree char *sig_path = bu_xasprintf("%s/stamp.sig", identity->dir);
	bu_autofree char *text = bu_file_read(text_path, 65536, NULL, NULL);
	bu_autofree char *sig = bu_file_read(sig_path, 4096, NULL, NULL);

	if (!identity->installed || !text || !sig)
		return json_null();
	sig[strcspn(sig, "\n")] = '\0';
	return json_pack("{s:s,s:s}", "text", text, "sig", sig);
}

/* What is not told (a bond has found its partner) is seen after a poll. */
static int
listen_to_links(void)
{
	struct sockaddr_nl all = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_ROUTE);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&all, sizeof(all)) != 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Not every time that a cable shakes. */
static int
may_look(const struct bu_session *session)
{
	int64_t pause_ms = session->settle_ms ? session->settle_ms : SETTLE_MS;

	return bu_mono_ms(bu_clock_system()) - session->looked_ms >=
	       (session->links_moved ? pause_ms : LINKS_MS);
}

/* Ends a poll. That something was told is enough: what there is now is read anew. */
static int
links_moved(void *arg)
{
	struct bu_session *session = arg;
	char news[8192];

	while (recv(session->links_fd, news, sizeof(news), 0) > 0 || errno == ENOBUFS)
		session->links_moved = 1;
	return session->links_moved && may_look(session);
}

/* A link that was set up by hand or fell over to its spare: the appliance should know.
 */
static void
look_at_links(struct bu_session *session)
{
	bu_autojson json_t *now = NULL;
	struct bu_err err = {0};

	if (!session->greeted || !session->link.identity->installed ||
	    !may_look(session))
		return;
	session->links_moved = 0;
	now = bu_survey_links(LOOK_MS, &err);
	session->looked_ms = bu_mono_ms(bu_clock_system());
	if (now) {
		session->greeted = json_equal(now, session->links);
	} else {
		/* A process that hangs in a driver stays: not one for each poll. */
		bu_warn("session", "links: %s", err.text);
		session->looked_ms += HUNG_MS;
	}
}

/* Somebody edits a file of the configuration, or takes it away. */
static void
look_at_itself(struct bu_session *session)
{
	bu_autojson json_t *now = NULL;
	int64_t now_ms = bu_mono_ms(bu_clock_system());
	int64_t pause_ms = session->settle_ms ? session->settle_ms : LINKS_MS;

	if (!session->greeted || !session->link.identity->installed ||
	    now_ms - session->runs_ms < pause_ms)
		return;
	session->runs_ms = now_ms;
	now = bu_itself_tell(&session->itself);
	session->greeted = json_equal(now, session->runs);
}

/* Without it the node works as well; who logs in is asked whether to believe its key.
 */
static void
fetch_host_cert(struct bu_session *session)
{
	static const char *const argv[] = {"systemctl", "restart",
					   "bringup-access.service", NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = CALL_MS};
	struct bu_err err = {0};
	int rc = bu_hostcert_fetch("", session->link.http, &err);

	if (rc > 0)
		rc = bu_job_run(&opts, NULL, &err);
	if (rc < 0)
		bu_warn("session", "%s", err.text);
}

/* Before the first work. One that stays closed is found by the audit. */
static void
open_volumes(struct bu_session *session)
{
	const char *root = session->root ? session->root : "";
	struct bu_err err = {0};

	session->closed = bu_volumes_open(root, session->link.http, &err) != 0;
	if (session->closed)
		bu_warn("session", "%s", err.text);
}

/* Which agent this is, and which one failed its trial before it; NULL = of no slot. */
static json_t *
agent_said(struct bu_session *session)
{
	bu_autojson json_t *failed = NULL;
	struct bu_bundle bundle;

	if (!session->agent_digest[0]) {
		if (bu_slots_running(&bundle, NULL) != 0)
			return NULL;
		bu_text_copy(session->agent_version, sizeof(session->agent_version),
			     bundle.version);
		bu_text_copy(session->agent_digest, sizeof(session->agent_digest),
			     bundle.digest);
		bu_bundle_fini(&bundle);
	}
	failed = bu_slots_failed(bu_slots_dir());
	return bu_record_to_json(bu_agent_said_fields,
				 &(struct bu_agent_said){
					 .version = session->agent_version,
					 .digest = session->agent_digest,
					 .trial = bu_slots_on_trial(bu_slots_dir()),
					 .failed = failed,
				 });
}

static void
was_answered(struct bu_session *session, const json_t *said)
{
	if (!session->agent_digest[0])
		return;
	if (json_object_get(said, "failed"))
		bu_slots_told(bu_slots_dir());
	if (!session->answered_ms)
		session->answered_ms = bu_mono_ms(bu_clock_system());
}

/* A new agent that ends soon after its hello is no better than one that says none. The
 * appliance waits for the word that it stays. */
static void
end_trial(struct bu_session *session)
{
	int64_t trial_ms = session->trial_ms ? session->trial_ms : TRIAL_MS;

	if (!session->answered_ms || !bu_slots_on_trial(bu_slots_dir()) ||
	    bu_mono_ms(bu_clock_system()) - session->answered_ms < trial_ms)
		return;
	bu_slots_settle(bu_slots_dir());
	session->greeted = bu_slots_on_trial(bu_slots_dir());
}

/* Looked at once: systemd-pstore has moved it by then, and a crash ends this boot. */
static const json_t *
crash_said(struct bu_session *session)
{
	if (!session->crash_read)
		session->crash = bu_crash_read(session->root ? session->root : "");
	session->crash_read = 1;
	return session->crash;
}

/* The appliance knows this system: it has come up. Until then the loader goes back to
 * the other root at the next start, and so it gets no work. */
static int
confirm_root(struct bu_session *session, struct bu_err *err)
{
	bu_autofree char *line = NULL, *word = NULL;

	if (!session->link.identity->installed || session->confirmed)
		return 0;
	line = bu_file_read("/proc/cmdline", 65536, NULL, NULL);
	word = line ? bu_cmdline_value(line, BU_SLOT_ARG) : NULL;
	session->confirmed = bu_chooser_confirm(bu_slot_of(word), err) == 0;
	return session->confirmed ? 0 : bu_err_wrap(err, "this root stays on trial");
}

/* The system that runs, with the files that lie here; NULL in the ramdisk. The session
 * keeps it, as the last that was told. */
static const json_t *
runs_said(struct bu_session *session)
{
	if (!session->link.identity->installed)
		return NULL;
	session->itself.root = session->root ? session->root : "";
	bu_itself_look(&session->itself);
	json_decref(session->runs);
	session->runs = bu_itself_tell(&session->itself);
	session->runs_ms = bu_mono_ms(bu_clock_system());
	return session->runs;
}

/* What it remembers of the links is what it told: what moves meanwhile is told next
 * time. */
static int
say_hello(struct bu_session *session, struct bu_err *err)
{
	bu_autojson json_t *listed = bu_survey_inventory(SURVEY_MS, err);
	bu_autojson json_t *body = NULL, *stamp = NULL, *agent = NULL, *reply = NULL;

	if (!listed)
		return -1;
	stamp = read_stamp(session->link.identity);
	agent = agent_said(session);
	body = bu_record_to_json(
		bu_hello_fields,
		&(struct bu_hello){session->link.identity->installed
					   ? BU_WHERE_INSTALLED
					   : BU_WHERE_RAMDISK,
				   stamp, listed, agent, crash_said(session),
				   session->heard.document, runs_said(session),
				   session->heard.settled});
	if (bu_http_json(
		    session->link.http,
		    &(struct bu_http_call){"POST", "/v1/agent/hello", body, CALL_MS},
		    &reply, err) != 0 ||
	    bu_heard_answer(&session->heard, reply, err) != 0)
		return -1;
	was_answered(session, agent);
	if (confirm_root(session, err) != 0)
		return -1;
	session->greeted = 1;
	if (session->link.identity->installed) {
		open_volumes(session);
		fetch_host_cert(session);
	}
	session->looked_ms = bu_mono_ms(bu_clock_system());
	BU_TEXT_COPY(session->boot_id, bu_json_str(listed, "boot_id", ""));
	json_decref(session->links);
	session->links = json_incref(json_object_get(listed, "links"));
	return 0;
}

static void
pause_before_again(int *again_s, const struct bu_err *err)
{
	bu_warn("session", "%s; again in %d s", err->text, *again_s);
	sleep((unsigned)*again_s);
	*again_s = *again_s * 2 > AGAIN_MAX_S ? AGAIN_MAX_S : *again_s * 2;
}

/* What another try may mend. Any other answer is one, too. */
static int
passing(const struct bu_err *err)
{
	return err->kind == BU_ERR_REMOTE || err->kind == BU_ERR_TIMEOUT ||
	       err->kind == BU_ERR_BUSY || err->kind == BU_ERR_IO;
}

/* Until it was heard; 0 when it was accepted, too. Who did not hear it at once may be
 * another process by now, and has not heard of us. */
static int
tell_result(struct bu_session *session, const json_t *body)
{
	int again_s = AGAIN_MIN_S;
	struct bu_err err = {0};

	while (bu_http_json(session->link.http,
			    &(struct bu_http_call){"POST", "/v1/agent/result", body,
						   CALL_MS},
			    NULL, &err) != 0) {
		if (!passing(&err)) {
			bu_error("session", "the result was refused: %s", err.text);
			return -1;
		}
		session->greeted = 0;
		pause_before_again(&again_s, &err);
	}
	return 0;
}

static int
done_before(const struct bu_session *session, const struct bu_work *work)
{
	return session->last_result && strcmp(session->last_id, work->id) == 0 &&
	       session->last_attempt == work->attempt;
}

static json_t *
result_of(struct bu_session *session, const json_t *item, const struct bu_work *work)
{
	struct bu_work_result done = {.work = *work};
	struct bu_err err = {0};
	bu_autojson json_t *result = NULL;

	bu_info("work", "%s %s", work->kind, work->id);
	if (bu_job_item(&session->link, item, &result, &err) != 0) {
		bu_error("work", "%s: %s", work->id, err.text);
		done.error.kind = bu_err_name(err.kind);
		done.error.text = err.text;
	}
	done.result = result;
	return bu_record_to_json(bu_work_result_fields, &done);
}

static int
do_item(struct bu_session *session, const json_t *item, struct bu_err *err)
{
	struct bu_work work;

	if (bu_record_from_json(bu_work_fields, item, &work, err) != 0)
		return bu_err_wrap(err, "work");
	if (!done_before(session, &work)) {
		json_decref(session->last_result);
		session->last_result = result_of(session, item, &work);
		bu_text_copy(session->last_id, sizeof(session->last_id), work.id);
		session->last_attempt = work.attempt;
	}
	if (tell_result(session, session->last_result) == 0 &&
	    bu_job_after(item, json_object_get(session->last_result, "error") != NULL))
		session->greeted = 0;
	return 0;
}

/* A long item is no silence, and one that ends us is no reason to stay. */
static int
do_item_on_trial(struct bu_session *session, const json_t *item, struct bu_err *err)
{
	int on_trial = session->agent_digest[0] && bu_slots_on_trial(bu_slots_dir());
	int rc;

	if (on_trial)
		bu_slots_work(bu_slots_dir(), 0);
	rc = do_item(session, item, err);
	if (on_trial)
		bu_slots_work(bu_slots_dir(), 1);
	return rc;
}

static int
poll_work(struct bu_session *session, struct bu_err *err)
{
	bu_autojson json_t *body = bu_record_to_json(
		bu_ask_work_fields,
		&(struct bu_ask_work){
			POLL_MS, session->boot_id, session->heard.newest.revoked,
			session->heard.settled_of,
			session->heard.ca_path ? session->heard.ca : NULL});
	bu_autojson json_t *reply = NULL;
	const json_t *item;
	int rc;

	if (session->links_fd >= 0)
		bu_http_watch(session->link.http, links_moved, session);
	rc = bu_http_json(session->link.http,
			  &(struct bu_http_call){"POST", "/v1/agent/work", body,
						 POLL_MS + POLL_SLACK_MS},
			  &reply, err);
	bu_http_watch(session->link.http, NULL, NULL);
	if (rc != 0)
		return session->links_moved && err->kind == BU_ERR_CANCELLED ? 0 : -1;
	if (bu_heard_answer(&session->heard, reply, err) != 0)
		return -1;
	item = json_object_get(reply, "work");
	if (json_is_object(item))
		return do_item_on_trial(session, item, err);
	bu_job_idle();
	return 0;
}

static void
connect_anew(struct bu_session *session)
{
	struct bu_uplink *link = &session->link;

	bu_http_destroy(link->http);
	bu_http_destroy(link->progress_http);
	link->http = bu_identity_connect(link->identity);
	link->progress_http = bu_identity_connect(link->identity);
}

/* At start and once a day; what did not work sooner. The ramdisk's does not live long
 * enough. */
static void
keep_certificate(struct bu_session *session)
{
	const struct bu_identity *identity = session->link.identity;
	int64_t now_ms = bu_mono_ms(bu_clock_system());
	struct bu_err err;
	int rc;

	if (!identity->installed ||
	    (now_ms < session->renew_ms && !session->heard.renew))
		return;
	rc = bu_renew(identity, &session->heard, time(NULL), &err);
	if (rc > 0)
		connect_anew(session);
	else if (rc < 0)
		bu_warn("session", "%s; again in an hour", err.text);
	session->renew_ms = now_ms + (rc < 0 ? HOUR_MS : DAY_MS);
}

int
bu_session_run(struct bu_session *session, struct bu_err *err)
{
	int again_s = AGAIN_MIN_S;
	struct bu_err failure;

	/* An installed agent never returns. */
	session->links_fd = session->link.identity->installed ? listen_to_links() : -1;
	session->clocked = !session->link.identity->installed;
	bu_heard_fini(&session->heard);
	bu_heard_load(&session->heard, session->link.identity);
	for (;;) {
		memset(&failure, 0, sizeof(failure));
		/* For a machine that has lost its clock no certificate is valid; who
		 * was answered has a good one. */
		if (!session->clocked && !session->greeted)
			session->clocked =
				bu_identity_set_clock(session->link.identity) == 0;
		keep_certificate(session);
		if ((session->greeted || say_hello(session, &failure) == 0) &&
		    poll_work(session, &failure) == 0) {
			again_s = AGAIN_MIN_S;
			end_trial(session);
			if (session->closed)
				open_volumes(session);
			look_at_links(session);
			look_at_itself(session);
			continue;
		}
		/* After an outage the appliance may have forgotten what it had not yet
		 * written down: greet it again. */
		session->greeted = 0;
		if (failure.kind == BU_ERR_DENIED &&
		    !session->link.identity->installed) {
			*err = failure;
			return -1;
		}
		/* It may have taken the renewed one when we did not hear so. */
		if (failure.kind == BU_ERR_DENIED &&
		    bu_renew_settle(session->link.identity, NULL) > 0)
			connect_anew(session);
		pause_before_again(&again_s, &failure);
	}
}
