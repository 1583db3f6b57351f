/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes kubelet run on a node: how it finds the API server and asks for its
 * certificate, its settings, and drop-ins of its unit. Invariant: kubelet registers
 * with the gate's taint, and does not start in a boot that has no certificate.
 */
#include <string.h>

#include "base/crypto.h"
#include "provisioner/cluster/kubernetes/kube.h"

#define HEAD "# Written by bringup; changes are lost.\n"
#define CA_PATH "/etc/kubernetes/pki/ca.crt"
#define BOOTSTRAP_PATH "/etc/kubernetes/bootstrap-kubelet.conf"
#define SETTINGS_DIR "/etc/kubernetes/kubelet.conf.d"

static const char settings[] =
	HEAD "apiVersion: kubelet.config.k8s.io/v1beta1\n"
	     "kind: KubeletConfiguration\n"
	     "registerWithTaints:\n"
	     "- {key: " BU_KUBE_GATE ", effect: NoSchedule}\n"
	     "containerRuntimeEndpoint: unix:///run/containerd/containerd.sock\n"
	     "cgroupDriver: systemd\n"
	     "rotateCertificates: true\n"
	     "serverTLSBootstrap: true\n"
	     "authentication:\n"
	     "  anonymous: {enabled: false}\n"
	     "  webhook: {enabled: true}\n"
	     "  x509: {clientCAFile: " CA_PATH "}\n"
	     "authorization: {mode: Webhook}\n";

static const char certified[] =
	HEAD "[Unit]\n"
	     "Description=certificate of this boot\n"
	     "AssertPathExists=" BU_CLUSTER_CERTIFIED "\n\n"
	     "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n";

static void
add(struct bu_cluster_client *ret, const char *path, int mode, const char *text)
{
	bu_cluster_client_add(ret, path, mode, NULL, text, strlen(text));
}

/* JSON is YAML: no text of the profile can end its line. */
static void
add_bootstrap(struct bu_cluster_client *ret, const struct bu_cluster_site *site,
	      const char *token, const char *ca)
{
	bu_autofree char *server = bu_xasprintf("https://%s", site->controller);
	bu_autofree char *data = bu_base64_encode(ca, strlen(ca));
	json_t *conf = json_pack(
		"{s:s,s:s,s:[{s:s,s:{s:s,s:s}}],s:[{s:s,s:{s:s}}],s:[{s:s,s:{s:s,s:s}}],"
		"s:s}",
		"apiVersion", "v1", "kind", "Config", "clusters", "name", "bringup",
		"cluster", "server", server, "certificate-authority-data", data,
		"users", "name", "kubelet", "user", "token", token, "contexts", "name",
		"kubelet", "context", "cluster", "bringup", "user", "kubelet",
		"current-context", "kubelet");
	char *text = json_dumps(conf, JSON_INDENT(1));

	add(ret, BOOTSTRAP_PATH, 0600, text);
	explicit_bzero(text, strlen(text));
	free(text);
	json_decref(conf);
}

static void
add_unit(struct bu_cluster_client *ret, const struct bu_cluster_member *member)
{
	bu_autofree char *unit = bu_xasprintf(
		HEAD "[Unit]\nRequires=bringup-certified.service\n"
		     "After=bringup-certified.service containerd.service\n\n"
		     "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet "
		     "--bootstrap-kubeconfig=" BOOTSTRAP_PATH
		     " --kubeconfig=/etc/kubernetes/kubelet.conf "
		     "--cert-dir=/var/lib/kubelet/pki --config-dir=" SETTINGS_DIR
		     " --hostname-override=%s --node-ip=%s\n",
		member->name, member->address);

	add(ret, "/etc/systemd/system/kubelet.service.d/90-bringup.conf", 0644, unit);
	add(ret, "/etc/systemd/system/bringup-certified.service", 0644, certified);
	add(ret, BU_CLUSTER_CERTIFIED, 0644, member->name);
}

/* The secret: a token, a line end, certificates. */
int
bu_kube_client(const struct bu_cluster_site *site,
	       const struct bu_cluster_member *member, const void *secret,
	       size_t secret_size, struct bu_cluster_client *ret, struct bu_err *err)
{
	const char *ca = secret ? memchr(secret, '\n', secret_size) : NULL;
	char *token;

	*ret = (struct bu_cluster_client){.services = {"containerd", "kubelet"},
					  .services_count = 2};
	if (!ca)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "kubelet joins with a token, and there is none for "
				  "%s",
				  member->name);
	token = bu_xstrndup(secret, (size_t)(ca - (const char *)secret));
	add_bootstrap(ret, site, token, ca + 1);
	add(ret, CA_PATH, 0644, ca + 1);
	add(ret, SETTINGS_DIR "/90-bringup.conf", 0644, settings);
	add_unit(ret, member);
	explicit_bzero(token, strlen(token));
	free(token);
	return 0;
}
