/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds images and the boot ramdisk from the recipes (shell scripts) and keeps them in
 * the cache: images/<name>, ramdisk/, keys/, base/ (what outlives a build).
 */
#ifndef BU_IMAGES_BUILD_RECIPE_H
#define BU_IMAGES_BUILD_RECIPE_H

#include "base/err.h"

struct bu_image_build_opts {
	const char *cache_dir;   /* NULL = bu_image_cache_dir() */
	const char *agent_path;  /* NULL = bringup-agent beside the program */
	const char *recipes_dir; /* NULL = the installed ones */
	int force;               /* build even when nothing has changed */
};

/* ${BRINGUP_CACHE:-~/.cache/bringup}; owned. */
char *bu_image_cache_dir(void);
/* Makes keys/image.key (0600) and keys/image.pub unless they exist. Both PEM strings
 * are owned; either pointer may be NULL. */
int bu_image_keys(const char *cache_dir, char **ret_private_pem, char **ret_public_pem,
		  struct bu_err *err);
/* name: a recipe, "debian12", "tiny" or "ramdisk". Says on standard error what it does;
 * returns at once when the result is there and its inputs are the same. The result
 * appears whole or not at all. Blocks for minutes: for the command line and jobs. */
int bu_image_build(const char *name, const struct bu_image_build_opts *opts,
		   struct bu_err *err);

#endif
