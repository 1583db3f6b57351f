/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and names of the verbs. */
#include "model/verb.h"

#include <string.h>

enum { TAKES_NOTHING, TAKES_GRANT, TAKES_FORCE };

static const struct bu_verb_info verbs[] = {
#define X(id, name, args, states, takes, help)                                         \
	{name, args, states, TAKES_##takes == TAKES_GRANT, help},
	BU_VERBS(X)
#undef X
};

const struct bu_verb_info *
bu_verb_info(enum bu_verb verb)
{
	bu_assert(verb < BU_VERB_COUNT);
	return &verbs[verb];
}

int
bu_verb_from_name(const char *name, enum bu_verb *ret, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(verbs); i++) {
		if (strcmp(verbs[i].name, name) == 0) {
			*ret = (enum bu_verb)i;
			return 0;
		}
	}
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "unknown verb '%.40s'; see bringup help node", name);
}

int
bu_verb_takes(enum bu_verb verb, enum bu_state state)
{
	return (bu_verb_info(verb)->states & (1u << state)) != 0;
}
