/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the gate: campaign.c (who probes whom), field.c (what is
 * known), verdicts.c (what it
 * means for the nodes). */
#ifndef BU_GATE_GATE_IMPL_H
#define BU_GATE_GATE_IMPL_H

#include "fabric/judge/decode.h"
#include "provisioner/gate/gate.h"

enum {
	BU_GATE_PARTNERS = 3, /* distinct partners per candidate, for the evidence */
	BU_GATE_ERRORS = 3,   /* probes of a pair that may fail for want of a result */
	BU_GATE_NODES_MAX = 64,   /* looked at in one campaign */
	BU_GATE_GRACE_MS = 15000, /* over a probe's own deadline */
	BU_GATE_PORT = 18515,
};

struct bu_probe {
	struct bu_probe *next;
	char id[BU_NAME_SIZE];
	char name[2][BU_NAME_MAX]; /* a connects, b listens */
	char secret[65];
	int64_t until_ms; /* monotonic */
	int spoke[2];     /* this end has reported */
	json_t *result;   /* of the first end that has one */
	struct bu_err failure;
};

struct bu_gate {
	struct bu_world *world;
	struct bu_reconcile *rec;
	const struct bu_trust *trust;
	struct bu_timer *look;
	struct bu_probe *probes;
	uint64_t seed;
};

/* The nodes of one fabric network that a look concerns: candidates first. */
struct bu_field {
	const struct bu_desired_network *fabric;
	const struct bu_desired_validation *validation;
	struct bu_node *nodes[BU_GATE_NODES_MAX];
	int certified[BU_GATE_NODES_MAX];
	int count;
	struct bu_expect expect;
	struct bu_pair_result *results; /* of their present boots */
	int result_count;
	int errors[BU_GATE_NODES_MAX][BU_GATE_NODES_MAX]; /* probes without a result */
	int probed[BU_GATE_NODES_MAX][BU_GATE_NODES_MAX];
	const json_t *broken[BU_GATE_NODES_MAX]; /* a pair of it without a result */
};

/* field.c. No candidates: count is 0. results are owned by the caller. */
void bu_gate_field(struct bu_gate *gate, const struct bu_desired_network *fabric,
		   struct bu_field *ret);
/* What the profile expects of a pair. */
struct bu_expect bu_gate_expect(const struct bu_desired_validation *validation);
int bu_gate_index(const struct bu_field *field, const char *name);
/* Is there a probe with this node under way? */
int bu_gate_busy(const struct bu_gate *gate, const char *name);
/* May this pair still be probed? (Not: can it be at this moment.) */
int bu_gate_open_pair(const struct bu_field *field, int a, int b);
/* Judges the field: certificates and proven nodes, accusations, reasons for waiting. */
void bu_gate_judge(struct bu_gate *gate, const struct bu_field *field);

#endif
