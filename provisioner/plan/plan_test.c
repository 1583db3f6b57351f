/* SPDX-License-Identifier: Apache-2.0 */
/* Each decision of the plan, as a row; what it rests on. */
#include "provisioner/plan/plan.h"

#include <string.h>

#include "base/json.h"
#include "tests/support/plan.h"

START_TEST(new_nodes_are_installed)
{
	struct site site;
	bu_autojson json_t *plan = NULL;
	const json_t *step;

	begin(&site, NULL, NULL, NULL, NULL);
	site.input.count = 0;
	site.minutes = 12.34;
	plan = make(&site);
	step = step_of(plan, 1);
	ck_assert_uint_eq(json_array_size(json_object_get(plan, "steps")), 2);
	ck_assert_int_eq(bu_json_int(plan, "v", 0), 2);
	ck_assert_str_eq(bu_json_str(step, "node", ""), "node002");
	ck_assert_str_eq(bu_json_str(step, "pool", ""), "train");
	ck_assert_str_eq(bu_json_str(step, "class", ""), "install");
	ck_assert_str_eq(bu_json_str(step, "image", ""), "debian12");
	ck_assert_str_eq(bu_json_str(step, "digest", ""), "d1");
	ck_assert_str_eq(bu_json_str(step, "facets", ""), site.nodes[1]->facets);
	ck_assert_str_eq(bu_json_str(step, "from", "?"), "");
	ck_assert_str_eq(why_of(step), "new in the profile");
	ck_assert_int_eq(bu_json_int(step, "batch", 7), -1);
	ck_assert(bu_json_real(step, "minutes", 0) == 12.3);
	ck_assert_uint_eq(json_array_size(json_object_get(step, "changes")), 0);
	ck_assert_str_eq(bu_json_str(plan, "revision", ""), site.desired->digest);
	ck_assert_str_eq(bu_json_str(plan, "base", ""), site.applied->digest);
	ck_assert_str_eq(bu_json_str(plan, "commit", ""), "abc");
	ck_assert_int_eq(bu_json_int(plan, "unchanged", -1), 0);
	ck_assert_int_eq(site.images_asked, 1);
	end(&site);
}
END_TEST

/* State, installed and ordered image, disk written, order open -> what is planned for
 * node001 and image "d1". class "": unchanged; "refused"; "waits". */
