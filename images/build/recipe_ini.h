/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recipe as people write it: what is in an image, and from which other recipe it
 * takes the rest. A list goes on in lines that begin with a blank; with `from`, the
 *lists of the other recipe come first, and its other values hold unless given.
 *
 *	[image]
 *	from = debian12
 *	packages = nvtop strace
 *	[files]
 *	/etc/motd = motd.txt 0644     ; a file beside the recipe, its mode in the image
 *	[hooks]
 *	10 = trim.sh                  ; run with the folder of the system
 *	[dkms_hooks]
 *	10 = mend.sh                  ; run before modules are built, with their sources
 *	[sources]
 *	cuda = deb [signed-by=/usr/share/keyrings/cuda.gpg] https://... ./
 *	[keys]
 *	/usr/share/keyrings/cuda.gpg = FINGERPRINT    ; no other key may be in it
 *	[mirrors]
 *	main = deb http://...         ; of the release, where the host's apt has none
 */
#ifndef BU_IMAGES_BUILD_RECIPE_INI_H
#define BU_IMAGES_BUILD_RECIPE_INI_H

#include "base/err.h"

/* key of [image], variable that the script gets it in, 1 = a list, help */
#define BU_RECIPE_KEYS(X)                                                              \
	X(from, "FROM", 0, "the recipe that this one adds to")                         \
	X(version, "RECIPE_VERSION", 0, "what the image's manifest calls it")          \
	X(script, "SCRIPT", 0, "the program that builds it, beside the recipes")       \
	X(suite, "SUITE", 0, "code name of the release: bookworm")                     \
	X(keyring, "KEYRING", 0, "package that has the keys of the mirrors")           \
	X(keyring_source, "KEYRING_SOURCE", 0,                                         \
	  "line of sources.list(5) that has the package")                              \
	X(packages, "PACKAGES", 1, "packages, with all that they depend on")           \
	X(dkms, "DKMS", 1,                                                             \
	  "packages of DKMS: their modules are built for the image's kernel; what "    \
	  "built them is not part of the image")                                       \
	X(left_out, "LEFT_OUT", 1, "paths that no package brings, as dpkg has them")   \
	X(without_modules, "NO_MODULES", 1,                                            \
	  "folders of the kernel's modules that are left out")                         \
	X(masked, "MASKED", 1, "units of systemd that shall never run")                \
	X(root_mib, "ROOT_MIB", 0, "size of the root file system as it is fetched")    \
	X(esp_mib, "ESP_MIB", 0, "size of the system partition")                       \
	X(kargs, "RECIPE_KARGS", 0, "arguments of the kernel, after the usual ones")

struct bu_recipe_ini {
	char *dir;    /* of the innermost recipe; names of files are below it */
	char *layers; /* "SHA-256 NAME.ini" of each, the innermost last */
#define X(key, variable, list, help) char *key;
	BU_RECIPE_KEYS(X)
#undef X
	/* Lines of what the sections say, for the script. */
	char *files; /* "SOURCE MODE PATH" */
	char *hooks; /* paths */
	char *dkms_hooks;
	char *mirrors; /* of sources.list(5): where apt has none of the release */
	char *sources; /* of sources.list(5) */
	char *keys;    /* "KEYRING FINGERPRINT" */
};

/* Reads <dir>/<name>.ini and the recipes that it is from, which lie beside it or in
 * own_dir. All mistakes are told as FILE:LINE. */
bu_must int bu_recipe_ini_load(const char *dir, const char *name, const char *own_dir,
			       struct bu_recipe_ini *ret, struct bu_err *err);
void bu_recipe_ini_fini(struct bu_recipe_ini *ini);
/* "NAME=value" for each, NULL at the end; the list and its texts are owned. */
char **bu_recipe_ini_env(const struct bu_recipe_ini *ini);

#endif
