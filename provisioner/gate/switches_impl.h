/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The readings of one fabric's switches: switches.c asks for load and for readings and
 * judges them, switches_read.c gets them from what the profile names.
 */
#ifndef BU_GATE_SWITCHES_IMPL_H
#define BU_GATE_SWITCHES_IMPL_H

#include "provisioner/gate/across_impl.h"
#include "provisioner/gate/prometheus.h"
#include "provisioner/gate/series.h"
#include "provisioner/gate/switches.h"

struct bu_reading {
	struct bu_link_count
		*links; /* grown since the one before it; of the first, 0 */
	int64_t seq;    /* the last result in the log when it was begun */
};

/* A node's agent that reads InfiniBand switches. */
struct bu_switches_agent {
	char id[BU_NAME_SIZE]; /* of its work item; "" = none is asked */
	char node[BU_NAME_MAX];
	int64_t until_ms; /* monotonic */
	size_t next;      /* place of the node after the last one */
	json_t *item;
	struct bu_series series;
	char full[120];        /* a counter at its end; "" = there is none */
	bu_prometheus_fn told; /* with the bu_switches */
};

struct bu_switches {
	struct bu_switches *next;
	struct bu_gate *gate;
	char key[BU_ACROSS_KEY_SIZE];
	/* node -> its boot: those that are to be loaded next, that are now, and that
	 * were. */
	json_t *asking, *members, *done;
	int64_t first_ms;   /* when the first one of `asking` asked */
	int64_t asked_ms;   /* when one of them was not certified, for the last time */
	int64_t started_ms; /* the members' readings */
	/* Leaves and spines that the readings are of. */
	struct bu_topology shape;
	struct bu_link_count *latest; /* each link as it was told last; NULL = none */
	struct bu_reading *list;
	size_t count, cap;
	struct bu_prometheus *prometheus; /* NULL = none was asked */
	struct bu_switches_agent agent;
	int64_t begun_seq; /* the last result in the log when it was asked for one */
	char *source;      /* all that the profile says of it, */
	char *named;       /* and what it is called */
	int64_t again_ms;  /* not asked before */
	char *failure;     /* why there is no reading; NULL = the last one came */
	json_t *accused; /* [{"text","leaf","nodes":{NODE: true}}]; leaf "": a spine */
};

/* switches_read.c. Asks for a reading unless that is under way or rests; the gate is
 * kicked when there is one more. */
void bu_switches_read(struct bu_switches *counters,
		      const struct bu_desired_network *network);
/* Forgets all readings, and ends what gets one. */
void bu_switches_forget(struct bu_switches *counters);
/* All that the profile says of where they come from; owned. */
char *bu_switches_source(const struct bu_desired_network *network);

/* switches_agent.c. Asks one of the fabric's nodes; told is called once, with the
 * answer to `switch` or an error. */
void bu_switches_ask_agent(struct bu_switches *counters,
			   const struct bu_desired_network *network,
			   bu_prometheus_fn told);
void bu_switches_forget_agent(struct bu_switches *counters);
/* Ends a wait that took too long. */
void bu_switches_agent_late(struct bu_switches *counters);

/* switches_words.c. An entry of `accused`; new reference. */
json_t *bu_switches_entry(const struct bu_switches *counters,
			  const struct bu_across *across,
			  const struct bu_accusation *one);

#endif
