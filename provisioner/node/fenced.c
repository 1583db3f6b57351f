/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the fence is shut, and the words for who meets it. Called wherever something
 * is begun or handed out. Invariant: the conditions of the site alone say so.
 */
#include "model/condition.h"
#include "model/sentence.h"
#include "provisioner/node/fence.h"

const enum bu_condition_id bu_fence_conditions[] = {BU_CONDITION_EPOCH_BEHIND,
						    BU_CONDITION_EPOCH_UNCHECKED};

static const struct bu_condition *
set_condition(const struct bu_fleet *fleet, enum bu_condition_id *ret)
{
	for (size_t i = 0; i < BU_FENCE_CONDITIONS; i++) {
		*ret = bu_fence_conditions[i];
		if (fleet->conditions[*ret].on)
			return &fleet->conditions[*ret];
	}
	return NULL;
}

int
bu_fence_is_shut(const struct bu_fleet *fleet)
{
	enum bu_condition_id id;

	return set_condition(fleet, &id) != NULL;
}

int
bu_fence_check(const struct bu_fleet *fleet, enum bu_err_kind kind, struct bu_err *err)
{
	enum bu_condition_id id;
	const struct bu_condition *condition = set_condition(fleet, &id);
	bu_autofree char *text =
		condition ? bu_said_condition(bu_condition_info(id)->name,
					      condition->detail)
			  : NULL;

	return text ? bu_err_set(err, kind, 0, "%s", text) : 0;
}
