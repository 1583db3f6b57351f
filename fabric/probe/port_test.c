/* SPDX-License-Identifier: Apache-2.0 */
/* What sysfs tells about a port, from a tree made here. */
#include "fabric/probe/port.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/port_test.XXXXXX";

static void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s/%s", root, path);
	bu_autofree char *dir = bu_xasprintf("mkdir -p \"$(dirname '%s')\"", full);

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

static void
put_driver(const char *device, const char *driver)
{
	bu_autofree char *made = bu_xasprintf(IB "%s/device/numa_node", device);
	bu_autofree char *link =
		bu_xasprintf("%s/" IB "%s/device/driver", root, device);

	put(made, "0\n");
	ck_assert_int_eq(symlink(driver, link), 0);
}

/* By driver, and by the kernel. */
START_TEST(only_some_make_source_ports_of_flow_labels)
{
	static const struct {
		const char *release;
		enum bu_sport soft, adapter;
	} rows[] = {
		{"4.19.0", BU_SPORT_QPN, BU_SPORT_UNKNOWN},
		{"5.15.0-105-generic", BU_SPORT_QPN, BU_SPORT_UNKNOWN},
		{"5.16.20", BU_SPORT_QPN, BU_SPORT_UNKNOWN},
		{"5.17.0", BU_SPORT_LABEL, BU_SPORT_LABEL},
		{"6.1.0-56-amd64", BU_SPORT_LABEL, BU_SPORT_LABEL},
		{"6.8.0-151-generic", BU_SPORT_LABEL, BU_SPORT_LABEL},
		{"10.2.1", BU_SPORT_LABEL, BU_SPORT_LABEL},
		{"next", BU_SPORT_LABEL, BU_SPORT_UNKNOWN},
	};
	bu_autofree char *clean = NULL;

	strcpy(root, "/tmp/port_test.XXXXXX");
	make_tree();
	clean = bu_xasprintf("rm -rf %s", root);
	put_driver("mlx5_0", "../drivers/mlx5_core");
	put_driver("mlx5_7", "../drivers/mlx5_core.sf");
	put_driver("irdma0", "../drivers/ice");
	put_driver("hns_0", "../drivers/hns3");
	put_driver("bnxt_re0", "../drivers/bnxt_en");
	put_driver("mlx4_0", "../drivers/mlx4_core");
	ck_assert_int_eq(bu_port_sport(root, "rxe0"), BU_SPORT_LABEL);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		put("proc/sys/kernel/osrelease", rows[i].release);
		ck_assert_msg(bu_port_sport(root, "rxe0") == rows[i].soft, "%s",
			      rows[i].release);
		ck_assert_msg(bu_port_sport(root, "irdma0") == rows[i].adapter, "%s",
			      rows[i].release);
		ck_assert_int_eq(bu_port_sport(root, "hns_0"), rows[i].adapter);
		ck_assert_int_eq(bu_port_sport(root, "mlx5_0"), BU_SPORT_LABEL);
		ck_assert_int_eq(bu_port_sport(root, "mlx5_7"), BU_SPORT_LABEL);
		ck_assert_int_eq(bu_port_sport(root, "bnxt_re0"), BU_SPORT_UNKNOWN);
		ck_assert_int_eq(bu_port_sport(root, "mlx4_0"), BU_SPORT_UNKNOWN);
		ck_assert_int_eq(bu_port_sport(root, "siw0"), BU_SPORT_UNKNOWN);
	}
	ck_assert_int_eq(system(clean), 0);
}
END_TEST

#define HW(its_device) IB its_device "/ports/1/hw_counters/"

