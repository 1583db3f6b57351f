/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images in OCI's layout: a good one becomes its folder, and each lie on the way from
 * the reference to the last byte is refused where it is told.
 */
#include "images/build/oci.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <zstd.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/tar.h"
#include "tests/support/unit.h"

/* What is wrong with it; one at a time. */
enum lie {
	LIE_NONE,
	LIE_LAYER_BYTES,    /* a byte of a layer's blob */
	LIE_LAYER_SIZE,     /* its size in the manifest */
	LIE_LAYER_CUT,      /* the blob is shorter */
	LIE_LAYER_LINK,     /* the blob is a symbolic link */
	LIE_LAYER_GONE,     /* there is none */
	LIE_DIFF_ID,        /* what it unpacks to */
	LIE_DIFF_IDS,       /* one too few */
	LIE_CONFIG_BYTES,   /* a byte of the configuration */
	LIE_MANIFEST_BYTES, /* of the manifest */
	LIE_ARCH,           /* of another processor, in the configuration */
	LIE_OS,
	LIE_PLATFORM,  /* in the index */
	LIE_TYPE,      /* a layer of an unknown type */
	LIE_FOREIGN,   /* a layer that lies elsewhere */
	LIE_ALGORITHM, /* sha512 */
	LIE_PATH,      /* a digest that is a path */
	LIE_NEGATIVE,  /* size */
	LIE_SCHEMA,
	LIE_LAYERS, /* none */
	LIE_LOOP,   /* an index that leads to itself */
	LIE_TWICE,  /* two for the same platform */
	LIE_INSIDE, /* a hostile entry in the second layer */
};

/* What the configuration says of its processors, and which are wanted; NULL = nothing.
 */
static const char *level, *wanted_level;
static char dir[40];

static char *
in(const char *name)
{
	return bu_xasprintf("%s/%s", dir, name);
}

static void
write_blob(const char *digest, const void *data, size_t size)
{
	bu_autofree char *path = bu_xasprintf("%s/oci/blobs/sha256/%s", dir, digest);

	ck_assert_int_eq(bu_file_write(path, data, size, 0644, NULL), 0);
}

static json_t *
describe(const char *type, const char *digest, size_t size)
{
	return json_pack("{s:s, s:o, s:I}", "mediaType", type, "digest",
			 json_sprintf("sha256:%s", digest), "size", (json_int_t)size);
}

static json_t *
store_json(const char *type, json_t *value, int spoil)
{
	bu_autofree char *text = bu_json_canonical(value);
	char digest[BU_DIGEST_SIZE];
	size_t size = strlen(text);

	bu_sha256_hex(text, size, digest);
	if (spoil)
		text[size / 2] ^= 1;
	write_blob(digest, text, size);
	json_decref(value);
	return describe(type, digest, size);
}

static json_t *
store_layer(const struct tar *tar, int packed, enum lie lie)
{
	bu_autofree char *bytes = bu_xmalloc(ZSTD_compressBound(tar->size));
	size_t size = tar->size;
	char digest[BU_DIGEST_SIZE];

	memcpy(bytes, tar->bytes, size);
	if (packed)
		size = ZSTD_compress(bytes, ZSTD_compressBound(tar->size), tar->bytes,
				     tar->size, 3);
	bu_sha256_hex(bytes, size, digest);
	if (lie == LIE_LAYER_BYTES)
		bytes[size / 2] ^= 1;
	write_blob(digest, bytes, lie == LIE_LAYER_CUT ? size - 1 : size);
	if (lie == LIE_LAYER_LINK || lie == LIE_LAYER_GONE) {
		bu_autofree char *path =
			bu_xasprintf("%s/oci/blobs/sha256/%s", dir, digest);
		bu_autofree char *away = in("away");

		ck_assert_int_eq(rename(path, away), 0);
		if (lie == LIE_LAYER_LINK)
			ck_assert_int_eq(symlink("../../../away", path), 0);
	}
	return describe(lie == LIE_TYPE      ? "application/x-anything"
			: lie == LIE_FOREIGN ? "application/vnd.docker.image.rootfs."
					       "foreign.diff.tar.gzip"
			: packed ? "application/vnd.oci.image.layer.v1.tar+zstd"
				 : "application/vnd.oci.image.layer.v1.tar",
			digest, size + (lie == LIE_LAYER_SIZE));
}

