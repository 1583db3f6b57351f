/* SPDX-License-Identifier: Apache-2.0 */
/* Which switch port each node is cabled to, for people and for schedulers. */
#include "provisioner/api/api.h"

BU_HANDLER(bu_api_topology)
{
	struct bu_api *api = arg;

	reply->json = bu_gate_wiring(api->gate);
	return BU_ANSWER_NOW;
}
