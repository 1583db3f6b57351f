/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and names of the actions. */
#include "model/step.h"

#include <string.h>

static const struct bu_action_info actions[] = {
#define X(id, name, actor, fetched, again, limit_s, late, help)                        \
	{name, BU_ACTOR_##actor, fetched, BU_AGAIN_##again, limit_s, late, help},
	BU_ACTIONS(X)
#undef X
};

const struct bu_action_info *
bu_action_info(enum bu_action action)
{
	bu_assert(action < BU_ACTION_COUNT);
	return &actions[action];
}

const char *
bu_action_name(enum bu_action action)
{
	return bu_action_info(action)->name;
}

enum bu_action
bu_action_from_name(const char *name)
{
	for (size_t i = 0; i < BU_LEN(actions); i++)
		if (strcmp(actions[i].name, name) == 0)
			return (enum bu_action)i;
	return BU_ACTION_NONE;
}
