/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the superblocks of a mirror's halves; the audit and bootargs.c of the installer
 * call it. Reads only. boot.init has the same rules in shell.
 */
#include "base/mdraid.h"

#include <fcntl.h>
#include <linux/types.h>
#include <stddef.h>
#include <string.h>

#include <asm/byteorder.h>
#include <linux/raid/md_p.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/sysroot.h"

enum {
	UUID_AT = offsetof(struct mdp_superblock_1, set_uuid),
	NUMBER_AT = offsetof(struct mdp_superblock_1, dev_number),
	ROLES_AT = offsetof(struct mdp_superblock_1, dev_roles),
};

int
bu_md_read(const char *root, const char *disk, const char *part, struct bu_md *ret)
{
	bu_autofree char *path = bu_xasprintf("%s/dev/%s", root, part);
	bu_autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int64_t sectors = bu_sysroot_int(root, 0, "sys/block/%s/%s/size", disk, part);
	uint8_t block[BU_MD_SUPER_SIZE];

	/* 8 KiB before the end, then down to 4 KiB. */
	if (fd < 0 || sectors < 16 ||
	    bu_read_at(fd, block, sizeof(block), (sectors - 16) / 8 * 8 * 512, NULL) ||
	    bu_le_get(block, 4) != MD_SB_MAGIC || bu_le_get(block + 4, 4) != 1)
		return -1;
	memcpy(ret->uuid, block + UUID_AT, sizeof(ret->uuid));
	ret->number = (uint32_t)bu_le_get(block + NUMBER_AT, 4);
	for (size_t i = 0; i < BU_MD_NUMBERS; i++)
		ret->roles[i] = (uint16_t)bu_le_get(block + ROLES_AT + 2 * i, 2);
	return 0;
}

int
bu_md_lost(const struct bu_md *one, const struct bu_md *other)
{
	return memcmp(one->uuid, other->uuid, sizeof(one->uuid)) == 0 &&
	       other->number < BU_MD_NUMBERS &&
	       one->roles[other->number] > MD_DISK_ROLE_MAX;
}
