/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual BMC, asked directly: time is the test's, nothing listens. */
#include "lab/bmc/bmc.h"

#include <string.h>

#include "tests/support/bmc.h"

/* --- requests and answers --- */

static const struct row {
	const char *method, *path, *body;
	int status;
	const char *message, *allow;
} rows[] = {
	{"GET", "/redfish", NULL, 200, "", "GET, HEAD"},
	{"GET", "/redfish/v1", NULL, 200, "", "GET, HEAD"},
	{"GET", "/redfish/v1/", NULL, 200, "", "GET, HEAD"},
	{"GET", "/redfish/v1/odata", NULL, 200, "", "GET, HEAD"},
	{"GET", "/redfish/v1/$metadata", NULL, 200, "", "GET, HEAD"},
	{"GET", SYSTEM, NULL, 200, "", "GET, HEAD, PATCH"},
	{"HEAD", SYSTEM, NULL, 200, "", "GET, HEAD, PATCH"},
	{"GET", SYSTEM "/Nothing", NULL, 404, "ResourceMissingAtURI", ""},
	{"GET", "/redfish/v1/systems/system.embedded.1", NULL, 404,
	 "ResourceMissingAtURI", ""},
	{"GET", RESET, NULL, 405, "OperationNotAllowed", "POST"},
	{"POST", SYSTEM "/Actions/ComputerSystem.Explode", "{}", 404,
	 "ResourceMissingAtURI", ""},
	{"POST", SYSTEM, "{}", 405, "OperationNotAllowed", "GET, HEAD, PATCH"},
	{"PATCH", "/redfish/v1/Systems", "{\"Name\":\"x\"}", 405, "OperationNotAllowed",
	 "GET, HEAD"},
	{"DELETE", "/redfish/v1", NULL, 405, "OperationNotAllowed", "GET, HEAD"},
	{"POST", "/redfish", "{}", 405, "OperationNotAllowed", ""},
	{"PATCH", SYSTEM, "{\"Boot\":", 400, "MalformedJSON", NULL},
	{"PATCH", SYSTEM, "[]", 400, "MalformedJSON", NULL},
	{"PATCH", SYSTEM, "{\"AssetTag\":\"a\",\"AssetTag\":\"b\"}", 400,
	 "MalformedJSON", NULL},
	{"PATCH", SYSTEM, "{}", 400, "NoOperation", NULL},
	{"PATCH", SYSTEM, "{\"@odata.id\":\"x\"}", 400, "NoOperation", NULL},
	{"PATCH", SYSTEM, "{\"Bogus\":1}", 400, "PropertyUnknown", NULL},
	{"PATCH", SYSTEM, "{\"PowerState\":\"On\"}", 400, "PropertyNotWritable", NULL},
	{"PATCH", SYSTEM, "{\"AssetTag\":7}", 400, "PropertyValueTypeError", NULL},
	{"PATCH", SYSTEM, "{\"Boot\":\"Pxe\"}", 400, "PropertyValueTypeError", NULL},
	{"PATCH", SYSTEM, "{\"Boot\":{\"BootSourceOverrideTarget\":\"Tape\"}}", 400,
	 "PropertyValueNotInList", NULL},
	{"PATCH", SYSTEM, "{\"Boot\":{\"BootOrder\":[\"Boot0000\",\"Boot0000\"]}}", 400,
	 "PropertyValueNotInList", NULL},
	{"PATCH", SYSTEM, "{\"Boot\":{\"BootOrder\":[\"Boot0009\"]}}", 400,
	 "PropertyValueNotInList", NULL},
	{"PATCH", SYSTEM, "{\"Boot\":{\"BootOrder\":[\"Boot0001\",\"Boot0000\"]}}", 200,
	 "", NULL},
	{"PATCH", SYSTEM "/Bios", "{\"Attributes\":{}}", 405, "OperationNotAllowed",
	 "GET, HEAD"},
	{"POST", RESET, "{}", 400, "ActionParameterMissing", NULL},
	{"POST", RESET, "{\"ResetType\":\"Bogus\"}", 400,
	 "ActionParameterValueNotInList", NULL},
	{"POST", RESET, "{\"ResetType\":\"ForceOn\"}", 400,
	 "ActionParameterValueNotInList", NULL},
	{"POST", RESET, "{\"ResetType\":\"On\",\"Delay\":1}", 400,
	 "ActionParameterUnknown", NULL},
	{"POST", RESET, "{\"ResetType\":\"ForceRestart\"}", 409,
	 "ActionParameterValueConflict", NULL},
	{"POST", SESSIONS, "{\"UserName\":\"admin\"}", 400, "PropertyMissing", NULL},
	{"POST", SESSIONS, "{\"UserName\":\"admin\",\"Password\":\"x\"}", 401,
	 "NoValidSession", NULL},
	{"POST", ACCOUNTS,
	 "{\"UserName\":\"joe\",\"Password\":\"joejoe\",\"RoleId\":\"King\"}", 400,
	 "PropertyValueNotInList", NULL},
	{"POST", ACCOUNTS,
	 "{\"UserName\":\"admin\",\"Password\":\"joejoe\",\"RoleId\":\"Operator\"}",
	 400, "ResourceAlreadyExists", NULL},
	{"DELETE", ACCOUNTS "/1", NULL, 403, "ResourceCannotBeDeleted", NULL},
};

