/* SPDX-License-Identifier: Apache-2.0 */
/* The two blocks of a boot medium: found where they are, and filled to the byte. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "provisioner/boot/media.h"
#include "tests/support/unit.h"

enum { SECTOR = 2048, SECTORS = 1200, GRUB_AT = 700, ISOLINUX_AT = 1100 };

static const struct bu_script_agent agent = {
	.http_url = "http://10.77.0.1:8080",
	.agent_url = "https://10.77.0.1:8443",
	.ca_digest = "ab12",
	.node = "node001",
	.mac = "52:54:00:77:00:01",
	.token = "t0ken",
	.kargs = "note=$x;y",
	.from_media = 1,
	.address = "10.77.0.11/24,10.77.0.254",
};

/* An image of nothing but the two marks; at = 0: that mark is not there. */
static int
make(int grub_at, int isolinux_at)
{
	static const char *const marks[] = {"#bringup-media grub\n",
					    "#bringup-media isolinux\n"};
	const int at[] = {grub_at, isolinux_at};
	char path[] = "/tmp/bringup-medium.XXXXXX";
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	unlink(path);
	ck_assert_int_eq(ftruncate(fd, (off_t)SECTOR * SECTORS), 0);
	for (int i = 0; i < 2; i++)
		if (at[i])
			ck_assert_int_gt(pwrite(fd, marks[i], strlen(marks[i]),
						(off_t)SECTOR * at[i]),
					 0);
	return fd;
}

START_TEST(the_blocks_are_found_by_their_marks)
{
	struct bu_media_block blocks[BU_MEDIA_BLOCKS];
	struct bu_err err = {0};
	const int last = SECTORS - BU_MEDIA_BLOCK / SECTOR;
	int fd = make(GRUB_AT, ISOLINUX_AT), other = make(3, 9), full = make(3, last);

	for (int i = 0; i < 2; i++) { /* the second time from memory */
		ck_assert_int_eq(bu_media_find(fd, blocks, &err), 0);
		ck_assert_uint_eq(blocks[0].offset, SECTOR * GRUB_AT);
		ck_assert_uint_eq(blocks[1].offset, SECTOR * ISOLINUX_AT);
	}
	/* Another image has them elsewhere. */
	ck_assert_int_eq(bu_media_find(other, blocks, &err), 0);
	ck_assert_uint_eq(blocks[0].offset, SECTOR * 3);
	/* The last one may end with the image. */
	ck_assert_int_eq(bu_media_find(full, blocks, &err), 0);
	ck_assert_uint_eq(blocks[1].offset, (uint64_t)SECTOR * (uint64_t)last);
	close(full);
	close(fd);
	close(other);
}
END_TEST

START_TEST(what_is_no_medium_is_refused)
{
	static const int rows[][2] = {{0, 9}, {9, 0}, {9, SECTORS - 1}};
	struct bu_media_block blocks[BU_MEDIA_BLOCKS];

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int fd = make(rows[i][0], rows[i][1]);
		struct bu_err err = {0};

		ck_assert_int_eq(bu_media_find(fd, blocks, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
		close(fd);
	}
}
END_TEST

/* GRUB takes some characters for its own, isolinux none; both say where the node is and
 * that no DHCP is asked. */
START_TEST(each_loader_is_told_the_same)
{
	static const char kargs[] =
		"console=tty0 console=ttyS0,115200n8 quiet panic=5 "
		"bringup.medium=1 BOOTIF=52:54:00:77:00:01 bringup.ip=10.77.0.11/24,10.77.0.254 "
		"bringup.url=https://10.77.0.1:8443 "
		"bringup.boot=http://10.77.0.1:8080 bringup.ca=ab12 "
		"bringup.node=node001 bringup.token=t0ken ";
	struct bu_media_block blocks[BU_MEDIA_BLOCKS];
	bu_autofree char *grub =
		bu_xasprintf("linux /boot/vmlinuz %s%s\n", kargs, "note=\\$x\\;y");
	bu_autofree char *isolinux = bu_xasprintf(" APPEND %snote=$x;y\n", kargs);
	const char *const said[BU_MEDIA_BLOCKS] = {grub, isolinux};
	struct bu_err err = {0};

	ck_assert_int_eq(bu_media_fill(&agent, blocks, &err), 0);
	for (int i = 0; i < BU_MEDIA_BLOCKS; i++) {
		bu_autofree char *text = bu_xstrndup(blocks[i].text, BU_MEDIA_BLOCK);

		ck_assert_uint_eq(strlen(text), BU_MEDIA_BLOCK);
		ck_assert_msg(strstr(text, said[i]) != NULL, "%s has no %s", text,
			      said[i]);
		ck_assert_int_eq(text[BU_MEDIA_BLOCK - 1], '\n');
	}
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
	struct bu_media_block blocks[BU_MEDIA_BLOCKS];
	struct bu_script_agent long_one = agent;
	char kargs[BU_MEDIA_BLOCK + 1];
	struct bu_err err = {0};

	memset(kargs, 'a', sizeof(kargs) - 1);
	kargs[sizeof(kargs) - 1] = '\0';
	long_one.kargs = kargs;
	ck_assert_int_eq(bu_media_fill(&long_one, blocks, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
}
END_TEST

BU_UNIT("boot media", the_blocks_are_found_by_their_marks, what_is_no_medium_is_refused,
	each_loader_is_told_the_same, what_does_not_fit_is_refused)
