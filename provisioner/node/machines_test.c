/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who a machine is: what it says of itself, then what it says the next time, and what
 * is made of that. One table; each row goes through the enrolment and the hello of a
 * boot.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/identity_index.h"
#include "provisioner/node/reconcile.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

#define UUID_A "4c4c4544-0042-3510-8053-b4c04f4e4d32"
#define UUID_A_TURNED "44454c4c-4200-1035-8053-b4c04f4e4d32"
#define UUID_B "4c4c4544-0042-3510-8053-b4c04f4e4d33"
#define ZERO "00000000-0000-0000-0000-000000000000"
#define ONES "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"
#define OEM "To be filled by O.E.M."
#define ONE "52:54:00:77:00:01"
#define TWO "52:54:00:78:00:01"
#define NEW "52:54:00:99:00:09"
#define LOW "02:00:00:00:00:01"

static struct rig rig;

struct told {
	const char *serial, *uuid, *macs;
};

static void
retell(struct bu_inventory *inventory, const struct told *told)
{
	bu_autofree char *macs = bu_xstrdup(told->macs);
	char *rest = NULL;

	bu_text_copy(inventory->dmi.serial, sizeof(inventory->dmi.serial),
		     told->serial);
	bu_text_copy(inventory->dmi.uuid, sizeof(inventory->dmi.uuid), told->uuid);
	inventory->nics_count = 0;
	inventory->nics =
		bu_xgrow(inventory->nics, &(size_t){2}, 8, sizeof(*inventory->nics));
	for (char *mac = strtok_r(macs, " ", &rest); mac;
	     mac = strtok_r(NULL, " ", &rest)) {
		struct bu_nic *nic = &inventory->nics[inventory->nics_count++];

		memset(nic, 0, sizeof(*nic));
		snprintf(nic->name, sizeof(nic->name), "eth%zu", inventory->nics_count);
		snprintf(nic->pci, sizeof(nic->pci), "0000:0%zu:00.0",
			 inventory->nics_count);
		strcpy(nic->mac, mac);
	}
}

static void
set_profile(int number, const char *serial, const char *uuid, const char *mac)
{
	struct bu_desired_node *want = &rig.fleet->desired->nodes[number - 1];

	free(want->serial);
	free(want->uuid);
	want->serial = serial ? bu_xstrdup(serial) : NULL;
	want->uuid = uuid ? bu_xstrdup(uuid) : NULL;
	if (!mac) {
		rig.fleet->desired->by_mac_count = 0;
		free(bu_steal(&want->mac));
	}
	for (size_t i = 0; i < rig.fleet->desired->hardware_count; i++)
		rig.fleet->desired->hardware[i].nics = 1;
}

