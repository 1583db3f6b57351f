/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user data of nodes whose image bringup did not build. It lies on the disk; at the
 * first boot it is asked for once more, at an address with a token, because the agent
 * may be another one since. Invariant: an install's token is spent with the first
 * answer; the log has that before the answer goes out.
 */
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "provisioner/api/api.h"
#include "provisioner/api/neighbour.h"
#include "provisioner/config/nocloud.h"

enum { FILE_MAX = 1024 * 1024 };

static const struct {
	const char *path, *name;
	int mode;
} house[] = {
	{"/usr/lib/bringup/first-boot", "first-boot", 0755},
	{"/usr/lib/bringup/access", "access", 0755},
	{"/etc/systemd/system/bringup-access.service", "bringup-access.service", 0644},
	{"/etc/systemd/system/bringup-agent.service", "bringup-agent.service", 0644},
	{"/etc/systemd/system/bringup-first-boot.service", "bringup-first-boot.service",
	 0644},
};

static char *
seed_url(const struct bu_api *api, const char *step)
{
	char token[BU_DIGEST_SIZE];

	bu_trust_seed_token(api->trust, step, token);
	return bu_xasprintf("%s/nocloud/%s/user-data", api->http_url, token);
}

/* The address is the node's, and where the card that answers for it can be seen, that
 * is the node's, too. */
static int
check_caller(const struct bu_desired_node *want, const char *address,
	     struct bu_err *err)
{
	const struct bu_desired_network *boot =
		bu_desired_node_network(want, BU_ROLE_BOOT);
	char its[INET_ADDRSTRLEN] = "", seen[BU_MAC_SIZE];

	if (boot && bu_desired_node_address(want, boot, its) == 0 &&
	    strcmp(its, address) == 0 &&
	    (bu_neighbour_mac(address, seen) != 0 || !want->mac ||
	     strcmp(seen, want->mac) == 0))
		return 0;
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "this token is of another machine than %s", address);
}

char *
bu_api_user_data(const struct bu_api *api, const struct bu_node *node,
		 const struct bu_target *target, const char *step, struct bu_err *err)
{
	bu_autofree char *agent_url = bu_xasprintf("%s/" BU_BUNDLE_DIR, api->http_url);
	bu_autofree char *url = seed_url(api, step);
	struct bu_nocloud_file files[BU_LEN(house)] = {0};
	struct bu_offer offer;
	struct bu_nocloud what = {.node = node->name,
				  .user_url = url,
				  .agent_url = agent_url,
				  .files = files};
	struct bu_config *config = NULL;
	char *text = NULL;

	bu_travels_offer(api->travels, &offer);
	if (!offer.bundle) {
		bu_err_set(err, BU_ERR_STATE, 0,
			   "there is no agent to give; bringup image build ramdisk");
		return NULL;
	}
	what.agent_digest = offer.bundle->digest;
	for (; what.file_count < BU_LEN(house); what.file_count++) {
		const char *name = house[what.file_count].name;
		bu_autofree char *relative =
			bu_xasprintf("images/build/recipes/%s", name);
		bu_autofree char *path = bu_data_path(relative);
		char *content = bu_file_read(path, FILE_MAX, NULL, err);

		files[what.file_count] =
			(struct bu_nocloud_file){house[what.file_count].path,
						 house[what.file_count].mode, content};
		if (!content)
			break;
	}
	if (what.file_count == BU_LEN(house))
		config = bu_api_node_config(api, node, target, NULL, err);
	if (config)
		text = bu_nocloud_user(&what, bu_config_rows(config), config->count);
	bu_config_destroy(config);
	for (size_t i = 0; i < BU_LEN(files); i++)
		free((char *)(uintptr_t)files[i].content);
	return text;
}

static enum bu_answer
answer(const struct bu_api *api, struct bu_node *node, const char *address,
       struct bu_reply *reply, struct bu_err *err)
{
	struct bu_target target;

	if (bu_fleet_target(api->fleet, node, &target, err) != 0 ||
	    check_caller(target.node, address, err) != 0 ||
	    bu_reconcile_check_seed(api->rec, node, err) != 0)
		return BU_ANSWER_ERROR;
	if (node->live.appending)
		return BU_ANSWER_LATER;
	reply->text = bu_api_user_data(api, node, &target, node->installed_step, err);
	if (!reply->text)
		return BU_ANSWER_ERROR;
	bu_reconcile_seeded(api->rec, node, address);
	reply->logged = api->fleet->store;
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_nocloud)
{
	const struct bu_api *api = arg;
	struct bu_node *node = bu_reconcile_seed_node(api->rec, request->params[0]);
	char address[BU_ADDRESS_SIZE];
	enum bu_answer rc;

	bu_request_address(request, address);
	if (!node)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no node that boots for the first time has this "
				  "token");
	rc = answer(api, node, address, reply, err);
	if (rc == BU_ANSWER_ERROR)
		bu_warn("nocloud", "%s requests the first-boot data of %s: %s", address,
			node->name, err->text);
	return rc;
}
