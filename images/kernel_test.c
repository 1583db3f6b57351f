/* SPDX-License-Identifier: Apache-2.0 */
/* The version in a kernel's header; files that are none. */
#include "images/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "tests/support/unit.h"

enum { SIZE = 0x5000 };

static char dir[40];

/* What it says of a file with this magic, place and text. */
static int
read_it(const char *magic, unsigned place, const char *text, char *ret,
	struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/vmlinuz", dir);
	char bytes[SIZE] = {0};

	memcpy(bytes + 0x202, magic, 4);
	bytes[0x20e] = (char)(place & 0xff);
	bytes[0x20f] = (char)(place >> 8);
	if (place && place + 0x200 + strlen(text) <= SIZE)
		memcpy(bytes + place + 0x200, text, strlen(text));
	ck_assert_int_eq(bu_file_write(path, bytes, SIZE, 0644, NULL), 0);
	return bu_kernel_release(path, ret, err);
}

START_TEST(it_says_its_version)
{
	static const struct {
		const char *magic;
		unsigned place;
		const char *text, *want; /* want NULL: refused */
	} rows[] = {
		{"HdrS", 0x42c0, "6.1.0-56-amd64 (debian@lists) #1 SMP",
		 "6.1.0-56-amd64"},
		{"HdrS", 0x100, "5.14.0-503.el9.x86_64 (mock@build) #1",
		 "5.14.0-503.el9.x86_64"},
		{"HdrX", 0x42c0, "6.1.0-56-amd64 (x)", NULL},
		{"HdrS", 0, "", NULL},
		{"HdrS", 0x42c0, "", NULL},
		{"HdrS", 0x42c0, "\"; rm", NULL},
		{"HdrS", 0xffff, "6.1", NULL},
		{"HdrS", 0x42c0,
		 "0123456789012345678901234567890123456789012345678901234567890123456",
		 NULL},
	};

	strcpy(dir, "/tmp/bringup-kernel-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char got[BU_KERNEL_RELEASE_SIZE] = "";
		struct bu_err err = {0};
		int rc = read_it(rows[i].magic, rows[i].place, rows[i].text, got, &err);

		ck_assert_msg(rc == (rows[i].want ? 0 : -1), "row %zu: %s", i, got);
		if (rows[i].want)
			ck_assert_str_eq(got, rows[i].want);
		else
			ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

START_TEST(a_file_that_is_not_there)
{
	char got[BU_KERNEL_RELEASE_SIZE];
	struct bu_err err = {0};

	ck_assert_int_eq(bu_kernel_release("/no/such/vmlinuz", got, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
}
END_TEST

BU_UNIT("images/kernel", it_says_its_version, a_file_that_is_not_there)
