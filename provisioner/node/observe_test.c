/* SPDX-License-Identifier: Apache-2.0 */
/* `ready` is looked at again: agents that fall silent, clusters that lose nodes, drains
 * of others. And a node speaks to the cluster that it has joined. */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/node/verbs.h"
#include "tests/support/quoted.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

static void
pass_s(struct rig *rig, int seconds)
{
	for (int i = 0; i < seconds; i++)
		rig_pass(rig, 990);
}

static int
is_on(const struct bu_node *node, enum bu_condition_id id)
{
	return node->conditions[id].on;
}

/* Seconds until it is so; -1 = not within 40. */
static int
seconds_until(struct rig *rig, const struct bu_node *node, enum bu_condition_id id,
	      int on)
{
	for (int i = 0; i <= 40; i++) {
		if (is_on(node, id) == on)
			return i;
		pass_s(rig, 1);
	}
	return -1;
}

static struct bu_node *
ready(struct rig *rig)
{
	struct bu_node *node = rig_up_to(rig, RIG_READY);

	pass_s(rig, 40);
	for (int id = 0; id < BU_CONDITION_COUNT; id++)
		ck_assert_msg(!node->conditions[id].on, "%s",
			      bu_condition_info(id)->name);
	return node;
}

static char *
power_log(const struct rig *rig)
{
	return rig_read(rig, "power.log");
}

START_TEST(a_destroyed_machine_is_said_to_be_unreachable_within_30_s)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	bu_autofree char *before = power_log(&rig), *after = NULL;
	bu_autofree char *why = rig_why(&rig, node);
	int seconds;

	/* Where nothing is asked of it, only that it is silent is worth a word. */
	ck_assert_ptr_null(strstr(why, "its agent was"));
	rig.silent = 1U << 1;
	pass_s(&rig, 20);
	ck_assert_int_eq(is_on(node, BU_CONDITION_UNREACHABLE), 0);
	seconds = seconds_until(&rig, node, BU_CONDITION_UNREACHABLE, 1);
	ck_assert_int_ge(seconds, 0);
	ck_assert_int_le(20 + seconds, 30);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_int_eq(bu_node_is_away_by_condition(node), 1);
	rig_why_says(&rig, node, "but unreachable: its agent does not answer, for ");
	/* A silent agent alone never causes a power action. */
	pass_s(&rig, 1000);
	after = power_log(&rig);
	ck_assert_str_eq(after, before);
	rig.silent = 0;
	ck_assert_int_le(seconds_until(&rig, node, BU_CONDITION_UNREACHABLE, 0), 2);
	rig_end(&rig);
}
END_TEST

