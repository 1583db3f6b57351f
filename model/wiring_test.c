/* SPDX-License-Identifier: Apache-2.0 */
/* Wirings, and what schedulers make of them; a real slurmctld, where there is one,
 * judges its topology.conf in namespaces of this test. */
#include "model/wiring.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

/* Two rails; four nodes on two leaves of each rail. */
static void
fill(struct bu_wiring *wiring)
{
	memset(wiring, 0, sizeof(*wiring));
	for (int i = 4; i >= 1; i--) {
		bu_autofree char *node = bu_xasprintf("gpu%03d", i);
		bu_autofree char *port =
			bu_xasprintf("leaf%02d:swp%d", i <= 2 ? 1 : 2, i);

		bu_wiring_add(wiring, node, "rail1", 1, i <= 2 ? "leaf11" : "leaf12",
			      "swp9");
		bu_wiring_add_text(wiring, node, "rail0", 0, port);
	}
	bu_wiring_sort(wiring);
}

START_TEST(reads_what_it_wrote)
{
	struct bu_wiring a, b;
	bu_autojson json_t *value = NULL, *again = NULL;
	struct bu_err err = {0};

	fill(&a);
	bu_wiring_add_domain(&a, "gpu001", "8c3c.1");
	bu_wiring_add_uplink(&a, "leaf01", "spine01");
	bu_wiring_add_rack(&a, "cpu001", "r7");
	ck_assert_str_eq(a.wires[0].node, "gpu001");
	ck_assert_str_eq(a.wires[0].sw, "leaf01");
	ck_assert_str_eq(a.wires[0].port, "swp1");
	value = bu_wiring_to_json(&a);
	ck_assert_msg(bu_wiring_from_json(value, &b, &err) == 0, "%s", err.text);
	again = bu_wiring_to_json(&b);
	ck_assert(json_equal(value, again));
	bu_wiring_fini(&a);
	bu_wiring_fini(&b);
}
END_TEST

/* -1: none; the greatest that a topology has room for. */
START_TEST(rails_have_bounds)
{
	for (int rail = -2; rail <= 64; rail++) {
		bu_autojson json_t *value = json_pack(
			"{s:i,s:[{s:s,s:s,s:s,s:s,s:i}]}", "v", 1, "wires", "node", "a",
			"network", "f", "switch", "s", "port", "", "rail", rail);
		struct bu_wiring wiring;
		struct bu_err err = {0};
		int rc = bu_wiring_from_json(value, &wiring, &err);

		ck_assert_msg(rc == (rail < -1 || rail > 63 ? -1 : 0), "%d: %s", rail,
			      err.text);
		if (rc == 0)
			bu_wiring_fini(&wiring);
	}
}
END_TEST

START_TEST(nothing_is_believed)
{
	static const char *const bad[][2] = {
		{"[]", "version 1"},
		{"{\"v\":2}", "version 1"},
		{"{\"v\":1,\"wires\":{}}", "field 'wires'"},
		{"{\"v\":1,\"wires\":[{}]}", "wires[0]: field 'node'"},
		{"{\"v\":1,\"wires\":[{\"node\":\"a\",\"network\":\"f\",\"switch\":"
		 "\"\","
		 "\"port\":\"\",\"rail\":0}]}",
		 "field 'switch'"},
		{"{\"v\":1,\"wires\":[{\"node\":\"a\",\"network\":\"f\",\"switch\":"
		 "\"s\","
		 "\"port\":\"\",\"rail\":64}]}",
		 "field 'rail'"},
		{"{\"v\":1,\"wires\":[{\"node\":\"a\\n\",\"network\":\"f\",\"switch\":"
		 "\"s\",\"port\":\"\",\"rail\":0}]}",
		 "printable"},
		{"{\"v\":1,\"domains\":[{\"node\":\"a\"}]}", "field 'domain'"},
		{"{\"v\":1,\"uplinks\":[7]}", "uplinks[0]"},
	};

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		bu_autojson json_t *value = json_loads(bad[i][0], 0, NULL);
		struct bu_wiring wiring;
		struct bu_err err = {0};

		ck_assert_int_eq(bu_wiring_from_json(value, &wiring, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strstr(err.text, bad[i][1]), "%s", err.text);
	}
}
END_TEST

static const char tree[] =
	"# Made by bringup from the cabling; TopologyPlugin=topology/tree.\n"
	"SwitchName=leaf01 Nodes=gpu001,gpu002\n"
	"SwitchName=leaf02 Nodes=gpu003,gpu004\n"
	"SwitchName=fabric Switches=leaf01,leaf02\n";

