/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of InfiniBand switches, which a node's agent reads: who is asked, what comes
 * of its answer, and that one that fails costs its words alone. */
#include "model/hello.h"
#include "model/work.h"
#include "provisioner/gate/campaign/switches_impl.h"
#include "tests/support/leaf_campaign.h"

enum { LEAVES = 3, EACH = 2, NODES = LEAVES * EACH, SPINES = 3 };

/* What its agents see: of the link of leaf02 and s2, what the spine receives goes bad.
 * With two rails, which have one switch fabric, it is the link of leaf12 and s3. */
struct site {
	int rails; /* 0 = one */
	int readings;
	int without; /* at this one a second cable of that link is missing */
	const char *failure;
	const char *full;
	json_t *readers; /* node -> how often it was asked */
	json_t *item;    /* the last one */
};

static void
add_port(json_t *ports, const char *from, const char *to, int port, int received)
{
	bu_autofree char *name = bu_xasprintf("%d", port);

	json_array_append_new(ports, json_pack("{s:s,s:s,s:s,s:i,s:i}", "switch", from,
					       "peer", to, "port", name, "received",
					       received, "sent", 5));
}

static void
read_leaf(const struct site *site, int rail, int leaf, json_t *ports)
{
	for (int spine = 1; spine <= SPINES; spine++) {
		bu_autofree char *l = bu_xasprintf("leaf%d%d", rail, leaf);
		bu_autofree char *s = bu_xasprintf("s%d", spine);
		int bad = leaf == 2 && rail == site->rails / 2 &&
			  spine == 2 + site->rails / 2;

		add_port(ports, l, s, 40 + spine, 70000);
		add_port(ports, s, l, 10 * rail + leaf,
			 bad ? 800 + 100 * site->readings : 0);
		if (bad && site->readings != site->without)
			add_port(ports, l, s, 50, 90000);
	}
}

static json_t *
read_ports(const struct site *site)
{
	json_t *ports = json_array();

	for (int rail = 0; rail < 1 + site->rails / 2; rail++)
		for (int leaf = 1; leaf <= LEAVES; leaf++)
			read_leaf(site, rail, leaf, ports);
	return ports;
}

/* Each node that is asked to read does so. */
static void
answer_items(struct rig *rig, struct site *site)
{
	for (int i = 1; i <= NODES; i++) {
		struct bu_node *node = rig_node(rig, i);
		bu_autojson json_t *item = bu_gate_work(rig->gate, node),
				   *result = NULL;
		const char *id = bu_json_str(item, "id", "");
		struct bu_err err = {0};

		if (strcmp(bu_json_str(item, "kind", ""), "switches") != 0)
			continue;
		ck_assert_int_eq(bu_gate_wants(rig->gate, node, id), 1);
		site->readings++;
		bu_json_count_up(site->readers, node->name);
		json_decref(site->item);
		site->item = json_incref(item);
		if (site->failure) {
			bu_err_set(&err, BU_ERR_NOTFOUND, 0, "%s", site->failure);
			bu_gate_result(rig->gate, node, id, NULL, &err);
			continue;
		}
		result = json_pack("{s:o}", "ports", read_ports(site));
		if (site->full)
			json_object_set_new(result, "full", json_string(site->full));
		bu_gate_result(rig->gate, node, id, result, NULL);
		ck_assert_int_eq(bu_gate_wants(rig->gate, node, id), 0);
	}
}

static void
pass_and_answer(struct rig *rig, struct site *site, struct paths *paths, int seconds)
{
	for (int i = 0; i < seconds; i++) {
		pass(rig, paths, NODES, 1);
		answer_items(rig, site);
	}
}

#define COUNTED                                                                        \
	"routing = sprayed\nspines = s1, s2, s3\nswitch_counters = http://nowhere\n"

