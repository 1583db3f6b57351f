/* SPDX-License-Identifier: Apache-2.0 */
/* The superblock of a mirror's half, as the kernel writes it. */
#ifndef BU_TESTS_SUPPORT_MD_HALF_H
#define BU_TESTS_SUPPORT_MD_HALF_H

#include <linux/types.h>
#include <string.h>

#include <asm/byteorder.h>
#include <linux/raid/md_p.h>

/* A partition of MD_HALF_SECTORS sectors; it has this number in the array, whose UUID
 * is 16 times this letter, and says this role of the other one (0 or 1;
 * MD_DISK_ROLE_SPARE when that one is gone). */
enum { MD_HALF_SECTORS = 27, MD_HALF_SIZE = MD_HALF_SECTORS * 512 };

static inline void
md_half(char ret[MD_HALF_SIZE], char uuid, unsigned int number, unsigned int others)
{
	struct mdp_superblock_1 *at = (void *)(ret + 8 * 512);

	memset(ret, 0, MD_HALF_SIZE);
	at->magic = __cpu_to_le32(MD_SB_MAGIC);
	at->major_version = __cpu_to_le32(1);
	memset(at->set_uuid, uuid, sizeof(at->set_uuid));
	at->dev_number = __cpu_to_le32(number);
	at->dev_roles[number] = __cpu_to_le16((__u16)number);
	at->dev_roles[!number] = __cpu_to_le16((__u16)others);
}

#endif
