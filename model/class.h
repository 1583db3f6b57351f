/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of a plan's steps: their effect on a node. */
#ifndef BU_MODEL_CLASS_H
#define BU_MODEL_CLASS_H

#include "model/state.h"

/* Data on a disk that a step erases. */
enum bu_disk_use {
	BU_DISK_STAYS, /* nothing is written */
	BU_DISK_EMPTY, /* the disk is empty */
	BU_DISK_ROOT,  /* the system; data partitions stay */
	BU_DISK_ALL,   /* everything */
};

/* From mild to severe. A class that needs a grant includes those before it.
 * id, name, needs a grant, disturbs a node in service, first step of a node in service
 * (NONE: it leaves its cluster), writes files into the old system, state after leaving,
 * data erased, help */
#define BU_CLASSES(X)                                                                  \
	X(NONE, "none", 0, 0, NONE, 0, READY, STAYS, "nothing changes")                \
	X(RELABEL, "relabel", 0, 0, RELABEL, 0, READY, STAYS,                          \
	  "its labels in the cluster change; jobs go on")                              \
	X(RECONFIGURE, "reconfigure", 0, 1, CONFIGURE, 1, READY, STAYS,                \
	  "files are applied live; jobs go on")                                        \
	X(RESTART, "restart", 0, 1, NONE, 1, VALIDATING, STAYS,                        \
	  "drained, leaves the cluster and joins again")                               \
	X(REBOOT, "reboot", 0, 1, NONE, 1, BOOTING, STAYS,                             \
	  "drained, rebooted, validated, joins again")                                 \
	X(INSTALL, "install", 0, 1, NONE, 0, INSPECTING, EMPTY,                        \
	  "put on an empty disk, or into memory")                                      \
	X(REIMAGE, "reimage", 1, 1, NONE, 0, INSPECTING, ROOT,                         \
	  "drained, system written again; data is kept")                               \
	X(WIPE, "wipe", 1, 1, NONE, 0, INSPECTING, ALL,                                \
	  "drained; what is on the disk is lost")

enum bu_class {
#define X(id, ...) BU_CLASS_##id,
	BU_CLASSES(X)
#undef X
		BU_CLASS_COUNT
};

struct bu_class_info {
	const char *name;
	int needs_grant;
	int disturbs;
	enum bu_action in_service;
	int configures;
	enum bu_state next;
	enum bu_disk_use disk;
	const char *help;
};

const struct bu_class_info *bu_class_info(enum bu_class class);
const char *bu_class_name(enum bu_class class);
int bu_class_needs_grant(enum bu_class class);
int bu_class_installs(enum bu_class class);
enum bu_class bu_class_from_name(const char *name); /* NONE = unknown name */
/* The same for received names. BU_ERR_INVAL: unknown name. */
bu_must int bu_class_read(const char *name, enum bu_class *ret, struct bu_err *err);

/* Names in grants: the classes that need one (each includes a reset), and "reset", the
 * consent to switch off a machine that is on, whatever runs there. */
#define BU_GRANT_RESET "reset"
#define BU_GRANT_NAMES "reset, reimage and wipe"
int bu_grant_name_ok(const char *name);

#endif
