/* SPDX-License-Identifier: Apache-2.0 */
/* A system partition as the recipes fill it (lib.sh, esp()), as a folder. */
#include "images/install/bootargs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "images/install/kexec.h"
#include "tests/support/md_half.h"
#include "tests/support/unit.h"

static char dir[] = "/tmp/bringup-bootargs-XXXXXX";

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
}

static void
check(const char *name, const char *want)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *text = bu_file_read(path, 0, NULL, NULL);

	ck_assert_str_eq(text, want);
}

#define GRUB "probe --set=esp --part-uuid $root\nlinux /vmlinuz bringup.esp=$esp "

static void
begin(void)
{
	bu_autofree char *debian = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	debian = bu_xasprintf("%s/EFI/debian", dir);
	ck_assert_int_eq(bu_mkdir_p(debian, 0755, NULL), 0);
	put("EFI/debian/grub.cfg", GRUB "rw quiet\ninitrd /initrd\nboot\n");
	put("kargs", "rw quiet\n");
	put("syslinux.cfg",
	    "DEFAULT linux\nLABEL linux\n KERNEL /vmlinuz\n APPEND rw quiet\n");
}

static void
end(void)
{
	bu_ignore(bu_remove_tree(dir, NULL));
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
}

static void
check_present(const char *want)
{
	struct bu_err err = {0};
	bu_autofree char *got = bu_bootargs_read(dir, &err);

	ck_assert_msg(got != NULL, "%s", err.text);
	ck_assert_str_eq(got, want);
}

START_TEST(all_loaders_get_them_behind_the_images_own)
{
	static const char *const rounds[] = {"iommu=pt hugepages=4", "isolcpus=2-7",
					     ""};

	begin();
	check_present("");
	for (size_t i = 0; i < BU_LEN(rounds); i++) {
		bu_autofree char *bios = NULL, *grub = NULL;
		const char *blank = rounds[i][0] ? " " : "";
		struct bu_err err = {0};

		ck_assert_msg(bu_bootargs_write(dir, rounds[i], &err) == 0, "%s",
			      err.text);
		bios = bu_xasprintf("DEFAULT linux\nLABEL linux\n KERNEL /vmlinuz\n"
				    " APPEND rw quiet%s%s\n",
				    blank, rounds[i]);
		grub = bu_xasprintf(GRUB "rw quiet%s%s\ninitrd /initrd\nboot\n", blank,
				    rounds[i]);
		check("EFI/debian/grub.cfg", grub);
		check("syslinux.cfg", bios);
		check_present(rounds[i]);
	}
	check("kargs", "rw quiet\n");
	end();
}
END_TEST

/* The kernel gets characters that a shell would read otherwise. */
START_TEST(grub_takes_each_character_as_it_is)
{
	struct bu_err err = {0};

	begin();
	ck_assert_msg(bu_bootargs_write(dir, "a=\"$b;c\" {d}", &err) == 0, "%s",
		      err.text);
	check("EFI/debian/grub.cfg", GRUB "rw quiet a=\\\"\\$b\\;c\\\" \\{d\\}\n"
					  "initrd /initrd\nboot\n");
	check_present("a=\"$b;c\" {d}");
	end();
}
END_TEST

/* Which of them starts the machine only its firmware knows. */
START_TEST(a_loader_that_somebody_edited_is_the_one_that_is_read)
{
	struct bu_err err = {0};

	begin();
	ck_assert_int_eq(bu_bootargs_write(dir, "a=\"b;c\"", &err), 0);
	check_present("a=\"b;c\"");
	put("EFI/debian/grub.cfg", GRUB "rw quiet a=\\\"b\\;c\\\" nosmt\nboot\n");
	check_present("a=\"b;c\" nosmt");
	put("EFI/debian/grub.cfg", GRUB "ro\nboot\n");
	check_present("ro");
	ck_assert_int_eq(bu_bootargs_write(dir, "a=\"b;c\"", &err), 0);
	check_present("a=\"b;c\"");
	check("EFI/debian/grub.cfg", GRUB "rw quiet a=\\\"b\\;c\\\"\nboot\n");
	end();
}
END_TEST

