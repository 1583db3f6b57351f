/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes in the API: GET /v1/nodes, /v1/nodes/NAME, "nodes" of the status. */
#ifndef BU_MODEL_SHOWN_NODE_H
#define BU_MODEL_SHOWN_NODE_H

#include "model/shown.h"

/* clang-format off */
/* A condition (model/condition.h) of a node or the site: its words are those of its row;
 * detail: further facts, a text or a reason, NULL = none. away: counts as away. */
#define BU_SHOWN_CONDITION_ROWS(X, T) \
	X(T, STRING, name) X(T, INT, since_ms, BU_ANY) X(T, JSON, detail, .need = BU_SPARSE) \
	X(T, FLAG, away)

/* Progress of the agent's work. */
#define BU_SHOWN_PROGRESS_ROWS(X, T) \
	X(T, STRING, stage, .unsaid = "") X(T, INT, done_bytes) \
	X(T, INT, total_bytes)

/* Time spent in a state since the order. */
#define BU_SHOWN_STAGE_ROWS(X, T) X(T, STRING, state) X(T, INT, ms, BU_ANY)

/* The last step. status: open, done, failed. error: of the last attempt. */
#define BU_SHOWN_STEP_ROWS(X, T) \
	X(T, STRING, id) X(T, STRING, action, .unsaid = "") X(T, INT, attempt) \
	X(T, STRING, status, .unsaid = "") X(T, STRING, error, .unsaid = "")

#define BU_SHOWN_HELD_ROWS(X, T) \
	X(T, STRING, by) X(T, STRING, owner, .need = BU_SPARSE) \
	BU_SHOWN_REASON_ROWS(X, T)

/* The last power command for the machine, and (seen) its power state. */
#define BU_SHOWN_SEEN_ROWS(X, T) \
	X(T, STRING, power, .unsaid = "") X(T, STRING, error, .unsaid = "") \
	X(T, INT, at_ms, BU_ANY)
#define BU_SHOWN_POWER_ROWS(X, T) \
	X(T, STRING, op, .unsaid = "") X(T, STRING, by, .unsaid = "") \
	X(T, STRING, result, .unsaid = "") X(T, STRING, power, .unsaid = "") \
	X(T, STRING, detail, .unsaid = "") X(T, INT, at_ms, BU_ANY)

/* The last applied plan's order; status as in struct bu_shown_order. */
#define BU_SHOWN_WANTED_ROWS(X, T) \
	X(T, STRING, rollout, .unsaid = "") X(T, STRING, class, .unsaid = "") \
	X(T, STRING, image, .unsaid = "") X(T, STRING, commit, .unsaid = "") \
	X(T, INT, batch, .min = -1, .max = INT32_MAX) X(T, FLAG, open) \
	X(T, STRING, status, .unsaid = "") BU_SHOWN_REASON_ROWS(X, T)

/* By the last hello. trial: an earlier agent may replace it again. */
#define BU_SHOWN_AGENT_ROWS(X, T) \
	X(T, STRING, version) X(T, STRING, digest) X(T, FLAG, trial)

/* root: the profile's key for the installed image. root_slot: its root of two;
 * other_image: image of the other root, the loader's fallback. says, refused: reasons;
 * says also has "kind", "again_s" and "stops_deadline" of its row. next: target of a draining node.
 * cluster: its last answer, null = none; cluster_words: its text when the node left or
 * joined. */
#define BU_SHOWN_NODE_ROWS(X, T) \
	X(T, STRING, name) X(T, STRING, pool) X(T, STRING, state) \
	X(T, FLAG, settled) X(T, INT, since_ms, BU_ANY) X(T, STRING, image) \
	X(T, STRING, root, .unsaid = "") \
	X(T, STRING, root_slot, .need = BU_SPARSE, .unsaid = "") \
	X(T, STRING, other_image, .need = BU_SPARSE, .unsaid = "") X(T, STRING, machine) X(T, STRING, firmware) \
	X(T, INT, last_seen_ms, BU_ANY) X(T, INT, repeats) X(T, FLAG, in_profile) BU_SHOWN_REASON_ROWS(X, T) \
	X(T, JSON, says, .need = BU_SPARSE) X(T, JSON, refused, .need = BU_SPARSE) \
	X(T, STRING, boot_id)
