/* SPDX-License-Identifier: Apache-2.0 */
/* A node's credential in two places is said, whoever renews it first. */
#include "provisioner/node/holders.h"

#include <string.h>

#include "base/crypto.h"
#include "base/text.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;

static const struct bu_holder machine = {.boot_id = "1f0c6a7e-a",
					 .address = "10.77.0.11"};
static const struct bu_holder thief = {.boot_id = "99999999-b",
				       .address = "10.77.0.99"};

static struct bu_node *
ready(char ret_cert[BU_DIGEST_SIZE])
{
	struct bu_node *node = rig_up_to(&rig, RIG_READY);

	bu_text_copy(ret_cert, BU_DIGEST_SIZE, node->agent_cert);
	return node;
}

/* As api/agents.c does; 1 = it was believed. */
static int
speak(struct bu_node *node, const char *cert, const struct bu_holder *who)
{
	int believed = bu_reconcile_check_peer(rig.rec, node, cert, NULL) == 0;

	if (believed)
		bu_holders_spoke(rig.rec, node, cert, who);
	else
		bu_holders_refused(rig.rec, node, cert, who);
	rig_pass(&rig, 1);
	return believed;
}

static void
renew(struct bu_node *node, char ret[BU_DIGEST_SIZE])
{
	bu_autofree char *cert =
		bu_reconcile_renew(rig.rec, node, rig_request(1), NULL);

	ck_assert_ptr_nonnull(cert);
	ck_assert_int_eq(bu_cert_fingerprint(cert, ret, NULL), 0);
	rig_pass(&rig, 1);
}

/* NULL = there is none. */
static const char *
told(const struct bu_node *node)
{
	const struct bu_condition *copied =
		&node->conditions[BU_CONDITION_CREDENTIAL_COPIED];

	return copied->on ? rig_sentence(copied->detail) : NULL;
}

/* The machine is locked out, and the first time that it speaks says so; after a restart
 * of the appliance, too, and though the thief is silent from then on. */
START_TEST(a_thief_that_renews_first_is_told_when_the_machine_speaks)
{
	for (int restart = 0; restart < 2; restart++) {
		char old[BU_DIGEST_SIZE], stolen[BU_DIGEST_SIZE];
		struct bu_node *node = ready(old);

		ck_assert_int_eq(speak(node, old, &machine), 1);
		renew(node, stolen);
		ck_assert_int_eq(speak(node, stolen, &thief), 1);
		ck_assert_ptr_null(told(node));
		if (restart)
			rig_restart(&rig);
		node = rig_node(&rig, 1);
		ck_assert_int_eq(speak(node, old, &machine), 0);
		ck_assert_ptr_nonnull(told(node));
		ck_assert_ptr_nonnull(strstr(told(node), "10.77.0.11 (boot 1f0c6a7e) "
							 "shows certificate"));
		ck_assert_int_eq(strstr(told(node), "10.77.0.99") != NULL, !restart);
		rig_end(&rig);
	}
}
END_TEST

START_TEST(an_old_copy_of_a_renewed_certificate_is_told)
{
	char old[BU_DIGEST_SIZE], next[BU_DIGEST_SIZE];
	struct bu_node *node = ready(old);

	renew(node, next);
	ck_assert_int_eq(speak(node, next, &machine), 1);
	ck_assert_int_eq(speak(node, old, &thief), 0);
	ck_assert_ptr_nonnull(strstr(told(node), "10.77.0.99"));
	/* and the machine goes on */
	ck_assert_int_eq(speak(node, next, &machine), 1);
	rig_end(&rig);
}
END_TEST

/* The same address, as behind a router, and another boot. */
START_TEST(two_boots_that_speak_by_turns_are_two_holders)
{
	struct bu_holder behind = thief;
	char cert[BU_DIGEST_SIZE];
	struct bu_node *node = ready(cert);

	BU_TEXT_COPY(behind.address, machine.address);
	speak(node, cert, &machine);
	speak(node, cert, &behind); /* it may have booted */
	ck_assert_ptr_null(told(node));
	speak(node, cert, &machine);
	ck_assert_ptr_nonnull(strstr(told(node), "speak by turns"));
	rig_end(&rig);
}
END_TEST

