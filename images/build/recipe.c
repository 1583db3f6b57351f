/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a recipe, packs its parts, signs the manifest and puts the result in its place.
 * `bringup image build` calls it. Invariant: images/<name> and ramdisk/ are complete
 * results at any time; a build happens in tmp/ under a lock and is put into the store
 * (shelf.c) at the end.
 */
#include "images/build/recipe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/spawn.h"
#include "base/worker.h"
#include "images/build/describe.h"
#include "images/build/frames.h"
#include "images/build/made_of.h"
#include "images/build/recipe_ini.h"
#include "images/build/shelf.h"
#include "images/bundle.h"
#include "images/manifest.h"
#include "images/store.h"

#define FORMAT "5"             /* counts up when the packing below changes */
enum { EPOCH_S = 1700000000 }; /* SOURCE_DATE_EPOCH of recipes/lib.sh */

struct build {
	const char *name;
	char *script;
	char *final; /* where the result goes */
	char *tmp, *out;
	char **env; /* of the script: "NAME=value", NULL at the end */
	char *private_pem, *public_pem;
	char key[BU_DIGEST_SIZE];
	const char *cache;
	const char *images;
	const struct bu_image_build_opts *opts;
	char *suite; /* whose packages a recipe takes; NULL = it names none */
	struct bu_image_origin origin;
};

/* Under the lock. The private key is what counts: the public half follows from it. */
static int
make_keys(struct build *build, struct bu_err *err)
{
	bu_autofree char *dir = bu_xasprintf("%s/keys", build->cache);
	bu_autofree char *key_path = bu_xasprintf("%s/image.key", dir);
	bu_autofree char *pub_path = bu_xasprintf("%s/image.pub", dir);
	bu_autofree char *public_pem = NULL;

	if (bu_mkdir_p(dir, 0700, err))
		return -1;
	if (!bu_file_exists(key_path)) {
		if (bu_sign_key_create(&build->private_pem, &build->public_pem, err) ||
		    bu_file_write(key_path, build->private_pem,
				  strlen(build->private_pem), 0600, err))
			return -1;
		fprintf(stderr, "image: made the image key %s\n", key_path);
	} else {
		build->private_pem = bu_file_read(key_path, 4096, NULL, err);
		if (!build->private_pem)
			return -1;
		build->public_pem = bu_sign_key_public(build->private_pem, err);
		if (!build->public_pem)
			return bu_err_wrap(err, "%s", key_path);
	}
	public_pem = bu_file_read(pub_path, 4096, NULL, NULL);
	if (public_pem && !strcmp(public_pem, build->public_pem))
		return 0;
	return bu_file_write(pub_path, build->public_pem, strlen(build->public_pem),
			     0644, err);
}

int
bu_image_lock(const char *cache_dir, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/build.lock", cache_dir);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", path);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		fprintf(stderr, "image: another build is running; waiting\n");
		while (flock(fd, LOCK_EX) && errno == EINTR)
			;
	}
	return fd;
}

