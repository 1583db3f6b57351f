/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine has, for the appliance: read in a child process, because a driver of
 * a network card may hang.
 */
#ifndef BU_AGENT_SURVEY_H
#define BU_AGENT_SURVEY_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

/* The inventory as JSON. Where it does not end within limit_ms it is read once more,
 * without what drivers are asked for, which the log says. New reference. */
json_t *bu_survey_inventory(int64_t limit_ms, struct bu_err *err);
/* Its links alone. BU_ERR_TIMEOUT. New reference. */
json_t *bu_survey_links(int64_t limit_ms, struct bu_err *err);

#endif
