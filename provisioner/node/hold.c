/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds of nodes. Made by whichever part holds a node, read by replay.c and views.
 * Invariant: the owner's name decides nothing; its kind does.
 */
#include "provisioner/node/hold.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/sentence.h"

static const char external[] = "external:";

static const char *const names[] = {
#define X(id, name) name,
	BU_OWNERS(X)
#undef X
};

const char *
bu_owner_name(enum bu_owner owner)
{
	return names[owner];
}

void
bu_hold_set(struct bu_hold *ret, enum bu_owner owner, const char *name,
	    const struct bu_reason *reason)
{
	bu_autofree char *by = bu_xasprintf(
		"%s%s", owner == BU_OWNER_EXTERNAL ? external : "",
		owner == BU_OWNER_BRINGUP ? names[BU_OWNER_BRINGUP] : name);

	ret->owner = owner;
	BU_TEXT_COPY(ret->by, by);
	ret->reason = *reason;
}

void
bu_hold_read(const union bu_body *body, struct bu_hold *ret)
{
	BU_TEXT_COPY(ret->by, body->held.owner);
	/* A hold of an unknown kind lasts until a person releases it. */
	ret->owner = BU_OWNER_PERSON;
	for (int i = BU_OWNER_BRINGUP; i < BU_OWNER_COUNT; i++)
		if (strcmp(names[i], body->held.kind) == 0)
			ret->owner = (enum bu_owner)i;
	ret->reason = body->held.reason;
}

json_t *
bu_hold_said(const struct bu_hold *hold)
{
	return BU_SAID(HELD_SO, BU_ARG("by", hold->by),
		       BU_ARG_SAID("why", bu_said_of(&hold->reason)));
}

char *
bu_hold_text(const struct bu_hold *hold)
{
	bu_autojson json_t *said = bu_hold_said(hold);

	return bu_said_text(said);
}

void
bu_hold_event(struct bu_event *ret, const char *node, enum bu_owner owner,
	      const char *name, const struct bu_reason *reason)
{
	struct bu_hold hold;

	bu_hold_set(&hold, owner, name, reason);
	/* "owner" is shown to people; "kind" decides. */
	BU_EVENT_MAKE(ret, BU_EVENT_HELD, node, held, .owner = hold.by,
		      .kind = names[owner], .reason = *reason);
}
