/* SPDX-License-Identifier: Apache-2.0 */
/* Encrypted data partitions of an installed node, by keys that the appliance gives. */
#ifndef BU_AGENT_VOLUMES_H
#define BU_AGENT_VOLUMES_H

#include <stdint.h>

#include "base/err.h"
#include "base/http.h"

/* Asks for the keys of the partitions that /etc/bringup/volumes names ("GUID NAME
 * FILESYSTEM PLACE" a line), opens and mounts them; without that file, nothing. What is
 * mounted stays as it is; where nothing is yet, nobody can write. The others are tried
 * when one fails; err has the first. http: NULL = nobody is asked, and only the
 * machine's TPM may open what /etc/bringup/volumes.tpm says that it can. */
bu_must int bu_volumes_open(const char *root, struct bu_http *http, struct bu_err *err);
/* How long the volume on this device may take until it is mounted, before its script is
 * killed. A file system with errors is read as a whole by e2fsck, which had better not
 * be killed: 5 minutes, and 15 for each TiB. */
int64_t bu_volume_limit_ms(const char *device);

#endif
