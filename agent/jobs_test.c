/* SPDX-License-Identifier: Apache-2.0 */
/* Items that are refused before anything is touched: no disk, no service, no file. */
#include "agent/jobs.h"

#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "model/check.h"
#include "model/work.h"
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

/* A whole item, as the daemon makes it. */
static json_t *
an_install(const char *disk, const char *serial, struct bu_work_file *files,
	   size_t count)
{
	const struct bu_work_note note = {"{}", "00"};
	struct bu_work_install work = {.work = {"install", "s-1", 1},
				       .base_url = url,
				       .image = "debian",
				       .digest = "",
				       .image_key = "",
				       .appliance_key = "",
				       .kargs = "",
				       .mark = note,
				       .stamp = note,
				       .disk = disk,
				       .disk_serial = serial,
				       .files = files,
				       .files_count = count};

	return bu_record_to_json(bu_work_install_fields, &work);
}

START_TEST(wrong_files_are_refused)
{
	struct bu_identity identity = {
		.dir = dir, .node = node, .url = url, .boot_url = url};
	struct bu_work_file good = {.path = "/a", .mode = 0644, .content = "x"};
	struct bu_work_file odd = {.path = "/b", .mode = 0644, .content_hex = "abc"};
	struct bu_work_file twice = {
		.path = "/b", .mode = 0644, .content = "x", .content_hex = "78"};
	struct bu_work_file nothing = {.path = "/b", .mode = 0644};
	const struct {
		struct bu_work_file file;
		const char *says;
	} rows[] = {
		{odd, "files[1]: expected content or content_hex"},
		{twice, "files[1]: expected content or content_hex"},
		{nothing, "files[1]: expected content or content_hex"},
	};
	static const char *const paths[] = {"etc/x",   "/etc/../x", "/etc/..",
					    "/etc//x", "/etc/x/",   ""};
	json_t *many = an_install("/dev/null", "", &good, 1);
	json_t *list = json_object_get(many, "files");

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_work_file two[] = {good, rows[i].file};

		refuses(&identity, an_install("/dev/null", "", two, 2), BU_ERR_INVAL,
			rows[i].says);
	}
	for (size_t i = 0; i < BU_LEN(paths); i++) {
		struct bu_work_file two[] = {good, good};

		two[1].path = paths[i];
		refuses(&identity, an_install("/dev/null", "", two, 2), BU_ERR_INVAL,
			"install: files[1].path: is not the absolute path of a file");
	}
	while (json_array_size(list) <= BU_WORK_FILES_MAX)
		json_array_append(list, json_array_get(list, 0));
	refuses(&identity, many, BU_ERR_INVAL,
		"install: files: has 257 members; at most 256 are allowed");
}
END_TEST

/* What an order does to a disk was said by somebody: none of it has a default. */
START_TEST(an_install_is_said_in_full)
{
	struct bu_identity identity = {
		.dir = dir, .node = node, .url = url, .boot_url = url};
	bu_autojson json_t *whole = an_install("/dev/null", "", NULL, 0);
	const char *key;
	json_t *value;

	json_object_foreach (whole, key, value) {
		bu_autofree char *says = bu_xasprintf("install: %s: missing", key);
		json_t *item = json_deep_copy(whole);

		if (strcmp(key, "kind") == 0) {
			json_decref(item);
			continue;
		}
		json_object_del(item, key);
		refuses(&identity, item, BU_ERR_INVAL, says);
	}
}
END_TEST

START_TEST(an_install_needs_the_identity_that_it_hands_on)
{
	struct bu_identity identity = {
		.dir = dir, .node = node, .url = url, .boot_url = url};

	refuses(&identity, an_install("/no/such/disk", "", NULL, 0), BU_ERR_NOTFOUND,
		"/no/such/key.pem");
}
END_TEST

/* What it finds under the name is not what was granted to go: no such number. */
START_TEST(an_install_is_for_the_disk_that_was_granted)
{
	struct bu_identity identity = {
		.dir = dir, .node = node, .url = url, .boot_url = url};

	refuses(&identity, an_install("/dev/no-such-disk", "S1", NULL, 0),
		BU_ERR_NOTFOUND, "no disk /dev/no-such-disk");
}
END_TEST

