/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates for the host keys that nodes made: who is asked for a node by one of its
 * names or addresses sees that it is the one. Called by agents. Invariant: a machine
 * gets one for the names of its own node alone.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/secret.h"
#include "provisioner/api/api.h"
#include "provisioner/node/fence.h"
#include "provisioner/trust/sshcert.h"

enum { NAMES_MAX = 64 };

struct names {
	char *list[NAMES_MAX + 1];
	size_t count;
};

static void
add(struct names *names, char *name)
{
	if (names->count == NAMES_MAX)
		free(name);
	else
		names->list[names->count++] = name;
}

/* As the files of names have them, and its addresses. */
static void
collect(struct names *names, const struct bu_desired *desired,
	const struct bu_desired_node *node)
{
	const char *domain = desired->site.domain;
	char address[INET_ADDRSTRLEN];

	add(names, bu_xstrdup(node->name));
	if (domain)
		add(names, bu_xasprintf("%s.%s", node->name, domain));
	for (size_t i = 0; i < node->pool->networks_count; i++) {
		const struct bu_desired_network *network = node->pool->networks[i];

		if (bu_desired_node_address(node, network, address) != 0)
			continue;
		add(names, bu_xstrdup(address));
		if (network->role == BU_ROLE_BOOT)
			continue;
		add(names, bu_xasprintf("%s-%s", node->name, network->name));
		if (domain)
			add(names, bu_xasprintf("%s-%s.%s", node->name, network->name,
						domain));
	}
}

/* Owned; "" where the profile names no CA. */
static char *
certify(struct bu_api *api, const struct bu_target *target, const char *host_key,
	struct bu_err *err)
{
	const struct bu_desired_access *access = &target->desired->access;
	struct names names = {.count = 0};
	struct bu_sshcert cert = {.ca_public = access->host_ca,
				  .host_key = host_key,
				  .id = target->node->name,
				  .names = (const char *const *)names.list};
	size_t size = 0;
	char *key, *line;

	if (!access->host_ca_key)
		return bu_xstrdup("");
	key = bu_secrets_get(api->work.secrets, access->host_ca_key, &size, err);
	if (!key)
		return NULL;
	collect(&names, target->desired, target->node);
	cert.ca_key = key;
	line = bu_sshcert_make(&cert, err);
	bu_secret_free(key, size);
	for (size_t i = 0; i < names.count; i++)
		free(names.list[i]);
	return line;
}

BU_HANDLER(bu_api_agent_hostkey)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_api_peer_node(api, request, err);
	struct bu_target target;
	bu_autofree char *line = NULL;
	const char *key;

	if (!node || bu_fence_check(api->fleet, BU_ERR_BUSY, err) != 0 ||
	    bu_json_get_str(request->body, "key", &key, err) != 0 ||
	    bu_fleet_target(api->fleet, node, &target, err) != 0)
		return BU_ANSWER_ERROR;
	line = certify(api, &target, key, err);
	if (!line && err->kind == BU_ERR_BUSY)
		return BU_ANSWER_LATER;
	if (!line) {
		bu_warn("hostkeys", "%s: %s", node->name, err->text);
		return BU_ANSWER_ERROR;
	}
	reply->json = json_pack("{s:s}", "cert", line);
	return BU_ANSWER_NOW;
}
