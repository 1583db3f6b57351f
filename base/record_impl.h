/* SPDX-License-Identifier: Apache-2.0 */
/* Between record.c and record_read.c: members of a record. */
#ifndef BU_BASE_RECORD_IMPL_H
#define BU_BASE_RECORD_IMPL_H

#include "base/plain.h"
#include "base/record.h"

void bu_member_set_int(size_t size, void *member, int64_t number);
void bu_member_set_real(const struct bu_field *field, void *member, double number);
/* Member i of a list; NULL when it has none yet. */
void *bu_member_at(const struct bu_field *field, const void *record, size_t i);

#endif
