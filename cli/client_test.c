/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused before bringupd is asked. (reach_test: who does not answer.) */
#include "cli/client.h"

#include "tests/support/unit.h"

START_TEST(a_name_cannot_leave_its_path)
{
	static const char *const bad[] = {"", "../status", "a/b", "A", "a?x=1", "a b"};
	bu_autoclient struct bu_client *client = bu_client_create("/nonexistent");
	struct bu_err err;

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		ck_assert_ptr_null(bu_client_node(client, bad[i], &err));
		ck_assert_msg(err.kind == BU_ERR_INVAL, "'%s'", bad[i]);
	}
}
END_TEST

BU_UNIT("client", a_name_cannot_leave_its_path)