/* A file of each driver, and the row that it counts for. */
static const struct {
	const char *device, *path;
	enum bu_counter counter;
} named[] = {
	{"bnxt_re0", HW("bnxt_re0") "to_retransmits", BU_COUNTER_LOCAL_ACK_TIMEOUT_ERR},
	{"bnxt_re0", HW("bnxt_re0") "seq_err_naks_rcvd", BU_COUNTER_PACKET_SEQ_ERR},
	{"bnxt_re0", HW("bnxt_re0") "oos_drop_count", BU_COUNTER_OUT_OF_SEQUENCE},
	{"bnxt_re0", HW("bnxt_re0") "missing_resp", BU_COUNTER_IMPLIED_NAK_SEQ_ERR},
	{"bnxt_re0", HW("bnxt_re0") "max_retry_exceeded",
	 BU_COUNTER_RETRY_EXCEEDED_ERR},
	{"bnxt_re0", HW("bnxt_re0") "dup_req", BU_COUNTER_DUPLICATE_REQUEST},
	{"bnxt_re0", HW("bnxt_re0") "rx_roce_discards", BU_COUNTER_RX_ROCE_DISCARDS},
	{"bnxt_re0", HW("bnxt_re0") "rx_roce_errors", BU_COUNTER_RX_ROCE_ERRORS},
	{"bnxt_re0", HW("bnxt_re0") "rnr_naks_rcvd", BU_COUNTER_RNR_NAK_RETRY_ERR},
	{"bnxt_re0", HW("bnxt_re0") "rx_out_of_buffer", BU_COUNTER_OUT_OF_BUFFER},
	{"bnxt_re0", HW("bnxt_re0") "rx_cnp_pkts", BU_COUNTER_RP_CNP_HANDLED},
	{"bnxt_re0", HW("bnxt_re0") "tx_cnp_pkts", BU_COUNTER_NP_CNP_SENT},
	{"bnxt_re0", HW("bnxt_re0") "rx_ecn_marked_pkts", BU_COUNTER_NP_ECN_MARKED},
	{"bnxt_re0", HW("bnxt_re0") "tx_pkts", BU_COUNTER_PORT_XMIT_PACKETS},
	{"bnxt_re0", HW("bnxt_re0") "rx_pkts", BU_COUNTER_PORT_RCV_PACKETS},
	{"bnxt_re1", HW("bnxt_re1") "local_ack_timeout_err",
	 BU_COUNTER_LOCAL_ACK_TIMEOUT_ERR},
	{"bnxt_re1", HW("bnxt_re1") "np_cnp_pkts", BU_COUNTER_NP_CNP_SENT},
	{"irdma0", HW("irdma0") "RetransSegs", BU_COUNTER_RETRANS_SEGS},
	{"irdma0", HW("irdma0") "cnpHandled", BU_COUNTER_RP_CNP_HANDLED},
	{"irdma0", HW("irdma0") "cnpSent", BU_COUNTER_NP_CNP_SENT},
	{"irdma0", HW("irdma0") "RxECNMrkd", BU_COUNTER_NP_ECN_MARKED},
	{"irdma0", HW("irdma0") "TxUDP", BU_COUNTER_PORT_XMIT_PACKETS},
	{"irdma0", HW("irdma0") "RxUDP", BU_COUNTER_PORT_RCV_PACKETS},
	{"irdma0", HW("irdma0") "Nak Sequence Error", BU_COUNTER_PACKET_SEQ_ERR},
	{"irdma0", HW("irdma0") "Nak Sequence Error Implied",
	 BU_COUNTER_IMPLIED_NAK_SEQ_ERR},
	{"irdma0", HW("irdma0") "RTO", BU_COUNTER_LOCAL_ACK_TIMEOUT_ERR},
	{"irdma0", HW("irdma0") "Rcvd Out of order packets",
	 BU_COUNTER_OUT_OF_SEQUENCE},
	{"irdma0", HW("irdma0") "CRC errors", BU_COUNTER_RX_ICRC_ENCAPSULATED},
	{"irdma0", HW("irdma0") "RNR received", BU_COUNTER_RNR_NAK_RETRY_ERR},
	{"irdma0", HW("irdma0") "RNR sent", BU_COUNTER_SEND_RNR_ERR},
	{"irdma1", HW("irdma1") "tcpRetransSegs", BU_COUNTER_RETRANS_SEGS},
	{"mlx4_0", HW("mlx4_0") "sq_num_to", BU_COUNTER_LOCAL_ACK_TIMEOUT_ERR},
	{"mlx4_0", HW("mlx4_0") "sq_num_oos", BU_COUNTER_PACKET_SEQ_ERR},
	{"mlx4_0", HW("mlx4_0") "rq_num_oos", BU_COUNTER_OUT_OF_SEQUENCE},
	{"mlx4_0", HW("mlx4_0") "sq_num_tree", BU_COUNTER_RETRY_EXCEEDED_ERR},
	{"mlx4_0", HW("mlx4_0") "rq_num_dup", BU_COUNTER_DUPLICATE_REQUEST},
	{"mlx4_0", HW("mlx4_0") "sq_num_rnr", BU_COUNTER_RNR_NAK_RETRY_ERR},
	{"mlx4_0", HW("mlx4_0") "rq_num_rnr", BU_COUNTER_SEND_RNR_ERR},
	{"mlx4_1", IB "mlx4_1/hw_counters/sq_num_oos", BU_COUNTER_PACKET_SEQ_ERR},
	{"hns_0", HW("hns_0") "rx_cnp_pkt", BU_COUNTER_RP_CNP_HANDLED},
	{"hns_0", HW("hns_0") "tx_cnp_pkt", BU_COUNTER_NP_CNP_SENT},
	{"hns_0", HW("hns_0") "tx_pkt", BU_COUNTER_PORT_XMIT_PACKETS},
	{"hns_0", HW("hns_0") "rx_pkt", BU_COUNTER_PORT_RCV_PACKETS},
};

