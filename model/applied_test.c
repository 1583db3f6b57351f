/* SPDX-License-Identifier: Apache-2.0 */
/* The record of what was written, and kernel arguments word by word. */
#include "model/applied.h"

#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "tests/support/unit.h"

START_TEST(a_record_names_each_file_by_the_digest_of_its_bytes)
{
	const struct bu_work_file files[] = {
		{.path = "/etc/a", .mode = 0644, .content = "one\n"},
		{.path = "/etc/b", .mode = 0600, .content_hex = "00ff"},
	};
	const struct bu_applied applied = {.node = "node001",
					   .step = "s1",
					   .facets = "f1",
					   .kargs = "quiet",
					   .patterns = {"/etc/x-*"},
					   .patterns_count = 1};
	bu_autofree char *text = bu_applied_text(&applied, files, 2);
	bu_autofree char *again = bu_applied_text(&applied, files, 2);
	bu_autojson json_t *value = bu_json_parse(text, strlen(text), "record", NULL);
	struct bu_applied read;
	char hex[BU_DIGEST_SIZE];

	ck_assert_str_eq(text, again);
	ck_assert_int_eq(bu_record_from_json(bu_applied_fields, value, &read, NULL), 0);
	ck_assert_uint_eq(read.files_count, 2);
	bu_sha256_hex("one\n", 4, hex);
	ck_assert_str_eq(read.files[0].digest, hex);
	bu_sha256_hex("\0\xff", 2, hex);
	ck_assert_str_eq(read.files[1].digest, hex);
	ck_assert_int_eq(read.files[1].mode, 0600);
	ck_assert_str_eq(read.facets, "f1");
	ck_assert_str_eq(read.kargs, "quiet");
	ck_assert_str_eq(read.patterns[0], "/etc/x-*");
	bu_record_fini(bu_applied_fields, &read);
}
END_TEST

START_TEST(words_of_the_loader_and_the_firmware_are_no_arguments_of_the_node)
{
	static const struct {
		const char *kargs, *line, *in;
	} rows[] = {
		{"iommu=pt quiet",
		 "BOOT_IMAGE=/vmlinuz root=UUID=1 ro iommu=pt quiet initrd=/initrd.img",
		 "iommu=pt quiet"},
		{"", "BOOT_IMAGE=/vmlinuz root=/dev/vda2 ro quiet", ""},
		{"iommu=pt", "ro quiet", ""},
		{"a=1 b=2 a=3", "x a=1 y b=2 z a=3", "a=1 b=2 a=3"},
		/* in another order another value counts */
		{"a=1 a=2", "a=2 a=1", "a=1"},
		/* a part of a word is none */
		{"iommu=pt", "intel_iommu=pt iommu=ptx", ""},
		/* as GRUB writes them, and as syslinux does */
		{"dyndbg=\"file x +p\" b", "dyndbg=file\\ x\\ +p b",
		 "dyndbg=file x +p b"},
		{"  a   b ", "b a b\n", "a b"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *in = bu_kargs_in(rows[i].kargs, rows[i].line);

		ck_assert_str_eq(in, rows[i].in);
	}
}
END_TEST

START_TEST(no_word_of_bringup_is_told)
{
	bu_autofree char *told =
		bu_kargs_told("ro bringup.token=secret quiet bringup.node=n\n");

	ck_assert_str_eq(told, "ro quiet");
}
END_TEST

BU_UNIT("applied", a_record_names_each_file_by_the_digest_of_its_bytes,
	words_of_the_loader_and_the_firmware_are_no_arguments_of_the_node,
	no_word_of_bringup_is_told)
