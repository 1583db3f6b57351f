/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the rates of a node's rails, for its certificate (fabcert.h). Pure. */
#ifndef BU_FABRIC_JUDGE_TOGETHER_H
#define BU_FABRIC_JUDGE_TOGETHER_H

#include <jansson.h>

/* rails, results: of a CERT. Of the probes of all rails, the one with the largest sum
 * in its slower direction: {"probe","sends_gbps","receives_gbps","least_gbps"}, a new
 * reference; least_gbps: the sum of the rails' least rates. Rails are measured by
 * processes that do not start together, so a sum is no rate of one moment. NULL: one
 * rail, or no such probe. */
json_t *bu_together_of(const char *node, const json_t *rails, const json_t *results);

#endif
