/* SPDX-License-Identifier: Apache-2.0 */
/* What a rack needs before its keeper may go: programs on this machine, files in the
 * rack's directory. */
#ifndef BU_LAB_PREPARE_H
#define BU_LAB_PREPARE_H

#include "lab/rack.h"

/* Every missing program or file is named with its Debian package, all at once. */
bu_must int bu_prepare_check(const struct bu_rack *rack, struct bu_err *err);
/* Where the keeper logs, so that it can from its first step on. */
bu_must int bu_prepare_log_dir(const struct bu_rack *rack, struct bu_err *err);
/* Directories, a private copy of /etc, configuration, key, racks.csv, disks. */
bu_must int bu_prepare_files(const struct bu_rack *rack, struct bu_err *err);
/* An empty directory instead of whatever is there; a link is not followed. */
bu_must int bu_prepare_fresh_dir(const char *path, struct bu_err *err);
/* Empty disks and first UEFI variables for all nodes, whatever was there. */
bu_must int bu_prepare_disks(const struct bu_rack *rack, struct bu_err *err);
/* Empties the console logs without replacing the files. */
bu_must int bu_prepare_consoles(const struct bu_rack *rack, struct bu_err *err);

#endif