/* The profile's network is soft-RoCE: that `check` refuses this is of the loader. */
static void
begin_counted(struct rig *rig, struct site *site, struct paths *paths)
{
	const char *lines = site->rails ? COUNTED "switch_fabric = clos\n" : COUNTED;
	int rails = 1 + site->rails / 2;

	site->readers = json_object();
	rig_begin(rig, NODES);
	rig_open_gate(rig);
	rig_give_rails_with(rig, NODES, rails, (const char *const[]){lines, lines});
	for (int i = 1; i <= rails; i++) {
		free(rig->fleet->desired->networks[i].switch_counters);
		rig->fleet->desired->networks[i].switch_counters =
			bu_xstrdup("infiniband");
	}
	for (int i = 1; i <= NODES; i++) {
		struct bu_desired_node *node = &rig->fleet->desired->nodes[i - 1];

		rig_to_validating(rig, i);
		paths->leaf[i] = (i - 1) / EACH + 1;
		free(node->switch_ports);
		node->switch_ports =
			bu_xasprintf("fabric=leaf0%d:p%d,rail1=leaf1%d:p%d",
				     paths->leaf[i], i, paths->leaf[i], i);
	}
}

static void
end_counted(struct rig *rig, struct site *site, struct paths *paths)
{
	json_decref(site->readers);
	json_decref(site->item);
	end_fabric(rig, paths);
}

START_TEST(a_bad_link_is_named)
{
	struct site site = {.without = 3};
	struct paths paths = {.slow = 0};
	bu_autofree char *warnings = NULL, *names = NULL;
	struct bu_work_switches work;
	struct rig rig;

	begin_counted(&rig, &site, &paths);
	pass_and_answer(&rig, &site, &paths, 330);
	all_join(&rig, NODES);
	warnings = warnings_of(&rig);
	says(warnings, "rail fabric: what its switches count accuses the link between "
		       "leaf02 (rail fabric) and spine s2, to the spine: slow or "
		       "lossy: ");
	says(warnings, "; counted 100, not read, 200, 100, ");
	ck_assert_ptr_null(strstr(warnings, "leaf01"));
	ck_assert_ptr_null(strstr(warnings, "could not be read"));
	ck_assert_int_eq(
		bu_record_from_json(bu_work_switches_fields, site.item, &work, NULL),
		0);
	names = bu_json_canonical(work.names);
	ck_assert_str_eq(names,
			 "{\"leaf01\":true,\"leaf02\":true,\"leaf03\":true,\"s1\":true,"
			 "\"s2\":true,\"s3\":true}");
	ck_assert_str_eq(work.rail.rail, "fabric");
	ck_assert_int_eq(strncmp(work.rail.address, "10.78.", 6), 0);
	ck_assert_int_eq((int)work.deadline_ms, 30000);
	/* By turns: none is asked for all of them. */
	ck_assert_int_ge(site.readings, 11);
	ck_assert_uint_eq(json_object_size(site.readers), NODES);
	end_counted(&rig, &site, &paths);
}
END_TEST

/* Two rails of one switch fabric, each with leaves of its own: read once, for all. */
START_TEST(rails_of_one_fabric_are_read_together)
{
	struct site site = {.rails = 2};
	struct paths paths = {.slow = 0};
	bu_autofree char *warnings = NULL, *names = NULL;
	struct bu_work_switches work;
	struct rig rig;

	begin_counted(&rig, &site, &paths);
	pass_and_answer(&rig, &site, &paths, 400);
	all_join(&rig, NODES);
	ck_assert_int_eq(
		bu_record_from_json(bu_work_switches_fields, site.item, &work, NULL),
		0);
	names = bu_json_canonical(work.names);
	ck_assert_str_eq(names,
			 "{\"leaf01\":true,\"leaf02\":true,\"leaf03\":true,"
			 "\"leaf11\":true,\"leaf12\":true,\"leaf13\":true,\"s1\":true,"
			 "\"s2\":true,\"s3\":true}");
	warnings = warnings_of(&rig);
	says(warnings, "switch fabric clos: what its switches count accuses the link "
		       "between leaf12 (rail rail1) and spine s3, to the spine: ");
	ck_assert_ptr_null(strstr(warnings, "leaf02"));
	ck_assert_ptr_null(strstr(warnings, "could not be read"));
	ck_assert_ptr_null(rig.gate->switches->next);
	end_counted(&rig, &site, &paths);
}
END_TEST

