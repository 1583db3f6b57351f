/* SPDX-License-Identifier: Apache-2.0 */
/* The site in the API: GET /v1/status, and its parts GET /v1/nodes, /v1/machines,
 * /v1/fabric/pairs and /v1/fabric/runs/ID. */
#ifndef BU_MODEL_SHOWN_STATUS_H
#define BU_MODEL_SHOWN_STATUS_H

#include "model/shown_node.h"
#include "model/shown_rollout.h"

/* clang-format off */
/* The last probe of two nodes; a figure that was not measured is 0. */
#define BU_SHOWN_PAIR_ROWS(X, T) \
	X(T, STRING, a) X(T, STRING, b) X(T, STRING, rail) X(T, REAL, ab_gbps) \
	X(T, REAL, ba_gbps) X(T, REAL, lat_us) X(T, STRING, probe) \
	X(T, STRING, verdict) X(T, REAL, expect_gbps) X(T, STRING, error)
struct bu_shown_pair BU_ROW_STRUCT(BU_SHOWN_PAIR_ROWS);
struct bu_shown_pairs {
	struct bu_shown_pair *pairs;
	size_t pairs_count;
};
/* A page of GET /v1/fabric/pairs. after: where the next one begins. */
struct bu_shown_pairs_page {
	struct bu_shown_pair *pairs;
	int64_t after;
	int more;
	size_t pairs_count;
};

/* A brake (provisioner/rollout/brake.c): late nodes of all nodes. said: a reason. */
#define BU_SHOWN_BRAKE_ROWS(X, T) \
	X(T, STRING, scope) X(T, FLAG, on) X(T, INT, late) X(T, INT, of) \
	X(T, JSON, said)

/* Agents: nodes with the appliance's agent, and with another, among those that told
 * theirs. version: the appliance's, "" = none is served. trouble: why none is served,
 * or a failure, as a reason; NULL = neither. */
#define BU_SHOWN_AGENTS_ROWS(X, T) \
	X(T, STRING, version) X(T, STRING, digest) X(T, INT, have) X(T, INT, others) \
	X(T, JSON, trouble, .need = BU_SPARSE)

/* The last backup: at_ms 0 = none. error: of the last try, "" = it was made. wanted: the
 * profile has a place for backups. */
#define BU_SHOWN_BACKUP_ROWS(X, T) \
	X(T, STRING, to) X(T, INT, at_ms) X(T, INT, bytes) X(T, FLAG, running) \
	X(T, FLAG, wanted) X(T, STRING, error)

/* since: nodes are those that changed after this version alone, gone the names of those
 * that ceased to be; everything else is whole. 0 = nodes are all nodes. pairs_seq: row of
 * the last probe. trouble: why the applied profile is unreadable, "" = readable. */
#define BU_SHOWN_STATUS_ROWS(X, T) \
	X(T, INT, version) X(T, INT, since, .need = BU_SPARSE) \
	X(T, STRING, site) X(T, INT, time_ms, BU_ANY) \
	X(T, INT, epoch) X(T, INT, pairs_seq) \
	X(T, STRING, revision) X(T, STRING, commit) X(T, STRING, trouble)
struct bu_shown_status {
	BU_SHOWN_STATUS_ROWS(BU_ROW_MEMBER, )
	struct bu_shown_appliance {
		const char *version;
		int64_t uptime_s;
		/* [{"name":"ca","from_ms","until_ms"}], Unix times */
		const json_t *certificates;
	} appliance;
	struct bu_shown_node *nodes;
	const char **gone;
	/* Nodes by state: {"ready": 3, "ready but unreachable": 1} */
	const json_t *counts;
	struct bu_shown_rollout rollout; /* the last one; id NULL = none */
	struct bu_shown_brake {
		BU_SHOWN_BRAKE_ROWS(BU_ROW_MEMBER, )
	} *brakes; /* that are on */
	const json_t *warnings; /* reasons and texts */
	struct bu_shown_condition *conditions; /* of the site */
	struct bu_shown_agents {
		BU_SHOWN_AGENTS_ROWS(BU_ROW_MEMBER, )
		const char **changing; /* nodes */
		size_t changing_count;
	} agents;
	struct bu_shown_backup BU_ROW_STRUCT(BU_SHOWN_BACKUP_ROWS) backup;
	size_t nodes_count, gone_count, brakes_count, conditions_count;
};
extern const struct bu_field bu_shown_brake_fields[];
extern const struct bu_field bu_shown_pair_fields[];
extern const struct bu_field bu_shown_pairs_fields[];
extern const struct bu_field bu_shown_pairs_page_fields[];
extern const struct bu_field bu_shown_status_fields[];

/* time_ms: Unix time of the appliance. */
struct bu_shown_nodes {
	int64_t time_ms;
	struct bu_shown_node *nodes;
	size_t nodes_count;
};
extern const struct bu_field bu_shown_nodes_fields[];
/* clang-format on */

#endif
