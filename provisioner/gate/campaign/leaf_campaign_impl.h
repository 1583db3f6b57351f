/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The campaign between the leaves of one switch fabric, or of one rail alone.
 * leaf_campaign.c makes and judges it. leaf_campaign_answer.c answers its flows from
 * the log. leaf_campaign_words.c words its accusations, leaf_campaign_keep.c keeps
 * them. leaf_campaign_wait.c marks the nodes that wait for it.
 */
#ifndef BU_GATE_CAMPAIGN_LEAF_CAMPAIGN_IMPL_H
#define BU_GATE_CAMPAIGN_LEAF_CAMPAIGN_IMPL_H

#include "provisioner/gate/campaign/campaign.h"

struct bu_leaf_campaign_node {
	const struct bu_role *role;
	unsigned char held;  /* good on its rails; its certificate waits */
	unsigned char asks;  /* held, or certified with its tests going on */
	unsigned char lent;  /* may be probed now */
	unsigned char there; /* held or proven; trusted unless it fails partners */
	int failed, met;     /* pairs between leaves without and with a result */
};

enum { BU_LEAF_CAMPAIGN_KEY_SIZE = BU_NAME_MAX + 8 };

struct bu_leaf_campaign {
	struct bu_gate *gate;
	char fabric[BU_LEAF_CAMPAIGN_KEY_SIZE]; /* bu_leaf_campaign_key() */
	const struct bu_desired_network *alone; /* NULL = rails of a switch fabric */
	const struct bu_desired_validation *validation; /* of the first node there */
	/* Rails are the networks of the fabric. One spine stands for all spines, among
	 * which the gate cannot choose. */
	struct bu_topology topology;
	const struct bu_desired_network *rail[BU_TOPOLOGY_RAILS_MAX];
	json_t *own_leaves; /* names made of a rail, where no switch is known */
	struct bu_leaf_campaign_node *nodes;
	unsigned char *absent, *trusted; /* by node */
	unsigned char *no_port;          /* by port */
	unsigned char *tested, *good;    /* by leaf: a pair across rails gave a result;
					    a pair gave a good one */
	int *bad;        /* by leaf: answers of pairs whose newest result is bad */
	double min_gbps; /* least good rate, see bu_leaf_campaign_comparable() */
	/* By leaf, tests between leaves of one rail: with a result, and wanted. */
	int *links, *links_wanted;
	int links_bad; /* one of these was bad: no leaf is done */
	size_t *taken; /* by pair of the log and direction: results given to a round */
	struct bu_pairs wanted; /* pairs of ports to ask the gate for */
	struct bu_report report;
};

/* leaf_campaign.c. 1 = two nodes can be tested with each other. Close it in any case.
 */
int bu_leaf_campaign_open(struct bu_gate *gate,
			  const struct bu_desired_network *network,
			  struct bu_leaf_campaign *ret);
void bu_leaf_campaign_close(struct bu_leaf_campaign *campaign);
/* Asks the gate for probes of these pairs. single: one queue pair, so one path over the
 * spines. */
void bu_leaf_campaign_ask(const struct bu_leaf_campaign *campaign,
			  const struct bu_pairs *pairs, int single);
/* Is network i the first one that names its switch fabric? */
int bu_leaf_campaign_is_first(const struct bu_desired *desired, size_t i);
/* leaf_campaign_wait.c. held: is the node good on all its rails and not certified yet?
 * late: do its tests go on, though its certificate waits no longer? */
int bu_leaf_campaign_is_held(const struct bu_role *role);
int bu_leaf_campaign_is_late(const struct bu_gate *gate, const struct bu_role *role);
/* Is such a node on this rail, and not through with these tests? */
int bu_leaf_campaign_is_asked_for(const struct bu_gate *gate,
				  const struct bu_desired_network *rail);
/* Had this rail several leaves at its last look, or was there no look yet? */
int bu_leaf_campaign_has_leaves(const struct bu_gate *gate,
				const struct bu_desired_network *rail);
/* Both mark nodes that ask as waiting: those that are not lent; those with an
 * unfinished leaf. */
