/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the walk that a test without a fabric calls. */
#ifndef BU_CHECKS_AUDIT_IBFABRIC_IMPL_H
#define BU_CHECKS_AUDIT_IBFABRIC_IMPL_H

#include <stddef.h>
#include <stdint.h>

/* "leaf01" of "MF0;leaf01:MQM8700/U1"; else all of it. Without blanks at its end. */
void bu_ib_fabric_name(const char *description, const char **ret, size_t *ret_length);
/* Errors in PortCounters, or with `extended` in PortCountersExtended: of what a port
 * received, and of what it sent. *ret_full: one that cannot count on; else as it was.
 */
void bu_ib_fabric_sums(uint8_t *data, int extended, uint64_t ret[2],
		       const char **ret_full);

#endif
