/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spines between leaves, where the ways of flows were traced: ways.c finds which
 * spine each one took, spines.c asks for more of them and judges single links. Used by
 * across.c and across_keep.c. Invariant: a flow whose spine is not known is no evidence
 * here, and no spine is given to the judge that no trace has seen: it would be asked
 * for in vain.
 */
#ifndef BU_GATE_SPINES_H
#define BU_GATE_SPINES_H

#include "provisioner/gate/across_impl.h"

/* What one direction of a pair measured over one spine. */
struct bu_crossing {
	int64_t seq;
	int src, dst;     /* ports */
	int from, to;     /* leaves */
	const char *name; /* of the spine */
	int spine;        /* its place */
	int dir;          /* of the pair in the log */
	const struct bu_way *way;
	unsigned char bad;
	unsigned char newest; /* from this leaf to that one over this spine */
	unsigned char taken;  /* by the judge */
};

struct bu_spines {
	struct bu_across *across;
	/* As that of across, with spines by their names. */
	struct bu_topology topology;
	struct bu_crossing *list; /* oldest first */
	size_t count, cap;
	int *tests;           /* by leaf: probes of one way */
	unsigned char *seen;  /* by leaf: a trace told the spine of one of its flows */
	unsigned char *lacks; /* by leaf: a spine that it did not cross both ways yet */
	unsigned char *asked; /* by leaf: one of its ports is in `wanted` */
	int bad;              /* a newest one is */
	struct bu_pairs wanted;
	struct bu_report report;
};

/* ways.c. Fills topology, seen, list and tests; there are no spines where traces say
 * nothing, contradict each other, or one queue pair is too slow for a test. */
void bu_ways_find(struct bu_across *across, struct bu_spines *ret);
/* spines.c. 1 = there are no more questions; 0: they are in `wanted`. Closed in any
 * case. */
int bu_spines_run(struct bu_across *across, const struct bu_localise_opts *opts,
		  struct bu_spines *ret);
void bu_spines_close(struct bu_spines *spines);
/* Does this node wait for them? */
int bu_spines_wait(const struct bu_spines *spines, int node);
/* The newest flows over the links of a leaf (NULL = of all) and a spine, by name, in
 * these directions: some are bad, or all that there are, and there are some, are good.
 */
enum bu_link_state { BU_LINK_UNKNOWN, BU_LINK_GOOD, BU_LINK_BAD };
enum bu_link_state bu_spines_state(const struct bu_spines *spines, const char *leaf,
				   const char *spine, int dir);

#endif