/* Somebody put another disk in, or chose another one in the firmware. */
START_TEST(a_ready_node_that_boots_another_system_is_said_to_have_done_so)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	bu_autoinventory struct bu_inventory *other = rig_inventory(1, "boot-other");
	bu_autofree char *before = power_log(&rig), *after = NULL;
	bu_autojson json_t *body =
		json_pack("{s:s,s:s,s:s}", "kind", "stamp", "step", "node001.0.install",
			  "machine", node->machine);
	bu_autojson json_t *stamp = bu_trust_sign(rig.trust, body, NULL);

	ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, stamp,
					    other, NULL),
			 -1);
	pass_s(&rig, 2);
	ck_assert_int_eq(is_on(node, BU_CONDITION_STAMP_DIFFERS), 1);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_int_eq(bu_node_is_away_by_condition(node), 1);
	rig_text_has(rig_sentence(node->conditions[BU_CONDITION_STAMP_DIFFERS].detail),
		     "the stamp is of step node001.0.install");
	after = power_log(&rig);
	ck_assert_str_eq(after, before);
	rig_restart(&rig); /* what the log has stays until its agent says otherwise */
	node = rig_node(&rig, 1);
	pass_s(&rig, 2);
	ck_assert_int_eq(is_on(node, BU_CONDITION_STAMP_DIFFERS), 1);
	/* Its own disk again. */
	rig_come_up(&rig, 1, "boot-own");
	pass_s(&rig, 2);
	ck_assert_int_eq(is_on(node, BU_CONDITION_STAMP_DIFFERS), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(after_a_start_of_bringupd_everybody_has_30_s)
{
	struct rig rig;
	int seconds;

	ready(&rig);
	rig.silent = 1U << 1;
	rig_restart(&rig);
	pass_s(&rig, 27);
	ck_assert_int_eq(is_on(rig_node(&rig, 1), BU_CONDITION_UNREACHABLE), 0);
	seconds = seconds_until(&rig, rig_node(&rig, 1), BU_CONDITION_UNREACHABLE, 1);
	ck_assert_int_ge(seconds, 0);
	ck_assert_int_le(seconds, 5);
	rig_end(&rig);
}
END_TEST

/* bringupd was stopped, or its machine slept: nobody was silent for that. */
START_TEST(time_in_which_bringupd_slept_is_nobodys_silence)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);

	rig.silent = 1U << 1;
	rig_pass(&rig, 3600 * 1000);
	ck_assert_int_eq(is_on(node, BU_CONDITION_UNREACHABLE), 0);
	ck_assert_int_eq(is_on(node, BU_CONDITION_CLUSTER_SILENT), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(an_agent_at_work_is_not_missed_before_the_works_deadline)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);

	rig.silent = 1U << 1;
	bu_reconcile_busy(rig.rec, node, 60000);
	pass_s(&rig, 55);
	ck_assert_int_eq(is_on(node, BU_CONDITION_UNREACHABLE), 0);
	ck_assert_int_ge(seconds_until(&rig, node, BU_CONDITION_UNREACHABLE, 1), 0);
	rig.silent = 0;
	pass_s(&rig, 2);
	bu_reconcile_busy(rig.rec, node, 60000);
	bu_reconcile_busy(rig.rec, node, 0); /* it asks for work again */
	rig.silent = 1U << 1;
	ck_assert_int_le(seconds_until(&rig, node, BU_CONDITION_UNREACHABLE, 1), 30);
	rig_end(&rig);
}
END_TEST

START_TEST(a_slurmctld_that_is_down_is_said_within_30_s_and_moves_nobody)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	int seconds;

	rig_write(&rig, "slurm.fail", "Unable to contact slurm controller\n");
	seconds = seconds_until(&rig, node, BU_CONDITION_CLUSTER_SILENT, 1);
	ck_assert_int_ge(seconds, 0);
	ck_assert_int_le(seconds, 30);
	rig_text_has(rig_sentence(node->conditions[BU_CONDITION_CLUSTER_SILENT].detail),
		     "hpc: 'scontrol' ended with 1: Unable to contact");
	pass_s(&rig, 600);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_int_eq(is_on(node, BU_CONDITION_NOT_IN_CLUSTER), 0);
	rig_remove(&rig, "slurm.fail");
	seconds = seconds_until(&rig, node, BU_CONDITION_CLUSTER_SILENT, 0);
	ck_assert_int_ge(seconds, 0);
	ck_assert_int_le(seconds, 25);
	rig_end(&rig);
}
END_TEST

