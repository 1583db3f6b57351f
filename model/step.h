/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: what is done to one node, and the classes of consequence of a plan. */
#ifndef BU_MODEL_STEP_H
#define BU_MODEL_STEP_H

#include <stdint.h>

#include "base/err.h"

/* id, name, by whom the effect comes about, help */
#define BU_ACTIONS(X)                                                                  \
	X(NONE, "none", NOBODY, "")                                                    \
	X(NETBOOT, "boot-network", POWER, "power cycle with the network first")        \
	X(INSTALL, "install", AGENT, "write the image to the disk")                    \
	X(DISKBOOT, "boot-disk", POWER, "power cycle with the disk first")             \
	X(JOIN, "join", CLUSTER, "start the cluster's client and admit the node")      \
	X(LEAVE, "leave", CLUSTER, "drain the node and take it out of the cluster")    \
	X(RELABEL, "relabel", CLUSTER,                                                 \
	  "tell the cluster what the node is; jobs go on")                             \
	X(CONFIGURE, "configure", AGENT,                                               \
	  "write the node's files, apply them if it is live")

enum bu_actor { BU_ACTOR_NOBODY, BU_ACTOR_POWER, BU_ACTOR_AGENT, BU_ACTOR_CLUSTER };

enum bu_action {
#define X(id, name, actor, help) BU_ACTION_##id,
	BU_ACTIONS(X)
#undef X
};

const char *bu_action_name(enum bu_action action);
enum bu_actor bu_action_actor(enum bu_action action);
/* BU_ACTION_NONE for a name that is not in the table. */
enum bu_action bu_action_from_name(const char *name);

/* An intent in the log without an outcome is OPEN. */
enum bu_step_status { BU_STEP_NONE, BU_STEP_OPEN, BU_STEP_DONE, BU_STEP_FAILED };

struct bu_step {
	char id[112]; /* "<node>.<sequence>.<action>" */
	enum bu_action action;
	int attempt; /* from 1 */
	enum bu_step_status status;
	int64_t intent_seq; /* of the event; 0 = none */
};

/* What a plan does to a node, from mild to severe: id, name, needs a grant, help. A
 * wipe that is granted includes a reimage. Nodes leave the cluster from restart on. */
#define BU_CLASSES(X)                                                                  \
	X(NONE, "none", 0, "nothing changes")                                          \
	X(RELABEL, "relabel", 0, "the cluster's view of it changes; jobs go on")       \
	X(RECONFIGURE, "reconfigure", 0, "files are applied live; jobs go on")         \
	X(RESTART, "restart", 0, "drained, leaves the cluster and joins again")        \
	X(REBOOT, "reboot", 0, "drained, rebooted, validated, joins again")            \
	X(INSTALL, "install", 0, "written to an empty disk")                           \
	X(REIMAGE, "reimage", 1, "drained, system written anew; data is kept")         \
	X(WIPE, "wipe", 1, "drained; what is on the disk is lost")

enum bu_class {
#define X(id, name, grant, help) BU_CLASS_##id,
	BU_CLASSES(X)
#undef X
};
const char *bu_class_name(enum bu_class class);
int bu_class_needs_grant(enum bu_class class);
enum bu_class bu_class_from_name(const char *name); /* NONE when unknown */

/* What people grant: the classes that need it (each includes a reset), and "reset", the
 * consent that a machine which is on is switched off, whatever runs there. */
#define BU_GRANT_RESET "reset"
#define BU_GRANT_NAMES "reset, reimage and wipe"
int bu_grant_name_ok(const char *name);

#endif
