/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where things lie on this machine: data and programs of ours, the cache. Called by the
 * programs that run there. Invariant: only this file knows the source and the build
 * tree, so that a program without it (the agent, which goes into images) is the same
 * bytes wherever it was built.
 */
#include "base/file.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

/* The folder of the running program; owned, NULL when the kernel does not tell. */
static char *
own_folder(void)
{
	char path[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *slash;

	if (size <= 0)
		return NULL;
	path[size] = '\0';
	slash = strrchr(path, '/');
	return slash ? bu_xstrndup(path, (size_t)(slash - path)) : NULL;
}

static int
in_build_tree(const char *folder)
{
	size_t size = strlen(BU_BUILDDIR);

	return folder && strncmp(folder, BU_BUILDDIR, size) == 0 &&
	       (folder[size] == '\0' || folder[size] == '/');
}

char *
bu_data_path(const char *relative)
{
	const char *from_env = getenv("BRINGUP_DATADIR");
	bu_autofree char *folder = own_folder();

	if (from_env && *from_env)
		return bu_xasprintf("%s/%s", from_env, relative);
	return bu_xasprintf("%s/%s", in_build_tree(folder) ? BU_SRCDIR : BU_PKGDATADIR,
			    relative);
}

char *
bu_program_path(const char *name)
{
	bu_autofree char *folder = own_folder();
	/* Unit tests of the build tree lie in folders below the programs. */
	const char *const places[] = {folder,
				      in_build_tree(folder) ? BU_BUILDDIR : NULL};

	for (size_t i = 0; i < BU_LEN(places); i++) {
		bu_autofree char *path = NULL;

		if (!places[i])
			continue;
		path = bu_xasprintf("%s/%s", places[i], name);
		if (access(path, X_OK) == 0)
			return bu_steal(&path);
	}
	return bu_xasprintf("%s/%s", BU_PKGLIBDIR, name);
}

char *
bu_cache_dir(struct bu_err *err)
{
	const char *named = getenv("BRINGUP_CACHE");
	const char *home = getenv("HOME");
	bu_autofree char *dir = NULL;

	if (!home || !*home) {
		const struct passwd *user = getpwuid(geteuid());

		home = user ? user->pw_dir : "";
	}
	dir = named && *named ? bu_xstrdup(named)
			      : bu_xasprintf("%s/.cache/bringup", home);
	if (!bu_path_is_plain(dir) || strlen(dir) >= BU_CACHE_DIR_SIZE) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "cache directory '%s': it must be an absolute path of at "
			   "most %d letters, digits and ._+-/; set BRINGUP_CACHE",
			   dir, BU_CACHE_DIR_SIZE - 1);
		return NULL;
	}
	return bu_steal(&dir);
}
