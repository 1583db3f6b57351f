/* SPDX-License-Identifier: Apache-2.0 */
/* The file system for cloud-init as others see it: fsck.vfat, blkid and mtools. */
#include "images/install/seed.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

enum { BEGIN = 3 * 1024 * 1024, LARGE = 70000 };

static char dir[40], path[64];
static struct bu_disk disk;
static char large[LARGE];

static void
setup(uint32_t sector_bytes)
{
	strcpy(dir, "/tmp/bringup-seed-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/disk", dir);
	disk = (struct bu_disk){.path = path,
				.fd = open(path, O_RDWR | O_CREAT, 0600),
				.sector_bytes = sector_bytes};
	ck_assert_int_eq(ftruncate(disk.fd, BEGIN + BU_SEED_BYTES), 0);
	/* What was there before is no part of it. */
	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = (char)(i * 7 + i / 256);
	ck_assert_int_eq(pwrite(disk.fd, large, LARGE, BEGIN), LARGE);
}

static void
teardown(void)
{
	close(disk.fd);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

/* With the file system alone in the file fat; what the shell ends with. */
static int
sh(const char *commands)
{
	bu_autofree char *text = bu_xasprintf(
		"cd %s && dd if=disk of=fat bs=1M skip=3 status=none && { %s; }", dir,
		commands);

	return system(text);
}

static const struct bu_install_file files[] = {
	{"meta-data", 0, "instance-id: a\n", 15},
	{"user-data", 0, "", 0},
	{"network-config", 0, large, LARGE},
	{"a-name-of-thirty-nine-characters-xxxxxx", 0, "x", 1},
};

static void
judged(uint32_t sector_bytes)
{
	struct bu_err err = {0};

	setup(sector_bytes);
	ck_assert_msg(!bu_seed_write(&disk, BEGIN, files, BU_LEN(files), &err), "%s",
		      err.text);
	ck_assert_int_eq(sh("fsck.vfat -n fat >says 2>&1 || { cat says; exit 1; }"), 0);
	ck_assert_int_eq(sh("! grep -iE 'differ|wrong|error|invalid|orphan' says"), 0);
	ck_assert_int_eq(
		sh("test \"$(blkid -p -o export fat | grep -E '^(LABEL|TYPE)=' | sort |"
		   "tr '\\n' ' ')\" = 'LABEL=CIDATA TYPE=vfat '"),
		0);
	ck_assert_int_eq(sh("test \"$(mcopy -i fat ::meta-data -)\" = 'instance-id: a' "
			    "&& mcopy -i fat ::user-data got && test ! -s got && "
			    "mcopy -i fat ::network-config got2 && "
			    "dd if=got2 of=/dev/null status=none && "
			    "test \"$(mdir -b -i fat | wc -l)\" = 4 && "
			    "test \"$(mcopy -i fat "
			    "::a-name-of-thirty-nine-characters-xxxxxx -)\" = x"),
			 0);
	bu_autofree char *got_path = bu_xasprintf("%s/got2", dir);
	size_t size;
	bu_autofree char *got = bu_file_read(got_path, 0, &size, NULL);
	ck_assert_uint_eq(size, LARGE);
	ck_assert(memcmp(got, large, LARGE) == 0);
	teardown();
}

START_TEST(others_read_it)
{
	BU_NEEDS("fsck.vfat", "mcopy", "blkid");
	judged(512);
}
END_TEST

START_TEST(others_read_it_with_large_sectors)
{
	BU_NEEDS("fsck.vfat", "mcopy", "blkid");
	judged(4096);
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
	static const char *const names[] = {"", "a/b", "a:b",
					    "a-name-of-forty-characters-xxxxxxxxxxxxx"};
	struct bu_install_file many[BU_SEED_FILES_MAX + 1];
	struct bu_install_file one = {"one", 0, NULL, BU_SEED_BYTES};
	struct bu_err err = {0};

	setup(512);
	ck_assert_int_eq(bu_seed_write(&disk, BEGIN, &one, 1, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	for (size_t i = 0; i < BU_LEN(names); i++) {
		one = (struct bu_install_file){names[i], 0, "x", 1};
		ck_assert_int_eq(bu_seed_write(&disk, BEGIN, &one, 1, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	}
	for (size_t i = 0; i < BU_LEN(many); i++)
		many[i] = files[0];
	ck_assert_int_eq(bu_seed_write(&disk, BEGIN, many, BU_LEN(many), &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	teardown();
}
END_TEST

BU_UNIT("seed", others_read_it, others_read_it_with_large_sectors,
	what_does_not_fit_is_refused)
