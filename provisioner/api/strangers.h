/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts that make requests in the name of a node. */
#ifndef BU_API_STRANGERS_H
#define BU_API_STRANGERS_H

#include "provisioner/api/api.h"

/* 1 = the node's boot network is attached to the appliance, so its machine is on a wire
 * with us. want: NULL = not in the profile. */
int bu_stranger_attached(const struct bu_api *api, const struct bu_desired_node *want);
/* 1 = the host is not the node's machine with this MAC (NULL = any MAC). 0 for a
 * node behind a router, where nothing shows which host asks. */
int bu_stranger_is(const struct bu_api *api, const struct bu_desired_node *want,
		   const struct bu_seen *seen, const char *mac);
/* The same for a request of a boot script; sets the node's condition. */
int bu_stranger_asks(const struct bu_api *api, struct bu_node *node,
		     const struct bu_request *request, const char *mac);

#endif
