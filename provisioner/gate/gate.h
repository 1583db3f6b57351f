/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fabric gate. A validating node is checked first, then soaked where the profile
 * asks for a soak, then measured. A campaign (fabric/judge/localise.h) over each fabric
 * network asks for pairs; agents probe them; the log keeps the results. Each node gets
 * certificates, a quarantine with evidence, or a reason for waiting. The gate moves
 * nodes only by asking reconcile.
 */
#ifndef BU_GATE_GATE_H
#define BU_GATE_GATE_H

#include "provisioner/node/reconcile.h"

struct bu_gate;

struct bu_gate *bu_gate_create(struct bu_fleet *fleet, struct bu_reconcile *rec,
			       const struct bu_trust *trust);
void bu_gate_destroy(struct bu_gate *gate);
/* Loads rates.json and gpus.json. Without them only the profile's expectations count.
 */
bu_must int bu_gate_load_data(struct bu_gate *gate, const char *rates, const char *gpus,
			      struct bu_err *err);
/* Loads events.json, the meaning of kernel messages. Without it all are unknown. */
bu_must int bu_gate_load_events(struct bu_gate *gate, const char *path,
				struct bu_err *err);
/* After a change: brings the next look forward. */
void bu_gate_kick(struct bu_gate *gate);
/* The clock that times the looks, instead of the loop's; for tests. Borrowed. */
void bu_gate_set_stopwatch(struct bu_gate *gate, const struct bu_clock *clock);

/* Work item of the checks or the test that the node's agent is to run now; NULL = none.
 * A soak slice includes a neighbour. New reference. */
json_t *bu_gate_work(struct bu_gate *gate, struct bu_node *node);
/* 1 = the work item of this id is still wanted. Gives no work out. */
int bu_gate_wants(struct bu_gate *gate, const struct bu_node *node, const char *id);
/* The agent's result of a work item, or the failure. */
void bu_gate_result(struct bu_gate *gate, struct bu_node *node, const char *id,
		    const json_t *result, const struct bu_err *failure);

/* The verdict of an outside system on a node. A verdict can quarantine or hold the
 * node, never certify it. */
struct bu_external {
	const char *source;
	const char *verdict; /* "fail", or "pass" to withdraw a "fail" */
	const char *text;
	int64_t until_ms; /* Unix time; 0 = until withdrawn */
};
bu_must int bu_gate_external(struct bu_gate *gate, struct bu_node *node,
			     const struct bu_external *said, struct bu_err *err);
/* Measures a node anew for a person. BU_ERR_STATE = not validating; BU_ERR_BUSY = being
 * measured right now. */
bu_must int bu_gate_again(struct bu_gate *gate, struct bu_node *node, const char *by,
			  struct bu_err *err);
/* Measures these nodes with each other, in any state: all pairs of up to 32 nodes, 8
 * partners each of more. Nodes with jobs whose pool does not lend them are refused. The
 * results count like those of any probe. Returns the run's id, borrowed. NULL and
 * BU_ERR_STATE = the installed system of a node is not heard now, or fewer than two
 * nodes are left; err names a node. */
const char *bu_gate_run(struct bu_gate *gate, struct bu_node *const *nodes,
			size_t count, struct bu_err *err);
/* {"run","done","wanted","pairs":[...],"missed":[{"a","b","rail","why"}],
 * "refused":[{"node","why"}]}, why: a reason or a text; NULL = no such run. New
 * reference. */
json_t *bu_gate_run_json(const struct bu_gate *gate, const char *id);
/* Wiring of all nodes (model/wiring.h): as heard, else by the profile. New reference.
 */
json_t *bu_gate_wiring(struct bu_gate *gate);
/* Site-wide warnings: weak validations, accusations between leaves, switch counters.
 * New reference. */
json_t *bu_gate_warnings(const struct bu_gate *gate);
/* Remarks about a node that neither hold nor judge it, with the warnings of its pool.
 * New reference. */
json_t *bu_gate_remarks(const struct bu_gate *gate, const struct bu_node *node);
/* The evidence for and against a node, as kept at its quarantine, else of now with
 * "state" and "remarks". NULL = unreadable. New reference. */
json_t *bu_gate_show(struct bu_gate *gate, const struct bu_node *node,
		     struct bu_err *err);

#endif
