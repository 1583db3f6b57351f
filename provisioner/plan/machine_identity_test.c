/* SPDX-License-Identifier: Apache-2.0 */
/* Whose machine a name of the profile means: what people do to names and machines. */
#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
#include "provisioner/plan/plan.h"
#include "provisioner/plan/plan_impl.h"
#include "tests/support/profiles.h"
#include "tests/support/unit.h"

/* "node001 1 2 3 4": name, and the numbers of its MAC, serial number, BMC (below 0 in
 * another spelling) and UUID (may be left out, below 0 as a BMC turns its bytes); 0 =
 * none. */
#define MAC_OF "52:54:00:77:00:0"
#define UUID_OF "11111111-2222-4333-8444-55555555550"
#define TURNED_OF "11111111-2222-3343-8444-55555555550"

/* A profile of one pool with these rows. */
static struct bu_desired *
load(const char *rows)
{
	bu_autofree char *copy = bu_xstrdup(rows);
	bu_autofree char *racks = bu_xstrdup("name,mac,serial,bmc,uuid\n");
	bu_autofree char *names = bu_xstrdup(""), *line = NULL, *site = NULL;
	bu_autofree char *wide = NULL, *found = NULL;
	struct bu_desired *desired;
	char *rest = NULL;

	for (char *row = strtok_r(copy, ";", &rest); row;
	     row = strtok_r(NULL, ";", &rest)) {
		bu_autofree char *old_racks = bu_steal(&racks);
		bu_autofree char *old_names = bu_steal(&names);
		char name[32], mac[24] = "", serial[16] = "", uuid[40] = "";
		int m, s, b, u = 0;

		ck_assert_int_ge(sscanf(row, " %31s %d %d %d %d", name, &m, &s, &b, &u),
				 4);
		if (u)
			snprintf(uuid, sizeof(uuid), "%s%d",
				 u < 0 ? TURNED_OF : UUID_OF, abs(u));
		if (m)
			snprintf(mac, sizeof(mac), MAC_OF "%d", m);
		if (s)
			snprintf(serial, sizeof(serial), "S-%d", s);
		racks = bu_xasprintf("%s%s,%s,%s,qemu%s:///system#vm%d,%s\n", old_racks,
				     name, mac, serial, b < 0 ? "+unix" : "", abs(b),
				     uuid);
		names = bu_xasprintf("%s%s%s", old_names, *old_names ? "," : "", name);
	}
	line = bu_xasprintf("nodes = %s\n", names);
	wide = bu_testing_replace(bu_testing_site, "10.78.0.11,10.78.0.12",
				  "10.78.0.[11-14]");
	site = bu_testing_replace(wide, "nodes = node[001-002]\n", line);
	found = bu_testing_check(site, racks, &desired);
	ck_assert_msg(desired != NULL, "%s", found);
	return desired;
}

/* A node that is bound to machine `number`: its MACs are number and number + 4. */
static struct bu_node *
bound(const char *name, int number, enum bu_state state)
{
	struct bu_node *node = bu_node_create(name);
	char text[64];

	snprintf(text, sizeof(text), "m%d", number);
	bu_node_set_machine(node, text);
	snprintf(text, sizeof(text), " s-%d ", number);
	bu_node_set_serial(node, text);
	snprintf(text, sizeof(text), UUID_OF "%d", number);
	bu_node_set_uuid(node, text);
	node->macs = bu_xasprintf(MAC_OF "%d " MAC_OF "%d", number, number + 4);
	node->numbers = bu_xasprintf("board S-1%d\nchassis S-20", number);
	node->state = state;
	return node;
}

struct row {
	const char *applied, *desired; /* rows of profiles */
	const char *want;              /* the node that is looked at */
	enum bu_machine_identity_kind kind;
	const char *holder; /* whose machine it is; NULL = nobody's */
	const char *why;
};

#define BOTH "node001 1 1 1; node002 2 2 2"
#define REFUSED BU_MACHINE_IDENTITY_CONFLICT

