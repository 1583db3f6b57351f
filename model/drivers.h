/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drivers that a profile may name: X(id, name). The table of keys has them as
 * choices, and provisioner/power/ and provisioner/cluster/ each have bu_power_ID or
 * bu_cluster_ID; the linker misses one that is not there.
 */
#ifndef BU_MODEL_DRIVERS_H
#define BU_MODEL_DRIVERS_H

#define BU_POWER_DRIVERS(X)                                                            \
	X(libvirt, "libvirt")                                                          \
	X(redfish, "redfish")                                                          \
	X(ipmi, "ipmi")

#define BU_CLUSTER_DRIVERS(X)                                                          \
	X(slurm, "slurm")                                                              \
	X(kubernetes, "kubernetes")

#endif
