/* SPDX-License-Identifier: Apache-2.0 */
/* Items that are refused before anything is touched: no disk, no service, no file. */
#include "agent/jobs.h"

#include <string.h>

#include "base/json.h"
#include "model/check.h"
#include "tests/support/unit.h"

static void
refuses(const struct bu_identity *identity, json_t *item, enum bu_err_kind kind,
	const char *says)
{
	struct bu_uplink link = {.identity = identity};
	json_t *result = NULL;
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(item);
	ck_assert_int_eq(bu_job_item(&link, item, &result, &err), -1);
	ck_assert_msg(err.kind == kind, "%s", err.text);
	ck_assert_msg(strstr(err.text, says) != NULL, "%s", err.text);
	ck_assert_ptr_null(result);
	json_decref(item);
}

static char dir[] = "/no/such", node[] = "node001", url[] = "https://127.0.0.1:1";

START_TEST(unknown_work_is_refused)
{
	struct bu_identity identity = {.dir = dir, .node = node, .url = url};

	refuses(&identity, json_pack("{s:s}", "kind", "dance"), BU_ERR_INVAL,
		"this agent does not know work 'dance'");
	refuses(&identity, json_object(), BU_ERR_INVAL,
		"this agent does not know "
		"work ''");
}
END_TEST

START_TEST(an_installed_system_does_not_overwrite_itself)
{
	struct bu_identity identity = {
		.installed = 1, .dir = dir, .node = node, .url = url};

	refuses(&identity, json_pack("{s:s}", "kind", "install"), BU_ERR_STATE,
		"does not overwrite itself");
}
END_TEST

START_TEST(wrong_files_are_refused)
{
	struct bu_identity identity = {
		.dir = dir, .node = node, .url = url, .boot_url = url};
	json_t *many = json_pack("{s:s,s:[]}", "kind", "install", "files");
	static const char *const paths[] = {"etc/x",   "/etc/../x", "/etc/..",
					    "/etc//x", "/etc/x/",   ""};

	for (int i = 0; i < 257; i++)
		json_array_append_new(json_object_get(many, "files"),
				      json_pack("{s:s}", "path", "/x"));
	refuses(&identity, many, BU_ERR_INVAL, "more than 256 files");
	refuses(&identity,
		json_pack("{s:s,s:[{s:s,s:s},{s:s,s:s}]}", "kind", "install", "files",
			  "path", "/a", "content", "x", "path", "/b", "content_hex",
			  "abc"),
		BU_ERR_INVAL, "files[1] is wrong");
	refuses(&identity,
		json_pack("{s:s,s:[{s:s}]}", "kind", "join", "files", "content_hex",
			  "zz"),
		BU_ERR_INVAL, "files[0] is wrong");
	refuses(&identity,
		json_pack("{s:s,s:[{s:s}]}", "kind", "join", "files", "content", "x"),
		BU_ERR_INVAL, "files[0] is wrong");
	for (size_t i = 0; i < BU_LEN(paths); i++)
		refuses(&identity,
			json_pack("{s:s,s:[{s:s,s:s},{s:s,s:s}]}", "kind", "join",
				  "files", "path", "/a", "content", "x", "path",
				  paths[i], "content", "x"),
			BU_ERR_INVAL, "files[1] is wrong");
}
END_TEST

START_TEST(an_install_needs_the_identity_that_it_hands_on)
{
	struct bu_identity identity = {
		.dir = dir, .node = node, .url = url, .boot_url = url};

	refuses(&identity,
		json_pack("{s:s,s:s,s:[]}", "kind", "install", "disk", "/no/such/disk",
			  "files"),
		BU_ERR_NOTFOUND, "/no/such/key.pem");
}
END_TEST

/* What it finds under the name is not what was granted to go: no such number. */
START_TEST(an_install_is_for_the_disk_that_was_granted)
{
	struct bu_identity identity = {
		.dir = dir, .node = node, .url = url, .boot_url = url};

	refuses(&identity,
		json_pack("{s:s,s:s,s:s,s:[]}", "kind", "install", "disk",
			  "/dev/no-such-disk", "disk_serial", "S1", "files"),
		BU_ERR_NOTFOUND, "no disk /dev/no-such-disk");
}
END_TEST

START_TEST(a_probe_without_its_terms_is_refused)
{
	struct bu_identity identity = {.dir = dir, .node = node, .url = url};

	refuses(&identity, json_pack("{s:s}", "kind", "probe"), BU_ERR_INVAL, "");
	refuses(&identity,
		json_pack("{s:s,s:s,s:s}", "kind", "probe", "probe", "p-1", "role",
			  "watch"),
		BU_ERR_INVAL, "");
}
END_TEST

/* Of the machine that runs this test: whatever it is, it has a report. */
START_TEST(checks_look_at_this_machine)
{
	const struct bu_http_opts nobody = {.base_url = "http://127.0.0.1:1",
					    .connect_timeout_ms = 200};
	struct bu_identity identity = {.dir = dir, .node = node, .url = url};
	struct bu_uplink link = {.identity = &identity,
				 .progress_http = bu_http_create(&nobody)};
	bu_autojson json_t *item =
		json_pack("{s:s,s:s,s:[s],s:i}", "kind", "checks", "id", "c-1",
			  "groups", "audit", "deadline_ms", 60000);
	bu_autojson json_t *result = NULL;
	struct bu_checks checks;
	struct bu_err err = {0};

	ck_assert_msg(bu_job_item(&link, item, &result, &err) == 0, "%s", err.text);
	ck_assert_msg(bu_checks_from_json(result, &checks, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(strlen(checks.boot_id), 36);
	ck_assert_uint_gt(checks.count, 0);
	bu_checks_fini(&checks);
	bu_http_destroy(link.progress_http);
	refuses(&identity, json_pack("{s:s,s:[s]}", "kind", "checks", "groups", "all"),
		BU_ERR_INVAL, "no such group 'all'");
}
END_TEST

BU_UNIT("jobs", checks_look_at_this_machine, unknown_work_is_refused,
	an_installed_system_does_not_overwrite_itself, wrong_files_are_refused,
	an_install_needs_the_identity_that_it_hands_on,
	an_install_is_for_the_disk_that_was_granted,
	a_probe_without_its_terms_is_refused)