START_TEST(a_tree_for_slurm)
{
	struct bu_wiring wiring;
	bu_autofree char *conf = NULL, *tiers = NULL, *yaml = NULL;

	fill(&wiring);
	conf = bu_wiring_slurm_conf(&wiring, NULL, NULL);
	ck_assert_str_eq(conf, tree);
	bu_wiring_add_uplink(&wiring, "leaf01", "spine a");
	bu_wiring_add_uplink(&wiring, "leaf01", "spine b"); /* a tree has one */
	bu_wiring_add_uplink(&wiring, "leaf02", "spine b");
	bu_wiring_add_uplink(&wiring, "spine a", "core");
	bu_wiring_add_uplink(&wiring, "spine b", "core");
	tiers = bu_wiring_slurm_conf(&wiring, NULL, NULL);
	ck_assert_ptr_nonnull(strstr(tiers, "SwitchName=spine-a Switches=leaf01\n"));
	ck_assert_ptr_nonnull(strstr(tiers, "SwitchName=spine-b Switches=leaf02\n"));
	ck_assert_ptr_nonnull(
		strstr(tiers, "SwitchName=core Switches=spine-a,spine-b\n"));
	ck_assert_ptr_null(strstr(tiers, "fabric"));
	bu_wiring_add_domain(&wiring, "gpu001", "8c3c.1");
	bu_wiring_add_domain(&wiring, "gpu002", "8c3c.1");
	bu_wiring_add_domain(&wiring, "gpu003", "8c3c.1");
	yaml = bu_wiring_slurm_yaml(&wiring, NULL, NULL);
	ck_assert_str_eq(yaml, "# Made by bringup from the cabling.\n"
			       "- topology: fabric\n"
			       "  cluster_default: true\n"
			       "  tree:\n"
			       "    switches:\n"
			       "      - switch: \"leaf01\"\n"
			       "        nodes: \"gpu001,gpu002\"\n"
			       "      - switch: \"leaf02\"\n"
			       "        nodes: \"gpu003,gpu004\"\n"
			       "      - switch: \"spine-a\"\n"
			       "        children: \"leaf01\"\n"
			       "      - switch: \"core\"\n"
			       "        children: \"spine-a,spine-b\"\n"
			       "      - switch: \"spine-b\"\n"
			       "        children: \"leaf02\"\n"
			       "- topology: nvlink\n"
			       "  cluster_default: false\n"
			       "  block:\n"
			       "    block_sizes: [3]\n"
			       "    blocks:\n"
			       "      - block: \"8c3c.1\"\n"
			       "        nodes: \"gpu001,gpu002,gpu003\"\n");
	bu_wiring_fini(&wiring);
}
END_TEST

/* Slurm refuses a block with fewer nodes than the least size, and a size that is not
 * the least one times a power of two. */
START_TEST(blocks_for_slurm)
{
	struct bu_wiring wiring;
	bu_autofree char *racks = NULL, *domains = NULL;

	fill(&wiring);
	bu_wiring_add_rack(&wiring, "cpu001", "r 7");
	racks = bu_wiring_slurm_blocks(&wiring, NULL, NULL);
	ck_assert_str_eq(racks, "# Made by bringup from the cabling; "
				"TopologyPlugin=topology/block.\n"
				"BlockName=leaf01 Nodes=gpu001,gpu002\n"
				"BlockName=leaf02 Nodes=gpu003,gpu004\n"
				"BlockName=rack-r-7 Nodes=cpu001\n"
				"BlockSizes=1,2\n");
	for (int i = 0; i < 14; i++) {
		bu_autofree char *node = bu_xasprintf("gpu%03d", i);

		bu_wiring_add_domain(&wiring, node,
				     i < 5    ? "a.1"
				     : i < 8  ? "a.2"
				     : i < 11 ? "a.3"
					      : "a.4");
	}
	domains = bu_wiring_slurm_blocks(&wiring, NULL, NULL);
	ck_assert_ptr_nonnull(strstr(domains, "BlockName=a.2 Nodes=gpu005,"));
	ck_assert_ptr_nonnull(strstr(domains, "BlockSizes=3,6,12\n"));
	ck_assert_ptr_null(strstr(domains, "leaf01"));
	bu_wiring_fini(&wiring);
}
END_TEST

START_TEST(what_is_no_tree_is_refused)
{
	static const struct {
		const char *uplinks[3][2];
		const char *text;
	} bad[] = {
		{{{"leaf01", "a"}, {"a", "b"}, {"b", "a"}}, "or a circle"},
		{{{"leaf01", "leaf01"}}, "has nodes and other switches below it"},
		{{{"leaf01", "leaf02"}}, "has nodes and other switches below it"},
		{{{"leaf01", "s/1"}, {"leaf02", "s 1"}}, "both become 's-1'"},
	};
	struct bu_wiring wiring = {0};
	struct bu_err err = {0};

	ck_assert_ptr_null(bu_wiring_slurm_conf(&wiring, NULL, &err));
	ck_assert_ptr_nonnull(strstr(err.text, "no node's switch or rack is known"));
	for (size_t i = 0; i < BU_LEN(bad); i++) {
		fill(&wiring);
		for (size_t k = 0; k < 3 && bad[i].uplinks[k][0]; k++)
			bu_wiring_add_uplink(&wiring, bad[i].uplinks[k][0],
					     bad[i].uplinks[k][1]);
		ck_assert_ptr_null(bu_wiring_slurm_conf(&wiring, NULL, &err));
		ck_assert_msg(strstr(err.text, bad[i].text), "%s", err.text);
		ck_assert_ptr_null(bu_wiring_labels(&wiring, NULL));
		bu_wiring_fini(&wiring);
	}
}
END_TEST

