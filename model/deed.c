/* SPDX-License-Identifier: Apache-2.0 */
/* The names of deeds and outcomes. Invariant: an old log has no other ones. */
#include "model/deed.h"

#include <stddef.h>

const char *const bu_deed_names[] = {
#define X(id, name) name,
	BU_DEEDS(X)
#undef X
		NULL,
};

const char *const bu_outcome_names[] = {
#define X(id, name) name,
	BU_OUTCOMES(X)
#undef X
		NULL,
};
