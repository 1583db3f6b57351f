/* SPDX-License-Identifier: Apache-2.0 */
/* Who may ask, what was asked with which ETag, and what waits for a reset or a task. */
#include "tests/support/bmc.h"

static const char login[] = "{\"UserName\":\"admin\",\"Password\":\"secret\"}";

/* --- sessions and accounts --- */

START_TEST(strangers_get_401_and_nothing_else)
{
	static const char *const paths[] = {SYSTEM, "/redfish/v1/Nothing", SESSIONS,
					    "/redfish/v1/Systems"};
	struct site site;

	begin(&site, "dell");
	for (size_t i = 0; i < BU_LEN(paths); i++) {
		site.with.authorization = NULL;
		ck_assert_int_eq(ask(&site, "GET", paths[i], NULL), 401);
		ck_assert_str_eq(header(&site, "WWW-Authenticate"),
				 "Basic realm=\"Redfish\"");
		ck_assert_str_eq(header(&site, "Allow"), "");
		site.with.authorization = "Basic YWRtaW46d3Jvbmc="; /* admin:wrong */
		ck_assert_int_eq(ask(&site, "GET", paths[i], NULL), 401);
	}
	site.with.authorization = NULL;
	site.with.token = "";
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 401);
	site.with.token = NULL;
	ck_assert_int_eq(ask(&site, "GET", "/redfish/v1/", NULL), 200);
	finish(&site);
}
END_TEST

START_TEST(a_session_is_a_token_until_it_is_deleted)
{
	struct site site;
	char token[64], uri[128];

	begin(&site, "dell");
	site.with.authorization = NULL;
	ck_assert_int_eq(ask(&site, "POST", SESSIONS, login), 201);
	snprintf(token, sizeof(token), "%s", header(&site, "X-Auth-Token"));
	snprintf(uri, sizeof(uri), "%s", header(&site, "Location"));
	ck_assert_uint_eq(strlen(token), 32);
	ck_assert_str_eq(value(&site, "@odata.id"), uri);
	ck_assert_str_eq(value(&site, "UserName"), "admin");
	ck_assert_str_eq(value(&site, "#token"), "");
	site.with.token = token;
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 200);
	ck_assert_int_eq(ask(&site, "DELETE", uri, NULL), 204);
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 401);
	finish(&site);
}
END_TEST

START_TEST(sessions_have_a_cap_and_end_when_unused)
{
	struct site site;
	char token[64];

	begin(&site, "dell");
	site.with.authorization = NULL;
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(ask(&site, "POST", SESSIONS, login), 201);
	snprintf(token, sizeof(token), "%s", header(&site, "X-Auth-Token"));
	ck_assert_int_eq(ask(&site, "POST", SESSIONS, login), 503);
	ck_assert_str_eq(message(&site), "RAC0218");
	site.now_ms += 1800 * 1000 - 1;
	site.with.token = token;
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 200);
	site.now_ms += 2;
	/* the seven others are over, this one was used */
	ck_assert_int_eq(ask(&site, "GET", SESSIONS, NULL), 200);
	ck_assert_int_eq((int)bu_json_int(site.reply.body, "Members@odata.count", -1),
			 1);
	set_fault(&site, "sessions-full");
	ck_assert_int_eq(ask(&site, "POST", SESSIONS, login), 503);
	finish(&site);

	begin(&site, "hpe");
	ck_assert_int_eq(ask(&site, "POST", SESSIONS, login), 201);
	snprintf(token, sizeof(token), "%s", header(&site, "X-Auth-Token"));
	site.with.authorization = NULL;
	site.with.token = token;
	site.now_ms += 30 * 1000 + 1;
	ck_assert_int_eq(ask(&site, "GET", "/redfish/v1/Systems/1", NULL), 401);
	finish(&site);
}
END_TEST

START_TEST(so_many_wrong_passwords_lock_an_account)
{
	struct site site;

	begin(&site, "dell");
	site.with.authorization = "Basic YWRtaW46d3Jvbmc="; /* admin:wrong */
	for (int i = 0; i < 4; i++)
		ask(&site, "GET", SYSTEM, NULL);
	site.with.authorization = "Basic YWRtaW46c2VjcmV0"; /* admin:secret */
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 200);
	ck_assert_int_eq(ask(&site, "PATCH", "/redfish/v1/AccountService",
			     "{\"AccountLockoutThreshold\":3}"),
			 200);
	site.with.authorization = "Basic YWRtaW46d3Jvbmc=";
	for (int i = 0; i < 3; i++)
		ask(&site, "GET", SYSTEM, NULL);
	site.with.authorization = "Basic YWRtaW46c2VjcmV0";
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 401);
	finish(&site);
}
END_TEST

