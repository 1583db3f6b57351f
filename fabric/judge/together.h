/* SPDX-License-Identifier: Apache-2.0 */
/* The sum of its rails' rates in one probe, for a node's certificate (fabcert.h). Pure.
 */
#ifndef BU_FABRIC_JUDGE_TOGETHER_H
#define BU_FABRIC_JUDGE_TOGETHER_H

#include <jansson.h>

/* Of a CERT's "results" and "rails": the sums of the probe of all rails that is largest
 * in its weaker direction, {"probe","sends_gbps","receives_gbps","least_gbps"};
 * least_gbps: the sum of what each rail must carry. Nothing starts the rails together,
 * each is a process: it is no rate of a moment. NULL: there is one rail, or no such
 * probe. New reference. */
json_t *bu_together_of(const char *node, const json_t *rails, const json_t *results);

#endif
