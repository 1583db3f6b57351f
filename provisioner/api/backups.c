/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Backups of the log, by the profile's interval and as people ask. Each is a child,
 * bringup-backup; here is when, and what came of it. An anchor of the log goes to the
 * journal of the system each hour and with each backup. Invariant: one backup at a
 * time, and a backup is in the log only when it is at its place.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/record.h"
#include "base/secret.h"
#include "base/text.h"
#include "base/worker.h"
#include "provisioner/api/api.h"
#include "provisioner/backup/backup.h"
#include "provisioner/node/anchor.h"

enum {
	LOOK_MS = 60 * 1000,
	ANCHOR_MS = 3600 * 1000,
	AGAIN_MS = 10 * 60 * 1000, /* after one that failed */
	DEADLINE_MS = 6 * 3600 * 1000,
	WAIT_MAX_S = 60,
};

struct bu_backups {
	struct bu_backups_opts opts;
	char *program; /* owned */
	struct bu_timer *timer;
	struct bu_job *job; /* NULL = none is being made */
	int64_t id;         /* of the last one that was begun */
	int keys;           /* it has them */
	char by[BU_BY_SIZE];
	struct bu_backup_made made; /* what came of it */
	struct bu_err failed;       /* kind NONE = it was made */
	int64_t failed_ms;          /* monotonic */
	int64_t anchored_ms;        /* monotonic; 0 = not yet */
};

static struct bu_fleet *
fleet_of(const struct bu_backups *backups)
{
	return backups->opts.api->fleet;
}

static int64_t
wall_ms(const struct bu_backups *backups)
{
	return bu_wall_ms(bu_loop_clock(fleet_of(backups)->loop));
}

static void
note(struct bu_backups *backups, struct bu_event *event)
{
	bu_reconcile_note(backups->opts.api->rec, event, 1);
	bu_fleet_touch(fleet_of(backups), NULL);
}

/* The text and its signature; the list of what is revoked may be long. */
static void
log_anchor(struct bu_backups *backups, const json_t *anchor)
{
	bu_autojson json_t *line =
		json_pack("{s:O,s:O}", "text", json_object_get(anchor, "text"), "sig",
			  json_object_get(anchor, "sig"));
	bu_autofree char *text = json_dumps(line, JSON_COMPACT);

	bu_info("anchor", "%s", text);
	backups->anchored_ms = bu_loop_now_ms(fleet_of(backups)->loop);
}

static void
fail_with(struct bu_backups *backups, const struct bu_err *err)
{
	backups->failed = *err;
	backups->failed_ms = bu_loop_now_ms(fleet_of(backups)->loop);
	bu_error("backup", "%s", err->text);
}

static int
read_answer(const char *text, struct bu_backup_made *ret, struct bu_err *err)
{
	bu_autojson json_t *answer =
		bu_json_parse(text, strlen(text), "bringup-backup", err);

	return answer ? bu_record_from_json(bu_backup_made_fields, answer, ret, err)
		      : -1;
}

static void
on_ended(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_backups *backups = arg;
	struct bu_err bad = {0};
	struct bu_event event;

	backups->job = NULL;
	if (err)
		bad = *err;
	else if (read_answer(result->out, &backups->made, &bad) == 0)
		bad.kind = BU_ERR_NONE;
	if (bad.kind) {
		fail_with(backups, &bad);
		bu_fleet_touch(fleet_of(backups), NULL);
		bu_server_wake(backups->opts.api->server);
		return;
	}
	backups->failed.kind = BU_ERR_NONE;
	bu_info("backup", "%s: %lld bytes, SHA-256 %s", backups->made.to,
		(long long)backups->made.bytes, backups->made.digest);
	BU_EVENT_MAKE(&event, BU_EVENT_BACKUP, "", backup, .to = backups->made.to,
		      .digest = backups->made.digest, .bytes = backups->made.bytes,
		      .keys = backups->keys, .by = backups->by);
	note(backups, &event);
	bu_server_wake(backups->opts.api->server);
}

/* "bringup-falcon-20261130T060000Z.backup" */
static char *
name_of(const struct bu_backups *backups)
{
	const struct bu_desired *desired = fleet_of(backups)->desired;
	time_t now_s = (time_t)(wall_ms(backups) / 1000);
	struct tm tm;
	char at[32];

	gmtime_r(&now_s, &tm);
	strftime(at, sizeof(at), "%Y%m%dT%H%M%SZ", &tm);
	return bu_xasprintf("bringup-%s-%s.backup",
			    desired ? desired->site.name : "site", at);
}

