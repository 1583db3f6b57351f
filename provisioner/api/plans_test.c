/* SPDX-License-Identifier: Apache-2.0 */
/* Plans through the real routes, with a signed image: made, applied, and refused. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "profiles/export/facets.h"
#include "profiles/language/schema.h"
#include "provisioner/cluster/cluster.h"
#include "tests/support/desk.h"
#include "tests/support/row.h"

START_TEST(a_plan_is_applied_once)
{
	struct desk desk;
	bu_autojson json_t *first = NULL, *applied = NULL, *second = NULL;
	const struct bu_node *node;
	bu_autofree char *text = NULL;
	bu_autojson json_t *facets = NULL, *want = NULL;

	begin(&desk);
	first = plan(&desk, NULL, NULL, NULL, 200);
	ck_assert_uint_eq(json_array_size(steps_of(first)), 3);
	applied = apply(&desk, first, 200);
	ck_assert_int_eq(bu_json_int(applied, "nodes", 0), 3);
	for (int i = 0; i < 10; i++)
		rig_pass(&desk.site.rig, 1);
	node = rig_node(&desk.site.rig, 2);
	ck_assert_str_eq(node->order->facets,
			 bu_json_str(json_array_get(steps_of(first), 1), "facets", ""));
	ck_assert_str_eq(node->order->commit, "abc");
	/* what it will have is kept for the plans to come */
	text = bu_store_get_blob(desk.site.rig.store, node->order->facets, NULL);
	ck_assert_ptr_nonnull(text);
	facets = json_loads(text, 0, NULL);
	want = bu_facets_json(desk.site.rig.fleet->desired,
			      bu_fleet_desired(desk.site.rig.fleet, node));
	ck_assert(json_equal(facets, want));
	second = plan(&desk, NULL, NULL, NULL, 200);
	ck_assert_uint_eq(json_array_size(steps_of(second)), 0);
	end(&desk);
}
END_TEST

/* Whoever has no turn says what for, in every view and not in `why` alone. */
START_TEST(a_list_of_nodes_says_what_a_turn_waits_for)
{
	struct desk desk;
	bu_autojson json_t *planned = NULL, *applied = NULL, *held = NULL;
	bu_autojson json_t *status = NULL, *nodes = NULL, *node = NULL;
	const json_t *views[3];

	begin(&desk);
	planned = plan(&desk, NULL, NULL, "node002", 200);
	applied = apply(&desk, planned, 200);
	held = site_call(&desk.site, desk.site.local, "POST", "/v1/nodes/node002/hold",
			 "{\"reason\":\"DIMM A3\"}", 200);
	status = site_call(&desk.site, desk.site.page, "GET", "/v1/status", "", 200);
	nodes = site_call(&desk.site, desk.site.page, "GET", "/v1/nodes?set=node002",
			  "", 200);
	node = site_call(&desk.site, desk.site.page, "GET", "/v1/nodes/node002", "",
			 200);
	views[0] = json_array_get(json_object_get(status, "nodes"), 1);
	views[1] = json_array_get(json_object_get(nodes, "nodes"), 0);
	views[2] = node;
	for (size_t i = 0; i < BU_LEN(views); i++) {
		const json_t *order = json_object_get(views[i], "order");

		ck_assert_str_eq(bu_json_str(views[i], "name", ""), "node002");
		ck_assert_str_eq(bu_json_str(order, "status", ""), "turn");
		ck_assert_str_eq(rig_sentence(json_object_get(order, "reason")),
				 "it is held by local");
	}
	end(&desk);
}
END_TEST

START_TEST(a_limit_is_a_nodeset_of_the_profile)
{
	struct desk desk;
	bu_autojson json_t *one = NULL, *pool = NULL, *none = NULL;

	begin(&desk);
	one = plan(&desk, NULL, NULL, "node002", 200);
	ck_assert_uint_eq(json_array_size(steps_of(one)), 1);
	ck_assert_int_eq(bu_json_int(json_object_get(one, "plan"), "left_out", 0), 2);
	pool = plan(&desk, NULL, NULL, "@train!node001", 200);
	ck_assert_str_eq(bu_json_str(json_object_get(pool, "plan"), "limit", ""),
			 "node[002-003]");
	none = plan(&desk, NULL, NULL, "node009", 404);
	says(none, "--limit: no node 'node009'");
	end(&desk);
}
END_TEST

