/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is found in a tree: the machine, what it allows, whose it is, its accounts. In
 * the shapes of the vendors, and in trees that are made for it.
 */
#include "base/json.h"
#include "tests/support/quoted.h"
#include "tests/support/redfish.h"

#define SYSTEM "/redfish/v1/Systems/System.Embedded.1"

static const struct rf_tree *
known(const struct rig *rig)
{
	return ((struct rf_driver *)rig->driver)->bmcs->trees;
}

#define RESET "/Actions/ComputerSystem.Reset"
#define RESETS "[\"ForceOff\",\"ForceRestart\",\"GracefulShutdown\",\"On\"]"

/* All that the others stand on. */
START_TEST(each_shape_is_known)
{
	static const struct {
		const char *shape, *vendor, *product, *firmware, *settings;
		int boot_in_settings;
		unsigned quirks;
	} rows[] = {
		{"dell", "Dell", "Integrated Dell Remote Access Controller",
		 "6.10.30.00", "", 0, 0},
		{"idrac10", "Dell", "Integrated Dell Remote Access Controller",
		 "1.10.17.00", "/Settings", 0, RF_QUIRK_BOOT_LATER},
		{"hpe", "HPE", "ProLiant DL385 Gen10 Plus", "iLO 5 v2.72", "", 0,
		 RF_QUIRK_BARE_BOOT | RF_QUIRK_KEEP_TARGET | RF_QUIRK_CLOSE},
		{"lenovo", "Lenovo", "Model", "AFBT31Z-3.80", "/Pending", 0,
		 RF_QUIRK_NO_HDD},
		{"supermicro", "Supermicro", "Model", "01.01.12", "", 0, 0},
		{"dgx", "AMI", "AMI Redfish Server", "23.09.20", "/SD", 1,
		 RF_QUIRK_BOOT_LATER},
		{"gb200", "NVIDIA", "GB200 NVL", "25.01-0", "/Settings", 0, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct hostile_shape *shape = hostile_shape(rows[i].shape);
		bu_autofree char *system =
			bu_xasprintf("/redfish/v1/Systems/%s", shape->system);
		bu_autofree char *settings = bu_xasprintf(
			"%s%s", *rows[i].settings ? system : "", rows[i].settings);
		bu_autofree char *reset = bu_xasprintf("%s" RESET, system);
		bu_autofree char *resets = NULL;
		const struct rf_tree *tree;
		struct rig rig;

		rig_begin(&rig, rows[i].shape, 0);
		rig_ok(&rig, BU_POWER_BOOT_FIRST);
		rig_ok(&rig, BU_POWER_SWITCH_OFF);
		tree = known(&rig);
		ck_assert_str_eq(tree->wanted, "");
		ck_assert_str_eq(tree->vendor, rows[i].vendor);
		ck_assert_str_eq(tree->product, rows[i].product);
		/* read where something depends on it */
		ck_assert_str_eq(tree->firmware, strcmp(rows[i].vendor, "Dell") == 0
							 ? rows[i].firmware
							 : "");
		ck_assert_str_eq(tree->system, system);
		ck_assert_str_eq(tree->settings, settings);
		ck_assert_str_eq(tree->reset, reset);
		ck_assert_uint_eq(tree->quirks, rows[i].quirks);
		ck_assert_int_eq(tree->boot_in_settings, rows[i].boot_in_settings);
		resets = bu_json_canonical(tree->resets);
		ck_assert_str_eq(resets, RESETS);
		ck_assert(json_is_array(json_object_get(tree->boot,
							"BootSourceOverrideTarget"
							"@Redfish.AllowableValues")));
		ck_assert_ptr_null(tree->next);
		rig_end(&rig);
	}
}
END_TEST

/* root's word, or its Oem object's, or the machine's | what it is taken for */
START_TEST(a_vendor_is_named_in_one_of_three_places)
{
	static const struct {
		const char *vendor, *oem, *maker, *is;
	} rows[] = {
		{"'A'", "{'B':{}}", "'C'", "A"},
		{"null", "{'B':{}}", "'C'", "B"},
		{"null", "{}", "'C'", "C"},
		{"null", "null", "null", ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *list = bu_xasprintf("[%s,%s,%s]", rows[i].vendor,
						      rows[i].oem, rows[i].maker);
		bu_autojson json_t *says = quoted(list);
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		hostile_set(rig.bmc, "/redfish/v1/", "Vendor",
			    json_incref(json_array_get(says, 0)));
		hostile_set(rig.bmc, "/redfish/v1/", "Oem",
			    json_incref(json_array_get(says, 1)));
		hostile_set(rig.bmc, SYSTEM, "Manufacturer",
			    json_incref(json_array_get(says, 2)));
		rig_ok(&rig, BU_POWER_STATUS);
		ck_assert_str_eq(known(&rig)->vendor, rows[i].is);
		rig_end(&rig);
	}
}
END_TEST

/* Each row: the system's members besides the reset, and what of it is the boot that
 * allows something. */
START_TEST(what_may_be_booted_is_said_here_or_there)
{
	static const struct {
		const char *boot, *later, *is;
		int there;
	} rows[] = {
		{"{'"
		 "BootSourceOverrideTarget@Redfish.AllowableValues':['a']}",
		 "{'BootSourceOverrideTarget@Redfish.AllowableValues':['b']}", "a", 0},
		{"{}", "{'BootSourceOverrideTarget@Redfish.AllowableValues':['b']}",
		 "b", 1},
		{"{}", "{}", NULL, 0},
		{"null", "{'x':1}", NULL, 1},
		{"null", "null", NULL, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct rf_tree *tree;
		const json_t *allowed;
		struct rig rig;

		rig_begin(&rig, "lenovo", 0);
		hostile_set(rig.bmc, "/redfish/v1/Systems/1", "Boot",
			    json_loads("null", JSON_DECODE_ANY, NULL));
		if (strcmp(rows[i].boot, "null") != 0)
			hostile_set(rig.bmc, "/redfish/v1/Systems/1", "Boot",
				    quoted(rows[i].boot));
		if (strcmp(rows[i].later, "null") != 0)
			hostile_set(rig.bmc, "/redfish/v1/Systems/1/Pending", "Boot",
				    quoted(rows[i].later));
		else
			hostile_put(rig.bmc, "/redfish/v1/Systems/1/Pending", "{}");
		rig_do(&rig, BU_POWER_BOOT_FIRST);
		tree = known(&rig);
		allowed = json_object_get(
			tree->boot, "BootSourceOverrideTarget@Redfish.AllowableValues");
		ck_assert_msg(tree->boot_in_settings == rows[i].there, "row %zu", i);
		if (rows[i].is)
			ck_assert_str_eq(json_string_value(json_array_get(allowed, 0)),
					 rows[i].is);
		else
			ck_assert_ptr_null(allowed);
		/* and not read where the system says it */
		ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/Pending") > 0, i > 0);
		rig_end(&rig);
	}
}
END_TEST

/* What is no array, or of another parameter, is no word on it: all is allowed. */
START_TEST(allowed_resets_are_of_the_parameter)
{
	static const struct {
		const char *info;
		int ok;
	} rows[] = {
		{"{'Parameters':[{'Name':'Other','AllowableValues':['On']},"
		 "{'Name':'ResetType','AllowableValues':['ForceOff']}]}",
		 1},
		{"{'Parameters':[{'Name':'Other','AllowableValues':['On']}]}", 1},
		{"{'Parameters':[{'Name':'ResetType','AllowableValues':'On'}]}", 1},
		{"{'Parameters':[{'Name':'ResetType','AllowableValues':['On']}]}", 0},
		{"{'Parameters':[{'Name':'ResetType','AllowableValues':[7]}]}", 0},
		{"{'Parameters':[{'Name':'ResetType','AllowableValues':[]}]}", 1},
		{"{}", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig, "supermicro", 0);
		hostile_put(rig.bmc, "/redfish/v1/Systems/1/ResetActionInfo",
			    rows[i].info);
		ck_assert_msg(rig_do(&rig, BU_POWER_SWITCH_OFF) ==
				      (rows[i].ok ? BU_ERR_NONE : BU_ERR_REMOTE),
			      "row %zu: %s", i, rig.err.text);
		rig_end(&rig);
	}
}
END_TEST

/* --- which one --- */

#define HAS_RESET "'Actions':{'#ComputerSystem.Reset':{'target':'/r'}}"

/* the two systems | wanted, "" = the only one | which is taken, or why none is */
START_TEST(one_of_two_systems_is_the_machine)
{
	static const struct {
		const char *first, *second, *wanted, *is;
		enum bu_err_kind kind;
	} rows[] = {
		{"{" HAS_RESET ",'Boot':{}}", "{}", "", "/s/1", 0},
		{"{}", "{" HAS_RESET ",'@Redfish.Settings':{}}", "", "/s/2", 0},
		{"{'Boot':{}}", "{" HAS_RESET "}", "",
		 "has 2 systems, and none that "
		 "can be reset and booted",
		 BU_ERR_REMOTE},
		{"{" HAS_RESET ",'Boot':{}}", "{" HAS_RESET ",'Boot':{}}", "",
		 "has 2 systems that could be the machine (/s/1, /s/2)", BU_ERR_INVAL},
		{"{" HAS_RESET ",'Boot':{}}", "{" HAS_RESET ",'Boot':{}}",
		 "/redfish/v1/s/2", "has no system /redfish/v1/s/2 among its 2",
		 BU_ERR_INVAL},
		{"{'SystemType':'DPU'," HAS_RESET ",'Boot':{}}",
		 "{" HAS_RESET ",'Boot':{}}", "", "/s/2", 0},
		{"{'SystemType':'DPU'}", "{'SubModel':'BlueField-3'}", "",
		 "a network card that is a computer", BU_ERR_INVAL},
		{"{'Model':'BlueField-3'}", "{}", "",
		 "a network card that is a computer", BU_ERR_INVAL},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *url = NULL;
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		hostile_set(rig.bmc, "/redfish/v1/Systems", "Members",
			    quoted("[{'@odata.id':'/s/1'},{'@odata.id':'/s/2'}]"));
		hostile_put(rig.bmc, "/s/1", rows[i].first);
		hostile_put(rig.bmc, "/s/2", rows[i].second);
		url = rig.url;
		rig.url = bu_xasprintf("%s%s", url, rows[i].wanted);
		if (rows[i].kind) {
			rig_fails(&rig, BU_POWER_STATUS, rows[i].kind, rows[i].is);
		} else {
			rig_ok(&rig, BU_POWER_STATUS);
			ck_assert_str_eq(known(&rig)->system, rows[i].is);
		}
		rig_end(&rig);
	}
}
END_TEST

/* The links of the list | the two of them are one machine. */
START_TEST(a_system_that_is_listed_twice_is_one)
{
	static const struct {
		const char *links;
		int one;
	} rows[] = {
		{"[{'@odata.id':'/s/1'},{'@odata.id':'/s/1'}]", 1},
		{"[{'@odata.id':'/s/1'},{'@odata.id':'/s/1/'}]", 1},
		{"[{'@odata.id':'/s/1/'},{'@odata.id':'/s/1'}]", 1},
		{"[{'@odata.id':'/s/1'},{'@odata.id':'/S/1'}]", 1},
		{"[{'@odata.id':'/s/1'},{'@odata.id':'/s/self'}]", 1},
		{"[{'@odata.id':'/s/1'},{'@odata.id':'/s/2'}]", 0},
		{"[{'@odata.id':'/s/1'},{'@odata.id':'/s/other'}]", 0},
	};
	static const char *const names[] = {"/s/1",    "/s/1/", "/S/1",
					    "/s/self", "/s/2",  "/s/other"};
	static const char *const uuids[] = {"4c4c4544", "4c4c4544", "4c4c4544",
					    "4c4c4544", "4c4c4544", "5d5d5d5d"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		hostile_set(rig.bmc, "/redfish/v1/Systems", "Members",
			    quoted(rows[i].links));
		for (size_t k = 0; k < BU_LEN(names); k++) {
			hostile_put(rig.bmc, names[k], "{" HAS_RESET ",'Boot':{}}");
			hostile_set(rig.bmc, names[k], "UUID", json_string(uuids[k]));
			if (strcmp(names[k], "/s/2") != 0)
				hostile_set(rig.bmc, names[k], "@odata.id",
					    json_string("/s/1"));
		}
		if (rows[i].one) {
			rig_ok(&rig, BU_POWER_STATUS);
		} else {
			rig_fails(&rig, BU_POWER_STATUS, BU_ERR_INVAL,
				  "has 2 systems that could be the machine");
		}
		rig_end(&rig);
	}
}
END_TEST

/* In capitals or not, with a slash at its end or not. */
START_TEST(a_system_is_named_by_its_path)
{
	static const struct {
		const char *path, *named;
		int same;
	} rows[] = {
		{"/redfish/v1/Systems/A", "/redfish/v1/Systems/A", 1},
		{"/redfish/v1/Systems/A", "/redfish/v1/systems/a", 1},
		{"/redfish/v1/Systems/A", "/redfish/v1/Systems/A/", 1},
		{"/redfish/v1/Systems/A/", "/redfish/v1/Systems/A", 1},
		{"/redfish/v1/Systems/A", "/redfish/v1/Systems/AB", 0},
		{"/redfish/v1/Systems/AB", "/redfish/v1/Systems/A", 0},
		{"/redfish/v1/Systems/A", "/redfish/v1/Systems/B", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *url = NULL;
		struct rig rig;

		rig_begin(&rig, "dell", 0);
		hostile_set(rig.bmc, "/redfish/v1/Systems", "Members",
			    json_pack("[{s:s}]", "@odata.id", rows[i].path));
		hostile_put(rig.bmc, rows[i].path, "{" HAS_RESET "}");
		url = rig.url;
		rig.url = bu_xasprintf("%s%s", url, rows[i].named);
		ck_assert_msg(rig_do(&rig, BU_POWER_STATUS) ==
				      (rows[i].same ? BU_ERR_NONE : BU_ERR_INVAL),
			      "row %zu: %s", i, rig.err.text);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_root_without_systems_is_an_error)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	hostile_set(rig.bmc, "/redfish/v1/", "Systems", json_null());
	rig_fails(&rig, BU_POWER_STATUS, BU_ERR_REMOTE, "the BMC lists no systems");
	rig_end(&rig);
	rig_begin(&rig, "dell", 0);
	hostile_answer(rig.bmc, "GET", "/redfish/v1/",
		       &(struct hostile_answer){200, "[]", NULL}, 99);
	rig_fails(&rig, BU_POWER_STATUS, BU_ERR_REMOTE,
		  "GET /redfish/v1/: the answer is not a JSON object");
	rig_end(&rig);
}
END_TEST

/* A collection that has so many pages, or so many members, is read so far. */
START_TEST(a_collection_has_an_end)
{
	json_t *list = json_array();
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	hostile_put(rig.bmc, "/redfish/v1/Systems",
		    "{'Members':[{'@odata.id':'" SYSTEM "'}],"
		    "'Members@odata.nextLink':'/p'}");
	hostile_put(rig.bmc, "/p", "{'Members@odata.nextLink':'/p'}");
	rig_ok(&rig, BU_POWER_STATUS);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", "/p"), 15);
	rig_end(&rig);

	rig_begin(&rig, "dell", 0);
	for (int i = 0; i < 66; i++) {
		bu_autofree char *path = bu_xasprintf("/i/%d", i);

		json_array_append_new(list, json_pack("{s:s}", "@odata.id", path));
		hostile_put(rig.bmc, path, "{}");
	}
	hostile_set(rig.bmc, SYSTEM "/EthernetInterfaces", "Members", list);
	rig_ok(&rig, BU_POWER_IDENTITY);
	ck_assert_int_eq(hostile_under(rig.bmc, "GET /i/"), 64);
	rig_end(&rig);
}
END_TEST

/* --- whose it is --- */

static void
expect_machine(struct rig *rig, const char *wanted)
{
	bu_autojson json_t *machine = NULL, *want = quoted(wanted);
	bu_autofree char *got = NULL, *text = bu_json_canonical(want);

	rig_ok(rig, BU_POWER_IDENTITY);
	machine = bu_machine_to_json(&rig->answer.machine);
	got = bu_json_canonical(machine);
	ck_assert_str_eq(got, text);
}

#define ADAPTERS "/redfish/v1/Chassis/1/NetworkAdapters"

/* The permanent address before the other one; ports and functions before older ports,
 * and none of these where the system tells its own. */
START_TEST(addresses_are_of_the_system_or_of_its_cards)
{
	struct rig rig;

	rig_begin(&rig, "gb200", 0);
	hostile_set(rig.bmc, "/redfish/v1/Systems/System_0", "Links",
		    quoted("{'Chassis':[{'@odata.id':'http://127.0.0.2/x'},"
			   "{'@odata.id':'/redfish/v1/Chassis/1'},"
			   "{'@odata.id':'/gone'}]}"));
	hostile_put(rig.bmc, ADAPTERS "/card",
		    "{'NetworkDeviceFunctions':{'@odata.id':'/fns'},"
		    "'Ports':{'@odata.id':'/ports'},'NetworkPorts':"
		    "{'@odata.id':'/old'}}");
	hostile_put(rig.bmc, "/fns", "{'Members':[{'@odata.id':'/fn'}]}");
	hostile_put(rig.bmc, "/ports", "{'Members':[{'@odata.id':'/port'}]}");
	hostile_put(rig.bmc, "/old", "{'Members':[{'@odata.id':'/oldport'}]}");
	hostile_put(rig.bmc, "/oldport",
		    "{'AssociatedNetworkAddresses':['02:00:00:00:00:09']}");
	hostile_put(rig.bmc, "/fn", "{}");
	hostile_put(rig.bmc, "/port",
		    "{'Ethernet':{'PermanentMACAddress':'02:00:00:00:00:03',"
		    "'MACAddress':'02:00:00:00:00:04',"
		    "'AssociatedMACAddresses':['02:00:00:00:00:05']},"
		    "'AssociatedNetworkAddresses':['02:00:00:00:00:06']}");
	expect_machine(&rig, "{'serial':'SN123456','uuid':"
			     "'4C4C4544-0044-4810-8031-C2C04F333233','macs':"
			     "['02:00:00:00:00:03','02:00:00:00:00:05',"
			     "'02:00:00:00:00:06','a0:88:c2:00:00:02']}");
	/* older ports, where the others tell none */
	hostile_put(rig.bmc, "/port", "{}");
	expect_machine(&rig, "{'serial':'SN123456','uuid':"
			     "'4C4C4544-0044-4810-8031-C2C04F333233','macs':"
			     "['02:00:00:00:00:09','a0:88:c2:00:00:02']}");
	/* of the system itself */
	hostile_put(rig.bmc, "/i1", "{'MACAddress':'02:00:00:00:00:01'}");
	hostile_set(rig.bmc, "/redfish/v1/Systems/System_0/EthernetInterfaces",
		    "Members", quoted("[{'@odata.id':'/i1'}]"));
	expect_machine(&rig, "{'serial':'SN123456','uuid':"
			     "'4C4C4544-0044-4810-8031-C2C04F333233','macs':"
			     "['02:00:00:00:00:01']}");
	rig_end(&rig);
}
END_TEST

/* Nothing at all is no error. */
START_TEST(a_machine_may_say_nothing_of_itself)
{
	struct rig rig;

	rig_begin(&rig, "gb200", 0);
	hostile_put(rig.bmc, "/redfish/v1/Systems/System_0",
		    "{" HAS_RESET ",'Boot':{}}");
	expect_machine(&rig, "{'serial':'','uuid':'','macs':[]}");
	rig_end(&rig);
}
END_TEST

/* --- accounts --- */

#define SERVICE "/redfish/v1/AccountService"

START_TEST(a_login_is_known_by_its_password_alone)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig_ok(&rig, BU_POWER_LOGIN); /* 404: it was let in */
	rig.request.target.password = "hobbes";
	ck_assert_int_eq(rig_do(&rig, BU_POWER_LOGIN), BU_ERR_DENIED);
	ck_assert_int_eq(hostile_passwords(rig.bmc), 1);
	rig_end(&rig);
	rig_begin(&rig, "dell", HOSTILE_NEW_PASSWORD);
	rig_ok(&rig, BU_POWER_LOGIN);
	rig_end(&rig);
}
END_TEST

START_TEST(a_password_goes_to_the_account_of_its_name)
{
	bu_autofree char *bodies = NULL;
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig.request.new_password = "s3cret";
	rig_fails(&rig, BU_POWER_SET_PASSWORD, BU_ERR_REMOTE, "status 404");
	hostile_put(rig.bmc, SERVICE, "{'Accounts':{'@odata.id':'/a'}}");
	rig_fails(&rig, BU_POWER_SET_PASSWORD, BU_ERR_REMOTE, "/a: status 404");
	hostile_put(rig.bmc, "/a",
		    "{'Members':[{'@odata.id':'/a/1'},{'@odata.id':'/a/2'},"
		    "{'@odata.id':'/a/3'}]}");
	hostile_put(rig.bmc, "/a/1", "{'UserName':'roo'}");
	hostile_put(rig.bmc, "/a/2", "{'UserName':'admin'}");
	hostile_put(rig.bmc, "/a/3", "{'UserName':'root'}");
	hostile_put(rig.bmc, "/a/4", "{'UserName':'other'}");
	rig_ok(&rig, BU_POWER_SET_PASSWORD);
	bodies = hostile_bodies(rig.bmc, "PATCH", "/a/3");
	ck_assert_str_eq(bodies, "{\"Password\":\"s3cret\"}\n");
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", NULL), 1);
	/* refused for good, and no such account */
	hostile_plan(rig.bmc, "PATCH", "/a/3", 400, NULL, 1);
	rig_fails(&rig, BU_POWER_SET_PASSWORD, BU_ERR_REMOTE, "status 400");
	hostile_put(rig.bmc, "/a/3", "{'UserName':'ROOT'}");
	rig_fails(&rig, BU_POWER_SET_PASSWORD, BU_ERR_REMOTE,
		  "lists no account 'root'");
	rig_end(&rig);
}
END_TEST

/* The account that it names is the one; no other is looked for. */
START_TEST(a_bmc_that_wants_another_password_names_the_account)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	rig.request.new_password = "s3cret";
	hostile_plan(rig.bmc, "GET", "/AccountService", 403, "PasswordChangeRequired",
		     1);
	hostile_put(rig.bmc, SERVICE "/Accounts/7", "{}");
	rig_ok(&rig, BU_POWER_SET_PASSWORD);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", SERVICE "/Accounts/7"), 1);
	rig_end(&rig);
}
END_TEST

BU_UNIT("redfish tree", each_shape_is_known, a_vendor_is_named_in_one_of_three_places,
	what_may_be_booted_is_said_here_or_there, allowed_resets_are_of_the_parameter,
	one_of_two_systems_is_the_machine, a_system_that_is_listed_twice_is_one,
	a_system_is_named_by_its_path, a_root_without_systems_is_an_error,
	a_collection_has_an_end, addresses_are_of_the_system_or_of_its_cards,
	a_machine_may_say_nothing_of_itself, a_login_is_known_by_its_password_alone,
	a_password_goes_to_the_account_of_its_name,
	a_bmc_that_wants_another_password_names_the_account)
