/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of shown_node.h. */
#include "model/shown_node.h"

#include "base/err.h"

/* clang-format off */
const struct bu_field bu_shown_condition_fields[] =
	BU_ROW_TABLE(BU_SHOWN_CONDITION_ROWS, struct bu_shown_condition);
static const struct bu_field progress_fields[] =
	BU_ROW_TABLE(BU_SHOWN_PROGRESS_ROWS, struct bu_shown_progress);
const struct bu_field bu_shown_stage_fields[] =
	BU_ROW_TABLE(BU_SHOWN_STAGE_ROWS, struct bu_shown_stage);
static const struct bu_field step_fields[] =
	BU_ROW_TABLE(BU_SHOWN_STEP_ROWS, struct bu_shown_step);
static const struct bu_field held_fields[] =
	BU_ROW_TABLE(BU_SHOWN_HELD_ROWS, struct bu_shown_held);
static const struct bu_field seen_fields[] =
	BU_ROW_TABLE(BU_SHOWN_SEEN_ROWS, struct bu_shown_seen);
static const struct bu_field power_fields[] = {
	BU_SHOWN_POWER_ROWS(BU_ROW, struct bu_shown_power)
	BU_FIELD(RECORD, struct bu_shown_power, seen, .fields = seen_fields),
	BU_FIELD_END,
};
static const struct bu_field agent_fields[] =
	BU_ROW_TABLE(BU_SHOWN_AGENT_ROWS, struct bu_shown_agent);
const struct bu_field bu_shown_wanted_fields[] =
	BU_ROW_TABLE(BU_SHOWN_WANTED_ROWS, struct bu_shown_wanted);
static const struct bu_field certificate_fields[] = {
	BU_FIELD(STRING, struct bu_shown_certificate, kind),
	BU_FIELD(STRING, struct bu_shown_certificate, text),
	BU_FIELD_END,
};
const struct bu_field bu_shown_found_fields[] =
	BU_ROW_TABLE(BU_SHOWN_FOUND_ROWS, struct bu_shown_found);
const struct bu_field bu_shown_drift_fields[] =
	BU_ROW_TABLE(BU_SHOWN_DRIFT_ROWS, struct bu_shown_drift);

#define NODE                                                                           \
	BU_SHOWN_NODE_ROWS(BU_ROW, struct bu_shown_node)                               \
	BU_FIELD(RECORD, struct bu_shown_node, progress, .fields = progress_fields,    \
		 .need = BU_NULL),                                                     \
	BU_FIELD_MANY(LIST, struct bu_shown_node, stages, BU_SHOWN_MAX,                \
		      bu_shown_stage_fields),                                          \
	BU_FIELD(RECORD, struct bu_shown_node, step, .fields = step_fields,            \
		 .need = BU_NULL),                                                     \
	BU_FIELD(STRING, struct bu_shown_node, cluster_words),                         \
	BU_FIELD_MANY(LIST, struct bu_shown_node, conditions, BU_SHOWN_MAX,            \
		      bu_shown_condition_fields),                                      \
	BU_FIELD(RECORD, struct bu_shown_node, power, .fields = power_fields,          \
		 .need = BU_SPARSE),                                                   \
	BU_FIELD(RECORD, struct bu_shown_node, agent, .fields = agent_fields,          \
		 .need = BU_SPARSE),                                                   \
	BU_FIELD(JSON, struct bu_shown_node, next, .need = BU_SPARSE),                 \
	BU_FIELD(RECORD, struct bu_shown_node, held, .fields = held_fields,            \
		 .need = BU_SPARSE),
#define LISTED                                                                         \
	NODE BU_SHOWN_LISTED_ROWS(BU_ROW, struct bu_shown_node)                        \
	BU_FIELD(RECORD, struct bu_shown_node, order, .fields = bu_shown_wanted_fields,\
		 .need = BU_SPARSE),

const struct bu_field bu_shown_node_fields[] = {NODE BU_FIELD_END};
const struct bu_field bu_shown_listed_fields[] = {LISTED BU_FIELD_END};
const struct bu_field bu_shown_whole_fields[] = {
	LISTED BU_SHOWN_WHOLE_ROWS(BU_ROW, struct bu_shown_node)
	BU_FIELD(JSON, struct bu_shown_node, found, .need = BU_SPARSE),
	BU_FIELD_MANY(LIST, struct bu_shown_node, certificates, BU_SHOWN_MAX,
		      certificate_fields),
	BU_FIELD_MANY(LIST, struct bu_shown_node, drift, BU_SHOWN_MAX,
		      bu_shown_drift_fields),
	BU_FIELD_END,
};
/* clang-format on */
