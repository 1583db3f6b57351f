/* SPDX-License-Identifier: Apache-2.0 */
/* Rollouts in the API: GET /v1/rollouts, /v1/rollouts/ID, "rollout" of the status. */
#ifndef BU_MODEL_SHOWN_ROLLOUT_H
#define BU_MODEL_SHOWN_ROLLOUT_H

#include "model/shown.h"

/* clang-format off */
/* limit: a hostlist, "" = all nodes. ended_ms: 0 = not ended. Counts of nodes: turn =
 * wait for their turn; quarantined = among the failed; ready = an old name of done. */
#define BU_SHOWN_ROLLOUT_ROWS(X, T) \
	X(T, STRING, id) X(T, STRING, plan) X(T, STRING, revision) \
	X(T, STRING, commit) X(T, STRING, limit) X(T, STRING, by) \
	X(T, INT, started_ms, BU_ANY) X(T, INT, ended_ms, .need = BU_NULL, BU_ANY) \
	X(T, STRING, state) BU_SHOWN_REASON_ROWS(X, T) X(T, INT, total) \
	X(T, INT, done) X(T, INT, failed) X(T, INT, withdrawn) X(T, INT, turn) \
	X(T, INT, under_way) X(T, INT, ready) X(T, INT, quarantined)

/* A rollout in one pool. faults: failures that count against failure_budget, of nodes
 * in service. why: the reason for which no node has a turn; NULL = one has. */
#define BU_SHOWN_POOL_ROWS(X, T) \
	X(T, STRING, pool) X(T, INT, total) X(T, INT, done) X(T, INT, failed) \
	X(T, INT, under_way) X(T, INT, turn) X(T, INT, canary) \
	X(T, INT, canary_done) X(T, INT, faults) X(T, INT, failure_budget) \
	X(T, INT, max_unavailable) X(T, INT, away) X(T, JSON, why, .need = BU_SPARSE)

/* The order of a node. batch: -1 = at once. status: turn, under-way, done, failed,
 * withdrawn. */
#define BU_SHOWN_ORDER_ROWS(X, T) \
	X(T, STRING, node) X(T, STRING, pool) X(T, STRING, class) \
	X(T, INT, batch, .min = -1, .max = INT32_MAX) X(T, STRING, state) \
	X(T, STRING, status) BU_SHOWN_REASON_ROWS(X, T)

/* nodes: a nodeset, "" = all nodes of the rollout. */
#define BU_SHOWN_GRANT_ROWS(X, T) \
	X(T, STRING, class) X(T, STRING, nodes, .need = BU_SPARSE, .unsaid = "")

struct bu_shown_pool BU_ROW_STRUCT(BU_SHOWN_POOL_ROWS);
struct bu_shown_order BU_ROW_STRUCT(BU_SHOWN_ORDER_ROWS);
struct bu_shown_grant BU_ROW_STRUCT(BU_SHOWN_GRANT_ROWS);
struct bu_shown_rollout {
	BU_SHOWN_ROLLOUT_ROWS(BU_ROW_MEMBER, )
	/* Lists of one rollout; empty in a list of rollouts. */
	struct bu_shown_pool *pools;
	struct bu_shown_order *nodes;
	struct bu_shown_grant *grants;
	size_t pools_count, nodes_count, grants_count;
};
struct bu_shown_rollouts {
	struct bu_shown_rollout *rollouts; /* newest first */
	size_t rollouts_count;
};

extern const struct bu_field bu_shown_pool_fields[];
extern const struct bu_field bu_shown_order_fields[];
/* In a list; one alone. */
extern const struct bu_field bu_shown_rollout_fields[];
extern const struct bu_field bu_shown_rollout_whole_fields[];
extern const struct bu_field bu_shown_rollouts_fields[];
/* clang-format on */

#endif
