/* SPDX-License-Identifier: Apache-2.0 */
/* Names that a profile may give: of checks (severity) and of limits (thresholds). */
#ifndef BU_CHECKS_CHECKS_NAMES_H
#define BU_CHECKS_CHECKS_NAMES_H

#include "checks/checks.h"

/* Adds a warning for each name in expect.severity and expect.thresholds that nothing
 * here knows: a typo must not silently switch nothing off. */
void bu_checks_name_unknown(const struct bu_checks_ctx *ctx, struct bu_checks *out);

#endif
