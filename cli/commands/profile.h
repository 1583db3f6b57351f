/* SPDX-License-Identifier: Apache-2.0 */
/* Profile trees on this machine: checked before anything is sent. */
#ifndef BU_CLI_COMMANDS_PROFILE_H
#define BU_CLI_COMMANDS_PROFILE_H

#include <stdio.h>

#include "base/err.h"
#include "profiles/desired.h"
#include "profiles/load/findings.h"
#include "profiles/load/tree.h"

/* Reads and checks; the findings are added whatever comes of it. Both results are the
 * caller's. BU_ERR_INVAL when there are errors among the findings. */
bu_must int bu_profile_check(const char *dir, struct bu_findings *findings,
			     struct bu_tree **ret_tree, struct bu_desired **ret_desired,
			     struct bu_err *err);

#endif