START_TEST(requests_have_their_answers)
{
	struct site site;

	begin(&site, "dell");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct row *row = &rows[i];
		int status = ask(&site, row->method, row->path, row->body);

		ck_assert_msg(status == row->status, "%s %s %s: %d", row->method,
			      row->path, row->body, status);
		ck_assert_msg(strcmp(message(&site), row->message) == 0, "%s %s %s: %s",
			      row->method, row->path, row->body, message(&site));
		if (row->allow)
			ck_assert_str_eq(header(&site, "Allow"), row->allow);
		ck_assert_str_eq(header(&site, "OData-Version"), "4.0");
	}
	finish(&site);
}
END_TEST

START_TEST(headers_are_checked)
{
	struct site site;

	begin(&site, "dell");
	site.with.odata_version = "4.1";
	ck_assert_int_eq(ask(&site, "GET", "/redfish/v1", NULL), 412);
	site.with.odata_version = NULL;
	site.with.accept = "text/html";
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 406);
	site.with.accept = NULL;
	site.with.query = "$expand";
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 501);
	site.with.query = NULL;
	site.with.content_type = "text/plain";
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM, "{\"AssetTag\":\"x\"}"), 415);
	site.with.content_type = "application/json; charset=utf-8";
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM, "{\"AssetTag\":\"x\"}"), 200);
	site.with.has_length = 0;
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM, NULL), 411);
	finish(&site);
}
END_TEST

/* --- what differs between vendors, as a client sees it --- */

static const struct shape {
	const char *tree, *vendor, *system;
	int systems, macs, inserts;
	const char *settings; /* the system's, "" = none */
	const char *bios_pending;
	int resets_inline, targets_on_system, has_http;
	const char *etag; /* how it begins */
} shapes[] = {
	{"dell", "Dell", "System.Embedded.1", 1, 5, 4, "",
	 "/redfish/v1/Systems/System.Embedded.1/Bios/Settings", 1, 1, 1, ""},
	{"hpe", "HPE", "1", 1, 7, 2, "", "/redfish/v1/systems/1/bios/settings/", 1, 1,
	 1, "W/\""},
	{"lenovo", "Lenovo", "1", 1, 5, 0, "/redfish/v1/Systems/1/Pending",
	 "/redfish/v1/Systems/1/Bios/Pending", 1, 1, 0, "\""},
	{"supermicro", "", "1", 1, 12, 3, "", "/redfish/v1/Systems/1/Bios/SD", 0, 1, 1,
	 "\""},
	{"dgx", "AMI", "DGX", 2, 5, 0, "/redfish/v1/Systems/DGX/SD",
	 "/redfish/v1/Systems/DGX/Bios/SD", 0, 0, 1, "\""},
	{"gb200", "NVIDIA", "System_0", 2, 0, 2,
	 "/redfish/v1/Systems/System_0/Settings",
	 "/redfish/v1/Systems/System_0/Bios/Settings", 0, 1, 0, ""},
};

