/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was last seen of a node, with its time and by whom. Facts live in memory, are
 * asked anew after a start, and never decide what was decided before: that is the log.
 */
#ifndef BU_MODEL_FACT_H
#define BU_MODEL_FACT_H

#include <stdint.h>

/* Who keeps new work away from a node of a cluster. */
enum bu_drain {
	BU_DRAIN_NONE,
	BU_DRAIN_OURS,  /* bringup, or the cluster itself while the node was away */
	BU_DRAIN_OTHER, /* an administrator, a health check: it is theirs to end */
};

/* What the cluster that it joined says of it. */
struct bu_cluster_fact {
	int64_t at_ms; /* monotonic; 0 = the cluster has not answered yet */
	int known;     /* 0: it answered, and has no such node */
	int responds;  /* the node's client is in touch with the cluster */
	int down;      /* it takes no work, of the cluster's own accord */
	int jobs;      /* some run on it */
	enum bu_drain drain;
	char state[96]; /* in the cluster's own words */
	char reason[160], by[64];
};

/* When its agent said something, and whose it is. */
struct bu_agent_fact {
	int64_t heard_ms; /* of the time that bringupd was awake */
	int64_t busy_ms;  /* until then it works on an item, and says nothing */
	int showed;       /* its stamp, to this process */
	char version[40], digest[65]; /* of its bundle; "" = not known, or of no slot */
	int trial;                    /* it is new, and may have to make way yet */
	int64_t asked_ms; /* to change itself, monotonic; 0 = it is not changing */
	char asked[65];   /* to the bundle of this digest */
	int attempt;      /* the last of its changes; an agent repeats its answer */
	int64_t again_ms; /* monotonic: its last one failed, and it waits until then */
	int64_t unsteady_ms; /* monotonic: a change of its inventory was not kept */
	char foreign[200];   /* why its system is not the one installed; "" = it is */
};

#endif
