/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups by MAC depend on one form of a MAC; everything else is in load_test.c. */
#include "profiles/desired.h"

#include <string.h>

#include "base/err.h"
#include "tests/support/unit.h"

START_TEST(macs_have_one_form)
{
	static const struct {
		const char *text, *want; /* NULL = refused */
	} rows[] = {
		{"52:54:00:77:00:0a", "52:54:00:77:00:0a"},
		{"52:54:00:77:00:0A", "52:54:00:77:00:0a"},
		{"52-54-00-77-00-0a", "52:54:00:77:00:0a"},
		{"5254.0077.000a", "52:54:00:77:00:0a"},
		{"52540077000A", "52:54:00:77:00:0a"},
		{"", NULL},
		{"52:54:00:77:00", NULL},
		{"52:54:00:77:00:0a:0b", NULL},
		{"52:54:00:77:00:0g", NULL},
		{"52::54:00:77:00:0a", NULL},
		{":52:54:00:77:00:0a", NULL},
		{"52:54:00:77:00:0a:", NULL},
		{"52:5400:77:00:0a", NULL},
		{"01:00:5e:00:00:01", NULL}, /* a group's */
		{"00:00:00:00:00:00", NULL},
		{"52 54 00 77 00 0a", NULL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char mac[18] = "unset";
		int rc = bu_mac_normalize(rows[i].text, mac);

		ck_assert_msg(rc == (rows[i].want ? 0 : -1), "%s", rows[i].text);
		ck_assert_str_eq(mac, rows[i].want ? rows[i].want : "unset");
	}
}
END_TEST

START_TEST(names_of_enums)
{
	ck_assert_str_eq(bu_network_role_name(BU_ROLE_FABRIC), "fabric");
}
END_TEST

BU_UNIT("desired", macs_have_one_form, names_of_enums)
