/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts that ask in the name of a node. */
#ifndef BU_API_STRANGERS_H
#define BU_API_STRANGERS_H

#include "provisioner/api/api.h"

/* Its boot network is one of ours: its machine is on one wire with us. want: NULL = the
 * profile does not have it. */
int bu_stranger_attached(const struct bu_api *api, const struct bu_desired_node *want);
/* The host is not the machine with this MAC (NULL = any) of this node. Behind a router,
 * where nothing can be seen, everyone may be it. */
int bu_stranger_is(const struct bu_api *api, const struct bu_desired_node *want,
		   const struct bu_seen *seen, const char *mac);
/* The same of a boot script, and says so of the node. */
int bu_stranger_asks(const struct bu_api *api, struct bu_node *node,
		     const struct bu_request *request, const char *mac);

#endif
