/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of InfiniBand switches from a simulated fabric (ibsim, with LIDs from
 * opensm) to what people see: the gate's items are done by the agent, whose child asks
 * the switches by management packets. This program runs again, as "gate", with a device
 * of the fabric under it. Which device a rail has is a stand-in: the simulator has no
 * verbs.
 */
#include <fcntl.h>
#include <string.h>

#include "agent/switches.h"
#include "base/file.h"
#include "fabric/probe/device.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/ibsim.h"
#include "tests/support/leaf_campaign.h"

enum { NODES = 6, EACH = 2, STEP = 100 };

/* Nodes at ports 1 and 2 of a leaf, spines from 5 on; a second cable from leaf02 to s2.
 */
static const char net[] =
	"Switch 8 \"leaf01\"\n[1] \"node001\"[1]\n[2] \"node002\"[1]\n"
	"[5] \"s1\"[1]\n[6] \"s2\"[1]\n[7] \"s3\"[1]\n\n"
	"Switch 8 \"leaf02\"\n[1] \"node003\"[1]\n[2] \"node004\"[1]\n"
	"[5] \"s1\"[2]\n[6] \"s2\"[2]\n[7] \"s3\"[2]\n[8] \"s2\"[4]\n\n"
	"Switch 8 \"leaf03\"\n[1] \"node005\"[1]\n[2] \"node006\"[1]\n"
	"[5] \"s1\"[3]\n[6] \"s2\"[3]\n[7] \"s3\"[3]\n\n"
	"Switch 8 \"s1\"\n[1] \"leaf01\"[5]\n[2] \"leaf02\"[5]\n[3] \"leaf03\"[5]\n\n"
	"Switch 8 \"s2\"\n[1] \"leaf01\"[6]\n[2] \"leaf02\"[6]\n[3] \"leaf03\"[6]\n"
	"[4] \"leaf02\"[8]\n\n"
	"Switch 8 \"s3\"\n[1] \"leaf01\"[7]\n[2] \"leaf02\"[7]\n[3] \"leaf03\"[7]\n\n"
	"Hca 1 \"node001\"\n[1] \"leaf01\"[1]\n\nHca 1 \"node002\"\n[1] \"leaf01\"[2]\n\n"
	"Hca 1 \"node003\"\n[1] \"leaf02\"[1]\n\nHca 1 \"node004\"\n[1] \"leaf02\"[2]\n\n"
	"Hca 1 \"node005\"\n[1] \"leaf03\"[1]\n\nHca 1 \"node006\"\n[1] \"leaf03\"[2]\n";

/* What was counted before is nobody's fault, nor what a port to a node counts, nor
 * waits. */
static const char before[] =
	"PerformanceSet \"leaf03\"[5] PortCounters.SymbolErrorCounter=5000\n"
	"PerformanceSet \"s3\"[1] PortCounters.PortRcvErrors=700\n";

int __real_bu_device_open(const struct bu_work_rail *rail, const char *root,
			  struct bu_device *ret, struct bu_err *err);
int __wrap_bu_device_open(const struct bu_work_rail *rail, const char *root,
			  struct bu_device *ret, struct bu_err *err);

int
__wrap_bu_device_open(const struct bu_work_rail *rail, const char *root,
		      struct bu_device *ret, struct bu_err *err)
{
	struct bu_work_rail own = FAKEVERBS_RAIL("127.0.0.1", -1);

	if (strncmp(rail->address, "10.78.", 6) != 0 ||
	    __real_bu_device_open(&own, root, ret, err) != 0)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "no rail of these nodes");
	BU_TEXT_COPY(ret->name, "ibsim0");
	return 0;
}

_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

/* There is a device of the fabric under this program. */
static int is_gate;

/* The agent's child says good-bye to the simulator, which has ten clients at most. */
void
__wrap__exit(int status)
{
	if (is_gate)
		exit(status);
	__real__exit(status);
}

/* --- with a device of the fabric --- */

/* What s2 receives on the second cable from leaf02 is bad once more in each reading;
 * waits and errors of a port to a node grow, too. */
