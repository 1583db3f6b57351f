/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes through its API server, as the service account that `bringup cluster
 * manifest` makes. Nodes, pods, certificate requests and,
 * where there are such, requests for repairs are watched; each operation
 * asks for its own node. Invariant: bringup is no administrator there: it approves no
 * certificate but those of nodes that join through it, and reads no Secret.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "provisioner/cluster/drivers.h"
#include "provisioner/cluster/kubernetes/kube.h"

/* "https://10.77.0.1:6443 credential:kube-token /etc/bringup/secrets/edge-ca.pem" */
static void
kube_handle(const struct bu_cluster_site *site, char ret[BU_CLUSTER_HANDLE_SIZE])
{
	bu_autofree char *text =
		bu_xasprintf("https://%s %s %s", site->controller,
			     site->token ? site->token : "", site->ca ? site->ca : "");

	bu_text_copy(ret, BU_CLUSTER_HANDLE_SIZE, text);
}

/* The word before the next blank; owned. */
static char *
word(const char **text)
{
	const char *end = strchrnul(*text, ' ');
	char *ret = bu_xstrndup(*text, (size_t)(end - *text));

	*text = *end ? end + 1 : end;
	return ret;
}

static void
on_told(void *arg)
{
	bu_kube_tell(arg);
}

/* Who could not ask for want of the token asks again by itself. */
static void
on_secret(void *arg)
{
	(void)arg;
}

static struct bu_cluster *
kube_open(struct bu_loop *loop, const char *handle, bu_cluster_seen_fn seen, void *arg)
{
	struct bu_cluster *cluster = bu_xcalloc(1, sizeof(*cluster));

	cluster->loop = loop;
	cluster->url = word(&handle);
	cluster->token = word(&handle);
	cluster->ca = bu_xstrdup(handle);
	cluster->seen = seen;
	cluster->arg = arg;
	cluster->http = bu_http_async_create(loop);
	cluster->secrets = bu_secrets_create(loop, on_secret, cluster);
	cluster->tell = bu_timer_create(loop, on_told, cluster);
	bu_kube_cache_init(&cluster->cache);
	bu_kube_requests_init(cluster);
	cluster->nodes = bu_kube_watch_nodes;
	cluster->pods = bu_kube_watch_pods;
	cluster->csrs = bu_kube_watch_requests;
	bu_kube_watch_begin(&cluster->nodes, cluster);
	bu_kube_watch_begin(&cluster->pods, cluster);
	bu_kube_watch_begin(&cluster->csrs, cluster);
	bu_kube_repairs_init(cluster);
	return cluster;
}

static void
kube_close(struct bu_cluster *cluster)
{
	if (!cluster)
		return;
	while (cluster->ops)
		bu_kube_op_free(cluster->ops);
	bu_kube_watch_end(&cluster->nodes);
	bu_kube_watch_end(&cluster->pods);
	bu_kube_watch_end(&cluster->csrs);
	bu_kube_requests_fini(cluster);
	bu_kube_repairs_fini(cluster);
	bu_kube_cache_fini(&cluster->cache);
	bu_secrets_destroy(cluster->secrets);
	bu_timer_destroy(cluster->tell);
	bu_http_async_destroy(cluster->http);
	free(cluster->url);
	free(cluster->token);
	free(cluster->ca);
	free(cluster);
}

static void
kube_observe(struct bu_cluster *cluster)
{
	cluster->asked = 1;
	bu_timer_set(cluster->tell, 0);
}

static struct bu_cluster_op *
kube_issue(struct bu_cluster *cluster, const struct bu_cluster_target *target,
	   bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = bu_kube_op_start(cluster, target, fn, arg);

	op->begin = bu_kube_issue;
	return op;
}

static struct bu_cluster_op *
kube_admit(struct bu_cluster *cluster, const struct bu_cluster_target *target,
	   bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = bu_kube_op_start(cluster, target, fn, arg);

	op->decide = bu_kube_decide_admit;
	return op;
}

static struct bu_cluster_op *
kube_leave(struct bu_cluster *cluster, const struct bu_cluster_target *target,
	   bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = bu_kube_op_start(cluster, target, fn, arg);

	op->decide = bu_kube_decide_leave;
	return op;
}

static struct bu_cluster_op *
kube_gate(struct bu_cluster *cluster, const struct bu_cluster_target *target,
	  bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = bu_kube_op_start(cluster, target, fn, arg);

	op->decide = bu_kube_decide_gate;
	return op;
}

static struct bu_cluster_op *
kube_relabel(struct bu_cluster *cluster, const struct bu_cluster_target *target,
	     bu_cluster_fn fn, void *arg)
{
	struct bu_cluster_op *op = bu_kube_op_start(cluster, target, fn, arg);

	op->decide = bu_kube_decide_relabel;
	return op;
}

/* The client's secret is made for each node. */
static const char *
kube_secret(const struct bu_cluster_site *site)
{
	(void)site;
	return NULL;
}

const struct bu_cluster_driver bu_cluster_kubernetes = {
	.name = "kubernetes",
	.needs = "kubelet",
	.handle = kube_handle,
	.secret = kube_secret,
	.client = bu_kube_client,
	.open = kube_open,
	.close = kube_close,
	.observe = kube_observe,
	.issue = kube_issue,
	.admit = kube_admit,
	.leave = kube_leave,
	.gate = kube_gate,
	.relabel = kube_relabel,
	.repairs = bu_kube_repairs_tell,
	.answer = bu_kube_repairs_answer,
	.fault = bu_kube_fault,
	.cancel = bu_kube_op_free,
};