/* node001 is bound to machine 1, node002 to machine 2; both are ready. */
static const struct row rows[] = {
	{BOTH, BOTH, "node001", BU_MACHINE_IDENTITY_SAME, "node001", ""},
	{BOTH, BOTH "; new 3 3 3", "new", BU_MACHINE_IDENTITY_SAME, NULL, ""},
	/* the same machine under another name, by each of its keys */
	{BOTH, "gpu 1 1 1; node002 2 2 2", "gpu", BU_MACHINE_IDENTITY_RENAMED,
	 "node001", "by its serial number it is the machine of node001"},
	{BOTH, "gpu 1 0 1; node002 2 2 2", "gpu", BU_MACHINE_IDENTITY_RENAMED,
	 "node001", "by its MAC address it is the machine of node001"},
	{BOTH, "gpu 5 0 1; node002 2 2 2", "gpu", BU_MACHINE_IDENTITY_RENAMED,
	 "node001", "MAC address"},
	{BOTH, "gpu 3 1 3; node002 2 2 2", "gpu", BU_MACHINE_IDENTITY_RENAMED,
	 "node001", "serial number"},
	{BOTH, "gpu 3 0 3 1; node002 2 2 2", "gpu", BU_MACHINE_IDENTITY_RENAMED,
	 "node001", "by its UUID it is the machine of node001"},
	/* the inventory has the UUID as the BMC says it */
	{BOTH, "gpu 3 0 3 -1; node002 2 2 2", "gpu", BU_MACHINE_IDENTITY_RENAMED,
	 "node001", "by its UUID it is the machine of node001"},
	{"node001 1 0 1 1; node002 2 2 2", "node001 3 0 3 -1; node002 2 2 2", "node001",
	 BU_MACHINE_IDENTITY_SAME, "node001", ""},
	{"node001 1 0 1; node002 2 2 2", "node001 3 0 3 -1; node002 2 2 2", "node001",
	 BU_MACHINE_IDENTITY_SAME, "node001", ""},
	{"node001 1 0 1; node002 2 0 2", "node001 1 0 1 -2; node002 2 0 2", "node001",
	 REFUSED, NULL, "its UUID is that of the machine of node node002"},
	/* it left the profile before, and comes back under another name */
	{"node002 2 2 2", "gpu 1 1 1; node002 2 2 2", "gpu",
	 BU_MACHINE_IDENTITY_RENAMED, "node001", "machine of node001"},
	/* only the BMC is the same: power would reach a machine that nobody means */
	{BOTH, "gpu 3 3 1; node002 2 2 2", "gpu", BU_MACHINE_IDENTITY_NOT_NOW, NULL,
	 "its BMC is that of node node001"},
	{BOTH, "gpu 3 3 -1; node002 2 2 2", "gpu", BU_MACHINE_IDENTITY_NOT_NOW, NULL,
	 "its BMC is that of node node001"},
	/* the profile has the number of its board, or of its chassis */
	{BOTH, "node001 1 11 1; node002 2 2 2", "node001", BU_MACHINE_IDENTITY_SAME,
	 "node001", ""},
	{BOTH, "node001 1 20 1; node002 2 2 2", "node001", BU_MACHINE_IDENTITY_SAME,
	 "node001", ""},
	{BOTH, "gpu 3 11 3; node002 2 2 2", "gpu", BU_MACHINE_IDENTITY_RENAMED,
	 "node001", "by its serial number it is the machine of node001"},
	{BOTH, "gpu 3 20 3; node002 2 2 2", "gpu", BU_MACHINE_IDENTITY_SAME, NULL, ""},
	/* another machine under the same name */
	{BOTH, "node001 3 3 3; node002 2 2 2", "node001", BU_MACHINE_IDENTITY_REPLACED,
	 "node001", "serial S-3, it was  s-1"},
	{BOTH, "node001 3 3 1; node002 2 2 2", "node001", BU_MACHINE_IDENTITY_REPLACED,
	 "node001", "serial S-3"},
	{"node001 1 0 1; node002 2 0 2", "node001 3 0 1; node002 2 0 2", "node001",
	 BU_MACHINE_IDENTITY_REPLACED, "node001", "MAC " MAC_OF "3"},
	{"node001 1 0 1; node002 2 0 2", "node001 1 0 1 3; node002 2 0 2", "node001",
	 BU_MACHINE_IDENTITY_REPLACED, "node001", "UUID"},
	/* a main board keeps its UUID in another machine: the serial number decides */
	{"node001 1 1 1 1; node002 2 2 2", "node001 1 3 1 1; node002 2 2 2", "node001",
	 BU_MACHINE_IDENTITY_REPLACED, "node001", "serial S-3"},
	/* a card was exchanged, its port changed, its BMC moved: the same machine */
	{BOTH, "node001 3 1 1; node002 2 2 2", "node001", BU_MACHINE_IDENTITY_SAME,
	 "node001", ""},
	{"node001 1 0 1; node002 2 0 2", "node001 5 0 1; node002 2 0 2", "node001",
	 BU_MACHINE_IDENTITY_SAME, "node001", ""},
	{BOTH, "node001 1 1 3; node002 2 2 2", "node001", BU_MACHINE_IDENTITY_SAME,
	 "node001", ""},
	/* the profile was always wrong about a serial number */
	{"node001 1 9 1; node002 2 2 2", "node001 1 9 1; node002 2 2 2", "node001",
	 BU_MACHINE_IDENTITY_SAME, "node001", ""},
	/* once applied, the wrong profile does not become the truth about machines */
	{"node001 2 2 2; node002 1 1 1", "node001 2 2 2; node002 1 1 1", "node001",
	 REFUSED, NULL, "its serial number is that of the machine of node node002"},
	{"node001 2 2 2; node002 1 1 1", "node001 2 2 2; node002 1 1 1", "node002",
	 REFUSED, NULL, "its serial number is that of the machine of node node001"},
	/* nor does a wrong MAC or serial number keep a machine from its own row */
	{"node001 3 1 1; node002 2 2 2", "node001 1 1 1; node002 2 2 2; gpu 3 3 3",
	 "gpu", BU_MACHINE_IDENTITY_SAME, NULL, ""},
	{"node001 1 3 1; node002 2 2 2", "node001 1 1 1; node002 2 2 2; gpu 3 3 3",
	 "gpu", BU_MACHINE_IDENTITY_SAME, NULL, ""},
	{"node001 3 1 1; node002 2 2 2", "node001 0 1 1; node002 2 2 2; gpu 3 3 3",
	 "gpu", BU_MACHINE_IDENTITY_SAME, NULL, ""},
	{"node001 3 0 1; node002 2 2 2", "node001 1 0 1; node002 2 2 2; gpu 3 0 3",
	 "gpu", BU_MACHINE_IDENTITY_SAME, NULL, ""},
	{"node001 3 1 1; node002 2 2 2", "gpu 3 3 3; node002 2 2 2", "gpu",
	 BU_MACHINE_IDENTITY_SAME, NULL, ""},
	/* it boots from a USB card, of which its machine tells nothing later; a label
	 * has another serial number than the firmware */
	{"node001 3 0 1; node002 2 2 2", "gpu 3 0 1; node002 2 2 2", "gpu",
	 BU_MACHINE_IDENTITY_RENAMED, "node001",
	 "by its MAC address it is the machine of"},
	{"node001 3 0 1; node002 2 2 2", "gpu 3 0 4; node002 2 2 2", "gpu",
	 BU_MACHINE_IDENTITY_RENAMED, "node001",
	 "by its MAC address it is the machine of"},
	{"node001 1 9 1; node002 2 2 2", "gpu 0 9 1; node002 2 2 2", "gpu",
	 BU_MACHINE_IDENTITY_RENAMED, "node001",
	 "by its serial number it is the machine of"},
	{"node001 3 0 1; node002 2 2 2", "node001 4 0 4; gpu 3 0 1; node002 2 2 2",
	 "gpu", REFUSED, NULL, "take node001 out of the profile and apply"},
	{"node001 3 0 1; node002 4 0 2", "node001 4 0 1; node002 3 0 2", "node001",
	 REFUSED, NULL, "its MAC address is that of the machine of node node002"},
	/* names exchanged, MACs exchanged, BMCs exchanged */
	{BOTH, "node001 2 2 2; node002 1 1 1", "node001", REFUSED, NULL,
	 "its serial number is that of the machine of node node002"},
	{BOTH, "node001 2 1 1; node002 1 2 2", "node001", REFUSED, NULL,
	 "its MAC address is that of the machine of node node002"},
	{BOTH, "node001 1 1 2; node002 2 2 1", "node002", REFUSED, NULL,
	 "its BMC is that of the machine of node node001"},
	/* a name moves on to a machine that another node holds */
	{BOTH, "node001 2 2 2", "node001", REFUSED, NULL, "names move one at a time"},
	/* two names for one machine, against reality */
	{"node001 1 0 1; node002 2 0 2", "node001 1 0 1; node002 2 0 2; gpu 5 0 3",
	 "gpu", REFUSED, NULL, "which is in the profile too"},
	/* two new names for the machine of one that leaves, by keys of one each */
	{BOTH, "gpu 3 1 3; new 1 0 4; node002 2 2 2", "gpu", REFUSED, NULL,
	 "its serial number is that of the machine of node node001, whose machine new "
	 "would get, too"},
	{BOTH, "gpu 3 1 3; new 1 0 4; node002 2 2 2", "new", REFUSED, NULL,
	 "its MAC address is that of the machine of node node001, whose machine gpu "
	 "would get, too"},
	/* the machine of a name that gets another one: the way out is named */
	{BOTH, "gpu 1 1 1; node001 3 3 3", "gpu", REFUSED, NULL,
	 "take node001 out of the profile and apply"},
	{BOTH, "gpu 3 3 1; node001 4 4 4", "gpu", REFUSED, NULL,
	 "bringup node replace node001"},
	{BOTH, "gpu 3 3 1; node001 1 1 3", "gpu", REFUSED, NULL,
	 "a machine has one name"},
	/* keys of two machines */
	{BOTH, "gpu 2 1 3", "gpu", REFUSED, NULL,
	 "its serial number is that of node node001, its MAC address that of node "
	 "node002"},
};

