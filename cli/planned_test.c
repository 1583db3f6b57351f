/* SPDX-License-Identifier: Apache-2.0 */
/* A plan is what its digest names, and reads as its consequences. */
#include "cli/planned.h"

#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/testing.h"
#include "tests/support/unit.h"

#define STEP(node, class, why)                                                         \
	"{'node':'" node                                                               \
	"','pool':'train','class':'" class "','image':'debian12','digest':'d','from':" \
					   "'enrolled','why':'" why "'}"
#define PLAN(steps, refused, left)                                                     \
	"{'v':2,'revision':'0123456789abcdef','commit':'fedcba9876543210',"            \
	"'steps':[" steps "],'refused':[" refused "],'left':[" left "],'unchanged':5}"
#define MIXED                                                                            \
	PLAN(STEP("node001", "install", "new in the profile") "," STEP(                  \
		     "node002", "install",                                               \
		     "new in the profile") "," STEP("node004", "install",                \
						    "new in the profile") "," STEP("n"   \
										   "o"   \
										   "d"   \
										   "e"   \
										   "0"   \
										   "0"   \
										   "7",  \
										   "w"   \
										   "i"   \
										   "p"   \
										   "e",  \
										   "i"   \
										   "m"   \
										   "a"   \
										   "g"   \
										   "e"   \
										   " "   \
										   "a"   \
										   " "   \
										   "-"   \
										   ">"   \
										   " "   \
										   "b"   \
										   ";"   \
										   " "   \
										   "i"   \
										   "t"   \
										   " "   \
										   "i"   \
										   "s"   \
										   " "   \
										   "d"   \
										   "r"   \
										   "a"   \
										   "i"   \
										   "n"   \
										   "e"   \
										   "d"   \
										   " "   \
										   "f"   \
										   "i"   \
										   "r"   \
										   "s"   \
										   "t"), \
	     "{'node':'node008','why':'it is imaging with another image'},"              \
	     "{'node':'node009','why':'it is imaging with another image'}",              \
	     "'old1','old2'")

static struct bu_planned
planned(const char *plan_text)
{
	bu_autojson json_t *value = json_pack("{s:o}", "plan", parse(plan_text));
	struct bu_planned result;
	struct bu_err err;
	char digest[65];

	bu_json_digest(json_object_get(value, "plan"), digest);
	json_object_set_new(value, "digest", json_string(digest));
	ck_assert_msg(bu_planned_from_json(value, &result, &err) == 0, "%s", err.text);
	ck_assert_str_eq(result.digest, digest);
	return result;
}

/* The row of the table that holds the text, blanks squeezed; owned. */
static char *
row_with(const char *table, const char *text)
{
	const char *at = strstr(table, text), *from = at, *to;
	char *row, *p;

	ck_assert_msg(at != NULL, "no '%s' in\n%s", text, table);
	while (from > table && from[-1] != '\n')
		from--;
	to = at + strcspn(at, "\n");
	row = p = bu_xstrndup(from, (size_t)(to - from));
	for (const char *q = row; *q; q++)
		if (*q != ' ' || (p > row && p[-1] != ' '))
			*p++ = *q;
	*p = '\0';
	return row;
}

START_TEST(groups_what_reads_the_same)
{
	struct bu_planned plan = planned(MIXED);
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));
	bu_autofree char *install = row_with(text, "node[001-002,004]");
	bu_autofree char *wipe = row_with(text, "node007");
	bu_autofree char *refused = row_with(text, "refused");

	ck_assert_str_eq(install, "train 3 node[001-002,004] install debian12 new in "
				  "the profile");
	ck_assert_str_eq(wipe, "train 1 node007 wipe debian12 image a -> b; it is "
			       "drained first");
	ck_assert_str_eq(refused, "refused: node[008-009]: it is imaging with another "
				  "image");
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(says_the_consequences)
{
	static const char *const want[] = {
		"\ninstall: 3 nodes, written to an empty disk\n",
		"\nwipe: 1 node, drained; what is on the disk is lost; needs --grant "
		"wipe\n",
		"\nno longer in the profile, left as they are: old[1-2]\n",
		"\nunchanged: 5 nodes\n",
		" of revision 0123456789ab (commit fedcba987654)\n",
	};
	struct bu_planned plan = planned(MIXED);
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));

	for (size_t i = 0; i < BU_LEN(want); i++)
		ck_assert_msg(strstr(text, want[i]), "no '%s' in\n%s", want[i], text);
	ck_assert_ptr_null(strstr(text, "nothing to do"));
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(says_when_there_is_nothing_to_do)
{
	struct bu_planned plan = planned(PLAN("", "", ""));
	bu_autofree char *text = WRITTEN(bu_planned_print(&plan, out));
	bu_autofree char *nodes = bu_planned_hostlist(&plan);

	ck_assert_msg(strncmp(text, "nothing to do\nunchanged: 5 nodes\nplan ", 38) ==
			      0,
		      "%s", text);
	ck_assert_uint_eq(bu_planned_steps(&plan), 0);
	ck_assert_str_eq(nodes, "");
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(a_changed_plan_is_refused)
{
	struct bu_planned plan = planned(MIXED), again = {0};
	bu_autojson json_t *value = bu_planned_to_json(&plan);
	json_t *steps = json_object_get(json_object_get(value, "plan"), "steps");
	struct bu_err err;

	json_array_remove(steps, 3);
	ck_assert_int_eq(bu_planned_from_json(value, &again, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_ptr_null(again.plan);
	bu_planned_fini(&plan);
}
END_TEST

START_TEST(what_is_no_plan_is_refused)
{
	static const char *const bad[] = {
		"{}",
		"{'plan':[],'digest':'x'}",
		"{'plan':{'v':1},'digest':'x'}",
		"{'plan':{'v':2,'steps':{},'refused':[],'left':[]},'digest':'x'}",
		"{'plan':{'v':2,'steps':[],'refused':[]},'digest':'x'}",
		"{'plan':{'v':2,'steps':[],'refused':[],'left':[]}}",
	};
	struct bu_planned plan;
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		bu_autojson json_t *value = parse(bad[i]);

		ck_assert_msg(bu_planned_from_json(value, &plan, &err) == -1, "%s",
			      bad[i]);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	}
}
END_TEST

START_TEST(is_the_same_after_a_file)
{
	struct bu_planned plan = planned(MIXED), again;
	char path[] = "/tmp/planned_test.XXXXXX";
	struct bu_err err;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_msg(bu_planned_save(&plan, path, &err) == 0, "%s", err.text);
	ck_assert_msg(bu_planned_load(path, &again, &err) == 0, "%s", err.text);
	ck_assert_str_eq(again.digest, plan.digest);
	ck_assert(json_equal(again.plan, plan.plan));
	unlink(path);
	bu_planned_fini(&plan);
	bu_planned_fini(&again);
}
END_TEST

BU_UNIT("planned", groups_what_reads_the_same, says_the_consequences,
	says_when_there_is_nothing_to_do, a_changed_plan_is_refused,
	what_is_no_plan_is_refused, is_the_same_after_a_file)
