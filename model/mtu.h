/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The RDMA path MTU for an interface's MTU, as Linux computes it. The audit expects it
 * of ports, the gate looks up the rate for it. Pure.
 */
#ifndef BU_MODEL_MTU_H
#define BU_MODEL_MTU_H

#include <stdint.h>

/* Bytes of the interface's MTU that the kernel reserves for headers. RoCE: GRH (40),
 * UDP (8), BTH (12), XRC extension (4), atomic extension (28), ICRC (4). Soft-RoCE has
 * its own number. An IPoIB packet is 4 bytes shorter than InfiniBand's. */
enum bu_mtu_headers { BU_MTU_ROCE = 96, BU_MTU_SOFT_ROCE = 80, BU_MTU_IPOIB = -4 };

/* Bytes: a power of two from 256 to 4096; 0 = not even 256 fit. */
int bu_path_mtu(int64_t mtu, enum bu_mtu_headers headers);

#endif
