/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by verbs.c (set-up) and transfer.c (runs); nobody else includes it. */
#ifndef BU_FABRIC_MEASURE_VERBS_IMPL_H
#define BU_FABRIC_MEASURE_VERBS_IMPL_H

#include "fabric/measure/device.h"
#include "fabric/measure/verbs.h"

/* The region rotates over more slots than are under way, so that a slot is never
 * rewritten before its last write was acknowledged. */
enum { SLOTS = 4 * BU_VERBS_WINDOW, HEAD_BYTES = 4096, PING_IN = 0, PING_OUT = 64 };

/* Memory, one region: HEAD_BYTES of ping cells, SLOTS messages that the peer writes to,
 * SLOTS messages that are sent. */
struct bu_verbs {
	struct bu_device device;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *memory;
	uint32_t message_bytes;
	uint32_t psn;
	uint64_t peer_addr;
	uint32_t peer_rkey;
	int armed;   /* the CQ will raise an event */
	int pending; /* writes without a completion */
};

#endif
