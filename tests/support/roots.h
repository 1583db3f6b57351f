/* SPDX-License-Identifier: Apache-2.0 */
/* A node of a rig whose disk has two roots, and what its agents say. */
#ifndef BU_TESTS_SUPPORT_ROOTS_H
#define BU_TESTS_SUPPORT_ROOTS_H

#include <check.h>
#include <string.h>

#include "base/json.h"
#include "model/hello.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"

/* Of the system that ran when the order came. */
static char first_step[112], first_cert[65];

/* The agent has written that slot; slot NULL: the disk has one root. */
static inline void
writes(struct rig *rig, const char *slot, int tried)
{
	const struct bu_work_installed as = {.slot = slot, .tried = tried};
	struct bu_node *node = rig_node(rig, 1);

	bu_reconcile_installed(rig->rec, node, node->step.id, node->step.attempt, &as);
	rig_until(rig, node, BU_STATE_BOOTING);
	rig_until_step(rig, node, BU_ACTION_DISKBOOT, BU_STEP_DONE);
}

/* Its disk is about to be written: it comes to run image d1 from this slot, and is out
 * of service. */
static inline void
run_first(struct rig *rig, const char *slot)
{
	struct bu_node *node = rig_node(rig, 1);

	writes(rig, slot, 0);
	rig_come_up(rig, 1, "boot-1");
	strcpy(first_step, node->installed_step);
	strcpy(first_cert, node->agent_cert);
	rig_fire(rig, node, BU_TRIGGER_PARK);
	rig_until(rig, node, BU_STATE_PARKED);
}

/* It is to become d2; from, to: as of rig_apply(). */
static inline void
order_second(struct rig *rig, const char *from, const char *to)
{
	rig_apply(rig, 1, BU_CLASS_REIMAGE, "d2", from, to);
	rig_start(rig, 1);
	rig_inspect(rig, 1);
	ck_assert_str_ne(rig_node(rig, 1)->agent_cert, first_cert);
}

static inline struct bu_node *
ordered(struct rig *rig, const char *slot)
{
	struct bu_node *node = rig_up_to(rig, RIG_IMAGING);

	run_first(rig, slot);
	order_second(rig, NULL, NULL);
	return node;
}

static inline int
may_speak(struct rig *rig, const char *fingerprint)
{
	struct bu_err err = {0};
	char copy[65];

	strcpy(copy, fingerprint);
	return bu_reconcile_check_peer(rig->rec, rig_node(rig, 1), copy, &err) == 0;
}

/* Its agent asks for work: its loader has its root by then. */
static inline void
asks_for_work(struct rig *rig)
{
	struct bu_node *node = rig_node(rig, 1);

	bu_fallback_confirm(rig->rec, node, node->agent_cert);
	rig_pass(rig, 1);
}

static inline int
says_hello(struct rig *rig, const char *step, const char *boot_id, struct bu_err *err)
{
	struct bu_node *node = rig_node(rig, 1);
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, boot_id);
	bu_autojson json_t *body = json_pack("{s:s,s:s,s:s}", "kind", "stamp", "step",
					     step, "machine", node->machine);
	bu_autojson json_t *stamp = bu_trust_sign(rig->trust, body, NULL);
	int rc = bu_reconcile_hello(rig->rec, node, BU_WHERE_INSTALLED, stamp,
				    inventory, err);

	rig_pass(rig, 1);
	return rc;
}

static inline void
has_first(struct rig *rig)
{
	const struct bu_node *node = rig_node(rig, 1);

	ck_assert_str_eq(node->installed_digest, "d1");
	ck_assert_str_eq(node->installed_step, first_step);
	ck_assert_str_eq(node->facets, "f-d1");
	ck_assert_str_eq(node->slot, "a");
	ck_assert_str_eq(node->other->step, "");
	ck_assert_str_eq(node->agent_cert, first_cert);
	ck_assert_int_eq(node->boot_installed, 1);
	ck_assert(may_speak(rig, first_cert));
}

/* Nothing of the order is on the disk that would start: it is written, from its turn
 * on.
 */
static inline void
is_written_again(struct rig *rig)
{
	struct bu_node *node = rig_node(rig, 1);
	const struct bu_verb_ask ask = {
		.verb = BU_VERB_RETRY, .by = "ann", .reason = ""};
	int boots = rig_count(rig, "boot disk node001");
	bu_autofree char *says = bu_verb_run(rig->rec, node, &ask, &(struct bu_err){0});

	ck_assert_ptr_nonnull(says);
	rig_text_has(says, "its order (reimage, of rollout r-1) is opened again");
	rig_pass(rig, 1);
	ck_assert_int_eq(node->order->open, 1);
	ck_assert_int_eq(node->order->begun, 0);
	rig_start(rig, 1);
	ck_assert_int_eq(rig_count(rig, "boot disk node001"), boots);
	rig_inspect(rig, 1);
	writes(rig, "b", 1);
	rig_come_up(rig, 1, "boot-9");
	ck_assert_str_eq(node->installed_digest, "d2");
	ck_assert_str_eq(node->slot, "b");
}

#endif
