/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's bundle: the agent of this appliance's version with its libraries and
 * providers, as it travels to nodes. In the folder of the boot ramdisk:
 *
 *	bundle/bundle.json	{"v":1,"kind":"agent","version":"0.1.0","files":[
 *				 {"path":"lib/libc.so.6","mode":420,"size_bytes",
 *				  "sha256"}]}
 *	bundle/bundle.sig	signatures over exactly those bytes, as of an image
 *	bundle/SHA-256		each file
 *
 * The SHA-256 of bundle.json names the bundle. On a node the same list lies in the
 * bundle's slot (agent/slots.h), with the files by their paths.
 */
#ifndef BU_IMAGES_BUNDLE_H
#define BU_IMAGES_BUNDLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/crypto.h"
#include "base/err.h"

#define BU_BUNDLE_DIR "bundle" /* in the ramdisk's folder, and in its URL */

enum {
	BU_BUNDLE_FILES_MAX = 200,
	BU_BUNDLE_LIST_MAX = 256 * 1024,
	BU_BUNDLE_FILE_MAX = 64 * 1024 * 1024,
	BU_BUNDLE_VERSION_SIZE = 40,
};

struct bu_bundle_file {
	char path[100]; /* below the slot */
	int mode;       /* 0644 or 0755 */
	int64_t size_bytes;
	char sha256[BU_DIGEST_SIZE];
};

struct bu_bundle {
	char version[BU_BUNDLE_VERSION_SIZE];
	char digest[BU_DIGEST_SIZE]; /* of the list */
	struct bu_bundle_file *files;
	size_t files_count;
};

/* Everything is checked: no path leads out of the slot, none is there twice, and what
 * starts an agent is there. BU_ERR_INVAL. */
bu_must int bu_bundle_parse(const char *text, size_t size, struct bu_bundle *ret,
			    struct bu_err *err);
/* The list in this folder. BU_ERR_NOTFOUND when there is none. */
bu_must int bu_bundle_load(const char *dir, struct bu_bundle *ret, struct bu_err *err);
/* The one with this path; NULL = there is none. */
const struct bu_bundle_file *bu_bundle_find(const struct bu_bundle *bundle,
					    const char *path);
void bu_bundle_fini(struct bu_bundle *bundle);

#endif
