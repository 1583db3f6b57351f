/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of shown_rollout.h. */
#include "model/shown_rollout.h"

/* clang-format off */
const struct bu_field bu_shown_pool_fields[] =
	BU_ROW_TABLE(BU_SHOWN_POOL_ROWS, struct bu_shown_pool);
const struct bu_field bu_shown_order_fields[] =
	BU_ROW_TABLE(BU_SHOWN_ORDER_ROWS, struct bu_shown_order);
static const struct bu_field grant_fields[] =
	BU_ROW_TABLE(BU_SHOWN_GRANT_ROWS, struct bu_shown_grant);
const struct bu_field bu_shown_rollout_fields[] =
	BU_ROW_TABLE(BU_SHOWN_ROLLOUT_ROWS, struct bu_shown_rollout);
const struct bu_field bu_shown_rollout_whole_fields[] = {
	BU_SHOWN_ROLLOUT_ROWS(BU_ROW, struct bu_shown_rollout)
	BU_FIELD_MANY(LIST, struct bu_shown_rollout, pools, BU_SHOWN_MAX,
		      bu_shown_pool_fields),
	BU_FIELD_MANY(LIST, struct bu_shown_rollout, nodes, BU_SHOWN_MAX,
		      bu_shown_order_fields),
	BU_FIELD_MANY(LIST, struct bu_shown_rollout, grants, BU_SHOWN_MAX, grant_fields,
		      .need = BU_SPARSE),
	BU_FIELD_END,
};
const struct bu_field bu_shown_rollouts_fields[] = {
	BU_FIELD_MANY(LIST, struct bu_shown_rollouts, rollouts, BU_SHOWN_MAX,
		      bu_shown_rollout_fields),
	BU_FIELD_END,
};
/* clang-format on */
