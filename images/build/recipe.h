/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds images and the boot ramdisk from recipes (recipe_ini.h; without one, a shell
 * script of the name is the recipe) and keeps them in the cache: images/<name>,
 * ramdisk/, keys/, base/ (what outlives a build).
 */
#ifndef BU_IMAGES_BUILD_RECIPE_H
#define BU_IMAGES_BUILD_RECIPE_H

#include "base/err.h"
#include "images/origin.h"

struct bu_image_build_opts {
	const char *cache_dir;   /* bu_cache_dir() or another folder */
	const char *agent_path;  /* NULL = bringup-agent beside the program */
	const char *recipes_dir; /* scripts and recipes; NULL = the installed ones */
	const char *recipe_dir;  /* of a recipe that lies elsewhere; NULL = there */
	int force;               /* build even when nothing has changed */
	/* Not a recipe's: puts the system into <work>/root, says what it is made of,
	 * and import.sh does the rest. NULL = the recipe of that name does it all. */
	int (*fill)(void *arg, const char *work, struct bu_image_origin *ret,
		    struct bu_err *err);
	void *fill_arg;
	int filled; /* fill has made <work>/out/image.json and what it names, too */
};

/* name: a recipe, "debian12", "tiny" or "ramdisk". Says on standard error what it does;
 * returns at once when the result is there and its inputs are the same. The result
 * appears whole or not at all. Blocks for minutes: for the command line and jobs. */
bu_must int bu_image_build(const char *name, const struct bu_image_build_opts *opts,
			   struct bu_err *err);
/* The cache's lock, which whoever writes there has: a descriptor to close. Says on
 * standard error that it waits. */
bu_must int bu_image_lock(const char *cache_dir, struct bu_err *err);

#endif
