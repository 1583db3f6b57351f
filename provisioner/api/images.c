/* SPDX-License-Identifier: Apache-2.0 */
/* Images as the plan needs them: known by the digest of their signed manifest. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "images/programs.h"
#include "images/store.h"
#include "profiles/language/schema.h"
#include "provisioner/api/api.h"

/* Adds a file's keys to the bundle. */
static int
add_keys(char **keys, const char *path, struct bu_err *err)
{
	bu_autofree char *text = bu_image_keys_read(path, err);

	if (!text)
		return bu_err_wrap(err, "public key");
	bu_text_add(keys, "\n", "%s", text);
	return 0;
}

/* Whose keys count: a path, or the policy's words. */
static const char *
key_files(const struct bu_api *api, const struct bu_desired_image *image)
{
	return image->key_path    ? image->key_path
	       : image->site_keys ? image->site_keys
				  : api->image_key;
}

char *
bu_api_image_keys(const struct bu_api *api, const struct bu_desired_image *image,
		  const char *digest, struct bu_err *err)
{
	static const char head[] = "file:";
	const char *at = image->site_keys;
	char *word;
	const char *dir = image->path ? image->path : api->images_dir;
	bu_autofree char *keys = NULL;
	int rc = 0;

	if (image->may_be_unsigned && !bu_image_is_signed(dir, image->name, digest))
		return bu_xstrdup("");
	if (image->key_path || !at)
		rc = add_keys(&keys, image->key_path ? image->key_path : api->image_key,
			      err);
	else
		while (!rc && (word = bu_value_next_word(&at))) {
			bu_autofree char *owned = word;

			rc = add_keys(&keys, owned + strlen(head), err);
		}
	/* "" is what an unsigned image has, and nothing else. */
	if (!rc && !keys)
		rc = bu_err_set(err, BU_ERR_INVAL, 0, "image_keys names no file");
	return rc ? NULL : bu_steal(&keys);
}

char *
bu_api_loaded_keys(const struct bu_api *api, const struct bu_node *node,
		   const struct bu_target *target, const struct bu_ram_image *image,
		   struct bu_err *err)
{
	const struct bu_desired_image *its =
		image->name == node->order.image
			? target->node->image
			: bu_fleet_installed_image(api->fleet, node);

	if (its)
		return bu_api_image_keys(api, its, image->digest, err);
	bu_err_set(err, BU_ERR_NOTFOUND, 0,
		   "the profile by which %s was installed does not say what [image %s] "
		   "is; install it anew with `bringup node rebuild %s`",
		   node->name, image->name, node->name);
	return NULL;
}

static void
describe(const struct bu_manifest *manifest, struct bu_plan_image *ret)
{
	const char *driver = bu_manifest_holds(manifest, "driver");
	const char *manager = bu_manifest_holds(manifest, "fabric_manager");

	bu_text_copy(ret->kernel, sizeof(ret->kernel), manifest->kernel);
	bu_text_copy(ret->driver, sizeof(ret->driver), driver ? driver : "");
	bu_text_copy(ret->fabric_manager, sizeof(ret->fabric_manager),
		     manager ? manager : "");
	ret->described = manifest->described;
	ret->origin = manifest->origin;
	ret->programs = bu_image_programs_of(manifest);
	ret->mirrors = bu_manifest_holds(manifest, "mirror") != NULL;
	ret->slots = bu_manifest_holds(manifest, "roots") != NULL;
	ret->is_disk = manifest->disk.sector_bytes != 0;
	ret->has_slurmd = bu_manifest_holds(manifest, "slurmd") != NULL;
	ret->has_kubelet = bu_manifest_holds(manifest, "kubelet") != NULL;
}

const struct bu_plan_image *
bu_api_plan_image(void *arg, const struct bu_desired_image *image, struct bu_err *err)
{
	const struct bu_api *api = arg;
	static struct bu_plan_image found;
	bu_autofree char *key = bu_api_image_keys(api, image, NULL, err);
	struct bu_image loaded;

	if (!key) {
		bu_err_wrap(err, "image %s", image->name);
		return NULL;
	}
	if (bu_image_load(image->path ? image->path : api->images_dir, image->name,
			  *key ? key : NULL, &loaded, err) != 0) {
		if (err && err->kind == BU_ERR_VERIFY)
			bu_err_wrap(err, "checked by the keys of %s",
				    key_files(api, image));
		return NULL;
	}
	memcpy(found.digest, loaded.digest, sizeof(found.digest));
	describe(loaded.manifest, &found);
	bu_image_fini(&loaded);
	return &found;
}
