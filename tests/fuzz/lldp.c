/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: an LLDP frame, as anybody on the network may send it. */
#include <stdint.h>
#include <string.h>

#include "checks/audit/lldp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bu_lldp port = {.netdev = "eth1"};

	if (bu_lldp_parse(data, size, &port, NULL) == 0) {
		bu_assert(port.ttl_s > 0 && strlen(port.chassis) < BU_LLDP_TEXT);
		bu_assert(!bu_lldp_is(&port, ""));
		bu_assert(bu_lldp_port(&port) && bu_lldp_switch(&port));
	}
	return 0;
}