static void
spoil_layer(json_t *layer, enum lie lie)
{
	if (lie == LIE_ALGORITHM)
		json_object_set_new(layer, "digest", json_string("sha512:00"));
	if (lie == LIE_PATH)
		json_object_set_new(layer, "digest",
				    json_string("sha256:../../../../../../etc/passwd"));
	if (lie == LIE_NEGATIVE)
		json_object_set_new(layer, "size", json_integer(-1));
}

static void
write_index(json_t *manifest, enum lie lie)
{
	bu_autofree char *path = in("oci/index.json");
	bu_autofree char *text = NULL;
	bu_autojson json_t *index = NULL;

	json_object_set_new(manifest, "platform",
			    json_pack("{s:s, s:s, s:s*}", "os", "linux", "architecture",
				      lie == LIE_PLATFORM ? "arm64" : "amd64",
				      "variant", wanted_level));
	json_object_set_new(
		manifest, "annotations",
		json_pack("{s:s}", "org.opencontainers.image.ref.name", "one"));
	index = json_pack("{s:i, s:[O]}", "schemaVersion", 2, "manifests", manifest);
	if (lie == LIE_TWICE)
		json_array_append(json_object_get(index, "manifests"), manifest);
	json_decref(manifest);
	text = bu_json_canonical(index);
	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
}

/* The manifest itself is never an index of this digest: it says that it is one. */
static json_t *
endless(void)
{
	json_t *inner = describe("application/vnd.oci.image.index.v1+json",
				 "0000000000000000000000000000000000000000000000000000"
				 "000000000000",
				 10);

	for (int i = 0; i < 6; i++)
		inner = store_json("application/vnd.oci.image.index.v1+json",
				   json_pack("{s:i, s:[o]}", "schemaVersion", 2,
					     "manifests", inner),
				   0);
	return inner;
}

static void
make_layout(enum lie lie)
{
	struct tar below = tar_make((const char *const[]){"5 etc", "0 etc/one|below",
							  "0 etc/two|two",
							  "1 etc/hard|etc/two", NULL});
	struct tar above = tar_make((const char *const[]){
		"0 etc/.wh.two",
		lie == LIE_INSIDE ? "0 ../away|x" : "0 etc/three|three",
		"0 etc/one|above", NULL});
	json_t *low = store_layer(&below, 0, LIE_NONE);
	json_t *high = store_layer(&above, 1, lie);
	json_t *ids = json_array(), *layers, *config, *manifest;
	char digest[BU_DIGEST_SIZE];

	bu_sha256_hex(below.bytes, below.size, digest);
	json_array_append_new(ids, json_sprintf("sha256:%s", digest));
	bu_sha256_hex(above.bytes, above.size - (lie == LIE_DIFF_ID), digest);
	if (lie != LIE_DIFF_IDS)
		json_array_append_new(ids, json_sprintf("sha256:%s", digest));
	spoil_layer(high, lie);
	config = store_json(
		"application/vnd.oci.image.config.v1+json",
		json_pack("{s:s, s:s, s:s*, s:{s:s, s:o}}", "os",
			  lie == LIE_OS ? "windows" : "linux", "architecture",
			  lie == LIE_ARCH ? "arm64" : "amd64", "variant", level,
			  "rootfs", "type", "layers", "diff_ids", ids),
		lie == LIE_CONFIG_BYTES);
	layers = json_pack("[o, o]", low, high);
	if (lie == LIE_LAYERS)
		json_array_clear(layers);
	manifest = store_json("application/vnd.oci.image.manifest.v1+json",
			      json_pack("{s:i, s:o, s:o}", "schemaVersion",
					lie == LIE_SCHEMA ? 1 : 2, "config", config,
					"layers", layers),
			      lie == LIE_MANIFEST_BYTES);
	if (lie == LIE_LOOP) {
		json_decref(manifest);
		manifest = endless();
	}
	write_index(manifest, lie);
	free(below.bytes);
	free(above.bytes);
}

