/* SPDX-License-Identifier: Apache-2.0 */
/* Hostlists: expansion, folding, and the texts that are refused. */
#include "profiles/nodeset/nodeset.h"

#include <string.h>

#include "tests/support/unit.h"

static char *
joined(const struct bu_nodeset *nodeset)
{
	char *text = bu_xstrdup("");

	for (size_t i = 0; i < nodeset->count; i++) {
		bu_autofree char *old = text;

		text = bu_xasprintf("%s%s%s", old, i ? " " : "", nodeset->names[i]);
	}
	return text;
}

START_TEST(expands_in_the_written_order)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"gpu1", "gpu1"},
		{"gpu[1-3]", "gpu1 gpu2 gpu3"},
		{"gpu[001-003,200]", "gpu001 gpu002 gpu003 gpu200"},
		{"gpu[8-11]", "gpu8 gpu9 gpu10 gpu11"},
		{"gpu[08-11]", "gpu08 gpu09 gpu10 gpu11"},
		{"gpu[099-101]", "gpu099 gpu100 gpu101"},
		{"r[1-2]n[01-02]", "r1n01 r1n02 r2n01 r2n02"},
		{"r[1-2]-x", "r1-x r2-x"},
		{"b2 , a[1-2]\t,c", "b2 a1 a2 c"},
		{"n[2,1],n1", "n2 n1"},
		{"n1,n1,n1,n2,n1", "n1 n2"},
		{"[1-2]x", "1x 2x"},
		{"n[0-9/3]", "n0 n3 n6 n9"},
		{"n[00-08/4,1]", "n00 n04 n08 n1"},
		{"n[1-5]!n[2-3]", "n1 n4 n5"},
		{"n[1-5]&n[4-9]", "n4 n5"},
		{"n[1-3]^n[3-5]", "n1 n2 n4 n5"},
		{"n1,n2!n1,n1", "n2 n1"},
		{"n[1-2]!n[1-2]", ""},
		{"n[1-9]!n[2-8/2]&n[1-4],m1", "n1 n3 m1"},
		{"n1,n1^n2,n2", "n1 n2"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err;
		struct bu_nodeset *nodeset =
			bu_nodeset_parse(rows[i].text, NULL, NULL, &err);
		bu_autofree char *text = NULL;

		ck_assert_msg(nodeset != NULL, "%s: %s", rows[i].text,
			      nodeset ? "" : err.text);
		text = joined(nodeset);
		ck_assert_str_eq(text, rows[i].want);
		bu_nodeset_destroy(nodeset);
	}
}
END_TEST

START_TEST(refuses_with_a_reason)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", "names no node; write gpu[001-128]"},
		{"a,", "has an empty item; write names with one comma between them"},
		{",a", "has an empty item; write names with one comma between them"},
		{"a,,b", "has an empty item; write names with one comma between them"},
		{"gpu[3-1]",
		 "'gpu[3-1]' holds the inverted range 3-1; write the smaller "
		 "number first"},
		{"gpu[1-3", "'gpu[1-3' has a '[' without ']'"},
		{"gpu1-3]", "'gpu1-3]' has a ']' without '['"},
		{"gpu[1-3]]", "'gpu[1-3]]' has a ']' without '['"},
		{"gpu[]", "'gpu[]' does not hold a range where ']' stands; write "
			  "[1-4,7] or [0-8/2], "
			  "each number at most 9 digits"},
		{"gpu[1-]", "'gpu[1-]' does not hold a range where '1-]' stands; write "
			    "[1-4,7] or [0-8/2], each number at most 9 digits"},
		{"gpu[1-9/0]",
		 "'gpu[1-9/0]' does not hold a range where '1-9/0]' stands; "
		 "write [1-4,7] or [0-8/2], each number at most 9 digits"},
		{"gpu[1/2]", "'gpu[1/2]' does not hold a range where '1/2]' stands; "
			     "write [1-4,7] or [0-8/2], each number at most 9 digits"},
		{"gpu[1-3]!",
		 "has an empty item; write names with one comma between them"},
		{"&gpu1", "has an empty item; write names with one comma between them"},
		{"state=ready", "'state=ready': states cannot be named here"},
		{"gpu[a-b]",
		 "'gpu[a-b]' does not hold a range where 'a-b]' stands; write "
		 "[1-4,7] or [0-8/2], each number at most 9 digits"},
		{"gpu[1,]", "'gpu[1,]' does not hold a range where ']' stands; write "
			    "[1-4,7] or [0-8/2], each number at most 9 digits"},
		{"gpu[1-1234567890]",
		 "'gpu[1-1234567890]' does not hold a range where "
		 "'1-1234567890]' stands; "
		 "write [1-4,7] or [0-8/2], each number at most 9 digits"},
		{"gpu[[1-2]]",
		 "'gpu[[1-2]]' does not hold a range where '[1-2]]' stands; "
		 "write [1-4,7] or [0-8/2], each number at most 9 digits"},
		{"gpu[01-5]",
		 "'gpu[01-5]' pads the two ends of a range differently; write "
		 "[01-16] or [1-16]"},
		{"gpu[1-05]",
		 "'gpu[1-05]' pads the two ends of a range differently; write "
		 "[01-16] or [1-16]"},
		{"gpu[1-999999999]",
		 "makes more than 100000 names; write smaller ranges"},
		{"a[1-400]b[1-400]",
		 "makes more than 100000 names; write smaller ranges"},
		{"a[1][1][1][1][1][1][1][1][1]",
		 "'a[1][1][1][1][1][1][1][1][1]' has too many brackets; at most 8"},
		{"GPU1",
		 "'GPU1' is not a node name; a name has 1 to 63 lower-case letters, "
		 "digits and '-'"},
		{"a b",
		 "'a b' is not a node name; a name has 1 to 63 lower-case letters, "
		 "digits and '-'"},
		{"-a", "'-a' is not a node name; a name has 1 to 63 lower-case "
		       "letters, digits "
		       "and '-'"},
		{"@train", "'@train': pools cannot be named here"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err;

		ck_assert_msg(!bu_nodeset_parse(rows[i].text, NULL, NULL, &err), "%s",
			      rows[i].text);
		ck_assert_str_eq(err.text, rows[i].want);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	}
}
END_TEST

