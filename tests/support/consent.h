/* SPDX-License-Identifier: Apache-2.0 */
/* Plans as JSON, read and applied. */
#ifndef BU_TESTS_SUPPORT_CONSENT_H
#define BU_TESTS_SUPPORT_CONSENT_H

#include "base/json.h"
#include "provisioner/rollout/rollout.h"
#include "tests/support/shown.h"

/* What the plan does not say is added. */
static inline int
consent_apply(struct bu_rollouts *rollouts, const json_t *value, const char *digest,
	      const json_t *grants, char *ret_id, struct bu_err *err)
{
	bu_autojson json_t *whole = complete(bu_plan_fields, json_deep_copy(value));
	struct bu_plan plan;
	int rc;

	/* no table gives it a default */
	if (!json_is_object(json_object_get(whole, "pools")))
		json_object_set_new(whole, "pools", json_object());
	json_object_set_new(whole, "v", json_integer(2));
	if (bu_plan_read(whole, &plan, err) != 0)
		return -1;
	rc = bu_rollouts_apply(rollouts,
			       &(struct bu_consent){&plan, digest, grants, "me"},
			       ret_id, err);
	bu_record_fini(bu_plan_fields, &plan);
	return rc;
}

#endif
