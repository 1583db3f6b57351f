/* SPDX-License-Identifier: Apache-2.0 */
/* Which machine may trade a token, and which certificate counts afterwards. */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/identity_index.h"
#include "provisioner/node/reconcile.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

static struct rig rig;

static void
note(const struct bu_node *node, enum bu_event_kind kind, json_t *body)
{
	struct bu_event event;

	row_init(&event, kind, node->name, body);
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
}

/* How often the log has events of this kind, "admitted " with its blank. */
static int
logged(const char *kind)
{
	char kinds[4096];
	int count = 0;

	rig_events_after(&rig, 0, kinds);
	for (const char *at = kinds; (at = strstr(at, kind)); at += strlen(kind))
		count++;
	return count;
}

static void
refused(struct bu_node *node, const struct bu_inventory *inventory, const char *says)
{
	struct bu_err err = {0};

	ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), inventory, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	rig_text_has(err.text, says);
}

START_TEST(a_token_is_of_one_boot_and_one_machine)
{
	bu_autoinventory struct bu_inventory *own = rig_inventory(1, "b");
	bu_autoinventory struct bu_inventory *other = rig_inventory(2, "b");
	char wrong[BU_DIGEST_SIZE];
	struct bu_enrolment guessed = {
		.token = wrong, .csr = rig_request(0), .inventory = own};
	struct bu_node *node = rig_up_to(&rig, RIG_ENROLLED);
	struct bu_err err = {0};

	refused(node, own, "no boot of node001 was ordered");
	rig_start(&rig, 1);
	bu_trust_token(rig.trust, node->step.id, node->step.attempt + 1, wrong);
	ck_assert_ptr_null(bu_reconcile_admit(rig.rec, node, &guessed, &err));
	rig_text_has(err.text, "not the token of the present boot");
	refused(node, other,
		"the profile gives node001 serial number LAB-001, this machine reports "
		"'LAB-002'");
	ck_assert_int_eq(
		bu_reconcile_hello(rig.rec, node, BU_WHERE_RAMDISK, NULL, own, &err),
		-1);
	rig_text_has(err.text, "it needs its token");
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), own, NULL), 0);
	rig_pass(&rig, 1);
	ck_assert_str_eq(node->admitted_step, node->step.id);
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), own, NULL), 0);
	rig_pass(&rig, 1);
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(1), own, &err), -1);
	rig_text_has(err.text, "was used already");
	/* another machine with this certificate does not pass for it either */
	ck_assert_int_eq(
		bu_reconcile_hello(rig.rec, node, BU_WHERE_RAMDISK, NULL, other, &err),
		-1);
	rig_text_has(err.text, "node001 is bound to");
	rig_end(&rig);
}
END_TEST

/* What the profile says of node001's machine, NULL = nothing, and what it says itself.
 */
