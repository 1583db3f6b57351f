/* SPDX-License-Identifier: Apache-2.0 */
/* The boot table: what is named is there, and what is missing is named. */
#include "provisioner/boot/loaders.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "provisioner/boot/tftp.h"
#include "tests/support/unit.h"

static void
put(const char *dir, const char *file, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, file);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
}

/* Only what a site cannot do without keeps bringupd from starting. */
START_TEST(a_missing_loader_is_named)
{
	char dir[] = "/tmp/bringup-loaders-XXXXXX";
	const struct bu_loader_dirs dirs = {dir, NULL};
	static const struct {
		const char *file, *row;
	} files[] = {{"undionly.kpxe", "bios-pxe"}, {"snponly.efi", "uefi-pxe"}};
	struct bu_err err;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, files[i].file);

		ck_assert_int_eq(bu_loaders_check(&dirs, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
		ck_assert_ptr_nonnull(strstr(err.text, path));
		ck_assert_ptr_nonnull(strstr(err.text, files[i].row));
		ck_assert_ptr_nonnull(strstr(err.text, "package ipxe"));
		put(dir, files[i].file, "x");
	}
	ck_assert_int_eq(bu_loaders_check(&dirs, &err), 0);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

/* Only those: the name comes from the network. */
START_TEST(http_gives_what_it_names)
{
	const struct bu_loader_dirs dirs = {"/loaders", NULL};
	bu_autofree char *path = bu_loader_http_path(&dirs, "snponly.efi");
	bu_autofree char *bios = bu_loader_path(&dirs, "undionly.kpxe");

	ck_assert_str_eq(path, "/loaders/snponly.efi");
	ck_assert_str_eq(bios, "/loaders/undionly.kpxe");
	ck_assert_ptr_null(bu_loader_http_path(&dirs, "undionly.kpxe"));
	ck_assert_ptr_null(bu_loader_http_path(&dirs, "../etc/shadow"));
	ck_assert_ptr_null(bu_loader_http_path(&dirs, ""));
	ck_assert_ptr_null(bu_loader_path(&dirs, "../etc/shadow"));
}
END_TEST

static char *
printed(const struct bu_loader_dirs *dirs)
{
	const struct bu_loaders_conf conf = {dirs, "/tftp", "http://h", 0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_loaders_print(out, &conf);
	fclose(out);
	return text;
}

/* Half of shim and GRUB is nothing; both, in either folder, are a row. */
START_TEST(a_row_without_its_files_is_not_handed_out)
{
	char a[] = "/tmp/bringup-loaders-XXXXXX", b[] = "/tmp/bringup-loaders-XXXXXX";
	struct bu_loader_dirs dirs = {a, b};
	bu_autofree char *before = NULL, *half = NULL, *all = NULL, *arm = NULL;
	struct bu_err err = {0};

	ck_assert_ptr_nonnull(mkdtemp(a));
	ck_assert_ptr_nonnull(mkdtemp(b));
	put(a, "snponly.efi", "x");
	before = printed(&dirs);
	put(a, "shimx64.efi", "x");
	half = printed(&dirs);
	ck_assert_int_eq(bu_loaders_check_signed(&dirs, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "/grubx64.efi is missing; it is of "
					       "bringup image build ramdisk"));
	put(b, "grubx64.efi", "x");
	all = printed(&dirs);
	ck_assert_int_eq(bu_loaders_check_signed(&dirs, &err), 0);
	ck_assert_ptr_nonnull(strstr(before, "snponly.efi"));
	ck_assert_ptr_null(strstr(before, "undionly"));
	ck_assert_ptr_null(strstr(before, "shim"));
	ck_assert_ptr_null(strstr(half, "shim"));
	ck_assert_ptr_nonnull(
		strstr(all, "dhcp-boot=tag:arch7,tag:!ipxe,tag:grub,shimx64.efi\n"));
	/* Without iPXE for arm64 shim is for all of its machines. */
	put(b, "shimaa64.efi", "x");
	put(b, "grubaa64.efi", "x");
	arm = printed(&dirs);
	ck_assert_ptr_nonnull(
		strstr(arm, "dhcp-boot=tag:arch11,tag:!ipxe,shimaa64.efi\n"));
	bu_ignore(bu_remove_tree(a, NULL));
	bu_ignore(bu_remove_tree(b, NULL));
}
END_TEST

static char *
tftp_file(const char *dir, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/tftp/%s", dir, name);
	struct stat st;

	/* Its user is another than ours. */
	if (stat(path, &st) == 0)
		ck_assert_int_eq(st.st_mode & S_IROTH, S_IROTH);
	return bu_file_read(path, 0, NULL, NULL);
}

/* What TFTP serves: the loaders that are there, the system, and a machine's own file as
 * long as it has one; nothing of a start before. */
START_TEST(tftp_has_what_is_there)
{
	char dir[] = "/tmp/bringup-tftp-XXXXXX";
	const struct bu_loader_dirs dirs = {dir, dir};
	bu_autofree char *tftp = NULL, *grub = NULL, *system = NULL, *first = NULL;
	bu_autofree char *own = NULL, *gone = NULL, *old = NULL, *none = NULL;
	bu_autofree char *early = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	tftp = bu_xasprintf("%s/tftp", dir);
	put(dir, "shimx64.efi", "shim");
	put(dir, "grubx64.efi", "grub");
	put(dir, "vmlinuz", "kernel");
	put(dir, "agent.img", "agent");
	ck_assert_int_eq(bu_tftp_make(tftp, &dirs, NULL), 0);
	/* Only where a machine loads GRUB. */
	early = tftp_file(dir, "agent.img");
	ck_assert_ptr_null(early);
	ck_assert_int_eq(bu_tftp_system(tftp, dir, NULL), 0);
	grub = tftp_file(dir, "grubx64.efi");
	system = tftp_file(dir, "agent.img");
	first = tftp_file(dir, "grub/grub.cfg");
	none = tftp_file(dir, "undionly.kpxe");
	ck_assert_str_eq(grub, "grub");
	ck_assert_str_eq(system, "agent");
	ck_assert_ptr_nonnull(strstr(first, "source $net/grub/$net_default_mac.cfg"));
	ck_assert_ptr_nonnull(strstr(first, "chainloader /EFI/BOOT/BOOTX64.EFI"));
	ck_assert_ptr_null(none);

	ck_assert_int_eq(bu_tftp_put(tftp, "52:54:00:77:00:01", "boot\n", NULL), 0);
	own = tftp_file(dir, "grub/52:54:00:77:00:01.cfg");
	ck_assert_str_eq(own, "boot\n");
	ck_assert_int_eq(bu_tftp_put(tftp, "52:54:00:77:00:01", NULL, NULL), 0);
	ck_assert_int_eq(bu_tftp_put(tftp, "52:54:00:77:00:01", NULL, NULL), 0);
	gone = tftp_file(dir, "grub/52:54:00:77:00:01.cfg");
	ck_assert_ptr_null(gone);

	ck_assert_int_eq(bu_tftp_put(tftp, "52:54:00:77:00:01", "boot\n", NULL), 0);
	ck_assert_int_eq(bu_tftp_make(tftp, &dirs, NULL), 0);
	old = tftp_file(dir, "grub/52:54:00:77:00:01.cfg");
	ck_assert_ptr_null(old);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

/* A ramdisk that was built anew is served from then on; one that is as it was is not
 * copied again. */
START_TEST(tftp_follows_the_ramdisk)
{
	char dir[] = "/tmp/bringup-tftp-XXXXXX";
	bu_autofree char *tftp = NULL, *copy = NULL, *first = NULL, *second = NULL;
	struct stat before, after;
	struct bu_err err;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	tftp = bu_xasprintf("%s/tftp", dir);
	copy = bu_xasprintf("%s/agent.img", tftp);
	ck_assert_int_eq(bu_tftp_folder(tftp, NULL), 0);
	put(dir, "vmlinuz", "kernel");
	ck_assert_int_eq(bu_tftp_system(tftp, dir, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "agent.img"));
	put(dir, "agent.img", "old");
	ck_assert_int_eq(bu_tftp_system(tftp, dir, NULL), 0);
	ck_assert_int_eq(stat(copy, &before), 0);
	ck_assert_int_eq(bu_tftp_system(tftp, dir, NULL), 0);
	ck_assert_int_eq(stat(copy, &after), 0);
	ck_assert_uint_eq(after.st_ino, before.st_ino);
	first = bu_file_read(copy, 0, NULL, NULL);
	ck_assert_str_eq(first, "old");
	put(dir, "agent.img", "newer");
	ck_assert_int_eq(bu_tftp_system(tftp, dir, NULL), 0);
	second = bu_file_read(copy, 0, NULL, NULL);
	ck_assert_str_eq(second, "newer");
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

BU_UNIT("loaders", a_missing_loader_is_named, http_gives_what_it_names,
	a_row_without_its_files_is_not_handed_out, tftp_has_what_is_there,
	tftp_follows_the_ramdisk)
