/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of rollout. Calls go downwards only: apply.c, rollout.c and
 * show.c call refusal.c, which calls view.c and brake.c. rollout.c calls recall.c. */
#ifndef BU_ROLLOUT_ROLLOUT_IMPL_H
#define BU_ROLLOUT_ROLLOUT_IMPL_H

#include "provisioner/rollout/rollout.h"

enum {
	BU_RELABELS_MAX = 32,      /* at a time: each is a short-lived process */
	BU_TURNS_AGAIN_MS = 20000, /* a window opens without an event */
	BU_TURNS_GAP_MS = 20,      /* a look passes over all nodes */
};

struct bu_brake;

struct bu_rollouts {
	struct bu_fleet *fleet;
	struct bu_reconcile *rec;
	struct bu_timer *turn;
	int64_t looked_ms; /* monotonic */
	struct bu_brake *brake;
};

/* The orders of one rollout in one pool. */
struct bu_share {
	int total, done, failed, withdrawn, turn, under_way;
	int proven; /* were in service, had their turn, are done */
	int trying; /* were in service, have their turn now */
	/* Likewise, withdrawn in their turn: on their way back, or taken out of service
	 * by a person midway. */
	int back;
	const struct bu_node *tries;   /* one of `trying` */
	const struct bu_node *gave_up; /* a withdrawn one; one of `back` if any */
	int faults, canary_faults;    /* not forgiven; the latter without relabelling */
	const struct bu_node *faulty; /* the last node with a fault */
};

/* view.c. The base of decisions about turns, made anew for each look. */
struct bu_view {
	const struct bu_fleet *fleet;
	int *away; /* by pool: not READY, away by a condition, or under way */
	const struct bu_node *
		*example;        /* by pool: a node of `away`, a stuck one if any */
	int relabels;            /* under way */
	struct bu_share *shares; /* by rollout and pool */
	int64_t now_s;           /* Unix time */
};

void bu_view_init(struct bu_view *view, const struct bu_fleet *fleet);
void bu_view_fini(struct bu_view *view);
struct bu_share *bu_view_share(const struct bu_view *view,
			       const struct bu_rollout *rollout, size_t pool);
/* Index of the node's pool. */
size_t bu_view_pool(const struct bu_fleet *fleet, const struct bu_desired_node *want);
int bu_view_is_away(const struct bu_node *node);
/* Counts one more node as away. */
void bu_view_add_away(struct bu_view *view, size_t pool, const struct bu_node *node);
/* 1 = the rollout stops itself, for this reason. */
int bu_rollout_spent(const struct bu_view *view, const struct bu_rollout *rollout,
		     struct bu_reason *ret);

/* refusal.c. Why a node's open order may not begin now. Pure. */
enum bu_refusal {
	BU_MAY_GO,
	BU_REFUSED_ROLLOUT,   /* not running */
	BU_REFUSED_LEFT,      /* the node left the profile */
	BU_REFUSED_UNSETTLED, /* under way already, or in a person's hands */
	BU_REFUSED_HELD,
	BU_REFUSED_BRAKE,
	BU_REFUSED_RELABELS, /* BU_RELABELS_MAX are under way */
	BU_REFUSED_WINDOW,
	BU_REFUSED_CANARY,
	BU_REFUSED_AWAY,
};
enum bu_refusal bu_turn_refused(const struct bu_rollouts *rollouts,
				const struct bu_view *view, const struct bu_node *node);
/* For people; NULL for BU_MAY_GO. New reference. */
json_t *bu_refusal_said(const struct bu_rollouts *rollouts, const struct bu_view *view,
			const struct bu_node *node, enum bu_refusal refusal);

/* grants.c. Reads grants of bu_rollouts_apply(). NULL and BU_ERR_INVAL: malformed, or a
 * class that cannot be granted. */
struct bu_grants;
struct bu_grants *bu_grants_read(const json_t *grants, struct bu_err *err);
void bu_grants_destroy(struct bu_grants *grants);
/* BU_ERR_DENIED: err names the nodes whose step lacks its grant, and the grant. */
bu_must int bu_grants_check(const struct bu_grants *grants, const struct bu_plan *plan,
			    struct bu_err *err);
/* 1 = this node's machine may be switched off while it is on. */
int bu_grants_reset(const struct bu_grants *grants, const char *node);

/* recall.c. Makes the events that recall the rollout's orders where possible, two per
 * node at most. Returns their number. */
size_t bu_recall(struct bu_rollouts *rollouts, const char *id, const char *by,
		 struct bu_event *events);

/* The same for one node whose order under way is replaced by another.
 * bu_recall_check(): BU_ERR_STATE = not possible. */
bu_must int bu_recall_check(struct bu_rollouts *rollouts, const char *name,
			    struct bu_err *err);
size_t bu_recall_for(struct bu_rollouts *rollouts, const char *name, const char *by,
		     struct bu_event *events);

/* brake.c */
struct bu_brake *bu_brake_create(struct bu_fleet *fleet, struct bu_reconcile *rec);
void bu_brake_destroy(struct bu_brake *brake);
/* The scope in which the node's ladder is frozen, "pool train"; NULL = not frozen. */
const char *bu_brake_scope(const struct bu_brake *brake, const struct bu_node *node);

#endif
