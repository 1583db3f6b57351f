/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings of one fabric's switches. switches.c asks for load and readings, and judges
 * them. switches_read.c gets readings from the source that the profile names.
 */
#ifndef BU_GATE_CAMPAIGN_SWITCHES_IMPL_H
#define BU_GATE_CAMPAIGN_SWITCHES_IMPL_H

#include "provisioner/gate/campaign/leaf_campaign_impl.h"
#include "provisioner/gate/campaign/prometheus.h"
#include "provisioner/gate/campaign/series.h"
#include "provisioner/gate/campaign/switches.h"
#include "provisioner/gate/task/task.h"

struct bu_reading {
	struct bu_link_count
		*links; /* growth since the reading before; 0 in the first */
	int64_t seq;    /* the last result in the log when the reading was begun */
};

/* A node's agent that reads InfiniBand switches. */
struct bu_switches_agent {
	struct bu_task *task; /* a bu_switches_reading; NULL = not asked */
	size_t next;          /* in the fleet: the next search begins here */
	struct bu_series series;
	char full[120];        /* name of a counter at its maximum; "" = none */
	bu_prometheus_fn told; /* arg: the bu_switches */
};

struct bu_switches {
	struct bu_switches *next;
	struct bu_gate *gate;
	char key[BU_LEAF_CAMPAIGN_KEY_SIZE];
	/* node -> its boot: to be loaded next, being loaded, and loaded. */
	json_t *asking, *members, *done;
	int64_t first_ms;   /* monotonic: the first node was put in `asking` */
	int64_t asked_ms;   /* the last time that one of these was uncertified */
	int64_t started_ms; /* the members' readings began */
	/* Leaves and spines of the readings. */
	struct bu_topology shape;
	struct bu_link_count *latest; /* by link: its last counts; NULL = no reading */
	struct bu_reading *list;
	size_t count, cap;
	struct bu_prometheus *prometheus; /* NULL = not asked yet */
	struct bu_switches_agent agent;
	int64_t begun_seq; /* the last result in the log at the last ask */
	char *source;      /* all keys of the profile about the source */
	char *named;       /* switch_counters: the source's name in texts */
	int64_t again_ms;  /* monotonic: no ask before */
	json_t *failure;   /* why there is no reading; NULL = the last one came */
	json_t *accused; /* [{"said","leaf","nodes":{NODE: true}}]; leaf "": a spine */
};

/* switches_read.c. Asks for a reading, unless an ask is under way, or one failed less
 * than a minute ago. Kicks the gate at the answer. */
void bu_switches_read(struct bu_switches *counters,
		      const struct bu_desired_network *network);
/* Forgets all readings, and drops an ask under way. */
void bu_switches_forget(struct bu_switches *counters);
/* All keys of the profile about the source of readings; owned. */
char *bu_switches_source(const struct bu_desired_network *network);

/* switches_agent.c. Asks the agent of one of the fabric's nodes. Calls told once, with
 * the answer to `switch` or an error. */
void bu_switches_ask_agent(struct bu_switches *counters,
			   const struct bu_desired_network *network,
			   bu_prometheus_fn told);
void bu_switches_forget_agent(struct bu_switches *counters);
/* The row of kinds.c, of one node. */
struct bu_switches_reading {
	struct bu_task task;
	struct bu_switches *counters;
	json_t *item;
};
int bu_switches_is_eligible(struct bu_gate *gate, struct bu_node *node,
			    const struct bu_desired_node *want);
json_t *bu_switches_item(struct bu_gate *gate, struct bu_task *task, int place);
void bu_switches_judge(struct bu_gate *gate, struct bu_task *task);
void bu_switches_fini(struct bu_task *task);

/* switches_words.c. An entry of `accused`; new reference. */
json_t *bu_switches_entry(const struct bu_switches *counters,
			  const struct bu_leaf_campaign *campaign,
			  const struct bu_accusation *one);

#endif