#define BU_SHOWN_LISTED_ROWS(X, T) \
	X(T, STRING, rack) X(T, STRING, slot) \
	X(T, STRING, serial, .need = BU_SPARSE, .unsaid = "") X(T, STRING, commit) \
	X(T, JSON, cluster, .need = BU_NULL)

/* Only for one node. why: lines, each a reason (model/sentence.h). inventory: of model/inventory.h.
 * firmware_versions: the BMC's last report, [{"name","version"}]. */
#define BU_SHOWN_WHOLE_ROWS(X, T) \
	X(T, JSON, why) X(T, JSON, inventory, .need = BU_NULL) \
	X(T, JSON, firmware_versions, .need = BU_SPARSE)

/* The agent's report of files on the node. record: a record of the last write exists.
 * booted: the node's kernel arguments in this boot, as far as known. */
#define BU_SHOWN_FOUND_ROWS(X, T) \
	X(T, FLAG, told) X(T, FLAG, record) \
	X(T, STRING, booted, .need = BU_SPARSE)

/* A difference from the profile: of a link, or of something on the node (network and
 * link ""). said: a reason (model/sentence.h). */
#define BU_SHOWN_DRIFT_ROWS(X, T) \
	X(T, STRING, network) X(T, STRING, link) X(T, STRING, what) \
	X(T, STRING, want) X(T, STRING, have) X(T, JSON, said)

struct bu_shown_condition BU_ROW_STRUCT(BU_SHOWN_CONDITION_ROWS);
struct bu_shown_stage BU_ROW_STRUCT(BU_SHOWN_STAGE_ROWS);
struct bu_shown_found BU_ROW_STRUCT(BU_SHOWN_FOUND_ROWS);
/* held.by: NULL = not held. step.id: NULL = no step yet. */
struct bu_shown_node {
	BU_SHOWN_NODE_ROWS(BU_ROW_MEMBER, )
	struct bu_shown_progress {
		BU_SHOWN_PROGRESS_ROWS(BU_ROW_MEMBER, )
	} progress;
	struct bu_shown_stage *stages;
	struct bu_shown_step {
		BU_SHOWN_STEP_ROWS(BU_ROW_MEMBER, )
	} step;
	const char *cluster_words;
	struct bu_shown_condition *conditions;
	struct bu_shown_power {
		BU_SHOWN_POWER_ROWS(BU_ROW_MEMBER, )
		struct bu_shown_seen {
			BU_SHOWN_SEEN_ROWS(BU_ROW_MEMBER, )
		} seen;
	} power;
	struct bu_shown_agent {
		BU_SHOWN_AGENT_ROWS(BU_ROW_MEMBER, )
	} agent; /* version NULL = not told */
	const json_t *next;
	struct bu_shown_held {
		BU_SHOWN_HELD_ROWS(BU_ROW_MEMBER, )
	} held;
	BU_SHOWN_LISTED_ROWS(BU_ROW_MEMBER, )
	struct bu_shown_wanted {
		BU_SHOWN_WANTED_ROWS(BU_ROW_MEMBER, )
	} order;
	BU_SHOWN_WHOLE_ROWS(BU_ROW_MEMBER, )
	const json_t *found; /* bu_shown_found_fields; NULL = no system of ours runs */
	struct bu_shown_certificate {
		const char *kind, *text; /* text: the signed JSON */
	} *certificates;
	struct bu_shown_drift {
		BU_SHOWN_DRIFT_ROWS(BU_ROW_MEMBER, )
	} *drift;
	size_t stages_count, conditions_count, certificates_count, drift_count;
};

extern const struct bu_field bu_shown_condition_fields[];
extern const struct bu_field bu_shown_stage_fields[];
extern const struct bu_field bu_shown_wanted_fields[];
extern const struct bu_field bu_shown_drift_fields[];
extern const struct bu_field bu_shown_found_fields[];
/* From the log and the last look; in a list; for one node. */
extern const struct bu_field bu_shown_node_fields[];
extern const struct bu_field bu_shown_listed_fields[];
extern const struct bu_field bu_shown_whole_fields[];
/* clang-format on */

#endif
