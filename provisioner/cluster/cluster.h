/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training clusters: one vtable per driver. A cluster is opened once and asked about
 * all of its nodes at a time; operations on single nodes live on those answers, and
 * what they do goes out in batches. An operation is started, reports once, and can be
 * cancelled; all of them may be repeated after a crash (they observe first). Nobody but
 * a driver knows what its cluster is called, where it is or how a node enters it.
 */
#ifndef BU_CLUSTER_CLUSTER_H
#define BU_CLUSTER_CLUSTER_H

#include "base/err.h"
#include "base/loop.h"
#include "model/event.h"
#include "model/fact.h"
#include "model/work.h"

enum {
	BU_CLUSTER_HANDLE_SIZE = 256,
	BU_CLUSTER_FILES_MAX = 8,
	BU_CLUSTER_SERVICES_MAX = 4,
};

/* A file of a node's client, in memory: it does not outlive the boot that was
 * certified, and the client does not start without it. */
#define BU_CLUSTER_CERTIFIED "/run/bringup/certified"

/* A cluster as the profile describes it. Texts are borrowed; NULL = not given. */
struct bu_cluster_site {
	const char *name, *driver;
	const char *controller;  /* "10.77.0.1:6817" */
	const char *conf;        /* path of the driver's own configuration file */
	const char *key, *token; /* references of secrets, as base/secret.h has it */
	const char *ca;          /* path of a certificate */
};

/* A node as its cluster is to know it. Texts are borrowed; NULL = none. */
struct bu_cluster_member {
	const char *name;
	const char *address;         /* IPv4, in its boot network */
	const char *features, *gres; /* "rxe,lab", "rdma:rxe:1" */
	const char *labels, *taints; /* "tier=gold", "gpu=true:NoSchedule" */
};

/* What makes a node's client run: files of it and the services to be started then, in
 * this order. */
struct bu_cluster_client {
	struct bu_work_file files[BU_CLUSTER_FILES_MAX]; /* their texts are owned */
	size_t files_count;
	const char *services[BU_CLUSTER_SERVICES_MAX]; /* borrowed from the driver */
	size_t services_count;
};
/* Wipes them: one may be a key. */
void bu_cluster_client_fini(struct bu_cluster_client *client);

/* A job of the site, run on a joining node before anybody else's. */
struct bu_cluster_acceptance {
	const char *command; /* for sh; the last number that it prints is its figure */
	const char *image; /* where the cluster runs jobs in containers; NULL = none */
	double least;      /* of the figure; 0 = its exit status alone counts */
	int64_t limit_ms;  /* from its first line to its last */
	/* Of this join: after a crash the same, so that no second job is begun. */
	const char *once;
};

/* One node, as the cluster says. Texts are borrowed until the callback returns. */
struct bu_cluster_row {
	char name[BU_NAME_MAX];
	struct bu_cluster_fact fact; /* at_ms 0 */
	int invalid;                 /* it has less than its configuration says */
	int drains;                  /* of Slurm: it is drained, by whomever */
	int maint;                   /* of Slurm: in a reservation for maintenance */
	const char *features;        /* not ended by NUL */
	size_t features_size;
};

struct bu_cluster;
struct bu_cluster_op;

/* An answer: all nodes of the cluster, sorted by name; or err, and nothing is known. */
typedef void (*bu_cluster_seen_fn)(const struct bu_cluster_row *rows, size_t count,
				   const struct bu_err *err, void *arg);

struct bu_cluster_target {
	/* name: as it is known there. What else the cluster is to know of the node
	 * counts for issue, admit and relabel; Slurm's admit goes by what the client
	 * has told. */
	struct bu_cluster_member member;
	/* The node's certificate, by its id; NULL = none. Counts for admit. */
	const char *proof;
	int64_t deadline_ms; /* 0 = none */
	/* The reason of an administrator's drain that is in the log; NULL = none.
	 * Admit: it is drained with this reason, and not resumed. Leave: when the
	 * cluster has another one it ends early, with done.drained: a node that leaves
	 * for good may come back all the same. */
	const char *drained;
	/* Of admit: the node takes work once this job has ended well on it, alone or
	 * with others that join; BU_ERR_VERIFY when it has not, and the node gets no
	 * work. NULL = none. Not of a node that somebody else keeps from work. */
	const struct bu_cluster_acceptance *acceptance;
	/* What there is to tell while it lasts, with fn's arg: "draining; jobs 12
	 * (alice)". May be NULL. */
	void (*words)(const char *text, void *arg);
};

struct bu_cluster_done {
	const char *detail; /* what is worth keeping in the log; "" = nothing */
	/* It has not left: first this reason of an administrator's drain must be in
	 * the log, then it is asked again. "" = it is done. */
	const char *drained;
	/* Of an issue that has gone well: what the node's client gets as its secret;
	 * borrowed until the callback returns. */
	const void *secret;
	size_t secret_size;
};

