/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, loads and lists images; used by bringupd, the builder and the command line.
 * Invariant: what bu_image_load() gives was signed by the image key and is complete.
 */
#include "images/store.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/text.h"

enum { SBOM_MAX = 64 * 1024 * 1024 };

static int
check_files(const struct bu_image *image, struct bu_err *err)
{
	const struct bu_manifest *manifest = image->manifest;

	for (size_t i = 0; i < manifest->part_count; i++) {
		const struct bu_part *part = &manifest->parts[i];
		bu_autofree char *path = bu_xasprintf("%s/%s", image->dir, part->file);
		uint64_t want = bu_part_stored_bytes(part);
		struct stat st;

		if (stat(path, &st))
			return bu_err_set(err, BU_ERR_IO, errno, "%s", path);
		if ((uint64_t)st.st_size != want)
			return bu_err_set(err, BU_ERR_VERIFY, 0,
					  "%s has %lld bytes, the manifest says %llu; "
					  "build the image again",
					  path, (long long)st.st_size,
					  (unsigned long long)want);
	}
	return 0;
}

static int
is_digest(const char *text)
{
	return strlen(text) == BU_DIGEST_SIZE - 1 && bu_text_is(text, BU_DIGEST_DIGITS);
}

int
bu_image_check_digest(const char *dir, const char *digest, struct bu_err *err)
{
	const char *name = bu_path_name(dir);

	if (!is_digest(name) || !strcmp(name, digest))
		return 0;
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "the manifest has SHA-256 %s; build the image again", digest);
}

int
bu_image_keys_check(const char *path, const char *text, struct bu_err *err)
{
	static const char begin[] = "-----BEGIN ", public[] = "PUBLIC KEY-----";
	const char *at = strstr(text, begin);

	if (!at)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s has no public key: expected PEM, as 'openssl "
				  "pkey -pubout' writes it",
				  path);
	for (; at; at = strstr(at, begin)) {
		at += strlen(begin);
		if (strncmp(at, public, strlen(public)) != 0)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "%s holds something else than public keys; "
					  "nodes get the file, so nothing else may be "
					  "in it",
					  path);
	}
	return 0;
}

char *
bu_image_keys_read(const char *path, struct bu_err *err)
{
	bu_autofree char *text = bu_file_read(path, 65536, NULL, err);

	return text && bu_image_keys_check(path, text, err) == 0 ? bu_steal(&text)
								 : NULL;
}

static int
check_signature(const char *dir, const char *public_pem, const char *text, size_t size,
		struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/manifest.sig", dir);
	bu_autofree char *sig = bu_file_read(path, 4096, NULL, err);

	return sig ? bu_manifest_verify(text, size, sig, public_pem, err) : -1;
}

/* It has none, or one of another key; -1. By which key, its caller knows. */
static int
refuse_signature(const char *name, struct bu_err *err)
{
	struct bu_err why = {0};

	if (!err || (err->kind != BU_ERR_VERIFY && err->kind != BU_ERR_NOTFOUND))
		return -1;
	why = *err;
	return bu_err_set(err, why.kind, 0,
			  "%s; sign it with the private key to one that counts: "
			  "bringup image sign %s --key FILE",
			  why.text, name);
}

static int
load(struct bu_image *image, const char *name, const char *public_pem,
     struct bu_err *err)
{
	bu_autofree char *json_path = bu_xasprintf("%s/manifest.json", image->dir);
	bu_autofree char *text = NULL;
	size_t size;

	if (public_pem && !*public_pem)
		return bu_err_set(err, BU_ERR_INVAL, 0, "no key to verify it with");
	if (!bu_file_exists(json_path))
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no image '%s' (%s is missing); make it with "
				  "'bringup image build %s'",
				  name, json_path, name);
	text = bu_file_read(json_path, BU_MANIFEST_MAX, &size, err);
	if (!text)
		return -1;
	if (public_pem && check_signature(image->dir, public_pem, text, size, err))
		return refuse_signature(name, err);
	image->manifest = bu_manifest_parse(text, size, err);
	if (!image->manifest)
		return -1;
	if (strcmp(image->manifest->name, name) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "the manifest is of image '%s', not '%s'",
				  image->manifest->name, name);
	bu_sha256_hex(text, size, image->digest);
	if (bu_image_check_digest(image->dir, image->digest, err))
		return -1;
	for (size_t i = 0; i < image->manifest->part_count; i++)
		image->stored_bytes += bu_part_stored_bytes(&image->manifest->parts[i]);
	return check_files(image, err);
}

