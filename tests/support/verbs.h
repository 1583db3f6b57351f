/* SPDX-License-Identifier: Apache-2.0 */
/* A node that a person asks something of, and the world around it doing what it should;
 * the daemon may end and start anew on the way. */
#ifndef BU_TESTS_SUPPORT_VERBS_H
#define BU_TESTS_SUPPORT_VERBS_H

#include <string.h>

#include "base/json.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

enum { TURNS = 800 };

static inline char *
ask_as(struct rig *rig, enum bu_verb verb, const char *reason, int dry_run,
       struct bu_err *err)
{
	const struct bu_verb_ask ask = {
		.verb = verb, .by = "ann", .reason = reason, .dry_run = dry_run};

	return bu_verb_run(rig->rec, rig_node(rig, 1), &ask, err);
}

/* It must be taken, and a dry run before must have said the same. */
static inline void
ask(struct rig *rig, enum bu_verb verb, const char *says)
{
	struct bu_err err = {0};
	bu_autofree char *would = ask_as(rig, verb, "fan 3", 1, &err);
	bu_autofree char *does = ask_as(rig, verb, "fan 3", 0, &err);

	ck_assert_msg(does != NULL, "%s", err.text);
	ck_assert_str_eq(does, says);
	ck_assert_str_eq(would, says);
}

static inline void
refused(struct rig *rig, enum bu_verb verb, enum bu_err_kind kind, const char *says)
{
	struct bu_err err = {0};

	ck_assert_ptr_null(ask_as(rig, verb, "fan 3", 0, &err));
	ck_assert_int_eq(err.kind, kind);
	rig_text_has(err.text, says);
}

static inline int
on_row(const struct bu_event *event, void *arg)
{
	*(int64_t *)arg = event->seq;
	return 0;
}

static inline int64_t
last_seq(const struct rig *rig)
{
	int64_t seq = 0;

	ck_assert_int_eq(bu_store_read_tail(rig->store, 1, on_row, &seq, NULL), 0);
	return seq;
}

static inline int
boots(const struct rig *rig)
{
	return rig_count(rig, "boot disk node001") +
	       rig_count(rig, "boot network node001");
}

static int came_up; /* after so many boots */

/* Everything else than bringup does what it should: the machine boots what is on its
 * disk, its agent answers, the cluster lets it go and takes it, the gate measures it.
 */
static inline void
be_the_world(struct rig *rig, struct bu_node *node)
{
	const struct bu_step *step = &node->step;

	node->live.last_seen_ms = bu_wall_ms(&rig->clock);
	rig_write(rig, "sinfo", node->state == BU_STATE_DRAINING ? "" : "idle\n");
	if (node->live.appending)
		return;
	if (step->action == BU_ACTION_JOIN && bu_reconcile_wants_agent(node))
		rig_answer(rig, node, NULL);
	if (node->state == BU_STATE_BOOTING && boots(rig) > came_up) {
		came_up = boots(rig);
		rig_come_up(rig, 1, "boot-after");
	} else if (node->state == BU_STATE_VALIDATING &&
		   bu_fleet_certified(rig->fleet, node, NULL) != 0) {
		rig_certify(rig, 1);
	} else if (node->state == BU_STATE_VALIDATING) {
		ck_assert_int_eq(bu_reconcile_fire(rig->rec, node, BU_TRIGGER_PROVEN,
						   NULL, NULL),
				 0);
	}
}

/* Until it is there and nothing of it is on its way. *cut (NULL = never): the daemon
 * ends and starts anew when the log has so many rows more; 0 then. */
static inline struct bu_node *
goes_to(struct rig *rig, enum bu_state to, int64_t *cut)
{
	struct bu_node *node = rig_node(rig, 1);

	for (int i = 0; i < TURNS && (node->state != to || node->live.appending); i++) {
		bu_clock_advance(&rig->clock, 2000);
		bu_loop_step(rig->loop, 5);
		if (cut && *cut && last_seq(rig) >= *cut) {
			*cut = 0;
			rig_restart(rig);
			node = rig_node(rig, 1);
		}
		be_the_world(rig, node);
	}
	ck_assert_msg(node->state == to, "%s is %s (%s)", node->name,
		      bu_state_name(node->state), rig_said(node->reason));
	return node;
}

/* A ready node whose agent is heard. */
static inline struct bu_node *
ready(struct rig *rig)
{
	struct bu_node *node = rig_up_to(rig, RIG_READY);

	came_up = boots(rig);
	be_the_world(rig, node);
	return node;
}

/* Failed while it booted: its system is there, and the machine is on or off. */
static inline struct bu_node *
failed_booting(struct rig *rig)
{
	struct bu_node *node = rig_up_to(rig, RIG_BOOTING);
	bu_autoinventory struct bu_inventory *other = rig_inventory(1, "boot-bad");

	ck_assert_int_eq(bu_reconcile_hello(rig->rec, node, BU_WHERE_INSTALLED, NULL,
					    other, NULL),
			 -1);
	rig_until(rig, node, BU_STATE_FAILED);
	came_up = boots(rig);
	return node;
}

#endif
