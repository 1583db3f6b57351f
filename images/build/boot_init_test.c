/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the initial ramdisk of an installed system finds its root: the script's own
 * lines, on a BIOS machine with two disks of ours, which are folders and files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

/* Each disk: its signature at byte 440, the GUID of its system partition in the third
 * sector at byte 16. */
static const char disks[] =
	"set -e; mkdir -p $D/proc $D/dev $D/mnt $D/sys/firmware/edd/int13_dev80;"
	"touch $D/mnt/vmlinuz $D/mnt/initrd $D/mnt/syslinux.cfg;"
	"for d in a b; do at=$D/sys/block/sd$d; mkdir -p $at/queue;"
	"	echo 512 >$at/queue/logical_block_size;"
	"	for p in 1:ESP 2:root; do part=$at/sd$d${p%:*}; mkdir $part;"
	"		echo ${p%:*} >$part/partition;"
	"		echo PARTNAME=${p#*:} >$part/uevent; done;"
	"	{ head -c 440 /dev/zero; printf %s ${d}sig; head -c 596 /dev/zero;"
	"	  printf %s disk-$d-012345678; head -c 512 /dev/zero; } >$D/dev/sd$d;"
	"done;";
#define GUID(letter) "bringup.esp=6B736964-" letter "2D-302D-3132-333435363738"

/* The script from where it reads its arguments, with its paths below $D, each sleep two
 * seconds of a clock of its own, and without what needs a machine. */
static const char script[] =
	"{ echo 'mount() { [ \"$2\" != ext4 ] || "
	"	{ echo \"root is ${5##*/}\"; [ ! -e $D/unmountable ]; }; }';"
	"  echo 'e2fsck() { echo \"e2fsck $1 ${2##*/}\"; return $(cat $D/e2fsck$1); }';"
	"  echo 'hexdump() { od -An -v -tx1 | tr -d \" \\n\"; }';"
	"  echo 'sleep() { slept=$((${slept:-0} + 1)); "
	"	echo $((7 + 2 * slept)).31 3.00 >$D/proc/uptime;"
	"	[ ! -e $D/late/$slept ] || mv $D/late/$slept/* $D/sys/block/; }';"
	"  for f in umount modprobe hardware; do echo \"$f() { :; }\"; done;"
	"  sed -n '/^said=/,$p' " BU_SRCDIR "/images/build/recipes/boot.init |"
	"	sed -e '/^exec switch_root/d'"
	"	    -e \"s,/\\(sys\\|proc\\|dev\\|mnt\\)/,$D/\\1/,g\"; } >$D/init";

static char dir[] = "/tmp/bringup-init-XXXXXX";

static void
begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("D", dir, 1);
	ck_assert_int_eq(system(disks), 0);
	ck_assert_int_eq(system(script), 0);
	ck_assert_int_eq(system("echo 0 >$D/e2fsck-p"), 0);
}

/* What it says with these arguments, where the firmware says that its first disk is
 * the one with this letter; 0 = it says nothing of use. */
static void
finds(const char *arguments, int letter, const char *want)
{
	bu_autofree char *path = bu_xasprintf("%s/said", dir), *said = NULL;
	bu_autofree char *command = bu_xasprintf(
		"echo '%s' >$D/proc/cmdline; echo 7.31 3.00 >$D/proc/uptime; echo 0x%08x "
		">$D/sys/firmware/edd/int13_dev80/mbr_signature; sh $D/init >$D/said 2>&1",
		arguments, letter ? 0x67697300 + letter : 0);

	bu_ignore(system(command));
	/* The check has tests of its own. */
	bu_ignore(system("sed -i '/^e2fsck -p/d' $D/said"));
	said = bu_file_read(path, 0, NULL, NULL);
	ck_assert_msg(said && strncmp(said, want, strlen(want)) == 0,
		      "'%s' of %s: %s instead of %s", arguments, dir, said, want);
}

START_TEST(the_system_that_was_meant_and_no_other)
{
	begin();
	finds("rw " GUID("61") " quiet", 'b', "root is sda2");
	finds("rw " GUID("62") " quiet", 'a', "root is sdb2");
	/* It is on no disk: nothing else is started in its place. */
	finds("rw " GUID("63") " quiet", 'a', "bringup: no root beside");
	ck_assert_int_eq(system("rm -r $D"), 0);
}
END_TEST

