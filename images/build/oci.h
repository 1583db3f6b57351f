/* SPDX-License-Identifier: Apache-2.0 */
/* Turns an OCI image into a folder, wherever its blobs come from. */
#ifndef BU_IMAGES_BUILD_OCI_H
#define BU_IMAGES_BUILD_OCI_H

#include "images/build/oci_json.h"

/* Where the blobs are. get: the path of a file that should hold the blob; owned. It is
 * checked by the caller, so that nobody has to be trusted. desc->size is 0 where it is
 * not known (the document that the reference names). */
struct bu_oci_blobs {
	char *(*get)(void *arg, const struct bu_oci_desc *desc, struct bu_err *err);
	void *arg;
};

struct bu_oci_image {
	char digest[BU_DIGEST_SIZE]; /* of its manifest */
	char arch[16];
	char version[64]; /* of its label; "" = it has none that can be shown */
	size_t layer_count;
};

struct bu_oci_room {
	const char *root; /* unpacked into */
	const char *work; /* a folder for what comes in between */
};
/* Unpacks the image that `top` leads to (an index or a manifest) into the room. Every
 * blob's size and SHA-256, and every layer's diff_id, are compared before a byte of it
 * is used. */
bu_must int bu_oci_unpack(const struct bu_oci_blobs *blobs,
			  const struct bu_oci_desc *top, const struct bu_oci_want *want,
			  const struct bu_oci_room *room, struct bu_oci_image *ret,
			  struct bu_err *err);

/* Of a folder in the layout of the spec (oci-layout, index.json, blobs/): the same from
 * its index.json. */
bu_must int bu_oci_unpack_layout(const char *dir, const struct bu_oci_want *want,
				 const struct bu_oci_room *room,
				 struct bu_oci_image *ret, struct bu_err *err);

#endif