static int
count_event(const struct bu_event *event, void *arg)
{
	++*(int *)arg;
	return 0;
}

static int
events_of(struct desk *desk)
{
	int count = 0;

	for (int i = 0; i < 10; i++)
		rig_pass(&desk->site.rig, 1);
	ck_assert_int_eq(
		bu_store_read(desk->site.rig.store, 0, 0, count_event, &count, NULL),
		0);
	return count;
}

START_TEST(a_typo_never_reaches_a_plan)
{
	static const struct {
		const char *from, *to, *error;
	} rows[] = {
		{"gres =", "grez =", "is an unknown key (did you mean 'gres'?)"},
		{"[cluster hpc]", "[clutser hpc]", "(did you mean 'cluster'?)"},
		{"image = debian12", "image = debian21",
		 "there is no [image debian21]"},
		{"power = libvirt", "power = libvrt", "'libvrt' is unknown"},
		/* What nothing does, and what bringupd has itself. */
		{"format = 1", "format = 1\nbackup = /srv/backups",
		 "[site] backup needs backup_recipient; bringup backup keygen makes"},
		{"10.77.0.[11-", "10.77.0.[1,11-",
		 ": [network boot] addresses: 10.77.0.1 of node 'node001' is the "
		 "appliance's own (boot_address in bringupd.conf); take it out"},
		{"10.77.0.[11-", "10.77.0.[199,11-",
		 "10.77.0.199 of node 'node001' is handed out to unknown machines "
		 "(dhcp_range in bringupd.conf); take it out"},
	};
	struct desk desk;
	int before;

	begin(&desk);
	before = events_of(&desk);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *answer =
			plan(&desk, rows[i].from, rows[i].to, NULL, 400);

		says(answer, rows[i].error);
		ck_assert_ptr_null(json_object_get(answer, "plan"));
	}
	ck_assert_int_eq(events_of(&desk), before);
	end(&desk);
}
END_TEST

/* A profile can ask for no cluster that this version has no driver for. */
START_TEST(the_drivers_that_are_named_exist)
{
	const char *list = bu_schema_key("cluster", "driver")->arg;

	while (*list) {
		bu_autofree char *name = bu_xstrndup(list, strcspn(list, "|"));

		ck_assert_msg(bu_cluster_driver(name) != NULL, "%s", name);
		list += strlen(name);
		list += *list == '|';
	}
}
END_TEST

/* Before a machine is switched on that would find nothing to load. */
START_TEST(what_machines_load_is_there)
{
	static const char from[] = "nics = 2\n";
	static const char grub[] = "nics = 2\nboot_loader = grub\n";
	struct desk desk;
	bu_autojson json_t *empty = NULL, *without = NULL, *with = NULL;
	bu_autofree char *kernel = NULL;

	begin(&desk);
	kernel = bu_xasprintf("%s/vmlinuz", desk.site.ramdisk);
	ck_assert_int_eq(unlink(kernel), 0);
	empty = plan(&desk, NULL, NULL, NULL, 400);
	says(empty, "node001 boots the appliance's ramdisk, and ");
	says(empty, " has no vmlinuz; bringup image build ramdisk makes it");
	rig_write(&desk.site.rig, "ramdisk/vmlinuz", "k");
	without = plan(&desk, from, grub, NULL, 400);
	says(without, "node001 boots by shim and signed GRUB (boot_loader = grub), "
		      "which this appliance has not");
	says(without, "/shimx64.efi is missing");
	rig_write(&desk.site.rig, "ramdisk/shimx64.efi", "s");
	rig_write(&desk.site.rig, "ramdisk/grubx64.efi", "g");
	with = plan(&desk, from, grub, NULL, 200);
	ck_assert_uint_eq(json_array_size(steps_of(with)), 3);
	end(&desk);
}
END_TEST

