/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificate requests of kubelets, and bringup's verdict on each. Called by watch.c
 * through its vtable and by the operations. Invariants: a first certificate goes to who
 * shows the token of a node that joins now, and in the name of that very node; a later
 * one to who has the former, and only of nodes that have joined through bringup. Any
 * other request of these nodes is denied. A request of somebody else's is left alone:
 * others may approve it.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "provisioner/cluster/kubernetes/kube.h"

#define CLIENT "kubernetes.io/kube-apiserver-client-kubelet"
#define SERVING "kubernetes.io/kubelet-serving"
#define PATH "/apis/certificates.k8s.io/v1/certificatesigningrequests"
#define NODE_USER "system:node:"
#define TOKEN_USER "system:bootstrap:"

enum { AGAIN_MS = 2000, CSR_MAX = 32 * 1024 };

enum verdict { LEAVE_ALONE, APPROVE, DENY };

/* What is looked at of one of them. */
struct looked {
	const char *user, *signer;
	const json_t *spec;
	int first; /* it comes with a token, not with a certificate */
	struct bu_csr csr;
	struct bu_kube_pass *pass; /* NULL = its node does not join now */
	const char *why;
};

/* --- passes --- */

static struct bu_kube_pass **
pass_link(struct bu_cluster *cluster, const char *node)
{
	struct bu_kube_pass **link = &cluster->requests.passes;

	while (*link && strcmp((*link)->node, node) != 0)
		link = &(*link)->next;
	return link;
}

void
bu_kube_pass_take(struct bu_cluster *cluster, const char *node)
{
	struct bu_kube_pass **link = pass_link(cluster, node), *pass = *link;

	if (!pass)
		return;
	*link = pass->next;
	free(pass);
}

void
bu_kube_pass_give(struct bu_cluster *cluster, const char *node, const char *address)
{
	struct bu_kube_pass *pass = bu_xcalloc(1, sizeof(*pass));

	bu_kube_pass_take(cluster, node);
	BU_TEXT_COPY(pass->node, node);
	BU_TEXT_COPY(pass->address, address);
	bu_kube_token_id(node, pass->id);
	pass->until_ms = bu_kube_now(cluster) + BU_KUBE_TOKEN_S * 1000;
	pass->next = cluster->requests.passes;
	cluster->requests.passes = pass;
	bu_kube_requests_look(cluster);
}

/* Of the node, or of the token; NULL = it does not join now. */
static struct bu_kube_pass *
pass_of(const struct bu_cluster *cluster, const char *node, const char *id)
{
	struct bu_kube_pass *pass = cluster->requests.passes;

	while (pass && (pass->until_ms < bu_kube_now(cluster) ||
			(node && strcmp(pass->node, node) != 0) ||
			(id && strcmp(pass->id, id) != 0)))
		pass = pass->next;
	return pass;
}

/* --- one request --- */

static int
has_text(const json_t *array, const char *text)
{
	const json_t *one;
	size_t i;

	json_array_foreach (array, i, one)
		if (json_is_string(one) && strcmp(json_string_value(one), text) == 0)
			return 1;
	return 0;
}

/* Kubelets with an ECDSA key do not ask for key encipherment. */
static int
usages_are(const json_t *spec, const char *of)
{
	const json_t *usages = json_object_get(spec, "usages");
	size_t more = has_text(usages, "key encipherment") ? 1 : 0;

	return has_text(usages, "digital signature") && has_text(usages, of) &&
	       json_array_size(usages) == 2 + more;
}

static int
groups_have(const json_t *spec, const char *group)
{
	return has_text(json_object_get(spec, "groups"), group);
}

/* One block alone: of several, the signer might take another one than is read here. */
static int
is_one_block(const char *pem)
{
	static const char begin[] = "-----BEGIN ";
	static const char ours[] = "-----BEGIN CERTIFICATE REQUEST-----\n";

	return strncmp(pem, ours, strlen(ours)) == 0 &&
	       !strstr(pem + strlen(begin), begin);
}

static int
read_request(const json_t *spec, struct bu_csr *ret)
{
	const char *text = bu_json_str(spec, "request", "");
	bu_autofree char *pem = bu_xcalloc(1, CSR_MAX + 1);
	size_t size;

	return bu_base64_decode(text, pem, CSR_MAX, &size) == 0 &&
			       strlen(pem) == size && is_one_block(pem)
		       ? bu_csr_read(pem, ret, NULL)
		       : -1;
}

/* The node that the request names; NULL. */
static const char *
named(const struct bu_csr *csr)
{
	size_t head = strlen(NODE_USER);

	return strncmp(csr->common_name, NODE_USER, head) == 0 ? csr->common_name + head
							       : NULL;
}

/* Only names and addresses that bringup has given the node. */
static int
names_are(const struct bu_csr *csr, const char *node, const char *address)
{
	bu_autofree char *dns = bu_xasprintf("DNS:%s", node);
	bu_autofree char *ip = bu_xasprintf("IP:%s", address);

	for (size_t i = 0; i < csr->names_count; i++)
		if (strcmp(csr->names[i], dns) != 0 &&
		    (!*address || strcmp(csr->names[i], ip) != 0))
			return 0;
	return csr->names_count > 0;
}