static const struct {
	enum bu_state state;
	const char *installed, *ordered;
	int touched, open;
	enum bu_plan_disk disk;
	const char *class, *why;
} rows[] = {
	{BU_STATE_ENROLLED, "", "", 0, 0, 0, "install", "not installed"},
	{BU_STATE_ENROLLED, "", "", 0, 0, BU_PLAN_DISK_EMPTY, "install",
	 "not installed"},
	{BU_STATE_ENROLLED, "", "", 0, 0, BU_PLAN_DISK_WRITTEN, "wipe",
	 "not installed; its disk is not empty"},
	{BU_STATE_ENROLLED, "", "d1", 0, 1, 0, "waits", ""},
	{BU_STATE_ENROLLED, "", "d0", 0, 1, 0, "install", "not installed"},
	{BU_STATE_ENROLLED, "", "d0", 1, 0, 0, "wipe", "not installed"},
	{BU_STATE_FAILED, "", "d1", 0, 0, 0, "install", "failed: a reason"},
	{BU_STATE_FAILED, "", "d1", 0, 0, BU_PLAN_DISK_WRITTEN, "wipe",
	 "failed: a reason; its disk is not empty"},
	{BU_STATE_FAILED, "d1", "d1", 1, 0, 0, "wipe", "failed: a reason"},
	{BU_STATE_QUARANTINED, "", "d1", 0, 0, 0, "install", "quarantined: a reason"},
	{BU_STATE_QUARANTINED, "d0", "d0", 1, 0, 0, "wipe", "quarantined: a reason"},
	{BU_STATE_QUARANTINED, "d1", "d1", 1, 0, 0, "", ""},
	{BU_STATE_QUARANTINED, "d1", "d0", 1, 1, 0, "none", "bringup node validate"},
	{BU_STATE_PARKED, "d1", "d1", 1, 0, 0, "", ""},
	{BU_STATE_PARKED, "d1", "d0", 1, 1, 0, "none",
	 "rollout r-1 would have changed"},
	{BU_STATE_PARKED, "d0", "d0", 1, 0, 0, "wipe", "not installed"},
	{BU_STATE_RETIRED, "d1", "d1", 1, 0, 0, "refused", "it is retired"},
	{BU_STATE_SERVICING, "d0", "d0", 1, 0, 0, "refused",
	 "it is being serviced; bringup node release node001 ends that"},
	{BU_STATE_READY, "d1", "d1", 1, 0, 0, "", ""},
	{BU_STATE_READY, "d0", "d1", 1, 1, 0, "waits", ""},
	{BU_STATE_READY, "d1", "d0", 1, 1, 0, "none", "rollout r-1 would have changed"},
	{BU_STATE_READY, "d0", "d0", 1, 0, 0, "wipe",
	 "site.ini:17 image debian12 d0 -> debian12 d1"},
	{BU_STATE_IMAGING, "", "d1", 1, 1, 0, "", ""},
	{BU_STATE_IMAGING, "", "d0", 1, 1, 0, "refused",
	 "it is imaging with another image"},
	{BU_STATE_VALIDATING, "d0", "d0", 1, 0, 0, "refused",
	 "plan again when it is settled"},
};

static void
check_row(size_t row)
{
	struct site site;
	struct bu_node *node;
	bu_autojson json_t *plan = NULL;
	int refused = strcmp(rows[row].class, "refused") == 0;
	int waits = strcmp(rows[row].class, "waits") == 0;
	const json_t *step;

	begin(&site, NULL, NULL, NULL, NULL);
	site.disk = rows[row].disk;
	node = site.nodes[0];
	node->state = rows[row].state;
	node->disk_touched = rows[row].touched;
	bu_node_order(node)->open = rows[row].open;
	bu_node_set_installed_digest(node, rows[row].installed);
	strcpy(bu_node_order(node)->image_digest, rows[row].ordered);
	if (node->state == BU_STATE_FAILED || node->state == BU_STATE_QUARANTINED)
		BU_REASON_SET(bu_node_reason(node), STEP_FAILED, .text = {"a reason"});
	plan = make(&site);
	step = refused ? json_array_get(json_object_get(plan, "refused"), 0)
		       : step_of(plan, 0);
	ck_assert_msg(bu_json_int(plan, "unchanged", -1) == (*rows[row].class ? 1 : 2),
		      "row %zu", row);
	ck_assert_int_eq(bu_json_int(json_object_get(plan, "waiting"), "r-1", 0),
			 waits);
	if (!refused && !waits)
		ck_assert_msg(strcmp(bu_json_str(step, "class", ""), rows[row].class) ==
				      0,
			      "row %zu: %s", row, bu_json_str(step, "class", ""));
	ck_assert_msg(strstr(why_of(step), rows[row].why) != NULL, "row %zu: %s", row,
		      why_of(step));
	end(&site);
}

START_TEST(each_situation_has_its_consequence)
{
	for (size_t i = 0; i < BU_LEN(rows); i++)
		check_row(i);
}
END_TEST

/* One edit of the good profile, in both directions where that means something: the
 * step of node001 and its first change. class "" = nobody notices. */
