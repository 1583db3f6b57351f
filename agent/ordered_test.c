/* SPDX-License-Identifier: Apache-2.0 */
/* Where the files of an order go: into the new root, or beside a whole disk. */
#include "agent/ordered.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/unit.h"

static const struct bu_install_file files[] = {
	{"/meta-data", 0600, "{}", 2},
	{"/var/lib/bringup/key.pem", 0600, "secret", 6},
};
static const struct bu_work_install work = {.stamp = {.text = "stamp", .sig = "sig"},
					    .mark = {.text = "", .sig = ""}};

START_TEST(a_system_gets_them_in_its_root)
{
	struct bu_work_install its = work;
	struct bu_ordered ordered;

	bu_ordered_fill(&its, &ordered);
	ck_assert_int_eq(bu_ordered_files(&ordered, files, BU_LEN(files), NULL), 0);
	ck_assert_int_eq(ordered.opts.raw, 0);
	ck_assert_int_eq(ordered.opts.roots, 0);
	its.roots = 2;
	its.reuse = 1;
	bu_ordered_fill(&its, &ordered);
	ck_assert_int_eq(ordered.opts.roots, 2);
	ck_assert_int_eq(ordered.opts.reuse, 1);
	ck_assert_int_eq(bu_ordered_files(&ordered, files, BU_LEN(files), NULL), 0);
	ck_assert_ptr_eq(ordered.opts.files, files);
	ck_assert_uint_eq(ordered.opts.file_count, 2);
	ck_assert_uint_eq(ordered.opts.seed_file_count, 0);
}
END_TEST

START_TEST(as_many_disks_and_partitions_as_there_may_be_are_taken)
{
	struct bu_work_install its = work;
	struct bu_ordered ordered;

	its.data_count = BU_LEN(its.data);
	its.scratch_count = BU_LEN(its.scratch);
	for (size_t i = 0; i < BU_LEN(its.data); i++)
		its.data[i].size_bytes = (int64_t)i + 1;
	bu_ordered_fill(&its, &ordered);
	ck_assert_uint_eq(ordered.opts.data_count, BU_LEN(its.data));
	ck_assert_uint_eq(ordered.opts.scratch_count, BU_LEN(its.scratch));
	for (size_t i = 0; i < BU_LEN(its.data); i++)
		ck_assert_uint_eq(ordered.opts.data[i].size_bytes, i + 1);
	for (size_t i = 0; i < BU_LEN(its.scratch); i++)
		ck_assert_ptr_eq(ordered.opts.scratch[i].disk, its.scratch[i].path);
}
END_TEST

START_TEST(a_whole_disk_has_them_beside_it)
{
	static const char *const want[] = {"meta-data", "key.pem", "stamp.json",
					   "stamp.sig"};
	struct bu_work_install its = work;
	struct bu_install_file many[BU_SEED_FILES_MAX - 1];
	struct bu_ordered ordered;
	struct bu_err err = {0};

	its.raw = 1;
	bu_ordered_fill(&its, &ordered);
	ck_assert_int_eq(bu_ordered_files(&ordered, files, BU_LEN(files), NULL), 0);
	ck_assert_int_eq(ordered.opts.raw, 1);
	ck_assert_uint_eq(ordered.opts.file_count, 0);
	ck_assert_uint_eq(ordered.opts.seed_file_count, BU_LEN(want));
	for (size_t i = 0; i < BU_LEN(want); i++)
		ck_assert_str_eq(ordered.opts.seed_files[i].path, want[i]);
	ck_assert_str_eq(ordered.opts.seed_files[1].content, "secret");
	ck_assert_uint_eq(ordered.opts.seed_files[1].size, 6);
	ck_assert_str_eq(ordered.opts.seed_files[2].content, "stamp");
	ck_assert_uint_eq(ordered.opts.seed_files[3].size, 3);
	for (size_t i = 0; i < BU_LEN(many); i++)
		many[i] = files[0];
	bu_ordered_fill(&its, &ordered);
	ck_assert_int_eq(bu_ordered_files(&ordered, many, BU_LEN(many) - 1, NULL), 0);
	ck_assert_uint_eq(ordered.opts.seed_file_count, BU_SEED_FILES_MAX);
	ck_assert_int_eq(bu_ordered_files(&ordered, many, BU_LEN(many), &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
}
END_TEST

BU_UNIT("ordered", as_many_disks_and_partitions_as_there_may_be_are_taken,
	a_system_gets_them_in_its_root, a_whole_disk_has_them_beside_it)
