/* SPDX-License-Identifier: Apache-2.0 */
/* What sysfs tells about a port, from a tree made here. */
#include "fabric/probe/port.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/port_test.XXXXXX";

static void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", root, path);
	bu_autofree char *dir = bu_xasprintf("mkdir -p $(dirname %s)", full);

	ck_assert_int_eq(system(dir), 0);
	ck_assert_int_eq(bu_file_write(full, text, strlen(text), 0644, NULL), 0);
}

#define IB "sys/class/infiniband/"

static void
make_tree(void)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
	put(IB "mlx5_0/device/numa_node", "0\n");
	put(IB "mlx5_0/device/local_cpulist", "0-1\n");
	put(IB "mlx5_1/device/numa_node", "0\n");
	put(IB "mlx5_1/device/local_cpulist", "0-1,4096,x\n");
	put(IB "mlx5_2/device/numa_node", "1\n");
	put(IB "mlx5_2/device/local_cpulist", "9000-9001\n");
	put(IB "rxe0/parent", "eth0\n");
	put(IB "mlx5_0/ports/1/counters/port_xmit_data", "1234\n");
	put(IB "mlx5_0/ports/1/counters/link_downed", "3\n");
	put(IB "mlx5_0/ports/1/hw_counters/out_of_sequence", "17\n");
	put(IB "mlx5_0/ports/1/hw_counters/np_cnp_sent", "N/A (no PMA)\n");
	put(IB "mlx5_0/ports/1/gid_attrs/ndevs/3", "eth7\n");
	put("sys/class/net/eth7/statistics/rx_crc_errors", "5\n");
	put("sys/class/net/eth7/carrier_changes", "2\n");
	put("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n");
	put("sys/devices/system/cpu/cpu0/cache/index1/size", "300M\n");
	put("sys/devices/system/cpu/cpu0/cache/index2/size", "2048K\n");
	put("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   1024 kB\n");
}

START_TEST(a_port_by_its_files)
{
	struct bu_counters counters;
	cpu_set_t allowed;
	bu_autofree char *clean = NULL;
	int first, second;

	make_tree();
	clean = bu_xasprintf("rm -rf %s", root);
	bu_port_counters(root, "mlx5_0", 1, 3, &counters);
	ck_assert_int_eq(counters.count[BU_COUNTER_PORT_XMIT_DATA], 1234);
	ck_assert_int_eq(counters.count[BU_COUNTER_LINK_DOWNED], 3);
	ck_assert_int_eq(counters.count[BU_COUNTER_OUT_OF_SEQUENCE], 17);
	ck_assert_int_eq(counters.count[BU_COUNTER_NP_CNP_SENT], -1);
	ck_assert_int_eq(counters.count[BU_COUNTER_SYMBOL_ERROR], -1);
	ck_assert_int_eq(counters.count[BU_COUNTER_RX_CRC_ERRORS], 5);
	ck_assert_int_eq(counters.count[BU_COUNTER_CARRIER_CHANGES], 2);
	ck_assert_int_eq(bu_port_numa(root, "mlx5_2"), 1);
	ck_assert_int_eq(bu_port_numa(root, "rxe0"), -1);
	ck_assert_int_eq(bu_port_cache_bytes(root), 300 * 1024 * 1024);
	ck_assert_int_eq(bu_port_memory_bytes(root), 1024 * 1024);

	/* Two adapters of one node, two CPUs: one each, where this program may use
	 * both. */
	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	first = bu_port_cpu(root, "mlx5_0");
	second = bu_port_cpu(root, "mlx5_1");
	ck_assert_int_eq(first, CPU_ISSET(0, &allowed)   ? 0
				: CPU_ISSET(1, &allowed) ? 1
							 : -1);
	ck_assert_int_eq(second, CPU_ISSET(1, &allowed)   ? 1
				 : CPU_ISSET(0, &allowed) ? 0
							  : -1);
	ck_assert_int_eq(bu_port_cpu(root, "mlx5_2"), -1);
	ck_assert_int_eq(bu_port_cpu(root, "rxe0"), -1);
	ck_assert_int_eq(bu_port_cache_bytes("/nowhere"), 0);
	ck_assert_int_eq(bu_port_memory_bytes("/nowhere"), 0);
	ck_assert_int_eq(system(clean), 0);
}
END_TEST

/* Soft-RoCE alone, and of kernels that say that they are old. */
START_TEST(source_ports_are_hashed_by_old_kernels)
{
	static const struct {
		const char *release;
		int hashed;
	} rows[] = {
		{"4.19.0", 1},         {"5.15.0-105-generic", 1},
		{"5.16.20", 1},        {"5.17.0", 0},
		{"6.1.0-56-amd64", 0}, {"6.8.0-151-generic", 0},
		{"10.2.1", 0},         {"next", 0},
	};
	bu_autofree char *clean = NULL;

	strcpy(root, "/tmp/port_test.XXXXXX");
	make_tree();
	clean = bu_xasprintf("rm -rf %s", root);
	ck_assert_int_eq(bu_port_is_sport_hashed(root, "rxe0"), 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		put("proc/sys/kernel/osrelease", rows[i].release);
		ck_assert_msg(bu_port_is_sport_hashed(root, "rxe0") == rows[i].hashed,
			      "%s", rows[i].release);
		ck_assert_int_eq(bu_port_is_sport_hashed(root, "mlx5_0"), 0);
	}
	ck_assert_int_eq(system(clean), 0);
}
END_TEST

BU_UNIT("port", a_port_by_its_files, source_ports_are_hashed_by_old_kernels)
