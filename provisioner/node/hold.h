/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds a node and why: a row of the log, and what views show. */
#ifndef BU_NODE_HOLD_H
#define BU_NODE_HOLD_H

#include <jansson.h>

#include "model/event_body.h"
#include "model/reason.h"

/* id, name */
#define BU_OWNERS(X)                                                                   \
	X(NONE, "")             /* it is not held */                                   \
	X(BRINGUP, "bringup")   /* which goes on, once what it awaits has come */      \
	X(EXTERNAL, "external") /* an outside system, until it takes its word back */  \
	X(PERSON, "person")     /* nothing is done until it is released */

enum bu_owner {
#define X(id, name) BU_OWNER_##id,
	BU_OWNERS(X)
#undef X
		BU_OWNER_COUNT
};

const char *bu_owner_name(enum bu_owner owner);

/* As BU_BY_SIZE of the server. */
enum { BU_HOLD_BY_SIZE = 96 };
struct bu_hold {
	enum bu_owner owner;
	char by[BU_HOLD_BY_SIZE]; /* for people: "bringup", "external:dcgm", "root" */
	struct bu_reason reason;
};

/* name: of the person or of the outside system; not looked at for bringup. */
void bu_hold_set(struct bu_hold *ret, enum bu_owner owner, const char *name,
		 const struct bu_reason *reason);
void bu_hold_read(const union bu_body *body, struct bu_hold *ret);
/* "held by ann: DIMM A3"; owned. */
char *bu_hold_text(const struct bu_hold *hold);
/* The event that holds it so. */
void bu_hold_event(struct bu_event *ret, const char *node, enum bu_owner owner,
		   const char *name, const struct bu_reason *reason);

#endif
