/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches and verifies the manifest; install.c and ram.c begin with it. Invariant: what
 * it returns has the digest that was ordered and a signature of one of the keys.
 */
#include "images/install/fetch.h"

#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/http.h"
#include "images/install/part_writer.h"

enum { GET_TIMEOUT_MS = 30 * 1000 };

struct fetch {
	const struct bu_install_opts *opts;
	const struct bu_install_hooks *hooks;
	struct bu_http *http;
};

static char *
get_patiently(const struct fetch *fetch, const char *file, size_t max, size_t *ret_size,
	      struct bu_err *err)
{
	bu_autofree char *path =
		bu_xasprintf("/images/%s/%s", fetch->opts->image, file);
	int64_t since_ms = bu_mono_ms(bu_clock_system());
	struct bu_err why = {0};
	char *text;

	while (!(text = bu_http_get(fetch->http, path, max, GET_TIMEOUT_MS, ret_size,
				    &why))) {
		if (bu_part_writer_wait(fetch->opts, &why, since_ms) ||
		    bu_part_writer_cancelled(fetch->hooks, &why)) {
			if (err)
				*err = why;
			return NULL;
		}
	}
	return text;
}

static char *
get_verified(const struct fetch *fetch, size_t *ret_size, struct bu_err *err)
{
	const struct bu_install_opts *opts = fetch->opts;
	int is_signed = opts->image_public_pem[0] != '\0';
	bu_autofree char *text =
		get_patiently(fetch, "manifest.json", BU_MANIFEST_MAX, ret_size, err);
	bu_autofree char *sig = text && is_signed ? get_patiently(fetch, "manifest.sig",
								  4096, NULL, err)
						  : NULL;
	char digest[BU_DIGEST_SIZE];
	struct bu_err why = {0};

	if (!text || (is_signed && !sig))
		return NULL;
	bu_sha256_hex(text, *ret_size, digest);
	if (strcmp(digest, opts->manifest_digest) != 0) {
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "manifest of image %s: ordered was SHA-256 %s, got %s",
			   opts->image, opts->manifest_digest, digest);
		return NULL;
	}
	if (is_signed &&
	    bu_manifest_verify(text, *ret_size, sig, opts->image_public_pem, &why)) {
		bu_err_set(err, why.kind, 0,
			   "image %s, by the order's keys: %s; sign it on the "
			   "appliance (bringup image sign %s --key FILE), then retry",
			   opts->image, why.text, opts->image);
		return NULL;
	}
	return bu_steal(&text);
}

static int
check(const struct bu_install_opts *opts, const struct bu_manifest *manifest,
      struct bu_err *err)
{
	if (strcmp(manifest->name, opts->image) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "the manifest is of image %s, ordered was %s",
				  manifest->name, opts->image);
	if (!opts->raw != !manifest->disk.sector_bytes)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "image %s is %sa whole disk, and the order (root = "
				  "%s) is for another kind; nothing was written",
				  opts->image, opts->raw ? "not " : "",
				  opts->raw ? "raw" : "disk");
	if (opts->mirror && !bu_manifest_holds(manifest, "mirror"))
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "image %s does not support a mirrored root; build it "
				  "again; nothing was written",
				  opts->image);
	if (!manifest->disk.sector_bytes && !opts->agent_file_count)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "image %s: this boot ramdisk has no agent to bring; "
				  "build it: bringup image build ramdisk",
				  opts->image);
	return 0;
}

struct bu_manifest *
bu_fetch_manifest(const struct bu_install_opts *opts,
		  const struct bu_install_hooks *hooks, struct bu_err *err)
{
	const struct bu_http_opts http_opts = {.base_url = opts->base_url};
	struct fetch fetch = {opts, hooks, bu_http_create(&http_opts)};
	size_t size = 0;
	bu_autofree char *text = get_verified(&fetch, &size, err);
	struct bu_manifest *manifest = text ? bu_manifest_parse(text, size, err) : NULL;

	bu_http_destroy(fetch.http);
	if (!manifest || check(opts, manifest, err) == 0)
		return manifest;
	bu_manifest_destroy(manifest);
	return NULL;
}