START_TEST(a_reader_reads_and_changes_its_own_password)
{
	struct site site;
	char uri[128];

	begin(&site, "dell");
	ck_assert_int_eq(ask(&site, "POST", ACCOUNTS,
			     "{\"UserName\":\"joe\",\"Password\":\"joejoe\","
			     "\"RoleId\":\"ReadOnly\"}"),
			 201);
	snprintf(uri, sizeof(uri), "%s", header(&site, "Location"));
	ck_assert_ptr_nonnull(json_object_get(site.reply.body, "Password"));
	ck_assert_str_eq(value(&site, "Password"), "(no text)");
	site.with.authorization = "Basic am9lOmpvZWpvZQ=="; /* joe:joejoe */
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 200);
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM, "{\"AssetTag\":\"x\"}"), 403);
	ck_assert_int_eq(ask(&site, "POST", RESET, "{\"ResetType\":\"On\"}"), 403);
	ck_assert_int_eq(
		ask(&site, "PATCH", ACCOUNTS "/1", "{\"Password\":\"abcdef\"}"), 403);
	ck_assert_int_eq(ask(&site, "PATCH", uri, "{\"RoleId\":\"Administrator\"}"),
			 403);
	ck_assert_int_eq(ask(&site, "PATCH", uri, "{\"Password\":\"new-joe\"}"), 200);
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 401);
	finish(&site);
}
END_TEST

START_TEST(a_password_that_must_change_opens_nothing_else)
{
	struct site site;

	begin(&site, "dell");
	set_fault(&site, "must-change");
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 403);
	ck_assert_str_eq(message(&site), "PasswordChangeRequired");
	ck_assert_int_eq(ask(&site, "POST", SESSIONS, login), 201);
	ck_assert_ptr_nonnull(
		json_object_get(site.reply.body, "@Message.ExtendedInfo"));
	ck_assert_int_eq(ask(&site, "PATCH", ACCOUNTS "/1", "{\"Password\":\"newer\"}"),
			 200);
	site.with.authorization = "Basic YWRtaW46bmV3ZXI="; /* admin:newer */
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 200);
	finish(&site);
}
END_TEST

/* --- ETags --- */

START_TEST(etags_fit_or_are_refused)
{
	static const char tag[] = "{\"AssetTag\":\"rack 3\"}";
	struct site site;
	char etag[64], stale[80];

	begin(&site, "lenovo");
	ask(&site, "GET", "/redfish/v1/Systems/1", NULL);
	snprintf(etag, sizeof(etag), "%s", header(&site, "ETag"));
	ck_assert_str_eq(value(&site, "@odata.etag"), etag);
	site.with.if_none_match = etag;
	ck_assert_int_eq(ask(&site, "GET", "/redfish/v1/Systems/1", NULL), 304);
	ck_assert_ptr_null(site.reply.body);
	site.with.if_none_match = NULL;
	snprintf(stale, sizeof(stale), "W/%s", etag);
	site.with.if_match = stale;
	ck_assert_int_eq(ask(&site, "PATCH", "/redfish/v1/Systems/1", tag), 412);
	site.with.if_match = etag;
	ck_assert_int_eq(ask(&site, "PATCH", "/redfish/v1/Systems/1", tag), 200);
	/* its own change has made it stale */
	ck_assert_int_eq(ask(&site, "PATCH", "/redfish/v1/Systems/1", tag), 412);
	site.with.if_match = "*";
	ck_assert_int_eq(ask(&site, "PATCH", "/redfish/v1/Systems/1", tag), 200);
	site.with.if_match = NULL;
	ck_assert_int_eq(ask(&site, "PATCH", "/redfish/v1/Systems/1", tag), 200);
	finish(&site);

	begin(&site, "dgx");
	ck_assert_int_eq(ask(&site, "PATCH", DGX, tag), 428);
	ck_assert_str_eq(message(&site), "PreconditionHeaderMissing");
	site.with.if_match = "*";
	ck_assert_int_eq(ask(&site, "PATCH", DGX, tag), 204);
	finish(&site);

	begin(&site, "dell");
	site.with.if_match = "\"any\"";
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM, tag), 200);
	ck_assert_int_eq(ask(&site, "POST", RESET, "{\"ResetType\":\"On\"}"), 412);
	finish(&site);
}
END_TEST

