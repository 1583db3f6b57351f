/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: actions on one node. */
#ifndef BU_MODEL_STEP_H
#define BU_MODEL_STEP_H

#include <stdint.h>

#include "base/err.h"

enum bu_actor { BU_ACTOR_NOBODY, BU_ACTOR_POWER, BU_ACTOR_AGENT, BU_ACTOR_CLUSTER };

/* Handling of a step whose progress is unknown. */
enum bu_again {
	BU_AGAIN_LOOKS,    /* must not happen twice: its effect is observed */
	BU_AGAIN_REPEATS,  /* a repetition is harmless */
	BU_AGAIN_CONTINUES /* repeats under the id of the order's first try */
};

/* id, name, actor, the agent fetches it (of a cluster step: the node's part first),
 * when broken off, deadline in s (0 = the state's), text when late ("" = the state's),
 * help */
#define BU_ACTIONS(X)                                                                  \
	X(NONE, "none", NOBODY, 0, REPEATS, 0, "", "")                                 \
	X(NETBOOT, "boot-network", POWER, 0, LOOKS, 0, "",                             \
	  "power cycle with the network first")                                        \
	X(INSTALL, "install", AGENT, 1, CONTINUES, 0, "",                              \
	  "write the image to the disk")                                               \
	X(DISKBOOT, "boot-disk", POWER, 0, LOOKS, 0, "",                               \
	  "power cycle with the disk first")                                           \
	X(JOIN, "join", CLUSTER, 1, REPEATS, 0, "",                                    \
	  "start the cluster's client and admit the node")                             \
	X(LEAVE, "leave", CLUSTER, 0, REPEATS, 0, "",                                  \
	  "drain the node and take it out of the cluster")                             \
	X(RELABEL, "relabel", CLUSTER, 0, REPEATS, 900,                                \
	  "its cluster did not take its new labels",                                   \
	  "give the cluster the node's new labels; jobs go on")                        \
	X(CONFIGURE, "configure", AGENT, 1, REPEATS, 900,                              \
	  "its agent did not report that its files are written",                       \
	  "write the node's files, apply them if it is live")

enum bu_action {
#define X(id, ...) BU_ACTION_##id,
	BU_ACTIONS(X)
#undef X
		BU_ACTION_COUNT
};

struct bu_action_info {
	const char *name;
	enum bu_actor actor;
	int fetched;
	enum bu_again again;
	int limit_s;
	const char *late;
	const char *help;
};

const struct bu_action_info *bu_action_info(enum bu_action action);
const char *bu_action_name(enum bu_action action);
/* BU_ACTION_NONE = unknown name. */
enum bu_action bu_action_from_name(const char *name);

/* OPEN: an intent in the log without an outcome. */
enum bu_step_status { BU_STEP_NONE, BU_STEP_OPEN, BU_STEP_DONE, BU_STEP_FAILED };

struct bu_step {
	char id[112]; /* "<node>.<sequence>.<action>" */
	enum bu_action action;
	int attempt; /* from 1 */
	enum bu_step_status status;
	int64_t intent_seq; /* seq of its event; 0 = none */
};

#endif
