/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a reference over index, manifest and configuration to the layers, and those over
 * each other into a folder; import.c calls it. Invariant: nothing is read as what it
 * says to be before its SHA-256 is the one that led to it.
 */
#include "images/build/oci.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "images/build/unpack.h"

enum { INDEX_DEPTH_MAX = 3 };

struct oci {
	const struct bu_oci_blobs *blobs;
	const struct bu_oci_want *want;
	const char *work;
	struct bu_unpack_limit limit;
};

/* The path of the blob, with the bytes that it should have; owned. */
static char *
get_blob(const struct oci *oci, const struct bu_oci_desc *desc, struct bu_err *err)
{
	bu_autofree char *path = NULL;
	char digest[BU_DIGEST_SIZE];
	struct stat st;

	if (desc->size > oci->limit.stream_bytes) {
		bu_err_set(err, BU_ERR_VERIFY, 0, "blob %.12s: it is too large",
			   desc->digest);
		return NULL;
	}
	path = oci->blobs->get(oci->blobs->arg, desc, err);
	if (!path)
		return NULL;
	if (stat(path, &st) || bu_sha256_file(path, digest, err)) {
		bu_err_set(err, BU_ERR_IO, errno, "%s", path);
		return NULL;
	}
	if (desc->size && (uint64_t)st.st_size != desc->size) {
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "blob %.12s: it has %lld bytes instead of %llu",
			   desc->digest, (long long)st.st_size,
			   (unsigned long long)desc->size);
		return NULL;
	}
	if (strcmp(digest, desc->digest) != 0) {
		bu_err_set(err, BU_ERR_VERIFY, 0, "blob %.12s: its SHA-256 is %.12s",
			   desc->digest, digest);
		return NULL;
	}
	return bu_steal(&path);
}

static char *
read_blob(const struct oci *oci, const struct bu_oci_desc *desc, size_t *ret_size,
	  struct bu_err *err)
{
	bu_autofree char *path = NULL;

	if (desc->size > BU_OCI_JSON_MAX) {
		bu_err_set(err, BU_ERR_VERIFY, 0, "blob %.12s: %llu bytes are too many",
			   desc->digest, (unsigned long long)desc->size);
		return NULL;
	}
	path = get_blob(oci, desc, err);
	return path ? bu_file_read(path, BU_OCI_JSON_MAX, ret_size, err) : NULL;
}

/* Through indices to the manifest; desc becomes its, and keeps the level that any of
 * them said. */
static int
find_manifest(const struct oci *oci, struct bu_oci_desc *desc,
	      struct bu_oci_manifest *ret, struct bu_err *err)
{
	struct bu_oci_want want = *oci->want;

	for (int depth = 0; depth <= INDEX_DEPTH_MAX; depth++) {
		size_t size;
		enum bu_oci_kind kind;
		const struct bu_oci_desc outer = *desc;
		bu_autofree char *text = read_blob(oci, desc, &size, err);

		if (!text || bu_oci_kind(text, size, &kind, err))
			return -1;
		if (kind == BU_OCI_MANIFEST)
			return bu_oci_manifest(text, size, ret, err);
		if (kind != BU_OCI_INDEX)
			break;
		want.tag = NULL; /* it named this index */
		if (bu_oci_index(text, size, &want, desc, err))
			return -1;
		if (!desc->variant[0])
			BU_TEXT_COPY(desc->variant, outer.variant);
	}
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "the reference leads to no image manifest");
}

static int
apply_layer(struct oci *oci, const struct bu_oci_desc *layer, const char *diff_id,
	    int root_fd, struct bu_err *err)
{
	bu_autofree char *tar = bu_xasprintf("%s/layer.tar", oci->work);
	bu_autofree char *path = get_blob(oci, layer, err);
	char digest[BU_DIGEST_SIZE];
	int rc;

	if (!path || bu_unpack_stream(path, tar, &oci->limit, digest, err))
		return -1;
	if (strcmp(digest, diff_id) != 0)
		rc = bu_err_set(err, BU_ERR_VERIFY, 0,
				"it unpacks to %.12s, its diff_id is %.12s", digest,
				diff_id);
	else
		rc = bu_unpack_tar(tar, root_fd, 1, &oci->limit, err);
	unlink(tar);
	return rc;
}