/* Two roots on the second disk, of which the kernel was told one: by UEFI its system
 * partition has a GUID of its own, by BIOS the disk is enough. */
static const char slots[] =
	"set -e; at=$D/sys/block/sdb; rm -r $at/sdb?;"
	"for p in 1:ESP 2:ESP-a 3:root-a 4:ESP-b 5:root-b; do part=$at/sdb${p%:*};"
	"	mkdir $part; echo ${p%:*} >$part/partition;"
	"	echo PARTNAME=${p#*:} >$part/uevent; done;"
	"{ head -c 440 /dev/zero; printf %s bsig; head -c 724 /dev/zero;"
	"  printf %s disk-d-012345678; head -c 240 /dev/zero;"
	"  printf %s disk-e-012345678; head -c 512 /dev/zero; } >$D/dev/sdb;";

START_TEST(the_root_of_the_slot_that_the_loader_chose)
{
	begin();
	ck_assert_int_eq(system(slots), 0);
	finds("rw bringup.slot=a", 'b', "root is sdb3");
	finds("rw bringup.slot=b quiet", 'b', "root is sdb5");
	finds(GUID("64") " rw bringup.slot=a", 'a', "root is sdb3");
	finds(GUID("65") " rw bringup.slot=b", 'a', "root is sdb5");
	/* A slot's system partition and another one's root do not go together. */
	finds(GUID("65") " rw bringup.slot=a", 'a', "bringup: no root beside");
	finds("rw", 'a', "root is sda2");
	ck_assert_int_eq(system("rm -r $D"), 0);
}
END_TEST

START_TEST(without_a_word_the_firmwares_disk_or_the_first)
{
	begin();
	finds("rw quiet", 'a', "root is sda2");
	finds("rw quiet", 'b', "root is sdb2");
	finds("rw quiet", 'c', "root is sda2");
	finds("rw quiet", 0, "root is sda2");
	ck_assert_int_eq(system("rm -r $D"), 0);
}
END_TEST

/* Both disks become halves of a mirror: the superblock is where the kernel looks for
 * it, 8 KiB and less before the end, with the half's own number at byte 168. What the
 * kernel is told is in files. */
static const char halves[] =
	"set -e; for d in a b; do part=$D/sys/block/sd$d/sd${d}2;"
	"	echo PARTNAME=bringup-root >$part/uevent; echo 8:$d >$part/dev;"
	"	echo 1003 >$part/size; truncate -s $((1003 * 512)) $D/dev/sd${d}2;"
	"	printf '\\374\\116\\053\\251\\001\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0%s' arrayarrayarraya |"
	"		dd of=$D/dev/sd${d}2 bs=512 seek=984 conv=notrunc status=none;"
	"	printf half-$d-012345678 |"
	"		dd of=$D/dev/sd${d}2 bs=1 seek=$((984 * 512 + 168))"
	"			conv=notrunc status=none;"
	"done; mkdir -p $D/sys/block/md127/md $D/sys/module/md_mod/parameters;"
	"echo 0 >$D/sys/block/md127/md/degraded;";

static void
tells_kernel(const char *members)
{
	static const char *const files[] = {"sys/module/md_mod/parameters/new_array",
					    "sys/block/md127/md/metadata_version",
					    "sys/block/md127/md/new_dev",
					    "sys/block/md127/md/array_state"};
	const char *const want[] = {"md127\n", "1.0\n", members, "active\n"};

	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, files[i]);
		bu_autofree char *got = bu_file_read(path, 0, NULL, NULL);

		ck_assert_msg(got && strcmp(got, want[i]) == 0, "%s: %s", files[i],
			      got);
		ck_assert_int_eq(truncate(path, 0), 0);
	}
}