/* From lost to ready again; the agent starts the cluster's client anew. */
static void
comes_back(struct rig *rig, struct bu_node *node, const char *sinfo)
{
	rig_write(rig, "sinfo", sinfo);
	for (int i = 0; i < 30 && node->state == BU_STATE_READY; i++)
		pass_s(rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_until_step(rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	ck_assert_int_eq(bu_reconcile_wants_agent(node), 1);
	rig_why_says(rig, node, "its agent was ");
	rig_joins(rig, node);
	ck_assert_str_eq(node->joined->cluster, "hpc");
}

START_TEST(a_node_that_slurmctld_lost_is_back_without_a_hand)
{
	static const char *const rows[] = {"", "down*\n", "IDLE+DRAIN+DYNAMIC_NORM\n"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct bu_node *node = ready(&rig);
		bu_autofree char *before = power_log(&rig), *after = NULL;

		comes_back(&rig, node, rows[i]);
		after = power_log(&rig);
		ck_assert_str_eq(after, before);
		/* And not again and again: once a minute at most. */
		rig_write(&rig, "sinfo", rows[i]);
		pass_s(&rig, 25);
		ck_assert_int_eq(node->state, BU_STATE_READY);
		ck_assert_int_eq(is_on(node, BU_CONDITION_NOT_IN_CLUSTER), 1);
		pass_s(&rig, 40);
		ck_assert_int_eq(node->state, BU_STATE_JOINING);
		ck_assert_int_eq(is_on(node, BU_CONDITION_NOT_IN_CLUSTER), 0);
		rig_end(&rig);
	}
}
END_TEST

/* What it was proven for holds; the new rail is measured at its next boot. */
START_TEST(a_node_that_was_lost_comes_back_though_its_pool_was_given_a_rail)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);

	rig_give_rails(&rig, 1, 2);
	ck_assert_int_eq(bu_fleet_certified(rig.fleet, node, NULL), -1);
	comes_back(&rig, node, "");
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

/* Nobody could start the cluster's client on it. */
START_TEST(a_lost_node_with_a_silent_agent_stays_as_it_is_and_says_so)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);

	rig.silent = 1U << 1;
	pass_s(&rig, 30);
	rig_write(&rig, "sinfo", "");
	ck_assert_int_ge(seconds_until(&rig, node, BU_CONDITION_NOT_IN_CLUSTER, 1), 0);
	ck_assert_str_eq(
		rig_sentence(node->conditions[BU_CONDITION_NOT_IN_CLUSTER].detail),
		"hpc does not know it");
	pass_s(&rig, 100);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_int_eq(is_on(node, BU_CONDITION_UNREACHABLE), 1);
	/* A start of bringupd is no sign of life: nobody was heard. */
	rig_restart(&rig);
	for (int i = 0; i < 60; i++) {
		node = rig_node(&rig, 1);
		ck_assert_int_eq(node->state, BU_STATE_READY);
		ck_assert_int_eq(is_on(node, BU_CONDITION_UNREACHABLE), 1);
		pass_s(&rig, 1);
	}
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_that_does_not_respond_is_said_to_be_so)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);

	rig_write(&rig, "sinfo", "IDLE+DYNAMIC_NORM+NOT_RESPONDING\n");
	ck_assert_int_ge(seconds_until(&rig, node, BU_CONDITION_NOT_IN_CLUSTER, 1), 0);
	ck_assert_str_eq(
		rig_sentence(node->conditions[BU_CONDITION_NOT_IN_CLUSTER].detail),
		"hpc says IDLE+DYNAMIC_NORM+NOT_RESPONDING");
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_write(&rig, "sinfo", "idle\n");
	ck_assert_int_ge(seconds_until(&rig, node, BU_CONDITION_NOT_IN_CLUSTER, 0), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(an_administrators_drain_is_said_until_it_is_resumed)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	bu_autofree char *told = NULL;
	int seconds;

	rig_write(&rig, "slurm.node001", "MIXED+DRAIN DIMM A3\n");
	seconds = seconds_until(&rig, node, BU_CONDITION_DRAINED_BY_OTHER, 1);
	ck_assert_int_ge(seconds, 0);
	ck_assert_int_le(seconds, 30);
	ck_assert_str_eq(
		rig_sentence(node->conditions[BU_CONDITION_DRAINED_BY_OTHER].detail),
		"DIMM A3 (root)");
	ck_assert_int_eq(is_on(node, BU_CONDITION_NOT_IN_CLUSTER), 0);
	pass_s(&rig, 300);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	told = rig_read(&rig, "scontrol.log");
	ck_assert_str_eq(told, "");
	rig_write(&rig, "slurm.node001", "idle\n");
	ck_assert_int_ge(seconds_until(&rig, node, BU_CONDITION_DRAINED_BY_OTHER, 0),
			 0);
	rig_end(&rig);
}
END_TEST

