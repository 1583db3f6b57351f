/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup image ...: images and the boot ramdisk in this machine's cache. All the work
 * is done by images/; what is told of them is in image_show.c, what is kept, and for
 * whom, in image_shelf.c, and what a profile allows in image_policy.c.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "cli/commands/image.h"
#include "cli/commands/image_impl.h"
#include "images/build/frames.h"
#include "images/build/import.h"
#include "images/build/recipe.h"
#include "images/build/sign.h"
#include "images/store.h"

struct verb {
	const char *name;
	const char *args;
	const char *help;
	int min_names, max_names; /* -1 = any number */
	int (*run)(const struct bu_image_place *place,
		   const struct bu_image_options *options, char **names, int count,
		   struct bu_err *err);
};

/* NAME of a recipe of ours, or the path of one: DIR/NAME.ini. */
static int
build_one(const char *what, const struct bu_image_build_opts *base, struct bu_err *err)
{
	struct bu_image_build_opts opts = *base;
	bu_autofree char *path = NULL, *dir = NULL, *name = NULL;
	char *slash;

	if (!strchr(what, '/'))
		return bu_image_build(what, &opts, err);
	path = realpath(what, NULL);
	slash = path ? strrchr(path, '/') : NULL;
	if (!slash || strlen(slash) < 6 || strcmp(path + strlen(path) - 4, ".ini") != 0)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "%s: no such recipe; the path of NAME.ini is needed",
				  what);
	dir = bu_xstrndup(path, (size_t)(slash - path));
	name = bu_xstrndup(slash + 1, strlen(slash + 1) - 4);
	opts.recipe_dir = dir;
	return bu_image_build(name, &opts, err);
}

static int
run_build(const struct bu_image_place *place, const struct bu_image_options *options,
	  char **names, int count, struct bu_err *err)
{
	const struct bu_image_build_opts opts = {
		.cache_dir = place->cache,
		.agent_path = options->agent,
		.force = options->force,
	};

	for (int i = 0; i < count; i++)
		if (build_one(names[i], &opts, err))
			return -1;
	return 0;
}

static int
run_import(const struct bu_image_place *place, const struct bu_image_options *options,
	   char **names, int count, struct bu_err *err)
{
	const struct bu_image_build_opts opts = {
		.cache_dir = place->cache,
		.agent_path = options->agent,
	};

	if (options->profile &&
	    bu_image_policy_source(options->profile, names[0], names[1], err))
		return -1;
	return bu_image_import(names[0], names[1], options->platform, &opts, err);
}

static int
verify_parts(const struct bu_image *image, struct bu_err *err)
{
	for (size_t i = 0; i < image->manifest->part_count; i++) {
		const struct bu_part *part = &image->manifest->parts[i];
		bu_autofree char *path = bu_xasprintf("%s/%s", image->dir, part->file);

		if (bu_frames_check(path, part, err))
			return -1;
	}
	return 0;
}

/* Whoever has the key may sign: the image need not be of this machine's key. */
static int
run_sign(const struct bu_image_place *place, const struct bu_image_options *options,
	 char **names, int count, struct bu_err *err)
{
	bu_autofree char *dir = NULL, *pem = NULL;
	bu_autoclose int lock = -1;
	char digest[BU_DIGEST_SIZE];
	int added;

	if (!options->key)
		return bu_err_set(
			err, BU_ERR_USAGE, 0,
			"--key FILE is needed: an Ed25519 private key in PEM, "
			"as 'openssl genpkey -algorithm ed25519' makes it");
	if (bu_image_name_check(names[0], "image", err))
		return -1;
	pem = bu_file_read(options->key, 65536, NULL, err);
	lock = pem ? bu_image_lock(place->cache, err) : -1;
	if (lock < 0)
		return -1;
	/* What has the name now: whom we waited for may have changed that. */
	dir = bu_image_dir(place->images, names[0], NULL);
	added = bu_image_sign(dir, pem, digest, err);
	if (added < 0)
		return -1;
	printf("%s %s: %s\n", names[0], digest,
	       added ? "signed with this key, too"
		     : "had this key's signature already");
	return 0;
}

static int
run_verify(const struct bu_image_place *place, const struct bu_image_options *options,
	   char **names, int count, struct bu_err *err)
{
	bu_autofree char *pem = options->key ? bu_image_keys_read(options->key, err)
					     : bu_image_public_key(place->cache, err);
	bu_autofree char *path =
		options->key ? bu_xstrdup(options->key)
			     : bu_xasprintf("%s/keys/image.pub", place->cache);

	for (int i = 0; i < count; i++) {
		struct bu_image image;
		int rc;

		if (!pem)
			return -1;
		if (bu_image_load(place->images, names[i], pem, &image, err))
			return err->kind == BU_ERR_VERIFY
				       ? bu_err_wrap(err, "checked by the keys of %s",
						     path)
				       : -1;
		rc = verify_parts(&image, err);
		if (!rc && image.manifest->sbom[0]) {
			bu_autofree char *sbom = bu_image_sbom(&image, err);

			rc = sbom ? 0 : -1;
		}
		if (!rc)
			printf("%s: signature and all frames are correct (%.1f MB)\n",
			       names[i], image.stored_bytes / 1e6);
		bu_image_fini(&image);
		if (rc)
			return -1;
	}
	return 0;
}

