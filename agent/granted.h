/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a disk is the one that an order may write over. */
#ifndef BU_AGENT_GRANTED_H
#define BU_AGENT_GRANTED_H

#include "model/work.h"

/* root: as of bu_inventory_collect(). BU_ERR_DENIED names both
 * disks when the one at the item's path is another than the order says by its serial
 * number and world-wide name, of which those that it shares with another disk do not
 * count, or by its size where the order knows neither; when its mirror or one of the
 * array is another, or is not named by the order's mark; BU_ERR_NOTFOUND when there is
 * none. */
bu_must int bu_granted_check(const char *root, const struct bu_work_install *work,
			     struct bu_err *err);

#endif
