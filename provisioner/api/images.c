/* SPDX-License-Identifier: Apache-2.0 */
/* Images as the plan needs them: known by the digest of their signed manifest. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "images/store.h"
#include "provisioner/api/api.h"

const char *
bu_api_image_key(const struct bu_api *api, const struct bu_desired_image *image)
{
	return image->key_path ? image->key_path : api->image_key;
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
	ret->has_slurmd = bu_manifest_holds(manifest, "slurmd") != NULL;
	ret->has_kubelet = bu_manifest_holds(manifest, "kubelet") != NULL;
}

const struct bu_plan_image *
bu_api_plan_image(void *arg, const struct bu_desired_image *image, struct bu_err *err)
{
	const struct bu_api *api = arg;
	static struct bu_plan_image found;
	const char *key_path = bu_api_image_key(api, image);
	bu_autofree char *key = bu_file_read(key_path, 65536, NULL, err);
	struct bu_image loaded;

	if (!key) {
		bu_err_wrap(err, "public key of image %s", image->name);
		return NULL;
	}
	if (bu_image_load(image->path ? image->path : api->images_dir, image->name, key,
			  &loaded, err) != 0)
		return NULL;
	memcpy(found.digest, loaded.digest, sizeof(found.digest));
	describe(loaded.manifest, &found);
	bu_image_fini(&loaded);
	return &found;
}