static void
look(const struct row *row, struct bu_node *const *nodes, size_t count,
     struct bu_machine_identity *ret)
{
	struct bu_desired *applied = load(row->applied), *desired = load(row->desired);
	struct bu_plan_input input = {
		.desired = desired, .applied = applied, .nodes = nodes, .count = count};
	json_t *index = bu_machine_identity_index(&input);

	bu_machine_identity_find(&input, index, bu_desired_node(desired, row->want),
				 ret);
	json_decref(index);
	bu_desired_destroy(desired);
	bu_desired_destroy(applied);
}

static void
says(const struct bu_machine_identity *found, const char *words, size_t row)
{
	bu_autofree char *why = bu_reason_text(&found->why);

	ck_assert_msg(strstr(why, words) != NULL, "row %zu: %s", row, why);
}

START_TEST(machines_go_before_names)
{
	struct bu_node *nodes[] = {bound("node001", 1, BU_STATE_READY),
				   bound("node002", 2, BU_STATE_READY)};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct row *row = &rows[i];
		struct bu_machine_identity found;

		look(row, nodes, BU_LEN(nodes), &found);
		ck_assert_msg(found.kind == row->kind, "row %zu: kind %d: %s", i,
			      (int)found.kind, bu_reason_info(found.why.code)->name);
		says(&found, row->why, i);
		if (row->kind != REFUSED)
			ck_assert_str_eq(found.node ? found.node->name : "",
					 row->holder ? row->holder : "");
	}
	bu_node_destroy(nodes[0]);
	bu_node_destroy(nodes[1]);
}
END_TEST

