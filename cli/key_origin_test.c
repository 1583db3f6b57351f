/* SPDX-License-Identifier: Apache-2.0 */
/* A row for each value that is set, with the line that set it. */
#include "cli/key_origin.h"

#include "base/json.h"
#include "tests/support/cli.h"
#include "tests/support/unit.h"

START_TEST(each_value_has_its_line)
{
	bu_autojson json_t *node = quoted(
		"{'name':'gpu1','image':'debian12','gpu_slices':4,'rack':'r1',"
		"'origin':{'image':'pools/a.ini:3','gpu_slices':'conf.d/b.ini:2'}}");
	char *text = WRITTEN(bu_render_origin(node, out));

	ck_assert_str_eq(text, "KEY        VALUE    SET IN\n"
			       "image      debian12 pools/a.ini:3\n"
			       "gpu_slices 4        conf.d/b.ini:2\n"
			       "rack       r1       \n");
	free(text);
}
END_TEST

BU_UNIT("origin", each_value_has_its_line)
