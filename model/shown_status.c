/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of shown_status.h. */
#include "model/shown_status.h"

#include "base/err.h"

/* clang-format off */
const struct bu_field bu_shown_pair_fields[] =
	BU_ROW_TABLE(BU_SHOWN_PAIR_ROWS, struct bu_shown_pair);
const struct bu_field bu_shown_pairs_fields[] = {
	BU_FIELD_MANY(LIST, struct bu_shown_pairs, pairs, BU_SHOWN_MAX,
		      bu_shown_pair_fields),
	BU_FIELD_END,
};
const struct bu_field bu_shown_pairs_page_fields[] = {
	BU_FIELD_MANY(LIST, struct bu_shown_pairs_page, pairs, BU_SHOWN_MAX,
		      bu_shown_pair_fields),
	BU_FIELD(INT, struct bu_shown_pairs_page, after),
	BU_FIELD(FLAG, struct bu_shown_pairs_page, more),
	BU_FIELD_END,
};
static const struct bu_field appliance_fields[] = {
	BU_FIELD(STRING, struct bu_shown_appliance, version),
	BU_FIELD(INT, struct bu_shown_appliance, uptime_s, BU_ANY),
	BU_FIELD(JSON, struct bu_shown_appliance, certificates, .need = BU_OPTIONAL),
	BU_FIELD_END,
};
const struct bu_field bu_shown_brake_fields[] =
	BU_ROW_TABLE(BU_SHOWN_BRAKE_ROWS, struct bu_shown_brake);
static const struct bu_field text_field[] = {
	BU_FIELD_ONE(STRING, sizeof(const char *)),
};
static const struct bu_field agents_fields[] = {
	BU_SHOWN_AGENTS_ROWS(BU_ROW, struct bu_shown_agents)
	BU_FIELD_MANY(ARRAY, struct bu_shown_agents, changing, BU_SHOWN_MAX,
		      text_field),
	BU_FIELD_END,
};
static const struct bu_field backup_fields[] =
	BU_ROW_TABLE(BU_SHOWN_BACKUP_ROWS, struct bu_shown_backup);

const struct bu_field bu_shown_status_fields[] = {
	BU_SHOWN_STATUS_ROWS(BU_ROW, struct bu_shown_status)
	BU_FIELD(RECORD, struct bu_shown_status, appliance, .fields = appliance_fields),
	BU_FIELD_MANY(LIST, struct bu_shown_status, nodes, BU_SHOWN_MAX,
		      bu_shown_listed_fields),
	BU_FIELD_MANY(ARRAY, struct bu_shown_status, gone, BU_SHOWN_MAX, text_field,
		      .need = BU_SPARSE),
	BU_FIELD(JSON, struct bu_shown_status, counts, .need = BU_OPTIONAL),
	BU_FIELD(RECORD, struct bu_shown_status, rollout,
		 .fields = bu_shown_rollout_fields, .need = BU_NULL),
	BU_FIELD_MANY(LIST, struct bu_shown_status, brakes, BU_SHOWN_MAX,
		      bu_shown_brake_fields),
	BU_FIELD(JSON, struct bu_shown_status, warnings),
	BU_FIELD_MANY(LIST, struct bu_shown_status, conditions, BU_SHOWN_MAX,
		      bu_shown_condition_fields),
	BU_FIELD(RECORD, struct bu_shown_status, backup, .fields = backup_fields,
		 .need = BU_NULL),
	BU_FIELD(RECORD, struct bu_shown_status, agents, .fields = agents_fields,
		 .need = BU_SPARSE),
	BU_FIELD_END,
};
const struct bu_field bu_shown_nodes_fields[] = {
	BU_FIELD(INT, struct bu_shown_nodes, time_ms, BU_ANY),
	BU_FIELD_MANY(LIST, struct bu_shown_nodes, nodes, BU_SHOWN_MAX,
		      bu_shown_listed_fields),
	BU_FIELD_END,
};
/* clang-format on */
