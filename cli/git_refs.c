/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a repository of this machine and what its names mean, without git: a
 * repository's own configuration names programs, and git would heed it. Called before
 * objects are read. Invariant: plain files are read, and nothing else of it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/git_objects.h"

enum { LINE_MAX_SIZE = 4096, PACKED_MAX = 64 * 1024 * 1024, JUMPS_MAX = 5 };

#define HEX "0123456789abcdef"

int
bu_git_is_local(const char *url)
{
	size_t size = strcspn(url, ":");

	return strncmp(url, "file://", 7) == 0 || url[size] == '\0' ||
	       memchr(url, '/', size) != NULL;
}

static int
is_id(const char *text)
{
	size_t size = strlen(text);

	return (size == 40 || size == 64) && bu_text_is(text, HEX);
}

/* The first line of a plain file; owned, NULL = there is none. */
static char *
line_of(const char *dir, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	char *text = bu_confine_read(0, path, LINE_MAX_SIZE, NULL, NULL);

	if (text)
		text[strcspn(text, "\r\n")] = '\0';
	return text;
}

static int
is_dir(const char *dir, const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static char *
joined(const char *dir, const char *path)
{
	return *path == '/' ? bu_xstrdup(path) : bu_xasprintf("%s/%s", dir, path);
}

/* The git directory of a work tree's top; NULL = it is none. Owned. */
static char *
git_dir_of(const char *top)
{
	static const char says[] = "gitdir: ";
	bu_autofree char *line = NULL;

	if (is_dir(top, ".git"))
		return bu_xasprintf("%s/.git", top);
	line = line_of(top, ".git");
	return line && strncmp(line, says, strlen(says)) == 0
		       ? joined(top, line + strlen(says))
		       : NULL;
}

/* Of the path, or of a folder above it. Owned; NULL = there is none. */
static char *
find(const char *path, int is_inside, char **ret_below)
{
	char *whole = realpath(path, NULL), *git_dir = NULL, *slash;
	bu_autofree char *at = whole ? bu_xstrdup(whole) : NULL;

	while (at && *at && !(git_dir = git_dir_of(at)) && is_inside &&
	       (slash = strrchr(at, '/')))
		*slash = '\0';
	if (git_dir && ret_below)
		*ret_below =
			bu_xstrdup(whole + strlen(at) + (whole[strlen(at)] == '/'));
	/* A bare one. */
	if (!git_dir && whole && !is_inside && is_dir(whole, "objects"))
		git_dir = bu_xstrdup(whole);
	free(whole);
	return git_dir;
}

static char *
packed(const char *common, const char *ref)
{
	bu_autofree char *path = bu_xasprintf("%s/packed-refs", common);
	bu_autofree char *text = bu_confine_read(0, path, PACKED_MAX, NULL, NULL);
	char *next = text, *line;

	while (next && (line = strsep(&next, "\n"))) {
		char *name = strchr(line, ' ');

		if (!name || *line == '#' || strcmp(name + 1, ref) != 0)
			continue;
		*name = '\0';
		return is_id(line) ? bu_xstrdup(line) : NULL;
	}
	return NULL;
}

/* The id that a whole name stands for; owned, NULL = it stands for none. */
static char *
follow(const char *git_dir, const char *common, const char *ref)
{
	static const char says[] = "ref: ";
	bu_autofree char *name = bu_xstrdup(ref);

	for (int jumps = 0; jumps < JUMPS_MAX; jumps++) {
		bu_autofree char *line = NULL;

		if (!bu_path_is_relative(name))
			return NULL;
		line = line_of(git_dir, name);
		if (!line)
			line = line_of(common, name);
		if (!line)
			return packed(common, name);
		if (is_id(line))
			return bu_steal(&line);
		if (strncmp(line, says, strlen(says)) != 0)
			return NULL;
		free(name);
		name = bu_xstrdup(line + strlen(says));
	}
	return NULL;
}

/* As git looks for a short name. */
static char *
look_up(const char *git_dir, const char *common, const char *ref)
{
	static const char *const folders[] = {"refs/tags/", "refs/heads/",
					      "refs/remotes/"};
	char *id = NULL;

	if (is_id(ref))
		return bu_xstrdup(ref);
	if (strcmp(ref, "HEAD") == 0 || strncmp(ref, "refs/", 5) == 0)
		return follow(git_dir, common, ref);
	for (size_t i = 0; !id && i < BU_LEN(folders); i++) {
		bu_autofree char *name = bu_xasprintf("%s%s", folders[i], ref);

		id = follow(git_dir, common, name);
	}
	return id;
}

char *
bu_git_resolve(const char *path, int is_inside, const char *ref, char **ret_objects,
	       char **ret_below, struct bu_err *err)
{
	const char *plain = strncmp(path, "file://", 7) == 0 ? path + 7 : path;
	bu_autofree char *git_dir = find(plain, is_inside, ret_below);
	bu_autofree char *line = git_dir ? line_of(git_dir, "commondir") : NULL;
	bu_autofree char *common = git_dir ? joined(git_dir, line ? line : ".") : NULL;
	char *id = git_dir ? look_up(git_dir, common, ref) : NULL;

	if (id) {
		*ret_objects = bu_xasprintf("%s/objects", common);
		return id;
	}
	bu_err_set(err, BU_ERR_NOTFOUND, 0, "%s",
		   git_dir ? "there is no such branch, tag or commit in it"
			   : "this is not a git repository");
	return NULL;
}
