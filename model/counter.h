/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of an RDMA port that a probe reads before and after, by their names in
 * sysfs (ports/N/counters, ports/N/hw_counters, the network interface's statistics).
 * The meaning of a row decides the judge's use of it. Pure.
 */
#ifndef BU_MODEL_COUNTER_H
#define BU_MODEL_COUNTER_H

#include <stdint.h>

#include "base/record.h"

/* TRAFFIC: counts in health. LOSS: packets lost or out of order. CONGESTION: the fabric
 * slowed the sender. ERROR: the adapter refused a request. LINK: a fault of the cable,
 * the transceiver or the port. */
#define BU_COUNTERS(X)                                                                 \
	X(PORT_XMIT_DATA, "port_xmit_data", TRAFFIC) /* 4-byte words */                \
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
	X(RETRANS_SEGS, "RetransSegs", LOSS)          /* irdma */                      \
	X(RX_ROCE_DISCARDS, "rx_roce_discards", LOSS) /* bnxt_re */                    \
	X(RX_ROCE_ERRORS, "rx_roce_errors", LOSS)     /* bnxt_re */                    \
	X(RX_DROPPED, "rx_dropped", LOSS) /* network interface, RDMA in software */    \
	X(TX_DROPPED, "tx_dropped", LOSS) /* likewise */                               \
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

/* Names of the same rows in other drivers. Sources: Linux, drivers/infiniband/hw:
 * bnxt_re/hw_counters.c (with the names of Broadcom's patch of August 2025, which are
 * mlx5's but for np_cnp_pkts), irdma/verbs.c (5.14 on; names with blanks: its third
 * generation), mlx4/main.c, hns/hns_roce_main.c. hns counts no lost packets. */
#define BU_COUNTER_ALIASES(X)                                                          \
	X(PORT_XMIT_PACKETS, "tx_pkts") /* bnxt_re */                                  \
	X(PORT_XMIT_PACKETS, "TxUDP")   /* irdma */                                    \
	X(PORT_XMIT_PACKETS, "tx_pkt")  /* hns */                                      \
	X(PORT_RCV_PACKETS, "rx_pkts")                                                 \
	X(PORT_RCV_PACKETS, "RxUDP")                                                   \
	X(PORT_RCV_PACKETS, "rx_pkt")                                                  \
	X(OUT_OF_SEQUENCE, "oos_drop_count")            /* bnxt_re */                  \
	X(OUT_OF_SEQUENCE, "Rcvd Out of order packets") /* irdma */                    \
	X(OUT_OF_SEQUENCE, "rq_num_oos")                /* mlx4 */                     \
	X(PACKET_SEQ_ERR, "seq_err_naks_rcvd")                                         \
	X(PACKET_SEQ_ERR, "Nak Sequence Error")                                        \
	X(PACKET_SEQ_ERR, "sq_num_oos")                                                \
	X(IMPLIED_NAK_SEQ_ERR, "missing_resp")               /* bnxt_re */             \
	X(IMPLIED_NAK_SEQ_ERR, "Nak Sequence Error Implied") /* irdma */               \
	X(LOCAL_ACK_TIMEOUT_ERR, "to_retransmits")                                     \
	X(LOCAL_ACK_TIMEOUT_ERR, "RTO")                                                \
	X(LOCAL_ACK_TIMEOUT_ERR, "sq_num_to")                                          \
	X(RETRY_EXCEEDED_ERR, "max_retry_exceeded") /* bnxt_re */                      \
	X(RETRY_EXCEEDED_ERR, "sq_num_tree")        /* mlx4 */                         \
	X(DUPLICATE_REQUEST, "dup_req")                                                \
	X(DUPLICATE_REQUEST, "rq_num_dup")                                             \
	X(RX_ICRC_ENCAPSULATED, "CRC errors")  /* irdma */                             \
	X(RETRANS_SEGS, "tcpRetransSegs")      /* older irdma */                       \
	X(NP_CNP_SENT, "tx_cnp_pkts")          /* bnxt_re */                           \
	X(NP_CNP_SENT, "np_cnp_pkts")          /* bnxt_re */                           \
	X(NP_CNP_SENT, "cnpSent")              /* irdma */                             \
	X(NP_CNP_SENT, "tx_cnp_pkt")           /* hns */                               \
	X(NP_ECN_MARKED, "rx_ecn_marked_pkts") /* bnxt_re */                           \
	X(NP_ECN_MARKED, "RxECNMrkd")          /* irdma */                             \
	X(RP_CNP_HANDLED, "rx_cnp_pkts")                                               \
	X(RP_CNP_HANDLED, "cnpHandled")                                                \
	X(RP_CNP_HANDLED, "rx_cnp_pkt")                                                \
	X(OUT_OF_BUFFER, "rx_out_of_buffer")  /* bnxt_re */                            \
	X(RNR_NAK_RETRY_ERR, "rnr_naks_rcvd") /* bnxt_re */                            \
	X(RNR_NAK_RETRY_ERR, "RNR received")  /* irdma */                              \
	X(RNR_NAK_RETRY_ERR, "sq_num_rnr")    /* mlx4 */                               \
	X(SEND_RNR_ERR, "RNR sent")                                                    \
	X(SEND_RNR_ERR, "rq_num_rnr")

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

/* One reading, or the increments between two. -1 = the port has no such counter. */
struct bu_counters {
	int64_t count[BU_COUNTER_COUNT];
};

const char *bu_counter_name(enum bu_counter counter);
/* Other name number `index`, from 0; NULL = no more. */
const char *bu_counter_alias(enum bu_counter counter, int index);
enum bu_counter_kind bu_counter_kind(enum bu_counter counter);
/* Most counts of a LINK row on a port with a good cable in so many seconds; INFINITY =
 * no limit for this row. Source: fabric reference 2.6 (NVSentinel). */
double bu_counter_most(enum bu_counter counter, double seconds);
void bu_counters_init(struct bu_counters *counters); /* all -1 */
/* The increments. A counter that went backwards was reset: -1. */
void bu_counters_since(const struct bu_counters *before,
		       const struct bu_counters *after, struct bu_counters *ret);
/* {"sent_pkts":12,...}: the existing counters; other names are ignored. */
extern const struct bu_field bu_counter_fields[];

#endif
