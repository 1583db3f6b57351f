/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a node. This table and the edges in provisioner/node/lifecycle.h are
 * the lifecycle; help, documentation, metrics and tests loop over them.
 */
#ifndef BU_MODEL_STATE_H
#define BU_MODEL_STATE_H

#include "base/err.h"

/* What happens when the deadline of an unsettled state has passed. */
enum bu_ladder {
	BU_LADDER_NONE,  /* settled: nothing is awaited */
	BU_LADDER_POWER, /* again with a power cycle, then failed */
	BU_LADDER_HOLD,  /* held for a person; the power is never touched */
};

/* id, name, settled, deadline in s, ladder, help */
#define BU_STATES(X)                                                                   \
	X(ENROLLED, "enrolled", 1, 0, NONE, "in the profile, waits for apply")         \
	X(INSPECTING, "inspecting", 0, 300, POWER,                                     \
	  "boots the ramdisk, the agent lists the hardware")                           \
	X(IMAGING, "imaging", 0, 900, POWER, "the image is written to its disk")       \
	X(BOOTING, "booting", 0, 300, POWER, "boots from its disk")                    \
	X(VALIDATING, "validating", 0, 600, POWER,                                     \
	  "its part of the fabric is measured")                                        \
	X(JOINING, "joining", 0, 300, HOLD, "enters the cluster")                      \
	X(READY, "ready", 1, 0, NONE, "works in the cluster")                          \
	X(DRAINING, "draining", 0, 900, HOLD,                                          \
	  "finishes its work (in the drain_deadline of its pool) and leaves")          \
	X(SERVICING, "servicing", 1, 0, NONE,                                          \
	  "firmware or repair by a person: hands off until bringup node release")      \
	X(PARKED, "parked", 1, 0, NONE,                                                \
	  "out of the cluster until bringup node resume")                              \
	X(RETIRED, "retired", 1, 0, NONE, "left for good, its machine is forgotten")   \
	X(QUARANTINED, "quarantined", 1, 0, NONE,                                      \
	  "a check failed; the evidence is kept")                                      \
	X(FAILED, "failed", 1, 0, NONE, "a ladder ran out; the reason is kept")

enum bu_state {
#define X(id, name, settled, limit_s, ladder, help) BU_STATE_##id,
	BU_STATES(X)
#undef X
		BU_STATE_COUNT
};

struct bu_state_info {
	const char *name;
	int settled;
	int limit_s; /* 0 when settled */
	enum bu_ladder ladder;
	const char *help;
};

const struct bu_state_info *bu_state_info(enum bu_state state);
const char *bu_state_name(enum bu_state state);
int bu_state_from_name(const char *name, enum bu_state *ret, struct bu_err *err);

#endif
