/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mdraid.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/md_half.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/bringup-md-XXXXXX";

static void
put(const char *name, const char *bytes, size_t size)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);

	ck_assert_int_eq(bu_file_write(path, bytes, size, 0600, NULL), 0);
}

static void
put_half(const char *part, char uuid, unsigned int number, unsigned int others)
{
	bu_autofree char *size = bu_xasprintf("sys/block/vda/%s/size", part);
	bu_autofree char *device = bu_xasprintf("dev/%s", part);
	bu_autofree char *path = bu_xasprintf("%s/sys/block/vda/%s", root, part);
	char bytes[MD_HALF_SIZE];

	ck_assert_int_eq(bu_mkdir_p(path, 0700, NULL), 0);
	md_half(bytes, uuid, number, others);
	put(size, "27\n", 3);
	put(device, bytes, sizeof(bytes));
}

START_TEST(a_half_says_what_it_lost)
{
	static const struct {
		unsigned int role;
		int lost;
	} rows[] = {{0, 0}, {1, 0}, {0xff00, 0}, {0xfffd, 1}, {0xfffe, 1}, {0xffff, 1}};
	bu_autofree char *dev = NULL;
	struct bu_md one, other;

	ck_assert_ptr_nonnull(mkdtemp(root));
	dev = bu_xasprintf("%s/dev", root);
	ck_assert_int_eq(bu_mkdir_p(dev, 0700, NULL), 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		put_half("vda2", 'u', 0, rows[i].role);
		put_half("vda3", 'u', 1, 0);
		ck_assert_int_eq(bu_md_read(root, "vda", "vda2", &one), 0);
		ck_assert_int_eq(bu_md_read(root, "vda", "vda3", &other), 0);
		ck_assert_uint_eq(one.number, 0);
		ck_assert_uint_eq(other.number, 1);
		ck_assert_int_eq(bu_md_lost(&one, &other), rows[i].lost);
		ck_assert_int_eq(bu_md_lost(&other, &one), 0);
	}
	/* Of another array; a number for which there is no room. */
	put_half("vda3", 'v', 1, 0);
	ck_assert_int_eq(bu_md_read(root, "vda", "vda3", &other), 0);
	ck_assert_int_eq(bu_md_lost(&one, &other), 0);
	memcpy(other.uuid, one.uuid, sizeof(other.uuid));
	ck_assert_int_eq(bu_md_lost(&one, &other), 1);
	other.number = BU_MD_NUMBERS;
	ck_assert_int_eq(bu_md_lost(&one, &other), 0);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(what_is_no_half_is_none)
{
	char bytes[MD_HALF_SIZE];
	struct bu_md half;

	strcpy(root + strlen(root) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(bu_md_read(root, "vda", "vda2", &half), -1);
	{
		bu_autofree char *dev = bu_xasprintf("%s/dev", root);

		ck_assert_int_eq(bu_mkdir_p(dev, 0700, NULL), 0);
	}
	put_half("vda2", 'u', 0, 0);
	ck_assert_int_eq(bu_md_read(root, "vda", "vda2", &half), 0);
	for (int at = 0; at < 5; at += 4) { /* the magic number, the version */
		md_half(bytes, 'u', 0, 0);
		bytes[8 * 512 + at]++;
		put("dev/vda2", bytes, sizeof(bytes));
		ck_assert_int_eq(bu_md_read(root, "vda", "vda2", &half), -1);
	}
	md_half(bytes, 'u', 0, 0);
	put("dev/vda2", bytes, 8 * 512 + 511);
	ck_assert_int_eq(bu_md_read(root, "vda", "vda2", &half), -1);
	put("dev/vda2", bytes, sizeof(bytes));
	put("sys/block/vda/vda2/size", "15\n", 3);
	ck_assert_int_eq(bu_md_read(root, "vda", "vda2", &half), -1);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

BU_UNIT("mdraid", a_half_says_what_it_lost, what_is_no_half_is_none)
