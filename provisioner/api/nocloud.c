/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user data of nodes whose image bringup did not build. It lies on the disk; at the
 * first boot it is asked for once more, at an address with a token, because the agent
 * may be another one since. Invariant: an install's token is spent with the first
 * answer; the log has that before the answer goes out.
 */
#include <string.h>

#include "base/log.h"
#include "provisioner/api/api.h"
#include "provisioner/api/strangers.h"
#include "provisioner/node/fence.h"

/* The address is the node's, and where the card that answers for it can be seen, that
 * is the node's, too. */
static int
check_caller(const struct bu_api *api, const struct bu_desired_node *want,
	     const struct bu_request *request, struct bu_err *err)
{
	const struct bu_desired_network *boot =
		bu_desired_node_network(want, BU_ROLE_BOOT);
	char its[INET_ADDRSTRLEN] = "";
	char address[BU_ADDRESS_SIZE];
	struct bu_seen seen;

	bu_request_address(request, address);
	bu_request_seen(request, &seen);
	if (boot && bu_desired_node_address(want, boot, its) == 0 &&
	    strcmp(its, address) == 0 && !bu_stranger_is(api, want, &seen, want->mac))
		return 0;
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "this token is of another machine than %s", address);
}

static enum bu_answer
answer(const struct bu_api *api, struct bu_node *node, const struct bu_request *request,
       struct bu_reply *reply, struct bu_err *err)
{
	char address[BU_ADDRESS_SIZE];
	struct bu_target target;

	if (bu_fence_check(api->fleet, BU_ERR_BUSY, err) != 0 ||
	    bu_fleet_target(api->fleet, node, &target, err) != 0 ||
	    check_caller(api, target.node, request, err) != 0 ||
	    bu_reconcile_check_seed(api->rec, node, err) != 0)
		return BU_ANSWER_ERROR;
	if (node->live.appending)
		return BU_ANSWER_LATER;
	reply->text =
		bu_work_user_data(&api->work, node, &target, node->installed_step, err);
	if (!reply->text)
		return BU_ANSWER_ERROR;
	bu_request_address(request, address);
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
	rc = answer(api, node, request, reply, err);
	if (rc == BU_ANSWER_ERROR)
		bu_warn("nocloud", "%s requests the first-boot data of %s: %s", address,
			node->name, err->text);
	return rc;
}