/* Reads a collection; for each member that has the member's member, counts one. */
static int
count(struct site *site, const char *collection, const char *member, const char *inner)
{
	bu_autojson json_t *members = NULL;
	json_t *one;
	int found = 0;
	size_t i;

	ck_assert_int_eq(ask(site, "GET", collection, NULL), 200);
	members = json_incref(json_object_get(site->reply.body, "Members"));
	ck_assert_uint_eq(
		(size_t)bu_json_int(site->reply.body, "Members@odata.count", -1),
		json_array_size(members));
	json_array_foreach (members, i, one) {
		const json_t *at;

		ck_assert_int_eq(
			ask(site, "GET", bu_json_str(one, "@odata.id", ""), NULL), 200);
		at = json_object_get(site->reply.body, member);
		found += inner ? json_object_get(at, inner) != NULL
			       : at && !json_is_null(at);
	}
	return found;
}

static void
check_boot(const struct site *site, const struct shape *shape)
{
	const json_t *boot = json_object_get(site->reply.body, "Boot");
	const json_t *targets = json_object_get(
		boot, "BootSourceOverrideTarget@Redfish.AllowableValues");
	json_t *one;
	int http = 0;
	size_t i;

	ck_assert_int_eq(targets != NULL, shape->targets_on_system);
	json_array_foreach (targets, i, one)
		http |= strcmp(json_string_value(one), "UefiHttp") == 0;
	if (targets)
		ck_assert_int_eq(http, shape->has_http);
}

static void
check_shape(struct site *site, const struct shape *shape)
{
	bu_autofree char *system =
		bu_xasprintf("/redfish/v1/Systems/%s", shape->system);
	bu_autofree char *nics = bu_xasprintf("%s/EthernetInterfaces", system);
	bu_autofree char *bios = bu_xasprintf("%s/Bios", system);
	bu_autofree char *media = NULL;
	const char *manager;
	const json_t *action;
	int slash;

	ask(site, "GET", "/redfish/v1", NULL);
	ck_assert_str_eq(value(site, "Vendor"), shape->vendor);
	ck_assert_int_eq(count(site, "/redfish/v1/Systems", "Id", NULL),
			 shape->systems);
	ck_assert_int_eq(count(site, nics, "MACAddress", NULL), shape->macs);
	ck_assert_int_eq(ask(site, "GET", bios, NULL), 200);
	ck_assert_str_eq(value(site, "@Redfish.Settings/SettingsObject/@odata.id"),
			 shape->bios_pending);
	ck_assert_int_eq(ask(site, "GET", shape->bios_pending, NULL), 200);
	ck_assert_int_eq(ask(site, "GET", system, NULL), 200);
	ck_assert_str_eq(value(site, "@Redfish.Settings/SettingsObject/@odata.id"),
			 shape->settings);
	ck_assert_int_eq(strncmp(header(site, "ETag"), shape->etag,
				 *shape->etag ? strlen(shape->etag) : 1),
			 0);
	check_boot(site, shape);
	action = json_object_get(json_object_get(site->reply.body, "Actions"),
				 "#ComputerSystem.Reset");
	ck_assert_int_eq(json_object_get(action, "ResetType@Redfish.AllowableValues") !=
				 NULL,
			 shape->resets_inline);
	slash = strcmp(shape->tree, "hpe") == 0;
	ck_assert_int_eq(strchr(value(site, "Bios/@odata.id"), '\0')[-1] == '/', slash);
	ask(site, "GET", "/redfish/v1/Managers", NULL);
	manager = bu_json_str(
		json_array_get(json_object_get(site->reply.body, "Members"), 0),
		"@odata.id", "");
	media = bu_xasprintf("%s%sVirtualMedia", manager, slash ? "" : "/");
	ck_assert_int_eq(count(site, media, "Actions", "#VirtualMedia.InsertMedia"),
			 shape->inserts);
}

START_TEST(trees_have_their_vendors_shape)
{
	for (size_t i = 0; i < BU_LEN(shapes); i++) {
		struct site site;

		begin(&site, shapes[i].tree);
		check_shape(&site, &shapes[i]);
		finish(&site);
	}
}
END_TEST

