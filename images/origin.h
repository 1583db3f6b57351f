/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an image was made of, as its manifest says:
 *
 *	"version": "1.4",                   where the sources tell one
 *	"sources": [{"kind", "name", "host", "digest"}]
 *
 * The host or the digest is left out where the kind has none. Nothing here says when,
 * where or by whom it was built: the same sources have the same words on any machine.
 */
#ifndef BU_IMAGES_ORIGIN_H
#define BU_IMAGES_ORIGIN_H

#include <jansson.h>

#include "base/crypto.h"
#include "base/err.h"

/* kind, 1 = it has a host, 1 = it has a digest; name, digest */
#define BU_IMAGE_SOURCES(X)                                                            \
	X(OCI, "oci", 1, 1)               /* as it was asked for; of its manifest */   \
	X(OCI_LAYOUT, "oci-layout", 0, 1) /* its tag; of its manifest */               \
	X(TAR, "tar", 0, 1)               /* of the file, without its folder */        \
	X(RAW, "raw", 0, 1)                                                            \
	X(QCOW2, "qcow2", 0, 1)                                                        \
	X(RECIPE, "recipe", 0, 1)     /* with those that it is from, and its files */  \
	X(PACKAGES, "packages", 0, 1) /* the suite; names and versions of all */       \
	X(MIRROR, "mirror", 1, 0)     /* as the recipe names it */
#define X(id, word, host, digest) BU_SOURCE_##id,
enum bu_source_kind { BU_IMAGE_SOURCES(X) BU_SOURCE_KINDS };
#undef X
extern const char *const bu_source_kinds[];

enum { BU_IMAGE_SOURCES_MAX = 32 };

struct bu_image_source {
	enum bu_source_kind kind;
	char name[768];
	char host[256]; /* with its port; "" = it has none */
	char digest[BU_DIGEST_SIZE];
};

struct bu_image_origin {
	char version[64]; /* "" = it has none */
	size_t source_count;
	struct bu_image_source sources[BU_IMAGE_SOURCES_MAX];
};

/* Of a manifest. Errors name source and field. */
bu_must int bu_origin_parse(const json_t *manifest, struct bu_image_origin *ret,
			    struct bu_err *err);
void bu_origin_to_json(const struct bu_image_origin *origin, json_t *manifest);

/* A version that somebody else wrote: one that is too long or not ASCII is none. */
void bu_origin_version(struct bu_image_origin *origin, const char *version);
/* One more, whose host and digest the caller fills; NULL and err when there is no room.
 * Bytes of the name that are not printable ASCII become '?'. */
struct bu_image_source *bu_origin_add(struct bu_image_origin *origin,
				      enum bu_source_kind kind, const char *name,
				      struct bu_err *err);

#endif
