/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training clusters: one vtable per driver. An operation is started, reports once, and
 * can be cancelled; all of them may be repeated after a crash (they observe first).
 */
#ifndef BU_CLUSTER_CLUSTER_H
#define BU_CLUSTER_CLUSTER_H

#include "base/err.h"
#include "base/loop.h"

struct bu_cluster_target {
	const char *conf; /* the driver's own configuration file; borrowed */
	const char *node;
	int64_t deadline_ms; /* 0 = none */
	/* What the cluster shall know of the node; NULL = nothing. Borrowed until the
	 * call returns. */
	const char *features; /* "rxe,lab" */
	/* What there is to tell while it lasts, with fn's arg: "draining; jobs 12
	 * (alice)". May be NULL. */
	void (*words)(const char *text, void *arg);
};

/* err is NULL when it is done. Never called before admit or leave has returned. */
typedef void (*bu_cluster_fn)(const struct bu_err *err, void *arg);
struct bu_cluster_op;

struct bu_cluster_driver {
	const char *name;
	/* The node's client is running: lets it take work, done when it does. */
	struct bu_cluster_op *(*admit)(struct bu_loop *loop,
				       const struct bu_cluster_target *target,
				       bu_cluster_fn fn, void *arg);
	/* Lets the node's jobs end and takes it out; done when it is unknown there. */
	struct bu_cluster_op *(*leave)(struct bu_loop *loop,
				       const struct bu_cluster_target *target,
				       bu_cluster_fn fn, void *arg);
	/* Makes what the cluster knows of a node that is in it what the target says;
	 * its jobs go on. */
	struct bu_cluster_op *(*relabel)(struct bu_loop *loop,
					 const struct bu_cluster_target *target,
					 bu_cluster_fn fn, void *arg);
	/* Says, by target->words and once, which nodes have jobs now: names and sets
	 * of names with commas; "" = none. Of the target only conf and words count. */
	struct bu_cluster_op *(*busy)(struct bu_loop *loop,
				      const struct bu_cluster_target *target,
				      bu_cluster_fn fn, void *arg);
	/* fn is not called any more. */
	void (*cancel)(struct bu_cluster_op *op);
};

/* By the profile's name of it; NULL when there is no such driver. */
const struct bu_cluster_driver *bu_cluster_driver(const char *name);

#endif
