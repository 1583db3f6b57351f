/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the Kubernetes driver. */
#ifndef BU_CLUSTER_KUBERNETES_KUBE_H
#define BU_CLUSTER_KUBERNETES_KUBE_H

#include <arpa/inet.h>
#include <jansson.h>

#include "base/crypto.h"
#include "base/http_async.h"
#include "base/secrets.h"
#include "provisioner/cluster/cluster.h"

#define BU_KUBE_GATE "readiness.k8s.io/bringup-validated"
#define BU_KUBE_CONDITION "bringup.dev/Validated"
#define BU_KUBE_FAULT "bringup.dev/Fault"
#define BU_KUBE_GROUP "system:bootstrappers:bringup"
/* A kubelet may set none of these labels on its own node. */
#define BU_KUBE_VALIDATED "bringup.node-restriction.kubernetes.io/validated"
#define BU_KUBE_ADDRESS "bringup.node-restriction.kubernetes.io/address"
/* Annotations: the profile's taints that are on the node; bringup has cordoned it to
 * leave; the reason of an administrator's cordon that bringup made again. */
#define BU_KUBE_TAINTS "bringup.dev/taints"
#define BU_KUBE_LEAVES "bringup.dev/leaves"
#define BU_KUBE_DRAINED "bringup.dev/drained"

#define BU_KUBE_MERGE "application/strategic-merge-patch+json"
#define BU_KUBE_PATCH "application/json-patch+json"
#define BU_KUBE_REPLACE "application/merge-patch+json"
#define BU_KUBE_APPLY "application/apply-patch+yaml"

enum {
	BU_KUBE_ID_SIZE = 7, /* of a token, with NUL */
	BU_KUBE_LOOK_MS = 500,
	BU_KUBE_LOOK_MAX_MS = 8000,
	BU_KUBE_TOKEN_S = 900, /* a bootstrap token lives so long */
};

/* --- api.c: one request --- */

struct bu_kube_request {
	const char *method;
	const char *path;   /* with its query */
	const char *type;   /* of the body; NULL = plain JSON */
	const char *accept; /* NULL = plain JSON */
	const json_t *body; /* NULL = none */
	void (*part)(const char *data, size_t size, void *arg); /* of a watch */
	int64_t timeout_ms;                                     /* 0 = the usual */
};

/* NULL: err says why it was not sent. BU_ERR_BUSY: the token is not there yet, or too
 * many requests are under way. */
struct bu_http_exchange *bu_kube_send(struct bu_cluster *cluster,
				      const struct bu_kube_request *request,
				      bu_http_answer_fn fn, void *arg,
				      struct bu_err *err);

struct bu_kube_answer {
	long status;       /* 0 = none came */
	json_t *body;      /* NULL = none, or no JSON */
	struct bu_err err; /* none came, or the status is 400 or more */
	int64_t after_ms;  /* it wants to be left alone for so long; 0 = it says none */
};
/* For the callback of each request: it is not under way any more. */
void bu_kube_read(struct bu_cluster *cluster, const struct bu_http_answer *answer,
		  const struct bu_err *err, struct bu_kube_answer *ret);
void bu_kube_answer_fini(struct bu_kube_answer *answer);
/* The request is aborted; NULL = there is none. */
void bu_kube_drop(struct bu_cluster *cluster, struct bu_http_exchange **exchange);
/* The value at the end of these keys; NULL. Borrowed. The keys end with NULL. */
json_t *bu_kube_at(const json_t *object, ...) __attribute__((sentinel));
const char *bu_kube_name(const json_t *object);
/* The condition of this type of its status; NULL. Borrowed. */
const json_t *bu_kube_condition(const json_t *object, const char *type);
/* "2026-11-30T06:00:00Z", of Unix time; of so many s from now. */
void bu_kube_when_ms(int64_t at_ms, char ret[32]);
void bu_kube_when(const struct bu_cluster *cluster, int64_t in_s, char ret[32]);

/* --- watch.c: all objects of a kind, as they change --- */

struct bu_kube_watch {
	struct bu_cluster *cluster;
	const char *what; /* "nodes" */
	const char *path; /* with its query up to '?' or '&' */
	/* One object is there, or has another content; gone: it is not there. */
	void (*apply)(struct bu_cluster *cluster, json_t *object, int gone);
	/* A list begins: what it does not name until its end is gone. */
	void (*mark)(struct bu_cluster *cluster);
	void (*sweep)(struct bu_cluster *cluster);
	struct bu_http_exchange *exchange;
	struct bu_timer *again, *lines;
	char *version; /* to go on from; NULL = a list is needed */
	char *next;    /* page of the list; NULL = none follows */
	char *buffer;
	size_t size, cap;
	int listing, synced;
	int64_t pause_ms;
	struct bu_err err; /* why it does not know what is now */
};
void bu_kube_watch_begin(struct bu_kube_watch *watch, struct bu_cluster *cluster);
/* Lists all anew; not from its own callbacks. */
void bu_kube_watch_renew(struct bu_kube_watch *watch);
void bu_kube_watch_end(struct bu_kube_watch *watch);