static enum verdict
deny(struct looked *looked, const char *why)
{
	looked->why = why;
	return DENY;
}

static enum verdict
leave_alone(struct looked *looked, const char *why)
{
	looked->why = why;
	return LEAVE_ALONE;
}

/* A kubelet asks for no more than this, whoever it is. */
static const char *
fault_of(const struct looked *looked, int serves)
{
	if (looked->csr.other || strcmp(looked->csr.organization, "system:nodes") != 0)
		return "its subject is not that of a kubelet";
	if (!usages_are(looked->spec, serves ? "server auth" : "client auth"))
		return "its usages are not those of a kubelet";
	if (looked->csr.weak)
		return "its key is weak; RSA with 2048 bits or ECDSA is needed";
	if (!serves && looked->csr.names_count)
		return "the certificate of a client has no other names";
	return NULL;
}

/* A kubelet that starts anew asks again with the key that it has. */
static enum verdict
judge_first(struct looked *looked)
{
	const struct bu_kube_pass *pass = looked->pass;
	const char *node = named(&looked->csr);

	if (!groups_have(looked->spec, BU_KUBE_GROUP))
		return deny(looked, "its token is not in the group " BU_KUBE_GROUP);
	if (!node || strcmp(node, pass->node) != 0)
		return deny(looked, "its token is of another node");
	if (pass->key[0] && strcmp(pass->key, looked->csr.key) != 0)
		return deny(looked, "its token was used with another key before; "
				    "bringup node why says whether the node has "
				    "joined");
	looked->why = "the node joins now, and shows its token";
	return APPROVE;
}

static enum verdict
judge_renewal(const char *node, const char *address, int serves, struct looked *looked)
{
	if (!groups_have(looked->spec, "system:nodes"))
		return deny(looked, "it does not come from a node");
	if (strcmp(looked->csr.common_name, looked->user) != 0)
		return deny(looked, "it names another node than the one it comes from");
	if (serves && !names_are(&looked->csr, node, address))
		return deny(looked, "it has a name or an address that is not the "
				    "node's");
	looked->why = "the node has shown its certificate";
	return APPROVE;
}

/* Of a node of bringup's: it is approved or denied, and nobody else decides. */
static enum verdict
judge_ours(const char *address, struct looked *ret)
{
	int serves = strcmp(ret->signer, SERVING) == 0;
	const char *fault;

	if (ret->first && serves)
		return deny(ret, "a token gets no certificate of a server");
	if (read_request(ret->spec, &ret->csr) != 0)
		return deny(ret, "it cannot be read");
	fault = fault_of(ret, serves);
	if (fault)
		return deny(ret, fault);
	return ret->first ? judge_first(ret)
			  : judge_renewal(ret->user + strlen(NODE_USER), address,
					  serves, ret);
}

static enum verdict
judge(const struct bu_cluster *cluster, const json_t *object, struct looked *ret)
{
	const char *spec = "spec", *who;
	const struct bu_kube_node *known;
	int comes;

	*ret = (struct looked){.spec = json_object_get(object, spec)};
	ret->user = bu_json_str(ret->spec, "username", "");
	ret->signer = bu_json_str(ret->spec, "signerName", "");
	ret->first = strncmp(ret->user, TOKEN_USER, strlen(TOKEN_USER)) == 0;
	comes = ret->first || strncmp(ret->user, NODE_USER, strlen(NODE_USER)) == 0;
	if (strcmp(ret->signer, SERVING) != 0 && strcmp(ret->signer, CLIENT) != 0)
		return leave_alone(ret, NULL);
	if (!comes)
		return leave_alone(ret, "it comes from neither a token nor a node");
	who = ret->user + strlen(ret->first ? TOKEN_USER : NODE_USER);
	ret->pass = pass_of(cluster, ret->first ? NULL : who, ret->first ? who : NULL);
	known = ret->first ? NULL : bu_kube_find(cluster, who);
	if (ret->first && !ret->pass)
		return leave_alone(ret, "its token is of no node that joins now");
	if (!ret->pass && (!known || !known->validated))
		return leave_alone(ret, "the node has not joined through bringup");
	return judge_ours(ret->pass ? ret->pass->address
			  : known   ? known->address
				    : "",
			  ret);
}

/* --- all of them --- */

static void
on_verdict(struct bu_http_answer *http, const struct bu_err *err, void *arg)
{
	struct bu_cluster *cluster = arg;
	struct bu_kube_requests *requests = &cluster->requests;
	struct bu_kube_answer answer;

	requests->exchange = NULL;
	bu_kube_read(cluster, http, err, &answer);
	if (!answer.err.kind || answer.status == 404) {
		json_object_del(requests->pending, requests->current);
		bu_timer_set(requests->again, 0);
	} else {
		bu_warn("kubernetes", "request %s: %s", requests->current,
			answer.err.text);
		bu_timer_set(requests->again, AGAIN_MS);
	}
	bu_kube_answer_fini(&answer);
}

