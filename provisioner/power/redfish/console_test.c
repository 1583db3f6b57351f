/* SPDX-License-Identifier: Apache-2.0 */
/* How the serial console behind a Redfish BMC is reached, by what its tree says. */
#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/redfish.h"

#define SYSTEM "/redfish/v1/Systems/System.Embedded.1"
#define MANAGER "/redfish/v1/Managers/1"

static const struct {
	const char *system, *manager; /* SerialConsole; NULL = has none */
	int by_ipmi;                  /* the profile says so */
	enum bu_console_way way;
	const char *says; /* the port, or why not */
} rows[] = {
	{"{'IPMI':{'ServiceEnabled':true,'Port':6230}}", NULL, 0, BU_CONSOLE_IPMI,
	 "6230"},
	{"{'IPMI':{'ServiceEnabled':true}}", NULL, 0, BU_CONSOLE_IPMI, "623"},
	{"{'IPMI':{'ServiceEnabled':true,'Port':1}}", NULL, 0, BU_CONSOLE_IPMI, "1"},
	{"{'IPMI':{'ServiceEnabled':true,'Port':65535}}", NULL, 0, BU_CONSOLE_IPMI,
	 "65535"},
	{"{'IPMI':{'ServiceEnabled':true,'Port':0}}", NULL, 0, BU_CONSOLE_NONE,
	 "no console by IPMI"},
	{"{'IPMI':{'ServiceEnabled':true,'Port':65536}}", NULL, 0, BU_CONSOLE_NONE,
	 "no console by IPMI"},
	{"{'IPMI':{'ServiceEnabled':false},'SSH':{'ServiceEnabled':true}}", NULL, 0,
	 BU_CONSOLE_NONE, "by SSH and not by IPMI"},
	/* the system's word counts, not its manager's */
	{"{'IPMI':{'ServiceEnabled':false}}",
	 "{'ServiceEnabled':true,'ConnectTypesSupported':['IPMI']}", 0, BU_CONSOLE_NONE,
	 "no console by IPMI"},
	{NULL, "{'ServiceEnabled':true,'ConnectTypesSupported':['SSH','IPMI']}", 0,
	 BU_CONSOLE_IPMI, "623"},
	{NULL, "{'ServiceEnabled':false,'ConnectTypesSupported':['IPMI']}", 0,
	 BU_CONSOLE_NONE, "no console by IPMI"},
	{NULL, "{'ServiceEnabled':true,'ConnectTypesSupported':['SSH']}", 0,
	 BU_CONSOLE_NONE, "by SSH and not by IPMI"},
	{NULL, NULL, 0, BU_CONSOLE_NONE, "no console by IPMI"},
	{NULL, NULL, 1, BU_CONSOLE_IPMI, "623"},
};

START_TEST(the_tree_says_how_the_console_is_reached)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_power_console *console;
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		rig.request.console_ipmi = rows[i].by_ipmi;
		if (rows[i].system)
			hostile_set(rig.bmc, SYSTEM, "SerialConsole",
				    quoted(rows[i].system));
		if (rows[i].manager)
			hostile_set(rig.bmc, MANAGER, "SerialConsole",
				    quoted(rows[i].manager));
		ck_assert_int_eq(rig_do(&rig, BU_POWER_CONSOLE), BU_ERR_NONE);
		console = &rig.answer.console;
		ck_assert_msg(console->way == rows[i].way, "row %zu: %s", i,
			      console->why);
		if (console->way == BU_CONSOLE_IPMI) {
			ck_assert_str_eq(console->host, "127.0.0.1");
			ck_assert_str_eq(console->port, rows[i].says);
		} else {
			ck_assert_msg(strstr(console->why, rows[i].says), "row %zu: %s",
				      i, console->why);
		}
		rig_end(&rig);
	}
}
END_TEST

BU_UNIT("redfish console", the_tree_says_how_the_console_is_reached)
