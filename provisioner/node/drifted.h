/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of agents about their systems: their way into the log, and the drift that
 * they show. */
#ifndef BU_NODE_DRIFTED_H
#define BU_NODE_DRIFTED_H

#include "provisioner/node/fleet.h"

struct bu_reconcile;

/* Takes the report in a hello of the installed system. runs: bu_runs_fields, NULL = the
 * agent sends none. */
void bu_drifted_tell(struct bu_reconcile *rec, struct bu_node *node,
		     const json_t *runs);
/* Writes the row that is due: at most 8 an hour, and always the latest report. */
void bu_drifted_look(struct bu_reconcile *rec, struct bu_node *node);

/* Adds a bu_shown_drift_fields for each file or kernel argument that differs from the
 * last write, and each facet that is neither the last order's nor the profile's. */
void bu_drifted_list(const struct bu_fleet *fleet, const struct bu_node *node,
		     json_t *list);
/* The same as the detail of the condition `drifted`; NULL = no drift. Borrowed. */
json_t *bu_drifted_said(const struct bu_fleet *fleet, struct bu_node *node);

#endif
