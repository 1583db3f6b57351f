/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the walk that a test without a fabric calls. */
#ifndef BU_CHECKS_AUDIT_IBFABRIC_IMPL_H
#define BU_CHECKS_AUDIT_IBFABRIC_IMPL_H

#include <stdint.h>

/* Errors in PortCounters, or with `extended` in PortCountersExtended: of what a port
 * received, and of what it sent. *ret_full: one that cannot count on; else as it was.
 */
void bu_ib_fabric_sums(uint8_t *data, int extended, uint64_t ret[2],
		       const char **ret_full);

#endif