/* --- what the vendors do with a boot override --- */

START_TEST(boot_is_written_where_and_how_the_vendor_wants_it)
{
	struct site site;

	begin(&site, "dgx");
	site.with.if_match = "*";
	ck_assert_int_eq(ask(&site, "PATCH", DGX, pxe_once), 400);
	ck_assert_str_eq(message(&site), "OperationSupportedInFutureStateURI");
	ck_assert_int_eq(ask(&site, "PATCH", DGX "/SD", disk_first), 204);
	ck_assert_int_eq(ask(&site, "PATCH", DGX "/SD", pxe_once), 204);
	ask(&site, "GET", DGX, NULL);
	ck_assert_str_eq(value(&site, "Boot/BootSourceOverrideEnabled"), "Disabled");
	site.with.if_match = NULL;
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(ask(&site, "POST", DGX "/Actions/ComputerSystem.Reset",
				     "{\"ResetType\":\"On\"}"),
				 204);
		for (int j = 0; j < 3; j++)
			bu_bmc_advance(site.bmc, site.now_ms += 5000);
		ck_assert_str_eq(bu_bmc_machine_paper_target(site.machine),
				 i ? "Hdd" : "Pxe");
		ask(&site, "POST", DGX "/Actions/ComputerSystem.Reset",
		    "{\"ResetType\":\"ForceOff\"}");
		bu_bmc_advance(site.bmc, site.now_ms += 5000);
	}
	finish(&site);

	begin(&site, "supermicro");
	ck_assert_int_eq(ask(&site, "PATCH", "/redfish/v1/Systems/1",
			     "{\"Boot\":{\"BootSourceOverrideTarget\":\"Pxe\"}}"),
			 400);
	ck_assert_int_eq(ask(&site, "PATCH", "/redfish/v1/Systems/1", pxe_once), 200);
	ck_assert_str_eq(value(&site, "Boot/BootSourceOverrideMode"), "Legacy");
	finish(&site);

	begin(&site, "lenovo");
	ck_assert_int_eq(ask(&site, "PATCH", "/redfish/v1/Systems/1",
			     "{\"Boot\":{\"BootOrder\":[\"Boot0001\",\"Boot0000\"]}}"),
			 400);
	ck_assert_int_eq(ask(&site, "PATCH", "/redfish/v1/Systems/1/Pending",
			     "{\"Boot\":{\"BootOrder\":[\"Boot0001\",\"Boot0000\"]}}"),
			 200);
	ck_assert_int_eq(
		ask(&site, "PATCH", "/redfish/v1/Systems/1",
		    "{\"Boot\":{\"BootSourceOverrideEnabled\":\"Continuous\"}}"),
		400);
	finish(&site);
}
END_TEST

START_TEST(hpe_refuses_modes_none_and_changes_during_post)
{
	static const char ilo[] = "/redfish/v1/Systems/1";
	struct site site;

	begin(&site, "hpe");
	ck_assert_int_eq(ask(&site, "PATCH", ilo,
			     "{\"Boot\":{\"BootSourceOverrideMode\":\"UEFI\"}}"),
			 400);
	ck_assert_str_eq(message(&site), "PropertyNotWritable");
	ck_assert_int_eq(ask(&site, "PATCH", ilo,
			     "{\"Boot\":{\"BootSourceOverrideTarget\":\"None\"}}"),
			 400);
	ck_assert_int_eq(ask(&site, "PATCH", ilo, pxe_once), 200);
	ck_assert_int_eq(ask(&site, "POST",
			     "/redfish/v1/Systems/1/Actions/ComputerSystem.Reset/",
			     "{\"ResetType\":\"On\"}"),
			 200);
	ck_assert_str_eq(message(&site), "Success");
	bu_bmc_advance(site.bmc, site.now_ms += 1500);
	ck_assert_int_eq(ask(&site, "PATCH", ilo, pxe_once), 400);
	ck_assert_str_eq(message(&site), "UnableToModifyDuringSystemPOST");
	bu_bmc_advance(site.bmc, site.now_ms += 5000);
	ck_assert_int_eq(ask(&site, "PATCH", ilo, pxe_once), 200);
	finish(&site);
}
END_TEST

/* --- what waits --- */

static const char sriov[] = "{\"Attributes\":{\"SriovGlobalEnable\":\"Enabled\"}}";