/* --- cache.c: what the watches have told --- */

struct bu_kube_node {
	struct bu_cluster_row row;     /* without jobs */
	int ready;                     /* and not tainted as unreachable or new */
	int validated;                 /* it has joined through bringup */
	char address[INET_ADDRSTRLEN]; /* as it had joined; "" */
	char fault[256];               /* the message of BU_KUBE_FAULT; "" = none */
	int marked;
};

struct bu_kube_cache {
	struct bu_kube_node *nodes; /* sorted by name */
	size_t count, cap;
	json_t *pods; /* {"namespace/name": node}, those that are work */
	json_t *jobs; /* {node: how many} */
	json_t *old_pods;
};
void bu_kube_cache_init(struct bu_kube_cache *cache);
void bu_kube_cache_fini(struct bu_kube_cache *cache);
extern const struct bu_kube_watch bu_kube_watch_nodes, bu_kube_watch_pods;
const struct bu_kube_node *bu_kube_find(const struct bu_cluster *cluster,
					const char *name);
/* Answers `observe` when it can. */
void bu_kube_tell(struct bu_cluster *cluster);
/* 1 = a pod that ends when its node leaves, and not before. */
int bu_kube_pod_is_work(const json_t *pod);
/* What a node is, from its object; jobs is not known here. */
void bu_kube_fact(const json_t *node, struct bu_cluster_fact *ret);
int bu_kube_is_ready(const json_t *node);
/* Who last wrote the field of the spec ("f:unschedulable"). Borrowed; NULL. */
const char *bu_kube_manager(const json_t *node, const char *field);

/* --- requests.c: certificates for kubelets --- */

/* A node that joins now: its token may ask for its certificate. */
struct bu_kube_pass {
	struct bu_kube_pass *next;
	char node[BU_NAME_MAX], id[BU_KUBE_ID_SIZE];
	char address[INET_ADDRSTRLEN];
	char key[BU_DIGEST_SIZE]; /* of its approved request; "" = none was */
	int64_t until_ms;
};
struct bu_kube_requests {
	struct bu_kube_pass *passes;
	json_t *pending; /* {name: object} without a verdict */
	json_t *of;      /* {name: node} of all that name one of ours */
	json_t *old;
	json_t *said; /* {name: true}: the log has it that it is left alone */
	struct bu_http_exchange *exchange;
	struct bu_timer *again;
	char current[256]; /* the one under way */
};
extern const struct bu_kube_watch bu_kube_watch_requests;
void bu_kube_requests_init(struct bu_cluster *cluster);
void bu_kube_requests_fini(struct bu_cluster *cluster);
/* Judges those that have no verdict. */
void bu_kube_requests_look(struct bu_cluster *cluster);
void bu_kube_pass_give(struct bu_cluster *cluster, const char *node,
		       const char *address);
void bu_kube_pass_take(struct bu_cluster *cluster, const char *node);

/* --- repairs.c: requests to repair a node, where the cluster knows such a kind --- */

struct bu_kube_repairs {
	struct bu_kube_watch watch;
	char *base;   /* path of all; NULL = the cluster has no such kind */
	char *path;   /* of the watch */
	json_t *open; /* {id: {"path","node","created_ms","accepted_ms"}} */
	json_t *old;
	int missed;             /* there were more than are kept */
	struct bu_timer *again; /* of the discovery */
	int64_t rest_ms;        /* monotonic: no answer before; 0 = one may go */
	struct bu_http_exchange *exchange;
	json_t *answer; /* {"id","path","type","status","reason","message"}; NULL */
};
void bu_kube_repairs_init(struct bu_cluster *cluster);
void bu_kube_repairs_fini(struct bu_cluster *cluster);
void bu_kube_repairs_tell(struct bu_cluster *cluster, bu_cluster_repair_fn fn,
			  void *arg);
void bu_kube_repairs_answer(struct bu_cluster *cluster, const char *id,
			    enum bu_cluster_verdict verdict, const char *code,
			    const char *text);

/* --- token.c --- */

/* Always the same one for a node, so that a repetition replaces it. */
void bu_kube_token_id(const char *node, char ret[BU_KUBE_ID_SIZE]);
/* The Secret of the node's token, and the secret of its client, owned. New reference.
 */
json_t *bu_kube_token_make(struct bu_cluster *cluster, const char *node,
			   char **ret_secret, struct bu_err *err);

/* --- spec.c: patches of a node --- */

/* JSON patch that leads to this spec; NULL = it is so. New reference. taints: of the
 * profile; NULL = they stay. gate: -1 = it stays. */
struct bu_kube_spec {
	const char *taints;
	int gate;
	int cordon;          /* -1 = it stays */
	const char *drained; /* with cordon 1: whose reason; NULL = it is ours */
};
json_t *bu_kube_spec_patch(const json_t *node, const struct bu_kube_spec *spec);
/* For server-side apply: labels and annotations of bringup. New reference. */
json_t *bu_kube_labels(const json_t *node, const struct bu_cluster_op *op);