START_TEST(a_mirrored_root_comes_up_with_what_is_there)
{
	begin();
	ck_assert_int_eq(system(halves), 0);
	finds("rw quiet", 'a', "root is md127");
	tells_kernel("8:a\n8:b\n");
	finds("rw " GUID("62") " quiet", 'a', "root is md127");
	tells_kernel("8:a\n8:b\n");
	/* The second disk is another array's half; then it has no word of any. */
	ck_assert_int_eq(
		system("printf X | dd of=$D/dev/sdb2 bs=1 seek=$((984 * 512 + 31))"
		       " conv=notrunc status=none"),
		0);
	finds("rw quiet", 'a', "root is md127");
	tells_kernel("8:a\n");
	finds("rw quiet", 'b', "root is md127");
	tells_kernel("8:b\n");
	ck_assert_int_eq(
		system("truncate -s 0 $D/dev/sdb2; truncate -s 513536 $D/dev/sdb2"), 0);
	finds("rw quiet", 'b', "root is md127");
	tells_kernel("8:a\n");
	/* Either disk is gone, whichever was booted from. */
	ck_assert_int_eq(
		system("rm -r $D/sys/block/sdb; echo 1 >$D/sys/block/md127/md/degraded"),
		0);
	finds("rw quiet", 'a',
	      "bringup: one half of the mirrored root is missing\nroot is md127");
	tells_kernel("8:a\n");
	ck_assert_int_eq(system("rm -r $D"), 0);
}
END_TEST

/* Disk a has number 0 of the array and disk b 1; `role` in the table of that disk's
 * half for the number of the other, as the kernel writes it: \376\377 failed, \377\377
 * gone. */
static void
says(char disk, const char *role)
{
	bu_autofree char *command = bu_xasprintf(
		"s=$((984 * 512)); f=$D/dev/sd%c2; put() { printf \"$2\" | dd of=$f bs=1 "
		"seek=$((s + $1)) conv=notrunc status=none; }; put 160 '%s'; "
		"put 256 '\\0\\0\\001\\0'; put %d '%s'; echo SER-%c >$D/sys/block/sd%c/serial",
		disk, disk == 'a' ? "\\000" : "\\001", disk == 'a' ? 258 : 256, role,
		disk, disk);

	ck_assert_int_eq(system(command), 0);
}

#define HERE(disk) (disk == 'a' ? "\\001\\000" : "\\000\\000")
#define GONE "\\377\\377"
#define FAILED "\\376\\377"

/* What one half was written without is older, however little: the kernel is not even
 * asked, for it takes one whose count of changes is one less. */
START_TEST(an_older_half_is_left_out)
{
	static const struct {
		const char *a, *b, *members; /* what each says of the other */
	} rows[] = {
		{HERE('a'), HERE('b'), "8:a\n8:b\n"}, {GONE, HERE('b'), "8:a\n"},
		{FAILED, HERE('b'), "8:a\n"},         {HERE('a'), GONE, "8:b\n"},
		{HERE('a'), FAILED, "8:b\n"},
	};

	begin();
	ck_assert_int_eq(system(halves), 0);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		says('a', rows[i].a);
		says('b', rows[i].b);
		for (int booted = 'a'; booted <= 'b'; booted++) {
			finds("rw quiet", booted, "root is md127");
			tells_kernel(rows[i].members);
		}
	}
	ck_assert_int_eq(system("rm -r $D"), 0);
}
END_TEST

/* Each was written without the other: the one whose disk was booted, and it is said. */
START_TEST(halves_that_parted_are_not_joined)
{
	static const char *const words[] = {GONE, FAILED};

	begin();
	ck_assert_int_eq(system(halves), 0);
	for (size_t i = 0; i < BU_LEN(words); i++) {
		says('a', words[i]);
		says('b', GONE);
		finds("rw quiet", 'a',
		      "bringup: the halves of the mirrored root on disks SER-a and "
		      "SER-b have each run alone and are not joined; this is SER-a");
		tells_kernel("8:a\n");
		finds("rw " GUID("62") " quiet", 'a',
		      "bringup: the halves of the mirrored root on disks SER-b and "
		      "SER-a have each run alone and are not joined; this is SER-b");
		tells_kernel("8:b\n");
	}
	/* The other disk is gone again: nothing is to be chosen. */
	ck_assert_int_eq(system("rm -r $D/sys/block/sda"), 0);
	finds("rw quiet", 'b', "root is md127");
	tells_kernel("8:b\n");
	ck_assert_int_eq(system("rm -r $D"), 0);
}
END_TEST

