/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of the lifecycle: from a state, on a trigger, to a state, if the guard
 * holds. Together with the states in model/state.h this is the design; the function
 * that follows it is pure.
 */
#ifndef BU_NODE_LIFECYCLE_H
#define BU_NODE_LIFECYCLE_H

#include "base/err.h"
#include "model/state.h"

/* id, name, help */
#define BU_TRIGGERS(X)                                                                 \
	X(START, "start", "the rollout's turn")                                        \
	X(INSPECTED, "inspected", "the agent told its inventory, it fits")             \
	X(MISFIT, "misfit", "the machine is not of its hardware class")                \
	X(IMAGED, "imaged", "the image is on the disk, verified")                      \
	X(BOOTED, "booted", "the installed system answers with its stamp")             \
	X(PROVEN, "proven", "the gate issued its certificates")                        \
	X(ACCUSED, "accused", "the gate names this node as the slow part")             \
	X(JOINED, "joined", "the cluster takes work for it")                           \
	X(LOST, "lost", "its cluster has lost it, and answers")                        \
	X(REPEAT, "repeat", "late; once more, with a power cycle")                     \
	X(LATE, "late", "late, and the ladder has run out")                            \
	X(FAULT, "fault", "a step failed for good")                                    \
	X(REBUILD, "rebuild", "an applied plan changes what it runs")                  \
	X(DRAIN, "drain", "a person takes it out of the cluster")                      \
	X(LEFT, "left", "it is out of the cluster, to be installed anew")              \
	X(LEFT_REBOOT, "left-reboot", "it is out of the cluster, to be booted anew")   \
	X(LEFT_RESTART, "left-restart", "it is out of the cluster, to go on as it is") \
	X(PARK, "park", "a person wants it out of the cluster")                        \
	X(SERVICE, "service", "a person works on it")                                  \
	X(BOOT, "boot", "a person takes it back; its system is started")               \
	X(VALIDATE, "validate", "a person takes it back; its system runs")             \
	X(REPLACE, "replace", "another machine will have this name")                   \
	X(RETIRE, "retire", "it is wanted no more")                                    \
	X(ABORT, "abort", "called back: it has not left, or was not written to")       \
	X(ABORT_BOOT, "abort-boot", "called back; its system is still on its disk")

enum bu_trigger {
#define X(id, name, help) BU_TRIGGER_##id,
	BU_TRIGGERS(X)
#undef X
		BU_TRIGGER_COUNT
};

/* Facts that a guard may ask for. */
enum bu_guard {
	BU_GUARD_NONE,
	BU_GUARD_ORDERED,   /* an order is open */
	BU_GUARD_INSTALL,   /* an order is open that installs, reimages or wipes */
	BU_GUARD_CERTIFIED, /* full certificate for this machine, boot one for this boot
			     */
	BU_GUARD_INSTALLED, /* a system of ours is on its disk */
	BU_GUARD_FREE,      /* no order of it is under way */
};

struct bu_edge {
	enum bu_state from;
	enum bu_trigger on;
	enum bu_state to;
	enum bu_guard guard;
};

/* The table; ends with the count. */
const struct bu_edge *bu_lifecycle_edges(size_t *ret_count);
const char *bu_trigger_name(enum bu_trigger trigger);

/* Whether there is an edge, whatever its guard says. */
int bu_lifecycle_has(enum bu_state from, enum bu_trigger on);
/* The guard of the edge from this state on this trigger; NONE when there is no edge. */
enum bu_guard bu_lifecycle_guard(enum bu_state from, enum bu_trigger on);

struct bu_guard_facts {
	int ordered;
	int begun;    /* that order is under way */
	int installs; /* the open order is of such a class */
	int certified;
	int installed;
};
/* Where the trigger leads from this state. BU_ERR_STATE when there is no such edge or
 * its guard does not hold. Pure. */
int bu_lifecycle_next(enum bu_state from, enum bu_trigger on,
		      const struct bu_guard_facts *facts, enum bu_state *ret_to,
		      struct bu_err *err);

#endif
