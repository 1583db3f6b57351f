/* SPDX-License-Identifier: Apache-2.0 */
/* Whose word counts for how a machine is reached, while an order is under way. */
#include <string.h>

#include "provisioner/node/reconcile_impl.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static const char plain[] = "[image debian12]\n[hardware vm]\n";
static const char one[] = "52:54:00:77:00:01", two[] = "52:54:00:77:00:02";

static const char *
owner_of(const struct rig *rig, const char *mac)
{
	const struct bu_node *node = bu_fleet_node_by_mac(rig->fleet, mac);

	return node ? node->name : "nobody";
}

START_TEST(power_is_asked_of_the_bmc_that_is_applied)
{
	static const char other[] =
		"[node node001]\nbmc = \"qemu:///system#corrected\"\n[image debian12]\n";
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 1);
	node = rig_node(&rig, 1);
	rig_write(&rig, "power.refuse", "BMC is asleep");
	rig_fire(&rig, node, BU_TRIGGER_START);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_FAILED);
	rig_revise(&rig, 1, "[image debian12]\n", other);
	rig_remove(&rig, "power.refuse");
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(rig_count(&rig, "boot network node001"), 1);
	ck_assert_int_eq(rig_count(&rig, "boot network corrected"), 1);
	rig_end(&rig);
}
END_TEST

/* A boot is asked for by MAC. */
START_TEST(a_mac_is_of_the_node_that_is_applied_with_it)
{
	static const char swapped[] =
		"[node node001]\nmac = 52:54:00:77:00:02\n"
		"[node node002]\nmac = 52:54:00:77:00:01\n[image debian12]\n"
		"[hardware vm]\n";
	struct rig rig;

	rig_begin(&rig, 2);
	rig_start(&rig, 1);
	ck_assert_str_eq(owner_of(&rig, one), "node001");
	rig_revise(&rig, 2, plain, swapped);
	ck_assert_str_eq(owner_of(&rig, one), "node002");
	ck_assert_str_eq(owner_of(&rig, two), "node001");
	ck_assert_str_eq(owner_of(&rig, "52:54:00:77:00:09"), "nobody");
	rig_end(&rig);
}
END_TEST

/* What the log knows of its machine is not what the profile says of another one. */
START_TEST(an_order_keeps_its_machine_when_another_one_takes_the_name)
{
	static const char replaced[] =
		"[node node001]\nserial = NEW-1\nmac = 52:54:00:99:00:01\n"
		"bmc = \"qemu:///system#new\"\n[image debian12]\n[hardware vm]\n";
	static const char corrected[] =
		"[node node001]\nbmc = \"qemu:///system#new\"\nserial = lab-001\n"
		"mac = 52:54:00:99:00:01\n[image debian12]\n[hardware vm]\n";
	struct rig rig;
	struct bu_node *node;
	struct bu_node_bmc bmc;

	rig_begin(&rig, 1);
	node = rig_node(&rig, 1);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	rig_revise(&rig, 1, plain, replaced);
	bu_node_bmc(rig.fleet, node, &bmc);
	ck_assert_str_eq(bmc.bmc.bmc, "qemu:///system#node001");
	ck_assert_str_eq(owner_of(&rig, one), "node001");
	ck_assert_str_eq(owner_of(&rig, "52:54:00:99:00:01"), "nobody");
	/* its own serial number beside another card and BMC: a correction */
	rig_revise(&rig, 1, plain, corrected);
	bu_node_bmc(rig.fleet, node, &bmc);
	ck_assert_str_eq(bmc.bmc.bmc, "qemu:///system#new");
	/* the name is the new machine's when the order has ended */
	rig_revise(&rig, 1, plain, replaced);
	rig_fire(&rig, node, BU_TRIGGER_FAULT);
	rig_until(&rig, node, BU_STATE_FAILED);
	ck_assert_str_eq(bu_fleet_reach(rig.fleet, node)->serial, "NEW-1");
	ck_assert_str_eq(owner_of(&rig, "52:54:00:99:00:01"), "node001");
	rig_end(&rig);
}
END_TEST

/* Its order is open, and nothing more is done to it. */
START_TEST(a_node_that_left_the_profile_keeps_its_mac_from_nobody)
{
	static const char given[] = "[node node001]\nmac = 52:54:00:77:00:02\n"
				    "[image debian12]\n[hardware vm]\n";
	struct rig rig;

	rig_begin(&rig, 2);
	rig_start(&rig, 2);
	rig_revise(&rig, 1, NULL, NULL);
	ck_assert_int_eq(rig_node(&rig, 2)->order->open, 1);
	ck_assert_str_eq(owner_of(&rig, two), "node002");
	ck_assert_str_eq(bu_fleet_reach(rig.fleet, rig_node(&rig, 2))->mac, two);
	rig_revise(&rig, 1, plain, given);
	ck_assert_str_eq(owner_of(&rig, two), "node001");
	/* It comes back, on its way as it was. */
	rig_revise(&rig, 2, NULL, NULL);
	ck_assert_str_eq(owner_of(&rig, two), "node002");
	rig_end(&rig);
}
END_TEST

/* The firmware turned out to be slower than the profile said. */
START_TEST(a_corrected_post_time_moves_the_deadline_of_the_order_under_way)
{
	struct rig rig;
	struct bu_node *node;
	int64_t before_ms;

	node = rig_up_to(&rig, RIG_STARTED);
	before_ms = bu_reconcile_limit_ms(rig.rec, node);
	rig_revise(&rig, 1, "disk = smallest\n", "disk = smallest\npost = 20 m\n");
	ck_assert_int_eq(bu_reconcile_limit_ms(rig.rec, node),
			 before_ms + 20 * 60 * 1000);
	/* how long its disks may take is a setting of its system */
	rig_revise(&rig, 1, "disk = smallest\n", "disk = smallest\ndisk_wait = 60 s\n");
	ck_assert_int_eq(bu_reconcile_limit_ms(rig.rec, node), before_ms);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("reach", power_is_asked_of_the_bmc_that_is_applied,
	 a_mac_is_of_the_node_that_is_applied_with_it,
	 an_order_keeps_its_machine_when_another_one_takes_the_name,
	 a_node_that_left_the_profile_keeps_its_mac_from_nobody,
	 a_corrected_post_time_moves_the_deadline_of_the_order_under_way)
