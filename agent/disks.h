/* SPDX-License-Identifier: Apache-2.0 */
/* A disk of this machine, as the inventory lists it. Reads only. */
#ifndef BU_AGENT_DISKS_H
#define BU_AGENT_DISKS_H

#include "base/err.h"
#include "model/inventory.h"

/* name: of the kernel, as in sys/block below root. 0 = nothing that a system could be
 * installed on. The disk itself is not read: it counts as written. */
int bu_disk_read(const char *root, const char *name, struct bu_disk *ret);
/* Adds whether it is written, and with what. One that cannot be read is. Blocks for the
 * two MiB that it reads, and for ever where its driver does. */
void bu_disk_look(const char *root, struct bu_disk *disk);
/* The same for all of them at once, each in a child process. One that has not answered
 * within limit_ms counts as written, and says in `holds` that it does not answer. Of
 * disklook.c. */
void bu_disks_look(const char *root, struct bu_disk *disks, size_t count,
		   int64_t limit_ms);
/* Name, path, serial number and size of the disk at this path; what is on it is not
 * read. BU_ERR_NOTFOUND. */
bu_must int bu_disk_identify(const char *root, const char *path, struct bu_disk *ret,
			     struct bu_err *err);

#endif
