/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver against a Slurm of paper (scripts that stand first in PATH), and what it
 * tells about a node in service against a real slurmctld.
 */
#include "provisioner/cluster/slurm.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "provisioner/cluster/cluster.h"
#include "tests/support/unit.h"
#include "tests/support/world.h"

START_TEST(words_of_sinfo)
{
	static const struct {
		const char *text;
		enum bu_slurm_view view;
	} rows[] = {
		{"", BU_SLURM_UNKNOWN},           {"idle", BU_SLURM_TAKING},
		{"idle*", BU_SLURM_UNKNOWN},      {"down*", BU_SLURM_UNKNOWN},
		{"mixed", BU_SLURM_TAKING},       {"allocated+", BU_SLURM_TAKING},
		{"completing", BU_SLURM_TAKING},  {"planned", BU_SLURM_TAKING},
		{"reserved", BU_SLURM_TAKING},    {"maint", BU_SLURM_TAKING},
		{"drained", BU_SLURM_DRAINED},    {"draining", BU_SLURM_DRAINING},
		{"draining@", BU_SLURM_DRAINING}, {"drained*", BU_SLURM_UNKNOWN},
		{"down", BU_SLURM_DRAINED},       {"inval", BU_SLURM_INVALID},
		{"future", BU_SLURM_UNKNOWN},     {"error: no", BU_SLURM_UNKNOWN},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_slurm_view(rows[i].text) == rows[i].view, "'%s'",
			      rows[i].text);
}
END_TEST

struct ended {
	int times;
	struct bu_err err;
	char words[400];
};

static void
on_end(const struct bu_err *err, void *arg)
{
	struct ended *ended = arg;

	ended->times++;
	memset(&ended->err, 0, sizeof(ended->err));
	if (err)
		ended->err = *err;
}

static void
on_words(const char *text, void *arg)
{
	struct ended *ended = arg;

	snprintf(ended->words, sizeof(ended->words), "%s", text);
}

static struct bu_cluster_op *
begin_op(struct rig *rig, int admit, struct ended *ended)
{
	const struct bu_cluster_driver *driver = bu_cluster_driver("slurm");
	struct bu_cluster_target target = {.conf = "/etc/paper.conf",
					   .node = "node001",
					   .deadline_ms = admit ? 20000 : 0,
					   .words = on_words};

	memset(ended, 0, sizeof(*ended));
	return (admit ? driver->admit : driver->leave)(rig->loop, &target, on_end,
						       ended);
}

static void
until_ended(struct rig *rig, const struct ended *ended)
{
	for (int i = 0; i < 4000 && !ended->times; i++)
		rig_pass(rig, i % 20 ? 1 : 500);
	ck_assert_int_eq(ended->times, 1);
}

/* Until it has ended; turns of half a second. Returns what scontrol was told; owned. */
static char *
run_op(struct rig *rig, int admit, const char *sinfo, const char *next,
       struct ended *ended)
{
	rig_begin(rig, 0);
	rig_write(rig, "sinfo", sinfo);
	if (next)
		rig_write(rig, "sinfo.next", next);
	begin_op(rig, admit, ended);
	ck_assert_int_eq(ended->times, 0);
	until_ended(rig, ended);
	return rig_read(rig, "scontrol.log");
}

START_TEST(an_idle_node_is_admitted)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = run_op(&rig, 1, "idle\nidle\n", NULL, &ended);

	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	ck_assert_str_eq(told, "");
	rig_end(&rig);
}
END_TEST

START_TEST(a_drained_node_is_resumed)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = run_op(&rig, 1, "drained\n", "idle\n", &ended);

	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	ck_assert_str_eq(told, "update nodename=node001 state=resume\n");
	rig_end(&rig);
}
END_TEST

START_TEST(less_than_configured_is_an_error)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = run_op(&rig, 1, "inval\n", NULL, &ended);

	ck_assert_int_eq(ended.err.kind, BU_ERR_REMOTE);
	ck_assert_ptr_nonnull(strstr(ended.err.text, "scontrol show node node001"));
	ck_assert_str_eq(told, "");
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_that_does_not_come_is_late)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = run_op(&rig, 1, "down*\n", NULL, &ended);

	ck_assert_int_eq(ended.err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(ended.err.text,
			 "Slurm says 'down*' for node001; see sinfo -R");
	ck_assert_str_eq(told, "");
	rig_end(&rig);
}
END_TEST

