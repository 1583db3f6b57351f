/* SPDX-License-Identifier: Apache-2.0 */
/* Slurm's words, read strictly: they are foreign text. Pure. */
#ifndef BU_CLUSTER_SLURM_PARSE_H
#define BU_CLUSTER_SLURM_PARSE_H

#include "provisioner/cluster/cluster.h"

/* A drain whose reason begins so is bringup's own. */
#define BU_SLURM_MARK "bringup:"

/* What `scontrol -o show node` printed: a line for each node, sorted into *ret_rows
 * (owned; texts borrowed from text). -1 when it is anything else: a node that is
 * missing in the answer counts as unknown, so half an answer is none. */
bu_must int bu_slurm_parse(const char *text, struct bu_cluster_row **ret_rows,
			   size_t *ret_count, struct bu_err *err);
/* What is wrong with munge, by the words with which a command failed; NULL = nothing is
 * known to be. */
const char *bu_slurm_munge_fault(const char *text);
/* The error of a command with what is wrong with munge. own: holds the answer. */
const struct bu_err *bu_slurm_explain(const struct bu_err *err, struct bu_err *own);
/* text: as scontrol refuses to delete a reservation. 1 = there is none of its name. */
int bu_slurm_has_no_reservation(const char *text);
/* NULL when it is not among them. */
const struct bu_cluster_row *bu_slurm_find(const struct bu_cluster_row *rows,
					   size_t count, const char *name);
/* Whether "gpu[001-004,7],login" has the name. What cannot be read has it: nobody is
 * taken for idle because of it. */
int bu_slurm_list_has(const char *list, size_t size, const char *name);
/* Of squeue's lines "gpu[001-004]|12 (alice)" those of the node, as "12 (alice), 17
 * (bob)"; owned. */
char *bu_slurm_jobs_of(const char *text, const char *node);

#endif