START_TEST(the_machine_is_the_one_of_the_profile)
{
	static const char ours[] = "11111111-2222-3333-4444-5555555555aa";
	static const struct {
		const char *serial, *uuid;         /* of the profile */
		const char *own_serial, *own_uuid; /* of the machine */
		int fits;
	} rows[] = {
		{"LAB-001", NULL, "LAB-002", ours, 0},
		{"LAB-001", NULL, "", ours, 0},
		{"LAB-001", NULL, "To Be Filled By O.E.M.", ours, 0},
		{"LAB-001", NULL, "LAB-0010", ours, 0},
		{"LAB-001", NULL, "LAB-001", ours, 1},
		{"LAB-001", NULL, "lab-001", ours, 1},
		{"LAB-001", NULL, " LAB- 001  ", ours, 1},
		{"LAB-001", ours, "LAB-001", "", 0},
		{"LAB-001", ours, "LAB-001", "11111111-2222-3333-4444-5555555555ab", 0},
		{"LAB-001", ours, "LAB-001", "11111111-2222-3333-4444-5555555555AA", 1},
		{"LAB-001", ours, "LAB-002", ours, 0},
		/* What only fills the field says nothing. */
		{"none", NULL, "none", ours, 1},
		{"none", NULL, "ABC", ours, 1},
		{"none", "00000000-0000-0000-0000-000000000000", "ABC", ours, 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
		struct bu_node *node = rig_up_to(&rig, RIG_STARTED);
		struct bu_desired_node *want = &rig.fleet->desired->nodes[0];

		strcpy(want->serial, rows[i].serial);
		want->uuid = rows[i].uuid ? bu_xstrdup(rows[i].uuid) : NULL;
		strcpy(inventory->dmi.serial, rows[i].own_serial);
		strcpy(inventory->dmi.uuid, rows[i].own_uuid);
		if (rows[i].fits) {
			struct bu_err err = {0};

			ck_assert_msg(rig_admit(&rig, node, rig_request(0), inventory,
						&err) == 0,
				      "%s", err.text);
			rig_pass(&rig, 1);
			ck_assert_int_eq(logged("admitted "), 1);
		} else {
			int serial = bu_machine_same(rows[i].serial,
						     rows[i].own_serial) == 0;

			refused(node, inventory,
				serial ? rows[i].own_serial : rows[i].own_uuid);
			rig_why_says(&rig, node,
				     serial ? "serial number LAB-001" : ours);
			ck_assert_int_eq(logged("admitted "), 0);
			ck_assert_str_eq(node->machine, "");
		}
		rig_end(&rig);
	}
}
END_TEST

static struct bu_node *
start_by_serial(int number)
{
	rig.fleet->desired->by_mac_count = 0;
	free(bu_steal(&rig.fleet->desired->nodes[number - 1].mac));
	rig_start(&rig, number);
	return rig_node(&rig, number);
}

/* A user of node001 knows the serial number of node002. */
START_TEST(who_speaks_from_a_node_in_use_becomes_no_other)
{
	bu_autoinventory struct bu_inventory *told = rig_inventory(2, "b");
	bu_autoinventory struct bu_inventory *own = rig_inventory(2, "b");
	struct bu_node *node;
	struct bu_machine cards;
	struct bu_err err = {0};

	rig_begin(&rig, 3);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	node = start_by_serial(2);
	strcpy(told->nics[0].mac, "52:54:00:77:00:01");
	bu_inventory_cards(told, &cards);
	ck_assert_ptr_null(
		bu_reconcile_claimed(rig.rec, &cards, told->nics[0].mac, &err));
	rig_text_has(err.text, "machine with MAC 52:54:00:77:00:01 is node001");
	refused(node, told, "machine with MAC 52:54:00:77:00:01 is node001");
	strcpy(own->nics[1].mac, "52:54:00:77:00:01");
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), own, NULL), 0);
	rig_pass(&rig, 1);
	ck_assert_ptr_null(bu_identity_index_by_mac(rig.fleet, "52:54:00:77:00:01"));
	node = start_by_serial(3);
	strcpy(told->dmi.serial, "LAB-003");
	refused(node, told, "machine with MAC 52:54:00:77:00:01 is node001");
	rig_end(&rig);
}
END_TEST

/* Who gets the token may trade it, from whatever card of its own. */
START_TEST(a_machine_that_is_told_by_its_serial_number_trades_from_any_card)
{
	for (int has_mac = 0; has_mac < 2; has_mac++) {
		bu_autoinventory struct bu_inventory *other = rig_inventory(1, "b");
		struct bu_machine cards;
		struct bu_node *node;

		rig_begin(&rig, 1);
		if (has_mac)
			rig_start(&rig, 1);
		node = has_mac ? rig_node(&rig, 1) : start_by_serial(1);
		/* Its boot NIC was exchanged, and is on no PCI bus. */
		strcpy(other->nics[0].mac, "52:54:00:99:00:09");
		other->nics[0].pci[0] = '\0';
		bu_inventory_cards(other, &cards);
		ck_assert_ptr_eq(bu_reconcile_claimed(rig.rec, &cards,
						      "52:54:00:99:00:09", NULL),
				 node);
		ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), other, NULL), 0);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(the_boot_nic_of_the_profile_need_not_be_on_pci)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);

	free(bu_steal(&rig.fleet->desired->nodes[0].serial));
	inventory->nics[0].pci[0] = '\0';
	ck_assert_int_eq(rig_admit(&rig, node, rig_request(0), inventory, NULL), 0);
	rig_end(&rig);
}
END_TEST

/* Nobody hears of it but by the reason; the right machine may still come. */
START_TEST(what_was_refused_is_the_reason_of_who_is_late)
{
	bu_autoinventory struct bu_inventory *wrong = rig_inventory(1, "b");
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);

	strcpy(wrong->dmi.serial, "X-9");
	refused(node, wrong, "LAB-001");
	rig_inspect(&rig, 1);
	rig_reason_is(node->live.refusal, NONE);
	rig_end(&rig);
	node = rig_up_to(&rig, RIG_STARTED);
	refused(node, wrong, "LAB-001");
	rig_pass(&rig, 302 * 1000);
	rig_pass(&rig, 1);
	ck_assert_int_eq(node->repeats, 1);
	rig_reason_has(node->reason, "this machine reports 'X-9'");
	rig_end(&rig);
}
END_TEST

