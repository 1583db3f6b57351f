/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements in the log: of each pair in the present boots of both nodes, of soaks,
 * and verdicts of outside systems; also the machines that were quarantined before. Only
 * replay writes them.
 */
#ifndef BU_NODE_MEASUREMENTS_H
#define BU_NODE_MEASUREMENTS_H

#include <jansson.h>
#include <stdint.h>

#include "model/result.h"
#include "provisioner/node/node.h"
#include "provisioner/node/replay_impl.h"

/* The figures of one probe in both directions (0: name[0] to name[1]). The whole result
 * is in event `seq`. */
struct bu_measured {
	int64_t seq;
	int mtu;
	struct bu_measured_dir {
		float rate_gbps, lat_us, lat99_us, lost;
		int doubt; /* BU_DOUBT_... of fabric/judge/flow.h */
	} dir[2];
};

/* A probe whose flows were traced, or that had a single queue pair. */
struct bu_traced_path {
	int64_t seq;
	int single; /* one queue pair: no test of the bundle */
	struct bu_measured_dir dir[2];
	json_t *paths[2]; /* "paths" of the result's direction; NULL = not traced */
};

struct bu_pair_log {
	const char *name[2]; /* sorted; interned */
	const char *rail;    /* the network; interned */
	char boot[2][40];
	struct bu_measured *list; /* in these boots, oldest first */
	size_t count, cap;
	struct bu_traced_path
		*paths; /* likewise; the only list with probes of one queue pair */
	size_t paths_count, paths_cap;
	int errors;      /* probes without a result since the last result */
	int tests;       /* all probes in these boots */
	char newest[24]; /* id of the last probe */
	/* The last probe with all queue pairs; its whole result is in event `seq`. */
	struct bu_pair_brief {
		int64_t seq;
		char probe[24];
		double ab_gbps, ba_gbps, expect_gbps, lat_us;
		enum bu_verdict verdict;
		int mtu;
		char *error; /* NULL = no error */
	} last;
};

struct bu_measurements {
	struct bu_pair_log *logs;
	size_t count, cap;
	int64_t last_seq; /* row of the last probe of any pair */
	/* Hash table by (a, b, rail): each look asks for thousands of pairs. */
	struct bu_pair_slot {
		uint32_t place; /* in logs, + 1; 0 = empty */
		uint32_t hash;  /* its upper half, compared before the names */
	} * slots;
	size_t slot_count; /* a power of two; 0 = no table yet */
	/* Pairs by their ends (ends.c); a hash table of the list. */
	struct bu_pairs_of {
		const char *name, *rail; /* interned */
		uint32_t *places;        /* in logs, in the order of first probes */
		uint32_t count;
	} * ends;
	size_t ends_count, ends_cap;
	uint32_t *end_slots; /* in ends, + 1; 0 = empty */
	size_t end_slot_count;
	json_t *incidents; /* quarantines: machine id -> [{"node","at_ms","reason"}],
			      oldest first */
	json_t *soaked;    /* machine id -> ms under load in the present soak */
	json_t *showed;    /* machine id -> findings of that soak (soaked.c) */
};

enum { BU_LEMON_DAYS = 30, BU_LEMON_INCIDENTS = 2 };

void bu_measurements_init(struct bu_measurements *measurements);
void bu_measurements_fini(struct bu_measurements *measurements);
/* Place in logs of the pair on this rail, in any order of names; -1 = never probed. */
int bu_measurements_find(const struct bu_fleet *fleet, const char *a, const char *b,
			 const char *rail);
/* {"a","b","rail","boot_a","boot_b","probe","ab_gbps","ba_gbps","expect_gbps",
 * "lat_us","verdict","error","mtu","seq"} of `last`. New reference. */
json_t *bu_measurements_brief(const struct bu_pair_log *log);
/* ends.c. Places in logs of the pairs with this end on this rail, in the order of their
 * first probes. Borrowed until the next event. */
struct bu_pairs_of bu_measurements_of(const struct bu_fleet *fleet, const char *name,
				      const char *rail);
/* For measurements.c: a pair at this place of logs has the end. */
void bu_measurements_add_end(struct bu_measurements *measurements, const char *name,
			     const char *rail, size_t place);
/* soaked.c. {node: true}: peers from which payload arrived changed in this machine's
 * soak; NULL = none. Borrowed. */
const json_t *bu_measurements_changed(const struct bu_fleet *fleet,
				      const char *machine);
/* Adds a line for each finding of the soak's slices that did not fail. */
void bu_measurements_soak_say(const struct bu_fleet *fleet, const char *machine,
			      json_t *lines);

/* For replay.c, by kind of event. */
bu_must int bu_measurements_pair(BU_REPLAY_ARGS);
bu_must int bu_measurements_verdict(BU_REPLAY_ARGS);
bu_must int bu_measurements_soak(BU_REPLAY_ARGS); /* soaked.c */
void bu_measurements_soak_anew(struct bu_fleet *fleet, const char *machine);
void bu_measurements_state(struct bu_fleet *fleet, struct bu_node *node,
			   int64_t time_ms, const struct bu_reason *reason,
			   enum bu_state to);
/* Called before the node is released. */
void bu_measurements_released(struct bu_fleet *fleet, struct bu_node *node);
/* A person asks for a new measurement: now, or when the node is VALIDATING next.
 * Earlier measurements in this boot do not count then. Until its boot certificate the
 * node does twice the rounds. */
void bu_measurements_again(struct bu_fleet *fleet, struct bu_node *node);

/* Quarantines of this machine in the last BU_LEMON_DAYS days. */
int bu_measurements_incidents(const struct bu_fleet *fleet, const char *machine,
			      int64_t now_ms);
/* The valid verdict of an outside system; NULL = none. */
const struct bu_body_verdict *bu_measurements_external(const struct bu_node *node,
						       int64_t now_ms);

#endif
