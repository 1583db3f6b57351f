/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The edges of the lifecycle: from a state, on a trigger, to a state, if the guard
 * holds. These and the states of model/state.h are the design; the functions are pure.
 */
#ifndef BU_NODE_LIFECYCLE_H
#define BU_NODE_LIFECYCLE_H

#include "base/err.h"
#include "model/state.h"

/* Effect of a trigger on an open order. */
enum bu_fate {
	BU_FATE_STAYS,
	BU_FATE_BEGINS,     /* the order's turn begins */
	BU_FATE_WITHDRAWN,  /* a person decided otherwise; the order has not failed */
	BU_FATE_IN_SERVICE, /* WITHDRAWN if the order has begun on a READY node */
};

/* Further effects of a trigger. */
enum {
	BU_ON_STUCK = 1 << 0,     /* no progress: the state before counts as late */
	BU_ON_FORGETS = 1 << 1,   /* the node's machine is forgotten */
	BU_ON_NO_CYCLE = 1 << 2,  /* may start the machine, and not power-cycle it */
	BU_ON_SAME_BOOT = 1 << 3, /* this boot's measurements stay valid */
};

/* id, name, fate of the open order, BU_ON_..., help */
#define BU_TRIGGERS(X)                                                                 \
	X(START, "start", BEGINS, 0, "the rollout's turn")                             \
	X(INSPECTED, "inspected", STAYS, 0,                                            \
	  "the agent reported an inventory that "                                      \
	  "fits")                                                                      \
	X(LOADS, "loads", STAYS, 0,                                                    \
	  "its machine is in the boot ramdisk, which loads its system into memory")    \
	X(MISFIT, "misfit", STAYS, 0, "the machine is not of its hardware class")      \
	X(IMAGED, "imaged", STAYS, 0, "the image is on the disk, verified")            \
	X(BOOTED, "booted", STAYS, 0, "the installed system answers with its stamp")   \
	X(PROVEN, "proven", STAYS, 0, "the gate issued its certificates")              \
	X(ACCUSED, "accused", STAYS, 0, "the gate names this node as the slow part")   \
	X(JOINED, "joined", STAYS, 0, "the cluster takes work for it")                 \
	X(LOST, "lost", STAYS, 0, "its cluster answers and has lost it")               \
	X(OUTDATED, "outdated", STAYS, 0,                                              \
	  "its certificates are of other hardware than it has now")                    \
	X(REPEAT, "repeat", STAYS, BU_ON_STUCK, "late; again, with a power cycle")     \
	X(LATE, "late", STAYS, BU_ON_STUCK, "late, and the ladder has run out")        \
	X(FAULT, "fault", STAYS, BU_ON_STUCK, "a step failed for good")                \
	X(REBUILD, "rebuild", BEGINS, 0, "an applied plan changes what it runs")       \
	X(DRAIN, "drain", IN_SERVICE, 0, "a person takes it out of the cluster")       \
	X(LEFT, "left", STAYS, 0, "it is out of the cluster, to be installed again")   \
	X(LEFT_REBOOT, "left-reboot", STAYS, 0,                                        \
	  "it is out of the cluster, to be rebooted")                                  \
	X(LEFT_RESTART, "left-restart", STAYS, BU_ON_SAME_BOOT,                        \
	  "it is out of the cluster, to go on as it is")                               \
	X(PARK, "park", WITHDRAWN, 0, "a person wants it out of the cluster")          \
	X(SERVICE, "service", WITHDRAWN, 0, "a person works on it")                    \
	X(BOOT, "boot", STAYS, BU_ON_NO_CYCLE,                                         \
	  "a person releases it; its system is started")                               \
	X(VALIDATE, "validate", STAYS, BU_ON_NO_CYCLE | BU_ON_SAME_BOOT,               \
	  "a person releases it; its system runs")                                     \
	X(REPLACE, "replace", WITHDRAWN, BU_ON_FORGETS,                                \
	  "another machine will get this name")                                        \
	X(RETIRE, "retire", WITHDRAWN, BU_ON_FORGETS, "a person retires it")           \
	X(ABORT, "abort", WITHDRAWN, 0,                                                \
	  "cancelled: it has not left, or was not written")                            \
	X(ABORT_BOOT, "abort-boot", WITHDRAWN, 0,                                      \
	  "cancelled; its system is still on its disk")                                \
	X(ADOPTED, "adopted", WITHDRAWN, 0,                                            \
	  "its system runs in its cluster, by the stamp that its agent shows")         \
	X(ADOPTED_OUT, "adopted-out", WITHDRAWN, 0,                                    \
	  "its system runs out of its cluster, by the stamp that its agent shows")

enum bu_trigger {
#define X(id, ...) BU_TRIGGER_##id,
	BU_TRIGGERS(X)
#undef X
		BU_TRIGGER_COUNT /* none */
};

/* Guards of edges. */
#define BU_GUARDS(X) /* id, condition, refusal when it does not hold */                \
	X(NONE, "", "")                                                                \
	X(ORDERED, "an order is open", "no applied plan orders it")                    \
	X(INSTALL, "an order to write its disk is open",                               \
	  "no applied plan orders its disk to be written")                             \
	X(CERTIFIED, "its certificates are valid",                                     \
	  "it has no valid certificates for this machine and this boot")               \
	X(INSTALLED, "its disk has a system of bringup",                               \
	  "its disk has no system of bringup")                                         \
	X(FREE, "no order of it is under way", "its order is under way")

enum bu_guard {
#define X(id, holds, refusal) BU_GUARD_##id,
	BU_GUARDS(X)
#undef X
};

struct bu_edge {
	enum bu_state from;
	enum bu_trigger on;
	enum bu_state to;
	enum bu_guard guard;
};

/* The table of edges. */
const struct bu_edge *bu_lifecycle_edges(size_t *ret_count);

struct bu_trigger_info {
	const char *name; /* "" of BU_TRIGGER_COUNT */
	enum bu_fate fate;
	unsigned int flags; /* BU_ON_... */
	const char *help;
};
const struct bu_trigger_info *bu_trigger_info(enum bu_trigger trigger);
const char *bu_trigger_name(enum bu_trigger trigger);
/* BU_TRIGGER_COUNT = unknown name. */
enum bu_trigger bu_trigger_from_name(const char *name);

/* 1 = there is an edge, whatever its guard. */
int bu_lifecycle_has(enum bu_state from, enum bu_trigger on);
/* 1 = an order may begin in this state. */
int bu_lifecycle_begins(enum bu_state state);
/* The trigger of the edge between two states; BU_TRIGGER_COUNT = no edge. */
enum bu_trigger bu_lifecycle_way(enum bu_state from, enum bu_state to);
/* The guard of the edge; NONE also when there is no edge. */
enum bu_guard bu_lifecycle_guard(enum bu_state from, enum bu_trigger on);

struct bu_guard_facts {
	int ordered;
	int begun;    /* the open order is under way */
	int installs; /* the open order writes the disk */
	int certified;
	int installed;
};
/* The target state. BU_ERR_STATE when there is no edge or its guard does not hold.
 * Pure. */
bu_must int bu_lifecycle_next(enum bu_state from, enum bu_trigger on,
			      const struct bu_guard_facts *facts, enum bu_state *ret_to,
			      struct bu_err *err);

#endif