/* Memory that the log owns, moved without the engine: only what is asked of it now. */
static void
put(const struct bu_node *node, enum bu_event_kind kind, json_t *body)
{
	struct bu_event event;

	row_init(&event, kind, node->name, body);
	event.seq = 1000;
	ck_assert_int_eq(bu_fleet_replay(rig.fleet, &event, NULL), 0);
	bu_event_fini(&event);
}

/* node002's machine, forged to be node001's. */
static struct bu_inventory *
forged(void)
{
	struct bu_inventory *inventory = rig_inventory(1, "b");

	strcpy(inventory->nics[0].mac, "52:54:00:77:00:02");
	return inventory;
}

START_TEST(an_enrolment_takes_no_machine_that_is_in_use)
{
	static const enum bu_state idle[] = {
		BU_STATE_ENROLLED,
		BU_STATE_RETIRED,
		BU_STATE_FAILED,
	};
	bu_autoinventory struct bu_inventory *inventory = forged();
	bu_autoinventory struct bu_inventory *own = rig_inventory(1, "a");
	struct bu_node *owner, *thief;
	struct bu_machine told;
	char machine[BU_MACHINE_ID_SIZE];

	bu_inventory_machine(own, &told);
	rig_begin(&rig, 2);
	owner = rig_node(&rig, 1);
	thief = rig_node(&rig, 2);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	bu_text_copy(machine, sizeof(machine), owner->machine);
	rig_start(&rig, 2);
	strcpy(rig.fleet->desired->nodes[1].serial, "none"); /* it proves nothing */
	for (int system = 1; system >= 0; system--)
		for (int held = 0; held < 2; held++)
			for (int state = 0; state < BU_STATE_COUNT; state++) {
				int free = 0;

				for (size_t i = 0; i < BU_LEN(idle); i++)
					free |= idle[i] == (enum bu_state)state;
				if (system && (held || state == BU_STATE_FAILED))
					free = 0;
				put(owner, BU_EVENT_ADMITTED,
				    json_pack("{s:s,s:o}", "machine", machine, "told",
					      bu_machine_to_json(&told)));
				put(owner, BU_EVENT_STATE,
				    json_pack("{s:s}", "to", bu_state_name(state)));
				put(owner, BU_EVENT_INSTALLED,
				    json_pack("{s:s}", "step", system ? "s" : ""));
				put(owner, held ? BU_EVENT_HELD : BU_EVENT_RELEASED,
				    json_pack("{s:s}", "owner", "me"));
				if (!free)
					refused(thief, inventory, "is node001, which");
				else
					ck_assert_int_eq(rig_admit(&rig, thief,
								   rig_request(0),
								   inventory, NULL),
							 0);
				rig_pass(&rig, 1);
				ck_assert_msg(strcmp(owner->machine,
						     free ? "" : machine) == 0,
					      "%s, system %d, held %d",
					      bu_state_name(state), system, held);
			}
	rig_end(&rig);
}
END_TEST

START_TEST(a_machine_that_was_taken_stays_taken)
{
	struct bu_node *first, *second;

	rig_begin(&rig, 2);
	rig_start(&rig, 1);
	rig_inspect(&rig, 1);
	first = rig_node(&rig, 1);
	note(rig_node(&rig, 2), BU_EVENT_ADMITTED,
	     json_pack("{s:s,s:s}", "step", "s", "machine", first->machine));
	rig_restart(&rig);
	first = rig_node(&rig, 1);
	second = rig_node(&rig, 2);
	ck_assert_str_eq(first->machine, "");
	ck_assert_ptr_eq(bu_fleet_node_of(rig.fleet, second->machine), second);
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_in_service_trades_no_token)
{
	bu_autoinventory struct bu_inventory *own = rig_inventory(1, "b");
	struct bu_node *node = rig_up_to(&rig, RIG_STARTED);
	char token[BU_DIGEST_SIZE], before[65];
	struct bu_enrolment old = {
		.token = token, .csr = rig_request(1), .inventory = own};
	struct bu_err err = {0};

	bu_trust_token(rig.trust, node->step.id, node->step.attempt, token);
	rig_inspect(&rig, 1);
	rig_install(&rig, 1);
	rig_come_up(&rig, 1, "boot-1");
	rig_join(&rig, 1);
	bu_text_copy(before, sizeof(before), node->agent_cert);
	refused(node, own, "no boot of node001 was ordered"); /* its present step's */
	ck_assert_ptr_null(bu_reconcile_admit(rig.rec, node, &old, &err));
	ck_assert_str_eq(err.text, "no boot of node001 was ordered");
	rig_pass(&rig, 1);
	ck_assert_str_eq(node->agent_cert, before);
	rig_end(&rig);
}
END_TEST

