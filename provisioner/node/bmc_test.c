/* SPDX-License-Identifier: Apache-2.0 */
/* Which machine is expected behind a BMC, and as whom the BMC is asked. */
#include <string.h>

#include "provisioner/node/binding.h"
#include "provisioner/node/reconcile_impl.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

/* Binds a machine that tells this serial number, numbers of board and chassis, and the
 * one UUID that vendors leave in many boards. */
static void
bind_as(struct rig *rig, int number, const char *serial)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autofree char *id = bu_xasprintf("%d0112233445566778", number);
	struct bu_machine machine;

	bu_machine_of(serial, "11111111-2222-3333-4444-555555555501", NULL, &machine);
	bu_machine_add_number(&machine, BU_NUMBER_BOARD, "B-SAME");
	bu_machine_add_number(&machine, BU_NUMBER_BOARD, serial + 4);
	bu_machine_add_number(&machine, BU_NUMBER_CHASSIS, "ENC-1");
	bu_binding_set(rig->fleet, node, id);
	bu_binding_told(rig->fleet, node, &machine, 1);
}

START_TEST(what_two_nodes_share_is_not_asked_for)
{
	struct rig rig;
	struct bu_node *node, *other;
	struct bu_node_bmc bmc;

	rig_begin(&rig, 2);
	node = rig_node(&rig, 1);
	other = rig_node(&rig, 2);
	bind_as(&rig, 1, "LAB-001");
	bu_node_bmc(rig.fleet, node, &bmc);
	ck_assert_str_eq(bmc.machine.uuid, node->uuid); /* only a name */
	ck_assert_uint_eq(bmc.machine.numbers_count, 3);
	bind_as(&rig, 2, "LAB-002");
	bu_node_bmc(rig.fleet, node, &bmc);
	ck_assert_str_eq(bmc.machine.uuid, "");
	ck_assert_str_eq(bmc.machine.serial, "LAB-001");
	ck_assert_uint_eq(bmc.machine.numbers_count, 1);
	ck_assert_str_eq(bmc.machine.numbers[0].text, "001");
	ck_assert_int_eq(node->conditions[BU_CONDITION_SHARED_IDENTITY].on, 1);
	ck_assert_ptr_null(strstr(
		rig_sentence(node->conditions[BU_CONDITION_SHARED_IDENTITY].detail),
		"ENC"));
	/* the number of a chassis is the serial number of one, by its firmware's word
	 */
	bind_as(&rig, 2, "ENC-1");
	bu_node_bmc(rig.fleet, other, &bmc);
	ck_assert_str_eq(bmc.machine.serial, "");
	ck_assert_ptr_eq(bmc.bmc.machine, &bmc.machine);
	/* BMCs that are wrong about themselves */
	rig_revise(&rig, 2, "power = libvirt",
		   "power = libvirt\nbmc_identity = ignore");
	bu_node_bmc(rig.fleet, node, &bmc);
	ck_assert_ptr_null(bmc.bmc.machine);
	rig_end(&rig);
}
END_TEST

/* Which of them a BMC has is seen at the BMC. */
START_TEST(a_rotation_leaves_what_a_bmc_came_with)
{
	struct rig rig;
	struct bu_node_bmc bmc;

	rig_begin(&rig, 1);
	rig_revise(&rig, 1, "[image debian12]\n[hardware vm]",
		   "[node node001]\nbmc_factory = file:/factory\n[image debian12]\n"
		   "[hardware vm]");
	bu_node_bmc(rig.fleet, rig_node(&rig, 1), &bmc);
	ck_assert_str_eq(bmc.bmc.factory, "file:/factory");
	rig_revise(&rig, 1, "power = libvirt",
		   "power = libvirt\nbmc_credentials_before = file:/before");
	bu_node_bmc(rig.fleet, rig_node(&rig, 1), &bmc);
	ck_assert_str_eq(bmc.bmc.before, "file:/before");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("bmc", what_two_nodes_share_is_not_asked_for,
	 a_rotation_leaves_what_a_bmc_came_with)
