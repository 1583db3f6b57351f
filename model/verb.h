/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verbs: commands of people for nodes. The command line's help, the API and
 * docs/operations.md loop over this table. The edges in provisioner/node/lifecycle.c
 * have their effects.
 */
#ifndef BU_MODEL_VERB_H
#define BU_MODEL_VERB_H

#include "base/err.h"
#include "model/state.h"

#define BU_IN(state) (1u << BU_STATE_##state)
#define BU_IN_ALL ((1u << BU_STATE_COUNT) - 1)

/* id, name, arguments, states that take it, options (NOTHING, GRANT, FORCE), help */
#define BU_VERBS(X)                                                                    \
	X(HOLD, "hold", "NODESET", BU_IN_ALL, NOTHING, "leave a node alone")           \
	X(RELEASE, "release", "NODESET", BU_IN(SERVICING), NOTHING,                    \
	  "take back a node that is held or being serviced")                           \
	X(DRAIN, "drain", "NODESET",                                                   \
	  BU_IN(READY) | BU_IN(JOINING) | BU_IN(DRAINING) | BU_IN(BOOTING) |           \
		  BU_IN(VALIDATING),                                                   \
	  NOTHING,                                                                     \
	  "let it finish its jobs, leave the cluster and stay out; it stays on")       \
	X(RESUME, "resume", "NODESET", BU_IN(PARKED) | BU_IN(DRAINING), NOTHING,       \
	  "take a drained node back into its cluster")                                 \
	X(SERVICE, "service", "NODESET",                                               \
	  BU_IN(READY) | BU_IN(JOINING) | BU_IN(DRAINING) | BU_IN(BOOTING) |           \
		  BU_IN(VALIDATING) | BU_IN(PARKED) | BU_IN(QUARANTINED) |             \
		  BU_IN(FAILED),                                                       \
	  NOTHING,                                                                     \
	  "drain it, then take no action until release, for firmware or repair")       \
	X(VALIDATE, "validate", "NODESET",                                             \
	  BU_IN(READY) | BU_IN(JOINING) | BU_IN(DRAINING) | BU_IN(VALIDATING) |        \
		  BU_IN(PARKED) | BU_IN(QUARANTINED) | BU_IN(FAILED),                  \
	  NOTHING,                                                                     \
	  "measure it again, twice the rounds; after a repair, without a wipe")        \
	X(REBOOT, "reboot", "NODESET",                                                 \
	  BU_IN(READY) | BU_IN(JOINING) | BU_IN(DRAINING) | BU_IN(VALIDATING) |        \
		  BU_IN(PARKED) | BU_IN(QUARANTINED) | BU_IN(FAILED),                  \
	  NOTHING, "drain it, power-cycle it into its system, measure it, join")       \
	X(RETRY, "retry", "NODESET", BU_IN(FAILED) | BU_IN(READY), NOTHING,            \
	  "run its failed order again, with the same grant")                           \
	X(REBUILD, "rebuild", "NODESET",                                               \
	  BU_IN(ENROLLED) | BU_IN(READY) | BU_IN(PARKED) | BU_IN(QUARANTINED) |        \
		  BU_IN(FAILED),                                                       \
	  GRANT, "write its system again, as the applied profile says; needs a grant") \
	X(POWER, "power", "on|off|cycle|status|suspend|wake NODESET", BU_IN_ALL,       \
	  FORCE,                                                                       \
	  "switch its machine; refused for a node in service unless it is drained")    \
	X(BMC_RESET, "bmc-reset", "NODESET", BU_IN_ALL, FORCE,                         \
	  "restart its BMC; the machine goes on")                                      \
	X(REPLACE, "replace", "NODESET", BU_IN_ALL & ~BU_IN(ENROLLED), NOTHING,        \
	  "drain it and forget its machine; another one will get the name")            \
	X(RETIRE, "retire", "NODESET", BU_IN_ALL & ~BU_IN(RETIRED), NOTHING,           \
	  "drain it and forget its machine, for good; its power stays as it is")

/* Number of words in the arguments. */
#define BU_VERB_ARGS(args) (sizeof(args) > sizeof("NODESET") ? 2 : 1)

enum bu_verb {
#define X(id, name, args, states, takes, help) BU_VERB_##id,
	BU_VERBS(X)
#undef X
		BU_VERB_COUNT
};

struct bu_verb_info {
	const char *name;
	const char *args;
	unsigned int states; /* bits BU_IN() */
	int grants;          /* takes --grant */
	const char *help;
};

const struct bu_verb_info *bu_verb_info(enum bu_verb verb);
bu_must int bu_verb_from_name(const char *name, enum bu_verb *ret, struct bu_err *err);
/* 1 = the state takes the verb. A held node also takes release. */
int bu_verb_takes(enum bu_verb verb, enum bu_state state);

#endif
