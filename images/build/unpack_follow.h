/* SPDX-License-Identifier: Apache-2.0 */
/* Where a path of an archive leads in the root that it is unpacked into. */
#ifndef BU_IMAGES_BUILD_UNPACK_FOLLOW_H
#define BU_IMAGES_BUILD_UNPACK_FOLLOW_H

#include "base/err.h"

/* path: as bu_unpack_path() gives it, "bin/sh". The same place without a link on the
 * way, "usr/bin/sh" where bin is a link to usr/bin or to /usr/bin; owned. The last part
 * is not followed. What is missing keeps its name. *ret_itself: 1 when the place is a
 * link that was followed on the way (top/top, where top is a link to "/").
 * BU_ERR_VERIFY names a link that leads out of the root, and a path with too many
 * links. */
char *bu_unpack_follow(int root_fd, const char *path, int *ret_itself,
		       struct bu_err *err);

#endif
