/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the profile asks of a test, and what the log and the agents say of its nodes:
 * thresholds, sizes, ports, leaves, who is lent. Used by all of the gate.
 */
#ifndef BU_GATE_TERMS_TERMS_H
#define BU_GATE_TERMS_TERMS_H

#include "fabric/judge/expect.h"
#include "fabric/judge/flow.h"
#include "model/sizes.h"
#include "model/topology.h"
#include "model/work.h"
#include "provisioner/gate/terms/state.h"

/* leaf.c. Names the leaf of this rail that a node is cabled to. place: the node's in
 * the rail's order. 0 = no switch is known: ret is the rack, or 128 places together. */
int bu_gate_leaf(const struct bu_node *node, const struct bu_desired_network *rail,
		 const struct bu_desired_node *want, int place,
		 char ret[BU_GATE_LEAF_SIZE]);
/* The rail with the slowest links. The pool has at least one rail. */
const struct bu_desired_network *bu_gate_slowest(const struct bu_desired_pool *pool);
/* Keeps the topology of this rail; its contents are taken. */
void bu_gate_keep_shape(struct bu_gate *gate, const struct bu_desired_network *rail,
			struct bu_topology *topology);
void bu_gate_shapes_drop(struct bu_gate *gate);
/* NULL = the rail was not looked at since the start or the last apply. */
const struct bu_topology *bu_gate_shape(const struct bu_gate *gate,
					const struct bu_desired_network *rail);

/* wake.c. 1 = the agent was heard within 90 s, and no power action has ended its boot.
 */
int bu_gate_hears(const struct bu_gate *gate, const struct bu_node *node);

/* thresholds.c. The profile's expectation of a pair. Without bw_min the share of the
 * link comes from data/rates.json, without a MTU from the row of the measured MTU. */
struct bu_expect bu_gate_expect(const struct bu_gate *gate,
				const struct bu_desired_validation *validation,
				const struct bu_desired_network *rail);
/* The same for this path MTU; 0 = the profile gives none. */
struct bu_expect bu_gate_expect_at(const struct bu_gate *gate,
				   const struct bu_desired_validation *validation,
				   const struct bu_desired_network *rail, int mtu);
/* The RDMA path MTU that fits the network's MTU; 0 = no MTU or no RDMA. */
int bu_gate_path_mtu(const struct bu_desired_network *rail);
/* Sizes of a probe of this rail: the profile's, else by the link's rate. qps: queue
 * pairs at least; 0 = by the link's rate. */
struct bu_sizes bu_gate_sizes(const struct bu_desired_validation *validation,
			      const struct bu_desired_network *rail, int qps);
/* Deadline of one probe: the profile's, else the shorter of its default and the time of
 * a slow probe. */
int64_t bu_gate_deadline_ms(const struct bu_gate *gate,
			    const struct bu_desired_validation *validation,
			    const struct bu_desired_network *rail);
/* Warns of a bw_min below the reject rate of data/rates.json without a bw_reason;
 * new reference, NULL = no warning. */
json_t *bu_gate_bw_warning(const struct bu_gate *gate,
			   const struct bu_desired_validation *validation,
			   const struct bu_desired_network *rail);
/* "KEY=VALUE,..." as an object, as of switch_ports. New reference. */
json_t *bu_gate_settings(const char *text);
/* The `expect` of the checks' work item. New reference. */
json_t *bu_gate_checks_expect(struct bu_gate *gate, const struct bu_node *node,
			      const struct bu_target *target);

/* port.c. A node's port on this rail by the profile, without min_gbps; -1 = the profile
 * gives neither an address nor a port name. */
int bu_gate_port(const struct bu_desired_node *own,
		 const struct bu_desired_network *rail, struct bu_work_rail *ret);
/* The least rate that passes, of one direction. */
double bu_gate_least_gbps(const struct bu_gate *gate,
			  const struct bu_desired_validation *validation,
			  const struct bu_desired_network *rail);
/* expect.fabric of checks/fabric/loops.h; NULL: nothing is looped. New reference. */
json_t *bu_gate_loops(const struct bu_gate *gate, const struct bu_desired_node *own);

/* partners.c. May this proven node be a partner now? With partners = idle not until its
 * cluster has answered that no job runs there. */
int bu_gate_lends(struct bu_gate *gate, const struct bu_node *node,
		  const struct bu_desired_node *want);
/* 1 = the node may have jobs of its cluster, which load its links. */
int bu_gate_works(const struct bu_gate *gate, const struct bu_node *node,
		  const struct bu_desired_node *want);
/* 1 = the node may have jobs, and was probed less than a minute ago. */
int bu_gate_rests(const struct bu_gate *gate, const struct bu_node *node);

/* Networks of a and b: the same one, unless the pair is across rails. */
struct bu_rail_ends {
	const struct bu_desired_network *of[2];
	int qps;    /* queue pairs at least; 0 = by the link's rate */
	int single; /* one queue pair, to test one path over the spines */
};

/* rail_ends.c. "rail0", or across rails "rail0/rail1". */
void bu_rail_ends_text(const struct bu_rail_ends *rail, char ret[BU_NAME_MAX]);
/* The network of an end by such a text; NULL = the node is not measured on it. */
const struct bu_desired_network *bu_rail_end(const char *rail, int end,
					     const struct bu_desired_node *want);
/* 1 = flows are traced: the profile gives the addresses of the rail's spines. */
int bu_rail_is_traced(const struct bu_desired_network *rail);
/* The network with the slower link, whose terms hold for the pair. */
const struct bu_desired_network *bu_rail_slower(const struct bu_rail_ends *rail);
/* bu_gate_expect() for all pairs of a rail at once. Without a MTU in the profile the
 * least MTU of the pairs' last sound results counts. */
struct bu_expect bu_gate_expect_all(const struct bu_gate *gate,
				    const struct bu_desired_validation *validation,
				    const struct bu_desired_network *rail);
/* bu_gate_expect() by the slower link and the smaller path MTU. */
struct bu_expect bu_rail_expect(const struct bu_gate *gate,
				const struct bu_desired_validation *validation,
				const struct bu_rail_ends *rail);
/* The longest deadline of these rails. */
int64_t bu_rails_deadline_ms(const struct bu_gate *gate,
			     const struct bu_desired_validation *validation,
			     const struct bu_rail_ends *rails, size_t count);
/* Sizes of rails that are measured together: all move those of the slowest link.
 * single: one queue pair, whatever the ends want. */
struct bu_sizes bu_rails_sizes(const struct bu_desired_validation *validation,
			       const struct bu_rail_ends *rails, size_t count,
			       int single);

/* pair_log.c. Probes of the pair without a sound result since the last sound one. */
int bu_gate_failures(const struct bu_pair_log *log);
/* Measurements of a pair on a rail in the present boots of both; NULL = none. ret_dir:
 * the direction in which a sends to b. */
const struct bu_pair_log *bu_gate_log(const struct bu_gate *gate, const char *rail,
				      const struct bu_node *a, const struct bu_node *b,
				      int *ret_place, int *ret_dir);
/* 1 = the log is of this rail, and of this node in its present boot. */
int bu_gate_is_of(const struct bu_pair_log *log, const char *rail,
		  const struct bu_node *node, int *ret_side);
/* The first result from `at` on without doubt in this direction; count = none. */
size_t bu_gate_next_sound(const struct bu_pair_log *log, size_t at, int dir);
/* Copies the figures of a result into the flow. */
void bu_gate_give(const struct bu_measured *measured, int dir, struct bu_flow *flow);

#endif