START_TEST(what_policy_forbids_is_shown_and_not_applied)
{
	struct desk desk;
	bu_autojson json_t *made = NULL, *answer = NULL;
	const json_t *refused;

	begin(&desk);
	made = plan(&desk, "[image debian12]",
		    "[policy]\nresidency = ae-*\n[image debian12]", NULL, 200);
	refused = json_object_get(json_object_get(made, "plan"), "refused");
	ck_assert_uint_eq(json_array_size(refused), 3);
	ck_assert_str_eq(bu_json_str(json_array_get(refused, 0), "node", ""),
			 "node[001-003]");
	ck_assert_str_eq(bu_json_str(json_array_get(refused, 0), "rule", ""),
			 "residency");
	answer = apply(&desk, made, 403);
	says(answer, "policy forbids this plan, for 3 reasons; the first: site.ini:4: "
		     "nodes node[001-003] are in zone z1; [policy] residency = ae-* "
		     "(site.ini:18) allows no other");
	ck_assert_str_eq(desk.site.rig.fleet->revision, "");
	end(&desk);
}
END_TEST

START_TEST(a_plan_is_refused_when_something_has_moved)
{
	struct desk desk;
	bu_autojson json_t *old = NULL, *other = NULL, *applied = NULL, *late = NULL;
	bu_autojson json_t *made = NULL, *held = NULL, *moved = NULL, *fresh = NULL;
	bu_autojson json_t *image = NULL;

	begin(&desk);
	old = plan(&desk, NULL, NULL, NULL, 200);
	other = plan(&desk, "gres = rdma:rxe:1", "gres = rdma:rxe:2", NULL, 200);
	applied = apply(&desk, other, 200);
	ck_assert_int_gt(events_of(&desk), 0);
	late = apply(&desk, old, 409);
	says(late, "another revision was applied (");
	/* a node */
	made = plan(&desk, "gres = rdma:rxe:1", "gres = rdma:rxe:3", NULL, 200);
	ck_assert_uint_eq(json_array_size(steps_of(made)), 3);
	held = site_call(&desk.site, desk.site.local, "POST", "/v1/nodes/node002/hold",
			 "{\"reason\":\"a card is changed\"}", 200);
	ck_assert_int_gt(events_of(&desk), 0);
	moved = apply(&desk, made, 409);
	says(moved, "node002 has changed since this plan was made; plan again");
	/* the image */
	fresh = plan(&desk, "gres = rdma:rxe:1", "gres = rdma:rxe:3", NULL, 200);
	write_image(&desk, "2026-02-02T00:00:00Z");
	image = apply(&desk, fresh, 409);
	says(image, "have changed since this plan was made");
	end(&desk);
}
END_TEST

START_TEST(drift_is_told_and_decides_nothing)
{
	struct desk desk;
	bu_autojson json_t *first = NULL, *second = NULL, *applied = NULL;
	bu_autofree char *none = NULL, *text = NULL;
	struct bu_event event;

	begin(&desk);
	first = plan(&desk, NULL, NULL, NULL, 200);
	applied = apply(&desk, first, 200);
	row_init(&event, BU_EVENT_CONDITION, "node002",
		 json_pack("{s:s,s:b,s:s}", "name", "unreachable", "on", 1, "detail",
			   ""));
	bu_reconcile_note(desk.site.rig.rec, &event, 1);
	rig_pass(&desk.site.rig, 1);
	second = plan(&desk, NULL, NULL, NULL, 200);
	none = bu_json_canonical(
		json_object_get(json_object_get(first, "plan"), "drift"));
	text = bu_json_canonical(
		json_object_get(json_object_get(second, "plan"), "drift"));
	ck_assert_str_eq(none, "[]");
	ck_assert_str_eq(text, "[{\"condition\":\"unreachable\",\"node\":\"node002\","
			       "\"said\":{\"args\":{\"detail\":\"\",\"name\":"
			       "\"unreachable\"},\"code\":\"condition\"},\"state\":"
			       "\"enrolled\"}]");
	/* What was agreed to still holds when it has ended. */
	row_init(&event, BU_EVENT_CONDITION, "node002",
		 json_pack("{s:s,s:b}", "name", "unreachable", "on", 0));
	bu_reconcile_note(desk.site.rig.rec, &event, 1);
	rig_pass(&desk.site.rig, 1);
	json_decref(applied);
	applied = apply(&desk, second, 200);
	end(&desk);
}
END_TEST

