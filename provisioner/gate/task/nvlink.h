/* SPDX-License-Identifier: Apache-2.0 */
/* NVLink tests between two nodes: nvlink.c asks for them, nvlink_read.c reads their
 * reports, nvlink_words.c words the results. */
#ifndef BU_GATE_TASK_NVLINK_H
#define BU_GATE_TASK_NVLINK_H

#include "provisioner/gate/task/task.h"

struct bu_gate_nvlink {
	struct bu_task task;
	char domain[80];
	char boot[2][40]; /* when the pair began */
};

/* nvlink.c. The row of kinds.c. */
int bu_gate_nvlink_is_eligible(struct bu_gate *gate, struct bu_node *node,
			       const struct bu_desired_node *want);
void bu_gate_nvlink_choose(struct bu_gate *gate);
json_t *bu_gate_nvlink_item(struct bu_gate *gate, struct bu_task *task, int end);
void bu_gate_nvlink_judge(struct bu_gate *gate, struct bu_task *task);

/* nvlink_read.c */
/* NVLink domain and clique of the node's GPUs, by the checks of its present boot; NULL
 * = none. */
const char *bu_gate_nvlink_domain(const struct bu_node *node);
/* The node's last result of its present boot; NULL = none. */
const struct bu_body_nvlink *bu_gate_nvlink_of(const struct bu_node *node);
/* Summary of one end's report:
 * {"rows":[{"id","subject","seen","expected","verdict","text"}],
 * "error","rates","of_node","of_pair"}. rates: true if there are rates and all rows
 * pass. of_node, of_pair: true if a finding is about this end alone, or about the pair.
 * NULL = no report. New reference. */
json_t *bu_gate_nvlink_read(const json_t *report);
/* The pair's verdict for this end, from both reports. */
enum bu_verdict bu_gate_nvlink_verdict(const json_t *own, const json_t *other);
/* 1 = the verdict is about the path between both, not about one end. */
int bu_gate_nvlink_is_of_pair(const json_t *own, const json_t *other);

/* nvlink_words.c */
/* Remark about a node's last pair; new reference, NULL = none. */
json_t *bu_gate_nvlink_said(const struct bu_gate *gate, const struct bu_node *node);

#endif
