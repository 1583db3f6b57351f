/* SPDX-License-Identifier: Apache-2.0 */
/* Grants: their words, and what they leave out. */
#include "cli/grant.h"

#include "base/json.h"
#include "tests/support/cli.h"
#include "tests/support/shown.h"
#include "tests/support/unit.h"

#define STEP(node, pool, class, from)                                                  \
	"{'node':'" node "','pool':'" pool "','class':'" class "','from':'" from "'}"

/* Both end with released(). */
static json_t *
plan_of(struct bu_plan *ret)
{
	return shown_as(
		bu_plan_fields,
		"{'v':2,'pools':{},'steps':[" STEP("n1", "train", "wipe", "ready") "," STEP(
			"n2", "train", "reimage",
			"failed") "," STEP("n3", "infer", "reimage",
					   "ready") "," STEP("n4", "infer", "reboot",
							     "ready") "]}",
		ret);
}

/* Words with a blank between them. */
static struct bu_explain
words_of(char *text)
{
	struct bu_explain words = {0};
	char *word;

	while ((word = strsep(&text, " ")))
		if (*word)
			words.items[words.count++] = word;
	return words;
}

START_TEST(a_grant_covers_its_class_and_its_nodes)
{
	static const struct {
		const char *words, *left; /* "" = nothing */
	} rows[] = {
		{"", "n[2-3]: drained, system written again; data is kept; --grant "
		     "reimage:n[2-3] allows it; n1: drained; what is on the disk is "
		     "lost; --grant wipe:n1 allows it"},
		{"wipe", ""},
		{"reimage", "n1: drained; what is on the disk is lost; --grant "
			    "wipe:n1 allows it"},
		{"reimage wipe:n1", ""},
		/* as it was said above */
		{"reimage:n[2-3] wipe:n1", ""},
		{"reimage wipe:@train", ""},
		{"wipe:@train", "n3: drained, system written again; data is kept; "
				"--grant reimage:n3 allows it"},
		{"wipe:state=ready", "n2: drained, system written again; data is "
				     "kept; --grant reimage:n2 allows it"},
		{"wipe:n[1-9]!n3 reimage:n3", ""},
		/* a grant for others is one for nobody, never one for all */
		{"reimage wipe:n4 wipe:n9 wipe:@nowhere wipe:state=lost",
		 "n1: drained; what is on the disk is lost; --grant wipe:n1 allows it"},
	};
	struct bu_plan plan;
	json_t *value = plan_of(&plan);

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = strdup(rows[i].words);
		struct bu_explain words = words_of(text);
		struct bu_err err = {0};
		bu_autojson json_t *grants = bu_grants_make(&words, &plan, &err);

		ck_assert_msg(grants != NULL, "%s: %s", rows[i].words, err.text);
		ck_assert_int_eq(bu_grants_check(grants, &plan, &err),
				 *rows[i].left ? -1 : 0);
		ck_assert_str_eq(err.text, rows[i].left);
		ck_assert_int_eq(err.kind, *rows[i].left ? BU_ERR_DENIED : BU_ERR_NONE);
	}
	released(bu_plan_fields, &plan, value);
}
END_TEST

START_TEST(bringupd_gets_plain_hostlists)
{
	struct bu_plan plan;
	json_t *value = plan_of(&plan);
	char text[] = "wipe:@train,n9 wipe:n9 reimage";
	struct bu_explain words = words_of(text);
	bu_autojson json_t *grants = bu_grants_make(&words, &plan, NULL);
	bu_autojson json_t *want =
		quoted("[{'class':'wipe','nodes':'n[1-2]'},{'class':'reimage'}]");

	ck_assert(json_equal(grants, want));
	released(bu_plan_fields, &plan, value);
}
END_TEST

START_TEST(wrong_words_are_refused)
{
	static const struct {
		const char *word, *want;
	} rows[] = {
		{"install", "give one of reset, reimage and wipe"},
		{"", "give one of reset, reimage and wipe"},
		{"wipe:", "--grant 'wipe:'"},
		{"wipe:n[3-1]", "--grant 'wipe:n[3-1]'"},
		{"wipe:a b", "--grant 'wipe:a b'"},
	};
	struct bu_plan plan;
	json_t *value = plan_of(&plan);

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_explain words = {.items = {rows[i].word}, .count = 1};
		struct bu_err err = {0};

		ck_assert_ptr_null(bu_grants_make(&words, &plan, &err));
		ck_assert_int_eq(err.kind, BU_ERR_USAGE);
		ck_assert_msg(strstr(err.text, rows[i].want), "%s", err.text);
	}
	released(bu_plan_fields, &plan, value);
}
END_TEST

BU_UNIT("grant", a_grant_covers_its_class_and_its_nodes, bringupd_gets_plain_hostlists,
	wrong_words_are_refused)
