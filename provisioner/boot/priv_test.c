/* SPDX-License-Identifier: Apache-2.0 */
/* What is refused; a good configuration is not started here. */
#include "provisioner/boot/priv.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static void
refuses(const char *path, enum bu_err_kind kind)
{
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_err err = {0};

	ck_assert_msg(bu_priv_start_dnsmasq(loop, path, NULL, NULL, &err) == NULL, "%s",
		      path);
	ck_assert_msg(err.kind == kind, "%s: %s", path, err.text);
	ck_assert_ptr_nonnull(strstr(err.text, path));
	bu_loop_destroy(loop);
}

START_TEST(only_a_plain_file_of_ours_is_taken)
{
	char dir[] = "/tmp/bringup-priv-XXXXXX";
	bu_autofree char *file = NULL, *link = NULL, *around = NULL;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	file = bu_xasprintf("%s/conf", dir);
	link = bu_xasprintf("%s/link", dir);
	around = bu_xasprintf("%s/../conf", dir);
	ck_assert_int_eq(bu_file_write(file, "", 0, 0600, NULL), 0);
	ck_assert_int_eq(symlink(file, link), 0);
	refuses("conf", BU_ERR_DENIED);
	refuses("", BU_ERR_DENIED);
	refuses(around, BU_ERR_DENIED);
	refuses("/no/such/conf", BU_ERR_IO);
	refuses(dir, BU_ERR_DENIED);
	refuses(link, BU_ERR_DENIED);
	ck_assert_int_eq(chmod(file, 0620), 0);
	refuses(file, BU_ERR_DENIED);
	ck_assert_int_eq(chmod(file, 0602), 0);
	refuses(file, BU_ERR_DENIED);
	bu_ignore(bu_remove_tree(dir, NULL));
}
END_TEST

START_TEST(a_file_of_somebody_else_is_not_taken)
{
	char path[] = "/tmp/bringup-priv-XXXXXX";
	bu_autoclose int fd = -1;

	BU_NEEDS("root");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchown(fd, 65534, 65534), 0);
	refuses(path, BU_ERR_DENIED);
	unlink(path);
}
END_TEST

START_TEST(only_a_dnsmasq_is_told_to_read_again)
{
	struct bu_err err = {0};

	ck_assert_int_eq(bu_priv_reload_dnsmasq(getpid(), &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_int_eq(bu_priv_widen_dnsmasq(getpid(), &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_int_eq(bu_priv_reload_dnsmasq(0x3fffffff, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
}
END_TEST

BU_UNIT("priv", only_a_plain_file_of_ours_is_taken,
	a_file_of_somebody_else_is_not_taken, only_a_dnsmasq_is_told_to_read_again)
