/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate as its folders share it. terms/ knows what the profile asks of a test,
 * task/ what several nodes do together, campaign/ what is tested next and what is bad,
 * certify/ what a node is told. Each may use those before it (tests/lint/floors).
 */
#ifndef BU_GATE_TERMS_STATE_H
#define BU_GATE_TERMS_STATE_H

#include "fabric/judge/rates.h"
#include "provisioner/gate/gate.h"

enum {
	/* Failed probes in a row after which a pair is probed once a minute only; lost
	 * reports in a row after which a node is asked for no more checks. */
	BU_GATE_ERRORS = 3,
	BU_GATE_GRACE_MS = 5000, /* beyond a deadline, or after the peer gave up */
	BU_GATE_TAKE_MS = 10000, /* for an idle agent to fetch its item */
	BU_GATE_HERE_MS = 3000,  /* an agent idles if it asked within this time */
	BU_GATE_PORT = 18515,
	BU_GATE_RETESTS = 1000, /* rounds of retests, at most */
	BU_GATE_QUICK = 32,     /* rounds of retests before one a minute */
	BU_GATE_SLOW_MS = 60000,
	BU_GATE_LEAF_SIZE = 160,
	BU_GATE_BUDGET_MS = 200, /* a look begins no further fabric after this */
	BU_GATE_LINK_QPS = 4,    /* between leaves: several cables of a bundle */
};

/* A slow turn comes once a minute. Both kinds repeat undecided tests and tired pairs;
 * OTHERS also tries further partners of nodes with several tired pairs. */
enum bu_turn { BU_TURN_NONE, BU_TURN_TIRED, BU_TURN_OTHERS };

/* The kinds of tasks of several nodes (task/task.h). */
enum bu_task_of {
	BU_TASK_PROBE,
	BU_TASK_INCAST,
	BU_TASK_NVLINK,
	BU_TASK_SOAK,
	BU_TASK_SWITCHES,
	BU_TASK_KINDS
};

struct bu_gate {
	struct bu_fleet *fleet;
	struct bu_reconcile *rec;
	const struct bu_trust *trust;
	struct bu_timer *look;
	const struct bu_task_kind *kinds;
	struct bu_task *tasks[BU_TASK_KINDS]; /* under way, the last one first */
	int64_t choose_ms[BU_TASK_KINDS];     /* monotonic: none is chosen before */
	/* Node -> pointer of its task; shared: of a kind that shares nodes. */
	json_t *busy, *shared;
	json_t *soaked_with; /* node -> the neighbour of its last slice */
	/* Pairs that campaigns ask for, kept until all rails were looked at. A pair is
	 * measured at once on all rails that ask for it. */
	struct bu_ask *asks;
	size_t asks_count, asks_cap;
	struct bu_gate_run *runs;
	json_t *nvlink_rest;  /* node -> ms, monotonic: no NVLink test before */
	size_t nvlink_next;   /* in the fleet: the next search begins here */
	json_t *leaf_accused; /* fabric, rail -> [{"said","nodes":{NODE: true}}]:
				 accused */
	int leaves_seen; /* looked at since the start and since the last run's end */
	struct bu_switches *switches;     /* switch counters by fabric (switches.h) */
	const struct bu_clock *stopwatch; /* times the looks */
	int64_t once_ms;                  /* spent in this look on certificates */
	int looking;                      /* a look is under way */
	int64_t due_ms;         /* monotonic: the timer's next look; 0 = not set */
	int64_t rested_ms;      /* monotonic: no kick brings a look before this */
	size_t next_fabric;     /* network at which the round of looks goes on */
	int64_t slow_ms;        /* monotonic: the next slow turn is due */
	int slow_turns;         /* so far */
	enum bu_turn slow_turn; /* of this round of looks */
	double usual_share;     /* of its deadline, used by a probe; 0 = unknown */
	uint64_t seed;          /* of the schedule, from the site's public key */
	/* Topologies of the last looks, by network of the profile with digest
	 * shapes_of. */
	struct bu_topology *shapes;
	size_t shapes_count;
	char shapes_of[65];
	struct bu_rates rates;
	json_t *gpus;           /* data/gpus.json; NULL = none */
	json_t *events;         /* of data/events.json, as agents get them */
	struct bu_peers *peers; /* facts that were read lately; NULL = none */
	/* By pair of the log: places of its network and nodes in the profile with
	 * digest pairs_of; -1 = not in the profile. */
	struct bu_gate_pair {
		int network, node[2];
	} * pairs;
	size_t pairs_count, pairs_cap;
	char pairs_of[65];
	struct bu_role *roles; /* by place in the profile; NULL = none in this look */
	size_t verified;       /* nodes whose certificates were verified so far */
	char verified_of[65];  /* profile's digest for which all were verified */
};

/* wake.c. Looks at this time (monotonic) or earlier. */
void bu_gate_wake_at(struct bu_gate *gate, int64_t at_ms);

#endif
