/* SPDX-License-Identifier: Apache-2.0 */
/* How a machine is reached was wrong in the profile, and is corrected while its order
 * is under way: that very order goes on by the corrected profile. */
#include <string.h>

#include "tests/support/desk.h"

#define NODES "nodes = node[001-003]\nhardware = vm\nimage = debian12\n"
#define PIN_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define PIN_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static const char was[] = "[pool train]\n" NODES "power = libvirt\n";

static struct desk desk;
static struct rig *rig;
static struct bu_node *node;
static int64_t order_seq;

/* The lines of node001, and the pool with its power driver; owned. */
static char *
profile(const char *of_node, const char *of_pool)
{
	return bu_xasprintf("%s%s[pool train]\n" NODES "%s\n",
			    *of_node ? "[node node001]\n" : "", of_node, of_pool);
}

static void
change(const char *of_node, const char *of_pool)
{
	bu_autofree char *is = profile(of_node, of_pool);
	bu_autojson json_t *planned = plan(&desk, was, is, NULL, 200);
	const char *revision =
		bu_json_str(json_object_get(planned, "plan"), "revision", "");

	json_decref(apply(&desk, planned, 200));
	for (int i = 0; i < 100 && strcmp(rig->fleet->revision, revision) != 0; i++)
		rig_pass(rig, 1);
	ck_assert_str_eq(rig->fleet->revision, revision);
}

/* The wrong profile is applied, and the order of node001 has its turn. */
static void
begin_with(const char *of_node, const char *of_pool, const char *file, const char *bmc)
{
	begin(&desk);
	rig = &desk.site.rig;
	if (*file)
		rig_write(rig, file, bmc);
	change(of_node, of_pool);
	node = rig_node(rig, 1);
	rig_fire(rig, node, BU_TRIGGER_START);
}

/* It is the order of before, and no person was asked for anything. */
static void
goes_on(void)
{
	for (int i = 0; i < 10 && node->step.status != BU_STEP_DONE; i++)
		rig_pass(rig, 500);
	ck_assert_msg(node->step.status == BU_STEP_DONE, "%s", node->step_error);
	ck_assert_int_eq(node->state, BU_STATE_INSPECTING);
	ck_assert_int_eq(node->order->seq, order_seq);
	ck_assert_int_eq(node->order->open && node->order->begun, 1);
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	ck_assert_uint_eq(rig->fleet->rollouts_count, 1);
}

static const struct {
	const char *wrong_node, *wrong_pool, *right_node, *right_pool;
	const char *file, *bmc; /* what the BMC is */
} powers[] = {
	{"bmc_fingerprint = " PIN_A "\n", "power = redfish",
	 "bmc_fingerprint = " PIN_B "\n", "power = redfish", "bmc.node001",
	 "{\"fingerprint\":\"" PIN_B "\"}"},
	{"", "power = redfish\nbmc_credentials = file:/wrong", "",
	 "power = redfish\nbmc_credentials = file:/right", "bmc.node001",
	 "{\"credentials\":\"file:/right\"}"},
	{"bmc = https://elsewhere\n", "power = redfish", "", "power = redfish",
	 "bmc.elsewhere", "{\"driver\":\"none\"}"},
	{"power=redfish\nbmc = https://node001\n", "power = libvirt", "",
	 "power = libvirt", "bmc.node001", "{\"driver\":\"libvirt\"}"},
	{"bmc_factory = file:/wrong\n", "power = redfish",
	 "bmc_factory = file:/right\n", "power = redfish", "bmc.node001",
	 "{\"factory\":\"file:/right\"}"},
};

static void
corrects_power(size_t i)
{
	begin_with(powers[i].wrong_node, powers[i].wrong_pool, powers[i].file,
		   powers[i].bmc);
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_FAILED);
	order_seq = node->order->seq;
	rig_pass(rig, 5000); /* the next try is a minute away */
	ck_assert_int_eq(node->step.status, BU_STEP_FAILED);
	change(powers[i].right_node, powers[i].right_pool);
	goes_on();
	ck_assert_int_eq(rig_count(rig, "boot network node001"), 1);
	end(&desk);
}

START_TEST(a_corrected_bmc_is_asked_at_once_for_the_order_under_way)
{
	for (size_t i = 0; i < BU_LEN(powers); i++)
		corrects_power(i);
}
END_TEST

/* Any other correction leaves the pace of a slow BMC as it is. */
START_TEST(a_change_of_content_hurries_no_power_action)
{
	begin_with("", "power = redfish", "bmc.node001", "{\"driver\":\"none\"}");
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_FAILED);
	change("kargs = quiet\n", "power = redfish");
	rig_pass(rig, 10 * 1000);
	ck_assert_int_eq(node->step.attempt, 1);
	ck_assert_int_eq(node->step.status, BU_STEP_FAILED);
	end(&desk);
}
END_TEST

START_TEST(a_corrected_serial_number_lets_a_foreign_machine_go)
{
	begin_with("serial = LAB-9\n", "power = redfish", "bmc.node001",
		   "{\"serial\":\"LAB-001\"}");
	for (int i = 0; i < 100 && !node->hold->owner; i++)
		rig_pass(rig, 1);
	rig_reason_is(&node->hold->reason, FOREIGN_MACHINE);
	order_seq = node->order->seq;
	/* another revision that says the same of it does not */
	change("serial = LAB-9\nkargs = quiet\n", "power = redfish");
	rig_pass(rig, 10 * 1000);
	rig_reason_is(&node->hold->reason, FOREIGN_MACHINE);
	change("", "power = redfish");
	goes_on();
	end(&desk);
}
END_TEST

