/* SPDX-License-Identifier: Apache-2.0 */
/* Images as the plan needs them: known by the digest of their signed manifest. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/confine.h"
#include "base/text.h"
#include "images/programs.h"
#include "images/store.h"
#include "profiles/language/schema.h"
#include "provisioner/cluster/cluster.h"
#include "provisioner/work/work.h"

enum { KEYS_MAX = 65536 };

/* Adds the keys of a file that the profile names. */
static int
add_keys(char **keys, const char *path, struct bu_err *err)
{
	bu_autofree char *text = bu_confine_read(BU_CONFINE_SECRETS | BU_CONFINE_IMAGES,
						 path, KEYS_MAX, NULL, err);

	if (!text || bu_image_keys_check(path, text, err) != 0)
		return bu_err_wrap(err, "public key");
	bu_text_add(keys, "\n", "%s", text);
	return 0;
}

static int
add_own_keys(const struct bu_work_input *input, char **keys, struct bu_err *err)
{
	*keys = bu_image_keys_read(input->image_key, err);
	return *keys ? 0 : bu_err_wrap(err, "public key");
}

/* Whose keys count: a path, or the policy's words. */
static const char *
key_files(const struct bu_work_input *input, const struct bu_desired_image *image)
{
	return image->key_path    ? image->key_path
	       : image->site_keys ? image->site_keys
				  : input->image_key;
}

char *
bu_work_image_keys(const struct bu_work_input *input,
		   const struct bu_desired_image *image, const char *digest,
		   struct bu_err *err)
{
	static const char head[] = "file:";
	const char *at = image->site_keys;
	char *word;
	const char *dir = image->path ? image->path : input->images_dir;
	bu_autofree char *keys = NULL;
	int rc = 0;

	if (image->path &&
	    bu_confine_check(BU_CONFINE_IMAGES, dir, O_DIRECTORY, err) != 0) {
		bu_err_wrap(err, "[image %s] path", image->name);
		return NULL;
	}
	if (image->may_be_unsigned && !bu_image_is_signed(dir, image->name, digest))
		return bu_xstrdup("");
	if (image->key_path)
		rc = add_keys(&keys, image->key_path, err);
	else if (!at)
		rc = add_own_keys(input, &keys, err);
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
bu_work_loaded_keys(const struct bu_work_input *input, const struct bu_node *node,
		    const struct bu_target *target, const struct bu_ram_image *image,
		    struct bu_err *err)
{
	const struct bu_desired_image *its =
		image->name == node->order->image
			? target->node->image
			: bu_fleet_installed_image(input->fleet, node);

	if (its)
		return bu_work_image_keys(input, its, image->digest, err);
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
	ret->clients = 0;
	for (size_t i = 0; bu_cluster_drivers[i]; i++)
		if (bu_manifest_holds(manifest, bu_cluster_drivers[i]->needs))
			ret->clients |= 1U << i;
}

int
bu_work_load_image(const struct bu_work_input *input,
		   const struct bu_desired_image *image, struct bu_image *ret,
		   struct bu_err *err)
{
	bu_autofree char *key = bu_work_image_keys(input, image, NULL, err);

	if (!key)
		return bu_err_wrap(err, "image %s", image->name);
	if (bu_image_load(image->path ? image->path : input->images_dir, image->name,
			  *key ? key : NULL, ret, err) == 0)
		return 0;
	if (err && err->kind == BU_ERR_VERIFY)
		bu_err_wrap(err, "checked by the keys of %s", key_files(input, image));
	return -1;
}

int
bu_work_plan_image(const struct bu_work_input *input,
		   const struct bu_desired_image *image, struct bu_plan_image *ret,
		   struct bu_err *err)
{
	struct bu_image loaded;

	if (bu_work_load_image(input, image, &loaded, err) != 0)
		return -1;
	memcpy(ret->digest, loaded.digest, sizeof(ret->digest));
	describe(loaded.manifest, ret);
	bu_image_fini(&loaded);
	return 0;
}
