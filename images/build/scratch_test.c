/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The script that brings up the array of an installed system, in a folder that plays
 * its /sys and /dev; mdadm, mount and mkfs are paper ones. What matters is that it
 * makes a file system only where there is nothing, and only once.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/worker.h"
#include "tests/support/shell.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/bringup-scratch-XXXXXX";

/* Two members of the array, one of another, and a partition that is none. */
static const char site[] =
	"mkdir -p bin var/lib/bringup etc/bringup usr/lib/bringup dev sys/block &&"
	"echo 00000000-1111-8222-8333-444444444444 >var/lib/bringup/scratch &&"
	"printf '# written by bringup\\nxfs /fast\\n' >etc/bringup/scratch &&"
	"for p in vdb1 vdc1 vdd1 vde1; do d=sys/class/block/$p; mkdir -p $d/holders;"
	"echo 1 >$d/partition; echo PARTNAME=bringup-scratch >$d/uevent;"
	"echo MD_UUID=00000000:11118222:83334444:44444444 >dev/$p;"
	"echo MD_DEV_UUID=$p >>dev/$p; done &&"
	"echo PARTNAME=lake >sys/class/block/vde1/uevent &&"
	"echo MD_UUID=9:9:9:9 >dev/vdd1 &&"
	"head -c 3000000 /dev/zero >dev/md127";

static const char *const programs[][2] = {
	{"usr/lib/bringup/mdadm",
	 "case $1 in --examine) cat \"$3\" ;;\n"
	 "--assemble) echo \"$*\" >>$PAPER/log; [ ! -e $PAPER/stuck ] || exit 1\n"
	 "	for p in vdb1 vdc1; do d=$PAPER/sys/class/block/$p/holders/md127/md\n"
	 "		mkdir -p $d; echo clean >$d/array_state; done ;; esac\n"},
	{"bin/mkfs.xfs",
	 "echo mkfs \"$*\" >>$PAPER/log; [ ! -e $PAPER/full ] || exit 1\n"
	 "for dev; do :; done; printf XFSB | dd of=$dev conv=notrunc status=none\n"},
	{"bin/mkfs.ext4", "echo mkfs.ext4 \"$*\" >>$PAPER/log; [ ! -e $PAPER/full ]\n"},
	{"usr/lib/bringup/cryptsetup",
	 "echo cryptsetup \"$*\" >>$PAPER/log; [ ! -e $PAPER/shut ] || exit 1\n"
	 "map=$PAPER/dev/mapper/bringup-scratch; case $1 in close) rm $map ;;\n"
	 "open) mkdir -p $PAPER/dev/mapper && : >$map ;; esac\n"},
	{"bin/sync", "echo sync $(cd $PAPER/var/lib/bringup && ls) >>$PAPER/log\n"},
	{"bin/mount", "echo mount \"$*\" >>$PAPER/log; [ ! -e $PAPER/broken ]\n"},
	{"bin/modprobe", ":\n"},
	{"bin/sleep", "echo sleep >>$PAPER/log\n"},
};

static void
shell(const char *command)
{
	bu_autofree char *whole = bu_xasprintf("cd %s && %s", dir, command);
	const char *argv[] = {"sh", "-c", whole, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 30000};
	struct bu_err err = {0};

	ck_assert_msg(bu_job_run(&opts, NULL, &err) == 0, "%s: %s", command, err.text);
}

