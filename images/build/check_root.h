/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a tree can be a node's root file system. */
#ifndef BU_IMAGES_BUILD_CHECK_ROOT_H
#define BU_IMAGES_BUILD_CHECK_ROOT_H

#include "base/err.h"
#include "images/build/root_kernel.h"

/* BU_ERR_VERIFY with everything that is missing or wrong, not only the first: init, a
 * shell, a kernel with its modules, no secret that everybody can read. No symbolic
 * link of the tree is followed out of it. */
bu_must int bu_check_root(const char *root, struct bu_root_kernel *ret,
			  struct bu_err *err);

#endif