/* A copy that says the boot of the machine, or none, is known by its address. */
START_TEST(two_addresses_that_take_turns_are_two_holders)
{
	for (int says = 0; says < 2; says++) {
		struct bu_holder copy = thief;
		char cert[BU_DIGEST_SIZE];
		struct bu_node *node = ready(cert);

		BU_TEXT_COPY(copy.boot_id, says ? machine.boot_id : "");
		for (int i = 0; i < 4; i++) {
			speak(node, cert, &machine);
			speak(node, cert, &copy);
		}
		ck_assert_ptr_nonnull(told(node));
		rig_end(&rig);
	}
}
END_TEST

START_TEST(a_machine_alone_is_no_copy)
{
	char old[BU_DIGEST_SIZE], next[BU_DIGEST_SIZE], later[BU_DIGEST_SIZE];
	struct bu_holder at = machine, silent = machine;
	struct bu_node *node = ready(old);

	silent.boot_id[0] = '\0';
	/* it boots, moves, and moves back once */
	speak(node, old, &at);
	BU_TEXT_COPY(at.boot_id, "2-c");
	speak(node, old, &at);
	speak(node, old, &silent);
	speak(node, old, &at);
	BU_TEXT_COPY(at.address, "10.77.0.12");
	speak(node, old, &at);
	BU_TEXT_COPY(at.address, "10.77.0.11");
	speak(node, old, &at);
	/* it renews, and a connection of before is used once more */
	renew(node, next);
	speak(node, old, &at);
	ck_assert_int_eq(speak(node, next, &at), 1);
	ck_assert_int_eq(speak(node, old, &at), 0);
	ck_assert_int_eq(speak(node, old, &silent), 0);
	renew(node, later);
	ck_assert_int_eq(speak(node, later, &at), 1);
	/* what nobody has signed for it says nothing */
	ck_assert_int_eq(speak(node, "00ff", &thief), 0);
	ck_assert_int_eq(speak(node, "", &thief), 0);
	ck_assert_ptr_null(told(node));
	rig_end(&rig);
}
END_TEST

/* The way out: another certificate, for the machine that its BMC boots. */
START_TEST(a_new_certificate_ends_it)
{
	struct bu_node *node = rig_up_to(&rig, RIG_IMAGING);
	char old[BU_DIGEST_SIZE], stolen[BU_DIGEST_SIZE];
	struct bu_err bad;

	bu_text_copy(old, sizeof(old), node->agent_cert);
	renew(node, stolen);
	speak(node, stolen, &thief);
	speak(node, old, &machine);
	bu_err_set(&bad, BU_ERR_IO, 0, "disk gone");
	rig_answer(&rig, node, &bad);
	rig_until_step(&rig, node, BU_ACTION_INSTALL, BU_STEP_FAILED);
	rig_pass(&rig, 5001);
	rig_until(&rig, node, BU_STATE_INSPECTING);
	rig_until_step(&rig, node, BU_ACTION_NETBOOT, BU_STEP_DONE);
	ck_assert_ptr_nonnull(told(node));
	rig_inspect(&rig, 1);
	ck_assert_ptr_null(told(node));
	ck_assert_int_eq(speak(node, stolen, &thief), 0);
	rig_end(&rig);
}
END_TEST

RIG_UNIT("holders", a_thief_that_renews_first_is_told_when_the_machine_speaks,
	 an_old_copy_of_a_renewed_certificate_is_told,
	 two_boots_that_speak_by_turns_are_two_holders,
	 two_addresses_that_take_turns_are_two_holders, a_machine_alone_is_no_copy,
	 a_new_certificate_ends_it)
