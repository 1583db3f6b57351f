/* SPDX-License-Identifier: Apache-2.0 */
/* How listings are written beside tables: YAML, and names. */
#include "cli/render/output.h"

#include "base/json.h"
#include "tests/support/cli.h"
#include "tests/support/unit.h"

/* As PyYAML and others read it back: nothing but a text is ever read as a text. */
START_TEST(yaml_is_what_the_json_was)
{
	bu_autojson json_t *value = json_loads(
		"{\"a\":1,\"b\":[],\"c\":{},\"d\":[{\"x\":\"n 1\",\"y\":null},[true,2.5],"
		"\"on\"],\"e\":\"No\",\"f\":\"1e3\",\"g\":\"a: b\",\"h\":\"two\\nlines\","
		"\"i\":\"debian12\",\"on\":\"#x\",\"j\":{\"k\":\"\"},\"-l\":\"r-1/x.y\"}",
		0, NULL);
	bu_autofree char *text = WRITTEN(bu_out_yaml(value, out));

	ck_assert_str_eq(text, "a: 1\n"
			       "b: []\n"
			       "c: {}\n"
			       "d:\n"
			       "  -\n"
			       "    x: \"n 1\"\n"
			       "    \"y\": null\n"
			       "  -\n"
			       "    - true\n"
			       "    - 2.5\n"
			       "  - \"on\"\n"
			       "e: \"No\"\n"
			       "f: \"1e3\"\n"
			       "g: \"a: b\"\n"
			       "h: \"two\\nlines\"\n"
			       "i: debian12\n"
			       "\"on\": \"#x\"\n"
			       "j:\n"
			       "  k: \"\"\n"
			       "\"-l\": r-1/x.y\n");
}
END_TEST

/* A firmware's texts have them. U+00A0 and those above are themselves. */
START_TEST(yaml_has_no_control_characters)
{
	bu_autojson json_t *value =
		json_pack("[s,s]", "\x7f\xc2\x80\xc2\x9f\xc2\xa0\xc3\xa9",
			  "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\x1b");
	bu_autofree char *text = WRITTEN(bu_out_yaml(value, out));

	ck_assert_str_eq(text, "- \"\\x7f\\x80\\x9f\xc2\xa0\xc3\xa9\"\n"
			       "- \"\xe2\x80\xa7\\u2028\\u2029\xe2\x80\xaa\\u001B\"\n");
}
END_TEST

START_TEST(names_are_folded_or_a_line_each)
{
	bu_autofree char *folded = NULL, *lines = NULL;

	bu_out_begin(BU_STYLE_NONE);
	folded = WRITTEN(bu_out_names("n[1-2],x", out));
	bu_out_begin(BU_STYLE_NAME);
	lines = WRITTEN(bu_out_names("n[1-2],x", out));
	bu_out_begin(BU_STYLE_NONE);
	ck_assert_str_eq(folded, "n[1-2],x\n");
	ck_assert_str_eq(lines, "n1\nn2\nx\n");
}
END_TEST

BU_UNIT("output", yaml_is_what_the_json_was, yaml_has_no_control_characters,
	names_are_folded_or_a_line_each)
