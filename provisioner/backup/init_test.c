/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state directory from the site key: which keys it has, how its log begins, and that
 * a slip in a key that was typed in is found.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "model/event_body.h"
#include "provisioner/backup/backup.h"
#include "provisioner/store/store.h"
#include "tests/support/unit.h"

enum { EPOCH = 1900000000 };
#define NOW_MS (EPOCH * INT64_C(1000))

static char dir[32];
static char *first, *second, *sheet;
static FILE *out;

static void
begin(void)
{
	strcpy(dir, "/tmp/bringup-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	first = bu_xasprintf("%s/first", dir);
	second = bu_xasprintf("%s/second", dir);
	sheet = bu_xasprintf("%s/sheet", dir);
	out = fopen("/dev/null", "w");
}

static void
end(void)
{
	fclose(out);
	free(first);
	free(second);
	free(sheet);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static int
init(const char *state, const char *site_key, const char *to, struct bu_err *err)
{
	const struct bu_init_ask ask = {.state = state,
					.site_key = site_key,
					.sheet = to,
					.site = "lab",
					.tree = "{\"files\":{}}",
					.commit = "c0ffee"};

	return bu_init(&ask, NOW_MS, out, err);
}

static void
makes(const char *state, const char *site_key, const char *to)
{
	struct bu_err err = {0};

	ck_assert_msg(init(state, site_key, to, &err) == 0, "%s", err.text);
}

static void
refuses(const char *state, const char *site_key, enum bu_err_kind kind,
	const char *part)
{
	bu_autofree char *work = bu_xasprintf("%s.restore", state);
	struct bu_err err = {0};
	struct stat st;

	ck_assert_int_eq(init(state, site_key, NULL, &err), -1);
	ck_assert_int_eq(err.kind, kind);
	ck_assert_msg(strstr(err.text, part) != NULL, "%s", err.text);
	ck_assert_int_ne(stat(work, &st), 0);
}

static int
add_row(const struct bu_event *event, void *arg)
{
	char *rows = arg;

	strcat(rows, bu_event_name(event->kind));
	if (event->kind == BU_EVENT_CONDITION)
		strcat(rows, bu_json_bool(event->body, "on", 0) ? "+" : "-");
	strcat(rows, " ");
	if (event->kind == BU_EVENT_EPOCH)
		ck_assert_int_eq(bu_json_int(event->body, "epoch", 0), EPOCH);
	if (event->kind == BU_EVENT_APPLIED)
		ck_assert_int_eq(bu_json_int(event->body, "nodes", 7), 0);
	return 0;
}

static void
log_is(const char *state, const char *want)
{
	bu_autofree char *path = bu_xasprintf("%s/journal.db", state);
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_store *store = bu_store_open_sqlite(loop, path, NULL);
	char rows[200] = "";
	struct bu_chain at = {0};
	int64_t after = 0;

	ck_assert_ptr_nonnull(store);
	ck_assert_int_eq(bu_store_read(store, 0, 0, add_row, rows, NULL), 0);
	ck_assert_str_eq(rows, want);
	ck_assert_int_eq(bu_store_verify(store, &at, 0, NULL), 0);
	ck_assert_int_eq(bu_store_verify_blobs(store, &after, 0, 0, NULL), 0);
	bu_store_destroy(store);
	bu_loop_destroy(loop);
}

static void
keys_are_equal(void)
{
	for (size_t i = 0; bu_place_keys[i]; i++) {
		bu_autofree char *a =
			bu_xasprintf("%s/keys/%s", first, bu_place_keys[i]);
		bu_autofree char *b =
			bu_xasprintf("%s/keys/%s", second, bu_place_keys[i]);
		bu_autofree char *one = bu_file_read(a, 65536, NULL, NULL);
		bu_autofree char *other = bu_file_read(b, 65536, NULL, NULL);
		struct stat st;

		ck_assert_ptr_nonnull(one);
		ck_assert_ptr_nonnull(other);
		ck_assert_str_eq(one, other);
		ck_assert_int_eq(stat(b, &st), 0);
		ck_assert_int_eq(st.st_mode & 07777, 0600);
	}
}

START_TEST(a_sheet_makes_the_same_appliance_again)
{
	struct stat st;

	begin();
	makes(first, NULL, sheet);
	log_is(first, "epoch condition- revision applied ");
	ck_assert_int_eq(stat(sheet, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	makes(second, sheet, NULL);
	log_is(second, "epoch condition+ revision applied ");
	keys_are_equal();
	end();
}
END_TEST

START_TEST(nothing_is_written_over)
{
	bu_autofree char *third = NULL;

	begin();
	makes(first, NULL, sheet);
	refuses(first, sheet, BU_ERR_STATE, "has a log");
	third = bu_xasprintf("%s/third", dir);
	{
		struct bu_err err = {0};
		struct stat st;

		ck_assert_int_eq(init(third, NULL, sheet, &err), -1);
		ck_assert_ptr_nonnull(strstr(err.text, "is there already"));
		ck_assert_int_ne(stat(third, &st), 0);
	}
	end();
}
END_TEST

/* The state directory cannot be put into its place: a link to nowhere is there. */
START_TEST(no_sheet_is_left_of_keys_that_are_nowhere)
{
	bu_autofree char *beside = NULL;
	struct bu_err err = {0};

	begin();
	beside = bu_xasprintf("%s.new", sheet);
	ck_assert_int_eq(symlink("nowhere", first), 0);
	ck_assert_int_eq(init(first, NULL, sheet, &err), -1);
	ck_assert_msg(strstr(err.text, "rename") != NULL, "%s", err.text);
	ck_assert(!bu_file_exists(sheet));
	ck_assert(!bu_file_exists(beside));
	ck_assert_int_eq(unlink(first), 0);
	/* A run that was killed has left this one. */
	ck_assert_int_eq(
		bu_file_write(beside, "older keys, and more of them", 28, 0644, NULL),
		0);
	makes(first, NULL, sheet);
	ck_assert(!bu_file_exists(beside));
	makes(second, sheet, NULL);
	keys_are_equal();
	end();
}
END_TEST

/* Each character once, as one who types it in may slip. */
START_TEST(a_slip_is_found)
{
	size_t size;
	bu_autofree char *text = NULL;

	begin();
	makes(first, NULL, sheet);
	text = bu_file_read(sheet, 65536, &size, NULL);
	for (size_t i = 20; i + 1 < size; i += 97) {
		struct stat st;

		text[i] ^= 1;
		ck_assert_int_eq(bu_file_write(sheet, text, size, 0600, NULL), 0);
		refuses(second, sheet, BU_ERR_VERIFY, "a character is another one");
		ck_assert_int_ne(stat(second, &st), 0);
		text[i] ^= 1;
	}
	ck_assert_int_eq(bu_file_write(sheet, text, size - 200, 0600, NULL), 0);
	refuses(second, sheet, BU_ERR_VERIFY, "a line is missing");
	ck_assert_int_eq(bu_file_write(sheet, "{}", 2, 0600, NULL), 0);
	refuses(second, sheet, BU_ERR_USAGE, "give --identity KEY");
	refuses(second, "/no/such/file", BU_ERR_IO, "/no/such/file");
	end();
}
END_TEST

BU_UNIT("init", a_sheet_makes_the_same_appliance_again, nothing_is_written_over,
	no_sheet_is_left_of_keys_that_are_nowhere, a_slip_is_found)
