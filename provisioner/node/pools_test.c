/* SPDX-License-Identifier: Apache-2.0 */
/* Two clusters in one site, and a node that goes from one pool to another: it leaves
 * the one with its jobs ended, and joins the other then. */
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "provisioner/node/reconcile.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

#define HPC "/etc/slurm/slurm.conf"
#define OTHER "/etc/other.conf"

static struct rig rig;
static struct bu_node *node;

static void
pass_s(int seconds)
{
	for (int i = 0; i < seconds; i++)
		rig_pass(&rig, 990);
}

/* Each slurmctld, named by its file, says of node001 what is in the file of its name
 * ("" = it has no such node), and what it is told goes into one log. */
static void
two_clusters(void)
{
	bu_autofree char *path = bu_xasprintf("%s/bin/scontrol", rig.dir);
	bu_autofree char *text = bu_xasprintf(
		"#!/bin/sh\ncd '%s'\nof=$(basename \"$SLURM_CONF\")\n"
		"case $2 in\n"
		"show)\n"
		"	read -r is <\"$of\"\n"
		"	if test -z \"$is\"; then echo No nodes in the system; exit; fi\n"
		"	case $is in *DRAIN*) why='Reason=bringup: leaves the cluster "
		"[root@2026-11-22T09:25:24]' ;; esac\n"
		"	case $is in MIXED*) cpus=1 ;; *) cpus=0 ;; esac\n"
		"	echo \"NodeName=node001 CPUAlloc=$cpus State=$is ThreadsPerCore=1 "
		"$why\"\n"
		"	;;\n"
		"*) echo \"$SLURM_CONF $*\" >>scontrol.log ;;\n"
		"esac\n",
		rig.dir);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0755, NULL), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
}

/* The cluster of the new pool is another one. */
static void
move(void)
{
	struct bu_err err = {0};

	rig_apply(&rig, 2, BU_CLASS_RESTART, "d1",
		  "[pool train]\nnodes = node[001-002]\n",
		  "[cluster other]\ndriver = slurm\ncontroller = 10.77.0.9:6817\n"
		  "slurm_conf = " OTHER "\n[pool serve]\nnodes = node001\n"
		  "hardware = vm\nimage = debian12\npower = libvirt\n"
		  "networks = boot, fabric\ncluster = other\nvalidation = pairs\n"
		  "[pool train]\nnodes = node002\n");
	ck_assert_msg(bu_reconcile_begin(rig.rec, node, &err) == 0, "%s", err.text);
}

START_TEST(a_node_of_another_pool_leaves_the_one_cluster_and_joins_the_other)
{
	bu_autofree char *before = NULL, *after = NULL, *told = NULL;

	rig_begin(&rig, 2);
	rig_to_validating(&rig, 1);
	rig_join(&rig, 1);
	node = rig_node(&rig, 1);
	before = rig_read(&rig, "power.log");
	two_clusters();
	rig_write(&rig, "scontrol.log", "");
	rig_write(&rig, "slurm.conf", "MIXED\n");
	rig_write(&rig, "other.conf", "\n");
	move();
	pass_s(2);
	told = rig_read(&rig, "scontrol.log");
	rig_text_has(told, HPC " update nodename=node001 state=drain");
	rig_write(&rig, "slurm.conf", "MIXED+DRAIN\n");
	/* Its jobs run, over a restart of bringupd, too. */
	pass_s(60);
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	pass_s(60);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	ck_assert_str_eq(node->joined->cluster, "hpc");
	free(bu_steal(&told));
	told = rig_read(&rig, "scontrol.log");
	ck_assert_ptr_null(strstr(told, OTHER));
	ck_assert_ptr_null(strstr(told, "delete"));
	/* They have ended; it is deleted in the one, and only then made in the other.
	 */
	rig_write(&rig, "slurm.conf", "IDLE+DRAIN\n");
	pass_s(15);
	free(bu_steal(&told));
	told = rig_read(&rig, "scontrol.log");
	rig_text_has(told, HPC " delete nodename=node001");
	ck_assert_ptr_null(strstr(told, OTHER));
	rig_write(&rig, "slurm.conf", "\n");
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	ck_assert_str_eq(node->joined->cluster, "");
	rig_answer(&rig, node, NULL);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_write(&rig, "other.conf", "IDLE\n");
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_READY);
	ck_assert_str_eq(node->joined->cluster, "other");
	ck_assert_str_eq(node->joined->handle, OTHER);
	/* Its machine has not restarted for that. */
	after = rig_read(&rig, "power.log");
	ck_assert_str_eq(after, before);
	rig_end(&rig);
}
END_TEST

/* A fault of the one is none of the other's nodes. */
START_TEST(each_cluster_is_asked_for_its_own_nodes)
{
	rig_begin(&rig, 2);
	for (int i = 1; i <= 2; i++) {
		rig_to_validating(&rig, i);
		rig_join(&rig, i);
	}
	node = rig_node(&rig, 1);
	two_clusters();
	rig_write(&rig, "slurm.conf", "\n");
	rig_write(&rig, "other.conf", "\n");
	move();
	rig_until_step(&rig, node, BU_ACTION_CONFIGURE, BU_STEP_OPEN);
	rig_answer(&rig, node, NULL);
	rig_until_step(&rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
	rig_write(&rig, "other.conf", "IDLE\n");
	rig_answer(&rig, node, NULL);
	rig_until(&rig, node, BU_STATE_READY);
	pass_s(30);
	/* hpc has lost node002; node001, which it does not have either, is well. */
	ck_assert_int_eq(node->state, BU_STATE_READY);
	ck_assert_int_eq(node->conditions[BU_CONDITION_NOT_IN_CLUSTER].on, 0);
	ck_assert_str_eq(rig_node(&rig, 2)->joined->cluster, "hpc");
	ck_assert(rig_node(&rig, 2)->state != BU_STATE_READY ||
		  rig_node(&rig, 2)->conditions[BU_CONDITION_NOT_IN_CLUSTER].on);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("pools", a_node_of_another_pool_leaves_the_one_cluster_and_joins_the_other,
	 each_cluster_is_asked_for_its_own_nodes)
