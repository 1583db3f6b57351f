/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest: what is written is read again, and each kind of nonsense is refused. */
#include "images/manifest.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "tests/support/unit.h"

#define HASH "ab5df625bc76dbd4e163bed2dd888df828f90159bb93556525c31821b6541d46"

static json_t *
good(void)
{
	char boot[2 * BU_BOOT_CODE_SIZE + 1];

	memset(boot, 'e', sizeof(boot) - 1);
	boot[sizeof(boot) - 1] = '\0';
	return json_pack(
		"{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s,"
		" s:[{s:s, s:s, s:s, s:i, s:i, s:i, s:s, s:b, s:[{s:i, s:i, s:s}]},"
		"    {s:s, s:s, s:s, s:i, s:i, s:i, s:s, s:b,"
		"     s:[{s:i, s:i, s:s}, n, {s:i, s:i, s:s}]}],"
		" s:[{s:s, s:s, s:s}]}",
		"v", 1, "kind", "image", "name", "debian12", "arch", "amd64", "kernel",
		"6.1.0-1-amd64", "created", "2026-11-21T15:04:05Z", "kargs", "quiet",
		"boot_code", boot, "parts", "name", "esp", "type",
		"C12A7328-F81F-11D2-BA4B-00A0C93EC93B", "label", "ESP", "attrs", 4,
		"size_bytes", 1048576, "frame_bytes", 4194304, "file", "esp.frames",
		"grow", 0, "frames", "o", 0, "n", 100, "h", HASH, "name", "root",
		"type", "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709", "label", "root",
		"attrs", 0, "size_bytes", 9437184, "frame_bytes", 4194304, "file",
		"root.frames", "grow", 1, "frames", "o", 0, "n", 7, "h", HASH, "o", 7,
		"n", 5, "h", HASH, "sources", "kind", "recipe", "name", "debian12",
		"digest", HASH);
}

static struct bu_manifest *
parse(const json_t *value, struct bu_err *err)
{
	bu_autofree char *text = bu_json_canonical(value);

	return bu_manifest_parse(text, strlen(text), err);
}

START_TEST(reads_what_it_wrote)
{
	bu_autojson json_t *value = good();
	bu_autojson json_t *again = NULL;
	struct bu_err err = {0};
	struct bu_manifest *manifest = parse(value, &err);

	ck_assert_msg(manifest != NULL, "%s", err.text);
	ck_assert_int_eq(manifest->part_count, 2);
	ck_assert_int_eq(manifest->parts[1].frame_count, 3);
	ck_assert_int_eq(manifest->parts[1].frames[1].size, 0);
	ck_assert_int_eq(manifest->parts[1].frames[2].offset, 7);
	ck_assert_int_eq(bu_part_frame_bytes(&manifest->parts[1], 2), 1048576);
	ck_assert_int_eq(bu_part_stored_bytes(&manifest->parts[1]), 12);
	again = bu_manifest_to_json(manifest);
	ck_assert(json_equal(value, again));
	bu_manifest_destroy(manifest);
}
END_TEST

START_TEST(says_what_it_holds)
{
	bu_autojson json_t *value = good();
	bu_autojson json_t *again = NULL;
	struct bu_err err = {0};
	struct bu_manifest *manifest = parse(value, &err);

	ck_assert_int_eq(manifest->described, 0);
	bu_manifest_destroy(manifest);
	json_object_set_new(value, "sbom", json_string(HASH));
	json_object_set_new(value, "holds",
			    json_pack("{s:s, s:s}", "driver", "535.1", "slurmd", ""));
	manifest = parse(value, &err);
	ck_assert_msg(manifest != NULL, "%s", err.text);
	ck_assert_int_eq(manifest->described, 1);
	ck_assert_str_eq(manifest->sbom, HASH);
	ck_assert_str_eq(bu_manifest_holds(manifest, "driver"), "535.1");
	ck_assert_str_eq(bu_manifest_holds(manifest, "slurmd"), "");
	ck_assert_ptr_null(bu_manifest_holds(manifest, "kubelet"));
	again = bu_manifest_to_json(manifest);
	ck_assert(json_equal(value, again));
	bu_manifest_destroy(manifest);
}
END_TEST

