/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the audit share: the facts that were collected once, and how a row
 * reports. */
#ifndef BU_CHECKS_AUDIT_AUDIT_IMPL_H
#define BU_CHECKS_AUDIT_AUDIT_IMPL_H

#include <infiniband/verbs.h>

#include "checks/audit/audit.h"
#include "checks/audit/audit_rows.h"

enum {
	AUDIT_NICS_MAX = 256,
	AUDIT_PORTS_MAX = 256,
	AUDIT_PCI_MAX = 128, /* judged endpoints: GPUs and fabric NICs */
	AUDIT_HOPS_MAX = 16,
	BU_AUDIT_STAMPS_MAX = 100000, /* errors of the log */
};

struct bu_audit_nic {
	char name[16];
	char mac[64];
	char pci[16]; /* "" = not on PCI */
	int virtio;
	int ipoib;
	const json_t *network; /* what is expected of it; NULL = nothing */
	/* The network whose cable is at it: its own, or that of a bond or a VLAN over
	 * it; NULL = none. */
	const json_t *cable;
	struct bu_audit_nic *bond; /* that it is a port of; NULL = none */
	int is_bond;               /* it has ports */
	char label[80];            /* "eth1 (network fabric)" */
};

struct bu_audit_port { /* of an RDMA device */
	char device[32];
	int port;
	char name[48]; /* "mlx5_0", "mlx5_0/2" */
	int software;  /* rxe, siw: no PCI device, its rate means nothing */
	int infiniband;
	char pci[16];
	char netdev[16];
	const struct bu_audit_nic *nic; /* NULL = none */
	const json_t *network;          /* what is expected of it */
	char label[112];                /* "mlx5_0/2 (network fabric)" */
};

struct bu_audit_end {     /* of a cable, or of those of a bond */
	char name[48];    /* of the interface, or of an InfiniBand port without one */
	char label[112];  /* with its network */
	const char *want; /* "leaf01:swp3", of the profile; NULL = nothing */
	struct bu_lldp
		*ports; /* those of its NICs that have a link, in a fixed order */
	size_t count;
	size_t nics; /* all of them */
};

struct bu_audit_pci { /* an endpoint that is judged */
	char address[16];
	int is_gpu;
	int used;       /* a GPU, or a NIC with a network of the profile */
	int rests;      /* without load its own link slows down */
	char label[80]; /* "NIC mlx5_0 (0000:18:00.0)" */
	char hops[AUDIT_HOPS_MAX][16]; /* from the root port to itself */
	int hop_count;
	int numa;
	double link_gbps; /* of its network; 0 = unknown */
};

struct bu_audit {
	const struct bu_checks_ctx *ctx;
	const struct bu_audit_probes *probes;
	struct bu_checks *out;
	const struct bu_audit_row *row; /* the present one */
	const char *root;
	int notes_only; /* what is looked at is used by nothing: no finding fails */
	size_t nic_count, port_count, pci_count;
	struct bu_audit_nic nics[AUDIT_NICS_MAX];
	struct bu_audit_port ports[AUDIT_PORTS_MAX];
	struct bu_audit_pci pci[AUDIT_PCI_MAX];
	/* Who is there, and at which end. */
	struct bu_lldp lldp[BU_LLDP_PORTS_MAX];
	struct bu_audit_end ends[BU_LLDP_PORTS_MAX];
	size_t lldp_count, end_count;
};

void bu_audit_collect(struct bu_audit *a);
struct bu_audit_nic *bu_audit_nic_find(struct bu_audit *a, const char *name);
/* The interface of an expected network; NULL. */
const struct bu_audit_nic *bu_audit_nic_of(const struct bu_audit *a,
					   const json_t *network);
const char *bu_audit_network_name(const json_t *network);
/* "eth1 (network fabric)"; network NULL: the name alone. */
void bu_audit_label(char *ret, size_t size, const char *name, const json_t *network);
/* Of each interface its bond, then, with all networks known, the one of its cable. */
void bu_audit_find_bonds(struct bu_audit *a);
void bu_audit_find_cables(struct bu_audit *a);
/* The NICs that have the cables of an interface: those below a bond or a VLAN, else
 * itself. */
void bu_audit_each_below(const char *root, const char *name,
			 void (*fn)(const char *name, void *arg), void *arg);
/* Of the ports those that carry a network. */
void bu_audit_each_port(struct bu_audit *a,
			void (*fn)(struct bu_audit *a,
				   const struct bu_audit_port *port));
/* What the rows about its cable call a port: its interface, where it has one. */
const char *bu_audit_end_name(const struct bu_audit_port *port);
const char *bu_audit_end_label(const struct bu_audit_port *port);
/* The first line of a file of the port; "" when there is none. */
void bu_audit_port_line(const struct bu_audit *a, const struct bu_audit_port *port,
			const char *file, char *ret, size_t size);
/* NUMA nodes with CPUs that the machine has; at least 1. */
int bu_audit_numa_nodes(const struct bu_audit *a);

int bu_audit_gpus(const struct bu_audit *a);
/* Each line of the kernel's log; 0: it cannot be read, and the row says so. */
typedef void (*bu_audit_line_fn)(struct bu_audit *a, char *line, void *arg);
int bu_audit_each_line(struct bu_audit *a, bu_audit_line_fn fn, void *arg);

/* This endpoint is looked at: of one that nothing uses, what is found is a warning. */
void bu_audit_look_at(struct bu_audit *a, const struct bu_audit_pci *pci);

/* A number of expect.thresholds. */
int64_t bu_audit_threshold(const struct bu_audit *a, const char *name, int64_t usual);

/* A row that passed: what was seen. */
struct bu_check *bu_audit_good(struct bu_audit *a, const char *subject, const char *fmt,
			       ...) __attribute__((format(printf, 3, 4)));
/* A finding; fmt is the line for people. */
void bu_audit_bad(struct bu_audit *a, const char *subject, const char *seen,
		  const char *expected, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Passed or a finding: in both, this was seen. */
void bu_audit_judge(struct bu_audit *a, int passed, const char *subject,
		    const char *seen, const char *expected, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* It should have been judged and could not. */
void bu_audit_unknown(struct bu_audit *a, const char *subject, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A warning whatever the row's severity (none where that is off), with a hint of its
 * own; a finding with a hint of its own. */
void bu_audit_note(struct bu_audit *a, const char *subject, const char *seen,
		   const char *expected, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
void bu_audit_bad_hint(struct bu_audit *a, const char *subject, const char *seen,
		       const char *expected, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/* The same, and it is worth being asked for again. */
void bu_audit_undone(struct bu_audit *a, const char *subject, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* An RDMA device by its name; NULL and errno. ibv_close_device() closes it. */
struct ibv_context *bu_audit_open(const char *device);
/* As struct bu_audit_probes has it. */
int bu_audit_lock(const char *root, const char *device, const struct rlimit *limit,
		  char *ret_said, size_t size);

int bu_audit_lock_bytes(const char *device, size_t bytes, const struct rlimit *limit,
			char *ret_said, size_t size);

/* One function per row. */
#define X(fn, ...) void bu_audit_##fn(struct bu_audit *a);
BU_AUDIT_ROWS(X)
#undef X

#endif
