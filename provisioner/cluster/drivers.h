/* SPDX-License-Identifier: Apache-2.0 */
/* The drivers, for their table in drivers.c. */
#ifndef BU_CLUSTER_DRIVERS_H
#define BU_CLUSTER_DRIVERS_H

#include "model/drivers.h"
#include "provisioner/cluster/cluster.h"

#define X(id, name) extern const struct bu_cluster_driver bu_cluster_##id;
BU_CLUSTER_DRIVERS(X)
#undef X

#endif
