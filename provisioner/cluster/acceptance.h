/* SPDX-License-Identifier: Apache-2.0 */
/* For drivers: how the job of an acceptance is judged. Pure. */
#ifndef BU_CLUSTER_ACCEPTANCE_H
#define BU_CLUSTER_ACCEPTANCE_H

#include <stddef.h>

/* The last number in the text. 0 = it has none. */
int bu_acceptance_figure(const char *text, double *ret);
/* 1 = a job that ended with this status and printed this is good. ret_words: "4.1, at
 * least 1", or what is wrong. least: 0 = the status alone counts. */
int bu_acceptance_judge(double least, int status, const char *output, char *ret_words,
			size_t size);

#endif
