/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static audit: what sysfs, procfs, PCI configuration space, netlink and the
 * kernel's log say before anything is under load. One row of audit_rows.h per check.
 *
 * What it reads of expect (an absent member is not judged):
 * NETWORK {"name","mac"|"pci"|"netdev": which interface, or "port": that of this RDMA
 *	port,"infiniband":bool,"mtu","link_gbps","rdma":bool,"rail","address",
 *	"gid_index","gid_family","pkeys":[text],"firmware":[text],"pfc":[priority],
 *	"ecn":bool,"dscp"}
 * HOST {"hugepages":{"2048kB":pages},"smt":bool,"governor":text,"cstate_us"}
 * thresholds {"aer_correctable","max_read_request","carrier_downs","lldp_wait_ms",
 *	"gpu_pcie_width","nic_pcie_width","corrected_errors"}
 * events [row of model/kernel_event.h]
 * lldp {NETWORK's name or interface: "switch:port"|"switch"}: when it is there, also
 * empty, the audit listens on all interfaces of fabric networks.
 */
#ifndef BU_CHECKS_AUDIT_AUDIT_H
#define BU_CHECKS_AUDIT_AUDIT_H

#include <sys/resource.h>

#include "checks/audit/lldp.h"
#include "checks/checks.h"

struct bu_audit_row {
	const char *id;
	enum bu_verdict severity; /* of a finding: fail or warn */
	const char *what;         /* looked at */
	const char *how;
	const char *expectation;
	const char *hint; /* what to do about a finding */
};
/* The table, in the order of the report. */
const struct bu_audit_row *bu_audit_rows(size_t *ret_count);

/* What is not in files; a test plays it. NULL members are not judged. */
struct bu_audit_probes {
	/* MTU in use at an RDMA port, bytes; -1 when it cannot be asked. */
	int (*rdma_mtu)(const char *root, const char *device, int port);
	/* 1: the verbs know this device, 0: they have no provider for it; -1 when it
	 * cannot be asked. */
	int (*rdma_provider)(const char *root, const char *device);
	/* Bit per priority that has PFC on, of an interface; -1 unknown. */
	int (*pfc)(const char *root, const char *netdev);
	/* Registers memory at a device as a job would: as user nobody, with this limit.
	 * 0 or 1 (it was refused) and what happened; -1: it could not be tried, and
	 * why. */
	int (*lock)(const char *root, const char *device, const struct rlimit *limit,
		    char *ret_said, size_t size);
	/* As bu_lldp_listen(); NULL: not done. */
	int (*lldp)(struct bu_lldp *ports, size_t count, int64_t wait_ms,
		    int (*stop)(void *arg), void *arg, struct bu_err *err);
	/* As bu_ib_peer(); NULL: not done. */
	int (*ib_peer)(const char *root, const char *device, int port, int wait_ms,
		       struct bu_lldp *ret, struct bu_err *err);
	/* Lets time go by while links and drivers of a machine that has just booted
	 * settle; NULL: what is not there is a finding at once. */
	void (*pause)(int64_t ms);
};

/* The group `audit`: all rows, on the running system. */
bu_must int bu_audit_run(const struct bu_checks_ctx *ctx, struct bu_checks *out,
			 struct bu_err *err);
/* The same with other probes. */
bu_must int bu_audit_run_with(const struct bu_checks_ctx *ctx,
			      const struct bu_audit_probes *probes,
			      struct bu_checks *out, struct bu_err *err);

#endif