static const struct {
	const char *was_from, *was_to, *from, *to;
	const char *class, *facet, *old, *new;
	int line;
} edits[] = {
	{"features = rxe, lab", "features = rxe", NULL, NULL, "relabel", "features",
	 "rxe", "rxe,lab", 34},
	{NULL, NULL, "features = rxe, lab", "features = rxe", "relabel", "features",
	 "rxe,lab", "rxe", 34},
	{NULL, NULL, "nic = 1\n", "nic = 1\nmtu = 9000\n", "reconfigure",
	 "network.fabric.mtu", "", "9000", 15},
	{"nic = 1\n", "nic = 1\nmtu = 1500\n", "nic = 1\n", "nic = 1\nmtu = 9000\n",
	 "reconfigure", "network.fabric.mtu", "1500", "9000", 15},
	{"nic = 1\n", "nic = 1\nmtu = 9000\n", NULL, NULL, "reconfigure",
	 "network.fabric.mtu", "9000", "", 10},
	{NULL, NULL, "zone = z1\n", "zone = z1\nntp = 10.77.0.9\n", "reconfigure",
	 "site.ntp", "", "10.77.0.9", 5},
	{NULL, NULL, "gres =", "governor = performance\ngres =", "reconfigure",
	 "governor", "", "performance", 35},
	{NULL, NULL, "gres =", "sysctl = vm.swappiness=1\ngres =", "reconfigure",
	 "sysctl", "", "vm.swappiness=1", 35},
	{NULL, NULL, "addresses = 10.78.0.11,10.78.0.12",
	 "addresses = 10.78.0.21,10.78.0.22", "reconfigure", "network.fabric.address",
	 "10.78.0.11", "10.78.0.21", 13},
	{NULL, NULL, "gres = rdma:rxe:1", "gres = rdma:rxe:2", "restart", "gres",
	 "rdma:rxe:1", "rdma:rxe:2", 35},
	{NULL, NULL, "10.77.0.1:6817", "10.77.0.2:6817", "restart",
	 "cluster.controller", "10.77.0.1:6817", "10.77.0.2:6817", 23},
	{NULL, NULL, "gres =", "kargs = iommu=pt\ngres =", "reboot", "kargs", "",
	 "iommu=pt", 35},
	{NULL, NULL, "nics = 2\n", "nics = 2\nkargs = iommu=pt\n", "reboot", "kargs",
	 "", "iommu=pt", 21},
	{NULL, NULL, "max_unavailable = 50 %\n",
	 "max_unavailable = 50 %\n[node node001]\nkargs = iommu=pt\n", "reboot",
	 "kargs", "", "iommu=pt", 38},
	{NULL, NULL, "rdma = rxe", "rdma = hardware", "reboot", "network.fabric.rdma",
	 "rxe", "hardware", 15},
	{NULL, NULL, "disk = smallest", "disk = serial:OTHER", "wipe", "hardware.disk",
	 "smallest", "serial:OTHER", 19},
	{NULL, NULL, "gres =", "root = ram\ngres =", "reboot", "root", "disk", "ram",
	 35},
	{"gres =", "root = ram\ngres =", NULL, NULL, "wipe", "root", "ram", "disk", 26},
	{"disk = smallest\n", "disk = first\n", "gres =", "root = ram\ngres =",
	 "reboot", "hardware.disk", "first", "smallest", 19},
	{NULL, NULL, "gres =", "data = scratch:1GiB:ext4:/scratch\ngres =", "wipe",
	 "data", "", "scratch:1GiB:ext4:/scratch", 35},
	/* what a running node does not notice */
	{NULL, NULL, "max_unavailable = 50 %", "max_unavailable = 100 %", "", "", "",
	 "", 0},
	{NULL, NULL, "nics = 2", "nics = 2\nmemory_min = 1 GiB", "", "", "", "", 0},
	{NULL, NULL, "gres =", "drain_deadline = 1 h\ngres =", "", "", "", "", 0},
	{NULL, NULL, "nic = 1\n", "nic = 1\nbond = none\n", "", "", "", "", 0},
	{NULL, NULL, "link_gbps = 0.02", "link_gbps = 0.03", "", "", "", "", 0},
};

