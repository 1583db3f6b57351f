/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signs a manifest that is there; `bringup image sign` calls it, under the cache's
 * lock. Invariant: a line of manifest.sig is a signature over the bytes of
 * manifest.json; the first one, which agents of before read alone, stays the first.
 */
#include "images/build/sign.h"

#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "images/manifest.h"

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

int
bu_image_sign(const char *dir, const char *private_pem, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/manifest.sig", dir);
	bu_autofree char *sigs = NULL, *text = NULL;
	char sig[BU_SIG_HEX_SIZE];
	const char *gap;
	size_t size;

	text = read_manifest(dir, &size, err);
	if (!text || bu_sign(private_pem, text, size, sig, err))
		return -1;
	sigs = bu_file_exists(path) ? bu_file_read(path, 4096, NULL, err)
				    : bu_xstrdup("");
	if (!sigs)
		return -1;
	/* Ed25519 makes the same signature each time. */
	if (strstr(sigs, sig))
		return 0;
	if (count_lines(sigs) >= BU_IMAGE_KEYS_MAX)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "%s has %d signatures already; take one out", path,
				  BU_IMAGE_KEYS_MAX);
	gap = *sigs && sigs[strlen(sigs) - 1] != '\n' ? "\n" : "";
	return bu_file_write_text(path, 0644, err, "%s%s%s\n", sigs, gap, sig) ? -1 : 1;
}
