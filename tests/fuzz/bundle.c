/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: the list of an agent's bundle. Of what parses, each path stays below a slot.
 */
#include <stdint.h>
#include <string.h>

#include "base/path.h"
#include "images/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bu_bundle bundle;

	if (bu_bundle_parse((const char *)data, size, &bundle, NULL) != 0)
		return 0;
	bu_assert(bu_bundle_find(&bundle, "bringup-agent"));
	for (size_t i = 0; i < bundle.files_count; i++) {
		bu_autofree char *path = bu_xasprintf("/slot/%s", bundle.files[i].path);

		bu_assert(bu_path_is_below(path, "/slot"));
		bu_assert(strlen(bundle.files[i].sha256) == 64);
	}
	bu_bundle_fini(&bundle);
	return 0;
}
