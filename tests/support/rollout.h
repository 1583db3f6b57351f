/* SPDX-License-Identifier: Apache-2.0 */
/* Fake pools for the tests of rollouts: nodes in service, plans for them, and what
 * becomes of their orders. */
#ifndef BU_TESTS_SUPPORT_ROLLOUT_H
#define BU_TESTS_SUPPORT_ROLLOUT_H

#include <string.h>

#include "base/json.h"
#include "model/sentence.h"
#include "provisioner/rollout/rollout.h"
#include "tests/support/consent.h"
#include "tests/support/rig.h"
#include "tests/support/row.h"
#include "tests/support/unit.h"

static inline void
on_change(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	bu_rollouts_kick(arg);
}

static inline void
watch(struct rig *rig)
{
	bu_fleet_watch(rig->fleet, on_change, rig->rollouts);
	bu_rollouts_kick(rig->rollouts);
}

static inline void
pass_some(struct rig *rig)
{
	for (int i = 0; i < 15; i++)
		rig_pass(rig, 2);
}

static inline void
move(struct rig *rig, int number, const char *to, const char *on, const char *reason)
{
	struct bu_event event;

	row_init(&event, BU_EVENT_STATE, rig_node(rig, number)->name,
		 json_pack("{s:s,s:s,s:s}", "to", to, "on", on, "reason", reason));
	bu_reconcile_note(rig->rec, &event, 1);
	rig_pass(rig, 1);
}

/* Carried out: the node is installed as ordered and back in service. */
static inline void
come_back(struct rig *rig, int number)
{
	const struct bu_order *order = rig_node(rig, number)->order;
	const char *name = rig_node(rig, number)->name;
	struct bu_event events[4];

	row_init(&events[0], BU_EVENT_INSTALLED, name,
		 json_pack("{s:s,s:s}", "image", order->image, "digest",
			   order->image_digest));
	row_init(&events[1], BU_EVENT_INTENT, name,
		 json_pack("{s:s,s:s}", "step", "join", "action", "join"));
	row_init(&events[2], BU_EVENT_OUTCOME, name,
		 json_pack("{s:s,s:s}", "step", "join", "result", "done"));
	row_init(&events[3], BU_EVENT_STATE, name,
		 json_pack("{s:s,s:s}", "to", "ready", "on", "joined"));
	bu_reconcile_note(rig->rec, events, BU_LEN(events));
	rig_pass(rig, 1);
}

/* Nodes in service with image d1; half of the pool may be away. `keys` are put into
 * the pool's section. */
static inline void
begin(struct rig *rig, int nodes, const char *keys)
{
	bu_autofree char *pool =
		bu_xasprintf("max_unavailable = 50 %%\n%s", keys ? keys : "");

	rig_begin(rig, 0);
	rig_apply(rig, nodes, BU_CLASS_INSTALL, "d1", "max_unavailable = 50 %\n", pool);
	for (int i = 1; i <= nodes; i++) {
		move(rig, i, "inspecting", "start", "");
		come_back(rig, i);
		ck_assert_int_eq(rig_node(rig, i)->order->open, 0);
	}
	rig_write(rig, "sinfo", "mixed\n"); /* jobs that do not end */
	watch(rig);
}

static inline int
count_in(const struct rig *rig, enum bu_state state)
{
	int count = 0;

	for (size_t i = 0; i < rig->fleet->count; i++)
		count += rig->fleet->nodes[i]->state == state;
	return count;
}

static inline int
count_begun(const struct rig *rig)
{
	int count = 0;

	for (size_t i = 0; i < rig->fleet->count; i++)
		count += rig->fleet->nodes[i]->order->begun;
	return count;
}

static inline json_t *
plan_of(const struct rig *rig, int nodes, const char *class)
{
	json_t *steps = json_array();

	for (int i = 1; i <= nodes; i++)
		json_array_append_new(steps,
				      json_pack("{s:s,s:s,s:s,s:s,s:s,s:i}", "node",
						rig_node(rig, i)->name, "class", class,
						"image", "debian12", "digest", "d2",
						"facets", "f2", "batch", i > 1));
	return json_pack("{s:s,s:s,s:o}", "revision", rig->fleet->revision, "commit",
			 "c0ffee", "steps", steps);
}

/* Applied with all that it takes. */
static inline void
apply_as(struct rig *rig, int nodes, const char *class, const char *digest)
{
	bu_autojson json_t *plan = plan_of(rig, nodes, class);
	bu_autojson json_t *grants = json_pack("[{s:s}]", "class", "wipe");
	struct bu_err err = {0};
	char id[40];

	ck_assert_msg(consent_apply(rig->rollouts, plan, digest, grants, id, &err) == 0,
		      "%s", err.text);
	pass_some(rig);
}

static inline void
apply(struct rig *rig, int nodes, const char *class)
{
	apply_as(rig, nodes, class, "abcdef0");
}

static inline const struct bu_rollout *
last(const struct rig *rig)
{
	return &rig->fleet->rollouts[rig->fleet->rollouts_count - 1];
}

/* Its id is "r-<time>-<six of the digest>". */
static inline struct bu_rollout *
by_digest(const struct rig *rig, const char *digest)
{
	for (size_t i = 0; i < rig->fleet->rollouts_count; i++)
		if (strstr(rig->fleet->rollouts[i].id, digest))
			return &rig->fleet->rollouts[i];
	ck_abort_msg("no rollout of %s", digest);
	return NULL;
}

static inline void
is_state(const struct rig *rig, enum bu_rollout_state state)
{
	ck_assert_msg(last(rig)->state == state, "%s: %s (%s), not %s", last(rig)->id,
		      bu_rollout_state_name(last(rig)->state),
		      rig_said(&last(rig)->reason), bu_rollout_state_name(state));
}

static inline void
has(const char *text, const char *part)
{
	ck_assert_msg(text && strstr(text, part), "'%s' does not say '%s'",
		      text ? text : "", part);
}

static inline void
waits_for(const struct rig *rig, int number, const char *part)
{
	bu_autojson json_t *said =
		bu_rollouts_why(rig->rollouts, rig_node(rig, number));
	bu_autofree char *why = bu_said_text(said);

	has(why, part);
}

#endif
