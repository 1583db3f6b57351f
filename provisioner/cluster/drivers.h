/* SPDX-License-Identifier: Apache-2.0 */
/* The drivers, for their table in drivers.c. */
#ifndef BU_CLUSTER_DRIVERS_H
#define BU_CLUSTER_DRIVERS_H

#include "provisioner/cluster/cluster.h"

extern const struct bu_cluster_driver bu_cluster_slurm, bu_cluster_kubernetes;

#endif
