/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole installs onto a file, from a server with ranges in this process that can flip a
 * byte, cut an answer short or be away for a while.
 */
#include "images/install/install.h"

#include "tests/support/install.h"
#include "tests/support/shell.h"

START_TEST(writes_all_of_it)
{
	struct bu_install_opts opts;
	struct bu_err err;
	bu_autofree char *link = NULL;

	setup();
	cancel_after = -1;
	opts = defaults();
	link = bu_xasprintf("%s/etc/hostname", root);
	bu_autofree char *etc = bu_xasprintf("%s/etc", root);
	ck_assert_int_eq(bu_mkdir_p(etc, 0755, NULL), 0);
	ck_assert_int_eq(symlink("/nonexistent/elsewhere", link), 0);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	check_file("etc/hostname", "node001\n", 0644);
	check_file("etc/bringup/deep/er", "x", 0600);
	check_file("var/lib/bringup/stamp.json", "{\"stamp\":1}", 0600);
	check_file("var/lib/bringup/stamp.sig", "cafe", 0600);
	ck_assert_str_eq(stages, "manifest disk write files done ");
	ck_assert(progress_total > 300000 && progress_done <= progress_total);
	ck_assert_int_eq(server.ranges, 3);
	teardown();
}
END_TEST

/* Without an agent the system would never be heard of: said before the first write. */
START_TEST(an_image_without_an_agent_gets_one)
{
	struct bu_install_opts opts;
	struct bu_err err;
	bu_autofree char *link = NULL;
	char to[16] = "", before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];

	setup();
	cancel_after = -1;
	ck_assert_int_eq(bu_sha256_file(disk, before, NULL), 0);
	opts = defaults();
	opts.agent_file_count = 0;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_msg(strstr(err.text, "bringup image build ramdisk"), "%s", err.text);
	ck_assert_int_eq(bu_sha256_file(disk, after, NULL), 0);
	ck_assert_str_eq(before, after);
	opts.agent_file_count = BU_LEN(small_agent);
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	check_file("usr/lib/bringup/slots/a/agent", "#!/bin/sh\n", 0755);
	link = bu_xasprintf("%s/usr/lib/bringup/current", root);
	ck_assert_int_eq(readlink(link, to, sizeof(to) - 1), 7);
	ck_assert_str_eq(to, "slots/a");
	teardown();
}
END_TEST

START_TEST(one_flip_is_fetched_again)
{
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	server.flips = 1;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	ck_assert_int_eq(server.ranges, 4);
	check_finished();
	teardown();
}
END_TEST

START_TEST(a_flip_that_stays_is_refused)
{
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	opts.threads = 1;
	server.flips = -1;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_msg(strstr(err.text, "part root, frame 0") != NULL, "%s", err.text);
	ck_assert_int_eq(server.ranges, 2);
	check_unfinished();
	ck_assert(!part_is_there(root_raw, 2 << 20));
	/* The same step goes on over its own mark. */
	server.flips = 0;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	teardown();
}
END_TEST

START_TEST(short_answers_and_outages)
{
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	opts = defaults();
	server.cuts = 1;
	server.outages = 3;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	server.cuts = -1;
	opts.allow_wipe = 1;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	check_unfinished();
	teardown();
}
END_TEST

START_TEST(wrong_orders_write_nothing)
{
	struct bu_install_opts opts;
	struct bu_err err;
	char before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];

	setup();
	cancel_after = -1;
	ck_assert_int_eq(bu_sha256_file(disk, before, NULL), 0);
	opts = defaults();
	opts.manifest_digest = mark_sig;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	opts = defaults();
	opts.image_public_pem = boss_pub;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	opts = defaults();
	opts.disk = "/nonexistent";
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	opts = defaults();
	opts.image = "missing";
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(bu_sha256_file(disk, after, NULL), 0);
	ck_assert_str_eq(before, after);
	ck_assert_int_eq(truncate(disk, 8 << 20), 0);
	opts = defaults();
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	teardown();
}
END_TEST

/* A wrong signature, or none, stops before the first write; the keys are the order's.
 */
START_TEST(whose_signature_counts_is_ordered)
{
	bu_autofree char *both = NULL, *sig = NULL;
	struct bu_install_opts opts;
	char before[BU_DIGEST_SIZE], after[BU_DIGEST_SIZE];
	struct bu_err err;

	setup();
	cancel_after = -1;
	both = bu_xasprintf("%s%s", boss_pub, image_pub);
	sig = bu_xasprintf("%s/images/small/manifest.sig", dir);
	ck_assert_int_eq(bu_sha256_file(disk, before, NULL), 0);
	opts = defaults();
	opts.image_public_pem = boss_pub;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_ptr_nonnull(strstr(err.text, "bringup image sign small --key FILE"));
	opts.image_public_pem = "";
	opts.manifest_digest = mark_sig;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(bu_sha256_file(disk, after, NULL), 0);
	ck_assert_str_eq(before, after);
	opts = defaults();
	opts.image_public_pem = both;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	ck_assert_int_eq(unlink(sig), 0);
	ck_assert_int_eq(bu_sha256_file(disk, before, NULL), 0);
	opts.allow_wipe = 1;
	ck_assert_int_eq(install(&opts, &err), -1);
	ck_assert_int_eq(bu_sha256_file(disk, after, NULL), 0);
	ck_assert_str_eq(before, after);
	opts.image_public_pem = "";
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	teardown();
}
END_TEST

