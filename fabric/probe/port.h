/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an RDMA port's sysfs: counters, NUMA node, near CPUs. root: "" = the running
 * system, else a test's tree. A missing file is no error.
 */
#ifndef BU_FABRIC_PROBE_PORT_H
#define BU_FABRIC_PROBE_PORT_H

#include <sched.h>

#include "model/counter.h"

/* -1: no node (soft-RoCE), or a machine with a single one. */
int bu_port_numa(const char *root, const char *device);
/* Source of a connection's UDP source port. LABEL: ibv_flow_label_to_udp_sport(). QPN:
 * the kernel's hash of the own queue pair number. UNKNOWN: another source (Broadcom),
 * or not known. */
enum bu_sport { BU_SPORT_UNKNOWN, BU_SPORT_LABEL, BU_SPORT_QPN };
enum bu_sport bu_port_sport(const char *root, const char *device);
/* rxe, siw: packets pass a network interface. */
int bu_port_is_software(const char *root, const char *device);
void bu_port_counters(const char *root, const char *device, int port, int gid_index,
		      struct bu_counters *ret);
/* Does the port count lost packets, by any name? */
int bu_port_tells_losses(const char *root, const char *device, int port);
/* The interface of this GID; "" = not in sysfs. */
void bu_port_netdev(const char *root, const char *device, int port, int gid_index,
		    char *ret, size_t size);
/* A CPU for this adapter: the n-th of its node that this thread may use, where n
 * adapters of the node come before it. -1: not in sysfs. */
int bu_port_cpu(const char *root, const char *device);
/* All CPUs of the node that this thread may use; none where sysfs has none. */
void bu_port_cpus(const char *root, const char *device, cpu_set_t *ret);
/* Does the name fit the port: "ens1f0np0" (a netdev, of any GID), "0000:3b:00.0" (a PCI
 * address), "mlx5_0/1", "mlx5_0"? "" fits every port. */
int bu_port_is_named(const char *root, const char *device, int port, const char *name);
/* Is this GID in the port's table? */
int bu_port_has_gid(const char *root, const char *device, int port,
		    const uint8_t gid[16]);
/* "mlx5_0/1 (ens1f0np0 at 0000:3b:00.0)"; owned. */
char *bu_port_label(const char *root, const char *device, int port);
/* 10^9 bit/s by sysfs, which has speeds that the verbs lack. 0 = unknown. */
double bu_port_rate_gbps(const char *root, const char *device, int port);
/* Bytes of the largest cache, by cpu0; 0 = unknown. */
int64_t bu_port_cache_bytes(const char *root);
/* Available memory, bytes; 0 = unknown. */
int64_t bu_port_memory_bytes(const char *root);

#endif
