/* SPDX-License-Identifier: Apache-2.0 */
/* The file beside the log, PATH.lock; used by its drivers that keep files. */
#ifndef BU_STORE_LOCK_H
#define BU_STORE_LOCK_H

#include <stdint.h>

#include "base/err.h"

/* A descriptor that holds the lock; -2 for ":memory:", which needs none; -1: another
 * process has it (BU_ERR_STATE), or it cannot be made. */
bu_must int bu_store_lock(const char *path, struct bu_err *err);
/* For how long the process that began with row seq was able to write, in ms. -1 =
 * unknown. */
void bu_store_lock_write(int fd, int64_t seq, int64_t alive_ms);
int64_t bu_store_lock_read(int fd, int64_t seq);

#endif
