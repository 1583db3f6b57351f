/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of a change: what is written is read, and nothing is guessed. */
#include "agent/note.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

#define HEAD(v)                                                                        \
	"{\"v\":" v ",\"id\":\"j1\",\"attempt\":1,\"boot_id\":\"b1\",\"live\":false,"  \
	"\"confirm_ms\":20,\"groups\":[\"network\"],\"drops\":[],\"values\":[],"       \
	"\"mtus\":[{\"name\":\"eth0\",\"mtu\":1500}],"
#define FILES(v, more) HEAD(v) "\"files\":[{\"path\":\"/etc/x\"" more "}]}"
#define NOTHING ",\"was\":\"nothing\""
#define FILE_ ",\"was\":\"file\""
#define LINK ",\"was\":\"link\""
#define OWNED ",\"mode\":416,\"uid\":4,\"gid\":5"

static int
read_text(const char *text, struct bu_note *ret, json_t **ret_json, struct bu_err *err)
{
	*ret_json = bu_json_parse(text, strlen(text), "the journal", err);
	ck_assert_ptr_nonnull(*ret_json);
	return bu_note_from_json(*ret_json, ret, err);
}

START_TEST(reads_what_it_wrote)
{
	struct bu_note_file files[] = {
		{"/etc/a", BU_WAS_NOTHING, NULL, -1, -1, -1, -1},
		{"/etc/b", BU_WAS_FILE, NULL, 1, 0640, 0, 5},
		{"/etc/c", BU_WAS_LINK, "", -1, -1, -1, -1},
	};
	const char *drops[] = {"bond0"};
	struct bu_note_value values[] = {{"/proc/sys/vm/swappiness", "60"}};
	struct bu_note note = {.id = "s1",
			       .attempt = 3,
			       .boot_id = "b1",
			       .live = 1,
			       .confirm_ms = 7,
			       .kargs = "",
			       .drops = drops,
			       .drops_count = 1,
			       .values = values,
			       .values_count = 1,
			       .files = files,
			       .files_count = BU_LEN(files)};
	struct bu_note now;
	struct bu_err err = {0};
	bu_autojson json_t *json = bu_note_to_json(&note), *again = NULL;

	ck_assert_msg(bu_note_from_json(json, &now, &err) == 0, "%s", err.text);
	again = bu_note_to_json(&now);
	ck_assert(json_equal(json, again));
	ck_assert_int_eq(now.files[0].was, BU_WAS_NOTHING);
	ck_assert_int_eq(now.files[1].was, BU_WAS_FILE);
	ck_assert_int_eq(now.files[1].old, 1);
	ck_assert_int_eq(now.files[1].uid, 0);
	ck_assert_int_eq(now.files[2].was, BU_WAS_LINK);
	ck_assert_str_eq(now.kargs, "");
	bu_note_fini(&now);
}
END_TEST

/* The kernel takes nearly any name; a link that is not ours stops no change. */
START_TEST(a_link_may_have_an_odd_name)
{
	static const struct {
		const char *name;
		int ok;
	} names[] = {{"br~lan", 1},
		     {"-x", 1},
		     {".hidden", 1},
		     {"veth@\\\"{}", 1},
		     {"fifteen__bytes_", 1},
		     {"\xff", 1},
		     {"", 0},
		     {".", 0},
		     {"..", 0},
		     {"../eth0", 0},
		     {"sixteen___bytes_", 0}};

	for (size_t i = 0; i < BU_LEN(names); i++) {
		struct bu_note_mtu mtu = {names[i].name, 1500};
		struct bu_note now, note = {.id = "s1",
					    .boot_id = "b1",
					    .mtus = &mtu,
					    .mtus_count = 1};
		bu_autojson json_t *json = bu_note_to_json(&note);
		int rc = bu_note_from_json(json, &now, NULL);

		ck_assert_msg(rc == (names[i].ok ? 0 : -1), "'%s'", names[i].name);
		if (rc == 0)
			bu_note_fini(&now);
	}
}
END_TEST

START_TEST(guesses_nothing)
{
	static const struct {
		const char *text, *place;
	} bad[] = {
		{FILES("1", FILE_ OWNED ",\"old\":\"0\""), "files[0].old: "},
		{FILES("1", FILE_ OWNED ",\"old\":-1"), "files[0].old: "},
		{FILES("1", FILE_ OWNED), "files[0]: "},
		{FILES("1", FILE_ ",\"old\":0"), "files[0]: "},
		{FILES("1", FILE_ ",\"mode\":416,\"old\":0"), "files[0]: "},
		{FILES("1", NOTHING ",\"uid\":0"), "files[0]: "},
		{FILES("1", NOTHING ",\"old\":0"), "files[0]: "},
		{FILES("1", NOTHING ",\"link\":5"), "files[0].link: "},
		{FILES("1", LINK ",\"link\":\"d\",\"old\":0"), "files[0]: "},
		{FILES("1", LINK), "files[0]: "},
		{FILES("1", NOTHING ",\"mode\":\"0640\""), "files[0].mode: "},
		{FILES("1", ""), "files[0].was: "},
		{FILES("1", OWNED ",\"old\":0"), "files[0].was: "},
		{FILES("1", ",\"was\":\"gone\""), "files[0].was: "},
		{FILES("2", NOTHING), "v: "},
		{HEAD("1") "\"files\":[{\"path\":\"/etc/../x\"}]}", "files[0].path: "},
		{HEAD("1") "\"files\":[{\"was\":\"nothing\"}]}", "files[0].path: "},
		{HEAD("1") "\"files\":{}}", "files: "},
		{"{\"v\":1,\"files\":[]}", "id: "},
	};

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		struct bu_note note;
		struct bu_err err = {0};
		bu_autojson json_t *json = NULL;

		ck_assert_msg(read_text(bad[i].text, &note, &json, &err) != 0, "%zu",
			      i);
		ck_assert_msg(strncmp(err.text, bad[i].place, strlen(bad[i].place)) ==
				      0,
			      "%zu: %s", i, err.text);
	}
}
END_TEST

START_TEST(a_word_is_there_once)
{
	const char **list = NULL;
	size_t count = 0;

	bu_note_add_word(&list, &count, "network");
	bu_note_add_word(&list, &count, "sysctl");
	bu_note_add_word(&list, &count, "network");
	ck_assert_uint_eq(count, 2);
	ck_assert(bu_note_has_word(list, count, "sysctl"));
	ck_assert(!bu_note_has_word(list, count, "sys"));
	free(list);
}
END_TEST

BU_UNIT("note", reads_what_it_wrote, a_link_may_have_an_odd_name, guesses_nothing,
	a_word_is_there_once)
