/* SPDX-License-Identifier: Apache-2.0 */
/* Requests for repairs: found, told, answered; and what is told of a node's faults. */
#include <string.h>
#include <unistd.h>

#include "provisioner/cluster/kubernetes/kube.h"
#include "tests/support/kube_world.h"
#include "tests/support/unit.h"

static struct rig rig;
static const struct bu_cluster_driver *driver;
static struct bu_cluster *cluster;
static int told;
static struct bu_cluster_repair last; /* its texts are of no use */
static char last_id[64], last_node[64];

static void
on_repair(const struct bu_cluster_repair *repair, void *arg)
{
	told++;
	last = *repair;
	snprintf(last_id, sizeof(last_id), "%s", repair->id);
	snprintf(last_node, sizeof(last_node), "%s", repair->node);
}

static int
tell(void)
{
	told = 0;
	driver->repairs(cluster, on_repair, NULL);
	return told;
}

static void
pass(int64_t ms)
{
	for (; ms > 0; ms -= 250)
		rig_pass(&rig, 250);
}

/* The loop waits for no watch, and a line of one takes real time. */
static void
await(int count)
{
	for (int i = 0; i < 20000 && tell() != count; i++) {
		rig_pass(&rig, 1);
		usleep(100);
	}
	ck_assert_int_eq(told, count);
}

static void
begin(int known)
{
	char handle[BU_CLUSTER_HANDLE_SIZE];

	rig_begin(&rig, 1);
	kube_begin(&rig, handle);
	kube->repairs = known;
	driver = bu_cluster_driver("kubernetes");
	cluster = driver->open(rig.loop, handle, NULL, NULL);
	pass(2000);
}

static void
end(void)
{
	driver->close(cluster);
	kube_end();
	rig_end(&rig);
}

/* released, complete: "True", "False", "Unknown" */
static void
ask(const char *name, const char *node, const char *released, const char *complete)
{
	paper_kube_put(
		kube, PAPER_REPAIRS,
		json_pack("{s:{s:s,s:s},s:{s:{s:s}},s:{s:[{s:s,s:s},{s:s,s:s}]}}",
			  "metadata", "name", name, "creationTimestamp",
			  "1970-01-20T16:13:20Z", "spec", "healthEvent", "nodeName",
			  node, "status", "conditions", "type",
			  "NVSentinelOwnershipReleased", "status", released, "type",
			  "ExternalRemediationComplete", "status", complete));
}

/* "STATUS REASON MESSAGE" of a condition of the object; "" = it has none. */
static const char *
condition(enum paper_kind kind, const char *name, const char *type)
{
	static char text[512];
	const json_t *one = bu_kube_condition(paper_kube_get(kube, kind, name), type);

	snprintf(text, sizeof(text), "%s %s %s", bu_json_str(one, "status", ""),
		 bu_json_str(one, "reason", ""), bu_json_str(one, "message", ""));
	return one ? text : "";
}

START_TEST(where_there_is_no_such_kind_nothing_is_asked_but_that)
{
	begin(0);
	ck_assert_int_eq(kube->discoveries, 1);
	pass(60000);
	ck_assert_int_eq(kube->discoveries, 1);
	ck_assert_int_eq(kube->lists[PAPER_REPAIRS], 0);
	ck_assert_int_eq(tell(), 0);
	/* It is installed later. */
	kube->repairs = 1;
	ask("r1", "node001", "True", "Unknown");
	pass(600000);
	ck_assert_int_eq(kube->discoveries, 2);
	await(1);
	end();
}
END_TEST

START_TEST(one_is_told_while_it_is_released_and_has_no_answer)
{
	begin(1);
	ask("early", "node001", "Unknown", "Unknown");
	ask("done", "node001", "True", "True");
	ask("failed", "node001", "True", "False");
	ask("r1", "node001", "True", "Unknown");
	await(1);
	ck_assert_str_eq(last_id, "r1");
	ck_assert_str_eq(last_node, "node001");
	ck_assert_int_eq(last.created_ms, 1700000000);
	ck_assert_int_eq(last.accepted_ms, 0);
	ask("early", "node002", "True", "Unknown");
	await(2);
	paper_kube_remove(kube, PAPER_REPAIRS, "r1");
	await(1);
	ck_assert_str_eq(last_node, "node002");
	end();
}
END_TEST