START_TEST(lines_that_no_kernel_takes_are_refused)
{
	char line[BU_BOOTARGS_MAX + 1];
	struct bu_err err = {0};

	begin();
	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	ck_assert_int_eq(bu_bootargs_write(dir, line, &err), -1);
	ck_assert_str_eq(err.text, "kernel arguments: 2056 characters with the "
				   "image's; the kernel takes 2047");
	ck_assert_int_eq(bu_bootargs_write(dir, "a=1\nAPPEND b", &err), -1);
	ck_assert_str_eq(err.text, "kernel arguments: a control character");
	check_present("");
	line[BU_BOOTARGS_MAX - strlen("rw quiet ")] = '\0';
	ck_assert_int_eq(bu_bootargs_write(dir, line, &err), 0);
	check_present(line);
	end();
}
END_TEST

START_TEST(an_image_without_the_file_takes_none)
{
	bu_autofree char *path = NULL;
	struct bu_err err = {0};

	begin();
	path = bu_xasprintf("%s/kargs", dir);
	ck_assert_int_eq(remove(path), 0);
	ck_assert_int_eq(bu_bootargs_write(dir, "", &err), 0);
	ck_assert_int_eq(bu_bootargs_write(dir, "a=1", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	put("kargs", "rw quiet\n");
	put("syslinux.cfg", "LABEL linux\n");
	ck_assert_int_eq(bu_bootargs_write(dir, "a=1", &err), -1);
	ck_assert_str_eq(err.text, "syslinux.cfg has no line ' APPEND '");
	end();
}
END_TEST

/* As GRUB would give it: what the initial ramdisk finds its disk by comes first. */
START_TEST(a_kernel_that_is_loaded_gets_the_line_of_the_loaders)
{
	static const struct bu_gpt_esp esp = {
		.guid = {0x44, 0x33, 0x22, 0x11, 0x66, 0x55, 0x88, 0x77, 0x99, 0xaa,
			 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00}};
	struct bu_err err = {0};
	bu_autofree char *line = NULL, *none = NULL;

	begin();
	ck_assert_int_eq(bu_bootargs_write(dir, "iommu=pt console=ttyS1,115200", &err),
			 0);
	line = bu_kexec_line(dir, &esp, &err);
	ck_assert_str_eq(line, "bringup.esp=11223344-5566-7788-99aa-bbccddeeff00 "
			       "rw quiet iommu=pt console=ttyS1,115200");
	put("syslinux.cfg", "DEFAULT linux\n");
	none = bu_kexec_line(dir, &esp, &err);
	ck_assert_ptr_null(none);
	ck_assert_str_eq(err.text, "syslinux.cfg has no line ' APPEND '");
	put("disk", "no table");
	none = bu_xasprintf("%s/disk", dir);
	ck_assert_int_eq(bu_kexec_load(none, NULL), 0);
	end();
}
END_TEST

/* The folders of two disks, one of which has another system's partitions first, and of
 * an array of their roots. */
static const char sysfs[] =
	"set -e; mkdir -p $D/md127/slaves; for d in a b; do for p in 1 2 3; do"
	"	mkdir -p $D/vd$d/vd$d$p; echo PARTNAME=other >$D/vd$d/vd$d$p/uevent; done;"
	"	ln -s ../../vd$d/vd${d}3 $D/md127/slaves/vd${d}3; done;"
	"echo PARTNAME=ESP >$D/vda/vda1/uevent; echo PARTNAME=ESP >$D/vdb/vdb2/uevent;";

static void
finds(const char *device, const char *first, const char *second)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, device);
	const char *const want[] = {first, second};
	struct bu_bootargs_esps esps;

	bu_bootargs_find(path, &esps);
	ck_assert_uint_eq(esps.count, !!first + !!second);
	for (size_t i = 0; i < esps.count; i++) {
		ck_assert_str_eq(esps.devices[i], want[i]);
		free(esps.devices[i]);
	}
}

/* The arguments of the root that runs, not those of the other one. */
START_TEST(one_of_two_roots_has_its_own)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("D", dir, 1);
	ck_assert_int_eq(
		system("set -e; n=0; for p in ESP ESP-a root-a ESP-b root-b; do"
		       " n=$((n + 1)); mkdir -p $D/vda/vda$n;"
		       " echo PARTNAME=$p >$D/vda/vda$n/uevent; done"),
		0);
	finds("vda/vda3", "/dev/vda2", NULL);
	finds("vda/vda5", "/dev/vda4", NULL);
	end();
}
END_TEST

