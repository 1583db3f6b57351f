/* SPDX-License-Identifier: Apache-2.0 */
/* Which switch port each node hangs at, for people and for what renders topologies. */
#include "provisioner/api/api.h"

BU_HANDLER(bu_api_topology)
{
	struct bu_api *api = arg;

	reply->json = bu_gate_wiring(api->gate);
	return BU_ANSWER_NOW;
}