#define SOURCES                                                                        \
	"[{\"kind\":\"oci\",\"name\":\"oci://reg:5000/a:1\",\"host\":\"reg:5000\","    \
	"\"digest\":\"" HASH "\"},{\"kind\":\"mirror\",\"name\":\"http://m/d s\","     \
	"\"host\":\"m\"},{\"kind\":\"tar\",\"name\":\"\",\"digest\":\"" HASH "\"}]"

START_TEST(says_what_it_is_made_of)
{
	bu_autojson json_t *value = good();
	bu_autojson json_t *again = NULL;
	struct bu_err err = {0};
	struct bu_manifest *manifest = parse(value, &err);

	ck_assert_str_eq(manifest->origin.version, "");
	ck_assert_uint_eq(manifest->origin.source_count, 1);
	bu_manifest_destroy(manifest);
	json_object_set_new(value, "version", json_string("1.4"));
	json_object_set_new(value, "sources", json_loads(SOURCES, 0, NULL));
	manifest = parse(value, &err);
	ck_assert_msg(manifest != NULL, "%s", err.text);
	ck_assert_str_eq(manifest->origin.version, "1.4");
	ck_assert_uint_eq(manifest->origin.source_count, 3);
	ck_assert_int_eq(manifest->origin.sources[0].kind, BU_SOURCE_OCI);
	ck_assert_str_eq(manifest->origin.sources[0].name, "oci://reg:5000/a:1");
	ck_assert_str_eq(manifest->origin.sources[0].host, "reg:5000");
	ck_assert_str_eq(manifest->origin.sources[0].digest, HASH);
	ck_assert_str_eq(manifest->origin.sources[1].digest, "");
	ck_assert_str_eq(manifest->origin.sources[2].host, "");
	again = bu_manifest_to_json(manifest);
	ck_assert(json_equal(value, again));
	bu_manifest_destroy(manifest);
}
END_TEST

START_TEST(sources_have_a_bound)
{
	bu_autofree struct bu_image_origin *origin = bu_xcalloc(1, sizeof(*origin));
	struct bu_image_source *source;
	struct bu_err err = {0};

	for (int i = 0; i < BU_IMAGE_SOURCES_MAX; i++) {
		source = bu_origin_add(origin, BU_SOURCE_TAR, "a\n\xff.tar", &err);
		ck_assert_str_eq(source->name, "a????.tar");
	}
	ck_assert_ptr_null(bu_origin_add(origin, BU_SOURCE_TAR, "b", &err));
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	bu_origin_version(origin, "1.4");
	bu_origin_version(origin, "5\033[2J");
	ck_assert_str_eq(origin->version, "1.4");
}
END_TEST

/* One part, which may end up to a block behind the disk, and nothing of ours. */
START_TEST(a_disk_is_one_part)
{
	static const struct {
		int64_t size_bytes;
		int grow, good;
	} rows[] = {
		{9437184, 0, 1},       {9437184 - 3584, 0, 1}, {9437184 - 4096, 0, 0},
		{9437184 + 512, 0, 0}, {9437184, 1, 0},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *value = good(), *again = NULL;
		json_t *parts = json_object_get(value, "parts");
		struct bu_manifest *manifest;

		json_array_remove(parts, 0);
		json_object_set_new(json_array_get(parts, 0), "grow",
				    json_boolean(rows[i].grow));
		json_object_set_new(
			value, "disk",
			json_pack("{s:i, s:I, s:s}", "sector_bytes", 512, "size_bytes",
				  (json_int_t)rows[i].size_bytes, "sha256", HASH));
		manifest = parse(value, NULL);
		ck_assert_msg(!manifest == !rows[i].good, "row %zu", i);
		again = manifest ? bu_manifest_to_json(manifest) : NULL;
		ck_assert(!manifest || json_equal(value, again));
		bu_manifest_destroy(manifest);
	}
}
END_TEST

