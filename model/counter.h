/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of an RDMA port that a probe reads before and after, under the names
 * that the kernel gives them in sysfs (ports/N/counters, ports/N/hw_counters, the
 * network interface's statistics). One table: what a row means decides what the judge
 * does with it. Pure.
 */
#ifndef BU_MODEL_COUNTER_H
#define BU_MODEL_COUNTER_H

#include <stdint.h>

#include "base/record.h"

/* TRAFFIC: moves in health. LOSS: packets were lost or came in the wrong order.
 * CONGESTION: the fabric slowed the sender down. ERROR: the adapter refused a request.
 * LINK: the cable, the transceiver or the port. */
#define BU_COUNTERS(X)                                                                 \
	X(PORT_XMIT_DATA, "port_xmit_data", TRAFFIC) /* words of four bytes */         \
	X(PORT_RCV_DATA, "port_rcv_data", TRAFFIC)                                     \
	X(PORT_XMIT_PACKETS, "port_xmit_packets", TRAFFIC)                             \
	X(PORT_RCV_PACKETS, "port_rcv_packets", TRAFFIC)                               \
	X(SENT_PKTS, "sent_pkts", TRAFFIC) /* soft-RoCE */                             \
	X(RCVD_PKTS, "rcvd_pkts", TRAFFIC)                                             \
	X(OUT_OF_SEQUENCE, "out_of_sequence", LOSS)                                    \
	X(OUT_OF_SEQ_REQUEST, "out_of_seq_request", LOSS) /* soft-RoCE */              \
	X(PACKET_SEQ_ERR, "packet_seq_err", LOSS)                                      \
	X(RCVD_SEQ_ERR, "rcvd_seq_err", LOSS) /* soft-RoCE */                          \
	X(IMPLIED_NAK_SEQ_ERR, "implied_nak_seq_err", LOSS)                            \
	X(LOCAL_ACK_TIMEOUT_ERR, "local_ack_timeout_err", LOSS)                        \
	X(COMPLETER_RETRY_ERR, "completer_retry_err", LOSS) /* soft-RoCE */            \
	X(RETRY_EXCEEDED_ERR, "retry_exceeded_err", LOSS)   /* soft-RoCE */            \
	X(DUPLICATE_REQUEST, "duplicate_request", LOSS)                                \
	X(ROCE_ADP_RETRANS, "roce_adp_retrans", LOSS)                                  \
	X(RX_ICRC_ENCAPSULATED, "rx_icrc_encapsulated", LOSS)                          \
	X(RX_DROPPED, "rx_dropped", LOSS) /* network interface */                      \
	X(TX_DROPPED, "tx_dropped", LOSS)                                              \
	X(NP_CNP_SENT, "np_cnp_sent", CONGESTION)                                      \
	X(NP_ECN_MARKED, "np_ecn_marked_roce_packets", CONGESTION)                     \
	X(RP_CNP_HANDLED, "rp_cnp_handled", CONGESTION)                                \
	X(ROCE_SLOW_RESTART, "roce_slow_restart", CONGESTION)                          \
	X(PORT_XMIT_WAIT, "port_xmit_wait", CONGESTION)                                \
	X(OUT_OF_BUFFER, "out_of_buffer", ERROR)                                       \
	X(RNR_NAK_RETRY_ERR, "rnr_nak_retry_err", ERROR)                               \
	X(SEND_RNR_ERR, "send_rnr_err", ERROR) /* soft-RoCE */                         \
	X(RCVD_RNR_ERR, "rcvd_rnr_err", ERROR)                                         \
	X(REQ_CQE_ERROR, "req_cqe_error", ERROR)                                       \
	X(RESP_CQE_ERROR, "resp_cqe_error", ERROR)                                     \
	X(SYMBOL_ERROR, "symbol_error", LINK)                                          \
	X(LINK_ERROR_RECOVERY, "link_error_recovery", LINK)                            \
	X(LINK_DOWNED, "link_downed", LINK)                                            \
	X(PORT_RCV_ERRORS, "port_rcv_errors", LINK)                                    \
	X(PORT_RCV_PHYSICAL, "port_rcv_remote_physical_errors", LINK)                  \
	X(PORT_XMIT_DISCARDS, "port_xmit_discards", LINK)                              \
	X(LOCAL_LINK_INTEGRITY, "local_link_integrity_errors", LINK)                   \
	X(BUFFER_OVERRUN, "excessive_buffer_overrun_errors", LINK)                     \
	X(RX_CRC_ERRORS, "rx_crc_errors", LINK) /* network interface */                \
	X(RX_ERRORS, "rx_errors", LINK)                                                \
	X(TX_ERRORS, "tx_errors", LINK)                                                \
	X(CARRIER_CHANGES, "carrier_changes", LINK)

enum bu_counter {
#define X(id, name, kind) BU_COUNTER_##id,
	BU_COUNTERS(X)
#undef X
		BU_COUNTER_COUNT
};

enum bu_counter_kind {
	BU_COUNTER_TRAFFIC,
	BU_COUNTER_LOSS,
	BU_COUNTER_CONGESTION,
	BU_COUNTER_ERROR,
	BU_COUNTER_LINK
};

/* One reading, or what was added between two. -1: the port has no such counter. */
struct bu_counters {
	int64_t count[BU_COUNTER_COUNT];
};

const char *bu_counter_name(enum bu_counter counter);
enum bu_counter_kind bu_counter_kind(enum bu_counter counter);
/* How many a port with a good cable counts in so many seconds, of the LINK rows that a
 * machine is held for; INFINITY: nothing is said of it. Source: fabric reference 2.6
 * (NVSentinel). */
double bu_counter_most(enum bu_counter counter, double seconds);
void bu_counters_init(struct bu_counters *counters); /* all -1 */
/* What was added; a counter that went backwards was reset and counts as -1. */
void bu_counters_since(const struct bu_counters *before,
		       const struct bu_counters *after, struct bu_counters *ret);
/* {"sent_pkts":12,...}: the rows that are there; other names are passed over. */
extern const struct bu_field bu_counter_fields[];

#endif
