/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path MTU of RDMA that an interface's MTU has room for, as Linux computes it. The
 * audit wants it of a port, the gate looks up the rate at it. Pure.
 */
#ifndef BU_MODEL_MTU_H
#define BU_MODEL_MTU_H

#include <stdint.h>

/* Bytes of the interface's MTU that the kernel keeps for headers: of RoCE the GRH (40),
 * UDP (8), BTH (12), the extensions of XRC (4) and of an atomic (28), and the ICRC (4);
 * soft-RoCE has a number of its own; an IPoIB packet is 4 bytes less than InfiniBand's.
 */
enum bu_mtu_headers { BU_MTU_ROCE = 96, BU_MTU_SOFT_ROCE = 80, BU_MTU_IPOIB = -4 };

/* 256 to 4096, a power of two; 0 where not even 256 fit. Bytes, all of them. */
int bu_path_mtu(int64_t mtu, enum bu_mtu_headers headers);

#endif
