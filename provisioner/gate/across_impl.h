/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The campaign between the leaves of one switch fabric, or of one rail alone, as far as
 * it is: across.c makes and judges it, across_answer.c answers it from the log,
 * across_words.c says what is accused, across_keep.c keeps it, across_wait.c says who
 * waits for it.
 */
#ifndef BU_GATE_ACROSS_IMPL_H
#define BU_GATE_ACROSS_IMPL_H

#include "provisioner/gate/internal.h"

/* A node of the profile in the campaign. */
struct bu_across_node {
	const struct bu_role *role;
	unsigned char held; /* good on its rails, and its certificate waits */
	unsigned char asks; /* or it was certified, and its tests go on */
	unsigned char lent; /* may be probed now */
	unsigned char
		there;   /* would be trusted here, if it did not fail its partners */
	int failed, met; /* partners across that it gave nothing with, or a result */
};

enum { BU_ACROSS_KEY_SIZE = BU_NAME_MAX + 8 };

struct bu_across {
	struct bu_gate *gate;
	char fabric[BU_ACROSS_KEY_SIZE];        /* its key in gate->across */
	const struct bu_desired_network *alone; /* NULL = rails of a switch fabric */
	const struct bu_desired_validation *validation; /* of the first node there */
	/* Its rails are the networks of the fabric. Its one spine is all of them: the
	 * way over them cannot be chosen. */
	struct bu_topology topology;
	const struct bu_desired_network *rail[BU_TOPOLOGY_RAILS_MAX];
	json_t *own_leaves; /* names that were made of a rail: the switch is not known
			     */
	struct bu_across_node *nodes;
	unsigned char *absent, *trusted; /* by node; one that is there is proven */
	unsigned char *no_port;          /* by port */
	unsigned char *tested, *good;    /* by leaf: a pair of it across gave a result,
					    or one that is good */
	int *bad; /* by leaf: its answers of pairs whose newest result is not good */
	double min_gbps; /* of a good one */
	/* Tests of one rail between leaves, by leaf: those that gave a result, and so
	 * many are wanted. */
	int *links, *links_wanted;
	int links_bad; /* one of these was: more of them are asked for */
	size_t *taken; /* results given away, per pair and direction in the log */
	struct bu_pairs wanted; /* ports */
	struct bu_report report;
};

/* across.c. 1 = there are two nodes to be tested with each other. Closed in any case.
 */
int bu_across_open(struct bu_gate *gate, const struct bu_desired_network *network,
		   struct bu_across *ret);
void bu_across_close(struct bu_across *across);
/* For these pairs of ports. single: each is to test one way. */
void bu_across_ask(const struct bu_across *across, const struct bu_pairs *pairs,
		   int single);
/* Is network i the first one that names its switch fabric? */
int bu_across_is_first(const struct bu_desired *desired, size_t i);
/* across_wait.c. Good on all its rails, and not certified yet; or it was certified
 * while its tests were on their way. */
int bu_across_is_held(const struct bu_role *role);
int bu_across_is_late(const struct bu_gate *gate, const struct bu_role *role);
/* One of them is of this rail. */
int bu_across_is_asked_for(const struct bu_gate *gate,
			   const struct bu_desired_network *rail);
/* At the last look at this rail its nodes hung at several switches, or might have. */
int bu_across_has_leaves(const struct bu_gate *gate,
			 const struct bu_desired_network *rail);
/* Nodes that ask wait: those that are not lent, and those whose leaves have questions.
 */
void bu_across_wait_unlent(const struct bu_across *across);
void bu_across_wait(const struct bu_across *across);
/* Certificates of the others wait no longer, and nothing more is asked for them. */
void bu_across_let_go(struct bu_gate *gate);
/* Also of a fabric that is gone. */
void bu_across_forget_late(struct bu_gate *gate);
/* across_answer.c. What was measured of the ports of a flow in the present boots; NULL
 * = nothing. ret_place: in the log; ret_dir: of its pair. */
const struct bu_pair_log *bu_across_log(const struct bu_across *across,
					const struct bu_flow *flow, int *ret_place,
					int *ret_dir);
/* A rate counts as its share of the slower link of its ports, in terms of the slowest
 * of the fabric: all pairs are compared with each other. */
float bu_across_comparable(const struct bu_across *across, int src, int dst,
			   float gbps);
/* across_words.c. An entry of what stands accused, by the campaign over this topology:
 * {"key","text","nodes","leaves","links"}; what was not tested; what is bad for no
 * known reason, whose key has this word and which stands until the next run only. New
 * references. */
#define BU_ACROSS_UNEXPLAINED "unexplained"
json_t *bu_across_entry(const struct bu_across *across, const struct bu_topology *t,
			const struct bu_accusation *one);
json_t *bu_across_untested(const struct bu_across *across, int leaf);
json_t *bu_across_unexplained(const struct bu_across *across, int leaf);
/* "leaf01 (rail rail0)"; owned. */
char *bu_across_leaf_words(const struct bu_across *across, int leaf);
/* Names of nodes with a port at a leaf that it names, as keys of ret. */
void bu_across_add_nodes(const struct bu_across *across,
			 const struct bu_accusation *one, json_t *ret);
/* across_words.c. Where its accusations are kept: a switch fabric's name has no blank.
 */
void bu_across_key(const struct bu_desired_network *network,
		   char ret[BU_ACROSS_KEY_SIZE]);
/* across_words.c. Whether that is kept under this key. */
int bu_across_is_of(const struct bu_desired_network *network, const char *key);

/* across_answer.c. What these ports measured by this row of the log counts no more. */
int64_t bu_across_after(const struct bu_across *across, const int ports[2]);
/* across_answer.c. A node that gives nothing is no partner: the others' tests go on. */
void bu_across_leave_out(struct bu_across *across);
/* across_answer.c. Fills links, links_wanted and links_bad. */
void bu_across_count_links(struct bu_across *across);
/* The leaf had its tests with others of this rail, and none was bad. */
int bu_across_leaf_is_done(const struct bu_across *across, int leaf);

/* across_answer.c. bu_site.round; arg: the campaign. */
bu_must int bu_across_answer(void *arg, struct bu_flow *flows, int count,
			     struct bu_err *err);

/* across_keep.c. Its accusations are the fabric's from here on; of a bundle of which a
 * link is accused, the link alone. What stood before goes when its part was good, or is
 * accused anew. */
struct bu_spines;
void bu_across_keep(const struct bu_across *across, const struct bu_spines *spines);
/* Nothing is said of it any more. */
void bu_across_forget(struct bu_gate *gate, const char *fabric);
/* Of fabrics that the profile has no longer. */
void bu_across_forget_gone(struct bu_gate *gate);

#endif