/* What is said of it: of the condition, or why it was refused. */
static const struct row {
	const char *what;
	struct told profile; /* of node001; "" = nothing */
	struct told first, then;
	enum { IS_SAME, IS_NEW, IS_REFUSED } is;
	const char *said; /* NULL = nothing */
} rows[] = {
	{"nothing changed",
	 {"S1", "", ONE},
	 {"S1", UUID_A, ONE " " TWO},
	 {"s1 ", UUID_A, TWO " " ONE},
	 IS_SAME,
	 NULL},
	{"a card more",
	 {"S1", "", ONE},
	 {"S1", UUID_A, ONE},
	 {"S1", UUID_A, ONE " " NEW},
	 IS_SAME,
	 "a NIC more: " NEW},
	{"a card more, whose MAC is the lowest",
	 {"", "", ONE},
	 {"", UUID_A, ONE},
	 {"", UUID_A, ONE " " LOW},
	 IS_SAME,
	 "a NIC more: " LOW},
	{"a card less (or a port that is Infiniband now)",
	 {"S1", "", ONE},
	 {"S1", UUID_A, ONE " " TWO},
	 {"S1", UUID_A, ONE},
	 IS_SAME,
	 "a NIC less: " TWO},
	{"two swapped",
	 {"S1", "", ONE},
	 {"S1", UUID_A, ONE " " TWO},
	 {"S1", UUID_A, NEW " " LOW},
	 IS_SAME,
	 "a NIC less: " ONE ", " TWO "; a NIC more: " NEW ", " LOW},
	{"a board was exchanged, the serial number set again",
	 {"S1", "", ONE},
	 {"S1", UUID_A, ONE},
	 {"S1", UUID_B, ONE},
	 IS_SAME,
	 "UUID '" UUID_B "', it was '" UUID_A "'"},
	{"a board was exchanged, and nobody set the serial number",
	 {"", UUID_A, ONE},
	 {"S1", UUID_A, ONE},
	 {OEM, UUID_A, ONE},
	 IS_SAME,
	 "serial number '" OEM "', it was 'S1'"},
	{"a BMC turns the UUID's bytes around",
	 {"", "44454c4c-4200-1035-8053-b4c04f4e4d32", ONE},
	 {"S1", UUID_A, ONE},
	 {"S1", UUID_A, ONE},
	 IS_SAME,
	 NULL},
	{"placeholders are no identity",
	 {"", "", ONE},
	 {OEM, ZERO, ONE},
	 {"0123456789", ONES, ONE " " NEW},
	 IS_SAME,
	 "a NIC more: " NEW},
	{"placeholders of one character, and all cards others",
	 {"", "", ONE},
	 {"XXXXXXXX", ZERO, ONE},
	 {"0000000", ONES, NEW},
	 IS_REFUSED,
	 "no NIC of this machine has the MAC"},
	{"a placeholder is not the serial number of the profile",
	 {"S1", "", ONE},
	 {"S1", UUID_A, ONE},
	 {OEM, UUID_A, ONE},
	 IS_REFUSED,
	 "serial number S1, this machine reports '" OEM "'"},
	{"the cards of one in the chassis of another",
	 {"", "", ONE},
	 {"S1", UUID_A, ONE},
	 {"S2", UUID_B, ONE},
	 IS_NEW,
	 NULL},
	{"the serial number is another one, UUID and card are not",
	 {"", "", ONE},
	 {"S1", UUID_A, ONE},
	 {"S2", UUID_A, ONE},
	 IS_SAME,
	 "serial number 'S2', it was 'S1'"},
	{"written by its serial number alone, with all cards exchanged",
	 {"S1", "", ""},
	 {"S1", UUID_A, ONE},
	 {"S1", UUID_A, NEW},
	 IS_SAME,
	 "a NIC less: " ONE "; a NIC more: " NEW},
	{"nothing of it is in the profile",
	 {"S1", "", ""},
	 {"S1", UUID_A, ONE},
	 {"S2", UUID_A, ONE},
	 IS_REFUSED,
	 "serial number S1, this machine reports 'S2'"},
};

static void
its_changes_are(const struct bu_node *node, const char *said)
{
	const struct bu_condition *changed =
		&node->conditions[BU_CONDITION_HARDWARE_CHANGED];

	ck_assert_int_eq(changed->on, said != NULL);
	ck_assert_str_eq(rig_sentence(changed->detail), said ? said : "");
}

static void
check_row(const struct row *row)
{
	bu_autoinventory struct bu_inventory *first = rig_inventory(1, "b");
	bu_autoinventory struct bu_inventory *then = rig_inventory(1, "b");
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);
	const struct told *profile = &row->profile;
	bu_autofree char *id = NULL;
	struct bu_err err = {0};

	set_profile(1, *profile->serial ? profile->serial : NULL,
		    *profile->uuid ? profile->uuid : NULL,
		    *profile->macs ? profile->macs : NULL);
	retell(first, &row->first);
	retell(then, &row->then);
	ck_assert_msg(rig_admit(&rig, node, rig_request(0), first, &err) == 0, "%s: %s",
		      row->what, err.text);
	rig_pass(&rig, 1);
	id = bu_xstrdup(node->machine);
	if (row->is == IS_REFUSED) {
		ck_assert_msg(rig_admit(&rig, node, rig_request(0), then, &err) == -1,
			      "%s", row->what);
		rig_text_has(err.text, row->said);
		rig_end(&rig);
		return;
	}
	ck_assert_msg(rig_admit(&rig, node, rig_request(0), then, &err) == 0, "%s: %s",
		      row->what, err.text);
	rig_pass(&rig, 1);
	ck_assert_msg((strcmp(node->machine, id) == 0) == (row->is == IS_SAME), "%s",
		      row->what);
	its_changes_are(node, row->said);
	if (row->said)
		rig_why_says(&rig, node, row->said);
	/* Its hello is believed as well, and goes on. */
	ck_assert_msg(bu_reconcile_hello(rig.rec, node, BU_WHERE_RAMDISK, NULL, then,
					 &err) == 0,
		      "%s: %s", row->what, err.text);
	rig_until(&rig, node, BU_STATE_IMAGING);
	its_changes_are(node, row->said);
	/* All of that is in the log. */
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	its_changes_are(node, row->said);
	rig_end(&rig);
}

