/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: the manifest of an image. What parses is written and parses the same again.
 */
#include <stdint.h>
#include <string.h>

#include "base/json.h"
#include "images/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bu_manifest *manifest =
		bu_manifest_parse((const char *)data, size, NULL);
	struct bu_manifest *again;

	if (manifest) {
		bu_autojson json_t *json = bu_manifest_to_json(manifest);
		bu_autojson json_t *json_again = NULL;
		bu_autofree char *text = bu_json_canonical(json);

		again = bu_manifest_parse(text, strlen(text), NULL);
		bu_assert(again != NULL);
		json_again = bu_manifest_to_json(again);
		bu_assert(json_equal(json, json_again));
		bu_manifest_destroy(again);
		bu_manifest_destroy(manifest);
	}
	return 0;
}