static void
begin(void)
{
	strcpy(dir, "/tmp/bringup-scratch-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	shell(site);
	shell_programs(dir, "PAPER=", programs, BU_LEN(programs));
}

static void
end(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

/* Its exit status; what it says is in `said`. */
static int
run(void)
{
	bu_autofree char *command = bu_xasprintf(
		"PATH=%s/bin:$PATH sh %s/images/build/recipes/scratch %s >%s/said 2>&1",
		dir, BU_SRCDIR, dir, dir);
	const char *argv[] = {"sh", "-c", command, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = 60000};
	struct bu_job_end done;
	int code;

	ck_assert_int_eq(bu_job_wait(&opts, &done, NULL), 0);
	code = done.exit_code;
	bu_job_end_fini(&done);
	return code;
}

static void
is(const char *name, const char *want)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *got = bu_file_read(path, 1 << 20, NULL, NULL);
	bu_autofree char *with_dir = bu_xstrdup("");
	const char *rest = want, *at;

	while ((at = strchr(rest, '@'))) {
		bu_autofree char *before = with_dir;

		with_dir =
			bu_xasprintf("%s%.*s%s", before, (int)(at - rest), rest, dir);
		rest = at + 1;
	}
	{
		bu_autofree char *all = bu_xasprintf("%s%s", with_dir, rest);

		ck_assert_str_eq(got ? got : "", all);
	}
}

#define ASSEMBLE                                                                       \
	"--assemble /dev/md127 --uuid=00000000:11118222:83334444:44444444 @/dev/vdb1 " \
	"@/dev/vdc1\n"
/* Nothing is made before the flag is on the disk, nor mounted before it has gone. */
#define MKFS(options)                                                                  \
	"sync scratch scratch.making\nmkfs -q " options " @/dev/md127\n"               \
	"sync scratch scratch.making\nsync scratch\n"
#define MOUNT "mount -t xfs -o noatime @/dev/md127 @/fast\n"

START_TEST(a_new_array_gets_its_file_system_once)
{
	begin();
	ck_assert_int_eq(run(), 0);
	is("log", ASSEMBLE MKFS("-K") MOUNT);
	shell("[ $(stat -c %a fast) = 1777 ] && chmod 700 fast && rm log &&"
	      "rm -r sys/class/block/*/holders/md127");
	ck_assert_int_eq(run(), 0);
	is("log", ASSEMBLE MOUNT);
	shell("[ $(stat -c %a fast) = 700 ]");
	end();
}
END_TEST

/* The power went off while it was made. */
START_TEST(a_half_made_file_system_is_made_again_once)
{
	begin();
	shell(": >var/lib/bringup/scratch.making &&"
	      "printf half | dd of=dev/md127 conv=notrunc status=none");
	ck_assert_int_eq(run(), 0);
	is("log", ASSEMBLE MKFS("-K -f") MOUNT);
	shell("rm log && rm -r sys/class/block/*/holders/md127");
	ck_assert_int_eq(run(), 0);
	is("log", ASSEMBLE MOUNT);
	end();
}
END_TEST

/* udev's rules were first; it is mounted already. */
START_TEST(what_is_done_is_not_done_again)
{
	begin();
	shell("d=sys/class/block/vdc1/holders/md126/md && mkdir -p $d &&"
	      "echo clean >$d/array_state && mv dev/md127 dev/md126 && mkdir proc && echo /dev/md126 /fast xfs >proc/mounts");
	ck_assert_int_eq(run(), 0);
	is("log", "");
	end();
}
END_TEST

/* The second member is here over another path, too, and the first path to it is dead.
 */
START_TEST(a_disk_over_two_paths_is_taken_once)
{
	begin();
	shell("cp -r sys/class/block/vdc1 sys/class/block/vdf1 && cp dev/vdc1 dev/vdf1");
	ck_assert_int_eq(run(), 0);
	is("log", ASSEMBLE MKFS("-K") MOUNT);
	shell("rm log dev/vdc1 && rm -r sys/class/block/*/holders/md127");
	ck_assert_int_eq(run(), 0);
	is("log", "--assemble /dev/md127 --uuid=00000000:11118222:83334444:44444444 "
		  "@/dev/vdb1 @/dev/vdf1\n" MOUNT);
	end();
}
END_TEST

/* Anything in the first MiB, or a disk that cannot be read, is no empty array. */
START_TEST(what_is_there_is_never_formatted)
{
	static const char *const things[] = {
		"printf x | dd of=dev/md127 bs=1 seek=1048575 conv=notrunc status=none",
		"printf x | dd of=dev/md127 conv=notrunc status=none",
		"rm dev/md127",
		"rm dev/md127 && mkdir dev/md127",
	};

	for (size_t i = 0; i < BU_LEN(things); i++) {
		begin();
		shell(things[i]);
		shell(": >broken");
		ck_assert_int_eq(run(), 1);
		is("log", ASSEMBLE MOUNT);
		is("said", "bringup-scratch: @/dev/md127 is not mounted on /fast\n");
		end();
	}
}
END_TEST

START_TEST(what_is_missing_is_named)
{
	begin();
	shell(": >stuck");
	ck_assert_int_eq(run(), 1);
	is("said",
	   "bringup-scratch: array 00000000:11118222:83334444:44444444 does not "
	   "come up; its disks here: @/dev/vdb1 @/dev/vdc1\n");
	end();
	begin();
	shell(": >full");
	ck_assert_int_eq(run(), 1);
	is("said", "bringup-scratch: making xfs on @/dev/md127\n"
		   "bringup-scratch: mkfs.xfs failed; is it in the image?\n");
	shell("[ ! -e var/lib/bringup/scratch.making ]");
	end();
	begin();
	shell("rm var/lib/bringup/scratch && : >var/lib/bringup/scratch");
	ck_assert_int_eq(run(), 1);
	is("said",
	   "bringup-scratch: no array was made when this system was installed\n");
	end();
}
END_TEST

/* The array is to be encrypted with a key of each start. */
static void
begin_volatile(const char *fs)
{
	bu_autofree char *command = bu_xasprintf(
		"cp %s/images/build/recipes/scratch-volatile usr/lib/bringup/ &&"
		"printf '# written by bringup\\nvolatile-%s /fast\\n' "
		">etc/bringup/scratch",
		BU_SRCDIR, fs);

	begin();
	shell(command);
}

/* Another start: what the kernel knew is gone. */
static void
start_again(void)
{
	shell("rm -rf log dev/mapper run sys/class/block/*/holders/md127");
}

#define OPEN                                                                           \
	"cryptsetup open --type plain --batch-mode --cipher aes-xts-plain64 "          \
	"--key-size 512 --key-file /dev/random --offset 2048 --sector-size 4096 "      \
	"--allow-discards @/dev/md127 bringup-scratch\n"
#define MAPPED "@/dev/mapper/bringup-scratch"
#define MADE OPEN "mkfs -q -K -f " MAPPED "\n"
#define MOUNT_MAPPED "mount -t xfs -o noatime " MAPPED " @/fast\n"

START_TEST(a_volatile_array_is_new_at_each_start)
{
	begin_volatile("xfs");
	ck_assert_int_eq(run(), 0);
	is("log", ASSEMBLE "sync scratch\n" MADE MOUNT_MAPPED);
	is("said", "bringup-scratch: making xfs on " MAPPED "\n"
		   "bringup-scratch: " MAPPED " is on /fast\n");
	/* What says so is readable, and nothing else is written past the kernel's key.
	 */
	shell("[ \"$(tr -d '\\000' <dev/md127)\" = "
	      "'bringup: encrypted with a key of each start' ]");
	shell("[ $(stat -c %a fast) = 1777 ]");
	start_again();
	ck_assert_int_eq(run(), 0);
	is("log", ASSEMBLE MADE MOUNT_MAPPED);
	/* Once more in the same start: what is there stays. */
	shell("rm log && chmod 700 fast");
	ck_assert_int_eq(run(), 0);
	is("log", MOUNT_MAPPED);
	shell("[ $(stat -c %a fast) = 700 ]");
	end();
}
END_TEST

START_TEST(a_volatile_array_that_was_not_finished_is_made_again)
{
	begin_volatile("ext4");
	shell(": >full");
	ck_assert_int_eq(run(), 1);
	is("said", "bringup-scratch: making ext4 on " MAPPED "\n"
		   "bringup-scratch: mkfs.ext4 failed; is it in the image?\n");
	shell("rm full log");
	ck_assert_int_eq(run(), 0);
	is("log", "cryptsetup close bringup-scratch\n" OPEN
		  "mkfs.ext4 -q -E nodiscard -F " MAPPED "\n"
		  "mount -t ext4 -o noatime " MAPPED " @/fast\n");
	end();
	begin_volatile("xfs");
	shell(": >shut");
	ck_assert_int_eq(run(), 1);
	is("log", ASSEMBLE "sync scratch\n" OPEN);
	is("said", "bringup-scratch: @/dev/md127 cannot be encrypted\n");
	end();
}
END_TEST

/* Nothing that is there is written over, whatever it begins with. */
START_TEST(a_volatile_array_takes_nothing_that_is_there)
{
	static const char *const things[] = {
		"printf x | dd of=dev/md127 bs=1 seek=1048575 conv=notrunc status=none",
		"printf 'bringup: encrypted with' >dev/md127",
		"rm dev/md127 && mkdir dev/md127",
	};

	for (size_t i = 0; i < BU_LEN(things); i++) {
		begin_volatile("xfs");
		shell(things[i]);
		ck_assert_int_eq(run(), 1);
		is("log", ASSEMBLE);
		is("said",
		   "bringup-scratch: @/dev/md127 has something that no start with "
		   "scratch_keys = volatile left there; bringup node rebuild NODE "
		   "--grant wipe makes the array anew\n");
		end();
	}
}
END_TEST

BU_UNIT("scratch", a_new_array_gets_its_file_system_once,
	a_half_made_file_system_is_made_again_once, what_is_done_is_not_done_again,
	a_disk_over_two_paths_is_taken_once, what_is_there_is_never_formatted,
	what_is_missing_is_named, a_volatile_array_is_new_at_each_start,
	a_volatile_array_that_was_not_finished_is_made_again,
	a_volatile_array_takes_nothing_that_is_there)
