/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows the links of a root by their text, as a system does that has this root;
 * unpack.c calls it before unpack_tree.c touches anything. Invariant: the kernel
 * follows no link here, and each part of `real` was looked at and is none, so that a
 * link can name nothing but a place in the root.
 */
#include "images/build/unpack_follow.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "images/build/unpack_tree.h"

enum { LINKS_MAX = 40 }; /* as the kernel has it */

struct walk {
	int root_fd;
	const char *path;                  /* for messages */
	char real[BU_UNPACK_PATH_MAX + 1]; /* what is behind, without links */
	char *rest;                        /* what is to come; owned */
	char *links[LINKS_MAX];            /* that were followed; owned */
	int count;
};

static int
refuse(const struct walk *walk, const char *why, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_VERIFY, 0, "'%.150s': %s", walk->path, why);
}

static int
go_up(struct walk *walk, struct bu_err *err)
{
	char *slash = strrchr(walk->real, '/');

	if (!walk->real[0])
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "'%.150s': the link '%.150s' on its way leads out of "
				  "the root",
				  walk->path,
				  walk->count ? walk->links[walk->count - 1] : "");
	*(slash ? slash : walk->real) = '\0';
	return 0;
}

static int
go_down(struct walk *walk, const char *part, size_t size, struct bu_err *err)
{
	size_t length = strlen(walk->real), depth = 1;

	for (const char *each = walk->real; *each; each++)
		depth += *each == '/';
	if (size > NAME_MAX || length + 1 + size > BU_UNPACK_PATH_MAX ||
	    depth >= BU_UNPACK_DEPTH_MAX)
		return refuse(walk, "behind its links its path is too long or too deep",
			      err);
	if (length)
		walk->real[length++] = '/';
	memcpy(walk->real + length, part, size);
	walk->real[length + size] = '\0';
	return 0;
}

/* Where the last part of `real` is a link, its target is to come instead. */
static int
follow(struct walk *walk, struct bu_err *err)
{
	char target[BU_UNPACK_PATH_MAX + 1];
	ssize_t size = readlinkat(walk->root_fd, walk->real, target, sizeof(target));
	char *rest;

	if (size < 0)
		return errno == EINVAL || errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : bu_err_set(err, BU_ERR_IO, errno, "'%.150s'",
					    walk->real);
	if (walk->count == LINKS_MAX || size == sizeof(target))
		return refuse(walk,
			      "too many links are on its way, or a circle of them",
			      err);
	walk->links[walk->count++] = bu_xstrdup(walk->real);
	rest = bu_xasprintf("%.*s/%s", (int)size, target, walk->rest);
	free(walk->rest);
	walk->rest = rest;
	if (target[0] == '/') {
		walk->real[0] = '\0';
		return 0;
	}
	return go_up(walk, err);
}

/* One part of the rest. */
static int
step(struct walk *walk, struct bu_err *err)
{
	size_t size = strcspn(walk->rest, "/");
	bu_autofree char *part = bu_xstrndup(walk->rest, size);
	const char *after = walk->rest + size + strspn(walk->rest + size, "/");

	memmove(walk->rest, after, strlen(after) + 1);
	if (!size || !strcmp(part, "."))
		return 0;
	if (!strcmp(part, ".."))
		return go_up(walk, err);
	if (go_down(walk, part, size, err))
		return -1;
	return walk->rest[0] ? follow(walk, err) : 0;
}

char *
bu_unpack_follow(int root_fd, const char *path, int *ret_itself, struct bu_err *err)
{
	struct walk walk = {.root_fd = root_fd, .path = path, .rest = bu_xstrdup(path)};
	int rc = 0;

	*ret_itself = 0;
	while (!rc && walk.rest[0])
		rc = step(&walk, err);
	for (int i = 0; i < walk.count; i++) {
		*ret_itself |= !strcmp(walk.links[i], walk.real);
		free(walk.links[i]);
	}
	free(walk.rest);
	return rc ? NULL : bu_xstrdup(walk.real);
}
