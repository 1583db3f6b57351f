/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads, checks and writes image manifests; used by the builder, the store and the
 * agent. Invariant: a struct bu_manifest that leaves this file has passed every check,
 * so that nobody behind it has to doubt an offset, a size or a name.
 */
#include "images/manifest.h"

#include <ctype.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

#define STORED_MAX (1ULL << 40)

int
bu_image_name_check(const char *name, const char *what, struct bu_err *err)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789._-";

	if (!*name || *name == '.' || *name == '-' || name[strspn(name, allowed)])
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s '%.64s': only a-z, 0-9, '.', '_' and '-' are "
				  "allowed, and no '.' or '-' in front",
				  what, name);
	return 0;
}

uint32_t
bu_frame_bound(uint32_t frame_bytes)
{
	return frame_bytes + (frame_bytes >> 7) + 1024;
}

uint32_t
bu_part_frame_bytes(const struct bu_part *part, size_t index)
{
	uint64_t begin = (uint64_t)index * part->frame_bytes;
	uint64_t left = part->size_bytes - begin;

	return left < part->frame_bytes ? left : part->frame_bytes;
}

uint64_t
bu_part_stored_bytes(const struct bu_part *part)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < part->frame_count; i++)
		sum += part->frames[i].size;
	return sum;
}

static int
check_keys(const json_t *object, size_t count, struct bu_err *err)
{
	if (!json_is_object(object))
		return bu_err_set(err, BU_ERR_INVAL, 0, "not an object");
	if (json_object_size(object) != count)
		return bu_err_set(err, BU_ERR_INVAL, 0, "%zu fields instead of %zu",
				  json_object_size(object), count);
	return 0;
}

static int
get_range(const json_t *object, const char *key, int64_t min, int64_t max, int64_t *ret,
	  struct bu_err *err)
{
	if (bu_json_get_int(object, key, ret, err))
		return -1;
	if (*ret < min || *ret > max)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': %lld is not between %lld and %lld", key,
				  (long long)*ret, (long long)min, (long long)max);
	return 0;
}

static int
check_guid(const char *text, struct bu_err *err)
{
	for (size_t i = 0; i < 36; i++) {
		int dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? text[i] != '-' : !isxdigit((unsigned char)text[i]))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "field 'type': '%s' is not a GUID", text);
	}
	return 0;
}

/* Strings that end up on a console, in a GPT or in a file: printable ASCII. */
static int
copy_text(const json_t *object, const char *key, char *ret, size_t size,
	  struct bu_err *err)
{
	if (bu_json_copy_str(object, key, ret, size, err))
		return -1;
	if (!bu_text_is_ascii(ret))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field '%s': not printable ASCII", key);
	return 0;
}

static int
parse_frame(const json_t *value, struct bu_frame *frame, uint64_t expect_offset,
	    uint32_t bound, struct bu_err *err)
{
	int64_t offset, size;
	uint8_t hash[BU_SHA256_SIZE];

	memset(frame, 0, sizeof(*frame));
	frame->offset = expect_offset;
	if (json_is_null(value))
		return 0;
	if (check_keys(value, 3, err) ||
	    get_range(value, "o", 0, STORED_MAX, &offset, err) ||
	    get_range(value, "n", 1, bound, &size, err) ||
	    bu_json_copy_str(value, "h", frame->digest, sizeof(frame->digest), err))
		return -1;
	if ((uint64_t)offset != expect_offset)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'o': %lld, the frame before ends at %llu",
				  (long long)offset, (unsigned long long)expect_offset);
	if (bu_hex_decode(frame->digest, hash, sizeof(hash)))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'h': not 64 hexadecimal digits");
	bu_hex_encode(hash, sizeof(hash), frame->digest);
	frame->size = size;
	return 0;
}

