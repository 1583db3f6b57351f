/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs a manifest that is there; `bringup image sign` calls it, and shelf.c where the
 * same image comes again, under the cache's lock. Invariant: a line of manifest.sig is
 * a signature over the bytes of manifest.json, and none is there twice.
 */
#include "images/build/sign.h"

#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/text.h"
#include "images/manifest.h"
#include "images/store.h"

static size_t
count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* What nodes would refuse must not be signed. */
static char *
read_manifest(const char *dir, size_t *ret_size, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/manifest.json", dir);
	bu_autofree char *text = bu_file_read(path, BU_MANIFEST_MAX, ret_size, err);
	struct bu_manifest *manifest =
		text ? bu_manifest_parse(text, *ret_size, err) : NULL;

	if (!manifest)
		return NULL;
	bu_manifest_destroy(manifest);
	return bu_steal(&text);
}

/* Owned; "" = there is none yet. */
static char *
read_signatures(const char *path, struct bu_err *err)
{
	return bu_file_exists(path) ? bu_file_read(path, 4096, NULL, err)
				    : bu_xstrdup("");
}

static char *
with_line(const char *sigs, const char *sig)
{
	const char *gap = *sigs && sigs[strlen(sigs) - 1] != '\n' ? "\n" : "";

	return bu_xasprintf("%s%s%s\n", sigs, gap, sig);
}

int
bu_image_sign(const char *dir, const char *private_pem, char ret_digest[BU_DIGEST_SIZE],
	      struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/manifest.sig", dir);
	bu_autofree char *sigs = NULL, *text = NULL, *both = NULL;
	char sig[BU_SIG_HEX_SIZE];
	size_t size;

	text = read_manifest(dir, &size, err);
	if (!text)
		return -1;
	bu_sha256_hex(text, size, ret_digest);
	if (bu_image_check_digest(dir, ret_digest, err))
		return bu_err_wrap(err, "%s", dir);
	if (bu_sign(private_pem, text, size, sig, err))
		return -1;
	sigs = read_signatures(path, err);
	if (!sigs)
		return -1;
	/* Ed25519 makes the same signature each time. */
	if (strstr(sigs, sig))
		return 0;
	if (count_lines(sigs) >= BU_IMAGE_KEYS_MAX)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "%s has %d signatures already; take one out", path,
				  BU_IMAGE_KEYS_MAX);
	both = with_line(sigs, sig);
	return bu_file_write_text(path, 0644, err, "%s", both) ? -1 : 1;
}

int
bu_image_signatures_keep(const char *from, const char *dir, struct bu_err *err)
{
	bu_autofree char *from_path = bu_xasprintf("%s/manifest.sig", from);
	bu_autofree char *path = bu_xasprintf("%s/manifest.sig", dir);
	/* What cannot be read there is what a build is to mend. */
	bu_autofree char *old = read_signatures(from_path, NULL);
	bu_autofree char *sigs = read_signatures(path, err);
	char *rest = old, *line;
	int added = 0;

	if (!sigs)
		return -1;
	while (rest && (line = strsep(&rest, "\n"))) {
		char *both;

		if (strlen(line) != BU_SIG_HEX_SIZE - 1 ||
		    !bu_text_is(line, BU_DIGEST_DIGITS) || strstr(sigs, line) ||
		    count_lines(sigs) >= BU_IMAGE_KEYS_MAX)
			continue;
		both = with_line(sigs, line);
		free(sigs);
		sigs = both;
		added = 1;
	}
	return added ? bu_file_write_text(path, 0644, err, "%s", sigs) : 0;
}

char *
bu_image_public_key(const char *cache_dir, struct bu_err *err)
{
	bu_autofree char *key_path = bu_xasprintf("%s/keys/image.key", cache_dir);
	bu_autofree char *pub_path = bu_xasprintf("%s/keys/image.pub", cache_dir);
	bu_autofree char *private_pem = NULL;

	if (bu_file_exists(pub_path))
		return bu_image_keys_read(pub_path, err);
	if (!bu_file_exists(key_path)) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "no image key (%s); 'bringup image build' makes one",
			   pub_path);
		return NULL;
	}
	private_pem = bu_file_read(key_path, 4096, NULL, err);
	return private_pem ? bu_sign_key_public(private_pem, err) : NULL;
}