START_TEST(files_stay_in_the_new_root)
{
	static const char *const paths[] = {"etc/x", "/",       "/etc/../../x",
					    "//x",   "/etc//x", "/./x",
					    "/etc/", "",        "/link/file"};
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	bu_autofree char *link = bu_xasprintf("%s/link", root);
	bu_autofree char *outside = bu_xasprintf("%s/file", dir);
	ck_assert_int_eq(symlink(dir, link), 0);
	for (size_t i = 0; i < BU_LEN(paths); i++) {
		const struct bu_install_file bad = {paths[i], 0644, "x", 1};

		opts = defaults();
		opts.allow_wipe = 1;
		opts.files = &bad;
		opts.file_count = 1;
		ck_assert_msg(install(&opts, &err) == -1, "%s was accepted", paths[i]);
		check_unfinished();
	}
	ck_assert(!bu_file_exists(outside));
	teardown();
}
END_TEST

START_TEST(the_boot_loaders_get_the_nodes_arguments)
{
	bu_autofree char *esp = NULL, *kargs = NULL, *conf = NULL, *entry = NULL;
	bu_autofree char *entries = NULL, *got = NULL;
	struct bu_install_opts opts;
	struct bu_err err;

	setup();
	cancel_after = -1;
	esp = bu_xasprintf("%s/esp", dir);
	entries = bu_xasprintf("%s/EFI/debian", esp);
	kargs = bu_xasprintf("%s/kargs", esp);
	conf = bu_xasprintf("%s/syslinux.cfg", esp);
	entry = bu_xasprintf("%s/grub.cfg", entries);
	ck_assert_int_eq(bu_mkdir_p(entries, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(kargs, 0644, NULL, "rw\n"), 0);
	ck_assert_int_eq(bu_file_write_text(conf, 0644, NULL, " APPEND rw\n"), 0);
	ck_assert_int_eq(bu_file_write_text(entry, 0644, NULL,
					    "linux /vmlinuz bringup.esp=$esp rw\n"),
			 0);
	opts = defaults();
	opts.kargs = "iommu=pt";
	opts.esp_dir = esp;
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	got = bu_file_read(conf, 0, NULL, NULL);
	ck_assert_str_eq(got, " APPEND rw iommu=pt\n");
	teardown();
}
END_TEST

/* A member of RAID 1 (metadata 1.0) lay where the root ends now; blkid judges. */
START_TEST(what_labels_itself_at_the_end_is_gone)
{
	enum { BEGIN = 2 << 20, SIZE = 61 << 20 };
	static const char probe[] = "blkid -p -O 2097152 -S 63963136 -o value -s TYPE "
				    "disk || :";
	const uint64_t sector = (SIZE / 512 - 16) & ~UINT64_C(7);
	bu_autofree char *before = NULL, *after = NULL;
	uint8_t super[256] = {0xfc, 0x4e, 0x2b, 0xa9, 1};
	struct bu_install_opts opts;
	struct bu_err err;
	uint32_t sum = 0;

	BU_NEEDS("blkid");
	setup();
	cancel_after = -1;
	opts = defaults();
	opts.allow_wipe = 1;
	for (int i = 0; i < 4; i++)
		super[144 + i] = sector >> 8 * i;
	for (size_t i = 0; i < sizeof(super); i += 4)
		sum += super[i] | super[i + 1] << 8 | super[i + 2] << 16 |
		       (uint32_t)super[i + 3] << 24;
	for (int i = 0; i < 4; i++)
		super[216 + i] = sum >> 8 * i;
	{
		bu_autoclose int fd = open(disk, O_WRONLY);

		ck_assert_int_eq(bu_disk_write(fd, super, sizeof(super),
					       BEGIN + sector * 512, NULL),
				 0);
	}
	before = shell_told(dir, probe);
	ck_assert_str_eq(before, "linux_raid_member\n");
	ck_assert_msg(!install(&opts, &err), "%s", err.text);
	check_finished();
	after = shell_told(dir, probe);
	ck_assert_str_eq(after, "");
	teardown();
}
END_TEST

BU_UNIT("install", writes_all_of_it, an_image_without_an_agent_gets_one,
	one_flip_is_fetched_again, a_flip_that_stays_is_refused,
	short_answers_and_outages, wrong_orders_write_nothing,
	whose_signature_counts_is_ordered, files_stay_in_the_new_root,
	the_boot_loaders_get_the_nodes_arguments, what_labels_itself_at_the_end_is_gone)
