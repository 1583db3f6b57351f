/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot override: written in the way and at the place that each BMC takes, read
 * back, and an error where it does not stay.
 */
#include <glob.h>

#include "base/file.h"
#include "tests/support/redfish.h"

#define DELL "/redfish/v1/Systems/System.Embedded.1"

/* What the BMC has afterwards; "" when the driver failed. */
static void
expect(const char *shape, int habits, enum bu_boot_first first, const char *boot)
{
	struct rig rig;
	char *has;

	rig_begin(&rig, shape, habits);
	rig.request.first = first;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	has = hostile_boot(rig.bmc);
	ck_assert_msg(strcmp(has, boot) == 0, "%s %x: %s, not %s", shape,
		      (unsigned)habits, has, boot);
	free(has);
	rig_end(&rig);
}

START_TEST(every_tree_boots_from_the_network)
{
	for (const struct hostile_shape *shape = hostile_shapes; shape->name; shape++)
		expect(shape->name, 0, BU_BOOT_NETWORK, "Pxe Once UEFI");
}
END_TEST

START_TEST(every_tree_boots_from_its_disk)
{
	for (const struct hostile_shape *shape = hostile_shapes; shape->name; shape++)
		if (strcmp(shape->name, "lenovo") != 0)
			expect(shape->name, 0, BU_BOOT_DISK, "Hdd Once UEFI");
}
END_TEST

START_TEST(lenovo_boots_its_disk_without_an_override)
{
	expect("lenovo", 0, BU_BOOT_DISK, "None Disabled UEFI");
}
END_TEST

START_TEST(supermicro_wants_all_boot_fields)
{
	expect("supermicro", HOSTILE_WANTS_ALL, BU_BOOT_NETWORK, "Pxe Once UEFI");
}
END_TEST

START_TEST(hpe_refuses_the_mode)
{
	struct rig rig;

	rig_begin(&rig, "hpe", HOSTILE_NO_MODE);
	rig.request.first = BU_BOOT_NETWORK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", NULL), 1); /* known */
	rig_end(&rig);
	expect("dell", HOSTILE_NO_MODE, BU_BOOT_NETWORK,
	       "Pxe Once UEFI"); /* found out */
}
END_TEST

START_TEST(a_boot_mode_that_reverts_is_an_error)
{
	struct rig rig;

	rig_begin(&rig, "supermicro", HOSTILE_REVERTS_MODE);
	rig.request.first = BU_BOOT_NETWORK;
	ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_VERIFY);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "Legacy"));
	rig_end(&rig);
}
END_TEST

START_TEST(a_boot_override_that_is_dropped_is_an_error)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_DROPS_BOOT);
	rig.request.first = BU_BOOT_NETWORK;
	ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_VERIFY);
	rig_end(&rig);
}
END_TEST

