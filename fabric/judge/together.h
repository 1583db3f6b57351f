/* SPDX-License-Identifier: Apache-2.0 */
/* What the rails of a node carried together, for its certificate (fabcert.h). Pure. */
#ifndef BU_FABRIC_JUDGE_TOGETHER_H
#define BU_FABRIC_JUDGE_TOGETHER_H

#include <jansson.h>

/* Of a CERT's "results" and "rails": the sums of the probe that measured all rails at
 * once and carried most in its weaker direction, {"probe","sends_gbps",
 * "receives_gbps","least_gbps"}; least_gbps: the sum of what each rail must carry.
 * NULL: there is one rail, or no such probe. New reference. */
json_t *bu_together_of(const char *node, const json_t *rails, const json_t *results);

#endif