char *
bu_image_dir(const char *images_dir, const char *name, const char *digest)
{
	bu_autofree char *named = bu_xasprintf("%s/%s", images_dir, name);
	char target[sizeof(BU_IMAGE_STORE) + 1 + BU_DIGEST_SIZE];
	ssize_t size;

	if (digest) {
		bu_autofree char *stored =
			bu_xasprintf("%s/" BU_IMAGE_STORE "/%s", images_dir, digest);

		return bu_xstrdup(is_digest(digest) && bu_file_exists(stored) ? stored
									      : named);
	}
	size = readlink(named, target, sizeof(target) - 1);
	target[size > 0 ? size : 0] = '\0';
	if (strncmp(target, BU_IMAGE_STORE "/", sizeof(BU_IMAGE_STORE)) != 0)
		return bu_xstrdup(named);
	return bu_xasprintf("%s/%s", images_dir, target);
}

int
bu_image_is_signed(const char *images_dir, const char *name, const char *digest)
{
	bu_autofree char *dir = bu_image_dir(images_dir, name, digest);
	bu_autofree char *path = bu_xasprintf("%s/manifest.sig", dir);

	return bu_file_exists(path);
}

static int
load_from(char *dir, const char *name, const char *public_pem, struct bu_image *ret,
	  struct bu_err *err)
{
	struct bu_image image = {.dir = dir};

	if (load(&image, name, public_pem, err)) {
		bu_err_wrap(err, "%s", image.dir);
		bu_image_fini(&image);
		return -1;
	}
	*ret = image;
	return 0;
}

int
bu_image_load(const char *images_dir, const char *name, const char *public_pem,
	      struct bu_image *ret, struct bu_err *err)
{
	if (bu_image_name_check(name, "image", err))
		return -1;
	return load_from(bu_image_dir(images_dir, name, NULL), name, public_pem, ret,
			 err);
}

int
bu_image_load_stored(const char *images_dir, const struct bu_image_id *id,
		     const char *public_pem, struct bu_image *ret, struct bu_err *err)
{
	if (bu_image_name_check(id->name, "image", err))
		return -1;
	if (load_from(bu_image_dir(images_dir, id->name, id->digest), id->name,
		      public_pem, ret, err))
		return -1;
	if (!strcmp(ret->digest, id->digest))
		return 0;
	bu_image_fini(ret);
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "%s has no image %s with digest %.12s; 'bringup image list' "
			  "has those that are stored",
			  images_dir, id->name, id->digest);
}

char *
bu_image_sbom(const struct bu_image *image, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/" BU_SBOM_FILE, image->dir);
	bu_autofree char *text = NULL;
	char digest[BU_DIGEST_SIZE];
	size_t size;

	if (!image->manifest->sbom[0]) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "image %s has no list of packages: it is a whole disk, its "
			   "system has neither dpkg nor rpm, or it was built by a "
			   "version before; build or import it again",
			   image->manifest->name);
		return NULL;
	}
	text = bu_file_read(path, SBOM_MAX, &size, err);
	if (!text)
		return NULL;
	bu_sha256_hex(text, size, digest);
	if (strcmp(digest, image->manifest->sbom) != 0) {
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "%s has SHA-256 %s, the manifest says %s; build the image "
			   "again",
			   path, digest, image->manifest->sbom);
		return NULL;
	}
	return bu_steal(&text);
}

void
bu_image_fini(struct bu_image *image)
{
	bu_manifest_destroy(image->manifest);
	free(image->dir);
	memset(image, 0, sizeof(*image));
}

static int
has_manifest(const struct dirent *entry, const char *images_dir)
{
	bu_autofree char *path =
		bu_xasprintf("%s/%s/manifest.json", images_dir, entry->d_name);

	return !bu_image_name_check(entry->d_name, "image", NULL) &&
	       bu_file_exists(path);
}

int
bu_image_list(const char *images_dir, char ***ret_names, size_t *ret_count,
	      struct bu_err *err)
{
	struct dirent **entries = NULL;
	int found = scandir(images_dir, &entries, NULL, alphasort);
	char **names;
	size_t count = 0;

	if (found < 0 && errno != ENOENT)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", images_dir);
	names = bu_xcalloc(found > 0 ? found : 1, sizeof(*names));
	for (int i = 0; i < found; i++) {
		if (has_manifest(entries[i], images_dir))
			names[count++] = bu_xstrdup(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	*ret_names = names;
	*ret_count = count;
	return 0;
}

/* --- who uses it --- */

static char *
claim_path(const char *images_dir)
{
	return bu_xasprintf("%s/.bringupd", images_dir);
}

void
bu_image_claim(const char *images_dir, const char *log)
{
	bu_autofree char *path = claim_path(images_dir), *whole = realpath(log, NULL);

	/* A folder that is not there, or is another one's, needs no word. */
	if (whole)
		bu_ignore(bu_file_write_text(path, 0644, NULL, "%s\n", whole));
}

char *
bu_image_claimed(const char *images_dir)
{
	bu_autofree char *path = claim_path(images_dir);
	char *log = bu_file_read(path, 4096, NULL, NULL);

	if (!log)
		return NULL;
	log[strcspn(log, "\n")] = '\0';
	if (access(log, F_OK) == 0)
		return log;
	free(log);
	return NULL;
}
