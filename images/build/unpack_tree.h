/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A folder that an archive is unpacked into. Every path is walked from its root, part
 * by part, through real folders alone: no symbolic link is ever followed, whoever made
 * it, so nothing outside is read, written or removed. Errors name the path. Where links
 * of the root lead inside it, bu_unpack_follow() has said before.
 */
#ifndef BU_IMAGES_BUILD_UNPACK_TREE_H
#define BU_IMAGES_BUILD_UNPACK_TREE_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"

enum {
	BU_UNPACK_PATH_MAX = 4095,
	BU_UNPACK_DEPTH_MAX = 200, /* parts of a path */
};

/* The path as the rest of these functions takes it: "usr/bin/env", "" = the root
 * itself. BU_ERR_VERIFY for one that is absolute, has "..", or is too long or too deep;
 * owned. */
char *bu_unpack_path(const char *name, struct bu_err *err);

/* Removes what is there, a whole tree if it is one; a missing one is no error. */
bu_must int bu_unpack_remove(int root_fd, const char *path, struct bu_err *err);
/* Removes a symbolic link that leads to another place than `keep` (NULL = to any);
 * whatever else is there stays. */
bu_must int bu_unpack_drop_link(int root_fd, const char *path, const char *keep,
				struct bu_err *err);
/* All that is in the folder, which stays; anything else there stays as it is. */
bu_must int bu_unpack_empty(int root_fd, const char *path, struct bu_err *err);

struct bu_unpack_node {
	const char *path;
	mode_t mode; /* with its type */
	uid_t uid;
	gid_t gid;
	dev_t device;       /* of a device node */
	const char *target; /* of a symbolic or a hard link */
	struct timespec mtime;
};
/* Makes it, in place of what is there: a folder, symbolic link, node or an empty file,
 * whose descriptor is in *ret_fd (else -1). A folder stays with what is in it. Owner,
 * mode and time are set by bu_unpack_finish(). */
bu_must int bu_unpack_make(int root_fd, const struct bu_unpack_node *node, int *ret_fd,
			   struct bu_err *err);
/* A second name of a file that is there. */
bu_must int bu_unpack_link(int root_fd, const struct bu_unpack_node *node,
			   struct bu_err *err);
bu_must int bu_unpack_finish(int root_fd, const struct bu_unpack_node *node,
			     struct bu_err *err);
/* Its time alone: what is made in a folder changes that of the folder. */
bu_must int bu_unpack_time(int root_fd, const struct bu_unpack_node *node,
			   struct bu_err *err);
/* name: "security.capability". Not of symbolic links. */
struct bu_unpack_xattr {
	const char *name;
	const void *value;
	size_t size;
};
bu_must int bu_unpack_xattr(int root_fd, const char *path,
			    const struct bu_unpack_xattr *xattr, struct bu_err *err);

#endif
