/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts images into the store and takes them out; recipe.c, the imports and `bringup
 * image` call it, under the cache's lock. Invariant: a folder below .store is whole,
 * because it comes there by one rename after everything in it is synced, and its link
 * follows that.
 */
#include "images/build/shelf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "images/build/sign.h"

static int
sync_dir(const char *path, struct bu_err *err)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || syncfs(fd))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", path);
	return 0;
}

static int
manifest_digest(const char *dir, char ret_digest[BU_DIGEST_SIZE], struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/manifest.json", dir);

	return bu_sha256_file(path, ret_digest, err);
}

/* What a link took the name of goes into the store, too, if it is an image:
 * installations may need it. Afterwards nothing is left there. */
static int
keep_plain(const char *images_dir, const char *aside, struct bu_err *err)
{
	char digest[BU_DIGEST_SIZE];
	struct stat st;

	if (lstat(aside, &st))
		return 0;
	if (!S_ISDIR(st.st_mode))
		return unlink(aside) ? bu_err_set(err, BU_ERR_IO, errno, "%s", aside)
				     : 0;
	if (!manifest_digest(aside, digest, NULL)) {
		bu_autofree char *stored =
			bu_xasprintf("%s/" BU_IMAGE_STORE "/%s", images_dir, digest);

		if (!renameat2(AT_FDCWD, aside, AT_FDCWD, stored, RENAME_NOREPLACE))
			return 0;
		if (errno != EEXIST)
			return bu_err_set(err, BU_ERR_IO, errno, "%s", stored);
	}
	return bu_remove_tree(aside, err);
}

/* The link takes the name in one step; a plain folder that had it is put aside, and
 * taken over next time where we are cut off. */
static int
point(const char *images_dir, const struct bu_image_id *id, struct bu_err *err)
{
	bu_autofree char *target = bu_xasprintf(BU_IMAGE_STORE "/%s", id->digest);
	bu_autofree char *named = bu_xasprintf("%s/%s", images_dir, id->name);
	bu_autofree char *aside =
		bu_xasprintf("%s/" BU_IMAGE_STORE "/.%s.aside", images_dir, id->name);
	unsigned int flags = 0;
	struct stat st;

	if (keep_plain(images_dir, aside, err))
		return -1;
	if (!lstat(named, &st) && S_ISDIR(st.st_mode))
		flags = RENAME_EXCHANGE;
	if (symlink(target, aside))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", aside);
	if (renameat2(AT_FDCWD, aside, AT_FDCWD, named, flags)) {
		bu_err_set(err, BU_ERR_IO, errno, "%s", named);
		unlink(aside);
		return -1;
	}
	return sync_dir(images_dir, err) ? -1 : keep_plain(images_dir, aside, err);
}

/* The same bytes come again: what others signed stays signed. */
static int
keep_signatures(const char *stored, const char *digest, const char *out,
		struct bu_err *err)
{
	char have[BU_DIGEST_SIZE];

	if (manifest_digest(stored, have, NULL) || strcmp(have, digest) != 0)
		return 0;
	return bu_image_signatures_keep(stored, out, err);
}

int
bu_shelf_put(const char *images_dir, const char *name, const char *out,
	     struct bu_err *err)
{
	char digest[BU_DIGEST_SIZE];
	bu_autofree char *store = bu_xasprintf("%s/" BU_IMAGE_STORE, images_dir);
	bu_autofree char *stored = NULL;

	if (manifest_digest(out, digest, err))
		return -1;
	stored = bu_xasprintf("%s/%s", store, digest);
	if (bu_mkdir_p(store, 0755, err) || keep_signatures(stored, digest, out, err) ||
	    sync_dir(out, err))
		return -1;
	if (renameat2(AT_FDCWD, out, AT_FDCWD, stored,
		      bu_file_exists(stored) ? RENAME_EXCHANGE : 0))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", stored);
	if (sync_dir(store, err))
		return -1;
	return point(images_dir, &(struct bu_image_id){name, digest}, err);
}

int
bu_shelf_use(const char *images_dir, const struct bu_image_id *id, struct bu_err *err)
{
	return point(images_dir, id, err);
}

/* --- what is there --- */