START_TEST(what_is_said_of_a_machine_that_changes)
{
	for (size_t i = 0; i < BU_LEN(rows); i++)
		check_row(&rows[i]);
}
END_TEST

/* Firmware calls one of them the serial number of the system, and the profile another.
 */
START_TEST(any_serial_number_of_the_machine_is_that_of_the_profile)
{
	static const struct {
		const char *serial, *board, *chassis;
		int fits;
	} its_rows[] = {
		{"7XKQ2Z3", "", "", 1},
		{"CN1", "7XKQ2Z3", "", 1},
		{"CN1", "/7XKQ2Z3/CNFCP1234567/", "", 1},
		{"CN1", "", "7xkq2z3", 1},
		{"", "", "7XKQ2Z3", 1},
		{"CN1", "CN2", "CN3", 0},
		{"CN1", "7XKQ2Z31", "N/A", 0},
	};

	for (size_t i = 0; i < BU_LEN(its_rows); i++) {
		bu_autoinventory struct bu_inventory *its = rig_inventory(1, "b");
		struct bu_node *node = rig_up_to(&rig, RIG_STARTED);
		struct bu_err err = {0};

		set_profile(1, "7XKQ2Z3", NULL, ONE);
		retell(its, &(struct told){its_rows[i].serial, UUID_A, ONE});
		BU_TEXT_COPY(its->dmi.board_serial, its_rows[i].board);
		BU_TEXT_COPY(its->dmi.chassis_serial, its_rows[i].chassis);
		ck_assert_msg((rig_admit(&rig, node, rig_request(0), its, &err) == 0) ==
				      its_rows[i].fits,
			      "row %zu: %s", i, err.text);
		rig_pass(&rig, 1);
		if (its_rows[i].fits && *its_rows[i].board) {
			rig_text_has(node->numbers, "board");
			rig_restart(&rig);
			rig_text_has(rig_node(&rig, 1)->numbers, "board");
		}
		rig_end(&rig);
	}
}
END_TEST

/* node001 is in use, and this machine comes as node002. */
static const struct {
	const char *what;
	struct told one, two;
	const char *refused; /* NULL = it is let in */
	const char *shared;  /* of the condition of both; NULL = it is off */
} pairs[] = {
	{"nothing in common",
	 {"S1", UUID_A, ONE},
	 {"S2", UUID_B, "52:54:00:77:00:02"},
	 NULL,
	 NULL},
	{"equal UUIDs",
	 {"S1", UUID_A, ONE},
	 {"S2", UUID_A, "52:54:00:77:00:02"},
	 NULL,
	 "UUID " UUID_A},
	{"equal UUIDs, one turned by its BMC",
	 {"S1", UUID_A, ONE},
	 {"S2", UUID_A_TURNED, "52:54:00:77:00:02"},
	 NULL,
	 "-8053-b4c04f4e4d32"},
	{"equal UUIDs, and placeholders for serial numbers",
	 {OEM, UUID_A, ONE},
	 {OEM, UUID_A, "52:54:00:77:00:02"},
	 NULL,
	 "UUID " UUID_A},
	{"equal serial numbers",
	 {"S1", UUID_A, ONE},
	 {"S1", UUID_B, "52:54:00:77:00:02"},
	 NULL,
	 "serial number s1"},
	{"a MAC twice",
	 {"S1", UUID_A, ONE " " NEW},
	 {"S2", UUID_B, "52:54:00:77:00:02 " NEW},
	 NULL,
	 "MAC " NEW},
	{"equal placeholders",
	 {"0123456789", ZERO, ONE},
	 {"0123456789", ZERO, "52:54:00:77:00:02"},
	 NULL,
	 NULL},
	{"the same machine",
	 {"S1", UUID_A, ONE " 52:54:00:77:00:02"},
	 {"S1", UUID_A, ONE " 52:54:00:77:00:02"},
	 "is node001, which is",
	 NULL},
	{"the same machine with a card less",
	 {"S1", UUID_A, ONE " 52:54:00:77:00:02"},
	 {"S1", UUID_A, "52:54:00:77:00:02"},
	 "is node001, which is",
	 NULL},
};

