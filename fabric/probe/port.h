/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What sysfs tells about an RDMA port: counters, NUMA node, which CPU is near. root: ""
 * for the running system, or a tree that a test made. What is not there is no error.
 */
#ifndef BU_FABRIC_PROBE_PORT_H
#define BU_FABRIC_PROBE_PORT_H

#include <sched.h>

#include "model/counter.h"

/* -1: the adapter has none (soft-RoCE), or the machine has one node alone. */
int bu_port_numa(const char *root, const char *device);
/* From what a device makes the UDP source port of a connection. LABEL: as
 * ibv_flow_label_to_udp_sport() does. QPN: the kernel's hash of the queue pair's own
 * number. UNKNOWN: from something else, as Broadcom's adapters do, or nobody knows. */
enum bu_sport { BU_SPORT_UNKNOWN, BU_SPORT_LABEL, BU_SPORT_QPN };
enum bu_sport bu_port_sport(const char *root, const char *device);
/* rxe, siw: whatever it sends passes a network interface. */
int bu_port_is_software(const char *root, const char *device);
void bu_port_counters(const char *root, const char *device, int port, int gid_index,
		      struct bu_counters *ret);
/* Does the port count lost packets at all, by whatever name? */
int bu_port_tells_losses(const char *root, const char *device, int port);
/* The interface of this GID; "" = sysfs names none. */
void bu_port_netdev(const char *root, const char *device, int port, int gid_index,
		    char *ret, size_t size);
/* A CPU of the adapter's own: the n-th of its node that this thread may use, n counting
 * the adapters of that node. -1: sysfs names none. */
int bu_port_cpu(const char *root, const char *device);
/* All of them that this thread may use; none where sysfs names none. */
void bu_port_cpus(const char *root, const char *device, cpu_set_t *ret);
/* Is this what the name names: "ens1f0np0" (a netdev, of any of its GIDs too),
 * "0000:3b:00.0" (a PCI address), "mlx5_0/1", "mlx5_0"? "" names every port. */
int bu_port_is_named(const char *root, const char *device, int port, const char *name);
/* Is this GID in the port's table? */
int bu_port_has_gid(const char *root, const char *device, int port,
		    const uint8_t gid[16]);
/* "mlx5_0/1 (ens1f0np0 at 0000:3b:00.0)"; owned. */
char *bu_port_label(const char *root, const char *device, int port);
/* 10^9 bit/s, as the kernel writes it: it knows speeds for which the verbs have no
 * room. 0 = unknown. */
double bu_port_rate_gbps(const char *root, const char *device, int port);
/* Bytes of the largest cache, by cpu0; 0 = unknown. */
int64_t bu_port_cache_bytes(const char *root);
/* Memory that can still be had, bytes; 0 = unknown. */
int64_t bu_port_memory_bytes(const char *root);

#endif
