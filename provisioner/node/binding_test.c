/* SPDX-License-Identifier: Apache-2.0 */
/* Which machine is bound to which name, what two machines tell alike, and that nothing
 * is left of one that is forgotten. */
#include "provisioner/node/binding.h"

#include "provisioner/node/identity_index.h"
#include "tests/support/rows.h"
#include "tests/support/unit.h"

#define UUID_A "4c4c4544-0042-3510-8053-b4c04f4e4d32"
#define UUID_TURNED "44454c4c-4200-1035-8053-b4c04f4e4d32"

/* What its machine tells of itself, as one row. */
static void
told(struct rows *rows, const char *node, const char *machine, const char *tells)
{
	bu_autofree char *body =
		bu_xasprintf("{'step':'s','machine':'%s','told':{%s}}", machine, tells);

	free(rows_read(rows, &(struct row){node, BU_EVENT_ADMITTED, body, ""}));
}

/* "node001=m1 node002= " in the order that the fleet has them; each is found by its
 * name, and its machine is only its own. Owned. */
static char *
bound(const struct bu_fleet *fleet)
{
	char *text = bu_xstrdup("");
	size_t machines = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		bu_text_add(&text, "", "%s=%s ", node->name, node->machine);
		ck_assert_ptr_eq(bu_fleet_node(fleet, node->name), node);
		if (node->machine[0])
			ck_assert_ptr_eq(bu_fleet_node_of(fleet, node->machine), node);
		machines += node->machine[0] != '\0';
	}
	ck_assert_uint_eq(json_object_size(fleet->machines), machines);
	return text;
}

static void
is_bound(const struct bu_fleet *fleet, const char *wanted)
{
	bu_autofree char *text = bound(fleet);

	ck_assert_str_eq(text, wanted);
}

START_TEST(a_machine_is_bound_to_one_node)
{
	struct rows rows;

	rows_begin(&rows, 3);
	told(&rows, "node001", "m1", "'serial':'S1','uuid':'','macs':[]");
	told(&rows, "node003", "m3", "'serial':'S3','uuid':'','macs':[]");
	is_bound(rows.fleet, "node001=m1 node002= node003=m3 ");
	/* it comes back under another name */
	told(&rows, "node002", "m1", "'serial':'S1','uuid':'','macs':[]");
	is_bound(rows.fleet, "node001= node002=m1 node003=m3 ");
	/* another machine takes the name */
	told(&rows, "node002", "m2", "'serial':'S2','uuid':'','macs':[]");
	is_bound(rows.fleet, "node001= node002=m2 node003=m3 ");
	told(&rows, "node002", "m2", "'serial':'S2','uuid':'','macs':[]");
	is_bound(rows.fleet, "node001= node002=m2 node003=m3 ");
	told(&rows, "node001", "m3", "'serial':'S3','uuid':'','macs':[]");
	is_bound(rows.fleet, "node001=m3 node002=m2 node003= ");
	rows_end(&rows);
}
END_TEST

static void
ask_all(struct bu_node *node)
{
	bu_node_console(node)->asking = node->live.medium_asked = 1;
	bu_node_console(node)->next_ms = 7;
	for (int i = 0; i < BU_REPORTS; i++)
		bu_node_reports(node)[i].asking = 1;
	bu_node_set_symptoms(node, "e1");
}

static int
is_asked(const struct bu_node *node)
{
	const struct bu_node_live *live = &node->live;
	int asked = live->console->asking + (live->console->next_ms != 0) +
		    live->medium_asked + (live->symptoms[0] != '\0');

	for (int i = 0; i < BU_REPORTS; i++)
		asked += live->reports[i].asking;
	return asked;
}