static int
answer(const char *group, struct bu_nodeset *nodeset, void *arg, struct bu_err *err)
{
	(void)arg;
	return bu_nodeset_add(nodeset, strcmp(group, "state=ready") == 0 ? "n2" : "n3",
			      err);
}

START_TEST(questions_come_from_the_callback_whole)
{
	struct bu_err err;
	struct bu_nodeset *nodeset =
		bu_nodeset_parse("n[1-4]!state=ready!@spare", answer, NULL, &err);
	bu_autofree char *text = joined(nodeset);

	ck_assert_str_eq(text, "n1 n4");
	bu_nodeset_destroy(nodeset);
}
END_TEST

static int
train(const char *group, struct bu_nodeset *nodeset, void *arg, struct bu_err *err)
{
	if (strcmp(group, arg) != 0)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "there is no pool '%s'",
				  group);
	return bu_nodeset_add(nodeset, "gpu2", err) ||
			       bu_nodeset_add(nodeset, "gpu9", err)
		       ? -1
		       : 0;
}

START_TEST(groups_come_from_the_callback)
{
	struct bu_err err;
	struct bu_nodeset *nodeset =
		bu_nodeset_parse("gpu[1-2],@train", train, "train", &err);
	bu_autofree char *text = joined(nodeset);

	ck_assert_str_eq(text, "gpu1 gpu2 gpu9");
	bu_nodeset_destroy(nodeset);
	ck_assert_ptr_null(bu_nodeset_parse("gpu1,@spare", train, "train", &err));
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_str_eq(err.text, "there is no pool 'spare'");
}
END_TEST

START_TEST(unique_names_a_repetition)
{
	struct bu_err err;
	struct bu_nodeset *nodeset = bu_nodeset_parse_unique("n[1-2],m1", &err);

	ck_assert_uint_eq(nodeset->count, 3);
	bu_nodeset_destroy(nodeset);
	ck_assert_ptr_null(bu_nodeset_parse_unique("n[1-2],m1,n2", &err));
	ck_assert_str_eq(err.text, "names 'n2' twice");
}
END_TEST

START_TEST(folds_to_the_shortest_and_back)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"a", "a"},
		{"n10,n9,n2,n1", "n[1-2,9-10]"},
		{"n[001-128],n200", "n[001-128,200]"},
		{"n08,n09,n10", "n[08-10]"},
		{"n8,n9,n08,n09,n10", "n[8-9,08-10]"},
		{"n[98-102]", "n[98-102]"},
		{"r[1-2]n[1-2]", "r1n[1-2],r2n[1-2]"},
		{"r10n1,r2n1", "r2n1,r10n1"},
		{"login,n1-ib,n2-ib,n1", "login,n1,n[1-2]-ib"},
		{"n1,n1,n2", "n[1-2]"},
		{"n1234567890,n1234567891", "n1234567890,n1234567891"},
		{"7,8,9", "[7-9]"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err;
		struct bu_nodeset *one = bu_nodeset_expand(rows[i].text, &err), *two;
		bu_autofree char *folded =
			bu_nodeset_fold((const char *const *)one->names, one->count);
		bu_autofree char *before = NULL, *after = NULL;

		ck_assert_str_eq(folded, rows[i].want);
		two = bu_nodeset_parse(folded, NULL, NULL, &err);
		ck_assert_msg(two != NULL, "%s: %s", folded, two ? "" : err.text);
		bu_nodeset_sort(one);
		bu_nodeset_sort(two);
		before = joined(one);
		after = joined(two);
		ck_assert_str_eq(before, after);
		bu_nodeset_destroy(one);
		bu_nodeset_destroy(two);
	}
}
END_TEST

START_TEST(an_empty_set_folds_to_nothing)
{
	bu_autofree char *text = bu_nodeset_fold(NULL, 0);

	ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(node_names_become_host_names)
{
	char longest[BU_NODE_NAME_MAX + 2];

	memset(longest, 'a', sizeof(longest));
	longest[BU_NODE_NAME_MAX] = '\0';
	ck_assert_int_eq(bu_node_name_ok(longest), 1);
	longest[BU_NODE_NAME_MAX] = 'a';
	longest[BU_NODE_NAME_MAX + 1] = '\0';
	ck_assert_int_eq(bu_node_name_ok(longest), 0);
	ck_assert_int_eq(bu_node_name_ok("gpu-001"), 1);
	ck_assert_int_eq(bu_node_name_ok(""), 0);
	ck_assert_int_eq(bu_node_name_ok("a."), 0);
	ck_assert_int_eq(bu_node_name_ok("a-"), 0);
	ck_assert_int_eq(bu_node_name_ok("a/b"), 0);
	ck_assert_int_eq(bu_node_name_ok("../b"), 0);
}
END_TEST

BU_UNIT("nodeset", expands_in_the_written_order, refuses_with_a_reason,
	groups_come_from_the_callback, questions_come_from_the_callback_whole,
	unique_names_a_repetition, folds_to_the_shortest_and_back,
	an_empty_set_folds_to_nothing, node_names_become_host_names)