/* A program is one that the appliance's own configuration allows. Owned. */
static char *
check_place(const struct bu_backups *backups, const char *to, struct bu_err *err)
{
	bu_autofree char *program = NULL;

	if (bu_secret_is_exec(to)) {
		program = bu_secret_program(to, err);
		return program ? bu_xasprintf("exec:%s", program) : NULL;
	}
	if (bu_path_is_below(to, backups->opts.state) ||
	    strcmp(to, backups->opts.state) == 0) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "'%s' is in the state directory, and would be lost with it; "
			   "give another disk or machine",
			   to);
		return NULL;
	}
	return bu_xstrdup(to);
}

static int
start_job(struct bu_backups *backups, const struct bu_backup_ask *ask,
	  struct bu_err *err)
{
	const char *const argv[] = {backups->program, "make", NULL};
	bu_autojson json_t *request = bu_record_to_json(bu_backup_ask_fields, ask);
	bu_autofree char *input = json_dumps(request, JSON_COMPACT);

	backups->job = bu_job_start(fleet_of(backups)->loop,
				    &(struct bu_job_opts){.argv = argv,
							  .input = input,
							  .deadline_ms = DEADLINE_MS},
				    on_ended, backups, err);
	return backups->job ? 0 : -1;
}

/* to: "" = the profile's place. */
static int
start(struct bu_backups *backups, const char *to, int keys, const char *by,
      struct bu_err *err)
{
	const struct bu_desired *desired = fleet_of(backups)->desired;
	const char *recipient = desired ? desired->site.backup_recipient : NULL;
	bu_autojson json_t *anchor = NULL;
	bu_autofree char *place = NULL, *name = NULL;

	if (backups->job)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "a backup is being made; wait for its end");
	if (!*to)
		to = desired && desired->site.backup ? desired->site.backup : "";
	if (!recipient || !*to)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s; put %s into [site] and apply",
				  recipient ? "no place is given"
					    : "there is no recipient to seal it to",
				  recipient ? "backup"
					    : "backup_recipient (bringup backup "
					      "keygen makes one)");
	anchor = bu_anchor_make(fleet_of(backups), backups->opts.api->trust, err);
	place = anchor ? check_place(backups, to, err) : NULL;
	if (!place)
		return -1;
	name = name_of(backups);
	if (start_job(backups,
		      &(struct bu_backup_ask){.state = backups->opts.state,
					      .conf = backups->opts.conf,
					      .with_keys = keys,
					      .to = place,
					      .recipient = recipient,
					      .name = name,
					      .anchor = anchor},
		      err) != 0)
		return -1;
	backups->id++;
	backups->keys = keys;
	BU_TEXT_COPY(backups->by, by);
	log_anchor(backups, anchor);
	bu_fleet_touch(fleet_of(backups), NULL);
	return 0;
}

/* --- by the profile's interval --- */

static int64_t
newest_ms(const struct bu_fleet *fleet)
{
	return fleet->backup.at_ms > fleet->backup.since_ms ? fleet->backup.at_ms
							    : fleet->backup.since_ms;
}

static void
look_late(struct bu_backups *backups, const struct bu_desired_site *site)
{
	struct bu_fleet *fleet = fleet_of(backups);
	const struct bu_condition *now = &fleet->conditions[BU_CONDITION_BACKUP_LATE];
	int late =
		site && wall_ms(backups) - newest_ms(fleet) > 2 * site->backup_every_ms;
	const char *why = !fleet->backup.at_ms ? "none yet" : "";
	bu_autojson json_t *detail = NULL;
	struct bu_event event;

	if (late == now->on)
		return;
	if (late && backups->failed.kind)
		why = backups->failed.text;
	detail = late && *why ? json_string(why) : NULL;
	BU_EVENT_MAKE(&event, BU_EVENT_CONDITION, "", condition,
		      .name = bu_condition_info(BU_CONDITION_BACKUP_LATE)->name,
		      .on = late, .detail = detail);
	note(backups, &event);
}

static int
is_due(const struct bu_backups *backups, const struct bu_desired_site *site)
{
	const struct bu_fleet *fleet = fleet_of(backups);
	int64_t now_ms = bu_loop_now_ms(fleet->loop);

	if (!site || backups->job || bu_store_down(fleet->store))
		return 0;
	if (backups->failed.kind && now_ms - backups->failed_ms < AGAIN_MS)
		return 0;
	return !fleet->backup.at_ms ||
	       wall_ms(backups) - fleet->backup.at_ms >= site->backup_every_ms;
}

