/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON documents of OCI images (image-spec 1.1) and of Docker's schema 2, which is
 * the same under other names: what is needed to find and check their blobs. All of it
 * comes from strangers; errors name document and field.
 */
#ifndef BU_IMAGES_BUILD_OCI_JSON_H
#define BU_IMAGES_BUILD_OCI_JSON_H

#include "base/crypto.h"
#include "base/err.h"

enum {
	BU_OCI_LAYERS_MAX = 127, /* as overlayfs has it, and so all builders */
	BU_OCI_JSON_MAX = 4 * 1024 * 1024,
};

enum bu_oci_kind {
	BU_OCI_INDEX,
	BU_OCI_MANIFEST,
	BU_OCI_CONFIG,
	BU_OCI_LAYER,
};

/* What a blob is, and which bytes it has. */
struct bu_oci_desc {
	enum bu_oci_kind kind;
	char digest[BU_DIGEST_SIZE]; /* SHA-256; no other algorithm is taken */
	uint64_t size;
	char variant[16]; /* "v3", as the index says that led to it; "" = it does not */
};

struct bu_oci_manifest {
	struct bu_oci_desc config;
	size_t layer_count;
	struct bu_oci_desc layers[BU_OCI_LAYERS_MAX];
};

struct bu_oci_config {
	char arch[16];
	char variant[16]; /* "v3"; "" = it says none */
	char version[64]; /* org.opencontainers.image.version; "" = none that is short
			     and printable ASCII */
	size_t layer_count;
	char diff_ids[BU_OCI_LAYERS_MAX][BU_DIGEST_SIZE];
};

/* The choice of an image in an index: a tag (its annotation) and the platform. */
struct bu_oci_want {
	const char *tag;  /* NULL = any; then there must be one of the platform alone */
	const char *arch; /* "amd64"; entries without a platform count as fitting */
	/* Level of the processor: "v1" (an entry without one counts) to "v4". NULL = v1
	 * where there is one, else the only one of the architecture. */
	const char *variant;
};
/* Reads "linux/amd64" or "linux/amd64/v3" into arch and variant, which live as long as
 * the program. BU_ERR_INVAL names what is possible. */
bu_must int bu_oci_platform(const char *text, struct bu_oci_want *ret,
			    struct bu_err *err);
/* BU_ERR_NOTFOUND or BU_ERR_VERIFY name the platforms, or the tags, that are there. */
bu_must int bu_oci_index(const char *text, size_t size, const struct bu_oci_want *want,
			 struct bu_oci_desc *ret, struct bu_err *err);
bu_must int bu_oci_manifest(const char *text, size_t size, struct bu_oci_manifest *ret,
			    struct bu_err *err);
/* BU_ERR_VERIFY unless it has a diff_id for each of so many layers. */
bu_must int bu_oci_config(const char *text, size_t size, size_t layers,
			  struct bu_oci_config *ret, struct bu_err *err);
/* Which of the two the document is, by its media type or what it has. */
bu_must int bu_oci_kind(const char *text, size_t size, enum bu_oci_kind *ret,
			struct bu_err *err);
/* "sha256:" and 64 digits; -1 (BU_ERR_VERIFY) for anything else. */
bu_must int bu_oci_digest(const char *text, char ret_digest[BU_DIGEST_SIZE],
			  struct bu_err *err);

#endif
