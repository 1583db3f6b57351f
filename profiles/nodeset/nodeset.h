/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodesets: hostlists as in Slurm and ClusterShell. "gpu[001-128,200]",
 * "r[1-4]n[01-16]", "a1,b[2-3]", steps "gpu[0-14/2]", pools "@train", questions
 * "state=ready". Zero padding is kept (gpu[001-002] is not gpu[1-2]). Sets are put
 * together from left to right, no operator before another: ',' union, '!' difference,
 * '&' intersection, '^' what is in one of both.
 */
#ifndef BU_PROFILES_NODESET_NODESET_H
#define BU_PROFILES_NODESET_NODESET_H

#include <stddef.h>

#include "base/err.h"

enum { BU_NODESET_MAX = 100000, BU_NODE_NAME_MAX = 63 };

struct bu_nodeset {
	char **names; /* in the order in which they were written, each once */
	size_t count, cap;
};

/* Resolves "@group" (gets "group") and "state=ready" (gets all of it): adds its names
 * with bu_nodeset_add(); -1 when there is none. */
typedef int (*bu_nodeset_group_fn)(const char *group, struct bu_nodeset *nodeset,
				   void *arg, struct bu_err *err);

/* group may be NULL: then '@' and '=' are refused. The set may be empty. Each name must
 * pass bu_node_name_ok(). BU_ERR_INVAL names the part that is wrong. */
struct bu_nodeset *bu_nodeset_parse(const char *text, bu_nodeset_group_fn group,
				    void *arg, struct bu_err *err);
/* As parse, but "node[1-2],node1" is an error that names the name said twice. */
struct bu_nodeset *bu_nodeset_parse_unique(const char *text, struct bu_err *err);
/* The pattern without the rules for names, in order, repetitions kept: for
 * "10.78.0.[11-13]" and the like. */
struct bu_nodeset *bu_nodeset_expand(const char *text, struct bu_err *err);
struct bu_nodeset *bu_nodeset_create(void);
/* Copies the name in; does not look for repetitions. -1 when the set is full. */
bu_must int bu_nodeset_add(struct bu_nodeset *nodeset, const char *name,
			   struct bu_err *err);
/* Natural order (node2 before node10), repetitions removed. */
void bu_nodeset_sort(struct bu_nodeset *nodeset);
/* The shortest hostlist by the last number of each name: "node[001-128,200],x"; owned.
 * Sorted and without repetitions; "" for an empty one. */
char *bu_nodeset_fold(const char *const *names, size_t count);
void bu_nodeset_destroy(struct bu_nodeset *nodeset);

/* 1 when the text may name a node: lower-case letters, digits, '-', starts with a
 * letter or digit, at most BU_NODE_NAME_MAX: it becomes a hostname. */
int bu_node_name_ok(const char *name);

#endif