START_TEST(the_mode_that_is_asked_for_is_sent)
{
	static const struct {
		enum bu_boot_mode mode;
		const char *boot;
	} rows[] = {{BU_BOOT_MODE_KEPT, "Pxe Once UEFI"},
		    {BU_BOOT_MODE_UEFI, "Pxe Once UEFI"},
		    {BU_BOOT_MODE_BIOS, "Pxe Once Legacy"}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		char *has;

		rig_begin(&rig, "dell", 0);
		rig.request.mode = rows[i].mode;
		rig.request.first = BU_BOOT_NETWORK;
		rig_ok(&rig, BU_POWER_BOOT_FIRST);
		has = hostile_boot(rig.bmc);
		ck_assert_str_eq(has, rows[i].boot);
		free(has);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(dgx_boots_by_the_settings_object)
{
	struct rig rig;

	rig_begin(&rig, "dgx", HOSTILE_NEEDS_ETAG);
	rig.request.first = BU_BOOT_NETWORK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", "/Systems/DGX/SD"), 1);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", "/Systems/DGX"), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(the_settings_object_is_the_second_place)
{
	struct rig rig;

	/* iDRAC10 is known for it */
	rig_begin(&rig, "idrac10", HOSTILE_SYSTEM_FIXED);
	rig.request.first = BU_BOOT_NETWORK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", "/System.Embedded.1"), 0);
	rig_end(&rig);
	/* of others it is found out */
	expect("gb200", HOSTILE_SYSTEM_FIXED, BU_BOOT_NETWORK, "Pxe Once UEFI");
}
END_TEST

START_TEST(once_comes_before_continuous)
{
	struct rig rig;
	char *has;

	rig_begin(&rig, "dell", 0);
	hostile_set(rig.bmc, DELL, "Boot",
		    json_pack("{s:s,s:s,s:[s,s]}", "BootSourceOverrideTarget", "None",
			      "BootSourceOverrideEnabled", "Disabled",
			      "BootSourceOverrideEnabled@Redfish.AllowableValues",
			      "Disabled", "Continuous"));
	rig.request.first = BU_BOOT_NETWORK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	has = hostile_boot(rig.bmc);
	ck_assert_str_eq(has, "Pxe Continuous -");
	free(has);
	rig_end(&rig);
}
END_TEST

/* Somebody has left an override that lasts, and the BMC keeps it so when it is asked
 * for one boot. */
START_TEST(an_override_that_lasts_is_ended_and_written_again)
{
	static const enum bu_boot_first firsts[] = {BU_BOOT_NETWORK, BU_BOOT_DISK};
	static const char *const boots[] = {"Pxe Once UEFI", "Hdd Once UEFI"};

	for (size_t i = 0; i < BU_LEN(firsts); i++) {
		json_t *boot;
		struct rig rig;
		char *has;

		rig_begin(&rig, "dell", 0);
		hostile_sticks(rig.bmc);
		boot = json_object_get(hostile_object(rig.bmc, DELL), "Boot");
		json_object_set_new(boot, "BootSourceOverrideEnabled",
				    json_string("Continuous"));
		rig.request.first = firsts[i];
		rig_ok(&rig, BU_POWER_BOOT_FIRST);
		has = hostile_boot(rig.bmc);
		ck_assert_str_eq(has, boots[i]);
		free(has);
		ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", NULL), 3);
		rig_end(&rig);
	}
}
END_TEST

/* It names Once, and keeps Continuous: every later start would come from the network,
 * and nobody would know. */
START_TEST(an_override_that_goes_on_to_last_is_an_error)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_CONTINUOUS);
	rig.request.first = BU_BOOT_NETWORK;
	rig_fails(&rig, BU_POWER_BOOT_FIRST, BU_ERR_VERIFY,
		  "PATCH " DELL ": took Once, shows Continuous");
	rig_end(&rig);
}
END_TEST

/* One that names no Once can do no other. */
START_TEST(a_bmc_that_knows_no_once_may_keep_continuous)
{
	int looks, writes;
	struct rig rig;
	char *has;

	rig_begin(&rig, "dell", HOSTILE_CONTINUOUS);
	hostile_set(rig.bmc, DELL, "Boot",
		    json_pack("{s:s,s:s}", "BootSourceOverrideTarget", "None",
			      "BootSourceOverrideEnabled", "Disabled"));
	rig.request.first = BU_BOOT_NETWORK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	has = hostile_boot(rig.bmc);
	ck_assert_str_eq(has, "Pxe Continuous -");
	free(has);
	/* known now: written once, read once */
	looks = hostile_count(rig.bmc, "GET", DELL);
	writes = hostile_count(rig.bmc, "PATCH", DELL);
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	ck_assert_int_eq(hostile_count(rig.bmc, "GET", DELL), looks + 2);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", DELL), writes + 1);
	rig_end(&rig);
}
END_TEST

/* The first PATCH is taken and does nothing, each later one is refused, here or at the
 * other place | what is said. */
