/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Acceptances in a real slurmctld, with a slurmd for each of two nodes, in namespaces
 * of their own.
 */
#include <string.h>

#include "provisioner/cluster/cluster.h"
#include "tests/support/rig.h"
#include "tests/support/slurm_real.h"
#include "tests/support/unit.h"

static const char two_nodes[] =
	"set -e; cd \"$1\"; mount --make-rprivate /; mount -t tmpfs tmpfs /run\n"
	"ip link set lo up; ip link add br0 type bridge\n"
	"ip addr add 10.99.0.1/24 dev br0; ip link set br0 up; hostname ctl\n"
	"printf '127.0.0.1 localhost\\n10.99.0.1 ctl\\n10.99.0.11 node001\\n"
	"10.99.0.12 node002\\n' >hosts\n"
	"mount --bind hosts /etc/hosts; mkdir state\n"
	"cat >slurm.conf <<END\n"
	"ClusterName=lab\nSlurmctldHost=ctl(10.99.0.1)\nSlurmUser=root\n"
	"SlurmdUser=root\nAuthType=auth/none\nCredType=cred/none\n"
	"StateSaveLocation=$1/state\nSlurmctldPidFile=$1/slurmctld.pid\n"
	"SlurmdPidFile=$1/slurmd.%n.pid\nSlurmdSpoolDir=$1/spool.%n\n"
	"ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nMpiDefault=none\n"
	"SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\n"
	"SlurmdParameters=config_overrides\nReturnToService=2\n"
	"NodeName=node001 NodeAddr=10.99.0.11 CPUs=1\n"
	"NodeName=node002 NodeAddr=10.99.0.12 CPUs=1\n"
	"PartitionName=all Nodes=ALL Default=YES State=UP\nEND\n"
	"echo CgroupPlugin=cgroup/v1 >cgroup.conf\n"
	"export SLURM_CONF=$1/slurm.conf\n"
	"slurmctld -D >slurmctld.log 2>&1 & echo $! >pid\n"
	"for i in 1 2; do\n"
	"	mkdir -p spool.node00$i; ip netns add n$i\n"
	"	ip link add v$i type veth peer name e0 netns n$i\n"
	"	ip link set v$i master br0 up; ip -n n$i link set lo up\n"
	"	ip -n n$i addr add 10.99.0.1$i/24 dev e0; ip -n n$i link set e0 up\n"
	"	ip netns exec n$i unshare -u sh -c \"hostname node00$i;\n"
	"		exec slurmd -D -N node00$i -d $(readlink -f $(command -v slurmstepd))\" \\\n"
	"		>slurmd.$i.log 2>&1 & echo $! >>pid\n"
	"done\n"
	"for i in $(seq 40); do\n"
	"	[ \"$(sinfo -h -t idle -o %D)\" = 2 ] && break; sleep 0.5\n"
	"done; [ \"$(sinfo -h -t idle -o %D)\" = 2 ]\n"
	"scontrol update nodename=node[001-002] state=drain reason='bringup: joins'\n";

struct ended {
	int times;
	struct bu_err err;
	char detail[240];
};

static void
on_end(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	struct ended *ended = arg;

	ended->times++;
	ended->err = err ? *err : (struct bu_err){0};
	snprintf(ended->detail, sizeof(ended->detail), "%s", done->detail);
}

static void
on_words(const char *text, void *arg)
{
}

/* The driver's waits pass ten times as fast as Slurm's. */
static int64_t
fast_ms(const struct bu_clock *clock)
{
	return bu_clock_system()->mono_ms(bu_clock_system()) * 10;
}

static const struct bu_cluster_driver *
slurm(void)
{
	return bu_cluster_driver("slurm");
}