START_TEST(each_driver_has_names_of_its_own)
{
	bu_autofree char *clean = NULL;
	struct bu_counters counters;

	strcpy(root, "/tmp/port_test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	clean = bu_xasprintf("rm -rf %s", root);
	for (size_t i = 0; i < BU_LEN(named); i++) {
		bu_autofree char *count = bu_xasprintf("%zu\n", i + 1);

		put(named[i].path, count);
	}
	for (size_t i = 0; i < BU_LEN(named); i++) {
		bu_port_counters(root, named[i].device, 1, 0, &counters);
		ck_assert_msg(counters.count[named[i].counter] == (int64_t)i + 1, "%s",
			      named[i].path);
	}
	ck_assert_int_eq(bu_port_tells_losses(root, "bnxt_re0", 1), 1);
	ck_assert_int_eq(bu_port_tells_losses(root, "irdma1", 1), 1);
	ck_assert_int_eq(bu_port_tells_losses(root, "mlx4_1", 1), 1);
	ck_assert_int_eq(bu_port_tells_losses(root, "hns_0", 1), 0);
	/* Whose port it was, the device does not tell. */
	put(IB "mlx4_1/ports/2/state", "4: ACTIVE\n");
	ck_assert_int_eq(bu_port_tells_losses(root, "mlx4_1", 1), 0);
	ck_assert_int_eq(system(clean), 0);
}
END_TEST

/* Unknown VLANs, LLDP: no RDMA packet passes an adapter's interface. */
START_TEST(what_an_interface_drops_counts_in_software_alone)
{
	static const struct {
		const char *device;
		int counts;
	} rows[] = {{"mlx5_0", 0}, {"rxe0", 1}, {"siw0", 1}, {"rxe1", 1}};
	bu_autofree char *clean = NULL;
	struct bu_counters counters;

	strcpy(root, "/tmp/port_test.XXXXXX");
	make_tree();
	clean = bu_xasprintf("rm -rf %s", root);
	put("sys/class/net/eth7/statistics/rx_dropped", "40\n");
	put("sys/class/net/eth7/statistics/tx_dropped", "41\n");
	put(IB "rxe0/ports/1/gid_attrs/ndevs/3", "eth7\n");
	put(IB "siw0/ports/1/gid_attrs/ndevs/3", "eth7\n");
	/* Old kernels show the card below it. */
	put(IB "rxe1/parent", "eth7\n");
	put(IB "rxe1/device/numa_node", "0\n");
	put(IB "rxe1/ports/1/gid_attrs/ndevs/3", "eth7\n");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_port_counters(root, rows[i].device, 1, 3, &counters);
		ck_assert_msg(counters.count[BU_COUNTER_RX_DROPPED] ==
				      (rows[i].counts ? 40 : -1),
			      "%s", rows[i].device);
		ck_assert_int_eq(counters.count[BU_COUNTER_TX_DROPPED],
				 rows[i].counts ? 41 : -1);
		ck_assert_int_eq(counters.count[BU_COUNTER_RX_CRC_ERRORS], 5);
	}
	ck_assert_int_eq(system(clean), 0);
}
END_TEST

BU_UNIT("port", a_port_by_its_files, only_some_make_source_ports_of_flow_labels,
	each_driver_has_names_of_its_own,
	what_an_interface_drops_counts_in_software_alone)