/* From the same nodes each time: two with machines, and one without between them. */
START_TEST(a_name_is_changed)
{
	static const struct {
		const char *node, *to;
		const char *nodes; /* then; or why not */
		int refused;
		int asked; /* of what was asked for, all in all */
	} cases[] = {
		{"node001", "gpu001", "gpu001=m1 node002= node003=m3 ", 0, 14},
		{"node001", "node002", "node001= node002=m1 node003=m3 ", 0, 7},
		{"node001", "node0022", "node002= node0022=m1 node003=m3 ", 0, 14},
		{"node001", "zz", "node002= node003=m3 zz=m1 ", 0, 14},
		{"node003", "aa", "aa=m3 node001=m1 node002= ", 0, 14},
		{"node003", "node0011", "node001=m1 node0011=m3 node002= ", 0, 14},
		{"node003", "node002", "node001=m1 node002=m3 node003= ", 0, 7},
		{"node002", "node0021", "node001=m1 node0021= node003=m3 ", 0, 14},
		{"node002", "node001",
		 "node node002 cannot become 'node001', which is bound to a machine", 1,
		 21},
		{"node002", "no name", "node node002 cannot become 'no name'", 1, 21},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		const char *tells = "'serial':'S1','uuid':'','macs':"
				    "['52:54:00:00:00:01']";
		struct rows rows;
		struct bu_node *node;
		struct bu_err err = {0};
		int asked = 0;

		rows_begin(&rows, 3);
		told(&rows, "node001", "m1", tells);
		told(&rows, "node003", "m3",
		     "'serial':'S3','uuid':'','macs':['52:54:00:00:00:03']");
		for (size_t n = 0; n < 3; n++)
			ask_all(rows.fleet->nodes[n]);
		node = bu_fleet_node(rows.fleet, cases[i].node);
		ck_assert_int_eq(
			bu_binding_rename(rows.fleet, node, cases[i].to, 5, &err),
			cases[i].refused ? -1 : 0);
		for (size_t n = 0; n < 3; n++)
			asked += is_asked(rows.fleet->nodes[n]);
		ck_assert_int_eq(asked, cases[i].asked);
		if (cases[i].refused) {
			ck_assert_str_eq(err.text, cases[i].nodes);
			ck_assert_int_eq(err.kind, BU_ERR_INVAL);
			is_bound(rows.fleet, "node001=m1 node002= node003=m3 ");
			ck_assert_str_eq(node->called, "");
		} else {
			is_bound(rows.fleet, cases[i].nodes);
			ck_assert_str_eq(node->called, cases[i].node);
			/* its cards are known by the new name alone */
			if (node->machine[0])
				ck_assert_ptr_eq(bu_identity_index_by_mac(rows.fleet,
									  node->macs),
						 node);
			/* once more, before its files are written */
			ck_assert_int_eq(
				bu_binding_rename(rows.fleet, node, "more", 5, NULL),
				0);
			ck_assert_str_eq(node->called, cases[i].node);
		}
		rows_end(&rows);
	}
}
END_TEST

/* A conditions's detail, "" when it is off. */
static const char *
shared(struct rows *rows, const char *name)
{
	const struct bu_condition *condition =
		&bu_fleet_node(rows->fleet, name)
			 ->conditions[BU_CONDITION_SHARED_IDENTITY];

	return condition->on ? rig_sentence(condition->detail) : "";
}

static void
is_shared(struct rows *rows, const char *one, const char *two, const char *three)
{
	ck_assert_str_eq(shared(rows, "node001"), one);
	ck_assert_str_eq(shared(rows, "node002"), two);
	ck_assert_str_eq(shared(rows, "node003"), three);
}

static int64_t
since(struct rows *rows, const char *name)
{
	return (bu_fleet_node(rows->fleet, name)
			->conditions[BU_CONDITION_SHARED_IDENTITY]
			.since_ms -
		ROWS_START_MS) /
	       1000;
}