void bu_leaf_campaign_wait_unlent(const struct bu_leaf_campaign *campaign);
void bu_leaf_campaign_wait(const struct bu_leaf_campaign *campaign);
/* Ends these tests for all nodes not marked, and the wait of their certificates. */
void bu_leaf_campaign_let_go(struct bu_gate *gate);
/* Ends late tests that took too long, also of a fabric that is gone. */
void bu_leaf_campaign_forget_late(struct bu_gate *gate);
/* leaf_campaign_answer.c. The log of a flow's pair in the present boots; NULL = no
 * probe. ret_place: of the pair in the log; ret_dir: the flow's direction of it. */
const struct bu_pair_log *bu_leaf_campaign_log(const struct bu_leaf_campaign *campaign,
					       const struct bu_flow *flow,
					       int *ret_place, int *ret_dir);
/* Scales a rate from the slower link of its ports to the slowest of the fabric, so that
 * all pairs are compared with each other. */
float bu_leaf_campaign_comparable(const struct bu_leaf_campaign *campaign, int src,
				  int dst, float gbps);
/* leaf_campaign_words.c. Entries, new references. _entry:
 * {"key","said","nodes","leaves","links"} of an accusation by the campaign over
 * topology t. _untested: of a leaf without a test. _unexplained: of a leaf that is bad
 * for no known reason, under a key with this word; kept until the next run only. */
#define BU_LEAF_CAMPAIGN_UNEXPLAINED "unexplained"
json_t *bu_leaf_campaign_entry(const struct bu_leaf_campaign *campaign,
			       const struct bu_topology *t,
			       const struct bu_accusation *one);
json_t *bu_leaf_campaign_untested(const struct bu_leaf_campaign *campaign, int leaf);
json_t *bu_leaf_campaign_unexplained(const struct bu_leaf_campaign *campaign, int leaf);
/* "leaf01 (rail rail0)", new reference. */
json_t *bu_leaf_campaign_leaf_said(const struct bu_leaf_campaign *campaign, int leaf);
/* The switch fabric, or the rail where it is alone; NULL = the other one. */
const char *bu_leaf_campaign_fabric(const struct bu_leaf_campaign *campaign);
const char *bu_leaf_campaign_rail(const struct bu_leaf_campaign *campaign);
/* Adds the names of the nodes at the leaves that `one` names, as keys of ret. */
void bu_leaf_campaign_add_nodes(const struct bu_leaf_campaign *campaign,
				const struct bu_accusation *one, json_t *ret);
/* The key of its accusations in gate->leaf_accused: the switch fabric, or "rail NAME".
 */
void bu_leaf_campaign_key(const struct bu_desired_network *network,
			  char ret[BU_LEAF_CAMPAIGN_KEY_SIZE]);
/* Is this the network's key? */
int bu_leaf_campaign_is_of(const struct bu_desired_network *network, const char *key);

/* leaf_campaign_answer.c. Results of these ports up to this row of the log do not
 * count. */
int64_t bu_leaf_campaign_after(const struct bu_leaf_campaign *campaign,
			       const int ports[2]);
/* Fills absent and trusted: a node that fails most partners is left out. */
void bu_leaf_campaign_leave_out(struct bu_leaf_campaign *campaign);
/* Fills links, links_wanted and links_bad. */
void bu_leaf_campaign_count_links(struct bu_leaf_campaign *campaign);
/* Has the leaf its wanted tests with other leaves of the rail, and none was bad? */
int bu_leaf_campaign_leaf_is_done(const struct bu_leaf_campaign *campaign, int leaf);

/* bu_site.round; arg: struct bu_leaf_campaign. */
bu_must int bu_leaf_campaign_answer(void *arg, struct bu_flow *flows, int count,
				    struct bu_err *err);

/* leaf_campaign_keep.c. Keeps the accusations of the fabric: of a bundle with an
 * accused link the link alone. An earlier accusation goes when its part was measured
 * good since, or is accused anew. */
struct bu_spines;
void bu_leaf_campaign_keep(const struct bu_leaf_campaign *campaign,
			   const struct bu_spines *spines);
/* Drops the accusations of this fabric (key). */
void bu_leaf_campaign_forget(struct bu_gate *gate, const char *fabric);
/* Drops those of fabrics that the profile does not have any more. */
void bu_leaf_campaign_forget_gone(struct bu_gate *gate);

#endif
