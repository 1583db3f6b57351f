/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a node. This table and the edges in provisioner/node/lifecycle.c are
 * the lifecycle; help, documentation, metrics and tests loop over them.
 */
#ifndef BU_MODEL_STATE_H
#define BU_MODEL_STATE_H

#include "base/err.h"
#include "model/step.h"

/* Action after the deadline of an unsettled state. */
enum bu_ladder {
	BU_LADDER_NONE,  /* settled: nothing is awaited */
	BU_LADDER_POWER, /* power cycle and another try, then failed */
	BU_LADDER_HOLD,  /* held for a person, without a power action */
};

/* Place of a node relative to its cluster. */
enum bu_place {
	BU_PLACE_NONE,     /* not in the cluster's books: new or gone */
	BU_PLACE_OUT,      /* out of it, to return */
	BU_PLACE_ENTERING, /* on its way in */
	BU_PLACE_IN,       /* in service */
	BU_PLACE_LEAVING,  /* on its way out */
};

/* By the pool's drain_deadline; without one, no limit. */
enum { BU_LIMIT_OF_POOL = -1 };

/* The mover of a node whose steps are done. */
enum bu_done {
	BU_DONE_WAITS,  /* its agent, the gate, an order's turn or a person */
	BU_DONE_JOINED, /* the step: the cluster has the node */
	BU_DONE_LEFT,   /* the step: on to the node's target state */
};

/* How long an abort of the rollout recalls the node, and to where. */
enum bu_abort {
	BU_ABORT_NEVER,          /* never recalled */
	BU_ABORT_BEFORE_WRITING, /* to its old system, or to ENROLLED */
	BU_ABORT_BEFORE_LEAVING, /* back into its cluster */
};

/* id, name, settled, deadline in s, ladder, place, measured (measurements there count
 * for machines of its kind), first step, second step, mover when these are done, last
 * moment of a recall, text when late ("" = the step's), help */
#define BU_STATES(X)                                                                   \
	X(ENROLLED, "enrolled", 1, 0, NONE, NONE, 0, NONE, NONE, WAITS, NEVER, "",     \
	  "in the profile, waits for apply")                                           \
	X(INSPECTING, "inspecting", 0, 300, POWER, OUT, 0, NETBOOT, NONE, WAITS,       \
	  BEFORE_WRITING, "the agent did not report from the boot ramdisk",            \
	  "boots the ramdisk, the agent lists the hardware")                           \
	X(IMAGING, "imaging", 0, 900, POWER, OUT, 0, INSTALL, NONE, WAITS, NEVER,      \
	  "the image was not written", "the image is written to its disk")             \
	X(BOOTING, "booting", 0, 300, POWER, OUT, 0, DISKBOOT, NONE, WAITS, NEVER,     \
	  "the installed system did not report",                                       \
	  "its system boots, from its disk or into memory")                            \
	X(VALIDATING, "validating", 0, 600, POWER, OUT, 1, NONE, NONE, WAITS, NEVER,   \
	  "the fabric was not measured", "its part of the fabric is measured")         \
	X(JOINING, "joining", 0, 300, HOLD, ENTERING, 1, JOIN, NONE, JOINED, NEVER,    \
	  "the cluster did not take the node", "enters the cluster")                   \
	X(READY, "ready", 1, 0, NONE, IN, 1, NONE, RELABEL, WAITS, NEVER, "",          \
	  "works in the cluster")                                                      \
	X(DRAINING, "draining", 0, BU_LIMIT_OF_POOL, HOLD, LEAVING, 0, LEAVE,          \
	  CONFIGURE, LEFT, BEFORE_LEAVING, "the node's jobs did not end",              \
	  "finishes its work (in the drain_deadline of its pool) and leaves")          \
	X(SERVICING, "servicing", 1, 0, NONE, OUT, 0, NONE, NONE, WAITS, NEVER, "",    \
	  "firmware or repair by a person: bringup takes no action until "             \
	  "bringup node release")                                                      \
	X(PARKED, "parked", 1, 0, NONE, OUT, 0, NONE, NONE, WAITS, NEVER, "",          \
	  "out of the cluster until bringup node resume")                              \
	X(RETIRED, "retired", 1, 0, NONE, NONE, 0, NONE, NONE, WAITS, NEVER, "",       \
	  "left for good, its machine is forgotten")                                   \
	X(QUARANTINED, "quarantined", 1, 0, NONE, OUT, 1, NONE, NONE, WAITS, NEVER,    \
	  "", "a check failed; the evidence is kept")                                  \
	X(FAILED, "failed", 1, 0, NONE, OUT, 0, NONE, NONE, WAITS, NEVER, "",          \
	  "the ladder ran out; the reason is kept")

enum bu_state {
#define X(id, ...) BU_STATE_##id,
	BU_STATES(X)
#undef X
		BU_STATE_COUNT
};

struct bu_state_info {
	const char *name;
	int settled;
	int limit_s; /* 0 = settled; BU_LIMIT_OF_POOL */
	enum bu_ladder ladder;
	enum bu_place place;
	int measured;
	enum bu_action first; /* NONE: other parts act on the node, or an order in
				 service does */
	enum bu_action then;  /* if the order writes files */
	enum bu_done done;
	enum bu_abort abort;
	const char *late;
	const char *help;
};

const struct bu_state_info *bu_state_info(enum bu_state state);
const char *bu_state_name(enum bu_state state);
/* In a cluster, or on the way in or out. */
int bu_state_is_in_cluster(enum bu_state state);
/* A check failed or the ladder ran out: a person looks at it. */
int bu_state_is_bad(enum bu_state state);
/* In service, or about to be. */
int bu_state_serves(enum bu_state state);
bu_must int bu_state_from_name(const char *name, enum bu_state *ret,
			       struct bu_err *err);

#endif
