/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recipe of an imported tree, whose links lead to a folder of this machine: nothing
 * there is removed, made or read, and no tree gets the initial ramdisk of another.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/bringup-import-XXXXXX";

/* A system with a kernel, and a folder of the machine beside it. */
static const char tree[] =
	"mkdir host work work/root && cd work/root &&"
	"mkdir -p etc/systemd/system/b.wants usr/lib/bringup boot lib/modules/6 var/lib "
	"lib/modules/6/kernel/fs && : >../../host/slurmd.service &&"
	": >../../host/munge.service && : >etc/systemd/system/b.wants/slurmd.service &&"
	"echo 'root:x:1::::::' >etc/shadow && : >boot/vmlinuz-6 && cd lib/modules/6 &&"
	"echo one >kernel/fs/ext4.ko && echo kernel/fs/ext4.ko: >modules.dep &&"
	": >modules.builtin && ln -s /usr/src/linux build && cd ../../..";

/* In the tree, with the recipe's functions; what the shell ends with. */
static int
run(const char *commands)
{
	bu_autofree char *text = bu_xasprintf(
		"cd %s/work/root && export RECIPES=%s/images/build/recipes WORK=%s/work "
		"OUT=%s/out CACHE=%s/cache PATH=%s/bin:$PATH host=%s/host && "
		"set -- none && . $RECIPES/import.sh && root=$PWD && "
		"units=$root/etc/systemd/system && modules=$root/lib/modules/6 && %s",
		dir, BU_SRCDIR, dir, dir, dir, dir, dir, commands);

	return system(text);
}

static void
works(const char *commands)
{
	ck_assert_msg(run(commands) == 0, "%s", commands);
}

static void
begin(void)
{
	bu_autofree char *text = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	text = bu_xasprintf("cd %s && %s", dir, tree);
	ck_assert_int_eq(system(text), 0);
}