/* err is NULL when it is done. Never called before issue, admit, leave, gate or
 * relabel has returned. */
typedef void (*bu_cluster_fn)(const struct bu_err *err,
			      const struct bu_cluster_done *done, void *arg);

/* Somebody in the cluster asks that a node's machine be repaired: the node is released
 * for it, and there is no answer yet. Texts are borrowed until the callback returns. */
struct bu_cluster_repair {
	const char *id; /* of the request, in the cluster */
	const char *node;
	int64_t created_ms;  /* Unix time, by the cluster's clock */
	int64_t accepted_ms; /* Unix time; 0 = it was not accepted */
};
typedef void (*bu_cluster_repair_fn)(const struct bu_cluster_repair *repair, void *arg);

enum bu_cluster_verdict {
	BU_CLUSTER_ACCEPTED, /* the repair begins once this is read back */
	BU_CLUSTER_REPAIRED,
	BU_CLUSTER_REFUSED,
};

struct bu_cluster_driver {
	const char *name;
	/* The client that an image must hold, by its name in the manifest ("slurmd").
	 */
	const char *needs;
	/* What a join keeps: enough to open the cluster when no profile has it any
	 * more. */
	void (*handle)(const struct bu_cluster_site *site,
		       char ret[BU_CLUSTER_HANDLE_SIZE]);
	/* The reference of the secret that the client gets; NULL = it gets none, or
	 * one that is made for it. */
	const char *(*secret)(const struct bu_cluster_site *site);
	/* Pure: the same input gives the same bytes. */
	bu_must int (*client)(const struct bu_cluster_site *site,
			      const struct bu_cluster_member *member,
			      const void *secret, size_t secret_size,
			      struct bu_cluster_client *ret, struct bu_err *err);
	struct bu_cluster *(*open)(struct bu_loop *loop, const char *handle,
				   bu_cluster_seen_fn seen, void *arg);
	/* Operations that are under way end without a word. */
	void (*close)(struct bu_cluster *cluster);
	/* Asks for all of its nodes, unless it is asked already. */
	void (*observe)(struct bu_cluster *cluster);
	/* Before the node's client is made: makes its secret, which serves for this
	 * join and for minutes; an earlier one serves no more. NULL = none is made. */
	struct bu_cluster_op *(*issue)(struct bu_cluster *cluster,
				       const struct bu_cluster_target *target,
				       bu_cluster_fn fn, void *arg);
	/* The node's client is running: lets it take work, done when it does, or when
	 * somebody else keeps it from that. */
	struct bu_cluster_op *(*admit)(struct bu_cluster *cluster,
				       const struct bu_cluster_target *target,
				       bu_cluster_fn fn, void *arg);
	/* Lets the node's jobs end and takes it out; done when it is unknown there. */
	struct bu_cluster_op *(*leave)(struct bu_cluster *cluster,
				       const struct bu_cluster_target *target,
				       bu_cluster_fn fn, void *arg);
	/* Before the node's machine restarts: lets it get no new work until admit; its
	 * jobs go on, and a drain of somebody else's stays. Done when it gets none, or
	 * is unknown there. */
	struct bu_cluster_op *(*gate)(struct bu_cluster *cluster,
				      const struct bu_cluster_target *target,
				      bu_cluster_fn fn, void *arg);
	/* Makes what the cluster knows of a node that is in it what the target says;
	 * its jobs go on. */
	struct bu_cluster_op *(*relabel)(struct bu_cluster *cluster,
					 const struct bu_cluster_target *target,
					 bu_cluster_fn fn, void *arg);
	/* Calls fn for each request for a repair. NULL = such a cluster has none. */
	void (*repairs)(struct bu_cluster *cluster, bu_cluster_repair_fn fn, void *arg);
	/* Answers one. Nobody hears of the end: what is not answered is told again.
	 * code: "HeldByPerson". NULL as repairs is. */
	void (*answer)(struct bu_cluster *cluster, const char *id,
		       enum bu_cluster_verdict verdict, const char *code,
		       const char *text);
	/* Tells the cluster's own watchers what is wrong with a node that is in it;
	 * text NULL = nothing is. Nobody hears of the end; said again, it is said once.
	 * NULL = the cluster has no place for it. */
	void (*fault)(struct bu_cluster *cluster, const char *node, const char *code,
		      const char *text);
	/* fn is not called any more. */
	void (*cancel)(struct bu_cluster_op *op);
};

/* By the profile's name of it; NULL when there is no such driver. */
const struct bu_cluster_driver *bu_cluster_driver(const char *name);
/* All of them; ends with NULL. */
extern const struct bu_cluster_driver *const bu_cluster_drivers[];

/* For drivers: a file of the client, with a copy of what is in it. owner: its user;
 * NULL = root. */
void bu_cluster_client_add(struct bu_cluster_client *client, const char *path, int mode,
			   const char *owner, const void *content, size_t size);

#endif
