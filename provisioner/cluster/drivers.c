/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of the cluster drivers: those that the profile may name. Called by plan/,
 * node/ and work/; contract_test.c runs over all of them.
 */
#include "provisioner/cluster/drivers.h"

#include <string.h>

const struct bu_cluster_driver *const bu_cluster_drivers[] = {
#define X(id, name) &bu_cluster_##id,
	BU_CLUSTER_DRIVERS(X)
#undef X
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
