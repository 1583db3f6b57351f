/* SPDX-License-Identifier: Apache-2.0 */
/* The driver against a real slurmctld and munge, in namespaces of its own. */
#include "provisioner/cluster/cluster.h"

#include "base/file.h"
#include "tests/support/rig.h"
#include "tests/support/slurm_real.h"
#include "tests/support/unit.h"

struct ended {
	int times;
	struct bu_err err;
};

static void
on_end(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	struct ended *ended = arg;

	ended->times++;
	if (err)
		ended->err = *err;
}

static const struct bu_cluster_driver *
slurm(void)
{
	return bu_cluster_driver("slurm");
}

enum verb { LEAVE, GATE, RELABEL };

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
shows(const char *dir, const char *pattern)
{
	bu_autofree char *text = bu_xasprintf(
		"cd \"$1\"; SLURM_CONF=$1/slurm.conf scontrol -o show node node001 | "
		"grep -q '%s'",
		pattern);

	return run_script(text, dir) == 0;
}

static int
do_really(struct bu_loop *loop, struct bu_cluster *cluster, enum verb verb,
	  const char *features)
{
	struct bu_cluster_target target = {
		.member = {.name = "node001", .features = features},
		.deadline_ms = 20000};
	struct ended ended = {0};

	if (verb == RELABEL)
		slurm()->relabel(cluster, &target, on_end, &ended);
	else if (verb == GATE)
		slurm()->gate(cluster, &target, on_end, &ended);
	else
		slurm()->leave(cluster, &target, on_end, &ended);
	while (!ended.times)
		bu_loop_step(loop, 100);
	if (ended.err.kind)
		fprintf(stderr, "%s\n", ended.err.text);
	return ended.err.kind == BU_ERR_NONE;
}

/* HealthCheckProgram, as the client has it, before and after the node's certificate. */
static int
is_held_by_its_gate(const char *dir)
{
	static const char run[] =
		"mount -t tmpfs tmpfs /run; mkdir /run/bringup\n"
		"export SLURM_CONF=$1/slurm.conf SLURMD_NODENAME=node001\n"
		"touch " BU_CLUSTER_CERTIFIED "; \"$1\"/gate || exit 1\n"
		"scontrol -o show node node001 | grep DRAIN && exit 1\n"
		"rm " BU_CLUSTER_CERTIFIED "; ! \"$1\"/gate\n";
	const struct bu_cluster_site site = {.name = "c", .controller = "ctl:6817"};
	const struct bu_cluster_member member = {.name = "node001",
						 .address = "10.99.0.11"};
	bu_autofree char *path = bu_xasprintf("%s/gate", dir);
	struct bu_cluster_client client;
	int wrote = -1;

	if (slurm()->client(&site, &member, "key", 3, &client, NULL) != 0)
		return 0;
	for (size_t i = 0; i < client.files_count; i++)
		if (strcmp(client.files[i].path, "/usr/lib/bringup/slurm-gate") == 0)
			wrote = bu_file_write(path, client.files[i].content,
					      strlen(client.files[i].content),
					      client.files[i].mode, NULL);
	bu_cluster_client_fini(&client);
	return wrote == 0 && run_script(run, dir) == 0 &&
	       shows(dir, "DRAIN.*Reason=bringup: this boot has no certificate ");
}

/* As the driver does it in a long drain. slurmctld marks the node a while later. */
static const char reserve[] =
	"export SLURM_CONF=$1/slurm.conf\n"
	"scontrol create reservation reservationname=bringup-node001 nodes=node001 "
	"starttime=now duration=UNLIMITED flags=maint,ignore_jobs users=root\n"
	"for i in $(seq 60); do\n"
	"	scontrol -o show node node001 | grep -q +MAINTENANCE && exit 0; sleep 0.5\n"
	"done; exit 1\n";

/* In the words by which the driver knows that. */
static const char has_no_reservation[] =
	"SLURM_CONF=$1/slurm.conf scontrol delete reservationname=bringup-node001 2>&1 | "
	"grep 'Requested reservation is invalid'\n";