/* Each row changes one field of the good manifest; the error must name it. */
static const struct {
	const char *where; /* "" = root, "0" and "1" = part, "f" = frame 2 of part 1 */
	const char *key;
	const char *value; /* JSON; NULL = removed */
	const char *expect;
} wrong[] = {
	{"", "kind", "\"disk\"", "kind"},
	{"", "v", "2", "version"},
	{"", "extra", "1", "fields"},
	{"", "name", "\"../up\"", "name"},
	{"", "name", "\"\"", "name"},
	{"", "arch", "\"a\\u0007\"", "arch"},
	{"", "kernel", NULL, "field"},
	{"", "boot_code", "\"00\"", "boot_code"},
	{"", "parts", "[]", "parts"},
	{"", "parts", "{}", "parts"},
	{"0", "name", "\"root\"", "part 1"},
	{"0", "file", "\"root.frames\"", "part 1"},
	{"0", "file", "\"/etc/passwd\"", "file"},
	{"0", "file", "\".hidden\"", "file"},
	{"0", "type", "\"C12A7328xF81F-11D2-BA4B-00A0C93EC93B\"", "type"},
	{"0", "type", "\"short\"", "type"},
	{"0", "label", "\"0123456789012345678901234567890123456789\"", "label"},
	{"0", "attrs", "-1", "attrs"},
	{"0", "grow", "true", "last part"},
	{"0", "grow", "1", "grow"},
	{"1", "size_bytes", "9437185", "size_bytes"},
	{"1", "size_bytes", "0", "size_bytes"},
	{"1", "size_bytes", "-4096", "size_bytes"},
	{"1", "size_bytes", "1e300", "size_bytes"},
	{"1", "size_bytes", "1048576", "frames"},
	{"1", "size_bytes", "999999995904", "frames"},
	{"1", "frame_bytes", "65537", "frame_bytes"},
	{"1", "frame_bytes", "4096", "frame_bytes"},
	{"1", "frame_bytes", "8388608", "not between 65536 and 4194304"},
	{"1", "frame_bytes", "1073741824", "frame_bytes"},
	{"1", "frames", "null", "frames"},
	{"f", "o", "6", "frame 2"},
	{"f", "o", "8", "frame 2"},
	{"f", "o", "-1", "frame 2"},
	{"f", "n", "0", "frame 2"},
	{"f", "n", "99999999", "frame 2"},
	{"f", "h", "\"ab\"", "frame 2"},
	{"f", "h",
	 "\"zz5df625bc76dbd4e163bed2dd888df828f90159bb93556525c31821b6541d46\"",
	 "frame 2"},
	{"f", "x", "1", "frame 2"},
	{"", "sbom", "\"ab\"", "sbom"},
	{"", "sbom", "1", "sbom"},
	{"", "disk", "1", "disk"},
	{"", "disk", "{\"sector_bytes\":512,\"size_bytes\":9437184}", "disk"},
	{"", "disk",
	 "{\"sector_bytes\":513,\"size_bytes\":9437184,\"sha256\":\"" HASH "\"}",
	 "sector_bytes (512 or 4096)"},
	{"", "disk",
	 "{\"sector_bytes\":512,\"size_bytes\":-512,\"sha256\":\"" HASH "\"}",
	 "size_bytes in sectors"},
	{"", "disk", "{\"sector_bytes\":512,\"size_bytes\":9437184,\"sha256\":\"zz\"}",
	 "sha256"},
	{"", "disk",
	 "{\"sector_bytes\":512,\"size_bytes\":9437184,\"sha256\":\"" HASH "\"}",
	 "not those of one part"},
	{"", "version", "1", "version"},
	{"", "version", "\"1\\u001b[2J\"", "version"},
	{"", "version",
	 "\"0123456789012345678901234567890123456789012345678901234567890123\"",
	 "version"},
	{"", "sources", NULL, "fields"},
	{"", "agent", "\"brought\"", "fields"},
	{"", "sources", "[]", "sources"},
	{"", "sources", "{}", "sources"},
	{"", "sources", "\"oci://reg/a\"", "sources"},
	{"", "sources", "[1]", "source 0: not an object"},
	{"", "sources",
	 "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
	 "1 to 32"},
	{"", "sources", "[{\"name\":\"a\",\"digest\":\"" HASH "\"}]", "kind"},
	{"", "sources", "[{\"kind\":\"ftp\",\"name\":\"a\",\"digest\":\"" HASH "\"}]",
	 "'ftp' is none"},
	{"", "sources", "[{\"kind\":\"tar\",\"digest\":\"" HASH "\"}]", "name"},
	{"", "sources", "[{\"kind\":\"tar\",\"name\":\"a\"}]", "kind 'tar' has 3"},
	{"", "sources", "[{\"kind\":\"tar\",\"name\":\"a\",\"digest\":\"ab\"}]",
	 "digest"},
	{"", "sources",
	 "[{\"kind\":\"tar\",\"name\":\"a\\u0007\",\"digest\":\"" HASH "\"}]", "name"},
	{"", "sources",
	 "[{\"kind\":\"oci\",\"name\":\"oci://a/b\",\"digest\":\"" HASH "\"}]",
	 "kind 'oci' has 4"},
	{"", "sources",
	 "[{\"kind\":\"oci\",\"name\":\"oci://a/b\",\"host\":\"\",\"digest\":\"" HASH
	 "\"}]",
	 "host"},
	{"", "sources", "[{\"kind\":\"mirror\",\"name\":\"a\",\"host\":\"h\\u001b\"}]",
	 "host"},
	{"", "sources",
	 "[{\"kind\":\"tar\",\"name\":\"a\",\"digest\":\"" HASH "\"},"
	 "{\"kind\":\"tar\",\"name\":\"a\",\"host\":\"h\",\"digest\":\"" HASH "\"}]",
	 "source 1"},
	{"", "holds", "[]", "holds"},
	{"", "holds", "{\"../up\": \"1\"}", "holds"},
	{"", "holds", "{\"driver\": 535}", "holds"},
	{"", "holds", "{\"driver\": \"5\\u001b[2J\"}", "holds"},
	{"", "holds",
	 "{\"a0\":\"\",\"b0\":\"\",\"c0\":\"\",\"d0\":\"\",\"e0\":\"\",\"f0\":\"\",\"g0\":\"\",\"h0\":\"\",\"i0\":\"\",\"j0\":\"\",\"k0\":\"\",\"l0\":\"\",\"m0\":\"\",\"n0\":\"\",\"o0\":\"\",\"p0\":\"\",\"q0\":\"\",\"r0\":\"\",\"s0\":\"\",\"t0\":\"\",\"u0\":\"\",\"v0\":\"\",\"w0\":\"\",\"x0\":\"\",\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\",\"e\":\"\",\"f\":\"\","
	 "\"g\":\"\",\"h\":\"\",\"i\":\"\"}",
	 "holds"},
};

