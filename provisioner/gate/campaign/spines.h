/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of single links between leaves and spines, where flows are traced. paths.c
 * finds the spine of each flow. spines.c asks for more flows and judges the links. Used
 * by leaf_campaign.c and leaf_campaign_keep.c. Invariants: a flow of unknown spine is
 * no evidence; the judge knows no spine that no trace has seen, because its links could
 * not be tested.
 */
#ifndef BU_GATE_CAMPAIGN_SPINES_H
#define BU_GATE_CAMPAIGN_SPINES_H

#include "provisioner/gate/campaign/leaf_campaign_impl.h"

/* A result of one direction of a pair, over one spine. */
struct bu_crossing {
	int64_t seq;
	int src, dst;     /* ports */
	int from, to;     /* leaves */
	const char *name; /* of the spine */
	int spine;        /* place of the spine in the topology */
	int dir;          /* of the pair in the log */
	const struct bu_traced_path *path;
	unsigned char bad;
	unsigned char newest; /* the last from this leaf to that one over this spine */
	unsigned char taken;  /* given to the judge */
};

struct bu_spines {
	struct bu_leaf_campaign *campaign;
	/* The topology of the campaign, with spines by name. */
	struct bu_topology topology;
	struct bu_crossing *list; /* oldest first */
	size_t count, cap;
	int *tests;           /* by leaf: probes with one queue pair */
	unsigned char *seen;  /* by leaf: a trace named the spine of one of its flows */
	unsigned char *lacks; /* by leaf: a spine is to be crossed yet, in or out */
	unsigned char *asked; /* by leaf: one of its ports is in `wanted` */
	int bad;              /* 1 = a newest crossing is bad */
	struct bu_pairs wanted;
	struct bu_report report;
};

/* paths.c. Fills topology, seen, list, tests and bad. There are no spines if no trace
 * names one, if traces name more than BU_TOPOLOGY_SPINES_MAX, or if one queue pair is
 * too slow to test a link. */
void bu_paths_find(struct bu_leaf_campaign *campaign, struct bu_spines *ret);
/* spines.c. 1 = no more questions; 0 = they are in `wanted`. Close it in any case. */
int bu_spines_run(struct bu_leaf_campaign *campaign,
		  const struct bu_localise_opts *opts, struct bu_spines *ret);
void bu_spines_close(struct bu_spines *spines);
/* Does this node wait for tests of single links? */
int bu_spines_wait(const struct bu_spines *spines, int node);
/* State of the links between a leaf (NULL = any) and a spine, by name, in these
 * directions. Of their newest crossings, BAD = one is bad; GOOD = all are good; UNKNOWN
 * = there are none. */
enum bu_link_state { BU_LINK_UNKNOWN, BU_LINK_GOOD, BU_LINK_BAD };
enum bu_link_state bu_spines_state(const struct bu_spines *spines, const char *leaf,
				   const char *spine, int dir);

#endif