START_TEST(an_idle_node_is_drained_then_deleted)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = NULL;

	rig_begin(&rig, 0);
	rig_write(&rig, "sinfo", "mixed\n");
	rig_write(&rig, "sinfo.next", "draining\n");
	rig_write(&rig, "squeue", "12 (alice)\n17 (bob)\n");
	begin_op(&rig, 0, &ended);
	for (int i = 0; i < 200; i++)
		rig_pass(&rig, i % 20 ? 1 : 500);
	ck_assert_int_eq(ended.times, 0); /* its jobs still run */
	ck_assert_str_eq(ended.words, "Slurm: draining; jobs 12 (alice), 17 (bob)");
	told = rig_read(&rig, "scontrol.log");
	ck_assert_str_eq(told, "update nodename=node001 state=drain reason=bringup: "
			       "leaves the cluster\n");
	rig_write(&rig, "sinfo.next", "");
	rig_write(&rig, "sinfo", "drained\n");
	until_ended(&rig, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	free(told);
	told = rig_read(&rig, "scontrol.log");
	ck_assert_ptr_nonnull(strstr(told, "\ndelete nodename=node001\n"));
	rig_end(&rig);
}
END_TEST

START_TEST(who_is_not_there_has_left)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *told = run_op(&rig, 0, "", NULL, &ended);

	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	ck_assert_str_eq(told, "");
	rig_end(&rig);
}
END_TEST

static void
sinfo_script(const struct rig *rig, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/bin/sinfo", rig->dir);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0755, NULL), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
}

START_TEST(its_configuration_is_handed_on_and_its_errors_are_waited_out)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *script = NULL, *asked = NULL;

	rig_begin(&rig, 0);
	script = bu_xasprintf("#!/bin/sh\necho \"$SLURM_CONF $*\" >'%s/asked'\n"
			      "echo no slurmctld >&2\nexit 1\n",
			      rig.dir);
	sinfo_script(&rig, script);
	begin_op(&rig, 1, &ended);
	until_ended(&rig, &ended);
	asked = rig_read(&rig, "asked");
	ck_assert_str_eq(asked, "/etc/paper.conf -h -N -o %T -n node001\n");
	ck_assert_int_eq(ended.err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(ended.err.text,
			 "Slurm, about node001: 'sinfo' ended with 1: no slurmctld");
	rig_end(&rig);
}
END_TEST

/* Who leaves has no deadline: a person must see what it waits for. */
START_TEST(what_slurm_refuses_is_told_while_it_is_tried_again)
{
	struct rig rig;
	struct ended ended;
	bu_autofree char *path = NULL;
	struct bu_cluster_op *op;
	static const char script[] = "#!/bin/sh\necho static nodes stay >&2\nexit 1\n";

	rig_begin(&rig, 0);
	rig_write(&rig, "sinfo", "drained\n");
	path = bu_xasprintf("%s/bin/scontrol", rig.dir);
	ck_assert_int_eq(bu_file_write(path, script, strlen(script), 0755, NULL), 0);
	op = begin_op(&rig, 0, &ended);
	for (int i = 0; i < 2000 && !ended.words[0]; i++)
		rig_pass(&rig, i % 20 ? 1 : 500);
	ck_assert_int_eq(ended.times, 0);
	ck_assert_ptr_nonnull(strstr(ended.words, "static nodes stay"));
	bu_cluster_driver("slurm")->cancel(op);
	rig_end(&rig);
}
END_TEST

START_TEST(a_cancelled_operation_is_silent)
{
	struct rig rig;
	struct ended ended;
	struct bu_cluster_op *op;

	rig_begin(&rig, 0);
	sinfo_script(&rig, "#!/bin/sh\nsleep 60\n");
	op = begin_op(&rig, 1, &ended);
	bu_cluster_driver("slurm")->cancel(op); /* before it has looked */
	rig.hanging = 1;
	op = begin_op(&rig, 1, &ended);
	for (int i = 0; i < 5; i++)
		rig_pass(&rig, 1);
	bu_cluster_driver("slurm")->cancel(op); /* while it looks */
	for (int i = 0; i < 50; i++)
		rig_pass(&rig, 500);
	ck_assert_int_eq(ended.times, 0);
	rig_end(&rig);
}
END_TEST

