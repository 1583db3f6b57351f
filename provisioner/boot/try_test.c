/* SPDX-License-Identifier: Apache-2.0 */
/* What dnsmasq says of a configuration; dnsmasq_test.c has what becomes of it. */
#include "provisioner/boot/try.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

START_TEST(a_refusal_shows_the_line)
{
	char path[] = "/tmp/bringup-try-XXXXXX";
	bu_autoclose int fd = -1;
	struct bu_err err = {0};

	BU_NEEDS("/usr/sbin/dnsmasq");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bu_file_write_text(path, 0600, NULL, "no-hosts\n"), 0);
	ck_assert_msg(bu_dnsmasq_try(path, &err) == 0, "%s", err.text);
	ck_assert_int_eq(
		bu_file_write_text(path, 0600, NULL, "no-hosts\nno-such-word\n"), 0);
	ck_assert_int_eq(bu_dnsmasq_try(path, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.text, ": no-such-word"));
	unlink(path);
	ck_assert_int_eq(bu_dnsmasq_try(path, &err), -1);
}
END_TEST

BU_UNIT("try", a_refusal_shows_the_line)
