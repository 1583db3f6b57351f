/* SPDX-License-Identifier: Apache-2.0 */
/* Blobs: texts named by their SHA-256, which is looked at again when they are read. */
#include <string.h>

#include "base/crypto.h"
#include "provisioner/store/store_impl.h"

static int
put_blobs(struct bu_store *store, const struct bu_blob *blobs, size_t count,
	  struct bu_err *err)
{
	struct bu_err bad = store->down;

	for (size_t i = 0; i < count; i++)
		store->bytes += (int64_t)strlen(blobs[i].text);
	if (!bad.kind && store->ops->blobs_put(store->driver, blobs, count, &bad) == 0)
		return 0;
	bu_store_fail(store, &bad);
	if (err)
		*err = bad;
	return -1;
}

int
bu_store_put_blob(struct bu_store *store, const char *text, char *ret_digest,
		  struct bu_err *err)
{
	struct bu_blob blob = {.text = text};

	bu_sha256_hex(text, strlen(text), blob.digest);
	if (put_blobs(store, &blob, 1, err) != 0)
		return -1;
	memcpy(ret_digest, blob.digest, sizeof(blob.digest));
	return 0;
}

int
bu_store_put_blobs(struct bu_store *store, const char *const *texts, size_t count,
		   struct bu_err *err)
{
	bu_autofree struct bu_blob *blobs = bu_xcalloc(count + 1, sizeof(*blobs));

	for (size_t i = 0; i < count; i++) {
		blobs[i].text = texts[i];
		bu_sha256_hex(texts[i], strlen(texts[i]), blobs[i].digest);
	}
	return put_blobs(store, blobs, count, err);
}

char *
bu_store_get_blob(struct bu_store *store, const char *digest, struct bu_err *err)
{
	char *text = store->ops->blob_get(store->driver, digest, err);
	char seen[BU_DIGEST_SIZE];

	if (!text)
		return NULL;
	bu_sha256_hex(text, strlen(text), seen);
	if (strcmp(seen, digest) == 0)
		return text;
	free(text);
	bu_err_set(err, BU_ERR_VERIFY, 0, "blob %s was changed in the store", digest);
	return NULL;
}