static int
run_cache(const struct bu_image_place *place, const struct bu_image_options *options,
	  char **names, int count, struct bu_err *err)
{
	puts(place->cache);
	return 0;
}

static const struct verb verbs[] = {
	{"build", "NAME... [--agent PATH] [--force]",
	 "build debian12, tiny, ramdisk or DIR/NAME.ini, where something changed", 1,
	 -1, run_build},
	{"import", "NAME SOURCE [--profile DIR] [--platform OS/ARCH/LEVEL]",
	 "an image of oci://..., oci-layout:DIR, raw:FILE, qcow2:FILE or a tar archive",
	 2, 2, run_import},
	{"list", "[--json]", "the images in the cache", 0, 0, bu_image_cmd_list},
	{"show", "NAME [--json|--sbom]",
	 "one image and its parts, or its packages (SPDX)", 1, 1, bu_image_cmd_show},
	{"stored", "[NAME] [--json]",
	 "all stored images, and the nodes and pools that use them", 0, 1,
	 bu_image_cmd_stored},
	{"rollback", "NAME [DIGEST]",
	 "point the name at the previous image, or at DIGEST", 1, 2,
	 bu_image_cmd_rollback},
	{"gc", "[--yes] [--offline]", "list unused images; with --yes, remove them", 0,
	 0, bu_image_cmd_gc},
	{"sign", "NAME --key FILE", "add the signature of this private key", 1, 1,
	 run_sign},
	{"verify", "NAME... [--key FILE]",
	 "read everything again and compare; by these public keys", 1, -1, run_verify},
	{"cache", "", "the folder of all images: $BRINGUP_CACHE or ~/.cache/bringup", 0,
	 0, run_cache},
};

static int
usage(FILE *out)
{
	fputs("usage: bringup image VERB\n", out);
	for (size_t i = 0; i < BU_LEN(verbs); i++)
		fprintf(out, "  %-9s%-34s%s\n", verbs[i].name, verbs[i].args,
			verbs[i].help);
	return out == stdout ? 0 : bu_err_exit_code(BU_ERR_USAGE);
}

static int
parse_options(int argc, char **argv, struct bu_image_options *options)
{
	static const struct option table[] = {
		{"agent", required_argument, NULL, 'a'},
		{"force", no_argument, NULL, 'f'},
		{"yes", no_argument, NULL, 'y'},
		{"offline", no_argument, NULL, 'o'},
		{"socket", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"sbom", no_argument, NULL, 'b'},
		{"key", required_argument, NULL, 'K'},
		{"profile", required_argument, NULL, 'P'},
		{"platform", required_argument, NULL, 'L'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (c == 'a')
			options->agent = optarg;
		else if (c == 'f')
			options->force = 1;
		else if (c == 'j')
			options->json = 1;
		else if (c == 'b')
			options->sbom = 1;
		else if (c == 'y')
			options->yes = 1;
		else if (c == 'o')
			options->offline = 1;
		else if (c == 'K')
			options->key = optarg;
		else if (c == 'P')
			options->profile = optarg;
		else if (c == 'L')
			options->platform = optarg;
		else if (c == 's')
			options->socket = optarg;
		else if (c == 'h')
			options->help = 1;
		else
			return -1;
	}
	options->help |= optind < argc && !strcmp(argv[optind], "help");
	return 0;
}

static const struct verb *
find_verb(const char *name, int names)
{
	for (size_t i = 0; i < BU_LEN(verbs); i++)
		if (name && !strcmp(verbs[i].name, name) &&
		    names >= verbs[i].min_names &&
		    (verbs[i].max_names < 0 || names <= verbs[i].max_names))
			return &verbs[i];
	return NULL;
}

static int
run_verb(const struct verb *verb, const struct bu_image_options *options, char **names,
	 int count, struct bu_err *err)
{
	bu_autofree char *cache = bu_cache_dir(err);
	bu_autofree char *images = cache ? bu_xasprintf("%s/images", cache) : NULL;
	struct bu_image_place place = {.cache = cache, .images = images};

	if (!cache)
		return -1;
	return verb->run(&place, options, names, count, err);
}

int
bu_cmd_image(int argc, char **argv)
{
	struct bu_image_options options = {0};
	const struct verb *verb;
	struct bu_err err = {0};
	int bad = parse_options(argc, argv, &options);

	if (!bad && options.help)
		return usage(stdout);
	verb = bad || optind >= argc ? NULL
				     : find_verb(argv[optind], argc - optind - 1);
	if (!verb)
		return usage(stderr);
	if (!run_verb(verb, &options, argv + optind + 1, argc - optind - 1, &err))
		return 0;
	fprintf(stderr, "bringup image: %s\n", err.text);
	return bu_err_exit_code(err.kind);
}
