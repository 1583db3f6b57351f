/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a folder's manifest has a digest, without hashing it for each block that a
 * node fetches. Called by api/boot.c for every request. Invariant: what is remembered
 * is of this very version of the file; one that changed within the last second may
 * change once more without a trace, and is hashed each time.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "images/store.h"

enum { KEPT = 32, SETTLED_US = 1000000 };

struct version {
	dev_t dev;
	ino_t inode; /* 0 = no file */
	off_t size;
	struct timespec written, changed;
};

/* Those hashed last; the oldest makes room. */
static struct {
	struct version version;
	char digest[BU_DIGEST_SIZE];
} kept[KEPT];
static size_t next;

static int
look(const char *path, struct version *ret)
{
	struct stat st;

	memset(ret, 0, sizeof(*ret)); /* they are compared as bytes */
	if (stat(path, &st) != 0)
		return -1;
	ret->dev = st.st_dev;
	ret->inode = st.st_ino;
	ret->size = st.st_size;
	ret->written = st.st_mtim;
	ret->changed = st.st_ctim;
	return 0;
}

static int
is_settled(const struct version *version)
{
	int64_t changed_us = version->changed.tv_sec * INT64_C(1000000) +
			     version->changed.tv_nsec / 1000;

	return bu_wall_us() - changed_us >= SETTLED_US;
}

static void
keep(const struct version *version, const char digest[BU_DIGEST_SIZE])
{
	kept[next].version = *version;
	memcpy(kept[next].digest, digest, BU_DIGEST_SIZE);
	next = (next + 1) % KEPT;
}

/* ret_digest: "" = the file cannot be read. */
static void
digest_of(const char *path, char ret_digest[BU_DIGEST_SIZE])
{
	struct version before, after;
	int settled;

	ret_digest[0] = '\0';
	if (look(path, &before) != 0)
		return;
	for (size_t i = 0; i < KEPT; i++)
		if (memcmp(&kept[i].version, &before, sizeof(before)) == 0) {
			memcpy(ret_digest, kept[i].digest, BU_DIGEST_SIZE);
			return;
		}
	settled = is_settled(&before);
	if (bu_sha256_file(path, ret_digest, NULL) != 0)
		ret_digest[0] = '\0';
	else if (settled && look(path, &after) == 0 &&
		 memcmp(&before, &after, sizeof(before)) == 0)
		keep(&before, ret_digest);
}

int
bu_image_has_digest(const char *dir, const char *digest)
{
	bu_autofree char *manifest = bu_xasprintf("%s/manifest.json", dir);
	char found[BU_DIGEST_SIZE];

	digest_of(manifest, found);
	return found[0] && strcmp(found, digest) == 0;
}