static void
count_on(int readings)
{
	bu_autofree char *text = bu_xasprintf(
		"PerformanceSet \"s2\"[4] PortCounters.PortRcvErrors=%d\n"
		"PerformanceSet \"leaf01\"[7] PortCounters.PortXmitWait=%d\n"
		"PerformanceSet \"leaf01\"[1] PortCounters.SymbolErrorCounter=%d\n",
		STEP * readings, 9 * STEP * readings, STEP * readings);
	int console = open("/run/console", O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(console, 0);
	ck_assert_int_eq(write(console, text, strlen(text)), (ssize_t)strlen(text));
	close(console);
}

static int
read_here(struct rig *rig, int number)
{
	struct bu_node *node = rig_node(rig, number);
	bu_autojson json_t *item = bu_gate_work(rig->gate, node), *result = NULL;
	struct bu_uplink link = {.identity = NULL};
	struct bu_err err = {0};

	if (strcmp(bu_json_str(item, "kind", ""), "switches") != 0)
		return 0;
	if (bu_agent_switches(&link, item, &result, &err) != 0)
		ck_abort_msg("%s: %s", node->name, err.text);
	bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), result, NULL);
	return 1;
}

static void
begin_site(struct rig *rig, struct paths *paths)
{
	static const char *const more[] = {
		"routing = sprayed\nspines = s1, s2, s3\nswitch_counters = http://nowhere\n"};
	struct bu_desired *desired;

	rig_begin(rig, NODES);
	rig_open_gate(rig);
	rig_give_rails_with(rig, NODES, 1, more);
	desired = rig->fleet->desired;
	free(desired->networks[1].switch_counters);
	desired->networks[1].switch_counters = bu_xstrdup("infiniband");
	for (int i = 1; i <= NODES; i++) {
		rig_to_validating(rig, i);
		paths->leaf[i] = (i - 1) / EACH + 1;
		free(desired->nodes[i - 1].switch_ports);
		desired->nodes[i - 1].switch_ports =
			bu_xasprintf("fabric=leaf0%d:p%d", paths->leaf[i], i);
	}
}

START_TEST(what_switches_count_accuses_a_link)
{
	struct paths paths = {.slow = 0};
	bu_autofree char *warnings = NULL;
	struct rig rig;
	int readings = 0;

	begin_site(&rig, &paths);
	for (int second = 0; second < 330; second++) {
		pass(&rig, &paths, NODES, 1);
		for (int i = 1; i <= NODES; i++)
			if (read_here(&rig, i))
				count_on(++readings);
	}
	all_join(&rig, NODES);
	warnings = warnings_of(&rig);
	printf("%d readings: %s", readings, warnings);
	ck_assert_int_ge(readings, 11);
	ck_assert_ptr_nonnull(
		strstr(warnings, "rail fabric: what its switches count accuses the "
				 "link between leaf02 (rail fabric) and spine s2, to "
				 "the spine: slow or lossy: "));
	ck_assert_ptr_eq(strchr(warnings, '\n'), strrchr(warnings, '\n'));
	end_fabric(&rig, &paths);
}
END_TEST

/* --- outside --- */

static int
ask_fabric(void)
{
	bu_autofree char *said = NULL;

	if (ibsim_counts("node006", before, "at node001 200 gate >said 2>&1") == 0)
		return 0;
	said = bu_file_read("/run/said", 0, NULL, NULL);
	fprintf(stderr, "%s", said ? said : "nothing");
	return 1;
}

START_TEST(gate_agent_and_fabric_are_one)
{
	BU_NEEDS("root", "/usr/bin/ibsim", "/usr/sbin/opensm", umad2sim);
	ibsim_asks(net, ask_fabric);
}
END_TEST

int
main(int argc, char **argv)
{
	const TTest *const inside[] = {what_switches_count_accuses_a_link};
	const TTest *const tests[] = {gate_agent_and_fabric_are_one};

	int paper = rig_paper(argc, argv);

	if (paper >= 0)
		return paper;
	if (argc > 1 && strcmp(argv[1], "gate") == 0) {
		is_gate = 1;
		unsetenv("LD_PRELOAD"); /* is not for the programs that the gate runs */
		return bu_unit_run("ibswitches-inside", inside, BU_LEN(inside));
	}
	return bu_unit_run("ibswitches", tests, BU_LEN(tests));
}