static struct bu_node *
begin_order(struct rig *rig, enum bu_class class, const char *from, const char *to)
{
	struct bu_node *node = rig_node(rig, 1);
	struct bu_err err = {0};

	rig_apply(rig, 1, class, "d1", from, to);
	ck_assert_msg(bu_reconcile_begin(rig->rec, node, &err) == 0, "%s", err.text);
	return node;
}

/* At the next join it was resumed, and its reason forgotten. It does not stay known to
 * Slurm meanwhile: who resumes it then would give it jobs. */
START_TEST(an_administrators_drain_survives_reboot_and_restart)
{
	static const enum bu_class rows[] = {BU_CLASS_RESTART, BU_CLASS_REBOOT};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct rig rig;
		struct bu_node *node = ready(&rig);
		bu_autofree char *told = NULL;
		const char *cluster;
		json_t *reason;

		rig_write(&rig, "slurm.node001", "IDLE+DRAIN DIMM A3\n");
		ck_assert_int_ge(
			seconds_until(&rig, node, BU_CONDITION_DRAINED_BY_OTHER, 1), 0);
		rig_write(&rig, "slurm.node001.next", "\n");
		begin_order(&rig, rows[i], NULL, NULL);
		rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
		rig_restart(&rig);
		node = rig_node(&rig, 1);
		json_object_foreach (node->drained, cluster, reason)
			ck_assert_str_eq(json_string_value(reason), "DIMM A3");
		ck_assert_uint_eq(json_object_size(node->drained), 1);
		rig_write(&rig, "slurm.node001", "drained\n");
		rig_write(&rig, "slurm.node001.next", "IDLE+DRAIN DIMM A3\n");
		rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
		rig_answer(&rig, node, NULL);
		if (rows[i] == BU_CLASS_REBOOT) {
			rig_until_step(&rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
			rig_come_up(&rig, 1, "boot-again");
			rig_certify(&rig, 1);
			rig_fire(&rig, node, BU_TRIGGER_PROVEN);
		}
		rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
		rig_joins(&rig, node);
		ck_assert_int_eq(node->order->open, 0);
		ck_assert_int_ge(
			seconds_until(&rig, node, BU_CONDITION_DRAINED_BY_OTHER, 1), 0);
		told = rig_read(&rig, "scontrol.log");
		ck_assert_str_eq(
			told, "delete nodename=node001\n"
			      "update nodename=node001 state=drain reason=DIMM A3\n");
		ck_assert_uint_eq(json_object_size(node->drained), 0);
		rig_end(&rig);
	}
}
END_TEST

/* A machine that is said to be replaced, one that works in another cluster meanwhile:
 * in the cluster that it was drained in it comes up drained. */
START_TEST(an_administrators_drain_outlives_what_is_for_good)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	bu_autofree char *cluster = bu_xstrdup(node->joined->cluster);
	const struct bu_verb_ask replace = {.verb = BU_VERB_REPLACE, .by = "ann"};
	bu_autofree char *said = NULL;
	struct bu_event events[2];

	rig_write(&rig, "slurm.node001", "IDLE+DRAIN DIMM A3\n");
	ck_assert_int_ge(seconds_until(&rig, node, BU_CONDITION_DRAINED_BY_OTHER, 1),
			 0);
	rig_write(&rig, "slurm.node001.next", "\n");
	said = bu_verb_run(rig.rec, node, &replace, NULL);
	ck_assert_ptr_nonnull(said);
	rig_until(&rig, node, BU_STATE_ENROLLED);
	ck_assert_str_eq(bu_json_str(node->drained, cluster, ""), "DIMM A3");
	row_init(&events[0], BU_EVENT_INTENT, node->name,
		 json_pack("{s:s,s:s}", "step", "s", "action", "join"));
	row_init(&events[1], BU_EVENT_OUTCOME, node->name,
		 json_pack("{s:s,s:s,s:{s:s,s:s}}", "step", "s", "result", "done",
			   "joined", "cluster", "another", "node", "node001"));
	bu_reconcile_note(rig.rec, events, 2);
	rig_pass(&rig, 1);
	ck_assert_str_eq(node->joined->cluster, "another");
	ck_assert_str_eq(bu_json_str(node->drained, cluster, ""), "DIMM A3");
	rig_end(&rig);
}
END_TEST

