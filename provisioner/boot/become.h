/* SPDX-License-Identifier: Apache-2.0 */
/* Drops root for another user, for good. */
#ifndef BU_BOOT_BECOME_H
#define BU_BOOT_BECOME_H

#include <stdint.h>

#include "base/err.h"

/* Gives this process that user, no group but the user's, and of the capabilities in
 * caps those that it had. Programs that it executes get these and can gain none.
 * BU_ERR_NOTFOUND: no such user. BU_ERR_DENIED: the kernel refuses, and the process
 * must end. */
bu_must int bu_become(const char *user, uint64_t caps, struct bu_err *err);

#endif