static int
parse_frames(const json_t *list, struct bu_part *part, struct bu_err *err)
{
	size_t want = (part->size_bytes + part->frame_bytes - 1) / part->frame_bytes;
	uint64_t offset = 0;

	if (!json_is_array(list))
		return bu_err_set(err, BU_ERR_INVAL, 0, "field 'frames': not a list");
	if (json_array_size(list) != want || want > BU_PART_FRAMES_MAX)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"field 'frames': %zu frames, size_bytes needs %zu (at "
			"most %d)",
			json_array_size(list), want, BU_PART_FRAMES_MAX);
	part->frames = bu_xcalloc(want, sizeof(*part->frames));
	part->frame_count = want;
	for (size_t i = 0; i < want; i++) {
		uint32_t bound = bu_frame_bound(bu_part_frame_bytes(part, i));

		if (parse_frame(json_array_get(list, i), &part->frames[i], offset,
				bound, err))
			return bu_err_wrap(err, "frame %zu", i);
		offset += part->frames[i].size;
	}
	return 0;
}

static int
parse_part(const json_t *value, struct bu_part *part, struct bu_err *err)
{
	int64_t size, frame, attrs;
	const json_t *grow;

	if (check_keys(value, 9, err) ||
	    copy_text(value, "name", part->name, sizeof(part->name), err) ||
	    bu_image_name_check(part->name, "field 'name':", err) ||
	    copy_text(value, "file", part->file, sizeof(part->file), err) ||
	    bu_image_name_check(part->file, "field 'file':", err) ||
	    copy_text(value, "label", part->label, sizeof(part->label), err) ||
	    bu_json_copy_str(value, "type", part->type, sizeof(part->type), err) ||
	    check_guid(part->type, err) ||
	    get_range(value, "attrs", 0, INT64_MAX, &attrs, err) ||
	    get_range(value, "size_bytes", 4096, STORED_MAX, &size, err) ||
	    get_range(value, "frame_bytes", 65536, BU_FRAME_BYTES, &frame, err))
		return -1;
	grow = json_object_get(value, "grow");
	if (!json_is_boolean(grow))
		return bu_err_set(err, BU_ERR_INVAL, 0, "field 'grow': not a boolean");
	if (size % 4096)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'size_bytes': not a multiple of 4096");
	if (frame & (frame - 1))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'frame_bytes': not a power of two");
	part->attrs = attrs;
	part->size_bytes = size;
	part->frame_bytes = frame;
	part->grow = json_is_true(grow);
	return parse_frames(json_object_get(value, "frames"), part, err);
}

static int
parse_parts(const json_t *list, struct bu_manifest *manifest, struct bu_err *err)
{
	size_t count = json_array_size(list);

	if (!count || count > BU_IMAGE_PARTS_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'parts': not a list of 1 to %d parts",
				  BU_IMAGE_PARTS_MAX);
	for (size_t i = 0; i < count; i++) {
		struct bu_part *part = &manifest->parts[i];

		manifest->part_count = i + 1;
		if (parse_part(json_array_get(list, i), part, err))
			return bu_err_wrap(err, "part %zu", i);
		if (part->grow && i + 1 < count)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "part %zu: only the last part can grow", i);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(part->name, manifest->parts[k].name) ||
			    !strcmp(part->file, manifest->parts[k].file))
				return bu_err_set(err, BU_ERR_INVAL, 0,
						  "part %zu: name or file of part %zu",
						  i, k);
	}
	return 0;
}

static int
parse_sbom(const json_t *root, struct bu_manifest *manifest, struct bu_err *err)
{
	uint8_t hash[BU_SHA256_SIZE];

	if (!json_object_get(root, "sbom"))
		return 0;
	if (bu_json_copy_str(root, "sbom", manifest->sbom, sizeof(manifest->sbom), err))
		return -1;
	if (bu_hex_decode(manifest->sbom, hash, sizeof(hash)))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'sbom': not 64 hexadecimal digits");
	bu_hex_encode(hash, sizeof(hash), manifest->sbom);
	return 0;
}

