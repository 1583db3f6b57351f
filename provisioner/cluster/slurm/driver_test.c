/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver against a fake Slurm (scripts that stand first in PATH), and what it
 * tells about a node in service against a real slurmctld.
 */
#include <sys/stat.h>

#include "base/file.h"
#include "tests/support/slurm_desk.h"
#include "tests/support/unit.h"

/* Each row: what Slurm says before and after scontrol was told something. */
START_TEST(operations_end_as_the_cluster_says)
{
	static const struct {
		enum verb verb;
		const char *before, *after;
		const char *told, *detail;
	} rows[] = {
		{ADMIT, "idle\n", NULL, "", ""},
		{ADMIT, "drained\n", "idle\n", "update nodename=node001 state=resume\n",
		 ""},
		/* by slurmd's --conf, without a reason */
		{ADMIT, "IDLE+DRAIN+DYNAMIC_NORM\n", "idle\n",
		 "update nodename=node001 state=resume\n", ""},
		{ADMIT, "DOWN Node unexpectedly rebooted\n", "idle\n",
		 "update nodename=node001 state=resume\n", ""},
		/* the same drain, after it had died */
		{ADMIT, "IDLE+DRAIN Not responding\n", "idle\n",
		 "update nodename=node001 state=resume\n", ""},
		/* a long drain that was called off */
		{ADMIT, "IDLE+DRAIN+MAINTENANCE bringup: x\n", "idle\n",
		 "delete reservationname=bringup-node001\n", ""},
		/* an administrator has taken it over, or resumed the node */
		{ADMIT, "IDLE+DRAIN+MAINTENANCE DIMM A3\n", "IDLE+DRAIN DIMM A3\n",
		 "delete reservationname=bringup-node001\n",
		 "it stays drained by root: DIMM A3"},
		{ADMIT, "IDLE+MAINTENANCE\n", "idle\n",
		 "delete reservationname=bringup-node001\n", ""},
		/* of somebody else */
		{ADMIT, "IDLE+MAINTENANCE\n", NULL,
		 "delete reservationname=bringup-node001\n", ""},
		{LEAVE, "", NULL, "", ""},
		{LEAVE, "drained\n", "", "delete nodename=node001\n", ""},
		{LEAVE, "DOWN+NOT_RESPONDING Not responding\n", "",
		 "delete nodename=node001\n", ""},
		/* An administrator who resumes it finds it gone, and no job gets in. */
		{LEAVE_DRAINED, "IDLE+DRAIN DIMM A3\n", "", "delete nodename=node001\n",
		 "it was drained by root: DIMM A3"},
		{ADMIT_DRAINED, "drained\n", "IDLE+DRAIN DIMM A3\n",
		 "update nodename=node001 state=drain reason=DIMM A3\n",
		 "it stays drained by root: DIMM A3"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct desk desk;
		struct ended ended;

		begin(&desk, rows[i].before);
		if (rows[i].after)
			rig_write(&desk.rig, "sinfo.next", rows[i].after);
		begin_op(desk.cluster, rows[i].verb, "node001", &ended);
		ck_assert_int_eq(ended.times, 0);
		until_ended(&desk, &ended);
		ck_assert_msg(ended.err.kind == BU_ERR_NONE, "row %zu: %s", i,
			      ended.err.text);
		ck_assert_told(&desk, rows[i].told);
		ck_assert_str_eq(ended.detail, rows[i].detail);
		end(&desk);
	}
}
END_TEST

/* "DIMM A3" was resumed by the next join. */
START_TEST(an_administrators_drain_is_neither_resumed_nor_overwritten)
{
	static const char *const rows[] = {"IDLE+DRAIN DIMM A3\n", "DOWN psu\n",
					   "IDLE+DRAIN Not responding to IPMI\n",
					   "IDLE+DYNAMIC_NORM+FAIL weak\n"};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct desk desk;
		struct ended ended;

		begin(&desk, rows[i]);
		begin_op(desk.cluster, ADMIT, "node001", &ended);
		until_ended(&desk, &ended);
		ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
		rig_text_has(ended.detail, "it stays drained by root: ");
		/* Nor does leaving make it forgotten, whether it will come back or not:
		 * first the log has it. */
		begin_op(desk.cluster, LEAVE, "node001", &ended);
		until_ended(&desk, &ended);
		ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
		rig_text_has(rows[i], ended.drained);
		ck_assert_int_gt(strlen(ended.drained), 0);
		ck_assert_told(&desk, "");
		end(&desk);
	}
}
END_TEST