static void
send_verdict(struct bu_cluster *cluster, const char *name, const json_t *object,
	     enum verdict verdict, const char *why)
{
	struct bu_kube_requests *requests = &cluster->requests;
	bu_autofree char *path = bu_xasprintf(PATH "/%s/approval", name);
	bu_autojson json_t *body = json_deep_copy(object);
	struct bu_kube_request request = {.method = "PUT", .path = path, .body = body};
	struct bu_err err;

	json_object_set_new(body, "status",
			    json_pack("{s:[{s:s,s:s,s:s,s:s}]}", "conditions", "type",
				      verdict == APPROVE ? "Approved" : "Denied",
				      "status", "True", "reason",
				      verdict == APPROVE ? "Bringup" : "BringupDenies",
				      "message", why));
	BU_TEXT_COPY(requests->current, name);
	bu_info("kubernetes", "request %s of %s: %s: %s", name,
		bu_json_str(json_object_get(object, "spec"), "username", ""),
		verdict == APPROVE ? "approved" : "denied", why);
	requests->exchange = bu_kube_send(cluster, &request, on_verdict, cluster, &err);
	if (!requests->exchange)
		bu_timer_set(requests->again, AGAIN_MS);
}

static void
say_once(struct bu_kube_requests *requests, const char *name, const json_t *object,
	 const char *why)
{
	if (!why || json_object_get(requests->said, name))
		return;
	json_object_set_new(requests->said, name, json_true());
	bu_info("kubernetes", "request %s of %s is left alone: %s", name,
		bu_json_str(json_object_get(object, "spec"), "username", ""), why);
}

void
bu_kube_requests_look(struct bu_cluster *cluster)
{
	struct bu_kube_requests *requests = &cluster->requests;
	struct looked looked;
	const char *name;
	json_t *object;

	if (!cluster->nodes.synced)
		bu_timer_set(requests->again, AGAIN_MS);
	if (requests->exchange || !cluster->nodes.synced)
		return;
	json_object_foreach (requests->pending, name, object) {
		enum verdict verdict = judge(cluster, object, &looked);

		if (verdict == LEAVE_ALONE) {
			say_once(requests, name, object, looked.why);
			continue;
		}
		if (verdict == APPROVE && looked.first)
			BU_TEXT_COPY(looked.pass->key, looked.csr.key);
		send_verdict(cluster, name, object, verdict, looked.why);
		return;
	}
}

static void
on_again(void *arg)
{
	bu_kube_requests_look(arg);
}

/* Whose it is, by what it says; for the end of the node. */
static void
note_node(struct bu_kube_requests *requests, const char *name, const json_t *object)
{
	struct bu_csr csr;
	const char *node;

	if (json_object_get(requests->of, name) ||
	    read_request(json_object_get(object, "spec"), &csr) != 0)
		return;
	node = named(&csr);
	if (node)
		json_object_set_new(requests->of, name, json_string(node));
}

static void
apply_request(struct bu_cluster *cluster, json_t *object, int gone)
{
	struct bu_kube_requests *requests = &cluster->requests;
	const char *name = bu_kube_name(object);
	int settled =
		json_array_size(bu_kube_at(object, "status", "conditions", NULL)) > 0;

	if (requests->old)
		json_object_del(requests->old, name);
	if (gone || settled) {
		json_object_del(requests->pending, name);
		json_object_del(requests->said, name);
	}
	if (gone)
		json_object_del(requests->of, name);
	else
		note_node(requests, name, object);
	if (gone || settled || strlen(name) >= sizeof(requests->current))
		return;
	json_object_set(requests->pending, name, object);
	bu_timer_set(requests->again, 0);
}

static void
mark_requests(struct bu_cluster *cluster)
{
	struct bu_kube_requests *requests = &cluster->requests;

	json_decref(requests->old);
	requests->old = json_copy(requests->of);
	json_object_update(requests->old, requests->pending);
}

static void
sweep_requests(struct bu_cluster *cluster)
{
	struct bu_kube_requests *requests = &cluster->requests;
	const char *name;
	json_t *one;

	json_object_foreach (requests->old, name, one) {
		json_object_del(requests->pending, name);
		json_object_del(requests->said, name);
		json_object_del(requests->of, name);
	}
	json_decref(requests->old);
	requests->old = NULL;
}

const struct bu_kube_watch bu_kube_watch_requests = {
	.what = "certificate requests",
	.path = PATH "?",
	.apply = apply_request,
	.mark = mark_requests,
	.sweep = sweep_requests,
};

void
bu_kube_requests_init(struct bu_cluster *cluster)
{
	cluster->requests = (struct bu_kube_requests){
		.pending = json_object(),
		.of = json_object(),
		.said = json_object(),
		.again = bu_timer_create(cluster->loop, on_again, cluster)};
}

void
bu_kube_requests_fini(struct bu_cluster *cluster)
{
	struct bu_kube_requests *requests = &cluster->requests;

	bu_kube_drop(cluster, &requests->exchange);
	while (requests->passes)
		bu_kube_pass_take(cluster, requests->passes->node);
	bu_timer_destroy(requests->again);
	json_decref(requests->pending);
	json_decref(requests->of);
	json_decref(requests->old);
	json_decref(requests->said);
}
