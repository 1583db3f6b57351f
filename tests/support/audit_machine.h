/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For tests of the audit: a good machine as a tree of files. Two NUMA nodes, each with
 * a PCIe switch that has a GPU and a fabric NIC below it: RoCE (eth1, mlx5_0) and
 * InfiniBand (ib0, mlx5_1); eth0 is on the boot network.
 */
#ifndef BU_TESTS_SUPPORT_AUDIT_MACHINE_H
#define BU_TESTS_SUPPORT_AUDIT_MACHINE_H

#include "checks/audit/audit.h"

#define R0 "sys/devices/pci0000:10/0000:10:00.0"
#define U0 R0 "/0000:11:00.0"
#define D0 U0 "/0000:12:00.0"
#define E0 U0 "/0000:12:01.0"
#define GPU0 D0 "/0000:13:00.0"
#define NIC0 E0 "/0000:14:00.0"
#define R1 "sys/devices/pci0000:90/0000:90:00.0"
#define U1 R1 "/0000:91:00.0"
#define D1 U1 "/0000:92:00.0"
#define E1 U1 "/0000:92:01.0"
#define GPU1 D1 "/0000:93:00.0"
#define NIC1 E1 "/0000:94:00.0"
#define BOOT "sys/devices/pci0000:00/0000:02:00.0"
#define NET "sys/class/net/"
#define IB "sys/class/infiniband/"
#define MLX0 IB "mlx5_0/"
#define MLX1 IB "mlx5_1/"
#define PORT0 MLX0 "ports/1/"
#define PORT1 MLX1 "ports/1/"
#define CPU "sys/devices/system/cpu/"

/* Of what is expected: the RoCE port as a profile names it by itself, to be ended. */
#define ROCE_PORT                                                                      \
	"{\"networks\":[{\"name\":\"roce\",\"rdma\":true,\"port\":\"mlx5_0/1\","

/* What is expected of it, JSON. */
extern const char bu_audit_machine_expected[];
/* Plays what is not in files: test/mtu/DEVICE, test/pfc/INTERFACE, test/lock/DEVICE
 * ("register..." was refused) and test/lldp/INTERFACE ("switch port"),
 * test/lldp/denied, test/ib/DEVICE. */
extern const struct bu_audit_probes bu_audit_machine_probes;

/* A new folder; without the machine in it when empty. Returns it. */
const char *bu_audit_machine_build(int empty);
/* The audit of the machine that was built last; it runs to its end. */
void bu_audit_machine_audit(const json_t *expect, struct bu_checks *ret);
void bu_audit_machine_remove(void);
/* Puts a file into it, NULL removes file or folder. "config FOLDER" of a PCI function:
 * "offset=byte" in hex; "mode FILE": its mode, octal. */
void bu_audit_machine_change(const char *path, const char *content);
/* Takes all changes back. */
void bu_audit_machine_restore(void);
void bu_audit_machine_link(const char *path, const char *target);
void bu_audit_machine_bytes(const char *path, const void *content, size_t size);

#endif
