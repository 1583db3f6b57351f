/* SPDX-License-Identifier: Apache-2.0 */
/* Boot entries in a folder that stands for efivarfs; the entries of others as OVMF and
 * Debian's grub-install write them, and as bad firmware does. */
#include "images/install/bootvars.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "images/install/bootoption.h"
#include "tests/support/unit.h"

#define GLOBAL "-8be4df61-93ca-11d2-aa0d-00e098032b8c"

static char dir[sizeof("/tmp/bringup-bootvars-XXXXXX")];

static void
setup(void)
{
	strcpy(dir, "/tmp/bringup-bootvars-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void
teardown(void)
{
	bu_ignore(bu_remove_tree(dir, NULL));
}

/* hex without spaces; NULL removes it. */
static void
put(const char *name, const char *hex)
{
	bu_autofree char *path = bu_xasprintf("%s/%s" GLOBAL, dir, name);
	uint8_t data[1024] = {7};
	size_t size = strlen(hex) / 2;

	ck_assert_int_eq(bu_hex_decode(hex, data + 4, size), 0);
	ck_assert_int_eq(bu_file_write(path, data, 4 + size, 0644, NULL), 0);
}

/* In hex, "" = there is none; owned. */
static char *
get(const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s" GLOBAL, dir, name);
	size_t size = 0;
	bu_autofree char *data = bu_file_read(path, 0, &size, NULL);
	char *hex = bu_xcalloc(1, 2 * size + 1);

	for (size_t i = 4; i < size; i++)
		snprintf(hex + 2 * (i - 4), 3, "%02x", (uint8_t)data[i]);
	return hex;
}

static void
is(const char *name, const char *want)
{
	bu_autofree char *text = get(name);

	ck_assert_msg(strcmp(text, want) == 0, "%s is %s, not %s", name, text, want);
}

static int
entries(void)
{
	DIR *all = opendir(dir);
	struct dirent *entry;
	int count = 0;

	while ((entry = readdir(all)) != NULL)
		count += strncmp(entry->d_name, "Boot0", 5) == 0;
	closedir(all);
	return count;
}

/* A card with IPv4, as OVMF writes it. */
#define PXE                                                                            \
	"01000000560050005800450076003400000002010c00d041030a000000000101060000"       \
	"02030b2500525400770001000000000000000000000000000000000000000000000000"       \
	"000001030c1b0000000000000000000000000000000000000000000000007fff0400"
/* What grub-install writes. */
#define DEBIAN                                                                         \
	"010000006200640065006200690061006e00000004012a000100000000080000000000"       \
	"0000400100000000000102030405060708090a0b0c0d0e0f100202040434005c004500"       \
	"460049005c00640065006200690061006e005c007300680069006d007800360034002e"       \
	"0065006600690000007fff0400"
/* Firmware of its own accord: the removable loader, with a mark of its own. */
#define FOUND                                                                          \
	"010000005e00550045004600490020004f005300000004012a00010000000008000000"       \
	"00000000400100000000000102030405060708090a0b0c0d0e0f100202040430005c00"       \
	"4500460049005c0042004f004f0054005c0042004f004f0054005800360034002e0045"       \
	"004600490000007fff04000000424f"
/* Of somebody who has our name and another file. */
#define NAMESAKE                                                                       \
	"0100000066006200720069006e00670075007000000004012a00010000000008000000"       \
	"00000000400100000000000102030405060708090a0b0c0d0e0f100202040438005c00"       \
	"4500460049005c00770069006e0064006f00770073005c0062006f006f0074006d0067"       \
	"00660077002e0065006600690000007fff0400"
/* Ours for the partition below: made by another program. */
#define BRINGUP                                                                        \
	"010000005e006200720069006e00670075007000000004012a00010000000008000000"       \
	"0000000040010000000000aa0102000000000000000000000000000202040430005c00"       \
	"4500460049005c0042004f004f0054005c0042004f004f0054005800360034002e0045"       \
	"004600490000007fff0400"

static struct bu_gpt_esps esp = {
	1,
	{{.number = 1, .first_sector = 2048, .sectors = 81920, .guid = {0xaa, 1, 2}}}};

static char *
order_from(int from_medium)
{
	struct bu_err err = {0};
	char *words = NULL;

	ck_assert_msg(bu_bootvars_order(dir, &esp, from_medium, &words, &err) == 0,
		      "%s", err.text);
	return words;
}

static char *
order(void)
{
	return order_from(0);
}

START_TEST(the_network_is_first_then_the_disk)
{
	bu_autofree char *words = NULL;

	setup();
	put("Boot0000", DEBIAN);
	put("Boot0001", FOUND);
	put("Boot0002", PXE);
	put("Boot0005", PXE);
	put("BootOrder", "0000010005000200");
	put("BootCurrent", "0200");
	words = order();
	/* The card of this boot, the disk, the rest as it was. */
	ck_assert_str_eq(words, "0002 network, 0003 bringup, 0000, 0001, 0005 network");
	is("BootOrder", "02000300000001000500");
	is("Boot0003", BRINGUP);
	is("Boot0000", DEBIAN);
	is("Boot0001", FOUND);
	teardown();
}
END_TEST

/* The sanitizer sees what the list has no room for. */
START_TEST(a_card_that_is_not_in_the_list_comes_into_it)
{
	char old[11 * 4 + 1] = "", want[13 * 4 + 1] = "2a000c00";

	setup();
	for (unsigned i = 0; i < 11; i++) {
		char name[16];

		snprintf(name, sizeof(name), "Boot%04X", i + 1);
		put(name, DEBIAN);
		snprintf(old + strlen(old), 5, "%02x00", i + 1);
	}
	strcat(want, old);
	put("Boot0000", DEBIAN);
	put("Boot002A", PXE);
	put("BootOrder", old);
	put("BootCurrent", "2a00");
	free(order());
	is("BootOrder", want);
	teardown();
}
END_TEST

/* Another team's server may answer the cards; the medium's own entry tells nothing. */
START_TEST(a_boot_from_a_medium_puts_the_disk_first)
{
	bu_autofree char *words = NULL;

	setup();
	put("Boot0000", DEBIAN);
	put("Boot0002", PXE);
	put("Boot0005", PXE);
	put("BootOrder", "050000000200");
	put("BootCurrent", "0500");
	words = order_from(1);
	ck_assert_str_eq(words, "0001 bringup, 0005 network, 0000, 0002 network");
	is("BootOrder", "0100050000000200");
	teardown();
}
END_TEST

START_TEST(a_boot_by_no_card_puts_every_card_first)
{
	setup();
	put("Boot0000", DEBIAN);
	put("Boot0002", PXE);
	put("Boot0005", PXE);
	put("BootOrder", "000005000200");
	put("BootCurrent", "0000");
	free(order());
	is("BootOrder", "0500020001000000");
	teardown();
}
END_TEST

START_TEST(ten_installs_leave_one_entry)
{
	setup();
	put("Boot0000", DEBIAN);
	put("Boot0002", PXE);
	put("BootOrder", "00000200");
	put("BootCurrent", "0200");
	for (int i = 0; i < 10; i++) {
		/* Each install makes partitions of new names. */
		bu_random(esp.list[0].guid, sizeof(esp.list[0].guid));
		free(order());
		ck_assert_int_eq(entries(), 3);
		is("BootOrder", "020001000000");
	}
	teardown();
}
END_TEST

/* The firmware goes on to the second where the first is gone. */
START_TEST(both_disks_of_a_mirrored_system_are_in_it)
{
	bu_autofree char *words = NULL, *again = NULL, *alone = NULL;

	setup();
	put("Boot0001", DEBIAN);
	put("Boot0002", PXE);
	put("BootOrder", "01000200");
	put("BootCurrent", "0200");
	esp.count = 2;
	memcpy(esp.list[0].guid, "\xaa\x01\x02\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	esp.list[1] = esp.list[0];
	esp.list[1].guid[0] = 0xbb;
	words = order();
	ck_assert_str_eq(words, "0002 network, 0000 bringup, 0003 bringup, 0001");
	is("Boot0000", BRINGUP);
	ck_assert_int_eq(entries(), 4);
	/* The other way round: the same two. */
	esp.list[0].guid[0] = 0xbb;
	esp.list[1].guid[0] = 0xaa;
	again = order();
	ck_assert_str_eq(again, words);
	is("Boot0003", BRINGUP);
	/* The system is on one disk again. */
	esp.count = 1;
	alone = order();
	ck_assert_str_eq(alone, "0002 network, 0000 bringup, 0001");
	ck_assert_int_eq(entries(), 3);
	teardown();
}
END_TEST

/* Two disks were installed once, by hands that did not know of each other. */
START_TEST(entries_of_old_installs_go_and_others_stay)
{
	setup();
	put("Boot0001", BRINGUP);
	put("Boot0003", NAMESAKE);
	put("Boot0004", BRINGUP);
	put("Boot0006", BRINGUP);
	put("BootOrder", "060003000100040009000600");
	free(order());
	/* 0009 has no entry: it is not ours, and its number is not taken. */
	is("BootOrder", "010003000900");
	is("Boot0003", NAMESAKE);
	ck_assert_int_eq(entries(), 2);
	teardown();
}
END_TEST

/* Firmware may bring the entry back under its number, which must not lead to ours. */
START_TEST(a_number_without_an_entry_is_not_given_away)
{
	setup();
	put("Boot0000", DEBIAN);
	put("BootOrder", "00000100");
	free(order());
	is("BootOrder", "020000000100");
	ck_assert_int_eq(entries(), 2);
	teardown();
}
END_TEST

/* Flash wears: what is right is not written. */
START_TEST(what_is_right_is_left_alone)
{
	static const char *const names[] = {"BootOrder", "Boot0001"};

	setup();
	put("Boot0001", BRINGUP);
	put("Boot0002", PXE);
	put("BootOrder", "02000100");
	memcpy(esp.list[0].guid, "\xaa\x01\x02\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s" GLOBAL, dir, names[i]);
		struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};

		ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
	}
	free(order());
	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s" GLOBAL, dir, names[i]);
		struct stat st;

		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert_int_eq(st.st_mtime, 1000);
	}
	teardown();
}
END_TEST

