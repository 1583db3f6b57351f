/* SPDX-License-Identifier: Apache-2.0 */
/* What agents find on their nodes: told, written into the log, and told as drift. */
#ifndef BU_NODE_DRIFTED_H
#define BU_NODE_DRIFTED_H

#include "provisioner/node/fleet.h"

struct bu_reconcile;

/* With a hello of the installed system; runs: bu_runs_fields, NULL = it tells nothing.
 */
void bu_drifted_tell(struct bu_reconcile *rec, struct bu_node *node,
		     const json_t *runs);
/* Writes the row that is due: at most a few in an hour, the last word in any case. */
void bu_drifted_look(struct bu_reconcile *rec, struct bu_node *node);

/* What lies there or runs is neither what was written last nor what the applied profile
 * says: bu_shown_drift_fields of each, added to the list. */
void bu_drifted_list(const struct bu_fleet *fleet, const struct bu_node *node,
		     json_t *list);
/* The same in a line, for the condition; "" = there is none. */
const char *bu_drifted_words(const struct bu_fleet *fleet, struct bu_node *node);

#endif
