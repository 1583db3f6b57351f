/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The campaigns of the rails, run anew at each look over the results in the log, and
 * the roles of the nodes in them.
 */
#ifndef BU_GATE_CAMPAIGN_CAMPAIGN_H
#define BU_GATE_CAMPAIGN_CAMPAIGN_H

#include "fabric/judge/localise.h"
#include "fabric/schedule.h"
#include "provisioner/gate/terms/terms.h"

/* The role of a node of the profile in all campaigns. */
struct bu_role {
	struct bu_node *node; /* NULL = not known yet */
	const struct bu_desired_node *want;
	unsigned char ready; /* validating, checked, heard; candidate if uncertified */
	unsigned char certified, serves, waits;
	unsigned char effort; /* enum bu_effort of a candidate */
	uint64_t proven;      /* rails of its pool that its certificates cover */
};

struct bu_wanted {
	int a, b; /* places of nodes in the campaign */
};

struct bu_pairs {
	struct bu_wanted *list;
	size_t count, cap;
};

/* A pair measured on a rail in the present boots of both nodes. `end` holds their
 * places in the campaign, sorted by name. */
struct bu_indexed_pair {
	const struct bu_pair_log *log;
	int end[2];
	int next[2];     /* by end: 1 + its previous pair in the index; 0 = none */
	size_t taken[2]; /* by direction: results that the campaign was given */
	int is_tired;
};

/* The campaign of one rail (a fabric network). Absent nodes of the profile keep their
 * places, so that a round has the same pairs at each look. */
struct bu_campaign_state {
	struct bu_gate *gate;
	const struct bu_desired_network *fabric;
	const struct bu_desired_validation *validation; /* of the first ready node */
	struct bu_expect expect;
	struct bu_topology topology; /* one rail; all uplinks are one spine */
	struct bu_node **nodes;      /* NULL: in the profile, but not known yet */
	const struct bu_role **role;
	unsigned char *candidate, *trusted, *absent, *effort, *busy, *last, *slow_probe;
	int candidates, partners;
	int unlent;   /* proven nodes that their pools do not lend now */
	int unproven; /* nodes in service whose certificates lack this rail */
	struct bu_indexed_pair *index; /* pair_index.c */
	struct bu_pair *index_pairs;   /* the same pairs, for bu_site.met */
	size_t index_count;
	int *last_indexed; /* by node: 1 + its last pair in the index; 0 = none */
	/* The pair that was looked up last. The campaign asks for both directions of a
	 * pair, one after the other. */
	struct bu_found {
		int a, b, dir;
		struct bu_indexed_pair *indexed; /* NULL = not measured */
	} found;
	struct bu_pairs wanted;     /* pairs whose result the campaign lacks */
	struct bu_pairs tired;      /* failed BU_GATE_ERRORS times: probed seldom */
	int *tired_of;              /* by node: its tired pairs */
	int *failed_of;             /* by node: pairs whose last probe failed */
	unsigned char *tired_doubt; /* by node: BU_DOUBT_... of its tired pairs */
	struct bu_report report;
	int over; /* the campaign has no more questions */
	int slow; /* retests do not decide: the campaign goes on once a minute */
};

/* pair_index.c. Fills campaign->index, index_pairs, last_indexed and failed_of. */
void bu_pair_index_open(struct bu_campaign_state *campaign);
void bu_pair_index_close(struct bu_campaign_state *campaign);
/* NULL = the pair was not measured. ret_dir: the direction in which a sends to b. */
struct bu_indexed_pair *bu_pair_index_find(const struct bu_campaign_state *campaign,
					   int a, int b, int *ret_dir);
void bu_gate_pairs_drop(struct bu_gate *gate);

/* answer.c. Appends a pair, unless the last one is the same. */
void bu_pairs_add(struct bu_pairs *pairs, int a, int b);
/* bu_site.round, .known and .met over the log; arg: the campaign state. */
bu_must int bu_gate_answer(void *arg, struct bu_flow *flows, int count,
			   struct bu_err *err);
enum bu_known bu_gate_known(void *arg, const struct bu_flow *flow);
size_t bu_pair_index_pairs(void *arg, const struct bu_pair **ret);
/* Fills campaign->last (nodes that failed with two partners, did not answer, or were
 * slow twice) and slow_probe (nodes whose last probe was slow). */
void bu_gate_put_last(struct bu_campaign_state *campaign);
/* Sorts campaign->tired, fewest failures first. */
void bu_gate_order_tired(struct bu_campaign_state *campaign);
/* The place of the node of this name in the topology; -1 = none. */
int bu_gate_place(const struct bu_topology *topology, const char *name);
/* Makes all measured pairs of this node tired: measured again once a minute. */
void bu_gate_tire(struct bu_campaign_state *campaign, int node);

/* roles.c. Verifies all certificates after a start or an apply, in one or more looks.
 * 1 = some are left for the next look. */
int bu_gate_verify(struct bu_gate *gate);
/* Fills gate->roles for this look; 0 = no node is validating, no test is under way. */
int bu_gate_roles(struct bu_gate *gate);
void bu_gate_roles_drop(struct bu_gate *gate);
/* Place of this rail in the node's pool; -1 = not in the pool. */
int bu_role_place(const struct bu_role *role, const struct bu_desired_network *rail);
int bu_role_proves(const struct bu_role *role, const struct bu_desired_network *rail);

/* campaign_state.c. Runs the campaign as far as results go. 0 = no node is ready. */
int bu_campaign_state_open(struct bu_gate *gate,
			   const struct bu_desired_network *fabric,
			   struct bu_campaign_state *ret);
void bu_campaign_state_close(struct bu_campaign_state *campaign);
/* Asks for these pairs of the campaign. */
void bu_gate_ask(struct bu_gate *gate, const struct bu_campaign_state *campaign,
		 const struct bu_pairs *pairs);

/* run.c. Runs that a person asked for, beside the campaigns. */
void bu_runs_look(struct bu_gate *gate);
void bu_runs_drop(struct bu_gate *gate);

#endif