/* Each would run over its end, never end, or be taken for ours. */
START_TEST(what_cannot_be_understood_stays)
{
	static const char *const bad[] = {
		"",
		"01",
		"0100000004",
		/* no end of the name */
		"01000000040062007200",
		/* a path longer than the entry */
		"01000000ffff620000007fff0400",
		/* a node of length 0, one of 3, one that runs over */
		"010000000400620000000401000004010000",
		"010000000400620000000401030000",
		"01000000060062000000040400ff0000",
		/* our name and no path */
		"01000000000062007200690"
		"06e00670075007000"
		"0000",
		NAMESAKE,
	};
	char name[16];

	setup();
	for (size_t i = 0; i < BU_LEN(bad); i++) {
		snprintf(name, sizeof(name), "Boot%04zX", i);
		put(name, bad[i]);
	}
	put("Boot00aF", BRINGUP); /* no name of the specification */
	put("BootOrder", "000001000200030004000500060007000800090000");
	put("BootCurrent", "01");
	free(order());
	is("BootOrder", "0a0000000100020003000400050006000700080009"
			"00");
	for (size_t i = 0; i < BU_LEN(bad); i++) {
		snprintf(name, sizeof(name), "Boot%04zX", i);
		is(name, bad[i]);
	}
	is("Boot00aF", BRINGUP);
	teardown();
}
END_TEST