/* Through no link; a tree of an import is at most BU_UNPACK_DEPTH_MAX deep. */
static uint64_t
folder_bytes(const char *dir)
{
	struct dirent **entries = NULL;
	int count = scandir(dir, &entries, NULL, NULL);
	uint64_t bytes = 0;

	for (int i = 0; i < count; i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, entries[i]->d_name);
		struct stat st;

		if (lstat(path, &st))
			memset(&st, 0, sizeof(st));
		if (S_ISREG(st.st_mode))
			bytes += st.st_blocks * UINT64_C(512);
		else if (S_ISDIR(st.st_mode) && strcmp(entries[i]->d_name, ".") != 0 &&
			 strcmp(entries[i]->d_name, "..") != 0)
			bytes += folder_bytes(path);
		free(entries[i]);
	}
	free(entries);
	return bytes;
}

/* By the links alone: a manifest that nobody can read frees nothing. The name is of
 * the link where the manifest does not say one. */
static void
look_at_links(const char *images_dir, const char *dir, struct bu_shelf_item *ret)
{
	struct dirent **entries = NULL;
	int count = scandir(images_dir, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		bu_autofree char *named = NULL;

		if (!bu_image_name_check(name, "image", NULL))
			named = bu_image_dir(images_dir, name, NULL);
		if (named && !strcmp(named, dir)) {
			ret->named = 1;
			if (!ret->name[0])
				bu_text_copy(ret->name, sizeof(ret->name), name);
		}
		free(entries[i]);
	}
	free(entries);
}

/* 1 and the item, or 0 when the folder is none of the store's. */
static int
look(const char *images_dir, const char *digest, struct bu_shelf_item *ret)
{
	bu_autofree char *dir =
		bu_xasprintf("%s/" BU_IMAGE_STORE "/%s", images_dir, digest);
	bu_autofree char *path = bu_xasprintf("%s/manifest.json", dir);
	bu_autofree char *text = NULL;
	struct bu_manifest *manifest;
	struct stat st;
	size_t size;

	if (strlen(digest) != BU_DIGEST_SIZE - 1 || stat(path, &st))
		return 0;
	text = bu_file_read(path, BU_MANIFEST_MAX, &size, NULL);
	manifest = text ? bu_manifest_parse(text, size, NULL) : NULL;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->digest, digest, BU_DIGEST_SIZE);
	if (manifest)
		memcpy(ret->name, manifest->name, sizeof(ret->name));
	bu_manifest_destroy(manifest);
	ret->stored_ms =
		st.st_mtim.tv_sec * INT64_C(1000) + st.st_mtim.tv_nsec / 1000000;
	ret->bytes = folder_bytes(dir);
	look_at_links(images_dir, dir, ret);
	return 1;
}

static int
by_name_newest_first(const void *a, const void *b)
{
	const struct bu_shelf_item *one = a, *other = b;
	int order = strcmp(one->name, other->name);

	if (order)
		return order;
	if (one->stored_ms != other->stored_ms)
		return one->stored_ms < other->stored_ms ? 1 : -1;
	return strcmp(one->digest, other->digest);
}

int
bu_shelf_list(const char *images_dir, struct bu_shelf_item **ret_items,
	      size_t *ret_count, struct bu_err *err)
{
	bu_autofree char *store = bu_xasprintf("%s/" BU_IMAGE_STORE, images_dir);
	struct dirent **entries = NULL;
	int found = scandir(store, &entries, NULL, alphasort);
	struct bu_shelf_item *items;
	size_t count = 0;

	if (found < 0 && errno != ENOENT)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", store);
	items = bu_xcalloc(found > 0 ? found : 1, sizeof(*items));
	for (int i = 0; i < found; i++) {
		count += look(images_dir, entries[i]->d_name, &items[count]);
		free(entries[i]);
	}
	free(entries);
	qsort(items, count, sizeof(*items), by_name_newest_first);
	*ret_items = items;
	*ret_count = count;
	return 0;
}

/* --- choosing one --- */

/* Before the one that has the name; the first one is the newest. */
static const struct bu_shelf_item *
find_previous(const struct bu_shelf_item *items, size_t count, const char *name)
{
	int seen = 0;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(items[i].name, name) != 0)
			continue;
		if (seen)
			return &items[i];
		seen = items[i].named;
	}
	return NULL;
}

