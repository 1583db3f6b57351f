/* SPDX-License-Identifier: Apache-2.0 */
/* Power commands of people and their results: in the log, and between bringupd and the
 * command line. */
#ifndef BU_MODEL_POWER_REQUEST_H
#define BU_MODEL_POWER_REQUEST_H

/* id, name */
#define BU_POWER_REQUESTS(X)                                                           \
	X(NONE, "")                                                                    \
	X(ON, "on")                                                                    \
	X(OFF, "off")                                                                  \
	X(CYCLE, "cycle")                                                              \
	X(STATUS, "status") /* only a query */                                         \
	X(BMC_RESET, "bmc-reset")                                                      \
	/* for a cluster that saves power: off and on without a drain, and its word    \
	 * that the machine did not come */                                            \
	X(SUSPEND, "suspend")                                                          \
	X(WAKE, "wake")                                                                \
	X(WAKE_FAILED, "wake-failed")
#define BU_OUTCOMES(X)                                                                 \
	X(NONE, "")                                                                    \
	X(ASKED, "asked") /* under way */                                              \
	X(DONE, "done")                                                                \
	X(FAILED, "failed")                                                            \
	X(UNKNOWN, "unknown") /* not known whether it was done */

enum bu_power_request_op {
#define X(id, name) BU_POWER_REQUEST_##id,
	BU_POWER_REQUESTS(X)
#undef X
};

enum bu_outcome {
#define X(id, name) BU_OUTCOME_##id,
	BU_OUTCOMES(X)
#undef X
};

/* By value; end with NULL. */
extern const char *const bu_power_request_names[];
extern const char *const bu_outcome_names[];

/* 1 = the machine goes off by it. */
static inline int
bu_power_request_ends_boot(enum bu_power_request_op op)
{
	return op == BU_POWER_REQUEST_OFF || op == BU_POWER_REQUEST_CYCLE ||
	       op == BU_POWER_REQUEST_SUSPEND;
}

#endif