START_TEST(each_disk_of_the_root_has_them)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("D", dir, 1);
	ck_assert_int_eq(system(sysfs), 0);
	finds("vda/vda3", "/dev/vda1", NULL);
	finds("vdb/vdb3", "/dev/vdb2", NULL);
	finds("md127", "/dev/vda1", "/dev/vdb2");
	/* One of them failed in service, and nobody took it out. */
	ck_assert_int_eq(system("for d in a b; do mkdir -p $D/md127/md/dev-vd${d}3; "
				"echo in_sync >$D/md127/md/dev-vd${d}3/state; done"),
			 0);
	finds("md127", "/dev/vda1", "/dev/vdb2");
	ck_assert_int_eq(system("echo faulty >$D/md127/md/dev-vda3/state"), 0);
	finds("md127", "/dev/vdb2", NULL);
	/* One of them was pulled out of the machine, or left the array. */
	ck_assert_int_eq(system("rm -r $D/vda"), 0);
	finds("md127", "/dev/vdb2", NULL);
	ck_assert_int_eq(system("rm $D/md127/slaves/vda3"), 0);
	finds("md127", "/dev/vdb2", NULL);
	finds("none", NULL, NULL);
	end();
}
END_TEST

static void
put_half(char disk, char uuid)
{
	bu_autofree char *path = bu_xasprintf("%s/dev/vd%c3", dir, disk);
	char bytes[MD_HALF_SIZE];

	md_half(bytes, uuid, disk == 'b', 0);
	ck_assert_int_eq(bu_file_write(path, bytes, sizeof(bytes), 0600, NULL), 0);
}

static void
leaves_out(const char *change, const char *want)
{
	struct bu_bootargs_esps esps;

	ck_assert_int_eq(system(change), 0);
	bu_bootargs_left_out(dir, "md127", &esps);
	ck_assert_msg(esps.count == !!want, "%s: %zu", change, esps.count);
	if (want) {
		ck_assert_str_eq(esps.devices[0], want);
		free(esps.devices[0]);
	}
}

/* A disk that came back older than the other: its loader may be the one that starts. */
START_TEST(a_half_that_is_left_out_is_found)
{
	bu_autofree char *tree =
		bu_xasprintf("mkdir -p $D/dev $D/sys; D=$D/sys/block; %s"
			     "for d in a b; do echo 27 >$D/vd$d/vd${d}3/size; echo "
			     "PARTNAME=bringup-root >$D/vd$d/vd${d}3/uevent; done; "
			     "mkdir -p $D/md127/md/dev-vda3; "
			     "echo in_sync >$D/md127/md/dev-vda3/state",
			     sysfs);

	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("D", dir, 1);
	ck_assert_int_eq(system(tree), 0);
	put_half('a', 'u');
	put_half('b', 'u');
	/* Both are in the array. */
	leaves_out(":", NULL);
	leaves_out("rm $D/sys/block/md127/slaves/vdb3", "/dev/vdb2");
	/* Of another install; another system's; a root that is no array. */
	put_half('b', 'v');
	leaves_out(":", NULL);
	put_half('b', 'u');
	leaves_out("echo PARTNAME=other >$D/sys/block/vdb/vdb3/uevent", NULL);
	leaves_out("echo PARTNAME=bringup-root >$D/sys/block/vdb/vdb3/uevent",
		   "/dev/vdb2");
	leaves_out("echo faulty >$D/sys/block/md127/md/dev-vda3/state", NULL);
	leaves_out("rm -r $D/sys/block/md127", NULL);
	end();
}
END_TEST

BU_UNIT("bootargs", one_of_two_roots_has_its_own, each_disk_of_the_root_has_them,
	a_half_that_is_left_out_is_found,
	a_kernel_that_is_loaded_gets_the_line_of_the_loaders,
	all_loaders_get_them_behind_the_images_own, grub_takes_each_character_as_it_is,
	a_loader_that_somebody_edited_is_the_one_that_is_read,
	lines_that_no_kernel_takes_are_refused, an_image_without_the_file_takes_none)
