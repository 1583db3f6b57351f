/* SPDX-License-Identifier: Apache-2.0 */
/* How the network interfaces are set up at this moment. Reads only. */
#ifndef BU_AGENT_LINKS_H
#define BU_AGENT_LINKS_H

#include "model/inventory.h"

/* Fills inventory->links, by name, without lo. root as in inventory.h; addresses are
 * those of this process's network namespace, so there are none below another root. */
void bu_links_collect(const char *root, struct bu_inventory *inventory);

#endif
