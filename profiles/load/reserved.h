/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that no node and no BMC may have: the appliance's own, for one. */
#ifndef BU_PROFILES_LOAD_RESERVED_H
#define BU_PROFILES_LOAD_RESERVED_H

#include "profiles/desired.h"
#include "profiles/load/findings.h"

struct bu_reserved {
	uint32_t first, last; /* host byte order, both included */
	const char *what;     /* "the appliance's own (boot_address ...)"; borrowed */
};

/* "10.77.0.1" or "10.77.0.200,10.77.0.250" as `what`; -1 when it is none. */
int bu_reserved_parse(const char *text, const char *what, struct bu_reserved *ret);
/* An error for each network and each BMC that has one of them. */
void bu_reserved_check(const struct bu_desired *desired, const struct bu_reserved *list,
		       size_t count, struct bu_findings *findings);

#endif
