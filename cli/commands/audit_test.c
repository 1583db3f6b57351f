/* SPDX-License-Identifier: Apache-2.0 */
/* The command asks a real bringupd for its log, a part a request. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "model/anchor.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

enum { ROWS = 4500, ANCHOR = -1 /* the other command */ };

static void
begin(struct site *site)
{
	bu_autofree char *path = NULL;

	site_begin(site, 1);
	path = bu_xasprintf("%s/sock", site->rig.dir);
	ck_assert_int_eq(bu_server_listen(site->api.server, BU_LISTEN_LOCAL,
					  bu_listen_unix(path, NULL), NULL, NULL),
			 0);
	for (int i = 0; i < ROWS; i += 500) {
		for (int k = 0; k < 500; k++) {
			struct bu_event event;

			BU_EVENT_MAKE(&event, BU_EVENT_LEASE, "node001", lease,
				      .probe = "p", .to = "node002");
			bu_reconcile_note(site->rig.rec, &event, 1);
		}
		rig_pass(&site->rig, 1);
	}
}

/* In the child; what it prints and says goes into the file "out". */
static void
run(const char *dir, int format, const char *anchor)
{
	bu_autofree char *path = bu_xasprintf("%s/out", dir);
	bu_autofree char *socket = bu_xasprintf("%s/sock", dir);
	struct bu_options options = {
		.socket = socket, .format = format, .anchor = anchor};
	struct bu_err err = {0};
	int rc;

	ck_assert_ptr_nonnull(freopen(path, "w", stdout));
	rc = format == ANCHOR ? bu_cmd_audit_anchor(&options, &err)
			      : bu_cmd_audit_verify(&options, &err);
	if (rc != 0)
		printf("%s\n", err.text);
	fflush(stdout);
	_exit(rc == 0 ? 0 : bu_err_exit_code(err.kind));
}

/* Its exit status; *ret_out: what it printed, owned. */
static int
verify_by(struct site *site, int format, const char *anchor, char **ret_out)
{
	bu_autofree char *path = bu_xasprintf("%s/out", site->rig.dir);
	pid_t pid = fork();
	int status = 0;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		run(site->rig.dir, format, anchor);
	while (waitpid(pid, &status, WNOHANG) == 0)
		bu_loop_step(site->rig.loop, 5);
	ck_assert(WIFEXITED(status));
	*ret_out = bu_file_read(path, 0, NULL, NULL);
	ck_assert_ptr_nonnull(*ret_out);
	return WEXITSTATUS(status);
}

static int
verify(struct site *site, int format, char **ret_out)
{
	return verify_by(site, format, NULL, ret_out);
}

static void
sql(const struct site *site, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/log.db", site->rig.dir);
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void
change_row(const struct site *site, int number)
{
	bu_autofree char *text =
		bu_xasprintf("UPDATE journal SET node='node009' WHERE seq=%d", number);

	sql(site, text);
}

START_TEST(the_whole_log_is_looked_at)
{
	struct site site;
	bu_autofree char *json = NULL, *text = NULL, *line = NULL;
	bu_autojson json_t *said = NULL;

	begin(&site);
	ck_assert_int_eq(verify(&site, BU_FORMAT_JSON, &json), 0);
	said = json_loads(json, 0, NULL);
	ck_assert_int_gt(bu_json_int(said, "after", 0), ROWS);
	ck_assert_uint_eq(strlen(bu_json_str(said, "hash", "")), 64);
	ck_assert_uint_eq(json_object_size(said), 2);
	ck_assert_int_eq(verify(&site, BU_FORMAT_TABLE, &text), 0);
	line = bu_xasprintf("the log is whole: %d rows, the last has the hash %s\n",
			    (int)bu_json_int(said, "after", 0),
			    bu_json_str(said, "hash", ""));
	ck_assert_str_eq(text, line);
	site_end(&site);
}
END_TEST

START_TEST(a_changed_row_is_named)
{
	/* in the last part, the first of the second, in the first */
	static const int rows[] = {4400, 2001, 7};
	struct site site;

	begin(&site);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = NULL, *line = NULL;

		change_row(&site, rows[i]);
		ck_assert_int_eq(verify(&site, BU_FORMAT_TABLE, &text),
				 bu_err_exit_code(BU_ERR_VERIFY));
		line = bu_xasprintf("log row %d is missing or was changed\n", rows[i]);
		ck_assert_str_eq(text, line);
	}
	site_end(&site);
}
END_TEST

/* Signed by the appliance, and of another history. */
static void
write_other_anchor(const struct site *site, const char *path)
{
	struct bu_anchor anchor = {.seq = 2500, .hash = "0"};
	bu_autojson json_t *body = bu_anchor_to_json(&anchor);
	bu_autojson json_t *document = bu_trust_sign(site->rig.trust, body, NULL);

	ck_assert_int_eq(json_dump_file(document, path, 0), 0);
}

START_TEST(an_anchor_finds_a_cut_and_a_new_log)
{
	bu_autofree char *printed = NULL, *text = NULL, *cut = NULL, *anew = NULL;
	bu_autofree char *path = NULL;
	struct site site;

	begin(&site);
	path = bu_xasprintf("%s/anchor", site.rig.dir);
	ck_assert_int_eq(verify_by(&site, ANCHOR, NULL, &printed), 0);
	ck_assert_int_eq(bu_file_write(path, printed, strlen(printed), 0600, NULL), 0);
	ck_assert_int_eq(verify_by(&site, BU_FORMAT_TABLE, path, &text), 0);
	ck_assert_ptr_nonnull(strstr(text, "; it has the row of the anchor\n"));
	/* The chain of what is left is whole: only the anchor tells. */
	sql(&site, "DELETE FROM journal WHERE seq > 3999");
	ck_assert_int_eq(verify_by(&site, BU_FORMAT_TABLE, path, &cut),
			 bu_err_exit_code(BU_ERR_VERIFY));
	ck_assert_ptr_nonnull(strstr(cut, "the log was cut: it ends with row 3999"));
	write_other_anchor(&site, path);
	ck_assert_int_eq(verify_by(&site, BU_FORMAT_TABLE, path, &anew),
			 bu_err_exit_code(BU_ERR_VERIFY));
	ck_assert_ptr_nonnull(strstr(anew, "written anew: row 2500"));
	site_end(&site);
}
END_TEST

/* A blob that a row names, and that is not what the row names. */
START_TEST(a_changed_blob_is_found)
{
	bu_autofree char *text = NULL;
	struct site site;

	begin(&site);
	sql(&site, "UPDATE blob SET text = text || ' '");
	ck_assert_int_eq(verify(&site, BU_FORMAT_TABLE, &text),
			 bu_err_exit_code(BU_ERR_VERIFY));
	ck_assert_ptr_nonnull(strstr(text, "was changed in the store"));
	site_end(&site);
}
END_TEST

RIG_UNIT("audit", an_anchor_finds_a_cut_and_a_new_log, a_changed_blob_is_found,
	 the_whole_log_is_looked_at, a_changed_row_is_named)