static void
check_edit(size_t row)
{
	struct site site;
	bu_autojson json_t *plan = NULL;
	const json_t *step, *change;
	int unchanged = !*edits[row].class;

	begin(&site, edits[row].was_from, edits[row].was_to, edits[row].from,
	      edits[row].to);
	plan = make(&site);
	step = step_of(plan, 0);
	change = json_array_get(json_object_get(step, "changes"), 0);
	ck_assert_msg(unchanged == (step == NULL), "row %zu", row);
	ck_assert_msg(strcmp(bu_json_str(step, "class", ""), edits[row].class) == 0,
		      "row %zu: %s", row, bu_json_str(step, "class", ""));
	ck_assert_str_eq(bu_json_str(change, "facet", ""), edits[row].facet);
	ck_assert_str_eq(bu_json_str(change, "class", ""), edits[row].class);
	ck_assert_str_eq(bu_json_str(change, "old", ""), edits[row].old);
	ck_assert_str_eq(bu_json_str(change, "new", ""), edits[row].new);
	ck_assert_msg(bu_json_int(change, "line", 0) == edits[row].line,
		      "row %zu: line %d", row, (int)bu_json_int(change, "line", 0));
	if (!unchanged)
		ck_assert_str_eq(bu_json_str(change, "file", ""), "site.ini");
	end(&site);
}

START_TEST(each_edit_has_its_consequence)
{
	for (size_t i = 0; i < BU_LEN(edits); i++)
		check_edit(i);
}
END_TEST

/* A network "fab" beside the network "fabric". */
static char *
with_fab(const char *nic)
{
	bu_autofree char *named =
		bu_testing_replace(bu_testing_site, "[network boot]", "[network fab]");
	bu_autofree char *used =
		bu_testing_replace(named, "networks = boot,", "networks = fab,");

	return bu_testing_replace(used, "nic = 1\n", nic);
}

START_TEST(a_network_is_not_taken_for_one_that_begins_alike)
{
	bu_autofree char *was = with_fab("nic = 1\nmtu = 9000\n");
	bu_autofree char *now = with_fab("nic = 1\n");
	bu_autojson json_t *plan = NULL;
	const json_t *change;
	struct site site;

	begin(&site, bu_testing_site, was, bu_testing_site, now);
	plan = make(&site);
	change = json_array_get(json_object_get(step_of(plan, 0), "changes"), 0);
	ck_assert_str_eq(bu_json_str(change, "facet", ""), "network.fabric.mtu");
	ck_assert_int_eq(bu_json_int(change, "line", 0), 10);
	end(&site);
}
END_TEST

START_TEST(the_severest_change_decides_and_is_said_first)
{
	struct site site;
	bu_autojson json_t *plan = NULL;
	const json_t *step;

	begin(&site, NULL, NULL, "gres = rdma:rxe:1",
	      "kargs = iommu=pt\ngres = rdma:rxe:2");
	plan = make(&site);
	step = step_of(plan, 0);
	ck_assert_str_eq(bu_json_str(step, "class", ""), "reboot");
	ck_assert_str_eq(why_of(step),
			 "site.ini:35 kargs (none) -> iommu=pt; and 1 more");
	ck_assert_uint_eq(json_array_size(json_object_get(step, "changes")), 2);
	end(&site);
}
END_TEST