/* The cluster of /etc/new.conf knows no node; that of every other file knows node001,
 * as `old` says. */
static void
two_clusters(struct rig *rig, const char *old)
{
	bu_autofree char *path = bu_xasprintf("%s/bin/scontrol", rig->dir);
	bu_autofree char *text =
		bu_xasprintf("#!/bin/sh\ncd '%s'\n"
			     "case $2 in\n"
			     "show)\n"
			     "	read -r old <old\n"
			     "	if test -z \"$old\" || test \"$SLURM_CONF\" = "
			     "/etc/new.conf; then\n"
			     "		echo No nodes in the system; exit\n"
			     "	fi\n"
			     "	echo \"NodeName=node001 CPUAlloc=1 State=$old "
			     "ThreadsPerCore=1\"\n"
			     "	;;\n"
			     "*) echo \"$SLURM_CONF $*\" >>scontrol.log ;;\n"
			     "esac\n",
			     rig->dir);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0755, NULL), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
	rig_write(rig, "old", old);
}

/* The new one knows no such node; that was taken for "left", and the machine was power
 * cycled with jobs running. */
START_TEST(a_node_leaves_the_cluster_that_it_joined_not_the_one_of_the_profile)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	bu_autofree char *before = power_log(&rig), *after = NULL, *told = NULL;

	ck_assert_str_eq(node->joined->handle, "/etc/slurm/slurm.conf");
	two_clusters(&rig, "MIXED\n");
	begin_order(&rig, BU_CLASS_WIPE, "driver = slurm",
		    "driver = slurm\nslurm_conf = /etc/new.conf");
	pass_s(&rig, 60);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	after = power_log(&rig);
	ck_assert_str_eq(after, before);
	told = rig_read(&rig, "scontrol.log");
	rig_text_has(told, "/etc/slurm/slurm.conf update nodename=node001 state=drain");
	ck_assert_ptr_null(strstr(told, "/etc/new.conf"));
	/* That holds over a restart of bringupd, too. */
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_str_eq(node->joined->handle, "/etc/slurm/slurm.conf");
	pass_s(&rig, 60);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	rig_write(&rig, "old", "\n");
	rig_until(&rig, node, BU_STATE_INSPECTING);
	ck_assert_str_eq(node->joined->cluster, "");
	rig_end(&rig);
}
END_TEST

START_TEST(labels_go_to_the_cluster_that_it_joined)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	bu_autofree char *told = NULL;

	two_clusters(&rig, "MIXED\n");
	begin_order(&rig, BU_CLASS_RELABEL, "driver = slurm",
		    "driver = slurm\nslurm_conf = /etc/new.conf");
	pass_s(&rig, 5);
	told = rig_read(&rig, "scontrol.log");
	rig_text_has(told, "/etc/slurm/slurm.conf update nodename=node001 "
			   "availablefeatures=rxe,lab");
	ck_assert_ptr_null(strstr(told, "/etc/new.conf"));
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

/* It came back from a reboot of its own after its profile's cluster had changed. */
START_TEST(a_node_that_joins_another_cluster_leaves_the_first_one_first)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);
	bu_autofree char *told = NULL;

	rig_apply(&rig, 1, BU_CLASS_NONE, "d1", "driver = slurm",
		  "driver = slurm\nslurm_conf = /etc/new.conf");
	two_clusters(&rig, "IDLE+DRAIN\n");
	rig_come_up(&rig, 1, "boot-again");
	rig_certify(&rig, 1);
	rig_fire(&rig, node, BU_TRIGGER_PROVEN);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_answer(&rig, node, NULL);
	pass_s(&rig, 20);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	ck_assert_str_eq(node->joined->handle, "/etc/slurm/slurm.conf");
	told = rig_read(&rig, "scontrol.log");
	ck_assert_str_eq(told, ""); /* jobs of the first one are not over */
	rig_end(&rig);
}
END_TEST