START_TEST(refuses_nonsense)
{
	for (size_t i = 0; i < BU_LEN(wrong); i++) {
		bu_autojson json_t *root = good();
		json_t *parts = json_object_get(root, "parts");
		json_t *at = root;
		struct bu_err err = {0};
		struct bu_manifest *manifest;

		if (*wrong[i].where == 'f')
			at = json_array_get(
				json_object_get(json_array_get(parts, 1), "frames"), 2);
		else if (*wrong[i].where)
			at = json_array_get(parts, *wrong[i].where - '0');
		if (wrong[i].value)
			json_object_set_new(
				at, wrong[i].key,
				json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
		else
			json_object_del(at, wrong[i].key);
		manifest = parse(root, &err);
		ck_assert_msg(!manifest, "row %zu (%s) was accepted", i, wrong[i].key);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
		ck_assert_msg(strstr(err.text, wrong[i].expect) != NULL, "row %zu: %s",
			      i, err.text);
	}
}
END_TEST

START_TEST(signature_is_of_the_bytes)
{
	bu_autofree char *key = NULL;
	bu_autofree char *pub = NULL;
	char sig[BU_SIG_HEX_SIZE];
	char padded[BU_SIG_HEX_SIZE + 2];
	struct bu_err err = {0};

	ck_assert_int_eq(bu_sign_key_create(&key, &pub, &err), 0);
	ck_assert_int_eq(bu_sign(key, "text", 4, sig, &err), 0);
	snprintf(padded, sizeof(padded), "%s\n", sig);
	ck_assert_int_eq(bu_manifest_verify("text", 4, padded, pub, &err), 0);
	ck_assert_int_eq(bu_manifest_verify("texT", 4, padded, pub, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_int_eq(bu_manifest_verify("text", 4, "", pub, &err), -1);
}
END_TEST

BU_UNIT("manifest", reads_what_it_wrote, says_what_it_holds, says_what_it_is_made_of,
	sources_have_a_bound, a_disk_is_one_part, refuses_nonsense,
	signature_is_of_the_bytes)
