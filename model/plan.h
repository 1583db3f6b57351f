/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan as sent, saved and shown; docs/plan.md describes each member. Made by
 * provisioner/plan, read by the command line. Texts are borrowed from the JSON.
 */
#ifndef BU_MODEL_PLAN_H
#define BU_MODEL_PLAN_H

#include "base/record.h"

/* clang-format off */
#define BU_PLAN_CHANGE_ROWS(X, T) \
	X(T, STRING, facet) X(T, STRING, class) X(T, STRING, old) X(T, STRING, new) \
	X(T, STRING, file) X(T, INT, line)

/* Of a reimage or wipe. wanted: the profile's selector. */
#define BU_PLAN_DISK_ROWS(X, T) \
	X(T, STRING, path, .need = BU_SPARSE, .unsaid = "") \
	X(T, STRING, serial, .need = BU_SPARSE, .unsaid = "") \
	X(T, STRING, wwn, .need = BU_SPARSE, .unsaid = "") \
	X(T, INT, size_bytes, .need = BU_SPARSE) \
	X(T, STRING, holds, .need = BU_SPARSE, .unsaid = "") \
	X(T, FLAG, written, .need = BU_SPARSE) \
	X(T, STRING, wanted, .need = BU_SPARSE, .unsaid = "")

/* minutes: negative = unknown. why: a reason (model/sentence.h). stays: image in the other of two roots, which is not
 * written. there: the other root has the image; nothing is fetched. forgets: the node's
 * next start empties its array, whatever the class. anew: the order under way is
 * withdrawn for this one. */
#define BU_PLAN_STEP_ROWS(X, T) \
	X(T, STRING, node) X(T, STRING, pool) X(T, STRING, class) X(T, STRING, image) \
	X(T, STRING, digest) X(T, STRING, facets) X(T, STRING, from) \
	X(T, INT, batch, .min = -1, .max = INT32_MAX) \
	X(T, REAL, minutes, .need = BU_NULL, .otherwise = -1, BU_ANY)
#define BU_PLAN_STEP_MORE_ROWS(X, T) \
	X(T, JSON, why) X(T, FLAG, reset, .need = BU_SPARSE) \
	X(T, FLAG, replace, .need = BU_SPARSE) \
	X(T, FLAG, anew, .need = BU_SPARSE) \
	X(T, STRING, stays, .need = BU_SPARSE, .unsaid = "") \
	X(T, FLAG, there, .need = BU_SPARSE) X(T, FLAG, forgets, .need = BU_SPARSE)

/* Rules that refuse a plan as a whole: known machines, features of images, keys of
 * [policy]. */
#define BU_PLAN_RULES(X) \
	X(NONE, "") X(MACHINES, "machines") X(IMAGE, "image") \
	X(COMPATIBILITY, "compatibility") X(RESIDENCY, "residency") \
	X(REGISTRIES, "registries") X(IMAGE_KEYS, "image_keys") X(SCANNER, "scanner")
#define BU_PLAN_RULE_ENUM(code, word) BU_PLAN_RULE_##code,
enum bu_plan_rule { BU_PLAN_RULES(BU_PLAN_RULE_ENUM) };
extern const char *const bu_plan_rules[];

/* why: a reason, or the text of a broken rule. rule: NONE = only the node is refused,
 * else the plan. named: why names the nodes. */
#define BU_PLAN_REFUSAL_ROWS(X, T) \
	X(T, STRING, node) X(T, JSON, why) \
	X(T, WORD, rule, .words = bu_plan_rules, .need = BU_SPARSE) \
	X(T, STRING, file, .need = BU_SPARSE, .unsaid = "") \
	X(T, INT, line, .need = BU_SPARSE) X(T, FLAG, named, .need = BU_SPARSE)

/* The node has all that is desired, and stays quarantined. */
#define BU_PLAN_QUARANTINED_ROWS(X, T) X(T, STRING, node) X(T, JSON, why)

#define BU_PLAN_DRIFT_ROWS(X, T) \
	X(T, STRING, node) X(T, STRING, state) X(T, STRING, condition) X(T, JSON, said)