START_TEST(less_than_configured_is_an_error)
{
	struct desk desk;
	struct ended ended;

	begin(&desk, "inval\n");
	begin_op(desk.cluster, ADMIT, "node001", &ended);
	until_ended(&desk, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_REMOTE);
	rig_text_has(ended.err.text, "scontrol show node node001");
	ck_assert_told(&desk, "");
	end(&desk);
}
END_TEST

START_TEST(a_node_that_does_not_come_is_late)
{
	struct desk desk;
	struct ended ended;

	begin(&desk, "down*\n");
	begin_op(desk.cluster, ADMIT, "node001", &ended);
	until_ended(&desk, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(ended.err.text,
			 "Slurm says 'DOWN+NOT_RESPONDING' for node001; see sinfo -R");
	ck_assert_told(&desk, "");
	end(&desk);
}
END_TEST

START_TEST(an_idle_node_is_drained_then_deleted)
{
	struct desk desk;
	struct ended ended;
	bu_autofree char *log = NULL;

	begin(&desk, "mixed\n");
	rig_write(&desk.rig, "sinfo.next", "draining\n");
	rig_write(&desk.rig, "squeue",
		  "node[001,004]|12 (alice)\nnode001|17 (bob)\nnode002|18 (eve)\n");
	begin_op(desk.cluster, LEAVE, "node001", &ended);
	pass(&desk, 20000);
	ck_assert_int_eq(ended.times, 0); /* its jobs still run */
	ck_assert_str_eq(ended.words, "Slurm: draining; jobs 12 (alice), 17 (bob)");
	ck_assert_told(&desk, "update nodename=node001 state=drain reason=bringup: "
			      "leaves the cluster\n");
	/* Suspended: no CPU is allocated to it, and it is there. */
	rig_write(&desk.rig, "sinfo.next", "");
	rig_write(&desk.rig, "sinfo", "drained\n");
	rig_write(&desk.rig, "squeue", "node001|17 (bob)\n");
	pass(&desk, 20000);
	ck_assert_int_eq(ended.times, 0);
	rig_write(&desk.rig, "squeue", "node002|18 (eve)\n");
	until_ended(&desk, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	log = told(&desk);
	rig_text_has(log, "\ndelete nodename=node001\n");
	end(&desk);
}
END_TEST

/* "left" is only said of a node that the cluster, asked, does not know. */
START_TEST(no_answer_is_not_taken_for_left)
{
	static const char *const rows[] = {
		"slurm_load_node error: Unable to contact slurm controller\n", ""};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct desk desk;
		struct ended ended;

		begin(&desk, "");
		rig_write(&desk.rig, "slurm.fail", rows[i]);
		begin_op(desk.cluster, LEAVE, "node001", &ended);
		pass(&desk, 60000);
		ck_assert_int_eq(ended.times, 0);
		rig_text_has(ended.words, "Slurm: 'scontrol' ended with 1");
		rig_remove(&desk.rig, "slurm.fail");
		until_ended(&desk, &ended);
		ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
		end(&desk);
	}
}
END_TEST

static void
script(const struct rig *rig, const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/bin/%s", rig->dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0755, NULL), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
}

START_TEST(its_configuration_is_handed_on_and_its_errors_are_waited_out)
{
	struct desk desk;
	struct ended ended;
	bu_autofree char *text = NULL, *asked = NULL;

	begin(&desk, "");
	text = bu_xasprintf("#!/bin/sh\necho \"$SLURM_CONF $*\" >'%s/asked'\n"
			    "echo no slurmctld >&2\nexit 1\n",
			    desk.rig.dir);
	script(&desk.rig, "scontrol", text);
	begin_op(desk.cluster, ADMIT, "node001", &ended);
	until_ended(&desk, &ended);
	asked = rig_read(&desk.rig, "asked");
	ck_assert_str_eq(asked, "/etc/paper.conf -o show node\n");
	ck_assert_int_eq(ended.err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(ended.err.text, "Slurm, about node001: 'scontrol' ended with "
					 "1: no slurmctld");
	ck_assert_int_ne(desk.error.kind, BU_ERR_NONE);
	end(&desk);
}
END_TEST

/* Who leaves has no deadline: a person must see what it waits for. */
START_TEST(what_slurm_refuses_is_told_while_it_is_tried_again)
{
	struct desk desk;
	struct ended ended;

	begin(&desk, "drained\n");
	rig_write(&desk.rig, "slurm.refuse", "static nodes stay\n");
	begin_op(desk.cluster, LEAVE, "node001", &ended);
	pass(&desk, 5000);
	ck_assert_int_eq(ended.times, 0);
	rig_text_has(ended.words, "static nodes stay");
	end(&desk);
}
END_TEST

START_TEST(a_cancelled_operation_is_silent)
{
	struct desk desk;
	struct ended ended;
	struct bu_cluster_op *op;

	begin(&desk, "idle\n");
	script(&desk.rig, "scontrol", "#!/bin/sh\nsleep 60\n");
	op = begin_op(desk.cluster, ADMIT, "node001", &ended);
	slurm()->cancel(op); /* before it has looked */
	op = begin_op(desk.cluster, ADMIT, "node001", &ended);
	desk.rig.hanging = 1;
	pass(&desk, 500);
	slurm()->cancel(op); /* while it looks */
	pass(&desk, 5000);
	ck_assert_int_eq(ended.times, 0);
	end(&desk);
}
END_TEST

/* Each row: what is shown before, what is wanted, what scontrol is told. */
START_TEST(features_are_told_where_they_differ)
{
	static const struct {
		const char *shown, *wanted, *told;
	} rows[] = {
		{"AvailableFeatures=a,b X=1\n", "a,b", ""},
		{"AvailableFeatures=a,b X=1\n", "a",
		 "update nodename=node001 availablefeatures=a activefeatures=a\n"},
		/* as long, and another one */
		{"AvailableFeatures=a,b X=1\n", "a,c",
		 "update nodename=node001 availablefeatures=a,c activefeatures=a,c\n"},
		{"AvailableFeatures=(null) X=1\n", NULL, ""},
		{"AvailableFeatures=a X=1\n", NULL,
		 "update nodename=node001 availablefeatures= activefeatures=\n"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_cluster_target target = {.member.name = "node001",
						   .deadline_ms = 20000,
						   .member.features = rows[i].wanted};
		struct ended ended = {0};
		struct desk desk;

		begin(&desk, "idle\n");
		rig_write(&desk.rig, "features.node001", rows[i].shown);
		slurm()->relabel(desk.cluster, &target, on_end, &ended);
		until_ended(&desk, &ended);
		ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
		ck_assert_told(&desk, rows[i].told);
		end(&desk);
	}
}
END_TEST

START_TEST(a_node_that_slurm_does_not_know_is_not_relabelled)
{
	struct ended ended;
	struct desk desk;

	begin(&desk, "");
	begin_op(desk.cluster, RELABEL, "node001", &ended);
	until_ended(&desk, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(ended.err.text, "Slurm, about node001: it knows no such node");
	end(&desk);
}
END_TEST

/* One process for all of them, and one word of scontrol. */
START_TEST(many_nodes_are_one_question_and_one_batch)
{
	struct desk desk;
	struct ended ended[8];
	bu_autofree char *log = NULL;

	begin(&desk, "idle\n");
	rig_write(&desk.rig, "sinfo.next", "drained\n");
	for (int i = 0; i < 8; i++) {
		char name[16];

		snprintf(name, sizeof(name), "node%03d", i + 1);
		begin_op(desk.cluster, LEAVE, name, &ended[i]);
	}
	pass(&desk, 1000);
	ck_assert_int_eq(desk.seen, 2);
	log = told(&desk);
	ck_assert_str_eq(log, "update nodename=node001,node002,node003,node004,node005,"
			      "node006,node007,node008 state=drain reason=bringup: "
			      "leaves the cluster\n");
	rig_write(&desk.rig, "sinfo.next", "");
	for (int i = 0; i < 8; i++)
		until_ended(&desk, &ended[i]);
	free(log);
	log = told(&desk);
	rig_text_has(log, "\ndelete nodename=node001,node002,node003,node004,node005,"
			  "node006,node007,node008\n");
	ck_assert_int_le(desk.seen, 5);
	end(&desk);
}
END_TEST

/* What one word would say wrong of another goes out by itself. */
START_TEST(a_batch_is_of_those_that_want_the_same)
{
	struct bu_cluster_target other = {
		.member = {.name = "node003", .features = "b"}, .deadline_ms = 20000};
	struct desk desk;
	struct ended ended[3] = {0};
	bu_autofree char *log = NULL;

	begin(&desk, "idle\n");
	rig_write(&desk.rig, "slurm.node002", "drained\n");
	begin_op(desk.cluster, LEAVE, "node001", &ended[0]);
	begin_op(desk.cluster, ADMIT, "node002", &ended[1]);
	slurm()->relabel(desk.cluster, &other, on_end, &ended[2]);
	until_ended(&desk, &ended[2]);
	log = told(&desk);
	rig_text_has(log, "update nodename=node001 state=drain reason=");
	rig_text_has(log, "update nodename=node002 state=resume\n");
	rig_text_has(log, "update nodename=node003 availablefeatures=b "
			  "activefeatures=b\n");
	end(&desk);
}
END_TEST

/* What stands behind a zero byte would be missing. */
START_TEST(an_answer_with_a_zero_byte_is_none)
{
	struct desk desk;

	begin(&desk, "idle\n");
	script(&desk.rig, "scontrol",
	       "#!/bin/sh\nprintf 'NodeName=node001 State=IDLE X=1\\n\\0'\n");
	slurm()->observe(desk.cluster);
	pass(&desk, 2000);
	ck_assert_int_eq(desk.seen, 1);
	ck_assert_int_eq(desk.error.kind, BU_ERR_REMOTE);
	ck_assert_uint_eq(desk.count, 0);
	end(&desk);
}
END_TEST

/* slurmctld refuses all names of a call for one that it does not know. */
START_TEST(a_refused_batch_goes_out_one_by_one)
{
	struct desk desk;
	struct ended ended[2];
	bu_autofree char *text = NULL;

	begin(&desk, "drained\n");
	text = bu_xasprintf(
		"#!/bin/sh\ncd '%s'\n"
		"if test \"$2\" = show; then\n"
		"	for n in 1 2; do test -e gone.node00$n ||\n"
		"		echo NodeName=node00$n CPUAlloc=0 State=IDLE+DRAIN "
		"ThreadsPerCore=1; done\n"
		"	test ! -e gone.node001 || test ! -e gone.node002 ||\n"
		"		echo No nodes in the system\n"
		"	exit 0\n"
		"fi\n"
		"case $2 in *,*) echo Invalid node name >&2; exit 1 ;; esac\n"
		": >gone.${2#*=}\n",
		desk.rig.dir);
	script(&desk.rig, "scontrol", text);
	begin_op(desk.cluster, LEAVE, "node001", &ended[0]);
	begin_op(desk.cluster, LEAVE, "node002", &ended[1]);
	for (int i = 0; i < 2; i++) {
		until_ended(&desk, &ended[i]);
		ck_assert_int_eq(ended[i].err.kind, BU_ERR_NONE);
	}
	end(&desk);
}
END_TEST

START_TEST(the_observer_is_told_of_each_answer)
{
	struct desk desk;

	begin(&desk, "idle\n");
	pass(&desk, 5000);
	ck_assert_int_eq(desk.seen, 0);
	slurm()->observe(desk.cluster);
	slurm()->observe(desk.cluster);
	pass(&desk, 5000);
	ck_assert_int_eq(desk.seen, 1);
	ck_assert_uint_eq(desk.count, 8);
	rig_write(&desk.rig, "slurm.fail", "no\n");
	slurm()->observe(desk.cluster);
	pass(&desk, 5000);
	ck_assert_int_eq(desk.seen, 2);
	ck_assert_uint_eq(desk.count, 0);
	ck_assert_int_ne(desk.error.kind, BU_ERR_NONE);
	end(&desk);
}
END_TEST

RIG_UNIT("slurm", operations_end_as_the_cluster_says,
	 an_administrators_drain_is_neither_resumed_nor_overwritten,
	 less_than_configured_is_an_error, a_node_that_does_not_come_is_late,
	 an_idle_node_is_drained_then_deleted, no_answer_is_not_taken_for_left,
	 its_configuration_is_handed_on_and_its_errors_are_waited_out,
	 what_slurm_refuses_is_told_while_it_is_tried_again,
	 a_cancelled_operation_is_silent, features_are_told_where_they_differ,
	 a_node_that_slurm_does_not_know_is_not_relabelled,
	 many_nodes_are_one_question_and_one_batch, an_answer_with_a_zero_byte_is_none,
	 a_refused_batch_goes_out_one_by_one, a_batch_is_of_those_that_want_the_same,
	 the_observer_is_told_of_each_answer)