/* --- certificates --- */

static int
counts(struct bu_node *node, const char *fingerprint)
{
	struct bu_err err = {0};
	int rc = bu_reconcile_check_peer(rig.rec, node, fingerprint, &err);

	ck_assert(rc == 0 || err.kind == BU_ERR_DENIED);
	rig_pass(&rig, 1);
	return rc == 0;
}

/* The fingerprint of a renewed certificate, when it is in the log. */
static void
renew(struct bu_node *node, char ret[BU_DIGEST_SIZE])
{
	struct bu_err err = {0};
	bu_autofree char *cert =
		bu_reconcile_renew(rig.rec, node, rig_request(1), &err);

	ck_assert_msg(cert != NULL, "%s", err.text);
	ck_assert_int_eq(bu_cert_fingerprint(cert, ret, NULL), 0);
	ck_assert_str_ne(node->agent_cert_next, ret); /* not before it is in the log */
	rig_pass(&rig, 1);
	ck_assert_str_eq(node->agent_cert_next, ret);
}

static struct bu_node *
ready_with(char ret_cert[BU_DIGEST_SIZE])
{
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	bu_text_copy(ret_cert, BU_DIGEST_SIZE, node->agent_cert);
	ck_assert_uint_eq(strlen(ret_cert), 64);
	return node;
}

START_TEST(only_the_certificate_of_the_log_counts)
{
	char own[BU_DIGEST_SIZE];
	struct bu_node *node = ready_with(own);
	struct bu_err err = {0};

	ck_assert_int_eq(counts(node, own), 1);
	ck_assert_int_eq(counts(node, "00"), 0);
	ck_assert_int_eq(counts(node, ""), 0);
	ck_assert_int_eq(bu_reconcile_check_peer(rig.rec, node, "00ff", &err), -1);
	rig_text_has(err.text, "certificate 00ff is no longer valid for node001");
	rig_end(&rig);
}
END_TEST

/* Its answer may be lost, and the agent may die between writing and using it. */
START_TEST(a_renewed_certificate_ends_the_old_one_when_it_is_used)
{
	for (int restarts = 0; restarts < 2; restarts++) {
		char old[BU_DIGEST_SIZE], lost[BU_DIGEST_SIZE], next[BU_DIGEST_SIZE];
		struct bu_node *node = ready_with(old);

		renew(node, lost);
		ck_assert_int_eq(counts(node, old), 1);
		renew(node, next);
		ck_assert_int_eq(counts(node, lost), 0);
		if (restarts)
			rig_restart(&rig);
		node = rig_node(&rig, 1);
		ck_assert_int_eq(counts(node, old), 1);
		ck_assert_int_eq(counts(node, next), 1);
		ck_assert_int_eq(counts(node, old), 0);
		if (restarts)
			rig_restart(&rig);
		node = rig_node(&rig, 1);
		ck_assert_int_eq(counts(node, old), 0);
		ck_assert_int_eq(counts(node, next), 1);
		ck_assert_int_eq(logged("revoked "), 1);
		rig_end(&rig);
	}
}
END_TEST

/* While another event of the node is on its way to the log nothing is written between:
 * the next request does it. */
