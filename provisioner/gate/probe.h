/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe measures one pair. probe_start.c begins it, patience.c bounds the waits for
 * its ends, probe.c hands out its work items and journals the results, result.c makes
 * the body of the event.
 */
#ifndef BU_GATE_PROBE_H
#define BU_GATE_PROBE_H

#include "fabric/judge/expect.h"
#include "model/result.h"
#include "model/sizes.h"
#include "model/work.h"
#include "provisioner/gate/gate.h"

struct bu_probe {
	struct bu_probe *next;
	char id[BU_NAME_SIZE];
	char name[2][BU_NAME_MAX]; /* a connects, b listens */
	/* Networks measured at the same time: "rail0", or across rails "rail0/rail1"
	 * (a's/b's). result: by rail, of the first end without an error. */
	char rail[BU_RAILS_MAX][BU_NAME_MAX];
	json_t *result[BU_RAILS_MAX];
	int rails, sport;
	int traces; /* the ends trace the paths of their flows */
	int single; /* one queue pair, which takes one path over the spines */
	char secret[65];
	int64_t since_ms, until_ms; /* monotonic */
	int64_t since_seq;          /* the last row of the log at the start */
	int64_t both_ms; /* monotonic: both ends have their items; 0 = not yet */
	int took[2];     /* by end: got its work item */
	int spoke[2];    /* by end: has reported */
	int told;        /* its events are on their way to the log */
	int works[2];    /* by end: had jobs before or after the probe */
	struct bu_sizes sizes;
	int64_t deadline_ms; /* as in the work items */
	struct bu_err failure;
};

/* Networks of a and b: the same one, unless the pair is across rails. */
struct bu_rail_ends {
	const struct bu_desired_network *of[2];
	int qps;    /* queue pairs at least; 0 = by the link's rate */
	int single; /* one queue pair, to test one path over the spines */
};

/* probe_start.c. rails: networks of a and b, count of them. Returns the probe's id,
 * borrowed. */
const char *bu_probe_start(struct bu_gate *gate,
			   const struct bu_desired_validation *validation,
			   const struct bu_rail_ends *rails, size_t count,
			   struct bu_node *a, struct bu_node *b);
/* probe.c */
void bu_probes_drop(struct bu_gate *gate);
json_t *bu_probe_work(struct bu_gate *gate, const struct bu_node *node);
int bu_probe_wants(struct bu_gate *gate, const struct bu_node *node, const char *id);
/* 1 = the id is that of a probe of this node. */
int bu_probe_result(struct bu_gate *gate, const struct bu_node *node, const char *id,
		    const json_t *result, const struct bu_err *failure);
int bu_probe_busy(const struct bu_gate *gate, const char *name);
void bu_probe_deadlines(struct bu_gate *gate);

/* patience.c. 1 = the log has the probe's events. */
int bu_probe_is_in_log(const struct bu_gate *gate, const struct bu_probe *probe);
/* 1 = the node's agent idles: it asked for work at most BU_GATE_HERE_MS before the
 * probe's start, or since. */
int bu_probe_is_here(const struct bu_probe *probe, const struct bu_node *node);
/* 1 = neither end took its item within BU_GATE_TAKE_MS: an agent is busy or gone. */
int bu_probe_is_untaken(const struct bu_gate *gate, const struct bu_probe *probe);
/* Gives an end its item (1) if the other end has its own or idles. An end with an item
 * waits for its peer and does nothing else meanwhile. */
int bu_probe_may_take(struct bu_gate *gate, struct bu_probe *probe, int end);
/* After both reports: updates the usual duration, and counts slow probes of a node. */
void bu_probe_note_pace(struct bu_gate *gate, const struct bu_probe *probe);
/* After the first report. 1 = that end timed out waiting for its peer: the end is free,
 * and the peer has BU_GATE_GRACE_MS left. */
int bu_probe_hurry(struct bu_gate *gate, struct bu_probe *probe, const json_t *result,
		   const struct bu_err *failure);

/* result.c. A pair's event: figures, flows, the whole result as its blob. */
void bu_probe_event(const struct bu_gate *gate, const struct bu_probe *probe,
		    const char *rail, const struct bu_node *const ends[2],
		    const struct bu_expect *expect, const struct bu_pair_result *result,
		    struct bu_event *ret);
/* Makes a result inconclusive if a direction is slow and an end has jobs, which use the
 * link, too. */
void bu_probe_excuse(const struct bu_probe *probe, const struct bu_expect *expect,
		     struct bu_pair_result *result);
/* Sets the error of an inconclusive result whose ends name none. */
void bu_probe_explain(const struct bu_expect *expect, struct bu_pair_result *result);
/* Packets that a direction lost: the largest counter of both ends, because several
 * counters see the same loss. Duplicates do not count: a late acknowledgement repeats a
 * whole window. _lost: counts link errors, too, beyond those of a good link;
 * ret_counter and ret_end are set if ret is above 0. */
int64_t bu_probe_losses(const struct bu_pair_dir *dir);
int64_t bu_probe_lost(const struct bu_pair_dir *dir, enum bu_counter *ret_counter,
		      int *ret_end);
/* Reads a pair's whole result from row seq of the log; -1 = not there. */
int bu_probe_read(const struct bu_gate *gate, int64_t seq, struct bu_pair_result *ret);

#endif
