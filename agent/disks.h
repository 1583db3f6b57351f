/* SPDX-License-Identifier: Apache-2.0 */
/* A disk of this machine, as the inventory lists it. Reads only. */
#ifndef BU_AGENT_DISKS_H
#define BU_AGENT_DISKS_H

#include "base/err.h"
#include "model/inventory.h"

/* name: of the kernel, as in sys/block below root. 0 = nothing that a system could be
 * installed on. A disk that cannot be read has a signature. Blocks for the two MiB that
 * it reads. */
int bu_disk_read(const char *root, const char *name, struct bu_disk *ret);
/* Name, path, serial number and size of the disk at this path; what is on it is not
 * read. BU_ERR_NOTFOUND. */
bu_must int bu_disk_identify(const char *root, const char *path, struct bu_disk *ret,
			     struct bu_err *err);

#endif
