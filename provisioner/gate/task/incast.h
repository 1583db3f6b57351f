/* SPDX-License-Identifier: Apache-2.0 */
/* Several idle nodes send to one at once. */
#ifndef BU_GATE_TASK_INCAST_H
#define BU_GATE_TASK_INCAST_H

#include "provisioner/gate/task/task.h"

/* incast.c. The row of kinds.c. */
int bu_incast_is_eligible(struct bu_gate *gate, struct bu_node *node,
			  const struct bu_desired_node *want);
void bu_incast_choose(struct bu_gate *gate);
json_t *bu_incast_item(struct bu_gate *gate, struct bu_task *incast, int place);
void bu_incast_judge(struct bu_gate *gate, struct bu_task *incast);
/* Remark about a node's last incast; new reference, NULL = none. */
json_t *bu_incast_said(const struct bu_node *node);

#endif