START_TEST(data_partitions_are_kept_where_there_are_some)
{
	static const char data[] = "data = scratch:1GiB:ext4:/scratch\ngres =";
	static const char bigger[] = "data = scratch:2GiB:ext4:/scratch\ngres =";
	const struct {
		const char *was, *to;
		int failed;
		const char *class;
		enum bu_plan_disk disk;
	} cases[] = {
		{data, data, 0, "reimage", 0},
		{"gres =", "gres =", 0, "wipe", 0},
		{data, bigger, 0, "wipe", 0},
		{"gres =", data, 0, "wipe", 0},
		{data, data, 1, "reimage", 0},
		{data, bigger, 1, "wipe", 0},
		/* people put a new one in: there is nothing to keep */
		{data, data, 1, "wipe", BU_PLAN_DISK_EMPTY},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct site site;
		bu_autojson json_t *plan = NULL;

		begin(&site, "gres =", cases[i].was, "gres =", cases[i].to);
		strcpy(site.image.digest, "d2");
		site.disk = cases[i].disk;
		if (cases[i].failed)
			site.nodes[0]->state = BU_STATE_FAILED;
		plan = make(&site);
		ck_assert_msg(strcmp(bu_json_str(step_of(plan, 0), "class", ""),
				     cases[i].class) == 0,
			      "case %zu: %s", i,
			      bu_json_str(step_of(plan, 0), "class", ""));
		end(&site);
	}
}
END_TEST

/* A person took it out and in while the applied profile had another cluster. */
START_TEST(who_works_in_another_cluster_than_wanted_is_planned)
{
	static const char *const says[][2] = {{"", "cluster (none) -> hpc"},
					      {"other", "cluster other -> hpc"}};

	for (size_t i = 0; i < BU_LEN(says); i++) {
		struct site site;
		bu_autojson json_t *plan = NULL;

		begin(&site, NULL, NULL, NULL, NULL);
		strcpy(bu_node_joined(site.nodes[0])->cluster, says[i][0]);
		plan = make(&site);
		ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""), "restart");
		ck_assert_ptr_nonnull(strstr(why_of(step_of(plan, 0)), says[i][1]));
		end(&site);
	}
}
END_TEST

/* Whatever was applied since: all files are written once more. */
START_TEST(unknown_facets_are_written_anew)
{
	struct site site;
	bu_autojson json_t *plan = NULL;

	begin(&site, NULL, NULL, NULL, NULL);
	bu_node_set_facets(site.nodes[0], "");
	plan = make(&site);
	ck_assert_str_eq(bu_json_str(step_of(plan, 0), "class", ""), "reconfigure");
	ck_assert_int_eq(bu_json_int(plan, "unchanged", 0), 1);
	end(&site);
}
END_TEST

START_TEST(what_is_held_or_failed_says_so)
{
	struct site site;
	bu_autojson json_t *plan = NULL, *overtaken = NULL, *cut = NULL;
	const json_t *refused;
	struct bu_reason why;
	char words[400] = "r";

	begin(&site, NULL, NULL, "gres = rdma:rxe:1", "gres = rdma:rxe:2");
	BU_REASON_SET(&why, PERSON, .text = {"a card is changed"});
	bu_hold_set(bu_node_hold(site.nodes[0]), BU_OWNER_PERSON, "anna", &why);
	bu_node_order(site.nodes[1])->failed = 1;
	BU_REASON_SET(&bu_node_order(site.nodes[1])->reason, STEP_FAILED,
		      .text = {"rolled back: no answer"});
	plan = make(&site);
	refused = json_array_get(json_object_get(plan, "refused"), 0);
	ck_assert_str_eq(bu_json_str(refused, "node", ""), "node001");
	ck_assert_str_eq(
		why_of(refused),
		"held by anna: a card is changed; bringup node release ends the hold");
	ck_assert_str_eq(why_of(step_of(plan, 0)),
			 "site.ini:35 gres rdma:rxe:1 -> rdma:rxe:2; last time: rolled "
			 "back: no answer");
	ck_assert_int_eq(plan_allowed(plan, NULL), 0);
	/* a reason that is cut in the middle of a character */
	for (int i = 0; i < 120; i++)
		strcpy(words + 1 + 2 * i, "\xc3\xbc");
	BU_REASON_SET(&bu_node_order(site.nodes[1])->reason, STEP_FAILED,
		      .text = {words});
	cut = make(&site);
	ck_assert_str_eq(bu_json_str(step_of(cut, 0), "node", ""), "node002");
	bu_node_order(site.nodes[0])->open = 1;
	overtaken = make(&site);
	ck_assert_ptr_nonnull(strstr(refusal(overtaken), "held by anna"));
	ck_assert_str_eq(bu_json_str(step_of(overtaken, 0), "class", ""), "none");
	end(&site);
}
END_TEST