START_TEST(bios_settings_wait_for_a_reset)
{
	static const char ami[] = DGX "/Bios/SD";
	struct site site;
	char monitor[128];

	begin(&site, "dell");
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM "/Bios/Settings",
			     "{\"Attributes\":{\"Nothing\":\"x\"}}"),
			 400);
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM "/Bios/Settings", sriov), 202);
	snprintf(monitor, sizeof(monitor), "%s", header(&site, "Location"));
	ck_assert_str_eq(value(&site, "TaskState"), "Pending");
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM "/Bios/Settings", sriov), 503);
	ask(&site, "GET", SYSTEM "/Bios", NULL);
	ck_assert_str_eq(value(&site, "Attributes/SriovGlobalEnable"), "Disabled");
	site.now_ms += 1000000;
	ck_assert_int_eq(ask(&site, "GET", monitor, NULL), 202);
	boot(&site);
	ck_assert_int_eq(ask(&site, "GET", monitor, NULL), 204);
	ask(&site, "GET", SYSTEM "/Bios", NULL);
	ck_assert_str_eq(value(&site, "Attributes/SriovGlobalEnable"), "Enabled");
	ask(&site, "GET", SYSTEM "/Bios/Settings", NULL);
	ck_assert_str_eq(value(&site, "Attributes/SriovGlobalEnable"), "");
	ck_assert_int_eq(ask(&site, "PATCH", SYSTEM "/Bios/Settings", sriov), 202);
	finish(&site);

	begin(&site, "dgx");
	site.with.if_match = "*";
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(ask(&site, "PATCH", ami, sriov), 204);
	finish(&site);
}
END_TEST

START_TEST(a_task_ends_by_itself)
{
	struct site site;
	char monitor[128];

	begin(&site, "gb200");
	ck_assert_int_eq(
		ask(&site, "POST",
		    "/redfish/v1/Systems/System_0/Actions/ComputerSystem.Reset",
		    "{\"ResetType\":\"On\"}"),
		202);
	snprintf(monitor, sizeof(monitor), "%s", header(&site, "Location"));
	ck_assert_int_eq(ask(&site, "GET", monitor, NULL), 202);
	ck_assert_str_eq(value(&site, "TaskState"), "Running");
	site.now_ms += 1000;
	ck_assert_int_eq(ask(&site, "GET", monitor, NULL), 204);
	ck_assert_int_eq(ask(&site, "GET", "/redfish/v1/TaskService/Tasks/1", NULL),
			 200);
	ck_assert_str_eq(value(&site, "TaskState"), "Completed");
	ck_assert_int_eq(
		ask(&site, "GET", "/redfish/v1/TaskService/TaskMonitors/2", NULL), 404);
	ck_assert_int_eq(
		ask(&site, "POST",
		    "/redfish/v1/Systems/HGX_Baseboard_0/Actions/ComputerSystem.Reset",
		    "{\"ResetType\":\"On\"}"),
		404);
	finish(&site);
}
END_TEST

START_TEST(a_restarting_bmc_is_away_and_forgets_its_sessions)
{
	struct site site;
	char token[64];

	begin(&site, "dell");
	ask(&site, "POST", SESSIONS, login);
	snprintf(token, sizeof(token), "%s", header(&site, "X-Auth-Token"));
	ck_assert_int_eq(ask(&site, "POST",
			     "/redfish/v1/Managers/iDRAC.Embedded.1/Actions/"
			     "Manager.Reset",
			     "{\"ResetType\":\"GracefulRestart\"}"),
			 204);
	ck_assert_int_eq(ask(&site, "GET", "/redfish/v1", NULL), 503);
	site.now_ms += 5000;
	ck_assert_int_eq(ask(&site, "GET", "/redfish/v1", NULL), 200);
	site.with.authorization = NULL;
	site.with.token = token;
	ck_assert_int_eq(ask(&site, "GET", SYSTEM, NULL), 401);
	finish(&site);
}
END_TEST