static void
end(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

START_TEST(links_of_units_lead_nowhere)
{
	begin();
	works("ln -s $host $units/x.wants && mkdir $units/multi-user.target.wants &&"
	      "ln -s $host $units/multi-user.target.wants/bringup-agent.service &&"
	      "ln -s $host $units/multi-user.target.wants/systemd-networkd.service");
	works("house $root");
	works("test -e $host/slurmd.service && test -e $host/munge.service &&"
	      "test $(ls $host | wc -l) = 2 && ! test -e $units/b.wants/slurmd.service");
	works("test $(readlink $units/multi-user.target.wants/bringup-agent.service) = "
	      "../bringup-agent.service && "
	      "readlink $units/multi-user.target.wants/systemd-networkd.service | "
	      "grep -q /lib/systemd/");
	end();
}
END_TEST

/* Whatever the system was set up for, its log is on disk; links lead nowhere. */
START_TEST(the_log_is_kept_on_disk)
{
	begin();
	works("mkdir -p var/log && ln -s $host var/log/journal && "
	      "mkdir -p $root/etc/systemd/journald.conf.d && "
	      "ln -s $host/munge.service $root/etc/systemd/journald.conf.d/10-bringup.conf &&"
	      "ln -s /dev/null $units/systemd-journal-flush.service");
	works("house $root && test -d var/log/journal && ! test -L var/log/journal &&"
	      "test $(ls $host | wc -l) = 2 && ! test -s $host/munge.service &&"
	      "grep -qx Storage=persistent etc/systemd/journald.conf.d/10-bringup.conf &&"
	      "! test -L $units/systemd-journal-flush.service");
	works(": >var/log/journal/old && house $root && ! test -e var/log/journal/old");
	works("for i in debian12 debian13 ubuntu2204 ubuntu2404; do "
	      "! grep journal $RECIPES/$i.ini || exit 1; done");
	end();
}
END_TEST

/* An image of a cloud: its cloud-init would undo what the node gets. */
START_TEST(cloud_init_stays_off)
{
	begin();
	works("no_cloud_init && ! test -e $root/etc/cloud");
	works("mkdir -p usr/bin && ln -s /nowhere usr/bin/cloud-init && no_cloud_init &&"
	      "! test -e $root/etc/cloud");
	works("ln -sf python3 usr/bin/cloud-init && : >usr/bin/python3 && no_cloud_init &&"
	      "test -f $root/etc/cloud/cloud-init.disabled");
	/* The import does so. */
	works("echo 6 boot/vmlinuz-6 >$WORK/kernel && "
	      "rm -r $root/etc/cloud && mkdir -p $root/etc/ssh && for each in house need "
	      "depmod say kept_initrd esp root_fs image_json; do eval \"$each() { :; }\"; "
	      "done && build && test -f $root/etc/cloud/cloud-init.disabled");
	/* Neither a link there nor one above it leads out. */
	works("echo kept >$host/file && ln -sf $host/file $root/etc/cloud/cloud-init.disabled "
	      "&& no_cloud_init && ! test -L $root/etc/cloud/cloud-init.disabled &&"
	      "grep -q kept $host/file");
	works("rm -r $root/etc/cloud && ln -s $host $root/etc/cloud");
	ck_assert_int_ne(run("no_cloud_init 2>$host/../why"), 0);
	works("grep -q '/etc/cloud is a link out' $host/../why &&"
	      "! test -e $host/cloud-init.disabled");
	end();
}
END_TEST

/* As image-based systems have it: with an initial ramdisk that is not ours. */
START_TEST(a_kernel_beside_its_modules_starts)
{
	static const char build[] =
		"for each in house need depmod say kept_initrd root_fs image_json; do "
		"eval \"$each() { :; }\"; done && esp() { echo $3 >$WORK/esp; } && build";

	begin();
	works("mkdir -p etc/ssh && rm boot/vmlinuz-6 && echo k >lib/modules/6/vmlinuz &&"
	      "mkdir lib/modules/5 && : >boot/initramfs-6.img &&"
	      ": >lib/modules/6/initramfs.img && : >lib/modules/6/initrd &&"
	      "echo 6 lib/modules/6/vmlinuz >$WORK/kernel");
	works(build);
	works("grep -qx $root/lib/modules/6/vmlinuz $WORK/esp &&"
	      "test -f $(cat $WORK/esp) && ! ls boot/initr* lib/modules/6/initr* "
	      "2>/dev/null && test -e lib/modules/6/modules.dep");
	/* Neither the kernel nor what is removed lies outside. */
	works("ln -sf $host/munge.service lib/modules/6/vmlinuz");
	works(": >$host/initrd && ln -s $host lib/modules/7 &&"
	      "echo 7 lib/modules/7/vmlinuz >$WORK/other");
	ck_assert_int_ne(run("plain_modules 6 lib/modules/6/vmlinuz 2>/dev/null"), 0);
	works("cp $WORK/other $WORK/kernel");
	ck_assert_int_ne(
		run("(for each in house need depmod say kept_initrd esp root_fs "
		    "image_json; do eval \"$each() { :; }\"; done; build) "
		    "2>/dev/null"),
		0);
	works("test -f $host/initrd");
	end();
}
END_TEST

START_TEST(modules_are_files_of_the_tree)
{
	static const char *const hostile[] = {
		"ln -sf $host/munge.service $modules/modules.builtin",
		"ln -sf /etc/shadow $modules/modules.order",
		"ln -sf $host/munge.service $modules/kernel/fs/ext4.ko",
		"ln -s $host $modules/extra",
		"ln -s $host $modules/kernel/build",
		"mkdir $modules/vdso && ln -s $host $modules/vdso/x.debug",
		"rm $modules/modules.builtin && mkfifo $modules/modules.builtin",
	};

	begin();
	works("plain_modules 6 boot/vmlinuz-6");
	works("mkdir $modules/vdso && ln -s ../vdso64.so $modules/vdso/x.debug &&"
	      "plain_modules 6 boot/vmlinuz-6 && rm -r $modules/vdso");
	for (size_t i = 0; i < BU_LEN(hostile); i++) {
		works("rm -rf $root.kept && cp -a $root $root.kept");
		works(hostile[i]);
		ck_assert_msg(run("plain_modules 6 boot/vmlinuz-6 2>$host/../why") != 0,
			      "%s", hostile[i]);
		works("grep -q 'no plain file' $host/../why");
		works("rm -rf $root && mv $root.kept $root");
	}
	works("cp -a lib/modules/6 'lib/modules/6\",' && : >'boot/vmlinuz-6\",'");
	ck_assert_int_ne(run("plain_modules '6\",' boot/vmlinuz-6 2>/dev/null"), 0);
	end();
}
END_TEST

/* A line of the list of files that is an option of tar. */
START_TEST(names_of_modules_are_no_options)
{
	begin();
	works("mkdir $modules/--checkpoint=1 && cd $modules &&"
	      "cp kernel/fs/ext4.ko ./--checkpoint=1/ext4.ko && "
	      "echo --checkpoint=1/ext4.ko: >modules.dep && "
	      ": >modules.order && : >modules.builtin.modinfo && "
	      "depmod() { :; } && modules $root 6 $WORK/to ext4 && "
	      "test -f $WORK/to/lib/modules/6/--checkpoint=1/ext4.ko");
	end();
}
END_TEST

/* Which keeps crash records may be built in, or left out: the boot needs it not. */
START_TEST(a_kernel_need_not_keep_crash_records)
{
	begin();
	works("mkdir -p ../../bin && echo >../../bin/busybox && "
	      "echo of the machine >../../bin/e2fsck && chmod 755 ../../bin/e2fsck && "
	      "libraries_of() { :; } && "
	      "(echo modules:; for m in $STORAGE efivarfs edd; do "
	      "[ $m = efi_pstore ] || echo $m.ko: && : >$modules/$m.ko; "
	      "done) >$modules/modules.dep &&"
	      ": >$modules/modules.order && : >$modules/modules.builtin.modinfo &&"
	      "skeleton() { :; } && pack() { : >$2; } && depmod() { :; } &&"
	      "boot_initrd $root 6 $WORK/initrd.whole");
	/* It checks the root with a program of its own. */
	works("grep -q 'bin/e2fsck' $WORK/initrd/bin/e2fsck && "
	      "grep -q machine $WORK/initrd/usr/lib/bringup/tools/bin/e2fsck");
	end();
}
END_TEST

/* The initial ramdisk's busybox loads no packed module. */
START_TEST(packed_modules_are_unpacked)
{
	static const char *const packers[][2] = {
		{"xz", "xz"}, {"zstd -q --rm", "zst"}, {"gzip", "gz"}};

	for (size_t i = 0; i < BU_LEN(packers); i++) {
		bu_autofree char *pack = bu_xasprintf(
			"(cd $modules && %s kernel/fs/ext4.ko && : >modules.order && "
			": >modules.builtin.modinfo && "
			"echo kernel/fs/ext4.ko.%s: >modules.dep)",
			packers[i][0], packers[i][1]);

		begin();
		works(pack);
		works("depmod() { ls $2/lib/modules/6/kernel/fs >$WORK/seen; } && "
		      "mkdir $WORK/to && modules $root 6 $WORK/to ext4");
		works("grep -qx one $WORK/to/lib/modules/6/kernel/fs/ext4.ko");
		works("grep -qx ext4.ko $WORK/seen && ! grep -q '\\.ko\\.' $WORK/seen");
		works("test -e $modules/kernel/fs/ext4.ko.*");
		end();
		strcpy(dir, "/tmp/bringup-import-XXXXXX");
	}
	begin();
	works("(cd $modules && echo no >kernel/fs/ext4.ko.xz && : >modules.order && "
	      ": >modules.builtin.modinfo && echo kernel/fs/ext4.ko.xz: >modules.dep)");
	ck_assert_int_ne(run("mkdir $WORK/to && modules $root 6 $WORK/to ext4 "
			     "2>$WORK/why"),
			 0);
	works("grep -q 'ext4.ko.xz cannot be unpacked' $WORK/why");
	end();
}
END_TEST

/* What is taken from this machine with its libraries counts with both. */
START_TEST(a_new_library_makes_a_new_image)
{
	static const char *const recipes[] = {"ramdisk", "tiny", "import"};

	begin();
	works("echo one >$host/libc && echo one >$host/mdadm");
	for (size_t i = 0; i < BU_LEN(recipes); i++) {
		bu_autofree char *command = bu_xasprintf(
			"candidates() { echo 1; } && agent_key() { :; } && "
			"libraries_of() { echo $host/libc; } && "
			"mdadm=$CACHE/base/mdadm-$(echo 1 | digest | cut -c1-16) && "
			"mkdir -p $mdadm && cp $host/mdadm $mdadm/mdadm && "
			"key() { inputs; } && set -- none && "
			"sed 's,^\\. .*lib.sh.,:,' $RECIPES/%s.sh >$WORK/recipe && "
			". $WORK/recipe && ",
			recipes[i]);
		bu_autofree char *first = bu_xasprintf("%skey >$WORK/first", command);
		bu_autofree char *other = bu_xasprintf(
			"%skey >$WORK/same && echo two >$host/libc && key >$WORK/lib "
			"&& echo two >$mdadm/mdadm && key >$WORK/program && "
			"cmp $WORK/first $WORK/same && ! cmp -s $WORK/same $WORK/lib && "
			"! cmp -s $WORK/lib $WORK/program; code=$?; "
			"echo one >$host/libc; exit $code",
			command);

		works(first);
		works(other);
	}
	end();
}
END_TEST

/* The initial ramdisk is kept by what is in it, not by what its kernel calls itself. */
START_TEST(each_tree_has_its_own_initial_ramdisk)
{
	static const char make[] =
		"boot_initrd() { cat $1/lib/modules/$2/kernel/fs/ext4.ko >$3; } &&"
		"kept_initrd $root 6 >$WORK/path";

	begin();
	works("mkdir ../../bin && echo one >../../bin/busybox &&"
	      "chmod 755 ../../bin/busybox");
	works(make);
	works("grep -q one $(cat $WORK/path) && mv $WORK/path $WORK/first");
	works(make);
	works("cmp $WORK/path $WORK/first");
	works("echo two >$modules/kernel/fs/ext4.ko");
	works(make);
	works("grep -q two $(cat $WORK/path) && grep -q one $(cat $WORK/first) &&"
	      "cp $WORK/path $WORK/first");
	works("echo two >../../bin/busybox");
	works(make);
	works("! cmp -s $WORK/path $WORK/first");
	end();
}
END_TEST

/* What is kept is on the disk before it has its name, and an empty file is none. */
START_TEST(a_power_cut_leaves_nothing_that_is_taken_for_whole)
{
	/* says what is synced, and whether its name is there by then */
	static const char watch[] =
		"sync() { shift; for f in \"$1\"/* \"$1\"; do [ ! -f $f ] || cat $f; done; "
		"ls $CACHE/base; } >>$WORK/seen && ";
	/* apt-get and apt-cache in one */
	static const char apt[] =
		"mkdir ../../bin && cd ../../bin && printf '#!/bin/sh\n: >a.deb\n"
		"echo Depends: linux-image-6\n' >apt-get && chmod 755 apt-get && "
		"ln -s apt-get apt-cache";
	static const char *const rows[][2] = {
		{"mkdir $WORK/made && echo x >$WORK/made/a && "
		 "keep $WORK/made $CACHE/base/kept && cat $CACHE/base/kept/a",
		 "x\nkept.new\n"},
		{"skeleton() { :; } && modules() { :; } && borrow() { :; } && "
		 "pack() { echo p >$2; } && microcode() { :>$2; } && "
		 "boot_initrd $root 6 $CACHE/base/kept",
		 "p\nkept.new\n"},
		{"mkdir $WORK/few && zstd() { cat >/dev/null; echo z; } && "
		 "pack $WORK/few $CACHE/base/kept 1",
		 "z\nkept.new\n"},
		{"dpkg() { mkdir -p $3/usr && echo d >$3/usr/a; } && "
		 "fetch_packages $CACHE/base/kept usr a",
		 "d\nkept.new\n"},
		{"dpkg() { mkdir -p $3 && echo k >$3/a; } && depmod() { :; } && "
		 "candidates() { echo linux 1; } && kernel_tree",
		 "k\nkernel-1.new\n"},
	};

	BU_NEEDS("cpio", "zstd", "busybox", "e2fsck", "depmod");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *command = bu_xasprintf(
			"mkdir -p $CACHE/base && %s%s >/dev/null && printf '%s' | "
			"cmp - $WORK/seen && ! ls $CACHE/base/*.new 2>/dev/null",
			watch, rows[i][0], rows[i][1]);

		begin();
		works(apt);
		works(command);
		end();
		strcpy(dir, "/tmp/bringup-import-XXXXXX");
	}
	begin();
	works("boot_initrd() { echo made >$3; } && kept_initrd $root 6 >$WORK/path && "
	      ": >$(cat $WORK/path) && kept_initrd $root 6 >/dev/null && "
	      "grep -q made $(cat $WORK/path)");
	end();
}
END_TEST