/* Nothing is lost for a label. */
START_TEST(a_parked_node_is_not_installed_for_a_mild_change)
{
	struct site site;
	bu_autojson json_t *plan = NULL;

	begin(&site, NULL, NULL, "features = rxe, lab", "features = rxe");
	site.nodes[0]->state = BU_STATE_PARKED;
	plan = make(&site);
	ck_assert_str_eq(refusal(plan),
			 "it is parked; plan again after bringup node resume "
			 "node001");
	ck_assert_uint_eq(json_array_size(json_object_get(plan, "steps")), 1);
	end(&site);
}
END_TEST

START_TEST(a_step_under_way_is_left_alone)
{
	struct site site;
	bu_autojson json_t *plan = NULL, *held = NULL;

	begin(&site, NULL, NULL, "gres = rdma:rxe:1", "gres = rdma:rxe:2");
	bu_node_order(site.nodes[0])->open = bu_node_order(site.nodes[0])->begun = 1;
	plan = make(&site);
	ck_assert_str_eq(
		refusal(plan),
		"it is being changed with other settings; plan again when it is "
		"settled");
	site.nodes[0]->state = BU_STATE_DRAINING;
	bu_node_hold(site.nodes[0])->owner = BU_OWNER_BRINGUP;
	held = make(&site);
	ck_assert_str_eq(
		refusal(held),
		"it is draining with other settings; it is held: bringup node release "
		"continues its order; plan again when it is settled");
	end(&site);
}
END_TEST

START_TEST(batches_keep_to_the_limits_of_the_pool)
{
	struct site site;
	bu_autojson json_t *plan = NULL, *mild = NULL;
	const json_t *pool;

	begin(&site, NULL, NULL, "gres = rdma:rxe:1",
	      "gres = rdma:rxe:2\nmaintenance = sat-sun 00:00-24:00");
	plan = make(&site);
	ck_assert_int_eq(site.minutes_asked, 1); /* it is the same for both */
	ck_assert_int_eq(bu_json_int(step_of(plan, 0), "batch", 7), 0);
	ck_assert_int_eq(bu_json_int(step_of(plan, 1), "batch", 7), 1);
	pool = json_object_get(json_object_get(plan, "pools"), "train");
	ck_assert_int_eq(bu_json_int(pool, "canary", 0), 1);
	ck_assert_int_eq(bu_json_int(pool, "max_unavailable", 0), 1);
	ck_assert_int_eq(bu_json_int(pool, "failure_budget", 0), 1);
	ck_assert_str_eq(bu_json_str(pool, "maintenance", ""), "sat-sun 00:00-24:00");
	end(&site);
	/* relabelling disturbs nobody */
	begin(&site, NULL, NULL, "features = rxe, lab", "features = rxe");
	mild = make(&site);
	ck_assert_int_eq(bu_json_int(step_of(mild, 0), "batch", 7), -1);
	ck_assert_int_eq(bu_json_int(step_of(mild, 1), "batch", 7), -1);
	end(&site);
}
END_TEST

START_TEST(who_left_the_profile_is_named)
{
	struct site site;
	bu_autojson json_t *plan = NULL, *want = json_pack("[s]", "node000");

	begin(&site, NULL, NULL, NULL, NULL);
	bu_node_destroy(site.nodes[0]);
	site.nodes[0] = bu_node_create("node000");
	site.nodes[0]->live.in_profile = 1; /* of the applied one */
	plan = make(&site);
	ck_assert(json_equal(json_object_get(plan, "left"), want));
	ck_assert_str_eq(bu_json_str(step_of(plan, 0), "node", ""), "node001");
	end(&site);
}
END_TEST

