/* SPDX-License-Identifier: Apache-2.0 */
/* A folder as a node's root, for changes of its configuration; one for each program. */
#ifndef BU_TESTS_SUPPORT_CHANGED_H
#define BU_TESTS_SUPPORT_CHANGED_H

#include <sys/stat.h>

#include "base/file.h"
#include "tests/support/unit.h"

#define HOSTS "/etc/hosts"
#define STATE "/var/lib/bringup/change"

static char root[] = "/tmp/bringup-change-XXXXXX";

static inline void
put(const char *path, const char *text)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);
	bu_autofree char *dir = bu_xstrndup(full, (size_t)(strrchr(full, '/') - full));

	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write(full, text, strlen(text), 0644, NULL), 0);
}

static inline void
has(const char *path, const char *text, int mode)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);
	bu_autofree char *now = bu_file_read(full, 0, NULL, NULL);
	struct stat st;

	ck_assert_pstr_eq(now, text);
	ck_assert_int_eq(stat(full, &st), 0);
	ck_assert_int_eq(st.st_mode & 07777, mode);
}

static inline int
is_there(const char *path)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);

	return bu_file_exists(full);
}

/* Has an /etc/hosts and nothing else. */
static inline void
make_root(void)
{
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(root));
	put(HOSTS, "127.0.0.1 localhost\n");
}

#endif