static void
is_file(const char *path, const char *content, size_t size, int mode)
{
	size_t got;
	bu_autofree char *now = bu_file_read(path, 0, &got, NULL);
	struct stat st;

	ck_assert_msg(now != NULL, "%s", path);
	ck_assert_uint_eq(got, size);
	ck_assert_int_eq(memcmp(now, content, size), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, mode);
}

/* For the next boot, so that nothing of this machine is applied; its journal lies in a
 * folder of this test. */
START_TEST(a_change_writes_what_its_item_says)
{
	BU_NEEDS("root");
	struct bu_identity identity = {
		.installed = 1, .dir = dir, .node = node, .url = url};
	struct bu_uplink link = {.identity = &identity};
	char base[] = "/tmp/bringup-jobs-XXXXXX";
	bu_autofree char *text = NULL, *key = NULL;
	bu_autojson json_t *item = NULL, *result = NULL, *note = NULL;
	char boot_id[40] = "";
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(base));
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(mount("none", "/var/lib", "tmpfs", 0, NULL), 0);
	text = bu_xasprintf("%s/motd", base);
	key = bu_xasprintf("%s/munge/key", base);
	{
		struct bu_work_file files[] = {
			{.path = text, .mode = 0644, .content = "hello\n"},
			{.path = key, .mode = 0400, .content_hex = "00ff10"}};
		struct bu_work_configure work = {.work = {"configure", "c-1", 1},
						 .then = "",
						 .confirm_ms = 1000,
						 .files = files,
						 .files_count = BU_LEN(files)};

		item = bu_record_to_json(bu_work_configure_fields, &work);
	}
	ck_assert_msg(bu_job_item(&link, item, &result, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(json_array_size(json_object_get(result, "changed")), 2);
	is_file(text, "hello\n", 6, 0644);
	is_file(key, "\0\xff\x10", 3, 0400);
	/* The note is of this boot: in another one the change holds. */
	note = bu_json_load("/var/lib/bringup/change/change.json", &err);
	ck_assert_msg(note != NULL, "%s", err.text);
	bu_file_line("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	ck_assert_uint_eq(strlen(boot_id), 36);
	ck_assert_str_eq(bu_json_str(note, "boot_id", ""), boot_id);
	ck_assert_str_eq(bu_json_str(note, "id", ""), "c-1");
	ck_assert_int_eq(bu_remove_tree(base, NULL), 0);
}
END_TEST

START_TEST(a_probe_without_its_terms_is_refused)
{
	struct bu_identity identity = {.dir = dir, .node = node, .url = url};

	refuses(&identity, json_pack("{s:s}", "kind", "probe"), BU_ERR_INVAL,
		"probe: id: missing");
	refuses(&identity,
		json_pack("{s:s,s:s,s:i,s:s,s:s}", "kind", "probe", "id", "p-1",
			  "attempt", 1, "probe", "p-1", "role", "watch"),
		BU_ERR_INVAL, "probe: role: 'watch' is unknown");
}
END_TEST

/* In the way of the linker's --wrap: what probes have left open is let go so often. */
struct bu_prober;
void __wrap_bu_prober_drop(struct bu_prober *prober);
static int drops;

void
__wrap_bu_prober_drop(struct bu_prober *prober)
{
	drops++;
}

/* The next probe may want the device that is open; whatever else comes has it to
 * itself.
 */
START_TEST(a_device_stays_open_from_probe_to_probe_alone)
{
	static const struct {
		const char *kind;
		int drops;
	} rows[] = {{"probe", 0}, {"checks", 1}, {"install", 1}, {"join", 1}};
	struct bu_identity identity = {
		.installed = 1, .dir = dir, .node = node, .url = url};
	struct bu_uplink link = {.identity = &identity};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *item = json_pack("{s:s}", "kind", rows[i].kind);
		json_t *result = NULL;

		drops = 0;
		ck_assert_int_eq(bu_job_item(&link, item, &result, NULL), -1);
		ck_assert_int_eq(drops, rows[i].drops);
	}
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

BU_UNIT("jobs", a_device_stays_open_from_probe_to_probe_alone,
	checks_look_at_this_machine, unknown_work_is_refused,
	an_installed_system_does_not_overwrite_itself, wrong_files_are_refused,
	an_install_is_said_in_full, an_install_needs_the_identity_that_it_hands_on,
	an_install_is_for_the_disk_that_was_granted, a_change_writes_what_its_item_says,
	a_probe_without_its_terms_is_refused)