START_TEST(a_first_use_that_meets_another_event_is_no_loss)
{
	char old[BU_DIGEST_SIZE], next[BU_DIGEST_SIZE];
	struct bu_node *node = ready_with(old);

	renew(node, next);
	node->live.appending++;
	ck_assert_int_eq(counts(node, next), 1);
	node->live.appending--;
	ck_assert_int_eq(counts(node, old), 1);
	ck_assert_int_eq(counts(node, next), 1);
	ck_assert_int_eq(counts(node, old), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(a_certificate_ends_after_its_days)
{
	char old[BU_DIGEST_SIZE], next[BU_DIGEST_SIZE];
	struct bu_node *node = ready_with(old);
	int64_t now_ms = bu_wall_ms(&rig.clock);
	bu_autofree char *why = NULL;
	struct bu_err err = {0};

	ck_assert_int_gt(node->agent_cert_until_ms, now_ms);
	why = rig_why(&rig, node);
	ck_assert_ptr_null(strstr(why, "certificate of its agent"));
	rig_pass(&rig, node->agent_cert_until_ms - now_ms - 60000);
	ck_assert_int_eq(counts(node, old), 1);
	rig_why_says(&rig, node, "ends in 0 days and was not renewed");
	renew(node, next);
	/* a real one is issued by the system's clock, in the same seconds as the first
	 */
	put(node, BU_EVENT_RENEWED,
	    json_pack("{s:s,s:I}", "fingerprint", next, "until_ms",
		      (json_int_t)node->agent_cert_until_ms + 86400000));
	rig_pass(&rig, 60001);
	ck_assert_int_eq(bu_reconcile_check_peer(rig.rec, node, old, &err), -1);
	rig_text_has(err.text, "of node001 has ended");
	rig_why_says(&rig, node, "the certificate of its agent has ended");
	ck_assert_int_eq(counts(node, next), 1);
	ck_assert_int_eq(counts(node, next), 1);
	rig_pass(&rig, 86400000);
	ck_assert_int_eq(counts(node, next), 0);
	rig_end(&rig);
}
END_TEST

START_TEST(a_revoked_agent_is_refused_until_its_machine_is_admitted)
{
	char old[BU_DIGEST_SIZE], next[BU_DIGEST_SIZE];
	struct bu_node *node = ready_with(old);
	struct bu_event event;

	renew(node, next);
	BU_EVENT_MAKE(&event, BU_EVENT_REVOKED, node->name, revoked, .all = 1);
	bu_reconcile_note(rig.rec, &event, 1);
	rig_pass(&rig, 1);
	ck_assert_int_eq(counts(node, old), 0);
	ck_assert_int_eq(counts(node, next), 0);
	rig_why_says(&rig, node, "its agent was revoked");
	rig_restart(&rig);
	node = rig_node(&rig, 1);
	ck_assert_int_eq(counts(node, old), 0);
	note(node, BU_EVENT_ADMITTED,
	     json_pack("{s:s,s:s,s:I}", "machine", node->machine, "fingerprint", "ab",
		       "until_ms", (json_int_t)INT64_MAX));
	ck_assert_int_eq(counts(node, "ab"), 1);
	ck_assert_int_eq(counts(node, next), 0);
	rig_end(&rig);
}
END_TEST

/* One by one: when the last of them goes, none counts, and not any. */
START_TEST(the_last_certificate_leaves_none)
{
	char own[BU_DIGEST_SIZE];
	struct bu_node *node = ready_with(own);

	note(node, BU_EVENT_REVOKED, json_pack("{s:s}", "fingerprint", "another"));
	ck_assert_int_eq(counts(node, own), 1);
	note(node, BU_EVENT_REVOKED, json_pack("{s:s}", "fingerprint", own));
	ck_assert_int_eq(counts(node, own), 0);
	ck_assert_int_eq(counts(node, "00"), 0);
	ck_assert_int_eq(counts(node, ""), 0);
	rig_end(&rig);
}
END_TEST

/* What ran before is not the node any more, from the moment on that its machine is
 * admitted for another install. */
START_TEST(an_admission_ends_the_certificate_of_before)
{
	struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);
	char old[BU_DIGEST_SIZE], next[BU_DIGEST_SIZE];
	struct bu_err bad;

	bu_text_copy(old, sizeof(old), node->agent_cert);
	renew(node, next);
	bu_err_set(&bad, BU_ERR_IO, 0, "disk gone");
	rig_answer(&rig, node, &bad);
	rig_until_step(&rig, node, BU_ACTION_INSTALL, BU_STEP_FAILED);
	rig_pass(&rig, 5001);
	rig_until(&rig, node, BU_STATE_INSPECTING);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_int_eq(counts(node, old), 1);
	rig_inspect(&rig, 1);
	ck_assert_int_eq(counts(node, old), 0);
	ck_assert_int_eq(counts(node, next), 0);
	ck_assert_int_eq(counts(node, node->agent_cert), 1);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("enroll", who_speaks_from_a_node_in_use_becomes_no_other,
	 a_machine_that_is_told_by_its_serial_number_trades_from_any_card,
	 the_boot_nic_of_the_profile_need_not_be_on_pci,
	 a_token_is_of_one_boot_and_one_machine, the_machine_is_the_one_of_the_profile,
	 what_was_refused_is_the_reason_of_who_is_late,
	 an_enrolment_takes_no_machine_that_is_in_use,
	 a_machine_that_was_taken_stays_taken, a_node_in_service_trades_no_token,
	 only_the_certificate_of_the_log_counts,
	 a_renewed_certificate_ends_the_old_one_when_it_is_used,
	 a_first_use_that_meets_another_event_is_no_loss,
	 a_certificate_ends_after_its_days,
	 a_revoked_agent_is_refused_until_its_machine_is_admitted,
	 the_last_certificate_leaves_none, an_admission_ends_the_certificate_of_before)
