/* SPDX-License-Identifier: Apache-2.0 */
/* When backups are made, and what is said of them; the child is a script. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "base/seal.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

enum { MINUTE = 60 * 1000, HOUR = 60 * MINUTE };

static struct site site;
static char program[96], conf[96];

/* The line that the child would print, after it kept what it was asked. */
static void
child_says(const char *script)
{
	ck_assert_int_eq(
		bu_file_write_text(program, 0700, NULL,
				   "#!/bin/sh\ncat >%s/asked\necho >>%s/runs\n%s\n",
				   site.rig.dir, site.rig.dir, script),
		0);
}

static const char good[] =
	"echo '{\"to\":\"/srv/b/one\",\"digest\":\"d1\",\"bytes\":1234567}'";

static void
begin(const char *keys)
{
	char identity[BU_SEAL_TEXT_SIZE], recipient[BU_SEAL_TEXT_SIZE];
	bu_autofree char *lines = NULL;

	site_begin(&site, 1);
	snprintf(program, sizeof(program), "%s/child", site.rig.dir);
	snprintf(conf, sizeof(conf), "%s/conf", site.rig.dir);
	child_says(good);
	bu_seal_pair(identity, recipient);
	lines = bu_xasprintf("format = 1\nbackup_recipient = %s\n%s", recipient, keys);
	rig_revise(&site.rig, 1, "format = 1", lines);
	site.api.backups = bu_backups_create(
		&(struct bu_backups_opts){&site.api, site.rig.dir, conf, program});
}

static void
finish(void)
{
	bu_backups_destroy(bu_steal(&site.api.backups));
	site_end(&site);
}

static int
runs(void)
{
	bu_autofree char *text = rig_read(&site.rig, "runs");

	return (int)strlen(text);
}

static int
late(void)
{
	return site.rig.fleet->conditions[BU_CONDITION_BACKUP_LATE].on;
}

START_TEST(one_is_made_as_asked)
{
	bu_autojson json_t *reply = NULL, *end = NULL, *status = NULL, *asked = NULL;
	bu_autofree char *text = NULL;
	const json_t *backup;

	begin("");
	reply = site_call(&site, site.local, "POST", "/v1/backups",
			  "{\"to\":\"/srv/b\",\"keys\":true}", 200);
	ck_assert_int_eq(bu_json_int(reply, "id", 0), 1);
	end = site_call(&site, site.local, "GET", "/v1/backups/1?wait=20", "", 200);
	ck_assert_str_eq(bu_json_str(end, "to", ""), "/srv/b/one");
	ck_assert_str_eq(bu_json_str(end, "digest", ""), "d1");
	rig_pass(&site.rig, 1);
	/* In the log, so that another process knows it. */
	ck_assert_int_eq(site.rig.fleet->backup.bytes, 1234567);
	text = rig_read(&site.rig, "asked");
	asked = json_loads(text, 0, NULL);
	ck_assert_str_eq(bu_json_str(asked, "to", ""), "/srv/b");
	ck_assert_str_eq(bu_json_str(asked, "conf", ""), conf);
	ck_assert_int_eq(bu_json_bool(asked, "with_keys", 0), 1);
	ck_assert_ptr_nonnull(json_object_get(json_object_get(asked, "anchor"), "sig"));
	status = site_call(&site, site.local, "GET", "/v1/status", "", 200);
	backup = json_object_get(status, "backup");
	ck_assert_str_eq(bu_json_str(backup, "to", ""), "/srv/b/one");
	ck_assert_int_gt(bu_json_int(backup, "at_ms", 0), 0);
	ck_assert_str_eq(bu_json_str(backup, "error", "?"), "");
	ck_assert_int_eq(bu_json_bool(backup, "wanted", 1), 0);
	finish();
}
END_TEST

