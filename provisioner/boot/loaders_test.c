/* SPDX-License-Identifier: Apache-2.0 */
/* Boot loaders: what is named is there, and what is missing is named. */
#include "provisioner/boot/loaders.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "tests/support/unit.h"

START_TEST(a_missing_loader_is_named)
{
	char dir[] = "/tmp/bringup-loaders-XXXXXX";
	static const char *const files[] = {"undionly.kpxe", "snponly.efi"};
	struct bu_err err;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	for (size_t i = 0; i < BU_LEN(files); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, files[i]);

		ck_assert_int_eq(bu_loaders_check(dir, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
		ck_assert_ptr_nonnull(strstr(err.text, path));
		ck_assert_ptr_nonnull(strstr(err.text, "package ipxe"));
		ck_assert_int_eq(bu_file_write(path, "x", 1, 0644, NULL), 0);
	}
	ck_assert_int_eq(bu_loaders_check(dir, &err), 0);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

/* Only those: the name comes from the network. */
START_TEST(http_gives_what_it_names)
{
	bu_autofree char *path = bu_loader_path("/loaders", "snponly.efi");

	ck_assert_str_eq(path, "/loaders/snponly.efi");
	ck_assert_ptr_null(bu_loader_path("/loaders", "undionly.kpxe"));
	ck_assert_ptr_null(bu_loader_path("/loaders", "../etc/shadow"));
	ck_assert_ptr_null(bu_loader_path("/loaders", ""));
}
END_TEST

BU_UNIT("loaders", a_missing_loader_is_named, http_gives_what_it_names)