START_TEST(an_answer_keeps_the_conditions_of_others_and_is_made_once)
{
	int64_t before;

	begin(1);
	ask("r1", "node001", "True", "Unknown");
	await(1);
	before = bu_wall_ms(bu_loop_clock(rig.loop));
	driver->answer(cluster, "r1", BU_CLUSTER_ACCEPTED, "Accepted", "it begins");
	/* One at a time. */
	driver->answer(cluster, "r1", BU_CLUSTER_REFUSED, "No", "no");
	pass(2000);
	ck_assert_str_eq(condition(PAPER_REPAIRS, "r1", "bringup.dev/Accepted"),
			 "True Accepted it begins");
	await(1);
	ck_assert_int_gt(last.accepted_ms, before);
	ck_assert_int_le(last.accepted_ms, before + 3000);
	driver->answer(cluster, "r1", BU_CLUSTER_REPAIRED, "Validated", "done");
	pass(2000);
	ck_assert_str_eq(condition(PAPER_REPAIRS, "r1", "ExternalRemediationComplete"),
			 "True Validated done");
	ck_assert_str_eq(condition(PAPER_REPAIRS, "r1", "NVSentinelOwnershipReleased"),
			 "True  ");
	await(0);
	/* What is answered is answered by nobody else. */
	driver->answer(cluster, "r1", BU_CLUSTER_REFUSED, "No", "no");
	pass(2000);
	ck_assert_str_eq(condition(PAPER_REPAIRS, "r1", "ExternalRemediationComplete"),
			 "True Validated done");
	end();
}
END_TEST

START_TEST(thousands_are_told_a_thousand_at_a_time)
{
	char name[32];

	begin(1);
	for (int i = 0; i < 1500; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		ask(name, "node001", "True", "Unknown");
		if (i % 50 == 0)
			pass(250);
	}
	await(1024);
	/* Half of those go: the others come. */
	for (int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "r%d", i);
		paper_kube_remove(kube, PAPER_REPAIRS, name);
		if (i % 50 == 0)
			pass(250);
	}
	await(424);
	driver->answer(cluster, "r600", BU_CLUSTER_REFUSED, "No", "no");
	await(899);
	end();
}
END_TEST

START_TEST(a_fault_is_told_once_and_taken_back)
{
	int64_t version;

	begin(1);
	kube_be(&rig, PAPER_SERVES);
	for (int i = 0; i < 20000 && !bu_kube_find(cluster, "node001"); i++) {
		rig_pass(&rig, 1);
		usleep(100);
	}
	driver->fault(cluster, "node001", NULL, NULL);
	pass(2000);
	ck_assert_str_eq(condition(PAPER_NODES, "node001", "bringup.dev/Fault"), "");
	for (int i = 0; i < 3; i++) {
		driver->fault(cluster, "node001", "drifted",
			      "[drifted] so - RecommendedAction: NONE");
		pass(1000);
	}
	ck_assert_str_eq(condition(PAPER_NODES, "node001", "bringup.dev/Fault"),
			 "True drifted [drifted] so - RecommendedAction: NONE");
	version = kube->version;
	driver->fault(cluster, "node001", "drifted",
		      "[drifted] so - RecommendedAction: NONE");
	pass(2000);
	ck_assert_int_eq(kube->version, version);
	driver->fault(cluster, "node001", NULL, NULL);
	pass(2000);
	ck_assert_str_eq(condition(PAPER_NODES, "node001", "bringup.dev/Fault"),
			 "False NoFault bringup finds nothing wrong");
	/* Of a node that is not there, nothing is told. */
	version = kube->version;
	driver->fault(cluster, "node099", "drifted", "x");
	pass(2000);
	ck_assert_int_eq(kube->version, version);
	end();
}
END_TEST

RIG_UNIT("repairs", where_there_is_no_such_kind_nothing_is_asked_but_that,
	 one_is_told_while_it_is_released_and_has_no_answer,
	 an_answer_keeps_the_conditions_of_others_and_is_made_once,
	 thousands_are_told_a_thousand_at_a_time, a_fault_is_told_once_and_taken_back)