START_TEST(media_go_in_by_action_or_by_patch)
{
	static const char idrac[] = "/redfish/v1/Managers/iDRAC.Embedded.1/"
				    "VirtualMedia/2";
	static const char xcc[] = "/redfish/v1/Managers/1/VirtualMedia/1";
	static const char image[] = "{\"Image\":\"http://10.0.0.1/boot.iso\"}";
	struct site site;

	begin(&site, "dell");
	ck_assert_int_eq(ask(&site, "PATCH", idrac, image), 405);
	ck_assert_int_eq(
		ask(&site, "POST",
		    "/redfish/v1/Managers/iDRAC.Embedded.1/VirtualMedia/2/Actions/"
		    "VirtualMedia.InsertMedia",
		    image),
		204);
	ask(&site, "GET", idrac, NULL);
	ck_assert_str_eq(value(&site, "Image"), "http://10.0.0.1/boot.iso");
	ck_assert_int_eq(
		ask(&site, "POST",
		    "/redfish/v1/Managers/iDRAC.Embedded.1/VirtualMedia/2/Actions/"
		    "VirtualMedia.InsertMedia",
		    image),
		409);
	finish(&site);

	begin(&site, "lenovo");
	ck_assert_int_eq(ask(&site, "PATCH", xcc, image), 200);
	ck_assert_str_eq(value(&site, "ImageName"), "boot.iso");
	ck_assert_int_eq(ask(&site, "PATCH", xcc, "{\"Image\":\"ftp://x/y\"}"), 400);
	ck_assert_int_eq(ask(&site, "PATCH", xcc, "{\"Image\":null}"), 200);
	ck_assert_str_eq(value(&site, "ConnectedVia"), "NotConnected");
	finish(&site);
}
END_TEST

static int
only_known(const char *url, struct bu_err *err)
{
	return strcmp(url, "http://10.0.0.1/boot.iso") == 0
		       ? 0
		       : bu_err_set(err, BU_ERR_REMOTE, 0, "404");
}

/* What each vendor takes as the parameters of an insertion, and in which drive. */
START_TEST(an_insertion_is_as_the_vendor_wants_it)
{
#define IN(manager, slot)                                                              \
	"/redfish/v1/Managers/" manager "/VirtualMedia/" slot                          \
	"/Actions/VirtualMedia.InsertMedia"
#define ISO "{\"Image\":\"http://10.0.0.1/boot.iso\""
	static const struct {
		const char *tree, *action, *body;
		int status;
	} rows[] = {
		{"hpe", IN("1", "2"), ISO "}", 204},
		{"hpe", IN("1", "2"), ISO ",\"WriteProtected\":true}", 400},
		{"hpe", IN("1", "2"), ISO ",\"Colour\":1}", 400},
		{"hpe", IN("1", "2"), "{}", 400},
		{"hpe", IN("1", "2"), "{\"Image\":\"http://10.0.0.1/x.iso\"}", 400},
		{"hpe", IN("1", "1"), ISO "}", 400}, /* a stick */
		{"supermicro", IN("1", "2"), ISO "}", 400},
		{"supermicro", IN("1", "2"), ISO ",\"TransferProtocolType\":\"HTTP\"}",
		 204},
		{"gb200", IN("BMC_0", "2"), ISO "}", 202},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site;

		begin_with(&site, rows[i].tree, only_known);
		ck_assert_msg(ask(&site, "POST", rows[i].action, rows[i].body) ==
				      rows[i].status,
			      "%zu: %d", i, site.reply.status);
		finish(&site);
	}
#undef IN
#undef ISO
}
END_TEST

START_TEST(an_insertion_that_is_a_task_shows_when_it_ends)
{
	static const char drive[] = "/redfish/v1/Managers/BMC_0/VirtualMedia/2";
	struct site site;

	begin(&site, "gb200");
	ck_assert_int_eq(ask(&site, "POST",
			     "/redfish/v1/Managers/BMC_0/VirtualMedia/2/Actions/"
			     "VirtualMedia.InsertMedia",
			     "{\"Image\":\"http://10.0.0.1/boot.iso\"}"),
			 202);
	ask(&site, "GET", drive, NULL);
	ck_assert_str_eq(value(&site, "Image"), "(no text)");
	site.now_ms += 2000;
	ask(&site, "GET", drive, NULL);
	ck_assert_str_eq(value(&site, "Image"), "http://10.0.0.1/boot.iso");
	finish(&site);
}
END_TEST

BU_UNIT("lab bmc service", an_insertion_is_as_the_vendor_wants_it,
	an_insertion_that_is_a_task_shows_when_it_ends,
	strangers_get_401_and_nothing_else, a_session_is_a_token_until_it_is_deleted,
	sessions_have_a_cap_and_end_when_unused,
	so_many_wrong_passwords_lock_an_account,
	a_reader_reads_and_changes_its_own_password,
	a_password_that_must_change_opens_nothing_else, etags_fit_or_are_refused,
	boot_is_written_where_and_how_the_vendor_wants_it,
	hpe_refuses_modes_none_and_changes_during_post, bios_settings_wait_for_a_reset,
	a_task_ends_by_itself, a_restarting_bmc_is_away_and_forgets_its_sessions,
	media_go_in_by_action_or_by_patch)
