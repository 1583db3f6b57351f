/* SPDX-License-Identifier: Apache-2.0 */
/* Both loaders' files, judged by the formats of GRUB's environment block and of
 * syslinux' auxiliary data vector. */
#include "images/install/chooser.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "tests/support/slots.h"

static char folder[] = "/tmp/bringup-chooser-XXXXXX";

static char *
read_file(const char *name, size_t *ret_size)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", folder, name);
	char *text = bu_file_read(path, 0, ret_size, NULL);

	ck_assert_ptr_nonnull(text);
	return text;
}

static ino_t
inode_of(const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", folder, name);
	struct stat st;

	ck_assert_int_eq(stat(path, &st), 0);
	return st.st_ino;
}

static void
check_read(int slot, int try)
{
	for (int efi = 0; efi < 2; efi++) {
		struct bu_chooser is;
		struct bu_err err;

		ck_assert_msg(!bu_chooser_read_as(folder, efi, &is, &err), "%s",
			      err.text);
		ck_assert_int_eq(is.slot, slot);
		ck_assert_int_eq(is.try, try);
	}
}

static void
set(int slot, int try)
{
	struct bu_chooser to = {slot, try};
	struct bu_err err;

	ck_assert_msg(!bu_chooser_set_mounted(folder, &to, &err), "%s", err.text);
}

static void
make(void)
{
	struct bu_err err;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	make_esp(folder);
	ck_assert_msg(!bu_chooser_make(folder, &err), "%s", err.text);
}

/* As syslinux checks it before it believes it. */
static void
check_adv(const uint8_t *adv, const char *once)
{
	uint32_t sum = 0;

	ck_assert_uint_eq(bu_le_get(adv, 4), 0x5a2d2fa5);
	for (size_t i = 4; i < 508; i += 4)
		sum += (uint32_t)bu_le_get(adv + i, 4);
	ck_assert_uint_eq(sum, 0xa3041767);
	ck_assert_uint_eq(bu_le_get(adv + 508, 4), 0xdd28bf64);
	ck_assert_uint_eq(adv[8], *once ? 1 : 0);
	ck_assert_uint_eq(adv[9], strlen(once));
	ck_assert_int_eq(memcmp(adv + 10, once, strlen(once) + 1), 0);
}

static void
check_files(const char *env, char confirmed, const char *once)
{
	size_t size;
	bu_autofree char *block = read_file("EFI/debian/grubenv", &size);
	bu_autofree char *cfg = NULL, *loader = NULL;

	ck_assert_uint_eq(size, 1024);
	ck_assert_int_eq(strncmp(block, env, strlen(env)), 0);
	for (size_t i = strlen(env); i < size; i++)
		ck_assert_int_eq(block[i], '#');
	cfg = read_file("syslinux.cfg", &size);
	ck_assert_int_eq(strncmp(cfg, "DEFAULT ", 8), 0);
	ck_assert_int_eq(cfg[8], confirmed);
	ck_assert_int_eq(cfg[9], '\n');
	loader = read_file("ldlinux.sys", &size);
	ck_assert_uint_eq(size, LOADER_BYTES);
	ck_assert_int_eq((uint8_t)loader[0], 0x90);
	check_adv((uint8_t *)loader + size - 1024, once);
	check_adv((uint8_t *)loader + size - 512, once);
}

START_TEST(tries_once_and_confirms)
{
	static const char head[] = "# GRUB Environment Block\n";
	bu_autofree char *tried = bu_xasprintf("%sslot=a\ntry=b\n", head);
	bu_autofree char *first = bu_xasprintf("%sslot=a\ntry=\n", head);
	bu_autofree char *second = bu_xasprintf("%sslot=b\ntry=\n", head);
	ino_t before[3];

	make();
	check_read(BU_SLOT_A, BU_SLOT_NONE);
	check_files(first, 'a', "");
	before[0] = inode_of("EFI/debian/grubenv");
	before[1] = inode_of("syslinux.cfg");
	before[2] = inode_of("ldlinux.sys");
	set(BU_SLOT_A, BU_SLOT_B);
	check_read(BU_SLOT_A, BU_SLOT_B);
	check_files(tried, 'a', "b");
	set(BU_SLOT_B, BU_SLOT_NONE);
	check_read(BU_SLOT_B, BU_SLOT_NONE);
	check_files(second, 'b', "");
	/* In place: the file system of the boot partition does not change. */
	ck_assert_uint_eq(inode_of("EFI/debian/grubenv"), before[0]);
	ck_assert_uint_eq(inode_of("syslinux.cfg"), before[1]);
	ck_assert_uint_eq(inode_of("ldlinux.sys"), before[2]);
	ck_assert_int_eq(bu_remove_tree(folder, NULL), 0);
}
END_TEST