START_TEST(what_was_swallowed_is_said_and_not_what_was_refused_later)
{
	static const struct {
		const char *shape, *first; /* where it is swallowed */
		int refused;
		const char *why;
	} rows[] = {
		{"dell", "/System.Embedded.1", 400,
		 "/System.Embedded.1: took Pxe, shows None; took Once, shows Disabled"},
		{"gb200", "/System_0", 400,
		 "/System_0: took Pxe, shows None; took Once, shows Disabled"},
		{"gb200", "/System_0", 405,
		 "/System_0: took Pxe, shows None; took Once, shows Disabled"},
		{"gb200", "/System_0", 403,
		 "/System_0: took Pxe, shows None; took Once, shows Disabled"},
		{"dgx", "/SD", 404,
		 "/DGX/SD: took Pxe, shows None; took Once, shows Disabled"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;

		rig_begin(&rig, rows[i].shape, 0);
		hostile_answer(rig.bmc, "PATCH", rows[i].first,
			       &(struct hostile_answer){200, NULL, NULL}, 1);
		hostile_plan(rig.bmc, "PATCH", "", rows[i].refused, NULL, 99);
		rig.request.first = BU_BOOT_NETWORK;
		rig_fails(&rig, BU_POWER_BOOT_FIRST, BU_ERR_VERIFY, rows[i].why);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(an_empty_list_of_boots_or_ways_tells_nothing)
{
	static const char *const lists[] = {"[]", "[null]", "['']", "null", "{}"};

	for (size_t i = 0; i < BU_LEN(lists); i++) {
		bu_autofree char *text = bu_xasprintf(
			"{'BootSourceOverrideTarget':'None',"
			"'BootSourceOverrideEnabled':'Disabled',"
			"'BootSourceOverrideEnabled@Redfish.AllowableValues':%s,"
			"'BootSourceOverrideTarget@Redfish.AllowableValues':%s}",
			lists[i], lists[i]);
		struct rig rig;
		char *has;

		rig_begin(&rig, "dell", 0);
		hostile_set(rig.bmc, DELL, "Boot", quoted(text));
		rig.request.first = BU_BOOT_NETWORK;
		rig_ok(&rig, BU_POWER_BOOT_FIRST);
		has = hostile_boot(rig.bmc);
		ck_assert_str_eq(has, "Pxe Once -");
		free(has);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_machine_that_allows_http_alone_boots_by_it)
{
	struct rig rig;
	char *has;

	rig_begin(&rig, "dell", 0);
	hostile_set(rig.bmc, "/redfish/v1/Systems/System.Embedded.1", "Boot",
		    json_pack("{s:[s,s]}",
			      "BootSourceOverrideTarget@Redfish.AllowableValues",
			      "None", "UefiHttp"));
	rig.request.first = BU_BOOT_NETWORK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	has = hostile_boot(rig.bmc);
	ck_assert_str_eq(has, "UefiHttp Once -");
	free(has);
	/* and its disk by no override */
	rig.request.first = BU_BOOT_DISK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	has = hostile_boot(rig.bmc);
	ck_assert_str_eq(has, "None Disabled -");
	free(has);
	rig_end(&rig);
	/* one that allows neither is told */
	rig_begin(&rig, "dell", 0);
	hostile_set(rig.bmc, "/redfish/v1/Systems/System.Embedded.1", "Boot",
		    json_pack("{s:[s,s]}",
			      "BootSourceOverrideTarget@Redfish.AllowableValues",
			      "None", "Usb"));
	rig.request.first = BU_BOOT_NETWORK;
	ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(rig.err.text, "allows no boot from the network"));
	rig_end(&rig);
}
END_TEST

START_TEST(hpe_disables_and_keeps_the_target)
{
	struct rig rig;
	char *has;

	rig_begin(&rig, "hpe", HOSTILE_NO_NONE);
	hostile_set(rig.bmc, "/redfish/v1/Systems/1", "Boot",
		    json_pack("{s:s,s:s,s:[s,s]}", "BootSourceOverrideTarget", "Pxe",
			      "BootSourceOverrideEnabled", "Continuous",
			      "BootSourceOverrideTarget@Redfish.AllowableValues",
			      "None", "Pxe"));
	rig.request.first = BU_BOOT_DISK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	has = hostile_boot(rig.bmc);
	ck_assert_str_eq(has, "Pxe Disabled -");
	free(has);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", NULL), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(backs_off_during_post)
{
	struct rig rig;

	rig_begin(&rig, "hpe", 0);
	hostile_plan(rig.bmc, "PATCH", "/1", 400, "UnableToModifyDuringSystemPOST", 2);
	rig.request.first = BU_BOOT_NETWORK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", "/1"), 3);
	/* and gives up in the end, without trying other ways */
	hostile_plan(rig.bmc, "PATCH", "/1", 400, "UnableToModifyDuringSystemPOST", 99);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_REMOTE);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", "/1"), 3 + 4);
	rig_end(&rig);
}
END_TEST

/* The BMC may have taken it: no other way to say it is tried, nor is it said elsewhere.
 * (Over a connection that was kept it is sent once more.) */
START_TEST(a_patch_without_an_answer_is_the_last)
{
	struct rig rig;

	rig_begin(&rig, "dell", 0);
	hostile_plan(rig.bmc, "PATCH", "", 0, NULL, 100);
	ck_assert_int_eq(rig_do(&rig, BU_POWER_BOOT_FIRST), BU_ERR_REMOTE);
	ck_assert_int_le(hostile_count(rig.bmc, "PATCH", NULL), 2);
	rig_end(&rig);
}
END_TEST

START_TEST(every_patch_brings_an_etag)
{
	for (const struct hostile_shape *shape = hostile_shapes; shape->name; shape++)
		expect(shape->name, HOSTILE_NEEDS_ETAG, BU_BOOT_NETWORK,
		       "Pxe Once UEFI");
}
END_TEST

/* Another spelling is for those that refuse it. */
START_TEST(the_etag_that_was_given_is_the_first)
{
	for (const struct hostile_shape *shape = hostile_shapes; shape->name; shape++) {
		struct rig rig;

		if (!shape->etag[0])
			continue;
		rig_begin(&rig, shape->name, HOSTILE_NEEDS_ETAG);
		rig.request.first = BU_BOOT_NETWORK;
		rig_ok(&rig, BU_POWER_BOOT_FIRST);
		ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", NULL), 1);
		rig_end(&rig);
	}
}
END_TEST

/* Some answer before they have done it. */
START_TEST(a_boot_override_may_show_late)
{
	struct rig rig;

	rig_begin(&rig, "dell", HOSTILE_LATE_BOOT);
	rig.request.first = BU_BOOT_NETWORK;
	rig_ok(&rig, BU_POWER_BOOT_FIRST);
	ck_assert_int_eq(hostile_count(rig.bmc, "PATCH", NULL), 1);
	rig_end(&rig);
}
END_TEST

START_TEST(climbs_the_ladder_of_etags)
{
	static const int habits[] = {
		HOSTILE_NEEDS_ETAG | HOSTILE_STRONG_ETAG,
		HOSTILE_NEEDS_ETAG | HOSTILE_GZIP_ETAG,
		HOSTILE_NEEDS_ETAG | HOSTILE_BARE_ETAG,
		HOSTILE_NO_ETAG,
	};

	for (size_t i = 0; i < BU_LEN(habits); i++)
		expect("lenovo", habits[i], BU_BOOT_NETWORK, "Pxe Once UEFI");
}
END_TEST

/* A row, or named in the documentation with why it is none. */
START_TEST(each_of_the_twenty_five_has_its_place)
{
	bu_autofree char *docs =
		bu_file_read(BU_SRCDIR "/docs/redfish.md", 0, NULL, NULL);

	ck_assert_ptr_nonnull(docs);
	for (int number = 1; number <= 25; number++) {
		bu_autofree char *named = bu_xasprintf("\n* %d, ", number);
		int rows = 0;

		for (size_t i = 0; i < rf_quirks_count; i++)
			rows += rf_quirks[i].number == number;
		ck_assert_msg(rows + (strstr(docs, named) != NULL) == 1, "%d", number);
	}
}
END_TEST

static int
has_test(const char *path, const char *test)
{
	bu_autofree char *text = bu_file_read(path, 0, NULL, NULL);
	bu_autofree char *start = bu_xasprintf("\nSTART_TEST(%s)", test);

	ck_assert_ptr_nonnull(text);
	return strstr(text, start) != NULL;
}

START_TEST(every_quirk_names_its_source_and_a_test)
{
	glob_t files;

	ck_assert_int_eq(
		glob(BU_SRCDIR "/provisioner/power/redfish/*_test.c", 0, NULL, &files),
		0);
	for (size_t i = 0; i < rf_quirks_count; i++) {
		const struct rf_quirk *quirk = &rf_quirks[i];
		int found = 0;

		ck_assert_int_gt((int)strlen(quirk->source), 10);
		for (size_t k = 0; k < files.gl_pathc && !found; k++)
			found = has_test(files.gl_pathv[k], quirk->test);
		ck_assert_msg(found, "quirk %d: no test %s", quirk->number,
			      quirk->test);
	}
	globfree(&files);
}
END_TEST

START_TEST(quirks_are_looked_up)
{
	static const struct {
		const char *vendor, *product, *firmware;
		unsigned flags;
	} rows[] = {
		{"Dell", "iDRAC", "1.10.17.00", RF_QUIRK_BOOT_LATER},
		{"Dell", "iDRAC", "6.10.30.00", 0},
		{"Dell", "iDRAC", "", 0},
		{"hpe", "x", "iLO 5 v2.72",
		 RF_QUIRK_BARE_BOOT | RF_QUIRK_KEEP_TARGET | RF_QUIRK_CLOSE},
		{"", "", "", 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_uint_eq(
			rf_quirks_of(rows[i].vendor, rows[i].product, rows[i].firmware),
			rows[i].flags);
	ck_assert_int_lt(rf_firmware_compare("6.9", "6.10"), 0);
	ck_assert_int_gt(rf_firmware_compare("iLO 5 v2.72", "iLO 5 v2.9"), 0);
	ck_assert_int_eq(rf_firmware_compare("01.01", "1.1"), 0);
}
END_TEST

BU_UNIT("redfish boot", the_etag_that_was_given_is_the_first,
	a_boot_override_may_show_late, every_tree_boots_from_the_network,
	every_tree_boots_from_its_disk, lenovo_boots_its_disk_without_an_override,
	supermicro_wants_all_boot_fields, hpe_refuses_the_mode,
	a_boot_mode_that_reverts_is_an_error,
	a_boot_override_that_is_dropped_is_an_error, the_mode_that_is_asked_for_is_sent,
	dgx_boots_by_the_settings_object, the_settings_object_is_the_second_place,
	once_comes_before_continuous, an_override_that_lasts_is_ended_and_written_again,
	an_override_that_goes_on_to_last_is_an_error,
	a_bmc_that_knows_no_once_may_keep_continuous,
	what_was_swallowed_is_said_and_not_what_was_refused_later,
	an_empty_list_of_boots_or_ways_tells_nothing,
	a_machine_that_allows_http_alone_boots_by_it, hpe_disables_and_keeps_the_target,
	backs_off_during_post, every_patch_brings_an_etag,
	a_patch_without_an_answer_is_the_last, climbs_the_ladder_of_etags,
	each_of_the_twenty_five_has_its_place, every_quirk_names_its_source_and_a_test,
	quirks_are_looked_up)
