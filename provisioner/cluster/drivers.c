/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the cluster drivers. Called by plan/, node/ and work/. To
 * add a driver: its folder, and a row here; contract_test.c runs over all rows.
 */
#include "provisioner/cluster/drivers.h"

#include <string.h>

const struct bu_cluster_driver *const bu_cluster_drivers[] = {
	&bu_cluster_slurm,
	&bu_cluster_kubernetes,
	NULL,
};

const struct bu_cluster_driver *
bu_cluster_driver(const char *name)
{
	for (size_t i = 0; bu_cluster_drivers[i]; i++)
		if (strcmp(bu_cluster_drivers[i]->name, name) == 0)
			return bu_cluster_drivers[i];
	return NULL;
}
