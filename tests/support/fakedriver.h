/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of files in which all devices of fakeverbs have one driver; and its end. */
#ifndef BU_TESTS_SUPPORT_FAKEDRIVER_H
#define BU_TESTS_SUPPORT_FAKEDRIVER_H

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

/* root: of mkdtemp(). */
static inline void
fakedriver_make(char *root, const char *driver)
{
	bu_autofree char *target = bu_xasprintf("../../bus/pci/drivers/%s", driver);

	ck_assert_ptr_nonnull(mkdtemp(root));
	for (int i = 0; i < FAKEVERBS_DEVICES; i++) {
		bu_autofree char *dir =
			bu_xasprintf("%s/sys/class/infiniband/fake%d/device", root, i);
		bu_autofree char *link = bu_xasprintf("%s/driver", dir);

		ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
		ck_assert_int_eq(symlink(target, link), 0);
	}
}

static inline void
fakedriver_remove(const char *root)
{
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

#endif