/* Each row: what is shown before, what is wanted, what scontrol is told. */
START_TEST(features_are_told_where_they_differ)
{
	static const struct {
		const char *shown, *wanted, *told;
	} rows[] = {
		{" AvailableFeatures=a,b X=1\n", "a,b", ""},
		{" AvailableFeatures=a,b X=1\n", "a",
		 "update nodename=node001 availablefeatures=a activefeatures=a\n"},
		{" AvailableFeatures=(null) X=1\n", NULL, ""},
		{" AvailableFeatures=a X=1\n", NULL,
		 "update nodename=node001 availablefeatures= activefeatures=\n"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_cluster_target target = {.conf = "/etc/paper.conf",
						   .node = "node001",
						   .deadline_ms = 20000,
						   .features = rows[i].wanted};
		struct ended ended = {0};
		struct rig rig;
		bu_autofree char *told = NULL;

		rig_begin(&rig, 0);
		rig_write(&rig, "features.node001", rows[i].shown);
		bu_cluster_driver("slurm")->relabel(rig.loop, &target, on_end, &ended);
		until_ended(&rig, &ended);
		ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
		told = rig_read(&rig, "scontrol.log");
		ck_assert_str_eq(told, rows[i].told);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_node_that_slurm_does_not_know_is_not_relabelled)
{
	struct bu_cluster_target target = {.conf = "/etc/paper.conf",
					   .node = "node001",
					   .deadline_ms = 5000,
					   .features = "a"};
	struct ended ended = {0};
	struct rig rig;

	rig_begin(&rig, 0);
	bu_cluster_driver("slurm")->relabel(rig.loop, &target, on_end, &ended);
	until_ended(&rig, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_TIMEOUT);
	ck_assert_ptr_nonnull(
		strstr(ended.err.text, "Slurm, about node001: 'scontrol' ended with"));
	rig_end(&rig);
}
END_TEST

START_TEST(nodes_with_jobs_are_told_as_sets)
{
	static const char *const rows[][2] = {
		{"", ""},
		{"\n\n", ""},
		{"node001\n", "node001"},
		{"node[001-004]\n\nnode007,node[010-011]\nnode001",
		 "node[001-004],node007,node[010-011],node001"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_cluster_target target = {.conf = "/etc/paper.conf",
						   .words = on_words};
		struct ended ended = {.words = "?"};
		struct rig rig;

		rig_begin(&rig, 0);
		rig_write(&rig, "squeue", rows[i][0]);
		bu_cluster_driver("slurm")->busy(rig.loop, &target, on_end, &ended);
		until_ended(&rig, &ended);
		ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
		ck_assert_str_eq(ended.words, rows[i][1]);
		rig_end(&rig);
	}
}
END_TEST

/* Nothing is said, rather than that nobody has jobs. */
START_TEST(jobs_that_cannot_be_asked_for_are_an_error)
{
	struct bu_cluster_target target = {.conf = "/etc/paper.conf",
					   .words = on_words};
	struct ended ended = {.words = "?"};
	struct rig rig;

	rig_begin(&rig, 0);
	rig_remove(&rig, "squeue"); /* the script fails then */
	bu_cluster_driver("slurm")->busy(rig.loop, &target, on_end, &ended);
	until_ended(&rig, &ended);
	ck_assert_int_ne(ended.err.kind, BU_ERR_NONE);
	ck_assert_str_eq(ended.words, "?");
	rig_end(&rig);
}
END_TEST

/* --- a real slurmctld, in namespaces of its own --- */

/* With a name and an address besides loopback, which it needs; the node is one that
 * needs no slurmd to be looked at. */
static const char real_slurm[] =
	"set -e; cd \"$1\"\n"
	"ip link set lo up; ip link add br0 type bridge\n"
	"ip addr add 10.99.0.1/24 dev br0; ip link set br0 up; hostname ctl\n"
	"printf '127.0.0.1 localhost\\n10.99.0.1 ctl\\n' >hosts\n"
	"mount --bind hosts /etc/hosts; mkdir state\n"
	"cat >slurm.conf <<END\n"
	"ClusterName=lab\nSlurmctldHost=ctl(10.99.0.1)\nSlurmUser=root\n"
	"SlurmdUser=root\nAuthType=auth/none\nCredType=cred/none\n"
	"StateSaveLocation=$1/state\nSlurmctldPidFile=$1/slurmctld.pid\n"
	"ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nMpiDefault=none\n"
	"SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
	"MaxNodeCount=8\nPrivateData=cloud\n"
	"NodeName=seed0 NodeAddr=10.99.0.9 State=FUTURE\n"
	"PartitionName=all Nodes=ALL Default=YES State=UP\nEND\n"
	"export SLURM_CONF=$1/slurm.conf\n"
	"slurmctld -D >slurmctld.log 2>&1 & echo $! >pid\n"
	"for i in 1 2 3 4 5 6 7 8 9 10; do\n"
	"	scontrol ping 2>/dev/null | grep -q UP && break; sleep 0.5\n"
	"done\n"
	"scontrol create nodename=node001 state=cloud cpus=2 feature=old,lab\n";

static int
run_script(const char *script, const char *dir)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		execlp("sh", "sh", "-c", script, "sh", dir, (char *)NULL);
		_exit(127);
	}
	return waitpid(child, &status, 0) == child && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : -1;
}

/* The driver in those namespaces; the exit status of a child. */
static int
relabel_really(const char *dir)
{
	bu_autofree char *conf = bu_xasprintf("%s/slurm.conf", dir);
	struct bu_cluster_target target = {.conf = conf,
					   .node = "node001",
					   .deadline_ms = 20000,
					   .features = "gold,lab"};
	struct bu_loop *loop = bu_loop_create(bu_clock_system());
	struct ended ended = {0}, asked = {.words = "?"};

	bu_cluster_driver("slurm")->relabel(loop, &target, on_end, &ended);
	while (!ended.times)
		bu_loop_step(loop, 100);
	target.words = on_words;
	bu_cluster_driver("slurm")->busy(loop, &target, on_end, &asked);
	while (!asked.times)
		bu_loop_step(loop, 100);
	bu_loop_destroy(loop);
	if (ended.err.kind || asked.err.kind)
		fprintf(stderr, "%s; %s\n", ended.err.text, asked.err.text);
	return ended.err.kind == BU_ERR_NONE && asked.err.kind == BU_ERR_NONE &&
			       asked.words[0] == '\0' &&
			       run_script("cd \"$1\"; SLURM_CONF=$1/slurm.conf "
					  "scontrol -o show node node001 | grep -q "
					  "'AvailableFeatures=gold,lab "
					  "ActiveFeatures=gold,lab '",
					  dir) == 0
		       ? 0
		       : 1;
}

START_TEST(a_real_slurmctld_is_told_the_features)
{
	char dir[] = "/tmp/bringup-slurm-XXXXXX";
	pid_t child;
	int status;

	if (geteuid() != 0) {
		puts("no namespaces without root: the real slurmctld is not asked");
		return;
	}
	ck_assert_ptr_nonnull(mkdtemp(dir));
	child = fork();
	if (child == 0) {
		int rc = 1;

		/* slurmctld outlives the script that starts it */
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		if (unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS) == 0 &&
		    run_script("mount --make-rprivate /", dir) == 0 &&
		    run_script(real_slurm, dir) == 0)
			rc = relabel_really(dir);
		run_script("kill $(cat \"$1\"/pid)", dir);
		while (wait(NULL) > 0)
			;
		if (rc != 0)
			run_script("cat \"$1\"/slurmctld.log >&2", dir);
		_exit(rc);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0,
		      "the child's status is %#x", (unsigned int)status);
}
END_TEST

START_TEST(an_unknown_driver_is_none)
{
	ck_assert_ptr_nonnull(bu_cluster_driver("slurm"));
	ck_assert_ptr_null(bu_cluster_driver("pbs"));
}
END_TEST

RIG_UNIT("slurm", words_of_sinfo, an_idle_node_is_admitted, a_drained_node_is_resumed,
	 less_than_configured_is_an_error, a_node_that_does_not_come_is_late,
	 an_idle_node_is_drained_then_deleted, who_is_not_there_has_left,
	 its_configuration_is_handed_on_and_its_errors_are_waited_out,
	 what_slurm_refuses_is_told_while_it_is_tried_again,
	 a_cancelled_operation_is_silent, features_are_told_where_they_differ,
	 a_node_that_slurm_does_not_know_is_not_relabelled,
	 nodes_with_jobs_are_told_as_sets, jobs_that_cannot_be_asked_for_are_an_error,
	 a_real_slurmctld_is_told_the_features, an_unknown_driver_is_none)