/* Changes of how machines are reached and identified, in effect from the apply on, also
 * for orders under way. nodes: a hostlist. */
#define BU_PLAN_REACH_ROWS(X, T) \
	X(T, STRING, nodes) X(T, STRING, facet) X(T, STRING, old) X(T, STRING, new) \
	X(T, STRING, file) X(T, INT, line)

/* A node whose order goes on by another revision than this plan's. */
#define BU_PLAN_UNDER_WAY_ROWS(X, T) \
	X(T, STRING, node) X(T, STRING, state) X(T, STRING, rollout) \
	X(T, STRING, revision) X(T, STRING, commit)

#define BU_PLAN_POOL_ROWS(X, T) \
	X(T, INT, canary) X(T, INT, max_unavailable) X(T, INT, failure_budget) \
	X(T, INT, drain_deadline_ms, .need = BU_OPTIONAL) \
	X(T, STRING, maintenance, .unsaid = "") \
	X(T, STRING, cluster, .need = BU_OPTIONAL, .unsaid = "")

struct bu_plan_change BU_ROW_STRUCT(BU_PLAN_CHANGE_ROWS);
struct bu_plan_lost BU_ROW_STRUCT(BU_PLAN_DISK_ROWS);
struct bu_plan_refusal BU_ROW_STRUCT(BU_PLAN_REFUSAL_ROWS);
struct bu_plan_quarantined BU_ROW_STRUCT(BU_PLAN_QUARANTINED_ROWS);
struct bu_plan_drift BU_ROW_STRUCT(BU_PLAN_DRIFT_ROWS);
struct bu_plan_pool BU_ROW_STRUCT(BU_PLAN_POOL_ROWS);
struct bu_plan_reach BU_ROW_STRUCT(BU_PLAN_REACH_ROWS);
struct bu_plan_under_way {
	BU_PLAN_UNDER_WAY_ROWS(BU_ROW_MEMBER, )
	const char **reach; /* facets of it in effect at once */
	struct bu_plan_change *content; /* as ordered until the order's end */
	size_t reach_count, content_count;
};
struct bu_plan_step {
	BU_PLAN_STEP_ROWS(BU_ROW_MEMBER, )
	struct bu_plan_change *changes;
	BU_PLAN_STEP_MORE_ROWS(BU_ROW_MEMBER, )
	struct bu_plan_lost disk; /* data on it may be lost */
	struct bu_plan_lost mirror; /* likewise, the system's second disk */
	struct bu_plan_lost *scratch; /* likewise, disks of its array */
	size_t changes_count, scratch_count;
};
struct bu_plan {
	const char *revision, *base, *commit, *limit;
	const char *restart; /* hostlist: orders under way begin anew */
	struct bu_plan_step *steps;
	struct bu_plan_refusal *refused;
	const char **left;
	const char **adopts; /* nodes that run, and go on without a step */
	const json_t *pools;   /* {name: struct bu_plan_pool} */
	const json_t *renames; /* {old name: new name} */
	const json_t *waiting; /* {rollout: nodes} */
	const json_t *warnings; /* reasons and texts */
	struct bu_plan_quarantined *quarantined;
	struct bu_plan_drift *drift;
	struct bu_plan_reach *reach;
	struct bu_plan_under_way *under_way;
	const char *observed;
	int64_t unchanged, left_out;
	size_t steps_count, refused_count, left_count, adopts_count, drift_count,
		quarantined_count, reach_count, under_way_count;
};
/* clang-format on */

extern const struct bu_field bu_plan_change_fields[];
extern const struct bu_field bu_plan_step_fields[];
extern const struct bu_field bu_plan_drift_fields[];
extern const struct bu_field bu_plan_pool_fields[];
extern const struct bu_field bu_plan_reach_fields[];
extern const struct bu_field bu_plan_fields[];

/* Reads a plan for its execution: also checks renames and classes. Released by
 * bu_record_fini(bu_plan_fields). */
bu_must int bu_plan_read(const json_t *value, struct bu_plan *ret, struct bu_err *err);

#endif
