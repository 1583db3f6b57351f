/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's bootstrap token, and the secret that its client gets: the token and, below
 * it, the certificates of the cluster's CA. Called by issue.c. Invariant: a token lives
 * for minutes, is of one node, and can do nothing but ask for a certificate.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "provisioner/cluster/kubernetes/kube.h"

enum { KEY_SIZE = 17, CA_MAX_BYTES = 64 * 1024 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";

/* Bytes that would favour some letters are passed over. */
static void
spell(const uint8_t *bytes, size_t size, char *ret, size_t length)
{
	size_t count = 0, even = 256 - 256 % strlen(letters);

	for (size_t i = 0; i < size && count < length; i++)
		if (bytes[i] < even)
			ret[count++] = letters[bytes[i] % strlen(letters)];
	while (count < length)
		ret[count++] = letters[0];
	ret[length] = '\0';
}

void
bu_kube_token_id(const char *node, char ret[BU_KUBE_ID_SIZE])
{
	bu_autofree char *text = bu_xasprintf("bringup token of %s", node);
	uint8_t hash[BU_SHA256_SIZE];

	bu_sha256(text, strlen(text), hash);
	spell(hash, sizeof(hash), ret, BU_KUBE_ID_SIZE - 1);
}

static void
make_key(char ret[KEY_SIZE])
{
	uint8_t bytes[256];

	bu_random(bytes, sizeof(bytes));
	spell(bytes, sizeof(bytes), ret, KEY_SIZE - 1);
	explicit_bzero(bytes, sizeof(bytes));
}

json_t *
bu_kube_token_make(struct bu_cluster *cluster, const char *node, char **ret_secret,
		   struct bu_err *err)
{
	bu_autofree char *text = NULL, *ca = NULL, *name = NULL, *what = NULL;
	char id[BU_KUBE_ID_SIZE], key[KEY_SIZE], until[32];
	json_t *body;

	text = bu_file_read(cluster->ca, CA_MAX_BYTES, NULL, err);
	ca = text ? bu_certs_only(text, err) : NULL;
	if (!ca) {
		bu_err_wrap(err, "[cluster] ca");
		return NULL;
	}
	bu_kube_token_id(node, id);
	make_key(key);
	bu_kube_when(cluster, BU_KUBE_TOKEN_S, until);
	name = bu_xasprintf("bootstrap-token-%s", id);
	what = bu_xasprintf("bringup: %s joins", node);
	body = json_pack("{s:s,s:s,s:s,s:{s:s,s:s},s:{s:s,s:s,s:s,s:s,s:s,s:s}}",
			 "apiVersion", "v1", "kind", "Secret", "type",
			 "bootstrap.kubernetes.io/token", "metadata", "name", name,
			 "namespace", "kube-system", "stringData", "description", what,
			 "token-id", id, "token-secret", key, "expiration", until,
			 "usage-bootstrap-authentication", "true", "auth-extra-groups",
			 BU_KUBE_GROUP);
	*ret_secret = bu_xasprintf("%s.%s\n%s", id, key, ca);
	explicit_bzero(key, sizeof(key));
	return body;
}
