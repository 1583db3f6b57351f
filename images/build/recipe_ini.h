/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recipe as people write it: what is in an image, and from which other recipe it
 *takes the rest.
 *
 *	[image]
 *	from = debian12          ; its lists come first, its other values hold unless
 *given packages = nvtop strace  ; a list goes on in lines that begin with a blank
 *	[files]
 *	/etc/motd = motd.txt 0644     ; a file beside the recipe, its mode in the image
 *	[hooks]
 *	10 = trim.sh             ; run with the folder of the system, by the order of
 *keys [sources] cuda = deb [signed-by=/usr/share/keyrings/cuda.gpg] https://... ./
 */
#ifndef BU_IMAGES_BUILD_RECIPE_INI_H
#define BU_IMAGES_BUILD_RECIPE_INI_H

#include "base/err.h"

/* key of [image], variable that the script gets it in, 1 = a list, help */
#define BU_RECIPE_KEYS(X)                                                              \
	X(from, "FROM", 0, "the recipe that this one adds to")                         \
	X(script, "SCRIPT", 0, "the program that builds it, beside the recipes")       \
	X(suite, "SUITE", 0, "code name of the release: bookworm")                     \
	X(packages, "PACKAGES", 1, "packages, with all that they depend on")           \
	X(without_modules, "NO_MODULES", 1,                                            \
	  "folders of the kernel's modules that are left out")                         \
	X(masked, "MASKED", 1, "units of systemd that shall never run")                \
	X(root_mib, "ROOT_MIB", 0, "size of the root file system as it is fetched")    \
	X(esp_mib, "ESP_MIB", 0, "size of the system partition")                       \
	X(kargs, "RECIPE_KARGS", 0, "arguments of the kernel, after the usual ones")

struct bu_recipe_ini {
	char *dir; /* of the innermost recipe; names of files are below it */
#define X(key, variable, list, help) char *key;
	BU_RECIPE_KEYS(X)
#undef X
	/* Lines of what the sections say, for the script. */
	char *files;   /* "SOURCE MODE PATH" */
	char *hooks;   /* paths */
	char *sources; /* of sources.list(5) */
};

/* Reads <dir>/<name>.ini and the recipes that it is from, which lie beside it or in
 * own_dir. All mistakes are told as FILE:LINE. */
bu_must int bu_recipe_ini_load(const char *dir, const char *name, const char *own_dir,
			       struct bu_recipe_ini *ret, struct bu_err *err);
void bu_recipe_ini_fini(struct bu_recipe_ini *ini);
/* "NAME=value" for each, NULL at the end; the list and its texts are owned. */
char **bu_recipe_ini_env(const struct bu_recipe_ini *ini);

#endif
