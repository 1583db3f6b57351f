/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sysroot.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/bringup-tree-XXXXXX";

static void
put(const char *name, const char *content)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);

	ck_assert_int_eq(bu_file_write(path, content, strlen(content), 0644, NULL), 0);
}

static void
visit(const char *name, void *arg)
{
	strcat(arg, name);
	strcat(arg, " ");
}

START_TEST(reads_below_a_root)
{
	char text[64], names[64] = "", *real, *whole;
	size_t size;

	ck_assert_ptr_nonnull(mkdtemp(root));
	put("line", "  4: ACT\x01IVE \t\nsecond\n");
	put("number", "-1\n");
	put("hex", "0x1f\n");
	put("rate", "400 Gb/sec (4X NDR)\n");
	put("net10", "12x");
	put("net2", "");
	put(".hidden", "");
	ck_assert_int_eq(symlink("net10", real = bu_xasprintf("%s/link", root)), 0);
	free(real);
	ck_assert_int_eq(bu_sysroot_line(root, text, sizeof(text), "line"), 1);
	ck_assert_str_eq(text, "4: ACT?IVE");
	ck_assert_int_eq(bu_sysroot_line(root, text, 5, "line"), 1);
	ck_assert_str_eq(text, "4: A");
	ck_assert_int_eq(bu_sysroot_line(root, text, sizeof(text), "none"), 0);
	ck_assert_str_eq(text, "");
	ck_assert_int_eq(bu_sysroot_line(root, text, sizeof(text), "net%d", 2), 1);
	ck_assert_int_eq(bu_sysroot_int(root, 7, "number"), -1);
	ck_assert_int_eq(bu_sysroot_int(root, 7, "hex"), 31);
	ck_assert_int_eq(bu_sysroot_int(root, 7, "rate"), 400);
	ck_assert_int_eq(bu_sysroot_int(root, 7, "net10"), 7);
	ck_assert_int_eq(bu_sysroot_int(root, 7, "net2"), 7);
	ck_assert_int_eq(bu_sysroot_int(root, 7, "none"), 7);
	ck_assert_int_eq(bu_sysroot_exists(root, "net%d", 10), 1);
	ck_assert_int_eq(bu_sysroot_exists(root, "net%d", 11), 0);
	bu_sysroot_link(root, text, sizeof(text), "link");
	ck_assert_str_eq(text, "net10");
	bu_sysroot_link(root, text, sizeof(text), "line");
	ck_assert_str_eq(text, "");
	real = bu_sysroot_real(root, "link");
	ck_assert_str_eq(strrchr(real, '/'), "/net10");
	free(real);
	whole = bu_sysroot_read(root, 3, &size, "rate");
	ck_assert_str_eq(whole, "400");
	ck_assert_uint_eq(size, 3);
	free(whole);
	ck_assert_ptr_null(bu_sysroot_read(root, 3, &size, "none"));
	ck_assert_ptr_null(bu_sysroot_read(root, 3, &size, "."));
	ck_assert_int_eq(bu_sysroot_each(root, visit, names, "."), 7);
	ck_assert_str_eq(names, "hex line link net2 net10 number rate ");
	ck_assert_int_eq(bu_sysroot_each(root, visit, names, "none"), 0);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* What an inventory takes: a number alone on its line, and inside its bounds. */
START_TEST(a_number_is_whole_and_within)
{
	static const struct {
		const char *text;
		int64_t wanted;
	} rows[] = {
		{"25\n", 25},  {" 0 \n", 0}, {"100", 100},
		{"101\n", 7},  {"-1\n", 7},  {"25 Gb\n", 7},
		{"0x19\n", 7}, {"", 7},      {"99999999999999999999\n", 7},
	};

	ck_assert_ptr_nonnull(mkdtemp(root));
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		put("bounded", rows[i].text);
		ck_assert_int_eq(bu_sysroot_number(root, 100, 7, "bounded"),
				 rows[i].wanted);
	}
	ck_assert_int_eq(bu_sysroot_number(root, 100, 7, "none"), 7);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(a_text_is_cleaned_in_place)
{
	char text[] = " \tAB\001C \r", cut[4];

	bu_sysroot_clean(text);
	ck_assert_str_eq(text, "AB?C");
	ck_assert_ptr_nonnull(mkdtemp(root));
	put("long", "AB CD\n");
	bu_sysroot_line(root, cut, sizeof(cut), "long");
	ck_assert_str_eq(cut, "AB");
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(lists_of_cpus_are_read)
{
	static const struct {
		const char *text;
		int count, last; /* -1: none */
	} rows[] = {
		{"0-3,8\n", 5, 8},
		{"7", 1, 7},
		{"0-15,32-47\n", 32, 47},
		{"3-1\n", 0, -1},
		{"\n", 0, -1},
		{"none\n", 0, -1},
		{"0,x,5\n", 1, 0},
		{"0-1;5\n", 2, 1},
		{"-1\n", 0, -1},
		{"0-9999999\n", CPU_SETSIZE, CPU_SETSIZE - 1},
	};
	cpu_set_t cpus;

	ck_assert_ptr_nonnull(mkdtemp(root));
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		put("cpus", rows[i].text);
		bu_sysroot_cpus(root, &cpus, "cpus");
		ck_assert_msg(CPU_COUNT(&cpus) == rows[i].count, "%s: %d", rows[i].text,
			      CPU_COUNT(&cpus));
		ck_assert(rows[i].last < 0 || CPU_ISSET((size_t)rows[i].last, &cpus));
	}
	bu_sysroot_cpus(root, &cpus, "none");
	ck_assert_int_eq(CPU_COUNT(&cpus), 0);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(what_is_mounted_in_a_place)
{
	static const struct {
		const char *place, *source, *fs;
		int automount;
	} rows[] = {
		{"/", "/dev/vda2", "ext4", 0},
		{"/data", "new:/data", "nfs4", 0},
		{"/data/", "new:/data", "nfs4", 0},
		{"/dat", "", "", 0},
		{"/home", "", "", 1},
		{"/a b\\", "c", "xfs", 0},
		{"/lake", "lake:/x", "nfs4", 1},
	};
	struct bu_sysroot_mount found;
	bu_autofree char *proc = NULL;

	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(bu_sysroot_mounted(root, "/", &found), -1);
	ck_assert_str_eq(found.fs, "");
	proc = bu_xasprintf("%s/proc", root);
	ck_assert_int_eq(mkdir(proc, 0755), 0);
	put("proc/mounts",
	    "/dev/vda2 / ext4 rw 0 0\nold:/data /data nfs rw 0 0\n"
	    "new:/data /data nfs4 rw 0 0\nx /data/more ext4 rw 0 0\n"
	    "c /a\\040b\\ xfs rw 0 0\n"
	    "systemd-1 /home autofs rw 0 0\nshort /data\n"
	    "systemd-1 /lake autofs rw 0 0\nlake:/x /lake nfs4 rw 0 0\n");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		ck_assert_int_eq(bu_sysroot_mounted(root, rows[i].place, &found), 0);
		ck_assert_str_eq(found.source, rows[i].source);
		ck_assert_str_eq(found.fs, rows[i].fs);
		ck_assert_int_eq(found.automount, rows[i].automount);
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(names_of_pci_functions)
{
	static const char *const good[] = {"0000:18:00.0", "10000:e1:00.7"};
	static const char *const bad[] = {"",          "0000:18:00",  "0000:18:00.0x",
					  "usb1",      "0000:18:00.", "0000:180:00.0",
					  "pci0000:00"};

	for (size_t i = 0; i < BU_LEN(good); i++)
		ck_assert_msg(bu_sysroot_is_pci(good[i]), "%s", good[i]);
	for (size_t i = 0; i < BU_LEN(bad); i++)
		ck_assert_msg(!bu_sysroot_is_pci(bad[i]), "%s", bad[i]);
}
END_TEST

BU_UNIT("tree", reads_below_a_root, a_number_is_whole_and_within,
	a_text_is_cleaned_in_place, lists_of_cpus_are_read, what_is_mounted_in_a_place,
	names_of_pci_functions)
