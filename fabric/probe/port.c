/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an RDMA port's sysfs; called by the probe and checks/. Invariant: a missing
 * file (soft-RoCE has few) never fails a probe.
 */
#include "fabric/probe/port.h"

#include <arpa/inet.h>
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
bu_port_is_software(const char *root, const char *device)
{
	return bu_sysroot_exists(root, IB "%s/parent", device) ||
	       !bu_sysroot_exists(root, IB "%s/device", device);
}

/* -1: older than 5.17, in which drivers began to call rdma_get_udp_sport(). 0: no
 * release is told. */
static int
kernel_age(const char *root)
{
	char release[64];
	int major = 0, minor = 0;

	if (!bu_sysroot_line(root, release, sizeof(release),
			     "proc/sys/kernel/osrelease") ||
	    sscanf(release, "%d.%d", &major, &minor) != 2)
		return 0;
	return major < 5 || (major == 5 && minor < 17) ? -1 : 1;
}

/* Drivers that make the UDP port from the flow label. Source: Linux,
 * drivers/infiniband: hw/mlx5/qp.c, hw/irdma/verbs.c (below ice and idpf),
 * hw/hns/hns_roce_hw_v2.c. Others do not: bnxt_re's firmware, mlx4. */
static enum bu_sport
adapter_sport(const char *root, const char *device)
{
	static const char *const always[] = {"mlx5_core", "mlx5_core.sf"};
	static const char *const since_5_17[] = {"ice", "idpf", "hns3"};
	char driver[64];

	bu_sysroot_link(root, driver, sizeof(driver), IB "%s/device/driver", device);
	for (size_t i = 0; i < BU_LEN(always); i++)
		if (strcmp(driver, always[i]) == 0)
			return BU_SPORT_LABEL;
	for (size_t i = 0; i < BU_LEN(since_5_17); i++)
		if (strcmp(driver, since_5_17[i]) == 0 && kernel_age(root) > 0)
			return BU_SPORT_LABEL;
	return BU_SPORT_UNKNOWN;
}

enum bu_sport
bu_port_sport(const char *root, const char *device)
{
	if (!bu_sysroot_exists(root, IB "%s/parent", device)) /* no soft-RoCE */
		return adapter_sport(root, device);
	return kernel_age(root) < 0 ? BU_SPORT_QPN : BU_SPORT_LABEL;
}

void
bu_port_netdev(const char *root, const char *device, int port, int gid_index, char *ret,
	       size_t size)
{
	if (!bu_sysroot_line(root, ret, size, IB "%s/ports/%d/gid_attrs/ndevs/%d",
			     device, port, gid_index))
		*ret = '\0';
}

/* A counter of the port: the driver's, else the standard's. A device with a single port
 * may have the driver's counters itself (mlx4). */
static int64_t
read_counter(const char *root, const char *device, int port, const char *name)
{
	int64_t count = bu_sysroot_int(root, -1, IB "%s/ports/%d/hw_counters/%s",
				       device, port, name);

	if (count < 0)
		count = bu_sysroot_int(root, -1, IB "%s/ports/%d/counters/%s", device,
				       port, name);
	if (count < 0 && !bu_sysroot_exists(root, IB "%s/ports/2", device))
		count = bu_sysroot_int(root, -1, IB "%s/hw_counters/%s", device, name);
	return count;
}

/* RDMA packets of an adapter bypass its interface: drops there are other traffic's. */
static int64_t
read_statistic(const char *root, const char *device, const char *netdev,
	       enum bu_counter counter)
{
	const char *name = bu_counter_name(counter);
	int64_t count;

	if ((counter == BU_COUNTER_RX_DROPPED || counter == BU_COUNTER_TX_DROPPED) &&
	    !bu_port_is_software(root, device))
		return -1;
	count = bu_sysroot_int(root, -1, "sys/class/net/%s/statistics/%s", netdev,
			       name);
	if (count < 0 && counter == BU_COUNTER_CARRIER_CHANGES)
		count = bu_sysroot_int(root, -1, "sys/class/net/%s/%s", netdev, name);
	return count;
}

void
bu_port_counters(const char *root, const char *device, int port, int gid_index,
		 struct bu_counters *ret)
{
	char netdev[64];

	bu_port_netdev(root, device, port, gid_index, netdev, sizeof(netdev));
	for (int i = 0; i < BU_COUNTER_COUNT; i++) {
		enum bu_counter counter = (enum bu_counter)i;
		const char *name = bu_counter_name(counter);
		int64_t count = -1;

		for (int alias = 0; name && count < 0; alias++) {
			count = read_counter(root, device, port, name);
			name = bu_counter_alias(counter, alias);
		}
		if (count < 0 && netdev[0])
			count = read_statistic(root, device, netdev, counter);
		ret->count[i] = count;
	}
}

int
bu_port_tells_losses(const char *root, const char *device, int port)
{
	struct bu_counters counters;
	int found = 0;

	bu_port_counters(root, device, port, 0, &counters);
	for (int i = 0; i < BU_COUNTER_COUNT; i++)
		found |= bu_counter_kind((enum bu_counter)i) == BU_COUNTER_LOSS &&
			 counters.count[i] >= 0;
	return found;
}