void
bu_shelf_judge(struct bu_shelf_item *items, size_t count, const char *const *digests,
	       size_t digest_count)
{
	for (size_t i = 0; i < count; i++) {
		struct bu_shelf_item *item = &items[i];

		item->need = item->named ? BU_NEED_NAME : BU_NEED_NONE;
		for (size_t k = 0; !item->need && k < digest_count; k++)
			if (!strcmp(digests[k], item->digest))
				item->need = BU_NEED_NODES;
		if (!item->need && find_previous(items, count, item->name) == item)
			item->need = BU_NEED_BEFORE;
	}
}

static const struct bu_shelf_item *
find_prefix(const struct bu_shelf_item *items, size_t count,
	    const struct bu_image_id *id)
{
	const struct bu_shelf_item *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(items[i].name, id->name) != 0 ||
		    strncmp(items[i].digest, id->digest, strlen(id->digest)) != 0)
			continue;
		if (found)
			return NULL;
		found = &items[i];
	}
	return found;
}

int
bu_shelf_find(const char *images_dir, const char *name, const char *digest,
	      struct bu_shelf_item *ret, struct bu_err *err)
{
	struct bu_shelf_item *items;
	const struct bu_shelf_item *found;
	size_t count;

	if (bu_shelf_list(images_dir, &items, &count, err))
		return -1;
	found = digest ? find_prefix(items, count, &(struct bu_image_id){name, digest})
		       : find_previous(items, count, name);
	if (found)
		*ret = *found;
	free(items);
	if (found)
		return 0;
	if (digest)
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no image '%s' is stored, or several, whose digest "
				  "begins with %s; 'bringup image list' has them",
				  name, digest);
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "nothing older than the present image '%s' is stored", name);
}

int
bu_shelf_remove(const char *images_dir, const struct bu_shelf_item *item,
		struct bu_err *err)
{
	bu_autofree char *stored =
		bu_xasprintf("%s/" BU_IMAGE_STORE "/%s", images_dir, item->digest);
	bu_autofree char *going =
		bu_xasprintf("%s/" BU_IMAGE_STORE "/.going", images_dir);

	if (item->named)
		return bu_err_set(err, BU_ERR_STATE, 0, "%s is what image '%s' is now",
				  stored, item->name);
	/* Half a folder must not have the digest's name. */
	if (bu_remove_tree(going, err))
		return -1;
	if (renameat2(AT_FDCWD, stored, AT_FDCWD, going, 0))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", stored);
	return bu_remove_tree(going, err);
}

/* --- what was left over --- */

/* Of a removal, of a name that changed, of a build. */
static int
sweep_one(const char *images_dir, const char *path, int yes, struct bu_err *err)
{
	static const char aside[] = ".aside";
	size_t size = strlen(path), tail = strlen(aside);

	if (!yes)
		return 0;
	if (size > tail && !strcmp(path + size - tail, aside))
		return keep_plain(images_dir, path, err);
	return bu_remove_tree(path, err);
}

/* Those entries of the folder whose name begins with `head`, behind "." and "..". */
static int
sweep_folder(const char *images_dir, const char *dir, const char *head, int yes,
	     uint64_t *bytes, struct bu_err *err)
{
	struct dirent **entries = NULL;
	int found = scandir(dir, &entries, NULL, alphasort), rc = 0;

	if (found < 0 && errno != ENOENT)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", dir);
	for (int i = 0; i < found; i++) {
		const char *name = entries[i]->d_name;
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

		if (!rc && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
		    !strncmp(name, head, strlen(head))) {
			*bytes += folder_bytes(path);
			rc = sweep_one(images_dir, path, yes, err);
		}
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int
bu_shelf_sweep(const char *images_dir, const char *tmp_dir, int yes,
	       uint64_t *ret_bytes, struct bu_err *err)
{
	bu_autofree char *store = bu_xasprintf("%s/" BU_IMAGE_STORE, images_dir);
	uint64_t bytes = 0;

	if (sweep_folder(images_dir, store, ".", yes, &bytes, err) ||
	    sweep_folder(images_dir, tmp_dir, "", yes, &bytes, err))
		return -1;
	*ret_bytes = bytes;
	return 0;
}
