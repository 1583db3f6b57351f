/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads sysfs around an RDMA port, for verbs.c. Invariant: a driver that has none of
 * these files (soft-RoCE has few) costs knowledge, never the probe.
 */
#include "fabric/probe/port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sysroot.h"

#define IB "sys/class/infiniband/"

int
bu_port_numa(const char *root, const char *device)
{
	return (int)bu_sysroot_int(root, -1, IB "%s/device/numa_node", device);
}

int
bu_port_is_rxe(const char *root, const char *device)
{
	return bu_sysroot_exists(root, IB "%s/parent", device);
}

void
bu_port_counters(const char *root, const char *device, int port, int gid_index,
		 struct bu_counters *ret)
{
	char netdev[64];

	bu_sysroot_line(root, netdev, sizeof(netdev),
			IB "%s/ports/%d/gid_attrs/ndevs/%d", device, port, gid_index);
	for (int i = 0; i < BU_COUNTER_COUNT; i++) {
		const char *name = bu_counter_name((enum bu_counter)i);
		int64_t count;

		count = bu_sysroot_int(root, -1, IB "%s/ports/%d/hw_counters/%s",
				       device, port, name);
		if (count < 0)
			count = bu_sysroot_int(root, -1, IB "%s/ports/%d/counters/%s",
					       device, port, name);
		if (count < 0 && netdev[0])
			count = bu_sysroot_int(root, -1,
					       "sys/class/net/%s/statistics/%s", netdev,
					       name);
		if (count < 0 && netdev[0] && i == BU_COUNTER_CARRIER_CHANGES)
			count = bu_sysroot_int(root, -1, "sys/class/net/%s/%s", netdev,
					       name);
		ret->count[i] = count;
	}
}

struct rank {
	const char *root, *device;
	int numa, count, found;
};

static void
count_before(const char *name, void *arg)
{
	struct rank *rank = arg;

	if (strcmp(name, rank->device) == 0)
		rank->found = 1;
	if (!rank->found && bu_port_numa(rank->root, name) == rank->numa &&
	    bu_sysroot_exists(rank->root, IB "%s/device/local_cpulist", name))
		rank->count++;
}

int
bu_port_cpu(const char *root, const char *device)
{
	struct rank rank = {.root = root, .device = device};
	cpu_set_t local, allowed;
	int want, count;

	bu_sysroot_cpus(root, &local, IB "%s/device/local_cpulist", device);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return -1;
	CPU_AND(&local, &local, &allowed);
	count = CPU_COUNT(&local);
	if (count == 0)
		return -1;
	rank.numa = bu_port_numa(root, device);
	bu_sysroot_each(root, count_before, &rank, "sys/class/infiniband");
	want = rank.count % count;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET((size_t)cpu, &local) && want-- == 0)
			return cpu;
	}
	return -1;
}

int64_t
bu_port_cache_bytes(const char *root)
{
	int64_t most = 0;

	for (int i = 0; i < 8; i++) {
		char text[32], *end;
		int64_t size;

		if (!bu_sysroot_line(root, text, sizeof(text),
				     "sys/devices/system/cpu/cpu0/cache/index%d/size",
				     i))
			break;
		size = strtoll(text, &end, 10);
		size *= *end == 'K' ? 1024 : *end == 'M' ? 1024 * 1024 : 1;
		if (size > most)
			most = size;
	}
	return most;
}

int64_t
bu_port_memory_bytes(const char *root)
{
	return bu_sysroot_meminfo_bytes(root, "MemAvailable:");
}