static void
admit_both(const char *dir, const char *command, const char *const once[2],
	   struct ended ended[2])
{
	static const char *const names[] = {"node001", "node002"};
	bu_autofree char *conf = bu_xasprintf("%s/slurm.conf", dir);
	struct bu_clock clock = *bu_clock_system();
	struct bu_cluster *cluster;
	int64_t until_ms = fast_ms(&clock) + 600000;
	struct bu_loop *loop;

	clock.mono_ms = fast_ms;
	loop = bu_loop_create(&clock);
	cluster = slurm()->open(loop, conf, NULL, NULL);
	memset(ended, 0, 2 * sizeof(*ended));
	for (int i = 0; i < 2; i++) {
		struct bu_cluster_acceptance acceptance = {.command = command,
							   .least = 4,
							   .limit_ms = 600000,
							   .once = once[i]};
		struct bu_cluster_target target = {.member = {.name = names[i]},
						   .acceptance = &acceptance,
						   .deadline_ms = 60000,
						   .words = on_words};

		slurm()->admit(cluster, &target, on_end, &ended[i]);
	}
	while (bu_mono_ms(&clock) < until_ms && !(ended[0].times && ended[1].times))
		bu_loop_step(loop, 100);
	slurm()->close(cluster);
	bu_loop_destroy(loop);
	for (int i = 0; i < 2; i++)
		fprintf(stderr, "%s: %d '%s' '%s'\n", names[i], ended[i].times,
			ended[i].err.text, ended[i].detail);
}

static int
is_so(const char *dir, const char *script)
{
	bu_autofree char *text = bu_xasprintf(
		"export SLURM_CONF=$1/slurm.conf; for i in $(seq 20); do %s && exit 0;"
		" sleep 0.5; done; scontrol -o show node >&2; exit 1",
		script);

	return run_script(text, dir) == 0;
}

#define NO_RESERVATION "scontrol show reservation | grep -q '^No reservations'"

static int
both_good(const char *dir)
{
	static const char *const once[] = {"node001.1.join", "node002.2.join"};
	struct ended ended[2];

	admit_both(dir,
		   "srun -l sh -c 'echo $SLURM_PROCID' | wc -l | sed s/$/.5/; echo 4.5",
		   once, ended);
	return ended[0].times == 1 && ended[1].times == 1 && !ended[0].err.kind &&
	       !ended[1].err.kind && strstr(ended[0].detail, "4.5, at least 4") &&
	       strstr(ended[1].detail, "on node[001-002]") &&
	       is_so(dir, NO_RESERVATION) &&
	       is_so(dir, "! scontrol -o show node | grep -q DRAIN");
}

static int
one_bad(const char *dir)
{
	static const char *const once[] = {"node001.3.join", "node002.4.join"};
	struct ended ended[2];

	run_script("SLURM_CONF=$1/slurm.conf scontrol update nodename=node[001-002] "
		   "state=drain reason='bringup: joins'",
		   dir);
	admit_both(dir, "srun sh -c 'test $SLURMD_NODENAME != node002' && echo 5", once,
		   ended);
	return ended[0].times == 1 && ended[1].times == 1 && !ended[0].err.kind &&
	       ended[1].err.kind == BU_ERR_VERIFY &&
	       strstr(ended[1].err.text, "on node002: exit status 1") &&
	       is_so(dir, NO_RESERVATION) &&
	       is_so(dir, "scontrol -o show node node002 | "
			  "grep -q 'DRAIN.*Reason=bringup: not accepted'") &&
	       is_so(dir, "! scontrol -o show node node001 | grep -q DRAIN");
}

static int
talk(const char *dir)
{
	return !(both_good(dir) && one_bad(dir));
}

START_TEST(a_job_of_both_comes_first_and_the_bad_one_is_named)
{
	BU_NEEDS("root", "/usr/sbin/slurmctld", "scontrol", "sbatch", "slurmd");
	in_namespaces(two_nodes, talk);
}
END_TEST

RIG_UNIT("slurm_accept_real", a_job_of_both_comes_first_and_the_bad_one_is_named)
