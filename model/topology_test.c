/* SPDX-License-Identifier: Apache-2.0 */
#include "model/topology.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

static int
read_text(const char *text, struct bu_topology *ret, struct bu_err *err)
{
	bu_autojson json_t *value = json_loads(text, 0, NULL);

	ck_assert_msg(value != NULL, "%s", text);
	return bu_topology_from_json(value, ret, err);
}

#define TAIL "\"spines\":2,\"limit_gbps\":392.1,\"routing\":\"static\"}"

/* Four nodes with two rails: a and b on leaf 0, c and d on leaf 1. */
START_TEST(one_fabric_in_many_words)
{
	static const char *const texts[] = {
		"{\"nodes\":[\"a\",\"b\",\"c\",\"d\"],\"rails\":2,\"leaves\":2,"
		"\"leaf_of\":[0,0,1,1]," TAIL,
		"{\"nodes\":[\"a\",\"b\",\"c\",\"d\"],\"rails\":2,\"leaves\":[0,1],"
		"\"leaf_of\":[[0,0],0,[1,1],[1,1]]," TAIL,
		"{\"nodes\":[\"a\",\"b\",\"c\",\"d\"],\"rails\":2,"
		"\"leaves\":[[\"a\",\"b\"],[\"c\",\"d\"]]," TAIL,
		"{\"nodes\":[\"a\",\"b\",\"c\",\"d\"],\"rails\":2,"
		"\"leaves\":{\"x\":[\"a\",\"b\"],\"y\":[\"c\",\"d\"]}," TAIL,
		"{\"nodes\":4,\"rails\":2,\"leaves\":[{\"leaf\":\"x\",\"nodes\":[0,1]},"
		"{\"leaf\":\"y\",\"nodes\":[2,{\"node\":3,\"rail\":0},"
		"{\"node\":3,\"rail\":1}]}]," TAIL,
		"{\"nodes\":[{\"name\":\"a\",\"leaf\":\"x\"},"
		"{\"name\":\"b\",\"leaves\":[\"x\",\"x\"]},{\"name\":\"c\",\"leaf\":"
		"\"y\"},"
		"{\"name\":\"d\",\"leaf\":\"y\"}],\"rails\":2,\"leaves\":[\"x\",\"y\"]"
		"," TAIL,
		"{\"nodes\":4,\"rails\":2,\"leaves\":[\"x\",\"x\",\"y\",\"y\"]," TAIL,
		"{\"nodes\":4,\"rails\":2,\"leaf_of\":[0,0,1,1]," TAIL,
		"{\"nodes\":[{\"name\":\"a\",\"leaf\":0},{\"name\":\"b\",\"leaf\":0},"
		"{\"name\":\"c\",\"leaf\":1},{\"name\":\"d\",\"leaf\":1}],\"rails\":"
		"2," TAIL,
	};

	for (size_t i = 0; i < BU_LEN(texts); i++) {
		struct bu_topology t;
		struct bu_err err = {0};

		ck_assert_msg(read_text(texts[i], &t, &err) == 0, "%zu: %s", i,
			      err.text);
		ck_assert_int_eq(t.nodes, 4);
		ck_assert_int_eq(t.leaves, 2);
		for (int port = 0; port < 8; port++)
			ck_assert_int_eq(t.leaf_of[port], port / 4);
		bu_topology_fini(&t);
	}
}
END_TEST

START_TEST(rails_on_leaves_of_their_own)
{
	struct bu_topology t;

	ck_assert_int_eq(
		read_text("{\"nodes\":[\"a\",\"b\"],\"rails\":2,\"leaves\":["
			  "{\"leaf\":\"l0\",\"rail\":0,\"nodes\":[\"a\",\"b\"]},"
			  "{\"leaf\":\"l1\",\"rail\":1,\"nodes\":[\"a\",\"b\"]}"
			  "]," TAIL,
			  &t, NULL),
		0);
	for (int port = 0; port < 4; port++)
		ck_assert_int_eq(t.leaf_of[port], port % 2);
	bu_topology_fini(&t);
}
END_TEST

START_TEST(a_name_keeps_its_place)
{
	struct bu_ids ids = {json_array(), json_object()};
	bu_autojson json_t *second = json_string("leaf02");

	ck_assert_int_eq(bu_ids_place(&ids, "leaf01"), 0);
	ck_assert_int_eq(bu_ids_place(&ids, "leaf02"), 1);
	ck_assert_int_eq(bu_ids_place(&ids, "leaf01"), 0);
	ck_assert_int_eq(json_array_size(ids.list), 2);
	ck_assert_int_eq(bu_ids_find(&ids, second), 1);
	ck_assert_str_eq(json_string_value(json_array_get(ids.list, 1)), "leaf02");
	json_decref(ids.list);
	json_decref(ids.index);
}
END_TEST

START_TEST(says_what_is_wrong)
{
	static const struct {
		const char *text, *error;
	} rows[] = {
		{"[]", "an object"},
		{"{\"nodes\":2,\"rails\":1,\"leaves\":65536,\"spines\":65536,"
		 "\"limit_gbps\":1,\"leaf_of\":[0,0]}",
		 "links are allowed"},
		{"{\"nodes\":2,\"rails\":0}", "'rails'"},
		{"{\"nodes\":-1,\"rails\":1}", "'nodes'"},
		{"{\"nodes\":1e3,\"rails\":1}", "'nodes'"},
		{"{\"nodes\":[\"a\",\"a\"],\"rails\":1}", "twice"},
		{"{\"nodes\":[null],\"rails\":1}", "a name is"},
		{"{\"nodes\":2,\"rails\":1,\"leaves\":1,\"leaf_of\":[0]," TAIL,
		 "rail 0 of node '1' has no leaf"},
		{"{\"nodes\":2,\"rails\":1,\"leaves\":1,\"leaf_of\":[0,1]," TAIL,
		 "does not have"},
		{"{\"nodes\":2,\"rails\":1,\"leaves\":1,\"leaf_of\":[0,0,0]," TAIL,
		 "more entries"},
		{"{\"nodes\":2,\"rails\":2,\"leaves\":1,\"leaf_of\":[0,[0]]," TAIL,
		 "each of 2 rails"},
		{"{\"nodes\":2,\"rails\":1,\"leaves\":[[0,7]]," TAIL, "does not have"},
		{"{\"nodes\":2,\"rails\":1,\"leaves\":[[0,1]],\"spines\":1}",
		 "'limit_gbps'"},
		{"{\"nodes\":2,\"rails\":1,\"leaves\":[[0,1]],\"spines\":1,"
		 "\"limit_gbps\":1,\"routing\":\"magic\"}",
		 "'routing'"},
		{"{\"nodes\":2,\"rails\":1,\"leaves\":[[0,1]],\"spines\":1,"
		 "\"limit_gbps\":1,\"across\":\"yes\"}",
		 "'across'"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_topology t;
		struct bu_err err = {0};

		ck_assert_int_eq(read_text(rows[i].text, &t, &err), -1);
		ck_assert_msg(strstr(err.text, rows[i].error) != NULL, "%s: %s",
			      rows[i].text, err.text);
	}
}
END_TEST

BU_UNIT("topology", one_fabric_in_many_words, rails_on_leaves_of_their_own,
	a_name_keeps_its_place, says_what_is_wrong)
