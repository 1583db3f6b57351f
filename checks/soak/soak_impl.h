/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by soak.c (the slice), soak_ports.c (counters of RDMA ports) and soak_links.c
 * (load on the links); nothing else includes it. */
#ifndef BU_CHECKS_SOAK_SOAK_IMPL_H
#define BU_CHECKS_SOAK_SOAK_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "checks/soak/soak.h"
#include "fabric/probe/rails.h"
#include "model/counter.h"

/* id, verdict when it grew, what, hint */
#define BU_SOAK_ROWS(X)                                                                \
	X(MEMORY_LOST, "soak-memory-errors", FAIL,                                     \
	  "memory errors that could not be corrected",                                 \
	  "swap the DIMM that EDAC names")                                             \
	X(MEMORY_CORRECTED, "soak-memory-corrected", WARN,                             \
	  "memory errors that were corrected", "swap the DIMM if they go on")          \
	X(THROTTLE, "soak-throttle", FAIL, "throttling of the CPUs",                   \
	  "look at fans, heat sinks and power supplies")                               \
	X(PCIE_LOST, "soak-pcie-errors", FAIL, "PCIe errors that lost something",      \
	  "reseat the card; then swap card, riser, board in this order")               \
	X(PCIE_CORRECTED, "soak-pcie-corrected", WARN,                                 \
	  "PCIe errors that were corrected", "reseat the card or its riser")           \
	X(FLAPS, "soak-link-flaps", FAIL, "losses of the link's carrier",              \
	  "swap cable and transceiver; then the switch's port")                        \
	X(LINK_DOWNED, "soak-link-downed", FAIL, "times that the RDMA link went down", \
	  "swap cable and transceiver; then the switch's port")                        \
	X(SYMBOLS, "soak-symbol-errors", WARN, "symbol errors of the RDMA link",       \
	  "clean or swap cable and transceiver")                                       \
	X(SYMBOL_RATE, "soak-symbol-rate", FAIL,                                       \
	  "more symbol errors than 120 an hour",                                       \
	  "swap cable and transceiver; then the switch's port")                        \
	X(RECOVERIES, "soak-link-recoveries", FAIL,                                    \
	  "recoveries of the RDMA link, more than 5 a minute",                         \
	  "swap cable and transceiver; then the switch's port")                        \
	X(OVERRUNS, "soak-overruns", FAIL,                                             \
	  "buffer overruns and broken link integrity",                                 \
	  "swap the cable; look at flow control of the switch's port")                 \
	X(LINK_ERRORS, "soak-link-errors", WARN,                                       \
	  "packets that came damaged or were thrown away",                             \
	  "clean or swap cable and transceiver; see the switch port's counters")       \
	X(RDMA_ERRORS, "soak-rdma-errors", WARN, "requests that the adapter refused",  \
	  "update the card's firmware; if they go on, swap the card")                  \
	X(RNR, "soak-rnr", FAIL,                                                       \
	  "requests that failed because the peer was not ready",                       \
	  "update the card's firmware; if they go on, swap the card")                  \
	X(CONGESTION, "soak-congestion", WARN,                                         \
	  "signs of congestion, between neighbours at one switch",                     \
	  "look at PFC and ECN of the switch, and at what else uses it")               \
	/* No accusation: nobody knows which of both ends changed it. */               \
	X(PAYLOAD, BU_CHECK_SOAK_PAYLOAD, WARN,                                        \
	  "payload that came changed over the link",                                   \
	  "swap the cards of both ends by turns: one changes data under load")         \
	X(LINKS, "soak-links", WARN, "load on the links",                              \
	  "see whether the neighbour soaks, too, and whether its port is up")          \
	X(GPU_LOST, "soak-gpu-ecc", FAIL, "GPU memory errors that were not corrected", \
	  "swap the GPU")                                                              \
	X(GPU_CORRECTED, "soak-gpu-corrected", WARN,                                   \
	  "GPU memory errors that were corrected", "swap the GPU if they go on")       \
	X(GPU_LINKS, "soak-gpu-nvlink", WARN, "errors of the NVLinks",                 \
	  "reseat the GPU baseboard if they go on")                                    \
	X(GPU_REPLAYS, "soak-gpu-replays", WARN, "replays on the GPUs' PCIe links",    \
	  "reseat the GPU or its riser if they go on")                                 \
	X(GPU_COPY, "soak-gpu-copy", FAIL, "copies to and from the GPUs",              \
	  "swap the GPU: it fails or changes data under load")                         \
	X(GPU_COMPUTE, "soak-gpu-compute", FAIL, "computations of the GPUs",           \
	  "swap the GPU: it computes wrong results, or none")                          \
	X(GPU_IDLE, "soak-gpu-idle", WARN, "GPUs that did not compute",                \
	  "see which driver the image has; at most copies loaded the GPUs")            \
	X(CPU_WRONG, "soak-cpu", FAIL, "wrong results of a CPU", "swap the CPU")       \
	X(MEMORY_WRONG, "soak-memory", FAIL, "memory that did not hold its content",   \
	  "swap the DIMM")                                                             \
	X(DISK_WRONG, "soak-disk", FAIL, "reads of a disk that failed", "swap the disk")

enum bu_soak_kind {
#define X(id, name, verdict, what, hint) BU_SOAK_##id,
	BU_SOAK_ROWS(X)
#undef X
		BU_SOAK_COUNT
};

/* soak_rows.c. */
const struct bu_soak_row *bu_soak_row(enum bu_soak_kind kind);
void bu_soak_finding(struct bu_checks *out, enum bu_soak_kind kind, const char *subject,
		     const char *seen, const char *expected);

/* soak_ports.c. All ports of all RDMA devices. */
struct bu_soak_port {
	char subject[64]; /* "mlx5_0", "mlx5_0/2" of a device with several ports */
	struct bu_counters count;
};
struct bu_soak_ports {
	struct bu_soak_port *list;
	size_t count, cap;
	const char *root;
	char device[64]; /* whose ports are being looked at */
};
void bu_soak_ports_take(const char *root, struct bu_soak_ports *ret);
void bu_soak_ports_fini(struct bu_soak_ports *ports);
/* What grew in so many seconds by more than it may. */
void bu_soak_ports_judge(const struct bu_soak_ports *before,
			 const struct bu_soak_ports *after, double seconds,
			 struct bu_checks *out);

/* soak_links.c. Laps with the neighbour that expect.soak.link names, in a thread of its
 * own, until it is ended; a lap has the deadline of its work item. */
struct bu_soak_links {
	const struct bu_checks_ctx *ctx;
	struct bu_work_probe work;
	struct bu_rails_kept kept;
	pthread_t thread;
	int runs;
	atomic_int stop;
	int laps;            /* that went well */
	double moved_bytes;  /* by these */
	char changed[240];   /* payload that came changed; "" = none */
	char changed_on[64]; /* rail */
	char trouble[240];   /* of the last lap that did not */
};
/* Does nothing where no neighbour is named. */
void bu_soak_links_begin(const struct bu_checks_ctx *ctx, struct bu_soak_links *links);
void bu_soak_links_end(struct bu_soak_links *links, struct bu_checks *out);

#endif