START_TEST(what_machines_tell_alike_is_said_of_each)
{
	static const char one[] = "'serial':'S1','uuid':'" UUID_A "','macs':["
				  "'52:54:00:00:00:01','52:54:00:00:00:01']";
	static const char two[] = "'serial':'S2','uuid':'','macs':"
				  "['52:54:00:00:00:02','52:54:00:00:00:01']";
	static const char three[] = "'serial':'S3','uuid':'" UUID_A "','macs':["
				    "'52:54:00:00:00:03']";
	struct rows rows;
	struct bu_fleet *fleet;

	rows_begin(&rows, 3);
	fleet = rows.fleet;
	told(&rows, "node001", "m1", one);
	is_shared(&rows, "", "", "");
	ck_assert_ptr_null(bu_identity_index_mac_at(fleet, "52:54:00:00:00:01", 1));
	told(&rows, "node002", "m2", two);
	is_shared(&rows, "MAC 52:54:00:00:00:01 is that of node002, too",
		  "MAC 52:54:00:00:00:01 is that of node001, too", "");
	ck_assert_int_eq(since(&rows, "node001"), 2);
	ck_assert_int_eq(since(&rows, "node002"), 2);
	told(&rows, "node003", "m3", three);
	is_shared(&rows,
		  "UUID " UUID_A " is that of node003, too; "
		  "MAC 52:54:00:00:00:01 is that of node002, too",
		  "MAC 52:54:00:00:00:01 is that of node001, too",
		  "UUID " UUID_A " is that of node001, too");
	/* it is as old as its first finding */
	ck_assert_int_eq(since(&rows, "node001"), 2);
	ck_assert_int_eq(since(&rows, "node003"), 3);
	/* whose a card is, where one alone has it; in any spelling of it */
	ck_assert_ptr_null(bu_identity_index_by_mac(fleet, "52:54:00:00:00:01"));
	ck_assert_str_eq(bu_identity_index_by_mac(fleet, "52-54-00-00-00-02")->name,
			 "node002");
	ck_assert_str_eq(bu_identity_index_mac_at(fleet, "52:54:00:00:00:01", 1)->name,
			 "node002");
	ck_assert_ptr_null(bu_identity_index_mac_at(fleet, "52:54:00:00:00:01", 2));
	ck_assert_ptr_null(bu_identity_index_by_mac(fleet, "52:54:00:00:00:09"));
	ck_assert_ptr_null(bu_identity_index_by_mac(fleet, "no MAC"));
	/* the card goes to where it is told alone */
	told(&rows, "node002", "m2", "'serial':'S2','uuid':'','macs':[]");
	is_shared(&rows, "UUID " UUID_A " is that of node003, too", "",
		  "UUID " UUID_A " is that of node001, too");
	ck_assert_str_eq(bu_identity_index_by_mac(fleet, "52:54:00:00:00:01")->name,
			 "node001");
	/* a UUID is another's in its other byte order, too */
	ck_assert_int_eq(bu_identity_index_has_uuid(fleet, fleet->nodes[0], UUID_A), 1);
	ck_assert_int_eq(
		bu_identity_index_has_uuid(fleet, fleet->nodes[1], UUID_TURNED), 1);
	ck_assert_int_eq(bu_identity_index_has_uuid(fleet, fleet->nodes[0], ""), 0);
	/* its machine is forgotten */
	free(rows_read(&rows, &(struct row){"node001", BU_EVENT_STATE,
					    "{'to':'retired','on':'retire'}", ""}));
	is_shared(&rows, "", "", "");
	ck_assert_int_eq(bu_identity_index_has_uuid(fleet, fleet->nodes[2], UUID_A), 0);
	ck_assert_ptr_null(bu_identity_index_by_mac(fleet, "52:54:00:00:00:01"));
	/* the keys of those that are left */
	ck_assert_uint_eq(json_object_size(fleet->told), 4);
	rows_end(&rows);
}
END_TEST

