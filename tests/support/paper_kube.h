/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An API server of paper: nodes, pods, certificate requests and Secrets in memory, with
 * versions and watches, on a port of loopback in the test's own loop. Knows as much of
 * patches and of field managers as the driver of Kubernetes needs.
 */
#ifndef BU_TESTS_SUPPORT_PAPER_KUBE_H
#define BU_TESTS_SUPPORT_PAPER_KUBE_H

#include <jansson.h>

#include "base/loop.h"

enum paper_kind {
	PAPER_NODES,
	PAPER_PODS,
	PAPER_CSRS,
	PAPER_SECRETS,
	PAPER_REPAIRS,
	PAPER_KINDS
};

struct paper_kube {
	struct bu_loop *loop;
	int fd, port;
	struct bu_watch *watch;
	struct paper_conn *conns;
	json_t *objects[PAPER_KINDS]; /* by name */
	int64_t version;
	int silent;      /* answers 503 to all, and ends its watches */
	int budget;      /* no pod may be evicted */
	int forgets;     /* 1: the next watch is answered with 410 */
	int repairs;     /* the kind ExternalRemediationRequest is known */
	int discoveries; /* how often kinds were asked for */
	int raced;       /* so many patches of taints find others than they tested */
	char holder[32]; /* another manager, who has the label `held`; "" = none */
	char held[64];
	int lists[PAPER_KINDS], deletes;
	char last_approval[24]; /* "Approved": what was put last */
};

struct paper_kube *paper_kube_start(struct bu_loop *loop);
void paper_kube_stop(struct paper_kube *kube);
/* Takes the object; watches hear of it. */
void paper_kube_put(struct paper_kube *kube, enum paper_kind kind, json_t *object);
void paper_kube_remove(struct paper_kube *kube, enum paper_kind kind, const char *name);
json_t *paper_kube_get(const struct paper_kube *kube, enum paper_kind kind,
		       const char *name);
/* Ends all watches, as a server that restarts. */
void paper_kube_hang_up(struct paper_kube *kube);

#endif