START_TEST(an_image_that_cannot_be_used_is_no_plan)
{
	struct site site;
	struct bu_err err = {0};

	begin(&site, NULL, NULL, NULL, NULL);
	site.image.digest[0] = '\0';
	ck_assert_ptr_null(bu_plan_make(&site.input, &err));
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_str_eq(err.text, "node node001: image debian12 is not signed");
	end(&site);
}
END_TEST

static void
fail_first(struct site *site)
{
	site->nodes[0]->state = BU_STATE_FAILED;
}

static void
move_revision(struct site *site)
{
	site->input.base = "0123456789abcdef";
}

static void
move_image(struct site *site)
{
	strcpy(site->image.digest, "d3");
}

static void
flap(struct site *site)
{
	bu_node_set_inventory(site->nodes[0], "of another link speed");
}

static void
take_longer(struct site *site)
{
	site->minutes = 99;
}

/* Its steps would be the same; a person agreed to what was there before. */
static void
order_meanwhile(struct site *site)
{
	strcpy(bu_node_order(site->nodes[0])->rollout, "r-9");
}

START_TEST(a_plan_holds_until_something_moves)
{
	static const struct {
		void (*change)(struct site *site);
		const char *why; /* NULL = it holds */
	} cases[] = {
		{NULL, NULL},
		{take_longer, NULL},
		{flap, NULL},
		{fail_first,
		 "node001 has changed since this plan was made; plan again"},
		{move_image,
		 "node[001-002] have changed since this plan was made; plan again"},
		{order_meanwhile, "what was observed of the nodes has changed since "
				  "this plan was made; plan again"},
		{move_revision, "another revision was applied (0123456789ab, it was "},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		struct site site;
		struct bu_err err = {0};
		bu_autojson json_t *plan = NULL, *again = NULL;

		begin(&site, NULL, NULL, "gres = rdma:rxe:1", "gres = rdma:rxe:2");
		plan = make(&site);
		if (cases[i].change)
			cases[i].change(&site);
		again = make(&site);
		ck_assert_int_eq(bu_plan_same(plan, again, &err),
				 cases[i].why ? -1 : 0);
		if (cases[i].why) {
			ck_assert_int_eq(err.kind, BU_ERR_STATE);
			ck_assert_msg(strncmp(err.text, cases[i].why,
					      strlen(cases[i].why)) == 0,
				      "case %zu: %s", i, err.text);
		}
		end(&site);
	}
}
END_TEST

START_TEST(the_same_facts_give_the_same_plan)
{
	struct site site;
	bu_autojson json_t *a = NULL, *b = NULL;
	char da[65], db[65];

	begin(&site, NULL, NULL, "gres = rdma:rxe:1", "gres = rdma:rxe:2");
	a = make(&site);
	b = make(&site);
	bu_json_digest(a, da);
	bu_json_digest(b, db);
	ck_assert_str_eq(da, db);
	end(&site);
}
END_TEST

BU_UNIT("plan", new_nodes_are_installed, each_situation_has_its_consequence,
	each_edit_has_its_consequence, a_network_is_not_taken_for_one_that_begins_alike,
	the_severest_change_decides_and_is_said_first,
	data_partitions_are_kept_where_there_are_some,
	who_works_in_another_cluster_than_wanted_is_planned,
	unknown_facets_are_written_anew, what_is_held_or_failed_says_so,
	a_parked_node_is_not_installed_for_a_mild_change,
	a_step_under_way_is_left_alone, batches_keep_to_the_limits_of_the_pool,
	who_left_the_profile_is_named, an_image_that_cannot_be_used_is_no_plan,
	a_plan_holds_until_something_moves, the_same_facts_give_the_same_plan)
