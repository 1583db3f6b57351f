/* SPDX-License-Identifier: Apache-2.0 */
/* The path MTU of RDMA; see mtu.h. */
#include "model/mtu.h"

int
bu_path_mtu(int64_t mtu, enum bu_mtu_headers headers)
{
	for (int path = 4096; path >= 256; path /= 2)
		if (mtu >= path + headers)
			return path;
	return 0;
}
