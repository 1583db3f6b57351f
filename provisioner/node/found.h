/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a node's agent: the record of the last write, the files that differ
 * from it, and the running kernel (model/applied.h). Each change is a row of the log.
 * Every write on the node clears the report until the agent's next one. Without a
 * report the node is taken to have what the last order wrote.
 */
#ifndef BU_NODE_FOUND_H
#define BU_NODE_FOUND_H

#include "provisioner/node/replay_impl.h"

bu_must int bu_found_replay(BU_REPLAY_ARGS);
/* Clears the report: something is about to be written. */
void bu_found_forget(struct bu_node *node);
/* The digest tells a changed report from a repeated one. */
void bu_found_digest(const struct bu_body_runs *runs, char ret[65]);

/* 1 = the facet shows in files on the node; 0 = only the log has it (labels). */
int bu_found_lies(const char *facet);
/* The facets of a node: those in files as the record says (told), the others as the log
 * says (have). Takes have. New reference. */
json_t *bu_found_facets(json_t *have, const json_t *told);

#endif
