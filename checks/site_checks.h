/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The site's own checks, group "site": executables that came with the profile
 * (checks.d). Exit status 0 is good; otherwise the last line that it printed is the
 * reason. It may print one JSON object instead, as all of its standard output:
 * {"verdict":"pass"|"warn"|"fail","text"?,"seen"?,"expected"?,"hint"?}; an exit status
 * other than 0 is a fail whatever the object says. LBNL NHC runs unchanged.
 *
 * The work item's "site": [{"name","content","timeout_ms"}].
 */
#ifndef BU_CHECKS_SITE_CHECKS_H
#define BU_CHECKS_SITE_CHECKS_H

#include "checks/checks.h"

enum { BU_SITE_TIMEOUT_MS = 60000 }; /* where the item names none */

bu_must int bu_site_checks_run(const struct bu_checks_ctx *ctx, struct bu_checks *out,
			       struct bu_err *err);

#endif
