/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and names of the states. */
#include "model/state.h"

#include <string.h>

static const struct bu_state_info states[] = {
#define X(id, name, settled, limit_s, ladder, help)                                    \
	{name, settled, limit_s, BU_LADDER_##ladder, help},
	BU_STATES(X)
#undef X
};

const struct bu_state_info *
bu_state_info(enum bu_state state)
{
	bu_assert(state < BU_STATE_COUNT);
	return &states[state];
}

const char *
bu_state_name(enum bu_state state)
{
	return bu_state_info(state)->name;
}

int
bu_state_from_name(const char *name, enum bu_state *ret, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(states); i++) {
		if (strcmp(states[i].name, name) == 0) {
			*ret = (enum bu_state)i;
			return 0;
		}
	}
	return bu_err_set(err, BU_ERR_INVAL, 0, "'%s' is no node state", name);
}
