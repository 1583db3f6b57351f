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

/* id, name, settled, deadline in s, ladder, abort leads to, help */
#define BU_STATES(X)                                                                   \
	X(DISCOVERED, "discovered", 1, 0, NONE, DISCOVERED,                            \
	  "seen, not in the profile")                                                  \
	X(ENROLLED, "enrolled", 1, 0, NONE, ENROLLED,                                  \
	  "in the profile, waits for apply")                                           \
	X(INSPECTING, "inspecting", 0, 300, POWER, ENROLLED,                           \
	  "boots the ramdisk, the agent lists the hardware")                           \
	X(IMAGING, "imaging", 0, 900, POWER, ENROLLED,                                 \
	  "the image is written to its disk")                                          \
	X(BOOTING, "booting", 0, 300, POWER, ENROLLED, "boots from its disk")          \
	X(VALIDATING, "validating", 0, 600, POWER, ENROLLED,                           \
	  "its part of the fabric is measured")                                        \
	X(JOINING, "joining", 0, 300, HOLD, VALIDATING, "enters the cluster")          \
	X(READY, "ready", 1, 0, NONE, READY, "works in the cluster")                   \
	X(DRAINING, "draining", 0, 900, HOLD, READY,                                   \
	  "finishes its work (in the drain_deadline of its pool) and leaves")          \
	X(SERVICING, "servicing", 0, 3600, HOLD, ENROLLED, "firmware or repair")       \
	X(PARKED, "parked", 1, 0, NONE, PARKED, "off, by policy or by the scheduler")  \
	X(RETIRED, "retired", 1, 0, NONE, RETIRED, "left for good")                    \
	X(QUARANTINED, "quarantined", 1, 0, NONE, QUARANTINED,                         \
	  "a check failed; the evidence is kept")                                      \
	X(FAILED, "failed", 1, 0, NONE, FAILED, "a ladder ran out; the reason is kept")

enum bu_state {
#define X(id, name, settled, limit_s, ladder, abort, help) BU_STATE_##id,
	BU_STATES(X)
#undef X
		BU_STATE_COUNT
};

struct bu_state_info {
	const char *name;
	int settled;
	int limit_s; /* 0 when settled */
	enum bu_ladder ladder;
	enum bu_state abort_to;
	const char *help;
};

const struct bu_state_info *bu_state_info(enum bu_state state);
const char *bu_state_name(enum bu_state state);
int bu_state_from_name(const char *name, enum bu_state *ret, struct bu_err *err);

#endif