/* More than is read, less than it must have, and no file. */
START_TEST(a_list_that_cannot_be_read_is_not_replaced)
{
	static const size_t sizes[] = {70000, 3, 2, 0};
	char *large = bu_xcalloc(1, 70000);
	bu_autofree char *path = NULL, *words = NULL;
	struct stat st;
	struct bu_err err = {0};

	setup();
	path = bu_xasprintf("%s/BootOrder" GLOBAL, dir);
	for (size_t i = 0; i < BU_LEN(sizes); i++) {
		if (sizes[i])
			ck_assert_int_eq(
				bu_file_write(path, large, sizes[i], 0644, NULL), 0);
		else
			ck_assert_int_eq(unlink(path) + mkdir(path, 0755), 0);
		ck_assert_int_eq(bu_bootvars_order(dir, &esp, 0, &words, &err), -1);
		ck_assert_ptr_nonnull(strstr(err.text, "BootOrder cannot be read"));
		ck_assert_int_eq(entries(), 0);
		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert(!sizes[i] || st.st_size == (off_t)sizes[i]);
	}
	free(large);
	teardown();
}
END_TEST

START_TEST(firmware_that_takes_nothing_is_named)
{
	bu_autofree char *words = NULL, *path = NULL;
	struct bu_err err = {0};

	setup();
	ck_assert(!bu_bootvars_there(dir));
	put("Boot0000", DEBIAN);
	/* Not even root writes that. */
	path = bu_xasprintf("%s/BootOrder" GLOBAL, dir);
	ck_assert_int_eq(symlink("/proc/1/nothing", path), 0);
	ck_assert_int_eq(bu_bootvars_order(dir, &esp, 0, &words, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "does not take BootOrder"));
	is("Boot0000", DEBIAN);
	teardown();
}
END_TEST

BU_UNIT("bootvars", the_network_is_first_then_the_disk,
	a_card_that_is_not_in_the_list_comes_into_it,
	a_boot_from_a_medium_puts_the_disk_first,
	a_boot_by_no_card_puts_every_card_first,
	a_list_that_cannot_be_read_is_not_replaced, ten_installs_leave_one_entry,
	both_disks_of_a_mirrored_system_are_in_it,
	entries_of_old_installs_go_and_others_stay,
	a_number_without_an_entry_is_not_given_away, what_is_right_is_left_alone,
	what_cannot_be_understood_stays, firmware_that_takes_nothing_is_named)
