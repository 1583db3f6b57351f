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
	bu_text_copy(found.kernel, sizeof(found.kernel), loaded.manifest->kernel);
	bu_image_fini(&loaded);
	return &found;
}
