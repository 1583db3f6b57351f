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
/* Soft-RoCE picks the UDP source port by a rule of its own. */
int bu_port_is_rxe(const char *root, const char *device);
void bu_port_counters(const char *root, const char *device, int port, int gid_index,
		      struct bu_counters *ret);
/* A CPU of the adapter's own: the n-th of its node that this thread may use, n counting
 * the adapters of that node. -1: sysfs names none. */
int bu_port_cpu(const char *root, const char *device);
/* Bytes of the largest cache, by cpu0; 0 = unknown. */
int64_t bu_port_cache_bytes(const char *root);
/* Memory that can still be had, bytes; 0 = unknown. */
int64_t bu_port_memory_bytes(const char *root);

#endif