/* Of several that a machine may be, the one that it comes as. */
START_TEST(whose_machine_it_is)
{
	static const char same[] =
		"'serial':'S1','uuid':'" UUID_A "','macs':['52:54:00:00:00:01']";
	struct rows rows;
	struct bu_machine machine;
	struct bu_fleet *fleet;

	rows_begin(&rows, 3);
	fleet = rows.fleet;
	bu_machine_of("S1", UUID_A, "52:54:00:00:00:01", &machine);
	ck_assert_ptr_null(bu_identity_index_owner(fleet, fleet->nodes[0], &machine));
	told(&rows, "node001", "m1", same);
	told(&rows, "node003", "m3", same);
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_eq(
			bu_identity_index_owner(fleet, fleet->nodes[i], &machine),
			fleet->nodes[i == 2 ? 2 : 0]);
	bu_machine_of("S7", "", "52:54:00:00:00:07", &machine);
	ck_assert_ptr_null(bu_identity_index_owner(fleet, fleet->nodes[0], &machine));
	rows_end(&rows);
}
END_TEST

/* A hello's row has it; a row that tells nothing changes nothing. */
START_TEST(what_a_hello_tells)
{
	static const struct row rows_of[] = {
		{"node001", BU_EVENT_BOUND,
		 "{'machine':'m1','inventory':'i1','firmware':'uefi','told':{'serial':"
		 "'S1','uuid':'" UUID_A "','macs':['52:54:00:00:00:01']},'disk':{"
		 "'path':'/dev/vda','serial':'D1','size_bytes':512,'wanted':'any'}}",
		 " machine=m1/S1/" UUID_A "/52:54:00:00:00:01 known=m1/S1/" UUID_A
		 "/52:54:00:00:00:01/0"},
		{"node001", BU_EVENT_BOUND, "{'machine':'m1','inventory':'i2'}", ""},
	};
	struct bu_seen_disk disk;
	struct rows rows;

	rows_begin(&rows, 1);
	free(rows_read(&rows, &rows_of[0]));
	ck_assert_str_eq(rows.fleet->nodes[0]->live.firmware, "uefi");
	ck_assert_int_eq(bu_fleet_disk(rows.fleet, rows.fleet->nodes[0], "any", &disk),
			 0);
	ck_assert_str_eq(disk.serial, "D1");
	ck_assert_int_eq(disk.size_bytes, 512);
	free(rows_read(&rows, &rows_of[1]));
	ck_assert_str_eq(rows.fleet->nodes[0]->serial, "S1");
	ck_assert_int_eq(bu_fleet_disk(rows.fleet, rows.fleet->nodes[0], "any", &disk),
			 -1);
	rows_end(&rows);
}
END_TEST

/* A card more since it was bound; then none that differs. */
START_TEST(what_differs_is_as_old_as_it_is)
{
	static const struct row rows_of[] = {
		{"node001", BU_EVENT_ADMITTED,
		 "{'step':'s','machine':'m1','told':{'serial':'S1','uuid':'','macs':"
		 "['52:54:00:00:00:01']}}",
		 " admitted=s//1 machine=m1/S1//52:54:00:00:00:01 "
		 "known=m1/S1//52:54:00:00:00:01/0 refusal="},
		{"node001", BU_EVENT_ADMITTED,
		 "{'step':'s','machine':'m1','told':{'serial':'S1','uuid':'','macs':"
		 "['52:54:00:00:00:01','52:54:00:00:00:02']}}",
		 " admitted=s//2 machine=m1/S1//52:54:00:00:00:01 52:54:00:00:00:02 "
		 "hardware-changed=1/a NIC more: 52:54:00:00:00:02/2 refusal="},
		{"node001", BU_EVENT_ADMITTED,
		 "{'step':'s','machine':'m1','told':{'serial':'S1','uuid':'','macs':"
		 "['52:54:00:00:00:03']}}",
		 " admitted=s//3 machine=m1/S1//52:54:00:00:00:03 "
		 "hardware-changed=1/a NIC less: 52:54:00:00:00:01; a NIC more: "
		 "52:54:00:00:00:03/2 refusal="},
		{"node001", BU_EVENT_INSTALLED, "{'step':'i1'}",
		 " installed=1 system=//i1 known=m1/S1//52:54:00:00:00:01/1"},
		{"node001", BU_EVENT_ADMITTED,
		 "{'step':'s','machine':'m1','told':{'serial':'S1','uuid':'','macs':"
		 "['52:54:00:00:00:03']}}",
		 " admitted=s//5 known=m1/S1//52:54:00:00:00:03/0 hardware-changed=0//2 "
		 "refusal="},
	};
	struct rows rows;

	rows_begin(&rows, 1);
	rows_read_all(&rows, "rows_of", rows_of, BU_LEN(rows_of));
	rows_end(&rows);
}
END_TEST

