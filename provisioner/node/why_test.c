/* SPDX-License-Identifier: Apache-2.0 */
/* `bringup node why`: all of what is said of a node, and nothing else. */
#include <string.h>

#include "provisioner/node/reconcile_impl.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

enum { DAY_MS = 24 * 3600 * 1000 };

static struct rig rig;
static int64_t now_ms, mono_ms;
static int frozen;

static void
steps(struct bu_node *node, enum bu_action action, enum bu_step_status status)
{
	node->step = (struct bu_step){
		.id = "s1", .action = action, .attempt = 2, .status = status};
}

static void
orders(struct bu_node *node, enum bu_class class)
{
	*bu_node_order(node) = (struct bu_order){
		.seq = 5, .rollout = "r-1", .class = class, .open = 1};
}

static void
is_late_for(struct bu_node *node, enum bu_state state, int64_t ms)
{
	node->state = state;
	node->live.clock_ms = mono_ms - ms;
}

static void
enrolled(struct bu_node *node)
{
	node->live.in_profile = 0;
}

static void
waits_for_its_turn(struct bu_node *node)
{
	orders(node, BU_CLASS_INSTALL);
	node->live.last_seen_ms = now_ms - 4000;
}

static void
inspecting(struct bu_node *node)
{
	is_late_for(node, BU_STATE_INSPECTING, 100000);
	BU_REASON_SET(bu_node_reason(node), OTHER, .text = {"late"});
	orders(node, BU_CLASS_INSTALL);
	bu_node_order(node)->begun = 1;
	steps(node, BU_ACTION_NETBOOT, BU_STEP_OPEN);
	bu_node_set_step_error(node, "no power");
	node->live.last_seen_ms = now_ms - 4000;
	BU_REASON_SET(bu_node_refusal(node), NO_IDENTITY, .text = {"it tells nothing"});
}

static void
inspecting_too_long(struct bu_node *node)
{
	is_late_for(node, BU_STATE_INSPECTING, 300000);
	/* a person has let it go on */
	node->live.late_ms = mono_ms;
	node->live.let_go = frozen = 1;
}

static void
inspecting_and_late(struct bu_node *node)
{
	is_late_for(node, BU_STATE_INSPECTING, 307000);
	node->repeats = 1;
}

static void
inspecting_for_the_last_time(struct bu_node *node)
{
	is_late_for(node, BU_STATE_INSPECTING, 307000);
	node->repeats = 2;
}

static void
inspecting_while_the_brake_is_on(struct bu_node *node)
{
	is_late_for(node, BU_STATE_INSPECTING, 307000);
	node->live.late_ms = mono_ms;
	frozen = 1;
}

static void
imaging(struct bu_node *node)
{
	is_late_for(node, BU_STATE_IMAGING, 1000);
	steps(node, BU_ACTION_INSTALL, BU_STEP_OPEN);
	bu_node_set_progress_stage(node, "image");
	node->live.progress_done_bytes = 5 << 20;
	node->live.progress_total_bytes = 7 << 20;
	BU_REASON_SET(bu_node_wait_reason(node), NO_PARTNER);
}

static void
starts_its_system_as_it_is(struct bu_node *node)
{
	is_late_for(node, BU_STATE_BOOTING, 1000);
	node->on = BU_TRIGGER_BOOT;
	strcpy(node->slot, "a");
}

static void
boots_its_second_root(struct bu_node *node)
{
	is_late_for(node, BU_STATE_BOOTING, 1000);
	strcpy(node->slot, "b");
	strcpy(bu_node_other(node)->step, "i1");
	strcpy(bu_node_other(node)->image, "deb");
}

static void
validates(struct bu_node *node)
{
	is_late_for(node, BU_STATE_VALIDATING, 1000);
	strcpy(node->slot, "b");
	node->proven = node->boot_installed = 1;
	strcpy(bu_node_other(node)->step, "i1");
	strcpy(bu_node_other(node)->image, "deb");
	strcpy(bu_node_kept_certs(node)[0].step, "i1");
	strcpy(bu_node_kept_certs(node)[0].fingerprint, "f");
	bu_node_set_lent_to(node, "node002");
}

