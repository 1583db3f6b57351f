/* SPDX-License-Identifier: Apache-2.0 */
/* Pulls OCI images from registries (distribution-spec 1.1). */
#ifndef BU_IMAGES_BUILD_REGISTRY_H
#define BU_IMAGES_BUILD_REGISTRY_H

#include "images/build/oci.h"

/* "oci://HOST[:PORT]/REPOSITORY[:TAG]" or "...@sha256:DIGEST"; without either it is the
 * tag latest. HOST localhost is asked by plain http, all others by https. */
struct bu_registry_ref {
	char host[256]; /* with its port */
	char repository[256];
	char tag[129]; /* "" = by digest */
	char digest[BU_DIGEST_SIZE];
};
bu_must int bu_registry_parse(const char *text, struct bu_registry_ref *ret,
			      struct bu_err *err);

/* What a registry wants, of its "Bearer realm=...,service=...,scope=...": the URL that
 * gives a token; owned. NULL (BU_ERR_REMOTE) when it wants something else. */
char *bu_registry_token_url(const char *challenge, struct bu_err *err);

/* Pulls the image and unpacks it; the reference has the tag, not `want`. Blobs are kept
 * in <work>/blobs while it lasts. A name and password come from the file that
 * REGISTRY_AUTH_FILE names, as `skopeo login` and `docker login` write it; without,
 * everybody's are pulled. */
bu_must int bu_registry_unpack(const char *source, const struct bu_oci_want *want,
			       const struct bu_oci_room *room, struct bu_oci_image *ret,
			       struct bu_err *err);

#endif
