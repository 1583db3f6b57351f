/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a node's BMC says now: events, sensors, firmware. Each question goes to the BMC;
 * the answer waits for it. Only for people on this machine: a BMC bears few questions.
 */
#include <string.h>

#include "base/json.h"
#include "base/record.h"
#include "provisioner/api/api.h"

static enum bu_answer
answer(const struct bu_node *node, const struct bu_report_fact *fact,
       struct bu_reply *reply, struct bu_err *err)
{
	if (fact->failed)
		return bu_err_set(err, BU_ERR_REMOTE, 0, "%s: %s", node->name,
				  fact->error);
	reply->json = json_deep_copy(fact->report);
	json_object_del(reply->json, "id");
	json_object_set_new(reply->json, "node", json_string(node->name));
	json_object_set_new(reply->json, "at_ms",
			    json_integer((json_int_t)fact->wall_ms));
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_bmc)
{
	struct bu_api *api = arg;
	struct bu_node *node = bu_fleet_node(api->fleet, request->params[0]);
	int what = bu_word_find(bu_bmc_report_names, request->params[1]);
	const struct bu_report_fact *fact;

	if (!node)
		return bu_api_no_node(api->fleet, request->params[0], err);
	if (what < 0)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "a BMC has no '%.40s'; it has events, sensors, "
				  "firmware",
				  request->params[1]);
	if (request->waited_ms == 0 &&
	    bu_reconcile_report(api->rec, node, (enum bu_bmc_report)what, err) != 0)
		return BU_ANSWER_ERROR;
	fact = &node->live.reports[what]; /* the first question makes it */
	return fact->asking ? BU_ANSWER_LATER : answer(node, fact, reply, err);
}