static void
validated_with_findings(struct bu_node *node)
{
	is_late_for(node, BU_STATE_VALIDATING, 1000);
	node->checks.body = quoted(
		"{'rows':[{'id':'memory','group':'','verdict':'fail','subject':'',"
		"'text':'1 GiB','hint':'a DIMM'},{'id':'disk','group':'','subject':'',"
		"'verdict':'warn','text':'slow','hint':''}]}");
	node->checks.is.rows = json_object_get(node->checks.body, "rows");
	node->verdicts = bu_xcalloc(1, sizeof(*node->verdicts));
	node->verdicts_count = 1;
	node->verdicts[0].is.source = "dcgm";
	node->verdicts[0].is.text = "hot";
}

static void
held_while_it_validates(struct bu_node *node)
{
	node->state = BU_STATE_VALIDATING;
	BU_REASON_SET(&bu_node_hold(node)->reason, PERSON, .text = {"a look"});
	bu_node_hold(node)->owner = BU_OWNER_PERSON;
	strcpy(bu_node_hold(node)->by, "ann");
	node->checks.body = quoted("{}");
}

static void
joins(struct bu_node *node)
{
	is_late_for(node, BU_STATE_JOINING, 1000);
	steps(node, BU_ACTION_JOIN, BU_STEP_FAILED);
	bu_node_set_step_error(node, "refused");
	bu_node_set_cluster_words(node, "Slurm: down");
}

static void
ready(struct bu_node *node)
{
	node->state = BU_STATE_READY;
	bu_node_set_lent_to(node, "node002");
	node->lent_ms = now_ms - 9000;
	node->agent_cert_until_ms = now_ms + INT64_C(60) * DAY_MS;
	*bu_node_power(node) = (struct bu_node_power_request){
		.op = BU_POWER_REQUEST_ON, .by = "ann", .result = BU_OUTCOME_ASKED};
}