/* Is the netdev at this port? InfiniBand has IPoIB's alone, which is at the device;
 * dev_port tells several ports of one function apart. */
static int
stands_at(const char *root, const char *device, int port, const char *netdev)
{
	return bu_sysroot_exists(root, "sys/class/net/%s/device/infiniband/%s", netdev,
				 device) &&
	       bu_sysroot_int(root, 0, "sys/class/net/%s/dev_port", netdev) + 1 == port;
}

struct netdev {
	const char *root, *device;
	const char *wanted; /* NULL = the first one */
	int port, found;
	char name[64];
};

static void
look_at_gid(const char *index, void *arg)
{
	struct netdev *netdev = arg;
	char name[64];

	if (netdev->found || !bu_sysroot_line(netdev->root, name, sizeof(name),
					      IB "%s/ports/%d/gid_attrs/ndevs/%s",
					      netdev->device, netdev->port, index))
		return;
	netdev->found = !netdev->wanted || strcmp(netdev->wanted, name) == 0;
	memcpy(netdev->name, name, sizeof(name));
}

static void
look_at_netdev(const char *name, void *arg)
{
	struct netdev *netdev = arg;

	if (netdev->found ||
	    !stands_at(netdev->root, netdev->device, netdev->port, name))
		return;
	netdev->found = 1;
	snprintf(netdev->name, sizeof(netdev->name), "%s", name);
}

static int
find_netdev(struct netdev *netdev)
{
	bu_sysroot_each(netdev->root, look_at_gid, netdev,
			IB "%s/ports/%d/gid_attrs/ndevs", netdev->device, netdev->port);
	if (netdev->wanted)
		look_at_netdev(netdev->wanted, netdev);
	else
		bu_sysroot_each(netdev->root, look_at_netdev, netdev, "sys/class/net");
	return netdev->found;
}

int
bu_port_is_named(const char *root, const char *device, int port, const char *name)
{
	struct netdev netdev = {
		.root = root, .device = device, .wanted = name, .port = port};
	size_t length = strcspn(name, "/");
	char number[16];

	if (!*name)
		return 1;
	if (bu_sysroot_is_pci(name))
		return bu_sysroot_exists(root, "sys/bus/pci/devices/%s/infiniband/%s",
					 name, device);
	snprintf(number, sizeof(number), "/%d", port);
	if (strncmp(name, device, length) == 0 && !device[length] &&
	    (!name[length] || strcmp(name + length, number) == 0))
		return 1;
	return !name[length] && find_netdev(&netdev);
}

struct entry {
	const char *root, *device;
	int port, found;
	const uint8_t *gid;
};

static void
look_at_entry(const char *index, void *arg)
{
	struct entry *entry = arg;
	char text[64];
	uint8_t raw[16];

	if (entry->found ||
	    !bu_sysroot_line(entry->root, text, sizeof(text), IB "%s/ports/%d/gids/%s",
			     entry->device, entry->port, index))
		return;
	entry->found = inet_pton(AF_INET6, text, raw) == 1 &&
		       memcmp(raw, entry->gid, sizeof(raw)) == 0;
}

int
bu_port_has_gid(const char *root, const char *device, int port, const uint8_t gid[16])
{
	struct entry entry = {.root = root, .device = device, .port = port, .gid = gid};

	bu_sysroot_each(root, look_at_entry, &entry, IB "%s/ports/%d/gids", device,
			port);
	return entry.found;
}

char *
bu_port_label(const char *root, const char *device, int port)
{
	struct netdev netdev = {.root = root, .device = device, .port = port};
	char pci[64];

	bu_sysroot_link(root, pci, sizeof(pci), IB "%s/device", device);
	find_netdev(&netdev);
	if (!netdev.found && !pci[0])
		return bu_xasprintf("%s/%d", device, port);
	return bu_xasprintf("%s/%d (%s%s%s)", device, port, netdev.name,
			    netdev.found && pci[0] ? " at " : "", pci);
}

double
bu_port_rate_gbps(const char *root, const char *device, int port)
{
	char text[64];
	double rate = 0;
	int used = 0;

	bu_sysroot_line(root, text, sizeof(text), IB "%s/ports/%d/rate", device, port);
	return sscanf(text, "%lf Gb/sec%n", &rate, &used) == 1 && used && rate > 0
		       ? rate
		       : 0;
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

void
bu_port_cpus(const char *root, const char *device, cpu_set_t *ret)
{
	cpu_set_t allowed;

	bu_sysroot_cpus(root, ret, IB "%s/device/local_cpulist", device);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		CPU_ZERO(ret);
	else
		CPU_AND(ret, ret, &allowed);
}

int
bu_port_cpu(const char *root, const char *device)
{
	struct rank rank = {.root = root, .device = device};
	cpu_set_t local;
	int want, count;

	bu_port_cpus(root, device, &local);
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
