/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the log knows about measurements: what each pair measured in the present boots
 * of both, the reports of checks, what outside systems say about nodes, and which
 * machines were quarantined before. A part of the world: written by replay alone.
 */
#ifndef BU_NODE_MEASUREMENTS_H
#define BU_NODE_MEASUREMENTS_H

#include <jansson.h>
#include <stdint.h>

#include "model/result.h"
#include "provisioner/node/node.h"
#include "provisioner/node/replay_impl.h"

/* One probe: the figures of both directions (0: name[0] to name[1]); the whole result
 * is in event `seq`. */
struct bu_measured {
	int64_t seq;
	int mtu;
	struct bu_measured_dir {
		float rate_gbps, lat_us, lat99_us, lost;
		int doubt; /* BU_DOUBT_... of fabric/judge/flow.h */
	} dir[2];
};

/* A probe whose flows were traced. */
struct bu_way {
	int64_t seq;
	int single; /* of one queue pair: no test of the bundle */
	struct bu_measured_dir dir[2];
	json_t *ways[2]; /* as of a direction of a result; NULL = it was not traced */
};

struct bu_pair_log {
	char name[2][BU_NAME_MAX]; /* in the order of their names */
	char rail[BU_NAME_MAX];    /* the network; "" = of a time when none was told */
	char boot[2][40];
	struct bu_measured *list; /* of these boots, oldest first */
	size_t count, cap;
	struct bu_way *ways; /* likewise; what is of one way is in this list alone */
	size_t ways_count, ways_cap;
	int errors;      /* probes without a result since the last one with */
	int tests;       /* of these boots, all of them */
	char newest[24]; /* probe of the last one, whatever that was of */
	/* Of the last one that was not of one way; its whole result is in event `seq`.
	 */
	struct bu_pair_brief {
		int64_t seq;
		char probe[24];
		double ab_gbps, ba_gbps, expect_gbps, lat_us;
		enum bu_verdict verdict;
		int mtu;
		char *error; /* NULL = none */
	} last;
};

struct bu_measurements {
	struct bu_pair_log *logs;
	size_t count, cap;
	/* By hash of (a, b, rail). It is asked for thousands of pairs at each look. */
	struct bu_pair_slot {
		uint32_t place; /* in logs, + 1; 0 = empty */
		uint32_t hash;  /* the part that did not choose the slot */
	} * slots;
	size_t slot_count; /* a power of two, or none yet */
	json_t *of_end;    /* "node rail" -> places of the logs that it is an end of */
	json_t *incidents; /* machine id -> [{"node","at_ms","reason"}], oldest first */
	json_t *soaked;    /* machine id -> ms that it was under load since the last */
	json_t *showed;    /* machine id -> what that showed (soaked.c) */
};

enum { BU_LEMON_DAYS = 30, BU_LEMON_INCIDENTS = 2 };

void bu_measurements_init(struct bu_measurements *measurements);
void bu_measurements_fini(struct bu_measurements *measurements);
/* Place of the pair on this rail in logs, -1 = it was never probed there. Any order of
 * names. */
int bu_measurements_find(const struct bu_fleet *fleet, const char *a, const char *b,
			 const char *rail);
/* {"a","b","rail","boot_a","boot_b","probe","ab_gbps","ba_gbps","expect_gbps","lat_us",
 * "verdict","error","mtu","seq"} of the last probe. New reference. */
json_t *bu_measurements_brief(const struct bu_pair_log *log);
/* Places of the logs with this end on this rail, in the order of their first probes; a
 * JSON array of integers, NULL = there is none. Borrowed. */
const json_t *bu_measurements_of(const struct bu_fleet *fleet, const char *name,
				 const char *rail);
/* soaked.c. {node: true}: with whom payload came changed while this machine soaked;
 * NULL = with none. Borrowed. */
const json_t *bu_measurements_changed(const struct bu_fleet *fleet,
				      const char *machine);
/* What its soak showed and did not fail, a line each. */
void bu_measurements_soak_words(const struct bu_fleet *fleet, const char *machine,
				char **text);

/* For replay.c: one per kind of event. */
bu_must int bu_measurements_pair(BU_REPLAY_ARGS);
bu_must int bu_measurements_verdict(BU_REPLAY_ARGS);
bu_must int bu_measurements_soak(BU_REPLAY_ARGS); /* soaked.c */
void bu_measurements_soak_anew(struct bu_fleet *fleet, const char *machine);
void bu_measurements_state(struct bu_fleet *fleet, struct bu_node *node,
			   int64_t time_ms, const struct bu_reason *reason,
			   enum bu_state to);
/* Before the node is released. */
void bu_measurements_released(struct bu_fleet *fleet, struct bu_node *node);
/* A person wants it measured anew: now, or when it is validating next. Then what was
 * measured of it before counts for nothing, and until its boot certificate it does
 * twice the rounds. */
void bu_measurements_again(struct bu_fleet *fleet, struct bu_node *node);

/* Quarantines of this machine in the BU_LEMON_DAYS days before now. */
int bu_measurements_incidents(const struct bu_fleet *fleet, const char *machine,
			      int64_t now_ms);
/* The verdict of an outside system that still holds, or NULL. */
const struct bu_body_verdict *bu_measurements_external(const struct bu_node *node,
						       int64_t now_ms);

#endif
