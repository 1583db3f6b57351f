/* SPDX-License-Identifier: Apache-2.0 */
/* The names of power requests and outcomes. Invariant: an old log has no other ones. */
#include "model/power_request.h"

#include <stddef.h>

const char *const bu_power_request_names[] = {
#define X(id, name) name,
	BU_POWER_REQUESTS(X)
#undef X
		NULL,
};

const char *const bu_outcome_names[] = {
#define X(id, name) name,
	BU_OUTCOMES(X)
#undef X
		NULL,
};