/* Where its partitions are on a disk they are looked for by the names of then. */
START_TEST(a_node_with_data_keeps_its_names)
{
	struct bu_node *node = bound("node001", 1, BU_STATE_READY);
	struct bu_desired *applied = load("node001 1 1 1"),
			  *same = load("node001 1 1 1");
	struct bu_desired *desired[] = {load("gpu 1 1 1"), same, same};
	const char *const names[] = {"gpu", "node001", "node001"};
	const char *const old[] = {"node001", "", "lab-before"};
	const enum bu_machine_identity_kind without[] = {BU_MACHINE_IDENTITY_RENAMED,
							 BU_MACHINE_IDENTITY_SAME,
							 BU_MACHINE_IDENTITY_SAME};

	for (size_t i = 0; i < 12; i++) {
		struct bu_desired *to = desired[i / 4];
		struct bu_plan_input input = {
			.desired = to, .applied = applied, .nodes = &node, .count = 1};
		bu_autojson json_t *index = bu_machine_identity_index(&input);
		struct bu_machine_identity found;
		int data = i & 1, installed = i & 2;

		if (i == 8) {
			free(applied->site.name);
			applied->site.name = bu_xstrdup(old[2]);
		}
		free(to->pools[0].data);
		to->pools[0].data = data ? bu_xstrdup("lake:1GiB:ext4:/lake") : NULL;
		bu_node_set_installed_digest(node, installed ? "d1" : "");
		bu_machine_identity_find(&input, index,
					 bu_desired_node(to, names[i / 4]), &found);
		if (data && installed && *old[i / 4]) {
			ck_assert_int_eq(found.kind, BU_MACHINE_IDENTITY_CONFLICT);
			ck_assert_int_eq(found.why.code, BU_REASON_DATA_NAMED);
			ck_assert_str_eq(bu_reason_arg(&found.why, "name"), old[i / 4]);
		} else {
			ck_assert_int_eq(found.kind, without[i / 4]);
		}
	}
	bu_node_destroy(node);
	bu_desired_destroy(applied);
	bu_desired_destroy(desired[0]);
	bu_desired_destroy(same);
}
END_TEST