START_TEST(there_is_a_test_for_each_tree)
{
	bu_autofree char *names = bu_bmc_tree_names();
	struct bu_err err = {0};

	ck_assert_str_eq(names, "dell dgx gb200 hpe lenovo supermicro");
	ck_assert_ptr_null(bu_bmc_tree_load("common", &err));
	ck_assert_ptr_null(bu_bmc_tree_load("../trees/dell", &err));
	ck_assert_ptr_null(bu_bmc_tree_load("no-such", &err));
	ck_assert_ptr_nonnull(strstr(err.text, "supermicro"));
}
END_TEST

/* --- power --- */

START_TEST(power_goes_through_its_states)
{
	struct site site;

	begin(&site, "dell");
	ck_assert_str_eq(power(&site), "Off");
	reset(&site, "On", 204);
	ck_assert_str_eq(power(&site), "PoweringOn");
	site.now_ms += 1000;
	ck_assert_str_eq(power(&site), "On");
	/* POST: the BMC says On, nothing runs */
	ck_assert_int_eq(bu_bmc_machine_paper_starts(site.machine), 0);
	ck_assert_int_eq(bu_bmc_advance(site.bmc, site.now_ms + 2999), 5000);
	ck_assert_int_eq(bu_bmc_machine_paper_starts(site.machine), 0);
	site.now_ms += 3000;
	bu_bmc_advance(site.bmc, site.now_ms);
	ck_assert_int_eq(bu_bmc_machine_paper_starts(site.machine), 1);
	ck_assert_str_eq(bu_bmc_machine_paper_target(site.machine), "Pxe");
	reset(&site, "ForceOff", 204);
	ck_assert_str_eq(power(&site), "PoweringOff");
	reset(&site, "On", 409);
	site.now_ms += 1000;
	ck_assert_str_eq(power(&site), "Off");
	reset(&site, "On", 409); /* too early still */
	site.now_ms += 2000;
	reset(&site, "On", 204);
	finish(&site);
}
END_TEST

START_TEST(restarts_start_the_machine_again)
{
	struct site site;

	begin(&site, "dell");
	boot(&site);
	reset(&site, "ForceRestart", 204);
	ck_assert_str_eq(power(&site), "PoweringOff");
	for (int i = 0; i < 3; i++) {
		site.now_ms += 3000;
		bu_bmc_advance(site.bmc, site.now_ms);
	}
	ck_assert_int_eq(bu_bmc_machine_paper_starts(site.machine), 2);
	/* the system takes two seconds to go off */
	reset(&site, "GracefulShutdown", 204);
	ck_assert_str_eq(power(&site), "On");
	site.now_ms += 1999;
	ck_assert_str_eq(power(&site), "On");
	site.now_ms += 600;
	ck_assert_str_eq(power(&site), "Off");
	/* goes on or off without the BMC */
	bu_bmc_machine_paper_set(site.machine, 1);
	site.now_ms += 600;
	ck_assert_str_eq(power(&site), "On");
	bu_bmc_machine_paper_set(site.machine, 0);
	site.now_ms += 600;
	ck_assert_str_eq(power(&site), "Off");
	finish(&site);
}
END_TEST

START_TEST(once_is_spent_by_the_next_power_on)
{
	struct site site;

	begin(&site, "dell");
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM, disk_first), 200);
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM, pxe_once), 200);
	ask(&site, "GET", SYSTEM, NULL);
	ck_assert_str_eq(value(&site, "Boot/BootSourceOverrideEnabled"), "Once");
	ck_assert_str_eq(value(&site, "Boot/BootSourceOverrideTarget"), "Pxe");
	boot(&site);
	ck_assert_str_eq(bu_bmc_machine_paper_target(site.machine), "Pxe");
	ask(&site, "GET", SYSTEM, NULL);
	ck_assert_str_eq(value(&site, "Boot/BootSourceOverrideEnabled"), "Disabled");
	ck_assert_str_eq(value(&site, "Boot/BootSourceOverrideTarget"), "None");
	off(&site);
	boot(&site);
	ck_assert_str_eq(bu_bmc_machine_paper_target(site.machine), "Hdd");
	finish(&site);
}
END_TEST