START_TEST(labels_for_kubernetes)
{
	struct bu_wiring wiring;
	bu_autojson json_t *labels = NULL;
	const json_t *node;

	fill(&wiring);
	bu_wiring_add_domain(&wiring, "gpu003", "(8c3c.1)");
	labels = bu_wiring_labels(&wiring, NULL);
	ck_assert_uint_eq(json_object_size(labels), 4);
	node = json_object_get(labels, "gpu003");
	ck_assert_str_eq(bu_json_str(node, "fabric.topograph.run/tier-0", ""),
			 "leaf02");
	ck_assert_str_eq(bu_json_str(node, "fabric.topograph.run/tier-1", ""),
			 "fabric");
	ck_assert_str_eq(bu_json_str(node, "accelerator.topograph.run/domain", ""),
			 "8c3c.1");
	ck_assert_uint_eq(json_object_size(json_object_get(labels, "gpu001")), 2);
	bu_wiring_fini(&wiring);
}
END_TEST

/* --- a real slurmctld --- */

static const char slurm_conf[] =
	"ClusterName=lab\nSlurmctldHost=localhost(10.9.9.1)\nSlurmUser=root\n"
	"SlurmdUser=root\nAuthType=auth/none\nCredType=cred/none\n"
	"StateSaveLocation=/run/state\nSlurmdSpoolDir=/run/spool\n"
	"SlurmctldPidFile=/run/ctld.pid\nSlurmctldLogFile=/run/log\n"
	"ProctrackType=proctrack/pgid\nTaskPlugin=task/none\n"
	"TopologyPlugin=topology/tree\n"
	"NodeName=gpu[001-004] NodeAddr=10.9.9.1 Port=[20001-20004] CPUs=1\n"
	"NodeName=cpu001 NodeAddr=10.9.9.1 Port=20005 CPUs=1\n"
	"PartitionName=all Nodes=ALL Default=YES\n";

static const char rig[] =
	"hostname localhost; mkdir /run/state; ip link set lo up;"
	"ip link add d0 type veth peer name d1; ip addr add 10.9.9.1/24 dev d0;"
	"ip link set d0 up; ip link set d1 up; export SLURM_CONF=/run/slurm.conf;"
	"slurmctld -D -c >/run/out 2>&1 & export SLURM_CONF=/run/slurm.conf;"
	"for i in 1 2 3 4 5 6 7 8; do"
	" timeout 5 scontrol show topology >/run/shown 2>/dev/null && exit 0;"
	" sleep 0.5; done; tail -5 /run/out >&2; exit 1";

/* In its namespaces: 0 when Slurm shows the tree that it was given. */
static int
ask_slurm(const char *conf)
{
	static const char *const wanted[] = {
		"SwitchName=leaf01 Level=0 LinkSpeed=1 Nodes=gpu001,gpu002",
		"SwitchName=leaf02 Level=0 LinkSpeed=1 Nodes=gpu003,gpu004",
		"SwitchName=rack-r7 Level=0 LinkSpeed=1 Nodes=cpu001",
		("SwitchName=fabric Level=1 LinkSpeed=1 Nodes=cpu001,gpu[001-004] "
		 "Switches=leaf01,leaf02,rack-r7")};
	bu_autofree char *shown = NULL;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, NULL) != 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) != 0 ||
	    bu_file_write("/run/slurm.conf", slurm_conf, strlen(slurm_conf), 0644,
			  NULL) != 0 ||
	    bu_file_write("/run/topology.conf", conf, strlen(conf), 0644, NULL) != 0 ||
	    system(rig) != 0)
		return 2;
	shown = bu_file_read("/run/shown", 0, NULL, NULL);
	for (size_t i = 0; i < BU_LEN(wanted); i++)
		if (!shown || !strstr(shown, wanted[i])) {
			fprintf(stderr, "Slurm shows:\n%s", shown ? shown : "nothing");
			return 1;
		}
	return 0;
}

static int
in_namespaces(const char *conf)
{
	int status;
	pid_t first;

	if (unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWUTS) != 0)
		return 3;
	first = fork();
	if (first == 0)
		_exit(ask_slurm(conf));
	return first > 0 && waitpid(first, &status, 0) == first && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : 4;
}

START_TEST(slurm_takes_the_tree)
{
	struct bu_wiring wiring;
	bu_autofree char *conf = NULL;
	int status;
	pid_t child;

	BU_NEEDS("root", "/usr/sbin/slurmctld");
	fill(&wiring);
	bu_wiring_add_rack(&wiring, "cpu001", "r7");
	conf = bu_wiring_slurm_conf(&wiring, NULL, NULL);
	bu_wiring_fini(&wiring);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		_exit(in_namespaces(conf));
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
}
END_TEST

BU_UNIT("wiring", reads_what_it_wrote, nothing_is_believed, rails_have_bounds,
	a_tree_for_slurm, blocks_for_slurm, what_is_no_tree_is_refused,
	labels_for_kubernetes, slurm_takes_the_tree)