static void
is_shared(int number, const char *what)
{
	const struct bu_node *node = rig_node(&rig, number);
	const struct bu_condition *shared =
		&node->conditions[BU_CONDITION_SHARED_IDENTITY];
	bu_autofree char *words =
		bu_xasprintf("%s is that of node00%d, too", what, 3 - number);

	ck_assert_int_eq(shared->on, what[0] != '\0');
	if (*what)
		rig_why_says(&rig, node, words);
}

START_TEST(two_machines_that_tell_the_same_are_both_named)
{
	for (size_t i = 0; i < BU_LEN(pairs); i++) {
		bu_autoinventory struct bu_inventory *one = rig_inventory(1, "b");
		bu_autoinventory struct bu_inventory *two = rig_inventory(2, "b");
		struct bu_node *node;
		struct bu_err err = {0};

		rig_begin(&rig, 2);
		set_profile(1, NULL, NULL, ONE);
		set_profile(2, NULL, NULL, ONE);
		retell(one, &pairs[i].one);
		retell(two, &pairs[i].two);
		rig_start(&rig, 1);
		rig_start(&rig, 2);
		node = rig_node(&rig, 1);
		ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), one, &err), 0);
		rig_pass(&rig, 1);
		node = rig_node(&rig, 2);
		ck_assert_msg((rig_admit(&rig, node, rig_request(1), two, &err) != 0) ==
				      (pairs[i].refused != NULL),
			      "%s: %s", pairs[i].what, err.text);
		rig_pass(&rig, 1);
		if (pairs[i].refused) {
			rig_text_has(err.text, pairs[i].refused);
			ck_assert_str_eq(node->machine, "");
		} else {
			ck_assert_str_ne(node->machine, rig_node(&rig, 1)->machine);
		}
		is_shared(1, pairs[i].shared ? pairs[i].shared : "");
		is_shared(2, pairs[i].shared ? pairs[i].shared : "");
		rig_end(&rig);
	}
}
END_TEST

static int
admit(int number, const struct told *told, struct bu_err *err)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(number, "b");
	int rc;

	retell(inventory, told);
	rc = rig_admit(&rig, rig_node(&rig, number), rig_request(number - 1), inventory,
		       err);
	rig_pass(&rig, 1);
	return rc;
}

static void
is_changed(int number, const char *machine, const char *what)
{
	const struct bu_node *node = rig_node(&rig, number);

	ck_assert_str_eq(node->machine, machine);
	ck_assert_str_eq(
		rig_sentence(node->conditions[BU_CONDITION_HARDWARE_CHANGED].detail),
		what);
}

/* While one of them has not told it yet, both are said to have the card. What they boot
 * by is another matter: by its card a host of one in use would be the other. */
START_TEST(two_machines_that_swap_a_card_stay_who_they_are)
{
	static const struct told one = {"S1", UUID_A, ONE " " TWO},
				 two = {"S2", UUID_B,
					"52:54:00:77:00:02 52:54:00:78:00:02"},
				 one_then = {"S1", UUID_A, ONE " 52:54:00:78:00:02"},
				 two_then = {"S2", UUID_B, "52:54:00:77:00:02 " TWO},
				 one_boots = {"S1", UUID_A, "52:54:00:77:00:02 " TWO};
	bu_autofree char *id1 = NULL, *id2 = NULL;
	struct bu_err err = {0};

	rig_begin(&rig, 2);
	set_profile(1, "S1", NULL, ONE);
	set_profile(2, "S2", NULL, ONE);
	for (int i = 1; i <= 2; i++)
		rig_start(&rig, i);
	ck_assert_msg(admit(1, &one, &err) == 0 && admit(2, &two, &err) == 0, "%s",
		      err.text);
	id1 = bu_xstrdup(rig_node(&rig, 1)->machine);
	id2 = bu_xstrdup(rig_node(&rig, 2)->machine);
	ck_assert_msg(admit(1, &one_then, &err) == 0, "%s", err.text);
	is_shared(1, "MAC 52:54:00:78:00:02");
	ck_assert_msg(admit(2, &two_then, &err) == 0, "%s", err.text);
	is_shared(1, "");
	is_shared(2, "");
	is_changed(1, id1, "a NIC less: " TWO "; a NIC more: 52:54:00:78:00:02");
	is_changed(2, id2, "a NIC less: 52:54:00:78:00:02; a NIC more: " TWO);

	ck_assert_int_eq(admit(1, &one_boots, &err), -1);
	rig_text_has(err.text, "machine with MAC 52:54:00:77:00:02 is node002");
	is_changed(1, id1, "a NIC less: " TWO "; a NIC more: 52:54:00:78:00:02");
	rig_end(&rig);
}
END_TEST