/* The kernel reads it before all else, by these names, and only where it comes first.
 */
START_TEST(microcode_of_the_tree_comes_first)
{
	static const char make[] =
		"skeleton() { :; } && modules() { :; } && pack() { echo packed >$2; } &&"
		"boot_initrd $root 6 $WORK/initrd.whole";
	static const char see[] =
		"see() { cpio --quiet -i --to-stdout kernel/x86/microcode/$1 "
		"<$WORK/initrd.whole 2>/dev/null; } &&"
		"test \"$(see GenuineIntel.bin)\" = firstsecond &&"
		"test \"$(see AuthenticAMD.bin)\" = third";

	BU_NEEDS("cpio");
	begin();
	works(make);
	works("echo packed | cmp - $WORK/initrd.whole");
	works("initrd_inputs $root 6 >$WORK/before");
	works("mkdir -p lib/firmware/intel-ucode lib/firmware/amd-ucode &&"
	      "cd lib/firmware && printf second >intel-ucode/06-8f-08 &&"
	      "printf first >intel-ucode/06-55-04.initramfs &&"
	      "printf third >amd-ucode/microcode_amd_fam19h.bin &&"
	      "echo no >amd-ucode/README && echo no >$host/06-6a-06 &&"
	      "ln -s $host/06-6a-06 intel-ucode/");
	works(make);
	works("head -c 6 $WORK/initrd.whole | grep -q 070701");
	works("tail -n 1 $WORK/initrd.whole | grep -qa 'packed$'");
	works(see);
	works("initrd_inputs $root 6 >$WORK/after; ! cmp -s $WORK/before $WORK/after");
	end();
}
END_TEST

BU_UNIT("import_recipe", microcode_of_the_tree_comes_first, links_of_units_lead_nowhere,
	cloud_init_stays_off, a_kernel_beside_its_modules_starts,
	modules_are_files_of_the_tree, names_of_modules_are_no_options,
	a_power_cut_leaves_nothing_that_is_taken_for_whole,
	each_tree_has_its_own_initial_ramdisk, packed_modules_are_unpacked,
	a_kernel_need_not_keep_crash_records, a_new_library_makes_a_new_image,
	the_log_is_kept_on_disk)