/* Runs the recipe with its messages on our standard error. */
static int
run_recipe(const struct build *build, struct bu_err *err)
{
	const char *const argv[] = {"sh", build->script, "build", NULL};
	const struct bu_spawn how = {
		.argv = argv,
		.env = (const char *const *)build->env,
		.stdin_fd = -1,
		.stdout_fd = STDERR_FILENO,
		.stderr_fd = -1,
		.extra_fd = -1,
	};
	pid_t pid = bu_spawn(&how, NULL, err);
	pid_t got;
	int status;

	if (pid < 0)
		return -1;
	do {
		got = waitpid(pid, &status, 0);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "exit status of recipe %s",
				  build->script);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return bu_err_set(err, BU_ERR_IO, 0,
			  "recipe %s ended with %s %d; its messages are above",
			  build->script, WIFEXITED(status) ? "exit status" : "signal",
			  WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* Digest of everything that the result depends on. */
static int
compute_key(struct build *build, struct bu_err *err)
{
	const char *const argv[] = {"sh", build->script, "key", NULL};
	const struct bu_job_opts opts = {
		.argv = argv,
		.env = (const char *const *)build->env,
		.deadline_ms = 900 * 1000, /* lists of packages are fetched */
		.output_max = 4 * 1024 * 1024,
	};
	bu_autofree char *inputs = NULL, *text = NULL, *origin = NULL;
	bu_autojson json_t *made_of = json_object();

	bu_origin_to_json(&build->origin, made_of);
	origin = bu_json_canonical(made_of);
	if (bu_job_run(&opts, &inputs, err))
		return bu_err_wrap(err, "recipe %s", build->script);
	text = bu_xasprintf("%s\n%s\n%s\n%s", FORMAT, build->public_pem, origin,
			    inputs);
	bu_sha256_hex(text, strlen(text), build->key);
	return 0;
}

static int
is_ramdisk(const struct build *build)
{
	return !strcmp(build->name, "ramdisk");
}

static int
is_current(const struct build *build)
{
	bu_autofree char *path = bu_xasprintf("%s/build.key", build->final);
	char key[BU_DIGEST_SIZE + 1];
	struct bu_image image;

	bu_file_line(path, key, sizeof(key));
	if (strcmp(key, build->key) != 0)
		return 0;
	if (is_ramdisk(build))
		return 1;
	if (bu_image_load(build->images, build->name, build->public_pem, &image, NULL))
		return 0;
	bu_image_fini(&image);
	return 1;
}

static int
pack_part(const struct build *build, const json_t *value, struct bu_part *part,
	  struct bu_err *err)
{
	const char *raw;
	int64_t attrs;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bu_autofree char *raw_path = NULL, *frames_path = NULL;

	if (bu_json_get_str(value, "raw", &raw, err) ||
	    bu_json_copy_str(value, "name", part->name, sizeof(part->name), err) ||
	    bu_json_copy_str(value, "type", part->type, sizeof(part->type), err) ||
	    bu_json_copy_str(value, "label", part->label, sizeof(part->label), err) ||
	    bu_json_get_int(value, "attrs", &attrs, err))
		return -1;
	part->attrs = attrs;
	part->grow = bu_json_bool(value, "grow", 0);
	snprintf(part->file, sizeof(part->file), "%s.frames", part->name);
	raw_path = bu_xasprintf("%s/%s", build->out, raw);
	frames_path = bu_xasprintf("%s/%s", build->out, part->file);
	if (bu_frames_pack(raw_path, frames_path, cpus > 1 ? 2 : 1, part, err))
		return -1;
	unlink(raw_path);
	return 0;
}

/* A recipe that keeps its tree says what is in the image. */
static int
describe(const struct build *build, const json_t *spec, struct bu_manifest *manifest,
	 struct bu_err *err)
{
	bu_autofree char *root = bu_xasprintf("%s/root", build->tmp);
	const struct bu_describe what = {root,
					 build->tmp,
					 build->out,
					 bu_json_str(spec, "mirror", ""),
					 bu_json_str(spec, "roots", ""),
					 build->suite};
	return bu_file_exists(root) ? bu_describe_tree(&what, manifest, err) : 0;
}

static int
fill_manifest(const struct build *build, const json_t *spec,
	      struct bu_manifest *manifest, struct bu_err *err)
{
	const json_t *parts = json_object_get(spec, "parts");
	const json_t *disk = json_object_get(spec, "disk");
	const char *boot;
	bu_autofree char *boot_path = NULL, *code = NULL;
	size_t size;

	snprintf(manifest->name, sizeof(manifest->name), "%s", build->name);
	/* Not when: the same inputs make the same bytes, and so the same digest. */
	bu_time_iso(EPOCH_S * INT64_C(1000), manifest->created);
	manifest->origin = build->origin;
	if ((disk && bu_whole_disk_from_json(disk, &manifest->disk, err)) ||
	    bu_json_copy_str(spec, "arch", manifest->arch, sizeof(manifest->arch),
			     err) ||
	    bu_json_copy_str(spec, "kernel", manifest->kernel, sizeof(manifest->kernel),
			     err) ||
	    bu_json_copy_str(spec, "kargs", manifest->kargs, sizeof(manifest->kargs),
			     err) ||
	    bu_json_get_str(spec, "boot_code", &boot, err))
		return -1;
	boot_path = bu_xasprintf("%s/%s", build->out, boot);
	code = bu_file_read(boot_path, BU_BOOT_CODE_SIZE, &size, err);
	if (!code)
		return -1;
	memcpy(manifest->boot_code, code, size);
	unlink(boot_path);
	if (describe(build, spec, manifest, err))
		return -1;
	for (size_t i = 0; i < json_array_size(parts) && i < BU_IMAGE_PARTS_MAX; i++) {
		manifest->part_count = i + 1;
		if (pack_part(build, json_array_get(parts, i), &manifest->parts[i],
			      err))
			return -1;
	}
	return 0;
}

static int
write_manifest(const struct build *build, const struct bu_manifest *manifest,
	       struct bu_err *err)
{
	bu_autojson json_t *value = bu_manifest_to_json(manifest);
	bu_autofree char *text = bu_json_canonical(value);
	bu_autofree char *json_path = bu_xasprintf("%s/manifest.json", build->out);
	bu_autofree char *sig_path = bu_xasprintf("%s/manifest.sig", build->out);
	struct bu_manifest *check = bu_manifest_parse(text, strlen(text), err);
	char sig[BU_SIG_HEX_SIZE];

	/* What nodes would refuse must not be signed. */
	if (!check)
		return -1;
	bu_manifest_destroy(check);
	if (bu_sign(build->private_pem, text, strlen(text), sig, err) ||
	    bu_file_write(json_path, text, strlen(text), 0644, err) ||
	    bu_file_write_text(sig_path, 0644, err, "%s\n", sig))
		return -1;
	return 0;
}

static int
make_image(const struct build *build, const char *spec_path, struct bu_err *err)
{
	bu_autojson json_t *spec = bu_json_load(spec_path, err);
	struct bu_manifest *manifest;
	int rc;

	if (!spec)
		return -1;
	fprintf(stderr, "image: %s: cutting frames\n", build->name);
	manifest = bu_xcalloc(1, sizeof(*manifest));
	rc = fill_manifest(build, spec, manifest, err);
	if (!rc)
		rc = write_manifest(build, manifest, err);
	bu_manifest_destroy(manifest);
	unlink(spec_path);
	return rc;
}

/* The agent travels with the same key as images. */
static int
sign_bundle(const struct build *build, struct bu_err *err)
{
	bu_autofree char *dir = bu_xasprintf("%s/" BU_BUNDLE_DIR, build->out);
	bu_autofree char *path = bu_xasprintf("%s/bundle.json", dir);
	bu_autofree char *sig_path = bu_xasprintf("%s/bundle.sig", dir);
	struct bu_bundle check;
	size_t size = 0;
	bu_autofree char *text = NULL;
	char sig[BU_SIG_HEX_SIZE];

	if (!bu_file_exists(path))
		return 0;
	text = bu_file_read(path, BU_BUNDLE_LIST_MAX, &size, err);
	/* What nodes would refuse must not be signed. */
	if (!text || bu_bundle_parse(text, size, &check, err))
		return -1;
	bu_bundle_fini(&check);
	if (bu_sign(build->private_pem, text, size, sig, err))
		return -1;
	return bu_file_write_text(sig_path, 0644, err, "%s\n", sig);
}

/* The boot ramdisk has no manifest: its folder takes the old one's place in one step.
 */
static int
put_ramdisk(const struct build *build, struct bu_err *err)
{
	unsigned int flags = bu_file_exists(build->final) ? RENAME_EXCHANGE : 0;
	bu_autoclose int fd = open(build->out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", build->out);
	if (renameat2(AT_FDCWD, build->out, AT_FDCWD, build->final, flags))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", build->final);
	return 0;
}

static int
put_in_place(const struct build *build, struct bu_err *err)
{
	bu_autofree char *key_path = bu_xasprintf("%s/build.key", build->out);

	if (bu_file_write_text(key_path, 0644, err, "%s\n", build->key))
		return -1;
	return is_ramdisk(build)
		       ? put_ramdisk(build, err)
		       : bu_shelf_put(build->images, build->name, build->out, err);
}

static int
build_locked(struct build *build, struct bu_err *err)
{
	bu_autofree char *spec_path = bu_xasprintf("%s/image.json", build->out);
	int64_t begin_ms = bu_mono_ms(bu_clock_system());

	if (bu_remove_tree(build->tmp, err) || bu_mkdir_p(build->out, 0755, err))
		return -1;
	if (build->opts->fill &&
	    build->opts->fill(build->opts->fill_arg, build->tmp, &build->origin, err))
		return -1;
	if (!build->opts->filled && run_recipe(build, err))
		return -1;
	if ((bu_file_exists(spec_path) && make_image(build, spec_path, err)) ||
	    sign_bundle(build, err))
		return -1;
	if (put_in_place(build, err))
		return -1;
	fprintf(stderr, "image: %s is in %s (%.1f s)\n", build->name, build->final,
		(bu_mono_ms(bu_clock_system()) - begin_ms) / 1000.0);
	return 0;
}

/* What each script gets, before what its recipe says. */
static void
set_env(struct build *build, const char *recipes, const char *agent, char **more)
{
	bu_autofree char *sorted = bu_program_path("bringup-sorted.so");
	char *const own[] = {
		bu_xasprintf("RECIPES=%s", recipes),
		bu_xasprintf("CACHE=%s", build->cache),
		bu_xasprintf("WORK=%s", build->tmp),
		bu_xasprintf("OUT=%s", build->out),
		bu_xasprintf("AGENT=%s", agent),
		bu_xasprintf("SORTED=%s", sorted),
		bu_xasprintf("NAME=%s", build->name),
	};
	size_t count = 0;

	while (more && more[count])
		count++;
	build->env = bu_xcalloc(BU_LEN(own) + count + 1, sizeof(*build->env));
	memcpy(build->env, own, sizeof(own));
	if (count)
		memcpy(build->env + BU_LEN(own), more, count * sizeof(*more));
	free(more);
}

static int
set_paths(struct build *build, const char *recipes, const char *agent,
	  struct bu_err *err)
{
	const char *dir = build->opts->recipe_dir ? build->opts->recipe_dir : recipes;
	bu_autofree char *ini_path = bu_xasprintf("%s/%s.ini", dir, build->name);
	struct bu_recipe_ini ini = {0};
	const char *script = build->name;
	int rc = 0;

	build->final = is_ramdisk(build)
			       ? bu_xasprintf("%s/ramdisk", build->cache)
			       : bu_xasprintf("%s/%s", build->images, build->name);
	build->tmp = bu_xasprintf("%s/tmp/%s", build->cache, build->name);
	build->out = bu_xasprintf("%s/out", build->tmp);
	if (build->opts->fill) {
		script = "import";
	} else if (bu_file_exists(ini_path)) {
		if (bu_recipe_ini_load(dir, build->name, recipes, &ini, err))
			return -1;
		script = ini.script;
	}
	build->script = bu_xasprintf("%s/%s.sh", recipes, script);
	set_env(build, recipes, agent, ini.script ? bu_recipe_ini_env(&ini) : NULL);
	build->suite = bu_steal(&ini.suite);
	if (!bu_file_exists(build->script))
		rc = bu_err_set(err, BU_ERR_NOTFOUND, 0, "no recipe %s (nor %s)",
				build->script, ini_path);
	else if (!build->opts->fill)
		rc = bu_made_of_recipe(build->name, build->script, &ini, &build->origin,
				       err);
	bu_recipe_ini_fini(&ini);
	return rc;
}

static void
free_build(struct build *build)
{
	char *const owned[] = {build->script, build->final,       build->tmp,
			       build->out,    build->private_pem, build->public_pem,
			       build->suite};

	for (size_t i = 0; i < BU_LEN(owned); i++)
		free(owned[i]);
	for (char **each = build->env; each && *each; each++)
		free(*each);
	free(build->env);
}

static int
build_named(struct build *build, struct bu_err *err)
{
	bu_autoclose int lock = -1;
	int rc = 0;

	if (bu_mkdir_p(build->images, 0755, err))
		return -1;
	lock = bu_image_lock(build->cache, err);
	if (lock < 0 || make_keys(build, err) || compute_key(build, err))
		return -1;
	if (build->opts->force || build->opts->fill || !is_current(build))
		rc = build_locked(build, err);
	if (bu_remove_tree(build->tmp, rc ? NULL : err))
		return -1;
	return rc;
}

int
bu_image_build(const char *name, const struct bu_image_build_opts *opts,
	       struct bu_err *err)
{
	const char *cache = opts->cache_dir;
	bu_autofree char *images = bu_xasprintf("%s/images", cache);
	bu_autofree char *own_recipes = bu_data_path("images/build/recipes");
	bu_autofree char *own_agent = bu_program_path("bringup-agent");
	const char *agent = opts->agent_path ? opts->agent_path : own_agent;
	struct build build = {
		.name = name, .cache = cache, .images = images, .opts = opts};
	int rc;

	if (bu_image_name_check(name, "image", err))
		return -1;
	if (!bu_file_exists(agent))
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no agent at %s; build it or name it with --agent",
				  agent);
	rc = set_paths(&build, opts->recipes_dir ? opts->recipes_dir : own_recipes,
		       agent, err);
	if (!rc)
		rc = build_named(&build, err);
	free_build(&build);
	return rc;
}