START_TEST(a_failure_is_told)
{
	bu_autojson json_t *reply = NULL, *end = NULL, *status = NULL;

	begin("");
	child_says("echo 'bringup: the disk is gone' >&2; exit 10");
	reply = site_call(&site, site.local, "POST", "/v1/backups",
			  "{\"to\":\"/srv/b\"}", 200);
	end = site_call(&site, site.local, "GET", "/v1/backups/1?wait=20", "", 500);
	rig_pass(&site.rig, 1);
	status = site_call(&site, site.local, "GET", "/v1/status", "", 200);
	rig_text_has(bu_json_str(json_object_get(status, "backup"), "error", ""),
		     "the disk is gone");
	ck_assert_int_eq(site.rig.fleet->backup.at_ms, 0);
	finish();
}
END_TEST

START_TEST(some_are_refused)
{
	static const struct {
		const char *body;
		int status;
	} rows[] = {
		{"{}", 400},                        /* no place anywhere */
		{"{\"to\":\"exec:/bin/sh\"}", 403}, /* a link */
		{"{\"to\":\"/srv/b\"}", 200},
		{"{\"to\":\"/srv/b\"}", 409}, /* the other one still runs */
	};
	bu_autofree char *inside = NULL, *text = NULL;

	begin("");
	child_says("exec sleep 100");
	site.rig.hanging = 1;
	inside = bu_xasprintf("{\"to\":\"%s/vault\"}", site.rig.dir);
	json_decref(site_call(&site, site.local, "POST", "/v1/backups", inside, 400));
	for (size_t i = 0; i < BU_LEN(rows); i++)
		json_decref(site_call(&site, site.local, "POST", "/v1/backups",
				      rows[i].body, rows[i].status));
	json_decref(site_call(&site, site.local, "GET", "/v1/backups/7", "", 404));
	text = site_text(&site, site.page, "/v1/backups/1", 404);
	finish();
}
END_TEST

START_TEST(the_profile_says_how_often)
{
	begin("backup = /srv/b\nbackup_every = 2 h\n");
	rig_pass(&site.rig, MINUTE);
	ck_assert_int_eq(runs(), 1);
	for (int i = 0; i < 119; i++)
		rig_pass(&site.rig, MINUTE);
	ck_assert_int_eq(runs(), 1);
	for (int i = 0; i < 2; i++)
		rig_pass(&site.rig, MINUTE);
	ck_assert_int_eq(runs(), 2);
	ck_assert_int_eq(late(), 0);
	finish();
}
END_TEST

/* None in twice the interval: the site has the condition, until one is made. */
START_TEST(a_late_one_is_a_condition)
{
	begin("backup = /srv/b\nbackup_every = 1 h\n");
	child_says("echo 'bringup: no route' >&2; exit 8");
	for (int i = 0; i < 11; i++)
		rig_pass(&site.rig, 10 * MINUTE);
	ck_assert_int_eq(late(), 0);
	ck_assert_int_ge(runs(), 10);
	for (int i = 0; i < 3; i++)
		rig_pass(&site.rig, 10 * MINUTE);
	ck_assert_int_eq(late(), 1);
	rig_text_has(
		rig_sentence(
			site.rig.fleet->conditions[BU_CONDITION_BACKUP_LATE].detail),
		"no route");
	child_says(good);
	for (int i = 0; i < 3; i++)
		rig_pass(&site.rig, 10 * MINUTE);
	ck_assert_int_eq(late(), 0);
	finish();
}
END_TEST

START_TEST(nobody_but_local_callers_may_ask)
{
	bu_autofree char *text = NULL;

	begin("");
	json_decref(site_call(&site, site.page, "POST", "/v1/backups",
			      "{\"to\":\"/srv/b\"}", 404));
	text = site_text(&site, site.page, "/v1/audit/anchor", 404);
	ck_assert_int_eq(runs(), 0);
	finish();
}
END_TEST

RIG_UNIT("backups", one_is_made_as_asked, a_failure_is_told, some_are_refused,
	 the_profile_says_how_often, a_late_one_is_a_condition,
	 nobody_but_local_callers_may_ask)
