/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roles of people and of programs that work for them. bringupd.conf has a group of the
 * system for each, and a token has one. What each may do is in
 * provisioner/api/server_caller.c; the routes' table says what a route needs.
 */
#ifndef BU_MODEL_PERSON_H
#define BU_MODEL_PERSON_H

#include "base/err.h"

/* id, name, help */
#define BU_PERSONS(X)                                                                  \
	X(VIEWER, "viewer", "looks at nodes, rollouts, measurements and events")       \
	X(OPERATOR, "operator",                                                        \
	  "viewer; plans and applies, verbs on nodes, their BMCs and consoles")        \
	X(GRANT, "grant", "operator; allows what resets, reimages or wipes")           \
	X(ADMIN, "admin", "everything; makes and revokes tokens, makes backups")       \
	X(AUDITOR, "auditor", "viewer; the hashes of the log, and its anchors")

enum bu_person {
#define X(id, name, help) BU_PERSON_##id,
	BU_PERSONS(X)
#undef X
		BU_PERSON_COUNT
};

enum { BU_TOKEN_NAME_SIZE = 33 };

const char *bu_person_name(enum bu_person person);
/* BU_ERR_INVAL: err lists the roles. */
bu_must int bu_person_from_name(const char *name, enum bu_person *ret,
				struct bu_err *err);
/* 1 = up to 32 letters, digits and "._-": the name of a token or of a context. */
int bu_person_is_label(const char *text);

#endif
