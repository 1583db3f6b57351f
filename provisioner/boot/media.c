/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot medium's two blocks: found by their first line, filled for one node. Called
 * by api/boot_media.c for each request of a BMC. Invariant: a block keeps its size, so
 * that all other bytes of the image are the same for all.
 */
#include "provisioner/boot/media.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "provisioner/boot/grub.h"

/* Files of an ISO image begin at a sector. */
enum { SECTOR = 2048, READ_SECTORS = 512 };

static const char *const marks[BU_MEDIA_BLOCKS] = {"#bringup-media grub\n",
						   "#bringup-media isolinux\n"};

/* Where they were found last; an image is read through once. */
static struct {
	dev_t dev;
	ino_t inode;
	off_t size;
	struct timespec time;
	uint64_t offsets[BU_MEDIA_BLOCKS];
} known;

static int
is_known(const struct stat *st)
{
	return known.inode == st->st_ino && known.dev == st->st_dev &&
	       known.size == st->st_size && known.time.tv_sec == st->st_mtim.tv_sec &&
	       known.time.tv_nsec == st->st_mtim.tv_nsec;
}

static void
look(const char *bytes, size_t size, uint64_t at, int count[BU_MEDIA_BLOCKS])
{
	for (size_t i = 0; i + SECTOR <= size; i += SECTOR)
		for (int which = 0; which < BU_MEDIA_BLOCKS; which++)
			if (memcmp(bytes + i, marks[which], strlen(marks[which])) ==
			    0) {
				known.offsets[which] = at + i;
				count[which]++;
			}
}

static int
scan(int fd, const struct stat *st, struct bu_err *err)
{
	size_t size = (size_t)SECTOR * READ_SECTORS;
	bu_autofree char *bytes = bu_xmalloc(size);
	int count[BU_MEDIA_BLOCKS] = {0};
	uint64_t at = 0;
	ssize_t got;

	known.inode = 0;
	while ((got = pread(fd, bytes, size, (off_t)at)) > 0) {
		look(bytes, (size_t)got, at, count);
		at += (uint64_t)got;
	}
	for (int which = 0; which < BU_MEDIA_BLOCKS; which++)
		if (got < 0 || count[which] != 1 ||
		    known.offsets[which] + BU_MEDIA_BLOCK > (uint64_t)st->st_size)
			return bu_err_set(err, BU_ERR_VERIFY, 0,
					  BU_MEDIA_FILE " is not a boot medium of this "
							"bringup; run bringup image "
							"build ramdisk");
	known.dev = st->st_dev;
	known.inode = st->st_ino;
	known.size = st->st_size;
	known.time = st->st_mtim;
	return 0;
}

int
bu_media_find(int fd, struct bu_media_block ret[BU_MEDIA_BLOCKS], struct bu_err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, BU_MEDIA_FILE);
	if (!is_known(&st) && scan(fd, &st, err) != 0)
		return -1;
	for (int which = 0; which < BU_MEDIA_BLOCKS; which++)
		ret[which].offset = known.offsets[which];
	return 0;
}

static char *
isolinux(const struct bu_script_agent *agent)
{
	bu_autofree char *kargs = bu_script_kargs(agent);

	return bu_xasprintf("SERIAL 0 115200\nDEFAULT linux\nPROMPT 0\nTIMEOUT 1\n"
			    "LABEL linux\n KERNEL /boot/vmlinuz\n"
			    " INITRD /boot/agent.img\n APPEND %s\n",
			    kargs);
}

int
bu_media_fill(const struct bu_script_agent *agent,
	      struct bu_media_block blocks[BU_MEDIA_BLOCKS], struct bu_err *err)
{
	char *(*const print[BU_MEDIA_BLOCKS])(const struct bu_script_agent *) = {
		bu_grub_media, isolinux};

	for (int which = 0; which < BU_MEDIA_BLOCKS; which++) {
		bu_autofree char *text = print[which](agent);
		size_t size = strlen(text);

		if (size > BU_MEDIA_BLOCK)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "%s: its kernel arguments are too long for "
					  "the boot medium",
					  agent->node);
		memcpy(blocks[which].text, text, size);
		memset(blocks[which].text + size, '\n', BU_MEDIA_BLOCK - size);
	}
	return 0;
}
