/* SPDX-License-Identifier: Apache-2.0 */
/* Where nodes hang: what their agents heard goes before what the profile says. */
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/check.h"
#include "model/wiring.h"
#include "profiles/nodeset/nodeset.h"
#include "provisioner/gate/gate.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static void
row(struct bu_checks *checks, const char *id, const char *subject, const char *seen)
{
	struct bu_check *check =
		bu_checks_add(checks, "audit", id, BU_VERDICT_PASS, subject);

	BU_CHECK_SET(check->seen, "%s", seen);
}

/* The agent comes for its checks, and heard this on eth1; the item that it was given.
 */
static json_t *
hear(struct rig *rig, int number, const char *port)
{
	struct bu_node *node = rig_node(rig, number);
	json_t *item = bu_gate_work(rig->gate, node);
	bu_autojson json_t *report = NULL;
	struct bu_checks checks;

	ck_assert_str_eq(bu_json_str(item, "kind", ""), "checks");
	bu_checks_init(&checks);
	bu_text_copy(checks.boot_id, sizeof(checks.boot_id), node->boot_id);
	row(&checks, "nic-missing", "fabric", "eth1");
	row(&checks, "lldp", "eth1", port);
	row(&checks, "lldp", "eth7", "leaf99:swp1"); /* of no network */
	for (int i = 0; i < 2; i++) {
		row(&checks, "gpu-fabric", i ? "GPU 1" : "GPU 0", "in any words");
		BU_CHECK_SET(checks.list[checks.count - 1].value, "8c3c.1");
	}
	report = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), report, NULL);
	rig_pass(rig, 1);
	return item;
}

START_TEST(what_was_heard_goes_before_the_profile)
{
	struct rig rig;
	bu_autojson json_t *item = NULL, *said = NULL, *heard = NULL;
	struct bu_wiring wiring;
	bu_autofree char *conf = NULL;

	rig_begin(&rig, 3);
	rig_open_gate(&rig);
	rig_apply(&rig, 3, BU_CLASS_INSTALL, "d-ports", "[network fabric]\n",
		  "[node node001]\nswitch_ports = fabric=leaf01:swp1\n"
		  "[node node002]\nswitch_ports = fabric=leaf01:swp2\n"
		  "rack = r2\n[node node003]\nrack = r1\n"
		  "[network fabric]\n");
	said = bu_gate_wiring(rig.gate);
	ck_assert_int_eq(bu_wiring_from_json(said, &wiring, NULL), 0);
	ck_assert_uint_eq(wiring.wire_count, 2);
	ck_assert_uint_eq(wiring.rack_count, 1); /* of node003 no port is known */
	ck_assert_str_eq(wiring.racks[0].name, "node003");
	ck_assert_str_eq(wiring.racks[0].of, "r1");
	ck_assert_str_eq(wiring.wires[1].node, "node002");
	ck_assert_str_eq(wiring.wires[1].network, "fabric");
	ck_assert_str_eq(wiring.wires[1].sw, "leaf01");
	ck_assert_str_eq(wiring.wires[1].port, "swp2");
	bu_wiring_fini(&wiring);
	rig_to_validating(&rig, 2);
	item = hear(&rig, 2, "leaf02.dc:swp7");
	/* The agent is told what to compare with. */
	ck_assert_str_eq(
		bu_json_str(json_object_get(json_object_get(item, "expect"), "lldp"),
			    "fabric", ""),
		"leaf01:swp2");
	rig_restart(&rig); /* it was written down */
	heard = bu_gate_wiring(rig.gate);
	ck_assert_int_eq(bu_wiring_from_json(heard, &wiring, NULL), 0);
	ck_assert_uint_eq(wiring.wire_count, 2);
	ck_assert_str_eq(wiring.wires[1].sw, "leaf02.dc");
	ck_assert_str_eq(wiring.wires[1].port, "swp7");
	ck_assert_uint_eq(wiring.domain_count, 1);
	ck_assert_str_eq(wiring.domains[0].name, "node002");
	ck_assert_str_eq(wiring.domains[0].of, "8c3c.1");
	conf = bu_wiring_slurm_conf(&wiring, bu_nodeset_fold, NULL);
	ck_assert_ptr_nonnull(strstr(conf, "SwitchName=leaf02.dc Nodes=node002\n"));
	bu_wiring_fini(&wiring);
	rig_end(&rig);
}
END_TEST

/* The second machine with an address is held back, and both are named. */
START_TEST(machines_are_laid_side_by_side)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 2);
	rig_open_gate(&rig);
	rig_to_validating(&rig, 1);
	rig_to_validating(&rig, 2);
	for (int i = 1; i <= 2; i++) {
		bu_autojson json_t *item = NULL, *report = NULL;
		struct bu_checks checks;

		node = rig_node(&rig, i);
		item = bu_gate_work(rig.gate, node);
		bu_checks_init(&checks);
		bu_text_copy(checks.boot_id, sizeof(checks.boot_id), node->boot_id);
		row(&checks, "identity", "", node->name);
		row(&checks, "gid", "rxe0",
		    i == 1 ? "10.78.0.11 at index 1" : "10.78.0.11 at index 3");
		BU_CHECK_SET(checks.list[1].value, "10.78.0.11");
		report = bu_checks_to_json(&checks);
		bu_checks_fini(&checks);
		bu_gate_result(rig.gate, node, bu_json_str(item, "id", ""), report,
			       NULL);
		rig_pass(&rig, 10);
	}
	ck_assert_int_eq(rig_node(&rig, 1)->state, BU_STATE_VALIDATING);
	node = rig_node(&rig, 2);
	ck_assert_int_eq(node->state, BU_STATE_QUARANTINED);
	rig_reason_is(node->reason, CHECKS_ACCUSED);
	rig_reason_has(node->reason, "check duplicate (rxe0): node002 and node001 "
				     "have the same address: 10.78.0.11");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("wiring", machines_are_laid_side_by_side,
	 what_was_heard_goes_before_the_profile)
