/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images on disk: folders with manifest.json, manifest.sig and a file of frames per
 * part. <images>/.store/DIGEST is such a folder, named by the SHA-256 of its manifest,
 * and never changes; <images>/NAME is a link to the one that has the name now. A plain
 * folder <images>/NAME is an image, too (one that was copied from elsewhere).
 */
#ifndef BU_IMAGES_STORE_H
#define BU_IMAGES_STORE_H

#include "base/crypto.h"
#include "base/err.h"
#include "images/manifest.h"

#define BU_IMAGE_STORE ".store"
#define BU_SBOM_FILE "sbom.json"
#define BU_DIGEST_DIGITS "0123456789abcdef"

/* An image of this name by its digest, whatever has the name now. */
struct bu_image_id {
	const char *name, *digest;
};

struct bu_image {
	struct bu_manifest *manifest;
	char digest[BU_DIGEST_SIZE]; /* SHA-256 of manifest.json */
	char *dir;
	uint64_t stored_bytes; /* what a node fetches */
};

/* A file's public keys in PEM, owned. BU_ERR_INVAL when it has none: an empty file must
 * never mean that no signature is asked for. */
char *bu_image_keys_read(const char *path, struct bu_err *err);
/* The same of text that was read; nothing but public keys may be in it, because nodes
 * get it. */
bu_must int bu_image_keys_check(const char *path, const char *text, struct bu_err *err);
/* Finds <images_dir>/<name>, verifies the signature with the image key and checks that
 * every part's file has its size (contents: bu_frames_check). public_pem: one key or
 * several (bu_image_keys_read), NULL = no signature is asked for; "" is BU_ERR_INVAL.
 * A signature that is missing or refused says the command that signs; of which file the
 * keys are, the caller says.
 * BU_ERR_NOTFOUND when there is no such image. */
bu_must int bu_image_load(const char *images_dir, const char *name,
			  const char *public_pem, struct bu_image *ret,
			  struct bu_err *err);
/* The same of the one with this digest. */
bu_must int bu_image_load_stored(const char *images_dir, const struct bu_image_id *id,
				 const char *public_pem, struct bu_image *ret,
				 struct bu_err *err);
/* The folder that has the image's files, of this digest or (NULL) of those that have
 * the name now; a digest that is not in the store is looked for under the name. Owned,
 * need not exist. */
char *bu_image_dir(const char *images_dir, const char *name, const char *digest);
/* BU_ERR_VERIFY when the folder is named by another digest than its manifest has. */
bu_must int bu_image_check_digest(const char *dir, const char *digest,
				  struct bu_err *err);
/* Whether the manifest in this folder has this digest. Each version of the file is
 * hashed once: a node asks for an image in thousands of pieces. */
int bu_image_has_digest(const char *dir, const char *digest);
/* Whether that folder has a signature at all. */
int bu_image_is_signed(const char *images_dir, const char *name, const char *digest);
/* The image's list of packages (SPDX 2.3 in JSON) as it was written; owned.
 * BU_ERR_NOTFOUND when the image has none, BU_ERR_VERIFY when it is not what the
 * manifest says. */
char *bu_image_sbom(const struct bu_image *image, struct bu_err *err);
void bu_image_fini(struct bu_image *image);

/* Says in the folder that a bringupd with this event log serves from it. */
void bu_image_claim(const char *images_dir, const char *log);
/* The log of one that did, and that is still there; NULL = there is none. Owned. */
char *bu_image_claimed(const char *images_dir);

/* Names of the images there are, sorted; *ret_names and each name are owned. A missing
 * folder has none. */
bu_must int bu_image_list(const char *images_dir, char ***ret_names, size_t *ret_count,
			  struct bu_err *err);

#endif