/* Who has no machine holds none; whose install is under way may be about to. */
START_TEST(only_who_has_a_machine_holds_one)
{
	static const struct row row = {BOTH, "gpu 1 1 1; node002 2 2 2", "gpu", 0, 0,
				       0};
	static const struct row swapped = {
		BOTH, "gpu 1 1 1; node001 3 3 3", "gpu", 0, 0, 0};
	struct bu_node *node = bu_node_create("node001");
	struct bu_machine_identity found;

	look(&row, &node, 1, &found);
	ck_assert_int_eq(found.kind, BU_MACHINE_IDENTITY_SAME);
	ck_assert_ptr_null(found.node);
	node->state = BU_STATE_INSPECTING;
	look(&row, &node, 1, &found);
	ck_assert_int_eq(found.kind, BU_MACHINE_IDENTITY_NOT_NOW);
	ck_assert_int_eq(found.why.code, BU_REASON_OWNER_LEFT);
	/* its own row has moved on to another machine; nothing of it is bound yet */
	node->live.in_profile = 1;
	look(&swapped, &node, 1, &found);
	ck_assert_int_eq(found.kind, BU_MACHINE_IDENTITY_CONFLICT);
	ck_assert_int_eq(found.why.code, BU_REASON_OWNER_BUSY);
	node->live.in_profile = 0;
	/* applied now, it would leave the profile and get nowhere */
	node->live.in_profile = 1;
	look(&row, &node, 1, &found);
	ck_assert_int_eq(found.kind, BU_MACHINE_IDENTITY_CONFLICT);
	ck_assert_int_eq(found.why.code, BU_REASON_OWNER_BUSY);
	ck_assert_str_eq(bu_reason_arg(&found.why, "state"), "inspecting");
	bu_node_destroy(node);
}
END_TEST

/* Under its new name nobody could take it back: what is not in the profile is let be.
 */
START_TEST(what_a_person_took_out_is_renamed_when_it_is_back)
{
	static const struct row row = {BOTH, "gpu 1 1 1; node002 2 2 2", "gpu", 0, 0,
				       0};
	struct bu_node *node = bound("node001", 1, BU_STATE_SERVICING);
	struct bu_machine_identity found;

	node->live.in_profile = 1;
	look(&row, &node, 1, &found);
	ck_assert_int_eq(found.kind, BU_MACHINE_IDENTITY_CONFLICT);
	ck_assert_int_eq(found.why.code, BU_REASON_OWNER_OUT);
	ck_assert_str_eq(bu_reason_arg(&found.why, "verb"), "release");
	node->state = BU_STATE_PARKED;
	look(&row, &node, 1, &found);
	ck_assert_int_eq(found.kind,
			 BU_MACHINE_IDENTITY_RENAMED); /* it is written anew */
	bu_node_set_installed_digest(node, "d1");
	look(&row, &node, 1, &found);
	ck_assert_int_eq(found.kind, BU_MACHINE_IDENTITY_CONFLICT);
	ck_assert_str_eq(bu_reason_arg(&found.why, "verb"), "resume");
	/* it left the profile before: only one verb is taken of it */
	node->live.in_profile = 0;
	look(&row, &node, 1, &found);
	ck_assert_int_eq(found.kind, BU_MACHINE_IDENTITY_NOT_NOW);
	ck_assert_int_eq(found.why.code, BU_REASON_OWNER_LEFT);
	bu_node_destroy(node);
}
END_TEST