/* All of a disk is one part, and nothing of ours is in it. */
static int
parse_disk(const json_t *root, struct bu_manifest *manifest, struct bu_err *err)
{
	const json_t *value = json_object_get(root, "disk");
	const struct bu_part *part = &manifest->parts[0];
	struct bu_whole_disk disk;

	if (!value)
		return 0;
	if (bu_whole_disk_from_json(value, &disk, err))
		return -1;
	if (manifest->part_count != 1 || part->grow ||
	    part->size_bytes - disk.size_bytes >= 4096)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'disk': its bytes are not those of one part");
	manifest->disk = disk;
	return 0;
}

static int
parse_holds(json_t *root, struct bu_manifest *manifest, struct bu_err *err)
{
	json_t *holds = json_object_get(root, "holds"), *value;
	const char *name;

	manifest->described = holds != NULL;
	if (holds &&
	    (!json_is_object(holds) || json_object_size(holds) > BU_IMAGE_HOLDINGS_MAX))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'holds': not an object of at most %d",
				  BU_IMAGE_HOLDINGS_MAX);
	json_object_foreach (holds, name, value) {
		struct bu_holding *at = &manifest->holdings[manifest->holding_count++];

		if (strlen(name) >= sizeof(at->name) ||
		    bu_image_name_check(name, "field 'holds':", NULL))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "field 'holds': '%.40s' is not a name", name);
		bu_text_copy(at->name, sizeof(at->name), name);
		if (copy_text(holds, name, at->version, sizeof(at->version), err))
			return bu_err_wrap(err, "field 'holds'");
	}
	return 0;
}

const char *
bu_manifest_holds(const struct bu_manifest *manifest, const char *name)
{
	for (size_t i = 0; i < manifest->holding_count; i++)
		if (!strcmp(manifest->holdings[i].name, name))
			return manifest->holdings[i].version;
	return NULL;
}

static int
parse_root(json_t *root, struct bu_manifest *manifest, struct bu_err *err)
{
	static const char *const may_miss[] = {"sbom", "holds", "disk", "version"};
	size_t fields = 10;
	const char *kind, *boot_code;
	int64_t version;

	for (size_t i = 0; i < BU_LEN(may_miss); i++)
		fields += json_object_get(root, may_miss[i]) != NULL;
	if (bu_json_get_str(root, "kind", &kind, err) ||
	    bu_json_get_int(root, "v", &version, err))
		return -1;
	if (strcmp(kind, "image") != 0 || version != 1)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"kind '%.20s' version %lld; this program reads 'image' "
			"version 1",
			kind, (long long)version);
	if (check_keys(root, fields, err) || parse_sbom(root, manifest, err) ||
	    parse_holds(root, manifest, err) ||
	    bu_origin_parse(root, &manifest->origin, err) ||
	    copy_text(root, "name", manifest->name, sizeof(manifest->name), err) ||
	    bu_image_name_check(manifest->name, "field 'name':", err) ||
	    copy_text(root, "arch", manifest->arch, sizeof(manifest->arch), err) ||
	    copy_text(root, "kernel", manifest->kernel, sizeof(manifest->kernel),
		      err) ||
	    copy_text(root, "created", manifest->created, sizeof(manifest->created),
		      err) ||
	    copy_text(root, "kargs", manifest->kargs, sizeof(manifest->kargs), err) ||
	    bu_json_get_str(root, "boot_code", &boot_code, err))
		return -1;
	if (bu_hex_decode(boot_code, manifest->boot_code, BU_BOOT_CODE_SIZE))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'boot_code': not %d hexadecimal digits",
				  2 * BU_BOOT_CODE_SIZE);
	return parse_parts(json_object_get(root, "parts"), manifest, err)
		       ? -1
		       : parse_disk(root, manifest, err);
}

struct bu_manifest *
bu_manifest_parse(const char *text, size_t size, struct bu_err *err)
{
	bu_autojson json_t *root = bu_json_parse(text, size, "image manifest", err);
	struct bu_manifest *manifest;

	if (!root)
		return NULL;
	manifest = bu_xcalloc(1, sizeof(*manifest));
	if (parse_root(root, manifest, err)) {
		bu_err_wrap(err, "image manifest");
		bu_manifest_destroy(manifest);
		return NULL;
	}
	return manifest;
}

