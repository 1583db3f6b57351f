/* SPDX-License-Identifier: Apache-2.0 */
/* Makes changed files hold on a running system, and notes what a way back needs. */
#ifndef BU_AGENT_APPLY_H
#define BU_AGENT_APPLY_H

#include "agent/change.h"

/* Virtual devices that are made anew; the list is on the heap, its names are not. */
struct bu_drops {
	const char **list;
	size_t count;
};

/* What the files alone do not tell, before they are written: the note's groups, drops,
 * values and mtus. Its texts live as long as the change. */
void bu_apply_note(struct bu_change *change, struct bu_note *note);
/* Those that putting the old files back makes anew: asked before. */
struct bu_drops bu_apply_drops_back(struct bu_change *change);
/* The groups of the note; the order is that of the table in apply.c. */
bu_must int bu_apply_groups(const char *root, const struct bu_note *note,
			    const struct bu_drops *drops, struct bu_err *err);
/* Sets again what no file says: kernel values and MTUs of the note. */
void bu_apply_values(const char *root, const struct bu_note *note);
/* Until no link is under way any more, for a while at most. */
void bu_apply_settle(const char *root);

#endif