/* What was installed is accepted: from then on that is how it should be. */
START_TEST(an_install_accepts_what_the_machine_is_made_of)
{
	static const struct told more = {"LAB-001", UUID_A, ONE " " TWO " " NEW};
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "boot-1");
	struct bu_node *node = rig_up_to(&rig, RIG_VALIDATING);
	struct bu_event event;
	int64_t since_ms;

	retell(inventory, &more);
	strcpy(inventory->dmi.uuid, node->uuid);
	ck_assert_int_eq(node->conditions[BU_CONDITION_HARDWARE_CHANGED].on, 0);
	ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, NULL,
					    inventory, NULL),
			 0);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->conditions[BU_CONDITION_HARDWARE_CHANGED].on, 1);
	since_ms = node->conditions[BU_CONDITION_HARDWARE_CHANGED].since_ms;
	ck_assert_int_gt(since_ms, 0);
	/* It is as old as when it was first seen. */
	rig_pass(&rig, 60 * 1000);
	inventory->memory_bytes += 1;
	ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, NULL,
					    inventory, NULL),
			 0);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->conditions[BU_CONDITION_HARDWARE_CHANGED].since_ms,
			 since_ms);
	/* Each of its MACs is its own now. */
	ck_assert_ptr_eq(bu_identity_index_by_mac(rig.fleet, NEW), node);
	row_init(&event, BU_EVENT_INSTALLED, "node001",
		 json_pack("{s:s,s:s,s:s}", "step", "s", "image", "i", "digest", "d"));
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	inventory->memory_bytes += 1;
	ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_INSTALLED, NULL,
					    inventory, NULL),
			 0);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->conditions[BU_CONDITION_HARDWARE_CHANGED].on, 0);
	rig_end(&rig);
}
END_TEST

/* What its class asks for is enough. */
START_TEST(the_least_that_fits_is_installed)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	struct bu_node *node;

	rig_begin(&rig, 0);
	rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", "disk = smallest\nnics = 2\n",
		  "disk = smallest\nnics = 2\ncpus_min = 1\nmemory_min = 512 MiB\n");
	node = rig_node(&rig, 1);
	rig_start(&rig, 1);
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), inventory, NULL), 0);
	rig_pass(&rig, 1);
	ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_RAMDISK, NULL,
					    inventory, NULL),
			 0);
	rig_until(&rig, node, BU_STATE_IMAGING);
	rig_end(&rig);
}
END_TEST

/* Before anything is written to a machine whose TPM is to hold the keys. */
START_TEST(a_machine_without_its_tpm_is_not_installed)
{
	static const struct {
		int tpm;
		enum bu_state to;
	} cases[] = {{0, BU_STATE_QUARANTINED},
		     {1, BU_STATE_QUARANTINED},
		     {2, BU_STATE_IMAGING}};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
		struct bu_node *node;

		rig_begin(&rig, 0);
		rig_apply(&rig, 1, BU_CLASS_INSTALL, "d1", "hardware = vm\n",
			  "hardware = vm\ndata = lake:1GiB:ext4:/lake\n"
			  "data_keys = tpm\n");
		node = rig_node(&rig, 1);
		rig_start(&rig, 1);
		inventory->tpm = cases[i].tpm;
		ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), inventory, NULL),
				 0);
		rig_pass(&rig, 1);
		ck_assert_int_eq(bu_reconcile_hello(rig.rec, node, BU_WHERE_RAMDISK,
						    NULL, inventory, NULL),
				 0);
		rig_until(&rig, node, cases[i].to);
		if (cases[i].tpm != 2)
			ck_assert_int_eq(node->reason->code, BU_REASON_NO_TPM);
		rig_end(&rig);
	}
}
END_TEST

RIG_UNIT("machines", any_serial_number_of_the_machine_is_that_of_the_profile,
	 a_machine_without_its_tpm_is_not_installed, the_least_that_fits_is_installed,
	 what_is_said_of_a_machine_that_changes,
	 two_machines_that_tell_the_same_are_both_named,
	 two_machines_that_swap_a_card_stay_who_they_are,
	 an_install_accepts_what_the_machine_is_made_of)