/* GRUB keeps the order of its own, and clears the try. */
START_TEST(reads_what_grub_left)
{
	char block[1024];
	struct bu_chooser is;
	int used;

	make();
	used = snprintf(block, sizeof(block),
			"# GRUB Environment Block\ntry=\nslot=b\n");
	memset(block + used, '#', sizeof(block) - (size_t)used);
	put_file(folder, "EFI/debian/grubenv", block, sizeof(block));
	ck_assert_int_eq(bu_chooser_read_as(folder, 1, &is, NULL), 0);
	ck_assert_int_eq(is.slot, BU_SLOT_B);
	ck_assert_int_eq(is.try, BU_SLOT_NONE);
	ck_assert_int_eq(bu_remove_tree(folder, NULL), 0);
}
END_TEST

/* What is as it should be in both loaders alone is left unwritten. */
START_TEST(tells_what_is_left_to_write)
{
	static const struct bu_chooser b = {BU_SLOT_B, BU_SLOT_NONE};
	static const char *const names[] = {"EFI/debian/grubenv", "ldlinux.sys",
					    "syslinux.cfg"};

	make();
	ck_assert_int_eq(bu_chooser_is(folder, &b), 0);
	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *was = NULL;
		size_t size;

		set(BU_SLOT_A, BU_SLOT_B);
		was = read_file(names[i], &size);
		ck_assert_int_eq(bu_chooser_is(folder, &b), 0);
		set(BU_SLOT_B, BU_SLOT_NONE);
		ck_assert_int_eq(bu_chooser_is(folder, &b), 1);
		put_file(folder, names[i], was, size);
		ck_assert_int_eq(bu_chooser_is(folder, &b), 0);
	}
	ck_assert_int_eq(bu_remove_tree(folder, NULL), 0);
}
END_TEST

/* Guessing would be to write over the system that runs. */
START_TEST(does_not_guess)
{
	static const struct {
		int efi;
		const char *name, *text;
	} rows[] = {
		{1, "EFI/debian/grubenv", "# GRUB Environment Block\nslot=a\n"},
		{1, "EFI/debian/grubenv", "# GRUB Environment Block\nslot=c\ntry=\n"},
		{0, "syslinux.cfg", "DEFAULT linux\n"},
		{0, "ldlinux.sys", "another loader"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_chooser is;
		struct bu_err err;

		strcpy(folder + strlen(folder) - 6, "XXXXXX");
		make();
		put_file(folder, rows[i].name, rows[i].text, strlen(rows[i].text));
		ck_assert_int_eq(bu_chooser_read_as(folder, rows[i].efi, &is, &err),
				 -1);
		ck_assert_int_eq(err.kind, BU_ERR_STATE);
		ck_assert_int_eq(bu_remove_tree(folder, NULL), 0);
	}
}
END_TEST

START_TEST(an_image_of_before_is_refused)
{
	bu_autofree char *chain = NULL;
	struct bu_err err;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	make_esp(folder);
	chain = bu_xasprintf("%s/chain.c32", folder);
	ck_assert_int_eq(remove(chain), 0);
	ck_assert_int_eq(bu_chooser_make(folder, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_msg(strstr(err.text, "build it again"), "%s", err.text);
	ck_assert_int_eq(bu_remove_tree(folder, NULL), 0);
}
END_TEST

/* The agent changes the node's arguments later: the slot's stays with the image's. */
START_TEST(a_slot_tells_its_kernel)
{
	bu_autofree char *shim = NULL, *kargs = NULL, *grub = NULL;
	struct bu_err err;
	size_t size;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	make_esp(folder);
	shim = bu_xasprintf("%s/EFI/BOOT/BOOTX64.EFI", folder);
	for (int again = 0; again < 2; again++)
		ck_assert_msg(!bu_slot_fill(folder, BU_SLOT_B, "mine=1", &err), "%s",
			      err.text);
	ck_assert_int_eq(bu_file_exists(shim), 0);
	kargs = read_file("kargs", &size);
	ck_assert_str_eq(kargs, "rw quiet bringup.slot=b\n");
	grub = read_file("EFI/debian/grub.cfg", &size);
	ck_assert_str_eq(grub, "linux /vmlinuz bringup.esp=$esp rw quiet "
			       "bringup.slot=b mine=1\n");
	ck_assert_int_eq(bu_remove_tree(folder, NULL), 0);
}
END_TEST

START_TEST(only_two_words_are_slots)
{
	ck_assert_int_eq(bu_slot_of("a"), BU_SLOT_A);
	ck_assert_int_eq(bu_slot_of("b"), BU_SLOT_B);
	ck_assert_int_eq(bu_slot_of("ab"), BU_SLOT_NONE);
	ck_assert_int_eq(bu_slot_of("c"), BU_SLOT_NONE);
	ck_assert_int_eq(bu_slot_of(""), BU_SLOT_NONE);
	ck_assert_int_eq(bu_slot_of(NULL), BU_SLOT_NONE);
}
END_TEST

BU_UNIT("chooser", tries_once_and_confirms, reads_what_grub_left,
	tells_what_is_left_to_write, does_not_guess, an_image_of_before_is_refused,
	a_slot_tells_its_kernel, only_two_words_are_slots)
