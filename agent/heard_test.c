/* SPDX-License-Identifier: Apache-2.0 */
/* The epoch that an agent has heard of: it never falls, on the disk as in memory. */
#include "agent/heard.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/bringup-test-XXXXXX";
static struct bu_identity identity;
static struct bu_heard heard;

static void
begin(int installed)
{
	strcpy(strstr(dir, "test-") + 5, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	identity = (struct bu_identity){.installed = installed, .dir = dir};
	bu_heard_load(&heard, &identity);
}

static void
end(void)
{
	bu_heard_fini(&heard);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static void
restart(void)
{
	bu_heard_fini(&heard);
	bu_heard_load(&heard, &identity);
}

/* told: of the anchor, 0 = there is none. */
static enum bu_err_kind
answer(int64_t epoch, int64_t told)
{
	bu_autojson json_t *reply = json_pack("{s:I}", "epoch", (json_int_t)epoch);
	struct bu_anchor anchor = {.epoch = told, .seq = 3, .revoked = "ff"};
	bu_autojson json_t *body = bu_anchor_to_json(&anchor);
	bu_autofree char *text = json_dumps(body, JSON_COMPACT);
	struct bu_err err = {0};

	if (told)
		json_object_set_new(reply, "anchor",
				    json_pack("{s:s,s:s,s:{}}", "text", text, "sig",
					      "00", "revoked"));
	if (bu_heard_answer(&heard, reply, &err) != 0)
		ck_assert_ptr_nonnull(strstr(err.text, "no work of this one is done"));
	return err.kind;
}

START_TEST(it_never_falls)
{
	struct stat st;
	bu_autofree char *path = NULL;

	begin(1);
	ck_assert_ptr_null(heard.document);
	ck_assert_str_eq(heard.newest.revoked, "");
	ck_assert_int_eq(answer(5, 5), BU_ERR_NONE);
	ck_assert_int_eq(answer(4, 4), BU_ERR_STATE);
	ck_assert_int_eq(answer(0, 0), BU_ERR_STATE);
	ck_assert_int_eq(heard.newest.epoch, 5);
	ck_assert_str_eq(heard.newest.revoked, "ff");
	/* One without a proof moves nothing, and is no lower one. */
	ck_assert_int_eq(answer(7, 0), BU_ERR_NONE);
	ck_assert_int_eq(heard.newest.epoch, 5);
	/* The anchor must be of the epoch that the answer says. */
	ck_assert_int_eq(answer(7, 9), BU_ERR_NONE);
	ck_assert_int_eq(heard.newest.epoch, 5);
	restart();
	ck_assert_int_eq(heard.newest.epoch, 5);
	ck_assert_str_eq(bu_json_str(heard.document, "sig", ""), "00");
	ck_assert_int_eq(answer(4, 4), BU_ERR_STATE);
	ck_assert_int_eq(answer(6, 6), BU_ERR_NONE);
	restart();
	ck_assert_int_eq(answer(5, 5), BU_ERR_STATE);
	path = bu_xasprintf("%s/anchor.json", dir);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	end();
}
END_TEST

/* The next boot of a ramdisk begins anew. */
START_TEST(the_ramdisk_keeps_it_in_memory)
{
	begin(0);
	ck_assert_int_eq(answer(5, 5), BU_ERR_NONE);
	ck_assert_int_eq(answer(4, 4), BU_ERR_STATE);
	restart();
	ck_assert_int_eq(answer(4, 4), BU_ERR_NONE);
	end();
}
END_TEST

START_TEST(a_damaged_file_counts_as_none)
{
	static const char *const texts[] = {"", "{", "{\"text\":\"{}\",\"sig\":\"\"}"};

	begin(1);
	for (size_t i = 0; i < BU_LEN(texts); i++) {
		bu_autofree char *path = bu_xasprintf("%s/anchor.json", dir);

		ck_assert_int_eq(
			bu_file_write(path, texts[i], strlen(texts[i]), 0600, NULL), 0);
		restart();
		ck_assert_int_eq(heard.newest.epoch, 0);
		ck_assert_ptr_null(heard.document);
	}
	ck_assert_int_eq(answer(4, 4), BU_ERR_NONE);
	restart();
	ck_assert_int_eq(heard.newest.epoch, 4);
	end();
}
END_TEST

/* of: of the stamp that is told. */
static void
told(int64_t epoch, const char *of, int taken)
{
	struct bu_stamp stamp = {.node = "node001"};
	bu_autojson json_t *body = NULL, *reply = NULL;
	bu_autofree char *text = NULL;
	struct bu_err err;

	BU_TEXT_COPY(stamp.of, of);
	body = bu_stamp_to_json(&stamp);
	text = json_dumps(body, JSON_COMPACT);
	reply = json_pack("{s:I,s:{s:s,s:s}}", "epoch", (json_int_t)epoch, "stamp",
			  "text", text, "sig", "00");
	ck_assert_int_eq(bu_heard_answer(&heard, reply, &err), taken ? 0 : -1);
}

START_TEST(a_stamp_is_kept_of_who_leads)
{
	bu_autofree char *path = NULL;
	struct stat st;

	begin(1);
	ck_assert_str_eq(heard.settled_of, "");
	told(5, "first", 1);
	ck_assert_int_eq(answer(5, 5), BU_ERR_NONE);
	ck_assert_str_eq(heard.settled_of, "first");
	told(4, "of the old appliance", 0);
	ck_assert_str_eq(heard.settled_of, "first");
	told(5, "second", 1);
	restart();
	ck_assert_str_eq(heard.settled_of, "second");
	ck_assert_str_eq(bu_json_str(heard.settled, "sig", ""), "00");
	path = bu_xasprintf("%s/settled.json", dir);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, 0600);
	ck_assert_int_eq(bu_file_write(path, "{", 1, 0600, NULL), 0);
	restart();
	ck_assert_str_eq(heard.settled_of, "");
	ck_assert_ptr_null(heard.settled);
	end();
}
END_TEST

/* A full disk: as long as it runs it knows. */
START_TEST(what_cannot_be_written_is_known_all_the_same)
{
	begin(1);
	free(heard.path);
	heard.path = bu_xstrdup("/no/such/folder/anchor.json");
	ck_assert_int_eq(answer(5, 5), BU_ERR_NONE);
	ck_assert_int_eq(answer(4, 4), BU_ERR_STATE);
	end();
}
END_TEST

BU_UNIT("heard", it_never_falls, the_ramdisk_keeps_it_in_memory,
	a_damaged_file_counts_as_none, a_stamp_is_kept_of_who_leads,
	what_cannot_be_written_is_known_all_the_same)