static const struct bu_plan_image *
image_of(void *arg, const struct bu_desired_image *image, struct bu_err *err)
{
	static const struct bu_plan_image found = {.digest = "d1"};

	return &found;
}

static enum bu_plan_disk
disk_of(void *arg, const struct bu_node *node, const char *path)
{
	return BU_PLAN_DISK_UNKNOWN;
}

static double
minutes_of(void *arg, const char *pool, enum bu_class class)
{
	return -1;
}

/* The machine that it joins with is gone, and does not get there. */
START_TEST(a_machine_that_is_replaced_on_its_way_is_let_go_by_a_verb)
{
	struct bu_desired *applied = load(BOTH);
	struct bu_desired *desired = load("node001 3 3 1; node002 2 2 2");
	struct bu_node *nodes[] = {bound("node001", 1, BU_STATE_JOINING),
				   bound("node002", 2, BU_STATE_JOINING)};
	struct bu_plan_input input = {.desired = desired,
				      .applied = applied,
				      .revision = desired->digest,
				      .commit = "",
				      .nodes = nodes,
				      .count = BU_LEN(nodes),
				      .image = image_of,
				      .disk = disk_of,
				      .minutes = minutes_of};
	bu_autojson json_t *plan = bu_plan_make(&input, NULL);
	const json_t *refused = json_object_get(plan, "refused");
	bu_autofree char *why =
		bu_said_text(json_object_get(json_array_get(refused, 0), "why"));

	ck_assert_ptr_nonnull(strstr(why, "bringup node replace node001 forgets"));
	for (size_t i = 0; i < BU_LEN(nodes); i++)
		bu_node_destroy(nodes[i]);
	bu_desired_destroy(desired);
	bu_desired_destroy(applied);
}
END_TEST

/* Whoever it is planned for: power of nodes in service would follow the profile. */
START_TEST(a_profile_that_contradicts_the_machines_is_not_applied)
{
	for (int limited = 0; limited < 2; limited++) {
		struct bu_desired *applied = load(BOTH);
		struct bu_desired *desired = load("node001 1 1 2; node002 2 2 1");
		struct bu_node *nodes[] = {bound("node001", 1, BU_STATE_READY),
					   bound("node002", 2, BU_STATE_READY)};
		struct bu_nodeset *limit =
			limited ? bu_nodeset_parse("node002", NULL, NULL, NULL) : NULL;
		struct bu_plan_input input = {.desired = desired,
					      .applied = applied,
					      .revision = desired->digest,
					      .commit = "",
					      .limit = limit,
					      .nodes = nodes,
					      .count = BU_LEN(nodes),
					      .image = image_of,
					      .disk = disk_of,
					      .minutes = minutes_of};
		struct bu_err err = {0};
		json_t *plan = bu_plan_make(&input, &err);
		struct bu_plan read;

		ck_assert_msg(plan != NULL, "%s", err.text);
		ck_assert_int_eq(bu_plan_read(plan, &read, NULL), 0);
		ck_assert_int_eq(bu_plan_allowed(&read, &err), -1);
		bu_record_fini(bu_plan_fields, &read);
		ck_assert_int_eq(err.kind, BU_ERR_DENIED);
		ck_assert_ptr_eq(strstr(err.text,
					"the profile contradicts what is known of "
					"machines; node node001: "),
				 err.text);
		ck_assert_uint_eq(json_array_size(json_object_get(plan, "steps")), 0);
		json_decref(plan);
		bu_nodeset_destroy(limit);
		bu_node_destroy(nodes[0]);
		bu_node_destroy(nodes[1]);
		bu_desired_destroy(desired);
		bu_desired_destroy(applied);
	}
}
END_TEST

BU_UNIT("machine_identity", machines_go_before_names, a_node_with_data_keeps_its_names,
	a_profile_that_contradicts_the_machines_is_not_applied,
	a_machine_that_is_replaced_on_its_way_is_let_go_by_a_verb,
	only_who_has_a_machine_holds_one,
	what_a_person_took_out_is_renamed_when_it_is_back)