static void
look_anchor(struct bu_backups *backups)
{
	int64_t now_ms = bu_loop_now_ms(fleet_of(backups)->loop);
	bu_autojson json_t *anchor = NULL;

	if (backups->anchored_ms && now_ms - backups->anchored_ms < ANCHOR_MS)
		return;
	anchor = bu_anchor_make(fleet_of(backups), backups->opts.api->trust, NULL);
	if (anchor)
		log_anchor(backups, anchor);
}

static void
look(void *arg)
{
	struct bu_backups *backups = arg;
	const struct bu_desired *desired = fleet_of(backups)->desired;
	const struct bu_desired_site *site =
		desired && desired->site.backup ? &desired->site : NULL;
	struct bu_err err = {0};

	bu_timer_set(backups->timer, LOOK_MS);
	if (is_due(backups, site) && start(backups, "", 0, "", &err) != 0)
		fail_with(backups, &err);
	look_late(backups, site);
	look_anchor(backups);
}

struct bu_backups *
bu_backups_create(const struct bu_backups_opts *opts)
{
	struct bu_backups *backups = bu_xcalloc(1, sizeof(*backups));

	backups->opts = *opts;
	backups->program = opts->program ? bu_xstrdup(opts->program)
					 : bu_program_path("bringup-backup");
	backups->timer = bu_timer_create(opts->api->fleet->loop, look, backups);
	bu_timer_set(backups->timer, LOOK_MS);
	return backups;
}

void
bu_backups_destroy(struct bu_backups *backups)
{
	if (!backups)
		return;
	if (backups->job)
		bu_job_cancel(backups->job);
	bu_timer_destroy(backups->timer);
	free(backups->program);
	free(backups);
}

json_t *
bu_backups_json(const struct bu_backups *backups)
{
	const struct bu_fleet *fleet;

	if (!backups)
		return json_null();
	fleet = fleet_of(backups);
	return json_pack("{s:s,s:I,s:I,s:b,s:b,s:s}", "to", fleet->backup.to, "at_ms",
			 (json_int_t)fleet->backup.at_ms, "bytes",
			 (json_int_t)fleet->backup.bytes, "running",
			 backups->job != NULL, "wanted",
			 fleet->desired && fleet->desired->site.backup, "error",
			 backups->failed.kind ? backups->failed.text : "");
}

/* --- routes --- */

struct wanted {
	const char *to;
	int keys;
};
static const struct bu_field wish_fields[] = {
	BU_FIELD(STRING, struct wanted, to, .need = BU_SPARSE, .unsaid = ""),
	BU_FIELD(FLAG, struct wanted, keys, .need = BU_SPARSE),
	BU_FIELD_END,
};

BU_HANDLER(bu_api_backup)
{
	struct bu_backups *backups = ((struct bu_api *)arg)->backups;
	struct wanted wanted;

	if (!backups)
		return bu_err_set(err, BU_ERR_STATE, 0, "no backups are made here");
	if (bu_request_read(request, wish_fields, &wanted, err) != 0)
		return BU_ANSWER_ERROR;
	if (*wanted.to && request->listener == BU_LISTEN_PEOPLE)
		return bu_err_set(
			err, BU_ERR_DENIED, 0,
			"from another machine a backup goes to the place of "
			"the profile alone ([site] backup); for another one use "
			"bringup on the appliance");
	if (start(backups, wanted.to, wanted.keys, bu_request_by(request), err) != 0)
		return BU_ANSWER_ERROR;
	reply->json = json_pack("{s:I}", "id", (json_int_t)backups->id);
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_backup_end)
{
	struct bu_backups *backups = ((struct bu_api *)arg)->backups;
	int64_t wait_ms = bu_request_number(request, "wait", 0, WAIT_MAX_S) * 1000;
	int64_t id = strtoll(request->params[0], NULL, 10);

	if (!backups || id < 1 || id != backups->id)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no backup %s in this life of bringupd; bringup "
				  "status has the last one",
				  request->params[0]);
	if (backups->job && request->waited_ms < wait_ms)
		return BU_ANSWER_LATER;
	if (!backups->job && backups->failed.kind) {
		*err = backups->failed;
		return BU_ANSWER_ERROR;
	}
	reply->json =
		backups->job ? json_pack("{s:b}", "running", 1)
			     : bu_record_to_json(bu_backup_made_fields, &backups->made);
	return BU_ANSWER_NOW;
}