START_TEST(continuous_stays_and_disabled_ends_it)
{
	struct site site;

	begin(&site, "dell");
	ask(&site, "PATCH", SYSTEM, disk_first);
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM,
			     "{\"Boot\":{\"BootSourceOverrideTarget\":\"UefiHttp\","
			     "\"BootSourceOverrideEnabled\":\"Continuous\"}}"),
			 200);
	for (int i = 0; i < 2; i++) {
		boot(&site);
		ck_assert_str_eq(bu_bmc_machine_paper_target(site.machine), "UefiHttp");
		off(&site);
	}
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM,
			     "{\"Boot\":{\"BootSourceOverrideEnabled\":"
			     "\"Disabled\"}}"),
			 200);
	ck_assert_str_eq(value(&site, "Boot/BootSourceOverrideTarget"), "None");
	boot(&site);
	ck_assert_str_eq(bu_bmc_machine_paper_target(site.machine), "Hdd");
	finish(&site);
}
END_TEST

START_TEST(faults_lie_about_power_and_boot)
{
	struct site site;

	begin(&site, "dell");
	ask(&site, "PATCH", SYSTEM, disk_first);
	set_fault(&site, "forgets-boot");
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM, pxe_once), 200);
	ask(&site, "GET", SYSTEM, NULL);
	ck_assert_str_eq(value(&site, "Boot/BootSourceOverrideEnabled"), "Disabled");
	finish(&site);

	begin(&site, "dell");
	ask(&site, "PATCH", SYSTEM, disk_first);
	set_fault(&site, "ignores-boot");
	ask(&site, "PATCH", SYSTEM, pxe_once);
	ask(&site, "GET", SYSTEM, NULL);
	ck_assert_str_eq(value(&site, "Boot/BootSourceOverrideEnabled"), "Once");
	boot(&site);
	ck_assert_str_eq(bu_bmc_machine_paper_target(site.machine), "Hdd");
	finish(&site);

	begin(&site, "dell");
	set_fault(&site, "ignores-power");
	boot(&site);
	ck_assert_str_eq(power(&site), "Off");
	ck_assert_int_eq(bu_bmc_machine_paper_starts(site.machine), 0);
	set_fault(&site, "says-on");
	ck_assert_str_eq(power(&site), "On");
	finish(&site);
}
END_TEST

START_TEST(a_long_post_keeps_the_machine_off)
{
	struct site site;

	begin(&site, "dell");
	set_fault(&site, "post=360");
	site.now_ms += 10000;
	reset(&site, "On", 204);
	site.now_ms += 1000;
	ck_assert_str_eq(power(&site), "On");
	site.now_ms += 359999;
	ck_assert_str_eq(power(&site), "On");
	ck_assert_int_eq(bu_bmc_machine_paper_starts(site.machine), 0);
	site.now_ms += 1;
	bu_bmc_advance(site.bmc, site.now_ms);
	ck_assert_int_eq(bu_bmc_machine_paper_starts(site.machine), 1);
	finish(&site);
}
END_TEST

START_TEST(busy_answers_503_so_often_and_wrong_faults_are_told)
{
	struct bu_err err = {0};
	struct site site;

	begin(&site, "dell");
	set_fault(&site, "busy=2");
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ask(&site, "GET", "/redfish/v1", NULL), 503);
		ck_assert_str_eq(header(&site, "Retry-After"), "1");
	}
	ck_assert_int_eq(ask(&site, "GET", "/redfish/v1", NULL), 200);
	ck_assert_int_eq(bu_bmc_fault(site.bmc, "slow", &err), -1);
	ck_assert_int_eq(bu_bmc_fault(site.bmc, "slow=x", &err), -1);
	ck_assert_int_eq(bu_bmc_fault(site.bmc, "says-on=1", &err), -1);
	ck_assert_int_eq(bu_bmc_fault(site.bmc, "no-such", &err), -1);
	set_fault(&site, "slow=20");
	ck_assert_int_eq(bu_bmc_fault_get(site.bmc, BU_BMC_FAULT_SLOW), 20);
	finish(&site);
}
END_TEST

BU_UNIT("lab bmc", requests_have_their_answers, headers_are_checked,
	trees_have_their_vendors_shape, there_is_a_test_for_each_tree,
	power_goes_through_its_states, restarts_start_the_machine_again,
	once_is_spent_by_the_next_power_on, continuous_stays_and_disabled_ends_it,
	faults_lie_about_power_and_boot, a_long_post_keeps_the_machine_off,
	busy_answers_503_so_often_and_wrong_faults_are_told)