/* Its pool joins none any more, before its turn came to leave the one that it is in. */
START_TEST(a_node_that_was_lost_joins_nothing_where_its_pool_joins_none)
{
	struct rig rig;
	struct bu_node *node = ready(&rig);

	rig_apply(&rig, 1, BU_CLASS_NONE, "d1", "cluster = hpc\n", "");
	rig_write(&rig, "sinfo", "");
	for (int i = 0; i < 30 && node->state == BU_STATE_READY; i++)
		pass_s(&rig, 1);
	ck_assert_int_eq(node->state, BU_STATE_JOINING);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_READY);
	ck_assert_str_eq(node->joined->cluster, "");
	ck_assert_int_eq(node->hold->owner, BU_OWNER_NONE);
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_in_no_cluster_has_left_at_once)
{
	struct rig rig;
	struct bu_node *node;

	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", "cluster = hpc\n", "");
	rig_to_validating(&rig, 1);
	rig_join(&rig, 1);
	node = rig_node(&rig, 1);
	ck_assert_str_eq(node->joined->cluster, "");
	/* By now its pool has one; slurmctld is down. */
	rig_write(&rig, "slurm.fail", "no\n");
	begin_order(&rig, BU_CLASS_RESTART, NULL, NULL);
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	rig_end(&rig);
}
END_TEST

START_TEST(a_join_that_names_no_cluster_is_damaged)
{
	struct rig rig;
	struct bu_node *node;
	struct bu_event event;
	struct bu_err err = {0};

	rig_begin(&rig, 1);
	node = rig_node(&rig, 1);
	bu_node_order(node)->open = 1;
	row_init(&event, BU_EVENT_INTENT, "node001",
		 quoted("{'step':'j','action':'join'}"));
	ck_assert_int_eq(bu_fleet_replay(rig.fleet, &event, NULL), 0);
	bu_event_fini(&event);
	row_init(&event, BU_EVENT_OUTCOME, "node001",
		 quoted("{'step':'j','result':'done'}"));
	json_object_del(event.body, "joined");
	ck_assert_int_eq(bu_fleet_replay(rig.fleet, &event, &err), -1);
	rig_text_has(err.text, "(outcome): joined: missing");
	ck_assert_int_eq(node->step.status, BU_STEP_OPEN);
	bu_event_fini(&event);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("observe", a_destroyed_machine_is_said_to_be_unreachable_within_30_s,
	 a_ready_node_that_boots_another_system_is_said_to_have_done_so,
	 after_a_start_of_bringupd_everybody_has_30_s,
	 time_in_which_bringupd_slept_is_nobodys_silence,
	 an_agent_at_work_is_not_missed_before_the_works_deadline,
	 a_slurmctld_that_is_down_is_said_within_30_s_and_moves_nobody,
	 a_node_that_slurmctld_lost_is_back_without_a_hand,
	 a_node_that_was_lost_comes_back_though_its_pool_was_given_a_rail,
	 a_lost_node_with_a_silent_agent_stays_as_it_is_and_says_so,
	 a_node_that_does_not_respond_is_said_to_be_so,
	 an_administrators_drain_is_said_until_it_is_resumed,
	 an_administrators_drain_survives_reboot_and_restart,
	 an_administrators_drain_outlives_what_is_for_good,
	 a_node_leaves_the_cluster_that_it_joined_not_the_one_of_the_profile,
	 labels_go_to_the_cluster_that_it_joined,
	 a_node_that_joins_another_cluster_leaves_the_first_one_first,
	 a_node_that_was_lost_joins_nothing_where_its_pool_joins_none,
	 a_node_in_no_cluster_has_left_at_once, a_join_that_names_no_cluster_is_damaged)
