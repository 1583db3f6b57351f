/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task is work that several nodes do together: the two ends of a probe, the senders
 * of an incast. task.c owns what every task has: id, secret, deadline, the nodes that
 * are busy with it, their reports, its end. A kind of task is a row of kinds.c.
 */
#ifndef BU_GATE_TASK_TASK_H
#define BU_GATE_TASK_TASK_H

#include "model/work.h"
#include "provisioner/gate/terms/state.h"

enum { BU_TASK_NODES = 9 };

struct bu_task {
	struct bu_task *next; /* of its kind, begun before */
	enum bu_task_of of;
	char id[BU_NAME_SIZE], secret[65];
	int count;                             /* nodes */
	char name[BU_TASK_NODES][BU_NAME_MAX]; /* of a pair: a connects, b listens */
	json_t *result[BU_TASK_NODES];         /* reports; NULL = none or a failure */
	unsigned char spoke[BU_TASK_NODES]; /* reported as the 1st, 2nd, ...; 0 = no */
	struct bu_err failure;              /* the first one, with its node */
	int64_t since_ms, until_ms; /* monotonic; until 0 = the task has no deadline */
	int64_t deadline_ms;        /* as in the work items */
	int told;                   /* its events are on their way to the log */
};

/* NULL = the kind does not need it. */
struct bu_task_kind {
	const char *name;     /* in the log line of its begin; NULL = none */
	const char *prefix;   /* of ids */
	size_t size;          /* of its struct, which begins with a bu_task */
	unsigned char shares; /* its nodes may be in another task, too */
	unsigned char alone;  /* at most one in the whole site */
	int64_t pause_ms;     /* between two calls of choose */
	/* May this node of the profile take part, if it is idle, heard and lent? */
	int (*is_eligible)(struct bu_gate *gate, struct bu_node *node,
			   const struct bu_desired_node *want);
	/* Begins tasks of this kind. NULL = others begin them. */
	void (*choose)(struct bu_gate *gate);
	/* The work item of the node at this place; NULL = not now. New reference. */
	json_t *(*item)(struct bu_gate *gate, struct bu_task *task, int place);
	/* After a report, while others are missing. */
	void (*heard)(struct bu_gate *gate, struct bu_task *task, int place);
	/* Is the task over before its deadline, with reports missing? */
	int (*is_over)(const struct bu_gate *gate, const struct bu_task *task);
	/* After the last report, else when the task is late or over. Ends the task,
	 * unless its events are on their way to the log: then once more, when these
	 * are there or late. */
	void (*judge)(struct bu_gate *gate, struct bu_task *task);
	/* Frees what the kind has besides. */
	void (*fini)(struct bu_task *task);
};

/* The rows, in kinds.c beside gate.c. */
extern const struct bu_task_kind bu_task_kinds[];

/* task.c. Begins a task of these nodes, which are busy from now on. deadline_ms: 0 =
 * none. */
struct bu_task *bu_task_begin(struct bu_gate *gate, enum bu_task_of of,
			      struct bu_node *const *nodes, int count,
			      int64_t deadline_ms);
/* Ends and frees a task without a word. Its nodes are free. */
void bu_task_end(struct bu_gate *gate, struct bu_task *task);
/* Frees one node before the task ends. */
void bu_task_let_go(struct bu_gate *gate, const struct bu_task *task, int place);
void bu_tasks_drop(struct bu_gate *gate);
/* 1 = the node is in a task that shares it with no other. */
int bu_task_is_busy(const struct bu_gate *gate, const char *name);
/* The node's task by marks (gate->busy, or gate->shared for kinds that share nodes);
 * NULL = none. ret_place: of the node in the task. */
struct bu_task *bu_task_with(const json_t *marks, const struct bu_node *node,
			     int *ret_place);
/* 1 = the node may be in a task of this kind: eligible, heard, not held, and unless the
 * kind shares nodes, idle and lent. */
int bu_task_may_join(struct bu_gate *gate, enum bu_task_of of, struct bu_node *node);
/* The node's address in the boot network, as ordered; -1 = none. */
int bu_task_address(const struct bu_gate *gate, const char *name,
		    char ret[INET_ADDRSTRLEN]);
/* The item of one end of a pair, without rails and sizes; -1 = an end has no address.
 */
int bu_task_fill_pair(const struct bu_gate *gate, const struct bu_task *task, int end,
		      struct bu_work_probe *ret);
/* The failure of a task without a result. */
const char *bu_task_failure(const struct bu_task *task);

/* At each look: judges late tasks; begins further ones. */
void bu_tasks_late(struct bu_gate *gate);
void bu_tasks_choose(struct bu_gate *gate);
/* 1 = the log has not taken the events of a task, so its nodes are busy. */
int bu_tasks_are_told(const struct bu_gate *gate);

/* For agents. NULL = no work of a task now. New reference. */
json_t *bu_task_work(struct bu_gate *gate, const struct bu_node *node);
int bu_task_wants(const struct bu_gate *gate, const struct bu_node *node,
		  const char *id);
/* 1 = the id is that of the node's task. */
int bu_task_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
		   const json_t *result, const struct bu_err *failure);

#endif