static int
unpack(enum lie lie, const char *tag, struct bu_err *err)
{
	bu_autofree char *blobs = NULL, *oci = NULL, *root = NULL;
	struct bu_oci_image image;

	strcpy(dir, "/tmp/bringup-oci-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	blobs = in("oci/blobs/sha256");
	oci = in("oci");
	root = in("root");
	ck_assert_int_eq(bu_mkdir_p(blobs, 0755, NULL), 0);
	ck_assert_int_eq(bu_mkdir_p(root, 0755, NULL), 0);
	make_layout(lie);
	memset(err, 0, sizeof(*err));
	return bu_oci_unpack_layout(oci,
				    &(struct bu_oci_want){.tag = tag,
							  .arch = "amd64",
							  .variant = wanted_level},
				    &(struct bu_oci_room){root, dir}, &image, err);
}

static void
clean_up(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

START_TEST(a_good_image_becomes_its_folder)
{
	bu_autofree char *one = NULL, *three = NULL, *path = NULL, *gone = NULL;
	struct bu_err err;

	ck_assert_msg(!unpack(LIE_NONE, "one", &err), "%s", err.text);
	path = in("root/etc/one");
	one = bu_file_read(path, 0, NULL, NULL);
	ck_assert_pstr_eq(one, "above");
	free(path);
	path = in("root/etc/three");
	three = bu_file_read(path, 0, NULL, NULL);
	ck_assert_pstr_eq(three, "three");
	gone = in("root/etc/two");
	ck_assert(!bu_file_exists(gone));
	free(gone);
	gone = in("root/etc/hard");
	ck_assert(bu_file_exists(gone));
	clean_up();
	ck_assert_int_eq(unpack(LIE_NONE, "two", &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	clean_up();
	ck_assert_int_eq(unpack(LIE_NONE, NULL, &err), 0);
	clean_up();
}
END_TEST

/* The index says the level that is wanted, and few builders say one in both places. */
START_TEST(a_level_is_compared_with_the_configuration)
{
	static const struct {
		const char *level, *wanted, *why;
	} rows[] = {
		{"v3", "v3", NULL},
		{"v3", NULL, NULL},
		{"v1", "v1", NULL},
		{NULL, "v3", NULL},
		{"v2", "v1", "it is for amd64/v2, not for amd64/v1"},
		{"v4", "v3", "it is for amd64/v4, not for amd64/v3"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err;
		int rc;

		level = rows[i].level;
		wanted_level = rows[i].wanted;
		rc = unpack(LIE_NONE, "one", &err);
		ck_assert_msg(rows[i].why ? rc && strstr(err.text, rows[i].why) : !rc,
			      "row %zu: %s", i, err.text);
		clean_up();
	}
	level = wanted_level = NULL;
}
END_TEST

START_TEST(each_lie_is_refused_where_it_is_told)
{
	static const struct {
		enum lie lie;
		const char *why;
	} lies[] = {
		{LIE_LAYER_BYTES, "layer 2 of 2: blob"},
		{LIE_LAYER_SIZE, "bytes instead of"},
		{LIE_LAYER_CUT, "bytes instead of"},
		{LIE_LAYER_LINK, "is not a file"},
		{LIE_LAYER_GONE, "is not a file"},
		{LIE_DIFF_ID, "its diff_id is"},
		{LIE_DIFF_IDS, "1 diff_ids for 2 layers"},
		{LIE_CONFIG_BYTES, "its SHA-256 is"},
		{LIE_MANIFEST_BYTES, "its SHA-256 is"},
		{LIE_ARCH, "for arm64"},
		{LIE_OS, "not for linux"},
		{LIE_PLATFORM, "0 of its 1 entries"},
		{LIE_TYPE, "media type"},
		{LIE_FOREIGN, "media type"},
		{LIE_ALGORITHM, "64 digits are needed"},
		{LIE_PATH, "64 digits are needed"},
		{LIE_NEGATIVE, "field 'size'"},
		{LIE_SCHEMA, "schemaVersion"},
		{LIE_LAYERS, "0 layers"},
		{LIE_LOOP, "leads to no image"},
		{LIE_TWICE, "2 of its 2 entries"},
		{LIE_INSIDE, "layer 2 of 2: entry"},
	};

	for (size_t i = 0; i < BU_LEN(lies); i++) {
		bu_autofree char *one = NULL;
		struct bu_err err;

		ck_assert_msg(unpack(lies[i].lie, "one", &err) == -1, "lie %d",
			      lies[i].lie);
		ck_assert_msg(strstr(err.text, lies[i].why) != NULL, "lie %d: %s",
			      lies[i].lie, err.text);
		ck_assert_msg(err.kind == BU_ERR_VERIFY || err.kind == BU_ERR_NOTFOUND,
			      "lie %d: %d", lies[i].lie, err.kind);
		/* nothing of the layer that was lied about is there */
		one = in("root/etc/three");
		ck_assert(!bu_file_exists(one));
		clean_up();
	}
}
END_TEST

BU_UNIT("oci", a_good_image_becomes_its_folder,
	a_level_is_compared_with_the_configuration,
	each_lie_is_refused_where_it_is_told)