/* The driver in those namespaces; the exit status of a child. */
static int
talk_really(const char *dir)
{
	bu_autofree char *conf = bu_xasprintf("%s/slurm.conf", dir);
	struct bu_loop *loop = bu_loop_create(bu_clock_system());
	struct bu_cluster *cluster = slurm()->open(loop, conf, NULL, NULL);
	int good = is_held_by_its_gate(dir) &&
		   do_really(loop, cluster, RELABEL, "gold,lab") &&
		   shows(dir, "AvailableFeatures=gold,lab ActiveFeatures=gold,lab ") &&
		   run_script("SLURM_CONF=$1/slurm.conf scontrol update "
			      "nodename=node001 state=resume",
			      dir) == 0 &&
		   do_really(loop, cluster, GATE, NULL) &&
		   shows(dir, "DRAIN.*Reason=bringup: its machine restarts ") &&
		   run_script(reserve, dir) == 0 &&
		   do_really(loop, cluster, LEAVE, NULL) &&
		   run_script(has_no_reservation, dir) == 0 && !shows(dir, "NodeName");

	slurm()->close(cluster);
	bu_loop_destroy(loop);
	return !good;
}

START_TEST(a_real_slurmctld_is_told_and_left)
{
	BU_NEEDS("root", "/usr/sbin/slurmctld", "scontrol");
	in_namespaces(real_slurm, talk_really);
}
END_TEST

/* A slurmctld whose munge has the key of "a". slurm.conf of the driver: with a key of
 * its own ("b"), and of a munge that does not run ("c"). */
static const char munged[] =
	"set -e; cd \"$1\"; mount --make-rprivate /\n"
	"ip link set lo up; ip link add br0 type bridge\n"
	"ip addr add 10.99.0.1/24 dev br0; ip link set br0 up; hostname ctl\n"
	"printf '127.0.0.1 localhost\\n10.99.0.1 ctl\\n' >hosts\n"
	"mount --bind hosts /etc/hosts; mkdir state; chmod 0711 .\n"
	"for k in a b; do\n"
	"	mkdir $k; head -c 64 /dev/urandom >$k/key; chmod 0400 $k/key\n"
	"	munged --force --key-file=$1/$k/key --socket=$1/$k/socket \\\n"
	"		--pid-file=$1/$k/pid --log-file=$1/$k/log \\\n"
	"		--seed-file=$1/$k/seed --num-threads 1\n"
	"done\n"
	"for k in a b c; do cat >$k.conf <<END\n"
	"ClusterName=lab\nSlurmctldHost=ctl(10.99.0.1)\nSlurmUser=root\n"
	"SlurmdUser=root\nAuthType=auth/munge\nAuthInfo=socket=$1/$k/socket\n"
	"CredType=cred/none\nStateSaveLocation=$1/state\n"
	"SlurmctldPidFile=$1/slurmctld.pid\nProctrackType=proctrack/pgid\n"
	"TaskPlugin=task/none\nMpiDefault=none\nSelectType=select/cons_tres\n"
	"SelectTypeParameters=CR_Core\nMaxNodeCount=8\n"
	"NodeName=seed0 NodeAddr=10.99.0.9 State=FUTURE\n"
	"PartitionName=all Nodes=ALL Default=YES State=UP\nEND\n"
	"done\n"
	"SLURM_CONF=$1/a.conf slurmctld -D >slurmctld.log 2>&1 & echo $! >pid\n"
	"export SLURM_CONF=$1/a.conf\n"
	"for i in 1 2 3 4 5 6 7 8 9 10; do\n"
	"	scontrol ping 2>/dev/null | grep -q UP && break; sleep 0.5\n"
	"done\n";

static struct bu_err seen_err;
static int seen;

static void
on_seen(const struct bu_cluster_row *rows, size_t count, const struct bu_err *err,
	void *arg)
{
	seen++;
	seen_err = err ? *err : (struct bu_err){0};
}

/* words: "" = it answers. */
static int
says(const char *dir, const char *key, const char *words)
{
	bu_autofree char *conf = bu_xasprintf("%s/%s.conf", dir, key);
	struct bu_loop *loop = bu_loop_create(bu_clock_system());
	struct bu_cluster *cluster = slurm()->open(loop, conf, on_seen, NULL);

	seen = 0;
	slurm()->observe(cluster);
	while (!seen)
		bu_loop_step(loop, 100);
	slurm()->close(cluster);
	bu_loop_destroy(loop);
	if (*words ? strstr(seen_err.text, words) != NULL : !seen_err.kind)
		return 1;
	fprintf(stderr, "%s: '%s'\n", key, seen_err.text);
	return 0;
}

static int
talk_by_keys(const char *dir)
{
	int good = says(dir, "a", "") && says(dir, "b", "/etc/munge/munge.key") &&
		   says(dir, "c", "munge does not run");

	run_script("kill $(cat \"$1\"/a/pid \"$1\"/b/pid)", dir);
	return !good;
}

START_TEST(a_wrong_key_of_munge_is_named)
{
	BU_NEEDS("root", "/usr/sbin/slurmctld", "scontrol", "/usr/sbin/munged");
	in_namespaces(munged, talk_by_keys);
}
END_TEST