static json_t *
part_to_json(const struct bu_part *part)
{
	json_t *frames = json_array();

	for (size_t i = 0; i < part->frame_count; i++) {
		const struct bu_frame *frame = &part->frames[i];

		json_array_append_new(
			frames, frame->size ? json_pack("{s:I, s:I, s:s}", "o",
							(json_int_t)frame->offset, "n",
							(json_int_t)frame->size, "h",
							frame->digest)
					    : json_null());
	}
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:b, s:o}", "name",
			 part->name, "type", part->type, "label", part->label, "attrs",
			 (json_int_t)part->attrs, "size_bytes",
			 (json_int_t)part->size_bytes, "frame_bytes",
			 (json_int_t)part->frame_bytes, "file", part->file, "grow",
			 part->grow, "frames", frames);
}

json_t *
bu_manifest_to_json(const struct bu_manifest *manifest)
{
	char boot_code[2 * BU_BOOT_CODE_SIZE + 1];
	json_t *parts = json_array(), *value, *holds;

	bu_hex_encode(manifest->boot_code, BU_BOOT_CODE_SIZE, boot_code);
	for (size_t i = 0; i < manifest->part_count; i++)
		json_array_append_new(parts, part_to_json(&manifest->parts[i]));
	value = json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "v", 1,
			  "kind", "image", "name", manifest->name, "arch",
			  manifest->arch, "kernel", manifest->kernel, "created",
			  manifest->created, "kargs", manifest->kargs, "boot_code",
			  boot_code, "parts", parts);
	if (manifest->sbom[0])
		json_object_set_new(value, "sbom", json_string(manifest->sbom));
	bu_origin_to_json(&manifest->origin, value);
	if (manifest->disk.sector_bytes)
		json_object_set_new(value, "disk",
				    bu_whole_disk_to_json(&manifest->disk));
	if (!manifest->described)
		return value;
	holds = json_object();
	for (size_t i = 0; i < manifest->holding_count; i++)
		json_object_set_new(holds, manifest->holdings[i].name,
				    json_string(manifest->holdings[i].version));
	json_object_set_new(value, "holds", holds);
	return value;
}

void
bu_manifest_destroy(struct bu_manifest *manifest)
{
	if (!manifest)
		return;
	for (size_t i = 0; i < manifest->part_count; i++)
		free(manifest->parts[i].frames);
	free(manifest);
}

/* One word of the signatures' text against one key of the bundle. */
static int
verify_one(const char *text, size_t size, const char *sig, size_t length,
	   const char *pem, struct bu_err *err)
{
	char word[BU_SIG_HEX_SIZE];

	if (length >= sizeof(word))
		return bu_err_set(err, BU_ERR_VERIFY, 0, "the signature is too long");
	memcpy(word, sig, length);
	word[length] = '\0';
	return bu_verify(pem, text, size, word, err);
}

int
bu_manifest_verify(const char *text, size_t size, const char *sigs,
		   const char *public_pems, struct bu_err *err)
{
	static const char blank[] = " \t\r\n", end[] = "-----END";
	const char *pem = public_pems, *next;
	struct bu_err why = {0};
	size_t keys = 0;

	do {
		bu_autofree char *key = NULL;

		next = strstr(pem, end);
		next = next ? strchr(next, '\n') : NULL;
		next = next ? next + strspn(next, blank) : pem + strlen(pem);
		key = bu_xstrndup(pem, (size_t)(next - pem));
		keys++;
		for (const char *at = sigs + strspn(sigs, blank);;) {
			size_t length = strcspn(at, blank);

			if (!verify_one(text, size, at, length, key, &why))
				return 0;
			at += length + strspn(at + length, blank);
			if (!*at)
				break;
		}
		pem = next;
	} while (*pem && keys < BU_IMAGE_KEYS_MAX);
	if (err)
		*err = why;
	if (keys > 1 && why.kind == BU_ERR_VERIFY)
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "no signature is of any of the %zu keys over this data",
			   keys);
	return bu_err_wrap(err, "image manifest");
}
