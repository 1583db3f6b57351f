/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pair that is being measured: what its ends are told (probe_start.c), how long they
 * are waited for (patience.c), what comes of it (probe.c, result.c). Used by the files
 * of the gate.
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
	/* Networks that are measured at the same time ("rail0", across rails
	 * "rail0/rail1": a's and b's), and their results: of the first end that has
	 * one. */
	char rail[BU_RAILS_MAX][BU_NAME_MAX];
	json_t *result[BU_RAILS_MAX];
	int rails, sport;
	int traces; /* its ends are told to trace their flows */
	int single; /* one queue pair: it is of the one way that this takes */
	char secret[65];
	int64_t since_ms, until_ms; /* monotonic */
	int64_t since_seq;          /* the last row of the log by then */
	int64_t both_ms;            /* since then both have their items; 0 = not yet */
	int took[2];                /* this end was given its item, */
	int spoke[2];               /* and has reported */
	int told;                   /* its event is on its way to the log */
	int works[2];               /* this end had jobs, before or after */
	struct bu_sizes sizes;
	int64_t deadline_ms; /* as its ends are told */
	struct bu_err failure;
};

/* Networks of a and b, which are one unless it is across rails. */
struct bu_rail_ends {
	const struct bu_desired_network *of[2];
	int qps;    /* queue pairs at least; 0 = as the link wants */
	int single; /* one, to test the one way over the spines that it takes */
};

/* probe_start.c. rails: networks that a and b have. */
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

/* patience.c. Its events are in the log. */
int bu_probe_is_in_log(const struct bu_gate *gate, const struct bu_probe *probe);
/* Its agent idles: it came for work a moment before the probe was made, or since. */
int bu_probe_is_here(const struct bu_probe *probe, const struct bu_node *node);
/* For too long: an agent that does something else, or is gone, is not waited for. */
int bu_probe_is_untaken(const struct bu_gate *gate, const struct bu_probe *probe);
/* An item goes out when the other end is there for its own: an end with one waits for
 * its peer, and does nothing else meanwhile. */
int bu_probe_may_take(struct bu_gate *gate, struct bu_probe *probe, int end);
/* Both ends have reported. */
void bu_probe_note_pace(struct bu_gate *gate, const struct bu_probe *probe);
/* One end has reported. 1 = it waited for the other one in vain: that gets a moment
 * more, and this one is free. */
int bu_probe_hurry(struct bu_gate *gate, struct bu_probe *probe, const json_t *result,
		   const struct bu_err *failure);

/* result.c. Body of a pair's event: the figures, what the campaign reads of them, the
 * result itself. */
json_t *bu_probe_body(const struct bu_gate *gate, const struct bu_probe *probe,
		      const char *rail, const struct bu_node *const ends[2],
		      const struct bu_expect *expect,
		      const struct bu_pair_result *result);
/* A slow direction with an end that has jobs says nothing: they use the link, too. */
void bu_probe_excuse(const struct bu_probe *probe, const struct bu_expect *expect,
		     struct bu_pair_result *result);
/* Why a result says nothing, where its ends name no error themselves. */
void bu_probe_explain(const struct bu_expect *expect, struct bu_pair_result *result);
/* Packets that a direction lost: one shows in several rows, at both ends, and the
 * largest counts. What came twice was not lost: a late acknowledgement repeats a whole
 * window. lost: which row, and of errors of a link those beyond a good one's, too. */
int64_t bu_probe_losses(const struct bu_pair_dir *dir);
int64_t bu_probe_lost(const struct bu_pair_dir *dir, enum bu_counter *ret_counter,
		      int *ret_end);
/* The whole result of a pair, from the log; -1 when it is not there. */
int bu_probe_read(const struct bu_gate *gate, int64_t seq, struct bu_pair_result *ret);

#endif