static void
ready_and_relabelled(struct bu_node *node)
{
	node->state = BU_STATE_READY;
	node->live.clock_ms = mono_ms - 1000;
	orders(node, BU_CLASS_RECONFIGURE);
	bu_node_order(node)->begun = 1;
	steps(node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	node->live.last_seen_ms = now_ms - 1000;
	*bu_node_power(node) =
		(struct bu_node_power_request){.op = BU_POWER_REQUEST_OFF,
					       .by = "ann",
					       .result = BU_OUTCOME_FAILED,
					       .detail = "no answer"};
}

static void
unreachable(struct bu_node *node)
{
	node->state = BU_STATE_READY;
	bu_node_conditions(node)[BU_CONDITION_UNREACHABLE].on = 1;
	bu_node_conditions(node)[BU_CONDITION_UNREACHABLE].since_ms = now_ms - 31000;
	node->agent_revoked = 1;
}

static void
not_in_its_cluster(struct bu_node *node)
{
	node->state = BU_STATE_READY;
	bu_node_conditions(node)[BU_CONDITION_NOT_IN_CLUSTER].on = 1;
	bu_node_conditions(node)[BU_CONDITION_NOT_IN_CLUSTER].since_ms = now_ms - 31000;
	node->agent_cert_until_ms = now_ms;
}

static void
certificate_of_few_days(struct bu_node *node)
{
	node->state = BU_STATE_READY;
	node->agent_cert_until_ms =
		now_ms + INT64_C(1) * (BU_AGENT_CERT_DAYS / 6) * DAY_MS - 1;
}

static void
certificate_of_more_days(struct bu_node *node)
{
	node->state = BU_STATE_READY;
	node->agent_cert_until_ms =
		now_ms + INT64_C(1) * (BU_AGENT_CERT_DAYS / 6) * DAY_MS;
}

static void
agent_that_failed(struct bu_node *node)
{
	node->state = BU_STATE_READY;
	strcpy(bu_node_agent_failed(node)->version, "2");
	strcpy(bu_node_agent_failed(node)->digest, "d2");
	strcpy(bu_node_agent_failed(node)->detail, "no library");
	bu_node_agent_failed(node)->result = BU_AGENT_REFUSED;
	bu_node_agent_failed(node)->at_ms = INT64_C(1700000000000);
	strcpy(bu_node_agent(node)->version, "1");
}

static void
agent_that_runs_by_now(struct bu_node *node)
{
	agent_that_failed(node);
	strcpy(bu_node_agent(node)->digest, "d2");
}

static void
drains(struct bu_node *node)
{
	node->state = BU_STATE_DRAINING;
	bu_node_next(node)->state = BU_STATE_PARKED;
	BU_REASON_SET(&bu_node_next(node)->reason, PERSON, .text = {"fan"});
}

static void
drains_and_goes_on(struct bu_node *node)
{
	node->state = BU_STATE_DRAINING;
	bu_node_next(node)->state = BU_STATE_VALIDATING;
}

static void
held_without_its_files(struct bu_node *node)
{
	node->state = BU_STATE_DRAINING;
	bu_node_next(node)->state = BU_STATE_VALIDATING;
	orders(node, BU_CLASS_RESTART);
	bu_node_order(node)->begun = 1;
	steps(node, BU_ACTION_CONFIGURE, BU_STEP_FAILED);
	bu_node_set_step_error(node, "no NIC");
	BU_REASON_SET(&bu_node_hold(node)->reason, OTHER, .text = {"no NIC"});
	bu_node_hold(node)->owner = BU_OWNER_BRINGUP;
	strcpy(bu_node_hold(node)->by, "bringup");
}

static void
failed_reimage(struct bu_node *node)
{
	node->state = BU_STATE_FAILED;
	orders(node, BU_CLASS_REIMAGE);
	bu_node_order(node)->open = 0;
	bu_node_order(node)->failed = 1;
	BU_REASON_SET(&bu_node_order(node)->reason, OTHER, .text = {"disk gone"});
}

static void
failed_install(struct bu_node *node)
{
	failed_reimage(node);
	bu_node_order(node)->class = BU_CLASS_INSTALL;
	bu_node_set_progress_stage(node, "image");
}

static const char not_empty[] =
	"disk /dev/vda is not empty (byte 510 is 0x55) and wiping it was not granted; "
	"if what is on it may go, plan again and apply with --grant wipe:NODE";

/* By an order that grants no disk, or only one. */
static void
failed_at_a_disk(struct bu_node *node)
{
	failed_install(node);
	steps(node, BU_ACTION_INSTALL, BU_STEP_FAILED);
	bu_node_set_step_error(node, not_empty);
}

static void
failed_at_an_unnamed_disk(struct bu_node *node)
{
	failed_at_a_disk(node);
	bu_node_order(node)->class = BU_CLASS_WIPE;
	strcpy(bu_node_order(node)->disk, "/dev/vda");
}

static void
failed_at_its_disk(struct bu_node *node)
{
	failed_at_an_unnamed_disk(node);
	bu_node_order(node)->disk_size_bytes = 4096;
	bu_node_set_step_error(node, "no space");
}

static void
parked_after_a_withdrawal(struct bu_node *node)
{
	node->state = BU_STATE_PARKED;
	orders(node, BU_CLASS_WIPE);
	bu_node_order(node)->open = 0;
	bu_node_order(node)->withdrawn = 1;
	BU_REASON_SET(&bu_node_order(node)->reason, ABORTED, .text = {"ann"});
}

static void
quarantined_after_a_failure(struct bu_node *node)
{
	failed_reimage(node);
	node->state = BU_STATE_QUARANTINED;
}

static const struct {
	void (*be)(struct bu_node *node);
	const char *says;
} cases[] = {
	{enrolled, "node001 is enrolled (in the profile, waits for apply) for 3 s\n"
		   "it is not in the applied profile\n"},
	{waits_for_its_turn,
	 "node001 is enrolled (in the profile, waits for apply) for 3 s\n"
	 "order: install, of rollout r-1, not started\n"},
	{inspecting,
	 "node001 is inspecting (boots the ramdisk, the agent lists the "
	 "hardware) for 3 s\n"
	 "reason: late\n"
	 "a machine was refused: it tells nothing; it ends when its firmware "
	 "has a serial number, a UUID or a MAC\n"
	 "order: install, of rollout r-1, under way\n"
	 "step s1 (boot-network), attempt 2: under way: no power\n"
	 "what it fetched before bringupd started is not known\n"
	 "deadline in 200 s (300 s for this), then: again, with a power cycle\n"
	 "its agent was heard 4 s ago\n"},
	{inspecting_too_long,
	 "node001 is inspecting (boots the ramdisk, the agent lists the "
	 "hardware) for 3 s\n"
	 "deadline in 0 s (300 s for this), then: again, with a power cycle\n"
	 "its agent was not heard since bringupd started\n"},
	{inspecting_and_late,
	 "node001 is inspecting (boots the ramdisk, the agent lists the "
	 "hardware) for 3 s\n"
	 "its deadline of 300 s passed 7 s ago; next: again, with a power "
	 "cycle\n"
	 "its agent was not heard since bringupd started\n"},
	{inspecting_for_the_last_time,
	 "node001 is inspecting (boots the ramdisk, the agent lists the "
	 "hardware) for 3 s\n"
	 "its deadline of 300 s passed 7 s ago; next: failed\n"
	 "its agent was not heard since bringupd started\n"},
	{inspecting_while_the_brake_is_on,
	 "node001 is inspecting (boots the ramdisk, the agent lists the "
	 "hardware) for 3 s\n"
	 "its deadline of 300 s passed 7 s ago; next: nothing, the brake is on, "
	 "many are late together; see bringup status; bringup node release "
	 "restarts its deadline, after which it goes on\n"
	 "its agent was not heard since bringupd started\n"},
	{imaging, "node001 is imaging (the image is written to its disk) for 3 s\n"
		  "waits: no partner: no other node of its fabric is validating or "
		  "certified; it ends when another node of its fabric is validating or "
		  "certified; it is looked at again every 2 s\n"
		  "step s1 (install), attempt 2: under way\n"
		  "its agent was not heard since bringupd started\n"
		  "image: 5 of 7 MiB\n"},
	{starts_its_system_as_it_is,
	 "node001 is booting (its system boots, from its disk or into memory) "
	 "for 3 s\n"
	 "its system in slot a has not come up yet\n"
	 "deadline in 299 s (300 s for this), then: failed\n"
	 "its agent was not heard since bringupd started\n"},
	{boots_its_second_root,
	 "node001 is booting (its system boots, from its disk or into memory) "
	 "for 3 s\n"
	 "its system in slot b has not come up yet; its loader tries it once, "
	 "and then starts image deb again\n"
	 "deadline in 299 s (300 s for this), then: again, with a power cycle\n"
	 "its agent was not heard since bringupd started\n"},
	{validates,
	 "node001 is validating (its part of the fabric is measured) for 3 s\n"
	 "its checks have not reported yet\n"
	 "its system in slot b is on trial until its agent asks for work; its "
	 "loader starts image deb again when it is reset before\n"
	 "deadline in 599 s (600 s for this), then: again, with a power cycle\n"
	 "its agent was not heard since bringupd started\n"},
	{validated_with_findings,
	 "node001 is validating (its part of the fabric is measured) for 3 s\n"
	 "check memory: fail: 1 GiB; a DIMM\n"
	 "check disk: warn: slow\n"
	 "dcgm says: hot\n"
	 "deadline in 599 s (600 s for this), then: again, with a power cycle\n"
	 "its agent was not heard since bringupd started\n"},
	{held_while_it_validates,
	 "node001 is validating (its part of the fabric is measured) for 3 s\n"
	 "held by ann: a look; bringup node release node001 ends the hold\n"
	 "if its agent is not heard again: bringup node reboot node001, or "
	 "bringup node replace node001 for another machine\n"
	 "its checks pass\n"
	 "its agent was not heard since bringupd started\n"},
	{joins, "node001 is joining (enters the cluster) for 3 s\n"
		"its cluster says: Slurm: down\n"
		"step s1 (join), attempt 2: failed: refused\n"
		"deadline in 299 s (300 s for this), then: the node is held for a "
		"person\n"
		"its agent was not heard since bringupd started\n"},
	{ready, "node001 is ready (works in the cluster) for 3 s\n"
		"it was used as a partner by node002 9 s ago\n"
		"power on by ann: under way\n"},
	{ready_and_relabelled,
	 "node001 is ready (works in the cluster) for 3 s\n"
	 "power off by ann: failed: no answer\n"
	 "order: reconfigure, of rollout r-1, under way\n"
	 "step s1 (configure), attempt 2: under way\n"
	 "deadline in 899 s (900 s for this), then: the step has failed; the "
	 "node stays ready as it was\n"
	 "its agent was heard 1 s ago\n"},
	{unreachable,
	 "node001 is ready (works in the cluster) for 3 s\n"
	 "but unreachable: its agent does not answer, for 31 s; it ends when "
	 "its agent is heard, or it is no longer ready\n"
	 "if that does not end: bringup node reboot node001, or bringup node "
	 "replace node001 for another machine\n"
	 "the certificate of its agent was revoked\n"},
	{not_in_its_cluster,
	 "node001 is ready (works in the cluster) for 3 s\n"
	 "but not-in-cluster: its cluster does not have it, for 31 s; it ends "
	 "when the cluster has it again, or it is no longer ready\n"
	 "if that does not end: bringup node reboot node001, or bringup node "
	 "replace node001 for another machine\n"
	 "the certificate of its agent has ended; bringup node rebuild node001 "
	 "gives it another\n"},
	{certificate_of_few_days,
	 "node001 is ready (works in the cluster) for 3 s\n"
	 "the certificate of its agent ends in 14 days and was not renewed; see "
	 "bringup-agent's log on the node\n"},
	{certificate_of_more_days, "node001 is ready (works in the cluster) for 3 s\n"},
	{agent_that_failed,
	 "node001 is ready (works in the cluster) for 3 s\n"
	 "agent 2 was not started (2023-11-14T22:13:20Z): no library; see "
	 "bringup-agent's log on the node; bringup node release node001 lets "
	 "nodes try it again before a day is over\n"
	 "its agent is 1\n"},
	{agent_that_runs_by_now, "node001 is ready (works in the cluster) for 3 s\n"},
	{drains, "node001 is draining (finishes its work (in the drain_deadline of its "
		 "pool) and leaves) for 3 s\n"
		 "then: parked (fan)\n"
		 "its agent was not heard since bringupd started\n"},
	{drains_and_goes_on,
	 "node001 is draining (finishes its work (in the drain_deadline of its "
	 "pool) and leaves) for 3 s\n"
	 "then: validating\n"
	 "its agent was not heard since bringupd started\n"},
	{held_without_its_files,
	 "node001 is draining (finishes its work (in the drain_deadline of its "
	 "pool) and leaves) for 3 s\n"
	 "held by bringup: no NIC; bringup node release node001 ends the hold\n"
	 "bringup rollout abort r-1 takes its order back\n"
	 "if its machine does not come back: bringup node replace node001\n"
	 "then: validating\n"
	 "order: restart, of rollout r-1, under way\n"
	 "step s1 (configure), attempt 2: failed: no NIC\n"
	 "its agent was not heard since bringupd started\n"},
	{failed_reimage,
	 "node001 is failed (the ladder ran out; the reason is kept) for 3 s\n"
	 "its last order (reimage, of rollout r-1) failed: disk gone\n"
	 "after a repair bringup node retry node001 goes on with it; bringup "
	 "node rebuild node001 --grant wipe writes the whole disk\n"},
	{failed_install,
	 "node001 is failed (the ladder ran out; the reason is kept) for 3 s\n"
	 "its last order (install, of rollout r-1) failed: disk gone\n"
	 "after a repair bringup node retry node001 goes on with it\n"},
	{failed_at_a_disk,
	 "node001 is failed (the ladder ran out; the reason is kept) for 3 s\n"
	 "its last order (install, of rollout r-1) failed: disk gone\n"
	 "after a repair bringup node retry node001 goes on with it; a disk that is "
	 "not empty is refused each time: if what is on it may go, bringup node "
	 "rebuild node001 --grant wipe\n"
	 "step s1 (install), attempt 2: failed: disk /dev/vda is not empty (byte 510 "
	 "is 0x55) and wiping it was not granted; if what is on it may go, plan again "
	 "and apply with --grant wipe:NODE\n"},
	{failed_at_an_unnamed_disk,
	 "node001 is failed (the ladder ran out; the reason is kept) for 3 s\n"
	 "its last order (wipe, of rollout r-1) failed: disk gone\n"
	 "after a repair bringup node retry node001 goes on with it; a disk that is "
	 "not empty is refused each time: if what is on it may go, bringup node "
	 "rebuild node001 --grant wipe\n"
	 "step s1 (install), attempt 2: failed: disk /dev/vda is not empty (byte 510 "
	 "is 0x55) and wiping it was not granted; if what is on it may go, plan again "
	 "and apply with --grant wipe:NODE\n"},
	{failed_at_its_disk,
	 "node001 is failed (the ladder ran out; the reason is kept) for 3 s\n"
	 "its last order (wipe, of rollout r-1) failed: disk gone\n"
	 "after a repair bringup node retry node001 goes on with it\n"
	 "step s1 (install), attempt 2: failed: no space\n"},
	{parked_after_a_withdrawal,
	 "node001 is parked (out of the cluster until bringup node resume) for "
	 "3 s\n"
	 "its last order (wipe, of rollout r-1) was withdrawn: ann aborted its "
	 "rollout\n"},
	{quarantined_after_a_failure,
	 "node001 is quarantined (a check failed; the evidence is kept) for 3 "
	 "s\n"
	 "its last order (reimage, of rollout r-1) failed: disk gone\n"},
};

static int
is_frozen(void *arg, const struct bu_node *node)
{
	return frozen;
}

START_TEST(all_that_is_said_of_a_node)
{
	int bad = 0;

	rig_begin(&rig, 1);
	rig_pass(&rig, 4000 * 1000);
	bu_reconcile_set_freezer(rig.rec, &(struct bu_freezer){.frozen = is_frozen});
	now_ms = bu_wall_ms(&rig.clock);
	mono_ms = bu_mono_ms(&rig.clock);
	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct bu_node *node = bu_node_create("node001");
		bu_autofree char *says = NULL;

		node->since_ms = now_ms - 3000;
		node->live.in_profile = 1;
		node->live.clock_ms = mono_ms;
		frozen = 0;
		cases[i].be(node);
		says = rig_why(&rig, node);
		if (strcmp(says, cases[i].says) != 0) {
			bad++;
			printf("case %zu wants:\n%sis:\n%s", i + 1, cases[i].says,
			       says);
			fflush(stdout);
		}
		bu_node_destroy(node);
	}
	ck_assert_int_eq(bad, 0);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("why", all_that_is_said_of_a_node)
