/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and names of the states. */
#include "model/state.h"

#include <string.h>

static const struct bu_state_info states[] = {
#define X(id, name, settled, limit_s, ladder, place, measured, first, then, done,      \
	  abort, late, help)                                                           \
	{name,                                                                         \
	 settled,                                                                      \
	 limit_s,                                                                      \
	 BU_LADDER_##ladder,                                                           \
	 BU_PLACE_##place,                                                             \
	 measured,                                                                     \
	 BU_ACTION_##first,                                                            \
	 BU_ACTION_##then,                                                             \
	 BU_DONE_##done,                                                               \
	 BU_ABORT_##abort,                                                             \
	 late,                                                                         \
	 help},
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
bu_state_is_in_cluster(enum bu_state state)
{
	return bu_state_info(state)->place >= BU_PLACE_ENTERING;
}

int
bu_state_is_bad(enum bu_state state)
{
	return state == BU_STATE_QUARANTINED || state == BU_STATE_FAILED;
}

int
bu_state_serves(enum bu_state state)
{
	enum bu_place place = bu_state_info(state)->place;

	return place == BU_PLACE_ENTERING || place == BU_PLACE_IN;
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
	return bu_err_set(err, BU_ERR_INVAL, 0, "unknown node state '%s'", name);
}
