/* SPDX-License-Identifier: Apache-2.0 */
/* Holds of nodes: the owner and the reason, from a row of the log, for views. */
#ifndef BU_NODE_HOLD_H
#define BU_NODE_HOLD_H

#include <jansson.h>

#include "model/event_body.h"
#include "model/reason.h"

/* id, name */
#define BU_OWNERS(X)                                                                   \
	X(NONE, "")             /* not held */                                         \
	X(BRINGUP, "bringup")   /* bringup goes on when its reason is over */          \
	X(EXTERNAL, "external") /* until the outside system withdraws its verdict */   \
	X(PERSON, "person")     /* bringup does nothing until a release */

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
	char by[BU_HOLD_BY_SIZE]; /* for display: "bringup", "external:dcgm", "root" */
	struct bu_reason reason;
	int64_t since_ms; /* Unix time */
};

/* name: the person or the outside system; ignored for bringup. */
void bu_hold_set(struct bu_hold *ret, enum bu_owner owner, const char *name,
		 const struct bu_reason *reason);
void bu_hold_read(const union bu_body *body, struct bu_hold *ret);
/* "held by ann: DIMM A3"; owned. */
json_t *bu_hold_said(const struct bu_hold *hold);
char *bu_hold_text(const struct bu_hold *hold);
/* Makes the event of this hold. */
void bu_hold_event(struct bu_event *ret, const char *node, enum bu_owner owner,
		   const char *name, const struct bu_reason *reason);

#endif