START_TEST(an_agent_that_fails_costs_its_words_alone)
{
	struct site site = {.failure = "mlx5_0 port 1 takes no management packets"};
	struct paths paths = {.slow = 0};
	bu_autofree char *warnings = NULL, *after = NULL;
	struct rig rig;

	begin_counted(&rig, &site, &paths);
	pass_and_answer(&rig, &site, &paths, 100);
	all_join(&rig, NODES);
	warnings = warnings_of(&rig);
	says(warnings,
	     "rail fabric: its switches' counters could not be read, so a "
	     "bad link between its leaves may stay unseen: infiniband: node0");
	says(warnings,
	     ": mlx5_0 port 1 takes no management packets; it is asked again");
	ck_assert_int_le(site.readings, 2);
	site.failure = NULL;
	pass_and_answer(&rig, &site, &paths, 400);
	after = warnings_of(&rig);
	ck_assert_ptr_null(strstr(after, "could not be read"));
	says(after, "the link between leaf02 (rail fabric) and spine s2");
	end_counted(&rig, &site, &paths);
}
END_TEST

/* It is in no probe meanwhile, and afterwards free again. */
START_TEST(one_that_is_silent_is_given_up)
{
	struct site site = {.readings = 0};
	struct paths paths = {.slow = 0};
	bu_autofree char *during = NULL, *after = NULL;
	struct rig rig;
	char reader[BU_NAME_MAX];

	begin_counted(&rig, &site, &paths);
	for (int i = 0;
	     i < 100 && !(rig.gate->switches && rig.gate->switches->agent.task); i++)
		pass(&rig, &paths, NODES, 1);
	ck_assert_ptr_nonnull(rig.gate->switches);
	strcpy(reader, rig.gate->switches->agent.task->name[0]);
	ck_assert_int_eq(bu_task_is_busy(rig.gate, reader), 1);
	during = warnings_of(&rig);
	ck_assert_str_eq(during, "");
	pass(&rig, &paths, NODES, 60);
	after = warnings_of(&rig);
	says(after, reader);
	says(after, ": it gave no answer within 30 s; it is asked again");
	ck_assert_int_eq(bu_task_is_busy(rig.gate, reader), 0);
	all_join(&rig, NODES);
	end_counted(&rig, &site, &paths);
}
END_TEST

START_TEST(a_counter_at_its_end_is_told)
{
	struct site site = {.full = "SymbolErrorCounter of port 41 of leaf01"};
	struct paths paths = {.slow = 0};
	bu_autofree char *warnings = NULL;
	struct rig rig;

	begin_counted(&rig, &site, &paths);
	pass_and_answer(&rig, &site, &paths, 100);
	all_join(&rig, NODES);
	warnings = warnings_of(&rig);
	says(warnings,
	     "rail fabric: SymbolErrorCounter of port 41 of leaf01 has counted "
	     "to its end and shows nothing new: reset it");
	ck_assert_int_gt(site.readings, 2);
	end_counted(&rig, &site, &paths);
}
END_TEST

/* Of a node that was not asked, or that answers for another one. */
START_TEST(what_was_not_asked_for_is_no_answer)
{
	struct site site = {.readings = 0};
	struct paths paths = {.slow = 0};
	bu_autojson json_t *result = NULL, *bare = json_object();
	struct bu_switches *counters;
	bu_autofree char *warnings = NULL, *id = NULL;
	struct bu_node *reader;
	struct rig rig;

	begin_counted(&rig, &site, &paths);
	for (int i = 0;
	     i < 100 && !(rig.gate->switches && rig.gate->switches->agent.task); i++)
		pass(&rig, &paths, NODES, 1);
	counters = rig.gate->switches;
	id = bu_xstrdup(counters->agent.task->id);
	reader = bu_fleet_node(rig.fleet, counters->agent.task->name[0]);
	result = json_pack("{s:o}", "ports", read_ports(&site));
	ck_assert_int_eq(bu_task_result(rig.gate, reader, "s-other", result, NULL), 0);
	for (int i = 1; i <= NODES; i++)
		if (rig_node(&rig, i) != reader)
			ck_assert_int_eq(bu_task_result(rig.gate, rig_node(&rig, i), id,
							result, NULL),
					 0);
	ck_assert_uint_eq(counters->count, 0);
	ck_assert_int_eq(bu_task_result(rig.gate, reader, id, bare, NULL), 1);
	warnings = warnings_of(&rig);
	says(warnings, ": its answer has no ports");
	end_counted(&rig, &site, &paths);
}
END_TEST

RIG_UNIT("switches_agent", a_bad_link_is_named, rails_of_one_fabric_are_read_together,
	 an_agent_that_fails_costs_its_words_alone, one_that_is_silent_is_given_up,
	 a_counter_at_its_end_is_told, what_was_not_asked_for_is_no_answer)
