/* SPDX-License-Identifier: Apache-2.0 */
/* What a disk was before, by the names that libblkid has for it. Reads only. */
#ifndef BU_AGENT_LEFTOVERS_H
#define BU_AGENT_LEFTOVERS_H

#include <stddef.h>

/* "gpt, linux_raid_member, vfat" of the disk and its partitions, each once, by name;
 * "" when nothing is known by name (which is not the same as empty). name: of the
 * kernel, as in sys/block below root. */
void bu_leftovers_read(const char *root, const char *name, char *ret, size_t size);

#endif
