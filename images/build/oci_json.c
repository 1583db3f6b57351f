/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the documents of OCI images; oci.c calls it with what a registry or a folder
 * gave. Invariant: a digest that leaves this file is 64 lower-case digits, so that it
 * can be a file name, and a count fits its table.
 */
#include "images/build/oci_json_impl.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"

static const struct {
	const char *type;
	enum bu_oci_kind kind;
} types[] = {
	{"application/vnd.oci.image.index.v1+json", BU_OCI_INDEX},
	{"application/vnd.docker.distribution.manifest.list.v2+json", BU_OCI_INDEX},
	{"application/vnd.oci.image.manifest.v1+json", BU_OCI_MANIFEST},
	{"application/vnd.docker.distribution.manifest.v2+json", BU_OCI_MANIFEST},
	{"application/vnd.oci.image.config.v1+json", BU_OCI_CONFIG},
	{"application/vnd.docker.container.image.v1+json", BU_OCI_CONFIG},
	{"application/vnd.oci.image.layer.v1.tar", BU_OCI_LAYER},
	{"application/vnd.oci.image.layer.v1.tar+gzip", BU_OCI_LAYER},
	{"application/vnd.oci.image.layer.v1.tar+zstd", BU_OCI_LAYER},
	{"application/vnd.docker.image.rootfs.diff.tar.gzip", BU_OCI_LAYER},
	{"application/vnd.docker.image.rootfs.diff.tar.zstd", BU_OCI_LAYER},
};

static int
find_kind(const char *type, enum bu_oci_kind *ret, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(types); i++)
		if (!strcmp(types[i].type, type)) {
			*ret = types[i].kind;
			return 0;
		}
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "media type '%.100s' is none of an image's", type);
}

int
bu_oci_digest(const char *text, char ret_digest[BU_DIGEST_SIZE], struct bu_err *err)
{
	static const char prefix[] = "sha256:";
	const char *hex = text + sizeof(prefix) - 1;

	if (strncmp(text, prefix, sizeof(prefix) - 1) != 0 ||
	    strlen(hex) != BU_DIGEST_SIZE - 1 || !bu_text_is(hex, "0123456789abcdef"))
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "digest '%.100s': 'sha256:' and 64 digits are needed",
				  text);
	memcpy(ret_digest, hex, BU_DIGEST_SIZE);
	return 0;
}

json_t *
bu_oci_parse(const char *text, size_t size, const char *what, struct bu_err *err)
{
	json_t *value =
		size <= BU_OCI_JSON_MAX ? bu_json_parse(text, size, what, err) : NULL;

	if (size > BU_OCI_JSON_MAX)
		bu_err_set(err, BU_ERR_VERIFY, 0, "%s: %zu bytes are too many", what,
			   size);
	if (value && !json_is_object(value)) {
		bu_err_set(err, BU_ERR_VERIFY, 0, "%s: it is not an object", what);
		json_decref(value);
		return NULL;
	}
	if (!value && err)
		err->kind = BU_ERR_VERIFY;
	return value;
}

int
bu_oci_read_desc(const json_t *value, struct bu_oci_desc *ret, struct bu_err *err)
{
	const char *type, *digest;
	int64_t size;

	if (bu_json_get_str(value, "mediaType", &type, err) ||
	    bu_json_get_str(value, "digest", &digest, err) ||
	    bu_json_get_int(value, "size", &size, err)) {
		if (err)
			err->kind = BU_ERR_VERIFY;
		return -1;
	}
	if (size < 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0, "field 'size': %lld",
				  (long long)size);
	ret->size = (uint64_t)size;
	return find_kind(type, &ret->kind, err) ||
			       bu_oci_digest(digest, ret->digest, err)
		       ? -1
		       : 0;
}

static int
read_kind(const json_t *value, enum bu_oci_kind kind, struct bu_oci_desc *ret,
	  struct bu_err *err)
{
	if (bu_oci_read_desc(value, ret, err))
		return -1;
	if (ret->kind != kind)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "its media type is another kind's");
	return 0;
}

/* --- manifest and configuration --- */

int
bu_oci_manifest(const char *text, size_t size, struct bu_oci_manifest *ret,
		struct bu_err *err)
{
	bu_autojson json_t *root = bu_oci_parse(text, size, "image manifest", err);
	const json_t *layers = json_object_get(root, "layers");

	memset(ret, 0, sizeof(*ret));
	if (!root)
		return -1;
	if (bu_json_int(root, "schemaVersion", 0) != 2)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "image manifest: schemaVersion is not 2");
	if (read_kind(json_object_get(root, "config"), BU_OCI_CONFIG, &ret->config,
		      err))
		return bu_err_wrap(err, "image manifest: config");
	if (!json_array_size(layers) || json_array_size(layers) > BU_OCI_LAYERS_MAX)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "image manifest: %zu layers; 1 to %d are possible",
				  json_array_size(layers), BU_OCI_LAYERS_MAX);
	ret->layer_count = json_array_size(layers);
	for (size_t i = 0; i < ret->layer_count; i++)
		if (read_kind(json_array_get(layers, i), BU_OCI_LAYER, &ret->layers[i],
			      err))
			return bu_err_wrap(err, "image manifest: layer %zu", i + 1);
	return 0;
}

static void
take_version(const json_t *root, struct bu_oci_config *ret)
{
	const json_t *labels =
		json_object_get(json_object_get(root, "config"), "Labels");
	const char *version =
		bu_json_str(labels, "org.opencontainers.image.version", "");

	if (strlen(version) < sizeof(ret->version) && bu_text_is_ascii(version))
		BU_TEXT_COPY(ret->version, version);
}

int
bu_oci_config(const char *text, size_t size, size_t layers, struct bu_oci_config *ret,
	      struct bu_err *err)
{
	bu_autojson json_t *root = bu_oci_parse(text, size, "image configuration", err);
	const json_t *rootfs = json_object_get(root, "rootfs");
	const json_t *ids = json_object_get(rootfs, "diff_ids");

	memset(ret, 0, sizeof(*ret));
	if (!root)
		return -1;
	if (strcmp(bu_json_str(root, "os", ""), "linux") != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "image configuration: it is not for linux");
	if (bu_json_copy_str(root, "architecture", ret->arch, sizeof(ret->arch), err)) {
		if (err)
			err->kind = BU_ERR_VERIFY;
		return bu_err_wrap(err, "image configuration");
	}
	if (json_array_size(ids) != layers || layers > BU_OCI_LAYERS_MAX)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "image configuration: %zu diff_ids for %zu layers",
				  json_array_size(ids), layers);
	bu_text_copy(ret->variant, sizeof(ret->variant),
		     bu_json_str(root, "variant", ""));
	take_version(root, ret);
	ret->layer_count = layers;
	for (size_t i = 0; i < layers; i++) {
		const char *id = json_string_value(json_array_get(ids, i));

		if (bu_oci_digest(id ? id : "", ret->diff_ids[i], err))
			return bu_err_wrap(err, "image configuration: diff_id %zu",
					   i + 1);
	}
	return 0;
}

int
bu_oci_kind(const char *text, size_t size, enum bu_oci_kind *ret, struct bu_err *err)
{
	bu_autojson json_t *root = bu_oci_parse(text, size, "image document", err);
	const char *type = bu_json_str(root, "mediaType", "");

	if (!root)
		return -1;
	if (*type)
		return find_kind(type, ret, err);
	*ret = json_object_get(root, "manifests") ? BU_OCI_INDEX : BU_OCI_MANIFEST;
	return 0;
}