/* The programs of slurm.conf with a stand-in for bringup, which notes its arguments and
 * is busy the first time. Nodes of state=cloud need no slurmd for it. */
static const char saving[] =
	"set -e; cd \"$1\"; programs=" BU_SRCDIR "/packaging/slurm\n"
	"mount --make-rprivate /; mount -t tmpfs tmpfs /etc/default\n"
	"ip link set lo up; ip link add br0 type bridge\n"
	"ip addr add 10.99.0.1/24 dev br0; ip link set br0 up; hostname ctl\n"
	"printf '127.0.0.1 localhost\\n10.99.0.1 ctl\\n' >hosts\n"
	"mount --bind hosts /etc/hosts; mkdir state bin\n"
	"echo \"PATH=$1/bin:/usr/bin:/bin\" >/etc/default/bringup-slurm\n"
	"cat >bin/bringup <<END\n"
	"#!/bin/sh\n"
	"echo \"\\$*\" >>$1/calls\n"
	"case \\$3 in cycle) [ -e $1/serves ] || { touch $1/serves; exit 5; }; esac\n"
	"[ -e $1/busy ] || { touch $1/busy; exit 11; }\n"
	"END\n"
	"chmod +x bin/bringup\n"
	"cat >slurm.conf <<END\n"
	"ClusterName=lab\nSlurmctldHost=ctl(10.99.0.1)\nSlurmUser=root\n"
	"SlurmdUser=root\nAuthType=auth/none\nCredType=cred/none\n"
	"StateSaveLocation=$1/state\nSlurmctldPidFile=$1/slurmctld.pid\n"
	"ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nMpiDefault=none\n"
	"SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
	"MaxNodeCount=8\nPrivateData=cloud\nSuspendTime=600\nSuspendTimeout=1\n"
	"ResumeTimeout=4\nSuspendProgram=$programs/suspend\n"
	"ResumeProgram=$programs/resume\nResumeFailProgram=$programs/resume-failed\n"
	"SlurmctldParameters=power_save_interval=1,power_save_min_interval=0,"
	"idle_on_node_suspend\n"
	"NodeName=seed0 NodeAddr=10.99.0.9 State=FUTURE\n"
	"PartitionName=all Nodes=ALL Default=YES State=UP\nEND\n"
	"export SLURM_CONF=$1/slurm.conf\n"
	"slurmctld -D >slurmctld.log 2>&1 & echo $! >pid\n"
	"for i in 1 2 3 4 5 6 7 8 9 10; do\n"
	"	scontrol ping 2>/dev/null | grep -q UP && break; sleep 0.5\n"
	"done\n"
	"scontrol create nodename=node[001-002] nodeaddr=10.99.0.[11-12] state=cloud\n";

/* Waits until bringup was called so: 0 = it was. */
#define CALLED(line)                                                                   \
	"for i in $(seq 60); do grep -sqxF 'node power " line                          \
	"' \"$1\"/calls && break;"                                                     \
	" sleep 0.5; done; grep -qxF 'node power " line "' \"$1\"/calls || "           \
	"{ cat \"$1\"/calls >&2; exit 1; }\n"
#define REASON(op) " --reason slurmctld: power " op

static int
talk_of_power(const char *dir)
{
	static const char talk[] =
		"export SLURM_CONF=$1/slurm.conf\n"
		"scontrol update nodename=node[001-002] state=power_up\n" CALLED(
			"wake node[001-002]" REASON("wake"))
			CALLED("wake-failed node[001-002]" REASON(
				"wake-failed")) "scontrol update nodename=node[001-002] state=resume\n"
						"scontrol update nodename=node002 state=power_down_force\n" CALLED(
							"suspend node002" REASON(
								"suspend")) "test \"$(grep -c 'power wake node' \"$1\"/calls)\" = 2\n" BU_SRCDIR
									    "/packaging/slurm/reboot node001 gold\n" CALLED(
										    "cycle node001" REASON(
											    "cycle")) "test \"$(grep -c 'power cycle' \"$1\"/calls)\" = 2\n";

	return run_script(talk, dir);
}

START_TEST(slurmctld_switches_machines_through_bringup)
{
	BU_NEEDS("root", "/usr/sbin/slurmctld", "scontrol");
	in_namespaces(saving, talk_of_power);
}
END_TEST

RIG_UNIT("slurm_real", slurmctld_switches_machines_through_bringup,
	 a_real_slurmctld_is_told_and_left, a_wrong_key_of_munge_is_named)
