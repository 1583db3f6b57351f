/* SPDX-License-Identifier: Apache-2.0 */
/* Makes changed files hold on a running system, and notes what a way back needs. */
#ifndef BU_AGENT_APPLY_H
#define BU_AGENT_APPLY_H

#include "agent/change.h"

/* What the files alone do not tell, before they are written, for the journal:
 * {"groups":[...],"drops":[devices],"values":[{"path","value"}],
 *  "mtus":[{"name","mtu"}]}. New reference. */
json_t *bu_apply_note(const struct bu_change *change);
/* Virtual devices that putting the old files back makes anew: asked before. */
json_t *bu_apply_drops_back(const struct bu_change *change);
/* groups and drops as above; the order is that of the table in apply.c. */
bu_must int bu_apply_groups(const char *root, const json_t *groups, const json_t *drops,
			    struct bu_err *err);
/* Sets again what no file says: kernel values and MTUs of the note. */
void bu_apply_values(const char *root, const json_t *note);
/* Until no link is under way any more, for a while at most. */
void bu_apply_settle(const char *root);

#endif
