/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup cluster manifest NAME: what bringup needs to be allowed in a Kubernetes
 * cluster, for `kubectl apply -f -`. Local, needs no daemon. Invariant: nothing in it
 * reads a Secret, and nothing approves a certificate by itself.
 */
#include <stdio.h>

#include "base/text.h"
#include "cli/commands/commands.h"

/* Secrets in kube-system are written and deleted by name, never read: a token of the
 * same name is replaced. Nodes are not created: applying labels to one that is gone
 * must not bring it back. */
static const char manifest[] =
	"# What bringup may do in this cluster. Apply it with\n"
	"#   bringup cluster manifest %1$s | kubectl apply -f -\n"
	"# then keep the token where [cluster %1$s] token says, and the CA where ca says:\n"
	"#   kubectl -n bringup get secret bringup-token -o jsonpath='{.data.token}' |\n"
	"#     base64 -d\n"
	"#   kubectl -n bringup get secret bringup-token -o jsonpath='{.data.ca\\.crt}' |\n"
	"#     base64 -d\n"
	"apiVersion: v1\n"
	"kind: Namespace\n"
	"metadata: {name: bringup}\n"
	"---\n"
	"apiVersion: v1\n"
	"kind: ServiceAccount\n"
	"metadata: {name: bringup, namespace: bringup}\n"
	"automountServiceAccountToken: false\n"
	"---\n"
	"apiVersion: v1\n"
	"kind: Secret\n"
	"metadata:\n"
	"  name: bringup-token\n"
	"  namespace: bringup\n"
	"  annotations: {kubernetes.io/service-account.name: bringup}\n"
	"type: kubernetes.io/service-account-token\n"
	"---\n"
	"apiVersion: rbac.authorization.k8s.io/v1\n"
	"kind: ClusterRole\n"
	"metadata: {name: bringup}\n"
	"rules:\n"
	"- apiGroups: [\"\"]\n"
	"  resources: [nodes]\n"
	"  verbs: [get, list, watch, patch, delete]\n"
	"- apiGroups: [\"\"]\n"
	"  resources: [nodes/status]\n"
	"  verbs: [patch]\n"
	"- apiGroups: [\"\"]\n"
	"  resources: [pods]\n"
	"  verbs: [list, watch]\n"
	"- apiGroups: [\"\"]\n"
	"  resources: [pods/eviction]\n"
	"  verbs: [create]\n"
	"- apiGroups: [certificates.k8s.io]\n"
	"  resources: [certificatesigningrequests]\n"
	"  verbs: [list, watch, delete]\n"
	"- apiGroups: [certificates.k8s.io]\n"
	"  resources: [certificatesigningrequests/approval]\n"
	"  verbs: [update]\n"
	"- apiGroups: [certificates.k8s.io]\n"
	"  resources: [signers]\n"
	"  resourceNames:\n"
	"  - kubernetes.io/kube-apiserver-client-kubelet\n"
	"  - kubernetes.io/kubelet-serving\n"
	"  verbs: [approve]\n"
	"# Requests to repair a node. Their group is another one in each release of\n"
	"# NVSentinel.\n"
	"- apiGroups: [\"*\"]\n"
	"  resources: [externalremediationrequests]\n"
	"  verbs: [get, list, watch]\n"
	"- apiGroups: [\"*\"]\n"
	"  resources: [externalremediationrequests/status]\n"
	"  verbs: [patch]\n"
	"---\n"
	"apiVersion: rbac.authorization.k8s.io/v1\n"
	"kind: ClusterRoleBinding\n"
	"metadata: {name: bringup}\n"
	"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: bringup}\n"
	"subjects:\n"
	"- {kind: ServiceAccount, name: bringup, namespace: bringup}\n"
	"---\n"
	"# Bootstrap tokens of the nodes.\n"
	"apiVersion: rbac.authorization.k8s.io/v1\n"
	"kind: Role\n"
	"metadata: {name: bringup, namespace: kube-system}\n"
	"rules:\n"
	"- apiGroups: [\"\"]\n"
	"  resources: [secrets]\n"
	"  verbs: [create, delete]\n"
	"---\n"
	"apiVersion: rbac.authorization.k8s.io/v1\n"
	"kind: RoleBinding\n"
	"metadata: {name: bringup, namespace: kube-system}\n"
	"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: bringup}\n"
	"subjects:\n"
	"- {kind: ServiceAccount, name: bringup, namespace: bringup}\n"
	"---\n"
	"# The pods of acceptances.\n"
	"apiVersion: rbac.authorization.k8s.io/v1\n"
	"kind: Role\n"
	"metadata: {name: bringup, namespace: bringup}\n"
	"rules:\n"
	"- apiGroups: [\"\"]\n"
	"  resources: [pods]\n"
	"  verbs: [get, create, delete]\n"
	"---\n"
	"apiVersion: rbac.authorization.k8s.io/v1\n"
	"kind: RoleBinding\n"
	"metadata: {name: bringup, namespace: bringup}\n"
	"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: bringup}\n"
	"subjects:\n"
	"- {kind: ServiceAccount, name: bringup, namespace: bringup}\n"
	"---\n"
	"# A token may ask for a certificate; bringup looks at each request itself.\n"
	"apiVersion: rbac.authorization.k8s.io/v1\n"
	"kind: ClusterRoleBinding\n"
	"metadata: {name: bringup-bootstrappers}\n"
	"roleRef:\n"
	"  apiGroup: rbac.authorization.k8s.io\n"
	"  kind: ClusterRole\n"
	"  name: system:node-bootstrapper\n"
	"subjects:\n"
	"- apiGroup: rbac.authorization.k8s.io\n"
	"  kind: Group\n"
	"  name: system:bootstrappers:bringup\n";

int
bu_cmd_cluster_manifest(const struct bu_options *options, struct bu_err *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	const char *name = options->args[0];

	if (!bu_text_is(name, letters))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "'%s' cannot name a cluster; give the name of its "
				  "section, as in [cluster NAME]",
				  name);
	printf(manifest, name);
	return 0;
}
