/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of nodes that copy to each other over NVLink; shared by nvlink.c, which asks
 * for them, nvlink_words.c, which says what came of them, and their callers. */
#ifndef BU_GATE_NVLINK_H
#define BU_GATE_NVLINK_H

#include "provisioner/gate/internal.h"

/* nvlink.c. Ends and begins pairs. */
void bu_gate_nvlink_look(struct bu_gate *gate);
void bu_gate_nvlink_drop(struct bu_gate *gate);
json_t *bu_gate_nvlink_work(struct bu_gate *gate, const struct bu_node *node);
/* 1 = the id is that of a pair, and the node is in it. */
int bu_gate_nvlink_result(struct bu_gate *gate, const struct bu_node *node,
			  const char *id, const json_t *result,
			  const struct bu_err *failure);

/* nvlink_read.c */
/* The NVLink domain and clique that it shares with other nodes, as it told in its
 * present boot; NULL = none. */
const char *bu_gate_nvlink_domain(const struct bu_node *node);
/* It was measured in its present boot: what came of it; NULL = it was not. */
const struct bu_body_nvlink *bu_gate_nvlink_of(const struct bu_node *node);
/* Of one end's report: {"rows":[{"id","subject","seen","expected","verdict","text"}],
 * "error","rates": true when all were measured, "of_node","of_pair": true with a
 * finding about this end alone, or about both}. NULL: it said nothing. New reference.
 */
json_t *bu_gate_nvlink_read(const json_t *report);
/* What the pair is to this end, by what both said. */
enum bu_verdict bu_gate_nvlink_judge(const json_t *own, const json_t *other);
/* 1 = that verdict is about the way between both, and not about one of them. */
int bu_gate_nvlink_is_of_pair(const json_t *own, const json_t *other);

/* nvlink_words.c */
/* What people should hear of a node's last pair; owned, NULL = nothing. */
char *bu_gate_nvlink_words(const struct bu_gate *gate, const struct bu_node *node);

#endif
