/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks tar archives, and layers of OCI images over each other. */
#ifndef BU_IMAGES_BUILD_UNPACK_H
#define BU_IMAGES_BUILD_UNPACK_H

#include "base/crypto.h"
#include "base/err.h"
#include "images/build/attributes.h"

/* What archives may be, all layers together; counted down. What was left out of them is
 * counted up. */
struct bu_unpack_limit {
	uint64_t bytes; /* of the files */
	uint64_t entries;
	uint64_t stream_bytes; /* of the archives, uncompressed: headers too */
	struct bu_attributes_left_out left_out;
};
#define BU_UNPACK_LIMIT                                                                \
	((struct bu_unpack_limit){.bytes = UINT64_C(64) << 30,                         \
				  .entries = 4000000,                                  \
				  .stream_bytes = UINT64_C(80) << 30})

/* Decompresses (gzip, xz or zstd; a plain file is copied) into tar_path; ret_digest is
 * the SHA-256 of what comes out. BU_ERR_VERIFY where it is cut off, damaged or too
 * large. */
bu_must int bu_unpack_stream(const char *path, const char *tar_path,
			     struct bu_unpack_limit *limit,
			     char ret_digest[BU_DIGEST_SIZE], struct bu_err *err);

/* The plain tar archive into the folder. Links on the way of an entry are followed
 * inside the folder, as a system follows them that has it as its root. With `layer`,
 * its whiteouts remove what is there from layers below, and never what it has itself.
 * BU_ERR_VERIFY names the entry that is refused; nothing outside of the folder is
 * touched, whatever the archive says. */
bu_must int bu_unpack_tar(const char *tar_path, int root_fd, int layer,
			  struct bu_unpack_limit *limit, struct bu_err *err);

#endif