static void
corrects_number(const char *wrong)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	struct bu_err err = {0};

	begin_with(wrong, "power = libvirt", "", "");
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	order_seq = node->order->seq;
	ck_assert_int_eq(rig_admit(rig, node, rig_request(0), inventory, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	change("", "power = libvirt");
	ck_assert_msg(rig_admit(rig, node, rig_request(0), inventory, &err) == 0, "%s",
		      err.text);
	goes_on();
	end(&desk);
}

START_TEST(a_corrected_number_admits_the_machine_of_the_order_under_way)
{
	corrects_number("serial = LAB-9\n");
	corrects_number("uuid = 99999999-2222-3333-4444-555555555501\n");
}
END_TEST

static void
script_says(const char *mac, const char *words)
{
	bu_autofree char *path = bu_xasprintf("/boot/script/%s", mac);
	bu_autofree char *text = site_text(&desk.site, desk.site.boot, path, 200);

	ck_assert_msg(strstr(text, words) != NULL, "%s", text);
}

START_TEST(a_corrected_mac_boots_the_agent_of_the_order_under_way)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	struct bu_err err = {0};

	begin_with("mac = 52:54:00:99:00:01\n", "power = libvirt", "", "");
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	order_seq = node->order->seq;
	script_says("52:54:00:77:00:01", "an unknown machine boots the agent");
	script_says("52:54:00:99:00:01", "node001 boots the agent");
	change("", "power = libvirt");
	script_says("52:54:00:99:00:01", "an unknown machine boots the agent");
	script_says("52:54:00:77:00:01", "node001 boots the agent");
	ck_assert_msg(rig_admit(rig, node, rig_request(0), inventory, &err) == 0, "%s",
		      err.text);
	goes_on();
	end(&desk);
}
END_TEST

/* The machine that a person should have switched has a BMC after all. */
START_TEST(a_machine_that_waits_for_a_hand_is_switched_by_its_new_driver)
{
	begin_with("power = manual\n", "power = libvirt", "", "");
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	rig_pass(rig, 2000);
	rig_reason_is(node->live.wait_reason, BY_HAND);
	order_seq = node->order->seq;
	change("", "power = libvirt");
	goes_on();
	ck_assert_int_eq(rig_count(rig, "boot network node001"), 1);
	end(&desk);
}
END_TEST

/* What is made of the node stays what was planned. */
START_TEST(a_correction_takes_no_content_with_it)
{
	struct bu_target target;

	begin_with("bmc_fingerprint = " PIN_A "\n", "power = redfish", "", "");
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	order_seq = node->order->seq;
	change("bmc_fingerprint = " PIN_B "\nkargs = quiet\n", "power = redfish");
	ck_assert_str_eq(bu_fleet_reach(rig->fleet, node)->bmc_fingerprint, PIN_B);
	ck_assert_int_eq(bu_fleet_target(rig->fleet, node, &target, NULL), 0);
	ck_assert_ptr_null(target.node->kargs);
	ck_assert_str_eq(target.node->bmc_fingerprint, PIN_A);
	goes_on();
	end(&desk);
}
END_TEST

/* Of a plan that changes no node it is said all the same. */
START_TEST(the_plan_says_what_counts_at_once_and_what_stays)
{
	bu_autofree char *is = profile("bmc_fingerprint = " PIN_B "\nkargs = quiet\n",
				       "power = redfish");
	bu_autojson json_t *planned = NULL;
	const json_t *made, *reach, *one;

	begin_with("bmc_fingerprint = " PIN_A "\n", "power = redfish", "", "");
	rig_until_step(rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	planned = plan(&desk, was, is, NULL, 200);
	made = json_object_get(planned, "plan");
	reach = json_array_get(json_object_get(made, "reach"), 0);
	ck_assert_str_eq(bu_json_str(reach, "facet", ""), "bmc_fingerprint");
	ck_assert_str_eq(bu_json_str(reach, "nodes", ""), "node001");
	one = json_array_get(json_object_get(made, "under_way"), 0);
	ck_assert_str_eq(bu_json_str(one, "node", ""), "node001");
	ck_assert_str_eq(bu_json_str(one, "revision", ""), rig->fleet->revision);
	ck_assert_str_eq(bu_json_str(json_array_get(json_object_get(one, "content"), 0),
				     "facet", ""),
			 "kargs");
	end(&desk);
}
END_TEST

RIG_UNIT("reach", the_plan_says_what_counts_at_once_and_what_stays,
	 a_corrected_bmc_is_asked_at_once_for_the_order_under_way,
	 a_change_of_content_hurries_no_power_action,
	 a_corrected_serial_number_lets_a_foreign_machine_go,
	 a_corrected_number_admits_the_machine_of_the_order_under_way,
	 a_corrected_mac_boots_the_agent_of_the_order_under_way,
	 a_machine_that_waits_for_a_hand_is_switched_by_its_new_driver,
	 a_correction_takes_no_content_with_it)