/* All that is of a machine, and of the system on it. */
static void
be_known(struct bu_node *node)
{
	bu_node_set_uuid(node, "u");
	strcpy(node->live.firmware, "uefi");
	bu_node_set_inventory(node, "v");
	bu_node_set_boot_id(node, "b");
	bu_node_set_admitted_step(node, "s");
	bu_node_set_admitted_request(node, "q");
	bu_node_set_installed_image(node, "i");
	bu_node_set_installed_digest(node, "d");
	bu_node_set_installed_step(node, "t");
	bu_node_set_facets(node, "f");
	strcpy(node->slot, "a");
	strcpy(bu_node_other(node)->step, "o");
	strcpy(bu_node_kept_certs(node)[1].fingerprint, "k");
	node->proven = 1;
	bu_node_set_agent_cert(node, "c");
	bu_node_set_agent_cert_next(node, "n");
	bu_node_set_commit(node, "x");
	bu_node_set_evidence(node, "e");
	strcpy(bu_node_disk(node)->wanted, "smallest");
	bu_node_conditions(node)[BU_CONDITION_HARDWARE_CHANGED].on = 1;
	node->boot_installed = node->disk_touched = node->writing = 1;
	node->ram = node->raw = node->booted_by_us = node->serves = node->entering = 1;
}

START_TEST(nothing_is_left_of_a_machine_that_is_forgotten)
{
	static const struct row known[] = {
		{"node001", BU_EVENT_CHECKS, "{'boot_id':'b'}", ""},
		{"node001", BU_EVENT_CERTIFICATE, "{'kind':'full','digest':'F'}", ""},
		{"node001", BU_EVENT_CERTIFICATE, "{'kind':'boot','digest':'B'}", ""},
	};
	static const struct row ends[] = {
		{"node001", BU_EVENT_STATE, "{'to':'retired','on':'retire'}",
		 " state=retired/retire/5/5"},
		{"node001", BU_EVENT_STATE, "{'to':'enrolled','on':'replace'}",
		 " state=enrolled/replace/5/5"},
	};

	for (size_t i = 0; i < BU_LEN(ends); i++) {
		bu_autofree char *changed = NULL, *wanted = NULL;
		struct rows rows;

		rows_begin(&rows, 1);
		told(&rows, "node001", "m1",
		     "'serial':'S1','uuid':'','macs':['52:54:00:00:00:01']");
		for (size_t k = 0; k < BU_LEN(known); k++)
			free(rows_read(&rows, &known[k]));
		be_known(rows.fleet->nodes[0]);
		changed = rows_read(&rows, &ends[i]);
		wanted = bu_xasprintf(
			"%s admitted=//1 cert= cert2= kept1= touched= writing= ram= "
			"raw= boot= ours= system= slot= other= facets= commit= machine= "
			"known=/S1//52:54:00:00:00:01/0 inventory= error= serves= "
			"entering= checks= full_cert= boot_cert= evidence= "
			"hardware-changed= seen= late= clock=5/5/0" ANEW,
			ends[i].changed);
		ck_assert_str_eq(changed, wanted);
		rows_end(&rows);
	}
}
END_TEST

RIG_UNIT("binding", a_machine_is_bound_to_one_node, a_name_is_changed,
	 what_machines_tell_alike_is_said_of_each, whose_machine_it_is,
	 what_a_hello_tells, what_differs_is_as_old_as_it_is,
	 nothing_is_left_of_a_machine_that_is_forgotten)
