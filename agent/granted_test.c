/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that came up under another one's name is not written to. */
#include "agent/granted.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/bringup-test-XXXXXX";

static void
put(const char *folder, const char *file, const char *text)
{
	bu_autofree char *dir = bu_xasprintf("%s/sys/block/%s", root, folder);
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, file);

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
}

START_TEST(an_order_is_for_one_disk)
{
	static const struct {
		const char *disk, *serial;
		int64_t size_bytes;
		const char *says; /* NULL = it may be written */
		enum bu_err_kind kind;
	} rows[] = {
		{"/dev/sda", "S1", 1024, NULL, 0},
		{"/dev/sda", "S1", 0, NULL, 0},
		{"/dev/sda", "", 1024, NULL, 0},
		/* nothing is known, as of an install on what must be empty */
		{"/dev/nothing", "", 0, NULL, 0},
		/* the number says more than the size */
		{"/dev/sda", "S1", 2048, NULL, 0},
		{"/dev/sda", "S2", 1024,
		 "disk /dev/sda has serial number S1; the order is for S2; nothing was "
		 "written",
		 BU_ERR_DENIED},
		{"/dev/sda", "S", 1024, "has serial number S1; the order is for S;",
		 BU_ERR_DENIED},
		{"/dev/vda", "S1", 1024, "has serial number (none); the order",
		 BU_ERR_DENIED},
		{"/dev/vda", "", 1024,
		 "disk /dev/vda has 2048 bytes; the order is for one of 1024",
		 BU_ERR_DENIED},
		{"/dev/vda", "", 2048, NULL, 0},
		{"/dev/cciss/c0d0", "C1", 1, NULL, 0},
		{"/dev/sdb", "S1", 1024, "/dev/sdb", BU_ERR_NOTFOUND},
		{"sda", "S1", 1024, "sda", BU_ERR_NOTFOUND},
		{"/dev/../sda", "S1", 1024, "..", BU_ERR_NOTFOUND},
	};

	ck_assert_ptr_nonnull(mkdtemp(root));
	put("sda", "size", "2\n");
	put("sda", "serial", "S1\n");
	put("vda", "size", "4\n");
	put("cciss!c0d0", "size", "9\n");
	put("cciss!c0d0", "serial", "C1\n");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const struct bu_work_install work = {.disk = rows[i].disk,
						     .disk_serial = rows[i].serial,
						     .disk_size_bytes =
							     rows[i].size_bytes};
		struct bu_err err = {0};
		int rc = bu_granted_check(root, &work, &err);

		ck_assert_msg(rc == (rows[i].says ? -1 : 0), "row %zu: %s", i,
			      err.text);
		if (!rows[i].says)
			continue;
		ck_assert_int_eq(err.kind, rows[i].kind);
		ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%s", err.text);
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* The disks of an array: each by its serial number, and named by the signed mark. */
START_TEST(an_array_is_of_the_disks_that_were_granted)
{
	static const struct {
		const char *path, *serial, *mark;
		const char *says; /* NULL = it may be written */
	} rows[] = {
		{"/dev/sdb", "S2", "{\"disks\":[\"S1\",\"S2\"]}", NULL},
		{"/dev/sdb", "S3", "{\"disks\":[\"S1\",\"S3\"]}",
		 "array: disk /dev/sdb has serial number S2; the order is for S3"},
		{"/dev/sdb", "", "{\"disks\":[\"S1\",\"\"]}", "the order is for one"},
		{"/dev/vda", "", "{\"disks\":[\"S1\",\"\"]}",
		 "has serial number (none)"},
		{"/dev/sdb", "S2", "{\"disks\":[\"S1\"]}", "does not name disk S2"},
		{"/dev/sdb", "S2", "{\"disks\":[\"S1\",2]}", "does not name disk S2"},
		{"/dev/sdb", "S2", "{}", "does not name disk S2"},
		{"/dev/sdb", "S2", "no JSON", "does not name disk S2"},
		{"/dev/sdc", "S2", "{\"disks\":[\"S1\",\"S2\"]}", "/dev/sdc"},
	};

	strcpy(root, "/tmp/bringup-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	put("sda", "size", "2\n");
	put("sda", "serial", "S1\n");
	put("sdb", "size", "2\n");
	put("sdb", "serial", "S2\n");
	put("vda", "size", "4\n");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_work_install work = {.disk = "/dev/sda",
					       .disk_serial = "S1",
					       .mark = {.text = rows[i].mark},
					       .scratch_count = 1};
		struct bu_err err = {0};
		int rc;

		strcpy(work.scratch[0].path, rows[i].path);
		strcpy(work.scratch[0].serial, rows[i].serial);
		rc = bu_granted_check(root, &work, &err);
		ck_assert_msg(rc == (rows[i].says ? -1 : 0), "row %zu: %s", i,
			      err.text);
		if (rows[i].says)
			ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%s",
				      err.text);
		/* The second disk of a mirrored system likewise. */
		work.scratch_count = 0;
		strcpy(work.mirror, rows[i].path);
		strcpy(work.mirror_serial, rows[i].serial);
		rc = bu_granted_check(root, &work, &err);
		ck_assert_msg(rc == (rows[i].says ? -1 : 0), "mirror %zu: %s", i,
			      err.text);
		if (rows[i].says)
			ck_assert_msg(strncmp(err.text, "mirror: ", 8) == 0, "%s",
				      err.text);
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* Two volumes of a RAID controller, which tells one serial number for both. */
START_TEST(a_number_that_two_disks_tell_finds_neither)
{
	static const struct {
		const char *path, *serial, *wwn;
		const char *says; /* NULL = it may be written */
	} rows[] = {
		{"/dev/sda", "PDNM", "naa.600aa", NULL},
		{"/dev/sda", "", "naa.600aa", NULL},
		{"/dev/sdb", "PDNM", "naa.600aa",
		 "disk /dev/sdb has serial number WWN naa.600bb; its PDNM "
		 "identifies nothing: /dev/sda, /dev/sdb tell it; the order is for "
		 "PDNM, WWN naa.600aa; nothing was written"},
		{"/dev/sdb", "", "naa.600aa", "the order is for WWN naa.600aa"},
		{"/dev/sda", "PDNM", "", "/dev/sda, /dev/sdb tell it"},
		{"/dev/sdb", "PDNM", "", "/dev/sda, /dev/sdb tell it"},
		{"/dev/sdc", "N/A", "", "its N/A identifies nothing"},
		{"/dev/sdd", "S4", "naa.600aa", "/dev/sdd has serial number S4, WWN"},
	};

	strcpy(root, "/tmp/bringup-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	put("sda", "size", "2\n");
	put("sda", "serial", "PDNM\n");
	put("sda", "wwid", "naa.600aa\n");
	put("sdb", "size", "2\n");
	put("sdb", "serial", "PDNM\n");
	put("sdb", "wwid", "naa.600bb\n");
	put("sdc", "size", "2\n");
	put("sdc", "serial", "N/A\n");
	put("sdd", "size", "2\n");
	put("sdd", "serial", "S4\n");
	put("sdd", "wwid", "naa.600dd\n");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_work_install work = {.disk = rows[i].path,
					       .disk_serial = rows[i].serial,
					       .disk_wwn = rows[i].wwn,
					       .mark = {.text = "{\"disks\":[\"PDNM\","
								"\"naa.600aa\"]}"}};
		struct bu_err err = {0};
		int rc = bu_granted_check(root, &work, &err);

		ck_assert_msg(rc == (rows[i].says ? -1 : 0), "row %zu: %s", i,
			      err.text);
		if (rows[i].says)
			ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%s",
				      err.text);
		/* The second disk of a mirrored system likewise. */
		strcpy(work.mirror, rows[i].path);
		strcpy(work.mirror_serial, rows[i].serial);
		strcpy(work.mirror_wwn, rows[i].wwn);
		work.disk_serial = work.disk_wwn = "";
		rc = bu_granted_check(root, &work, &err);
		ck_assert_msg(rc == (rows[i].says ? -1 : 0), "mirror %zu: %s", i,
			      err.text);
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

BU_UNIT("granted", an_order_is_for_one_disk, a_number_that_two_disks_tell_finds_neither,
	an_array_is_of_the_disks_that_were_granted)
