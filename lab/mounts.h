/* SPDX-License-Identifier: Apache-2.0 */
/* The rack's view of the file system, made in the keeper's mount namespace. */
#ifndef BU_LAB_MOUNTS_H
#define BU_LAB_MOUNTS_H

#include "lab/rack.h"

/* Own /proc and /sys; RACK/etc on /etc, RACK/run on /run, libvirt's directories below
 * RACK/var. Nothing is made or seen outside of the namespace. */
bu_must int bu_mounts_make(const struct bu_rack *rack, struct bu_err *err);
/* Writes a value into a file of /proc or /sys. */
bu_must int bu_mounts_poke(const char *path, const char *value, struct bu_err *err);

#endif