/* Wherever bringupd listens, and what it hands out, is taken; what it does not do takes
 * nothing. */
START_TEST(where_bringupd_listens_is_no_nodes_address)
{
	static const struct {
		const char *to, *error;
	} rows[] = {
		{"10.77.0.[2,11-", "10.77.0.2 of node 'node001' is the appliance's own "
				   "(boot_listen in bringupd.conf); take it out"},
		{"10.77.0.[3,11-", "10.77.0.3 of node 'node001' is the appliance's own "
				   "(agent_listen in bringupd.conf); take it out"},
		{"10.77.0.[4,11-", "10.77.0.4 of node 'node001' is the appliance's own "
				   "(boot_address in bringupd.conf); take it out"},
		{"10.77.0.[150,11-", "10.77.0.150 of node 'node001' is handed out to "
				     "unknown machines (dhcp_range in bringupd.conf)"},
	};
	struct desk desk;
	struct bu_api *api = &desk.site.api;

	begin(&desk);
	api->work.http_url = "http://10.77.0.2:8080";
	api->agent_url = "https://10.77.0.3:8443";
	api->work.boot_address = "10.77.0.4";
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *answer =
			plan(&desk, "10.77.0.[11-", rows[i].to, NULL, 400);

		says(answer, rows[i].error);
	}
	api->work.http_url = api->agent_url = api->work.boot_address = api->dhcp_range =
		NULL;
	for (size_t i = 0; i < BU_LEN(rows); i++)
		json_decref(plan(&desk, "10.77.0.[11-", rows[i].to, NULL, 200));
	end(&desk);
}
END_TEST

/* Somebody else's data, on a machine that bringup never wrote to: no plan takes it for
 * an empty one. */
START_TEST(what_is_on_a_foreign_disk_goes_by_a_grant_alone)
{
	static const struct {
		const char *wanted, *class, *why; /* wanted "": it was not seen */
		int written;
	} rows[] = {{"smallest", "wipe", "its disk is not empty", 1},
		    {"smallest", "install", "not installed", 0},
		    {"", "install", "not installed", 0}};
	struct desk desk;
	struct bu_node *node;
	bu_autojson json_t *first = NULL;
	struct rig *rig = &desk.site.rig;

	begin(&desk);
	first = plan(&desk, NULL, NULL, NULL, 200);
	json_decref(apply(&desk, first, 200));
	for (int i = 0; i < 10; i++)
		rig_pass(rig, 1);
	rig_start(rig, 1);
	node = rig_node(rig, 1);
	rig_fire(rig, node, BU_TRIGGER_FAULT);
	rig_until(rig, node, BU_STATE_FAILED);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *planned = NULL;
		const json_t *step;

		*bu_node_disk(node) = (struct bu_seen_disk){.written = rows[i].written};
		strcpy(bu_node_disk(node)->wanted, rows[i].wanted);
		strcpy(bu_node_disk(node)->path, "/dev/vda");
		planned = plan(&desk, NULL, NULL, NULL, 200);
		step = json_array_get(steps_of(planned), 0);
		ck_assert_str_eq(bu_json_str(step, "node", ""), "node001");
		ck_assert_str_eq(bu_json_str(step, "class", ""), rows[i].class);
		rig_text_has(rig_sentence(json_object_get(step, "why")), rows[i].why);
		if (rows[i].written)
			json_decref(apply(&desk, planned, 403));
	}
	end(&desk);
}
END_TEST

RIG_UNIT("plans", a_plan_is_applied_once, a_list_of_nodes_says_what_a_turn_waits_for,
	 a_limit_is_a_nodeset_of_the_profile, a_typo_never_reaches_a_plan,
	 the_drivers_that_are_named_exist, what_machines_load_is_there,
	 what_policy_forbids_is_shown_and_not_applied,
	 a_plan_is_refused_when_something_has_moved, drift_is_told_and_decides_nothing,
	 where_bringupd_listens_is_no_nodes_address,
	 what_is_on_a_foreign_disk_goes_by_a_grant_alone)