/* --- ops.c --- */

/* The acceptance of a node (accept.c). */
struct bu_kube_trial {
	char *command, *image, *once; /* command NULL = none is wanted */
	double least;
	int64_t limit_ms, until_ms; /* 0 = not begun */
	int passed, failed, swept;
};

struct bu_cluster_op {
	struct bu_cluster_op *next;
	struct bu_cluster *cluster;
	char *node, *labels, *taints, *address, *proof, *known; /* "" = none */
	int64_t until_ms;                                       /* 0 = no end */
	int64_t look_ms;
	struct bu_timer *timer;
	struct bu_http_exchange *exchange;
	void (*begin)(struct bu_cluster_op *op);
	void (*decide)(struct bu_cluster_op *op, json_t *node); /* NULL: no such node */
	void (*acted)(struct bu_cluster_op *op, struct bu_kube_answer *answer);
	int labelled, tidied, replaced;
	struct bu_kube_trial trial;
	int absent;         /* its kubelet is not in touch */
	json_t *pods;       /* still to be evicted in this round */
	char *blocked;      /* words on the pod that a budget keeps; NULL = none */
	int64_t blocked_ms; /* wall clock: since when a budget keeps a pod */
	bu_cluster_fn fn;
	void (*words)(const char *text, void *arg);
	void *arg;
	char last[96];
	char refusal[240];
	char detail[240];
	char drained[160];
	char *secret;       /* of an issue */
	char *fault, *code; /* of a fault; "" = nothing is wrong */
};
struct bu_cluster_op *bu_kube_op_start(struct bu_cluster *cluster,
				       const struct bu_cluster_target *target,
				       bu_cluster_fn fn, void *arg);
void bu_kube_op_free(struct bu_cluster_op *op);
void bu_kube_op_finish(struct bu_cluster_op *op, const struct bu_err *err);
void bu_kube_op_later(struct bu_cluster_op *op);
void bu_kube_op_slower(struct bu_cluster_op *op);
/* An act is refused: it may pass. */
void bu_kube_op_refused(struct bu_cluster_op *op, const struct bu_kube_answer *answer);
/* The next look, at once. */
void bu_kube_op_look(struct bu_cluster_op *op);
/* Sends it; its answer goes to `acted`. */
void bu_kube_op_act(struct bu_cluster_op *op, const struct bu_kube_request *request,
		    void (*acted)(struct bu_cluster_op *op,
				  struct bu_kube_answer *answer));
void bu_kube_op_say(struct bu_cluster_op *op, const char *text);

/* Sends the patch that leads to it; 0 = it is so. */
int bu_kube_op_patch(struct bu_cluster_op *op, const json_t *node,
		     const struct bu_kube_spec *spec);
/* Makes its condition say whether it has joined with its certificate; 0 = it says so.
 */
int bu_kube_op_tell(struct bu_cluster_op *op, const json_t *node, int valid);
/* Deletes the node's token; then looks again, with `tidied`. */
void bu_kube_op_tidy(struct bu_cluster_op *op);

/* accept.c. The next step of its acceptance; 0 = there is none, or it has passed. */
int bu_kube_trial(struct bu_cluster_op *op);
/* Deletes the pod of one that has passed; 0 = it is done. */
int bu_kube_trial_sweep(struct bu_cluster_op *op);

/* admit.c, gate.c, leave.c, issue.c */
void bu_kube_decide_admit(struct bu_cluster_op *op, json_t *node);
void bu_kube_decide_relabel(struct bu_cluster_op *op, json_t *node);
void bu_kube_decide_gate(struct bu_cluster_op *op, json_t *node);
void bu_kube_decide_leave(struct bu_cluster_op *op, json_t *node);
void bu_kube_issue(struct bu_cluster_op *op);
void bu_kube_fault(struct bu_cluster *cluster, const char *node, const char *code,
		   const char *text);

struct bu_cluster {
	struct bu_loop *loop;
	char *url, *token, *ca; /* ca: path */
	struct bu_http_async *http;
	struct bu_secrets *secrets;
	bu_cluster_seen_fn seen;
	void *arg;
	struct bu_cluster_op *ops;
	int asked; /* observe */
	struct bu_timer *tell;
	int underway; /* requests, but for watches */
	struct bu_kube_watch nodes, pods, csrs;
	struct bu_kube_cache cache;
	struct bu_kube_requests requests;
	struct bu_kube_repairs repairs;
};

static inline int64_t
bu_kube_now(const struct bu_cluster *cluster)
{
	return bu_loop_now_ms(cluster->loop);
}

/* client.c; as of the vtable */
bu_must int bu_kube_client(const struct bu_cluster_site *site,
			   const struct bu_cluster_member *member, const void *secret,
			   size_t secret_size, struct bu_cluster_client *ret,
			   struct bu_err *err);

#endif
