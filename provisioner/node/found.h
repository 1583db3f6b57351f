/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node's agent finds on it: the record of what was written, whether all of it is
 * still so, and what its kernel runs with (model/applied.h). A row of the log for each
 * change. From the row that writes something on the node until its agent tells anew,
 * and of an agent that tells nothing, what the last order wrote is the best that is
 * known.
 */
#ifndef BU_NODE_FOUND_H
#define BU_NODE_FOUND_H

#include "provisioner/node/replay_impl.h"

bu_must int bu_found_replay(BU_REPLAY_ARGS);
/* What was told is of before. */
void bu_found_forget(struct bu_node *node);
/* By which a row is told from the one before. */
void bu_found_digest(const struct bu_body_runs *runs, char ret[65]);

/* A facet that stands in what lies on a node; others (labels) are only known to the
 * log. */
int bu_found_lies(const char *facet);
/* have: of the log, given away; told: those of the record. What lies on the node is as
 * the record says, the rest as the log does. New reference. */
json_t *bu_found_facets(json_t *have, const json_t *told);

#endif
