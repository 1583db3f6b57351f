/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer: the documents of an OCI image. What leaves them can be a file name. */
#include <stdint.h>
#include <string.h>

#include "images/build/oci_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(const char *digest)
{
	bu_assert(strlen(digest) == BU_DIGEST_SIZE - 1);
	bu_assert(digest[strspn(digest, "0123456789abcdef")] == '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bu_oci_manifest manifest;
	static struct bu_oci_config config;
	const struct bu_oci_want want = {.arch = "amd64"},
				 tagged = {"latest", "amd64", "v3"};
	const char *text = (const char *)data;
	struct bu_oci_desc desc;
	enum bu_oci_kind kind;

	if (!bu_oci_kind(text, size, &kind, NULL))
		bu_assert(kind <= BU_OCI_LAYER);
	if (!bu_oci_index(text, size, &want, &desc, NULL))
		check(desc.digest);
	if (!bu_oci_index(text, size, &tagged, &desc, NULL))
		check(desc.digest);
	if (!bu_oci_manifest(text, size, &manifest, NULL))
		for (size_t i = 0; i < manifest.layer_count; i++)
			check(manifest.layers[i].digest);
	for (size_t layers = 1; layers <= 2; layers++)
		if (!bu_oci_config(text, size, layers, &config, NULL))
			check(config.diff_ids[layers - 1]);
	return 0;
}
