/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads and writes what a manifest says of an image's sources; manifest.c calls it, and
 * the builder, which adds them. Invariant: a source that leaves this file has the host
 * and the digest of its kind, and texts that can be shown.
 */
#include "images/origin.h"

#include <string.h>

#include "base/json.h"
#include "base/text.h"

static const struct {
	const char *word;
	int has_host, has_digest;
} kinds[] = {
#define X(id, word, host, digest) {word, host, digest},
	BU_IMAGE_SOURCES(X)
#undef X
};

const char *const bu_source_kinds[] = {
#define X(id, word, host, digest) word,
	BU_IMAGE_SOURCES(X)
#undef X
		NULL,
};

/* Printable ASCII; it may be missing where nobody needs it. */
static int
take_text(const json_t *source, const char *key, int needed, char *ret, size_t size,
	  struct bu_err *err)
{
	if (!needed && !json_object_get(source, key))
		return 0;
	if (bu_json_copy_str(source, key, ret, size, err))
		return -1;
	if (!bu_text_is_ascii(ret))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': not printable ASCII", key);
	return 0;
}

static int
take_kind(const json_t *source, enum bu_source_kind *ret, struct bu_err *err)
{
	const char *word;

	if (bu_json_get_str(source, "kind", &word, err))
		return -1;
	for (size_t i = 0; i < BU_SOURCE_KINDS; i++)
		if (!strcmp(kinds[i].word, word)) {
			*ret = (enum bu_source_kind)i;
			return 0;
		}
	return bu_err_set(err, BU_ERR_INVAL, 0, "field 'kind': '%.20s' is none", word);
}

static int
take_digest(const json_t *source, char ret[BU_DIGEST_SIZE], struct bu_err *err)
{
	uint8_t hash[BU_SHA256_SIZE];

	if (bu_json_copy_str(source, "digest", ret, BU_DIGEST_SIZE, err))
		return -1;
	if (bu_hex_decode(ret, hash, sizeof(hash)))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'digest': not 64 hexadecimal digits");
	bu_hex_encode(hash, sizeof(hash), ret);
	return 0;
}

static int
take_source(const json_t *source, struct bu_image_source *ret, struct bu_err *err)
{
	size_t fields;

	if (!json_is_object(source))
		return bu_err_set(err, BU_ERR_INVAL, 0, "not an object");
	if (take_kind(source, &ret->kind, err) ||
	    take_text(source, "name", 1, ret->name, sizeof(ret->name), err))
		return -1;
	fields = 2 + kinds[ret->kind].has_host + kinds[ret->kind].has_digest;
	if (json_object_size(source) != fields)
		return bu_err_set(
			err, BU_ERR_INVAL, 0, "%zu fields, and kind '%s' has %zu",
			json_object_size(source), kinds[ret->kind].word, fields);
	if (kinds[ret->kind].has_host &&
	    take_text(source, "host", 1, ret->host, sizeof(ret->host), err))
		return -1;
	if (kinds[ret->kind].has_host && !ret->host[0])
		return bu_err_set(err, BU_ERR_INVAL, 0, "field 'host': it is empty");
	return kinds[ret->kind].has_digest ? take_digest(source, ret->digest, err) : 0;
}

int
bu_origin_parse(const json_t *manifest, struct bu_image_origin *ret, struct bu_err *err)
{
	const json_t *list = json_object_get(manifest, "sources");
	size_t count = json_array_size(list);

	if (take_text(manifest, "version", 0, ret->version, sizeof(ret->version), err))
		return -1;
	if (!count || count > BU_IMAGE_SOURCES_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'sources': not a list of 1 to %d",
				  BU_IMAGE_SOURCES_MAX);
	for (size_t i = 0; i < count; i++)
		if (take_source(json_array_get(list, i), &ret->sources[i], err))
			return bu_err_wrap(err, "field 'sources': source %zu", i);
	ret->source_count = count;
	return 0;
}

void
bu_origin_to_json(const struct bu_image_origin *origin, json_t *manifest)
{
	json_t *list = json_array();

	if (origin->version[0])
		json_object_set_new(manifest, "version", json_string(origin->version));
	for (size_t i = 0; i < origin->source_count; i++) {
		const struct bu_image_source *source = &origin->sources[i];
		json_t *value =
			json_pack("{s:s, s:s}", "kind", kinds[source->kind].word,
				  "name", source->name);

		if (kinds[source->kind].has_host)
			json_object_set_new(value, "host", json_string(source->host));
		if (kinds[source->kind].has_digest)
			json_object_set_new(value, "digest",
					    json_string(source->digest));
		json_array_append_new(list, value);
	}
	json_object_set_new(manifest, "sources", list);
}

void
bu_origin_version(struct bu_image_origin *origin, const char *version)
{
	if (strlen(version) < sizeof(origin->version) && bu_text_is_ascii(version))
		bu_text_copy(origin->version, sizeof(origin->version), version);
}

struct bu_image_source *
bu_origin_add(struct bu_image_origin *origin, enum bu_source_kind kind,
	      const char *name, struct bu_err *err)
{
	struct bu_image_source *source;

	if (origin->source_count == BU_IMAGE_SOURCES_MAX) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "an image has at most %d sources; its manifest names each",
			   BU_IMAGE_SOURCES_MAX);
		return NULL;
	}
	source = &origin->sources[origin->source_count++];
	memset(source, 0, sizeof(*source));
	source->kind = kind;
	bu_text_copy(source->name, sizeof(source->name), name);
	for (char *at = source->name; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
	return source;
}
