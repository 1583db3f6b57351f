/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fabric gate. A node that is validating is checked first, then soaked where the
 * profile asks for it, then measured: a campaign (fabric/judge/localise.h) over each
 * fabric network asks for pairs, agents probe them, the log keeps the results. What
 * comes of it are certificates, quarantines with evidence, or reasons for waiting. The
 * gate moves nodes only by asking reconcile.
 */
#ifndef BU_GATE_GATE_H
#define BU_GATE_GATE_H

#include "provisioner/node/reconcile.h"

struct bu_gate;

struct bu_gate *bu_gate_create(struct bu_fleet *fleet, struct bu_reconcile *rec,
			       const struct bu_trust *trust);
void bu_gate_destroy(struct bu_gate *gate);
/* Expectations as data, rates.json and gpus.json; without them the profile's alone
 * count. */
bu_must int bu_gate_load_data(struct bu_gate *gate, const char *rates, const char *gpus,
			      struct bu_err *err);
/* What the kernel's words mean, events.json; without it each of them is unknown. */
bu_must int bu_gate_load_events(struct bu_gate *gate, const char *path,
				struct bu_err *err);
/* Something changed: looks again soon. Never later than it would have. */
void bu_gate_kick(struct bu_gate *gate);
/* What its looks are timed by: the loop's clock, or a test's. Borrowed. */
void bu_gate_set_stopwatch(struct bu_gate *gate, const struct bu_clock *clock);

/* The checks or the probe that this node's agent has to run now, as a work item; NULL =
 * none. New reference. With a slice of its soak a node is given a neighbour.
 */
json_t *bu_gate_work(struct bu_gate *gate, struct bu_node *node);
/* Whether what it was given by this id is still wanted. Gives nothing out. */
int bu_gate_wants(struct bu_gate *gate, const struct bu_node *node, const char *id);
/* The agent's word on either: a result, or why there is none. */
void bu_gate_result(struct bu_gate *gate, struct bu_node *node, const char *id,
		    const json_t *result, const struct bu_err *failure);

/* A word of an outside system about a node. It can quarantine and hold out, never
 * certify. */
struct bu_external {
	const char *source;
	const char *verdict; /* "fail", or "pass": taken back */
	const char *text;
	int64_t until_ms; /* Unix time, 0 = until it is taken back */
};
bu_must int bu_gate_external(struct bu_gate *gate, struct bu_node *node,
			     const struct bu_external *said, struct bu_err *err);
/* A person wants it measured anew: only while it is validating (BU_ERR_STATE). */
bu_must int bu_gate_again(struct bu_gate *gate, struct bu_node *node, const char *by,
			  struct bu_err *err);
/* Measures these nodes with each other, whatever state they are in and stay in: all
 * pairs of few, several partners each of many. Nodes with jobs are refused, where their
 * pool does not lend them, and the others measured. Its id, until it is asked for; NULL
 * with BU_ERR_STATE naming a node whose installed system is not heard now, or that has
 * jobs where fewer than two have none. What is measured counts like any other probe of
 * the pair. */
const char *bu_gate_run(struct bu_gate *gate, struct bu_node *const *nodes,
			size_t count, struct bu_err *err);
/* {"run","done","wanted","pairs":[...],"missed":[{"a","b","why"}],
 * "refused":[{"node","why"}]}; NULL = there is no such run. New reference. */
json_t *bu_gate_run_json(const struct bu_gate *gate, const char *id);
/* The wiring of all nodes (model/wiring.h): as heard, else as the profile says. New
 * reference. */
json_t *bu_gate_wiring(struct bu_gate *gate);
/* Texts about validations that are weaker than they should be, for the site as a whole.
 * New reference. */
json_t *bu_gate_warnings(const struct bu_gate *gate);
/* Texts about a node that neither hold nor judge it: its validation's warning, round
 * trips that do not fit its leaf. New reference. */
json_t *bu_gate_remarks(const struct bu_gate *gate, const struct bu_node *node);
/* {"node","state","checks","pairs":[...],"verdicts","incidents","evidence":BUNDLE}:
 * everything that speaks for or against a node. New reference. */
json_t *bu_gate_show(struct bu_gate *gate, const struct bu_node *node,
		     struct bu_err *err);

#endif