static int
apply_layers(struct oci *oci, const struct bu_oci_manifest *manifest,
	     const struct bu_oci_config *config, const char *root, struct bu_err *err)
{
	bu_autoclose int root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root_fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", root);
	for (size_t i = 0; i < manifest->layer_count; i++)
		if (apply_layer(oci, &manifest->layers[i], config->diff_ids[i], root_fd,
				err))
			return bu_err_wrap(err, "layer %zu of %zu", i + 1,
					   manifest->layer_count);
	return 0;
}

/* The configuration knows best; few say a level. */
static int
check_platform(const struct bu_oci_want *want, const struct bu_oci_desc *desc,
	       const struct bu_oci_config *config, struct bu_err *err)
{
	const char *level = config->variant[0] ? config->variant : desc->variant;

	if (strcmp(config->arch, want->arch) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0, "it is for %s, not for %s",
				  config->arch, want->arch);
	if (want->variant && *level && strcmp(level, want->variant) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "it is for %s/%s, not for %s/%s", config->arch, level,
				  want->arch, want->variant);
	if (!want->variant && *level && strcmp(level, "v1") != 0)
		fprintf(stderr,
			"image: it is for linux/%s/%.15s: no machine below that level "
			"starts it\n",
			want->arch, level);
	return 0;
}

static int
unpack(struct oci *oci, const struct bu_oci_desc *top, const char *root,
       struct bu_oci_image *ret, struct bu_err *err)
{
	bu_autofree struct bu_oci_manifest *manifest = bu_xcalloc(1, sizeof(*manifest));
	bu_autofree struct bu_oci_config *config = bu_xcalloc(1, sizeof(*config));
	struct bu_oci_desc desc = *top;
	bu_autofree char *text = NULL;
	size_t size;

	if (find_manifest(oci, &desc, manifest, err))
		return -1;
	text = read_blob(oci, &manifest->config, &size, err);
	if (!text || bu_oci_config(text, size, manifest->layer_count, config, err))
		return -1;
	if (check_platform(oci->want, &desc, config, err) ||
	    apply_layers(oci, manifest, config, root, err))
		return -1;
	memcpy(ret->digest, desc.digest, sizeof(ret->digest));
	memcpy(ret->arch, config->arch, sizeof(ret->arch));
	memcpy(ret->version, config->version, sizeof(ret->version));
	ret->layer_count = manifest->layer_count;
	return 0;
}

int
bu_oci_unpack(const struct bu_oci_blobs *blobs, const struct bu_oci_desc *top,
	      const struct bu_oci_want *want, const struct bu_oci_room *room,
	      struct bu_oci_image *ret, struct bu_err *err)
{
	struct oci oci = {.blobs = blobs,
			  .want = want,
			  .work = room->work,
			  .limit = BU_UNPACK_LIMIT};

	if (unpack(&oci, top, room->root, ret, err))
		return -1;
	bu_attributes_tell(&oci.limit.left_out, stderr);
	return 0;
}

/* --- a folder --- */

static char *
layout_blob(void *arg, const struct bu_oci_desc *desc, struct bu_err *err)
{
	const char *dir = arg;
	bu_autofree char *path = bu_xasprintf("%s/blobs/sha256/%s", dir, desc->digest);
	struct stat st;

	if (lstat(path, &st) || !S_ISREG(st.st_mode)) {
		bu_err_set(err, BU_ERR_VERIFY, 0, "blob %.12s: %s is not a file",
			   desc->digest, path);
		return NULL;
	}
	return bu_steal(&path);
}

int
bu_oci_unpack_layout(const char *dir, const struct bu_oci_want *want,
		     const struct bu_oci_room *room, struct bu_oci_image *ret,
		     struct bu_err *err)
{
	const struct bu_oci_blobs blobs = {layout_blob, (char *)dir};
	bu_autofree char *path = bu_xasprintf("%s/index.json", dir);
	size_t size;
	bu_autofree char *text = bu_file_read(path, BU_OCI_JSON_MAX, &size, err);
	struct bu_oci_desc top;

	if (!text || bu_oci_index(text, size, want, &top, err))
		return bu_err_wrap(err, "%s", dir);
	if (bu_oci_unpack(&blobs, &top, want, room, ret, err))
		return bu_err_wrap(err, "%s", dir);
	return 0;
}
