/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds images and the boot ramdisk from recipes (recipe_ini.h; without one, a shell
 * script of the name is the recipe) and keeps them in the cache: images/<name>,
 * ramdisk/, keys/, base/ (what outlives a build).
 */
#ifndef BU_IMAGES_BUILD_RECIPE_H
#define BU_IMAGES_BUILD_RECIPE_H

#include "base/err.h"

struct bu_image_build_opts {
	const char *cache_dir;   /* bu_cache_dir() or another folder */
	const char *agent_path;  /* NULL = bringup-agent beside the program */
	const char *recipes_dir; /* scripts and recipes; NULL = the installed ones */
	const char *recipe_dir;  /* of a recipe that lies elsewhere; NULL = there */
	int force;               /* build even when nothing has changed */
	/* Not a recipe's: puts the system into <work>/root, and import.sh does the
	 * rest. NULL = the recipe of that name does it all. */
	int (*fill)(void *arg, const char *work, struct bu_err *err);
	void *fill_arg;
	int filled; /* fill has made <work>/out/image.json and what it names, too */
};

/* The key that the cache's images are signed with, PEM, owned; only reads. A build
 * makes keys/image.key (0600) and keys/image.pub where they are missing; before the
 * first one this is BU_ERR_NOTFOUND. */
char *bu_image_public_key(const char *cache_dir, struct bu_err *err);
/* name: a recipe, "debian12", "tiny" or "ramdisk". Says on standard error what it does;
 * returns at once when the result is there and its inputs are the same. The result
 * appears whole or not at all. Blocks for minutes: for the command line and jobs. */
bu_must int bu_image_build(const char *name, const struct bu_image_build_opts *opts,
			   struct bu_err *err);
/* The cache's lock, which whoever writes there has: a descriptor to close. Says on
 * standard error that it waits. */
bu_must int bu_image_lock(const char *cache_dir, struct bu_err *err);

#endif