/* Disk a is here over a second path: the kernel names it sd0, before the first. */
static const char two_paths[] =
	"set -e; cp -r $D/sys/block/sda $D/sys/block/sd0;"
	"mv $D/sys/block/sd0/sda1 $D/sys/block/sd0/sd01;"
	"mv $D/sys/block/sd0/sda2 $D/sys/block/sd0/sd02;"
	"echo 8:0 >$D/sys/block/sd0/sd02/dev;"
	"touch $D/dev/sda2; ln $D/dev/sda $D/dev/sd0; ln $D/dev/sda2 $D/dev/sd02;";

START_TEST(a_path_that_cannot_be_read_is_passed_over)
{
	begin();
	ck_assert_int_eq(system(two_paths), 0);
	finds("rw " GUID("61") " quiet", 'a', "root is sd02");
	ck_assert_int_eq(system("rm $D/dev/sd0"), 0);
	finds("rw " GUID("61") " quiet", 'a', "root is sda2");
	finds("rw quiet", 'a', "root is sda2");
	ck_assert_int_eq(system("rm -r $D"), 0);
}
END_TEST

START_TEST(a_half_over_two_paths_is_one_half)
{
	begin();
	ck_assert_int_eq(system(halves), 0);
	ck_assert_int_eq(system(two_paths), 0);
	finds("rw quiet", 'b', "root is md127");
	tells_kernel("8:0\n8:b\n");
	/* That path is dead. */
	ck_assert_int_eq(system("rm $D/dev/sd02"), 0);
	finds("rw quiet", 'b', "root is md127");
	tells_kernel("8:a\n8:b\n");
	/* Both paths of one half are no reason not to wait for the other one. */
	ck_assert_int_eq(system("ln $D/dev/sda2 $D/dev/sd02; mkdir -p $D/late/3;"
				"mv $D/sys/block/sdb $D/late/3/"),
			 0);
	finds("rw quiet", 'a', "root is md127");
	tells_kernel("8:0\n8:b\n");
	/* Each has run alone, and the one that was booted came over its second path. */
	says('a', GONE);
	says('b', GONE);
	ck_assert_int_eq(system("rm $D/dev/sd0; echo SER-a >$D/sys/block/sd0/serial"),
			 0);
	finds("rw " GUID("61") " quiet", 'b',
	      "bringup: the halves of the mirrored root on disks SER-a and "
	      "SER-b have each run alone and are not joined; this is SER-a");
	tells_kernel("8:0\n");
	ck_assert_int_eq(system("rm -r $D"), 0);
}
END_TEST

