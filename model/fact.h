/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts: the last observation of a node, with its time and source. Facts live in memory
 * and are asked anew after a start. Only the log decides what was decided before.
 */
#ifndef BU_MODEL_FACT_H
#define BU_MODEL_FACT_H

#include <stdint.h>

/* The owner of a node's drain in its cluster. */
enum bu_drain {
	BU_DRAIN_NONE,
	BU_DRAIN_OURS,  /* bringup, or the cluster itself while the node was away */
	BU_DRAIN_OTHER, /* an administrator or a health check, which also ends it */
};

/* The last answer of the cluster that the node joined. */
struct bu_cluster_fact {
	int64_t at_ms; /* monotonic; 0 = no answer yet */
	int known;     /* 0 = the cluster has no such node */
	int responds;  /* the cluster reaches the node's client */
	int down;      /* the cluster itself gives the node no work */
	int jobs;      /* jobs run on the node */
	int sleeps;    /* the cluster has it switched off, to save power */
	int reboots;   /* the cluster has its machine restarted now */
	enum bu_drain drain;
	char state[96]; /* in the cluster's own words */
	char reason[160], by[64];
};

/* An older one is no ground for anything that jobs would suffer from. */
enum { BU_CLUSTER_FACT_MS = 30000 };
static inline int
bu_cluster_fact_is_recent(const struct bu_cluster_fact *fact, int64_t now_ms)
{
	return fact->at_ms && now_ms - fact->at_ms <= BU_CLUSTER_FACT_MS;
}

/* The agent's last requests and its version. */
struct bu_agent_fact {
	int64_t heard_ms; /* in time that bringupd was awake */
	int64_t busy_ms;  /* until then the agent works and may be silent */
	int showed;       /* the agent showed its stamp to this process */
	int trusts_cas;   /* it has told the digest of the appliance's CAs */
	char version[40], digest[65]; /* of its bundle; "" = not known, or no slot */
	int trial;        /* on trial: an earlier agent may replace it again */
	int64_t asked_ms; /* change asked for, monotonic; 0 = no change */
	char asked[65];   /* digest of the new bundle */
	int attempt;      /* number of the last change; an agent repeats its answer */
	int64_t again_ms; /* monotonic: after a failed change, none before */
	int64_t unsteady_ms; /* monotonic: inventory change over the limit */
	char foreign[200];   /* why the system is not the installed one; "" = it is */
};

#endif