/* By default for 30 s, after a third of which any disk of ours is taken. */
START_TEST(disks_may_come_late)
{
	static const struct {
		int after; /* so many looks, of 2 s */
		const char *arguments, *said;
	} rows[] = {
		{15, GUID("62"), "root is sdb2"},
		{15, GUID("62") " bringup.disk_wait=1", "root is sdb2"},
		{16, GUID("62"), "bringup: no root beside"},
		{16, GUID("62") " bringup.disk_wait=32", "root is sdb2"},
		{17, GUID("62") " bringup.disk_wait=32", "bringup: no root beside"},
		{4, "rw", "root is sdb2"},
		{6, "rw", "root is sda2"},
		{6, "rw bringup.disk_wait=60", "root is sdb2"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *hide = NULL;

		begin();
		hide = bu_xasprintf("mkdir -p $D/late/%d && "
				    "mv $D/sys/block/sdb $D/late/%d/",
				    rows[i].after, rows[i].after);
		ck_assert_int_eq(system(hide), 0);
		finds(rows[i].arguments, 'b', rows[i].said);
		ck_assert_int_eq(system("rm -r $D"), 0);
		strcpy(dir, "/tmp/bringup-init-XXXXXX");
	}
}
END_TEST

/* Two thirds of that time for the other half, which is left out of what has begun. */
START_TEST(a_half_may_come_late)
{
	static const struct {
		int after;
		const char *arguments, *joined;
	} rows[] = {
		{10, "rw", "8:a\n8:b\n"},
		{11, "rw", "8:a\n"},
		{15, "rw bringup.disk_wait=45", "8:a\n8:b\n"},
		{16, "rw bringup.disk_wait=45", "8:a\n"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *hide = NULL;

		begin();
		ck_assert_int_eq(system(halves), 0);
		hide = bu_xasprintf("mkdir -p $D/late/%d && "
				    "mv $D/sys/block/sdb $D/late/%d/",
				    rows[i].after, rows[i].after);
		ck_assert_int_eq(system(hide), 0);
		finds(rows[i].arguments, 'a', "root is md127");
		tells_kernel(rows[i].joined);
		ck_assert_int_eq(system("rm -r $D"), 0);
		strcpy(dir, "/tmp/bringup-init-XXXXXX");
	}
}
END_TEST

/* How e2fsck ends that may only repair what is safe, then one that repairs all. */
START_TEST(the_root_is_checked_before_it_is_mounted)
{
	static const struct {
		int safe, all;
		const char *said[3]; /* in this order */
	} rows[] = {
		{0, 99, {"e2fsck -p sda2\nroot is sda2\n"}},
		{1, 99, {"e2fsck -p sda2\nroot is sda2\n"}},
		{2, 99, {"e2fsck -p sda2\nbringup: ", "sda2 is repaired; restarting"}},
		{3, 99, {"sda2 is repaired; restarting"}},
		{4, 0, {"has errors (e2fsck: 4)", "\ne2fsck -fy sda2\nroot is sda2\n"}},
		{12,
		 1,
		 {"has errors (e2fsck: 12)", "\ne2fsck -fy sda2\nroot is sda2\n"}},
		{4, 2, {"e2fsck -fy sda2\n", "sda2 is repaired; restarting"}},
		{4,
		 4,
		 {"has errors", "cannot be repaired (e2fsck: 4)", "node rebuild"}},
		{8,
		 12,
		 {"has errors", "cannot be repaired (e2fsck: 12)", "node rebuild"}},
		/* It could not look: the mount decides. */
		{8,
		 8,
		 {"has errors", "was not checked (e2fsck: 8)", "\nroot is sda2\n"}},
		{127, 127, {"was not checked (e2fsck: 127)\nroot is sda2\n"}},
	};

	begin();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *command = bu_xasprintf(
			"echo 'rw quiet' >$D/proc/cmdline; echo %d >$D/e2fsck-p; "
			"echo %d >$D/e2fsck-fy; sh $D/init >$D/said 2>&1",
			rows[i].safe, rows[i].all);
		bu_autofree char *path = bu_xasprintf("%s/said", dir), *said = NULL;
		int code = system(command);
		const char *at;

		at = said = bu_file_read(path, 0, NULL, NULL);
		for (size_t j = 0; j < BU_LEN(rows[i].said) && rows[i].said[j]; j++) {
			at = strstr(at, rows[i].said[j]);
			ck_assert_msg(at, "row %zu: %s", i, said);
		}
		ck_assert_msg((code == 0) == (strstr(said, "root is") != NULL), "%s",
			      said);
	}
	ck_assert_int_eq(system("echo 0 >$D/e2fsck-p; : >$D/unmountable; sh $D/init "
				">$D/said && exit 1; grep -q 'sda2 cannot be mounted; "
				"install the node again' $D/said"),
			 0);
	ck_assert_int_eq(system("rm -r $D"), 0);
}
END_TEST

BU_UNIT("boot_init", the_system_that_was_meant_and_no_other,
	without_a_word_the_firmwares_disk_or_the_first,
	a_mirrored_root_comes_up_with_what_is_there, an_older_half_is_left_out,
	halves_that_parted_are_not_joined, the_root_of_the_slot_that_the_loader_chose,
	a_path_that_cannot_be_read_is_passed_over, a_half_over_two_paths_is_one_half,
	the_root_is_checked_before_it_is_mounted, disks_may_come_late,
	a_half_may_come_late)
