/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of images for the nodes that install them. Called for each piece of a file.
 * Invariant: what is served is the manifest, its signature, or a file that the manifest
 * lists, after the manifest was verified by the keys that count for its image; all of
 * them are opened beneath image_dirs.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "images/store.h"
#include "provisioner/api/api.h"

enum { LISTS_KEPT = 16, SIGNATURES_MAX = 64 * 1024 };

/* What a version of a manifest lists, verified by these keys. */
struct list {
	struct stat version;
	char keys[BU_DIGEST_SIZE];
	char *dir; /* NULL = free */
	char names[BU_IMAGE_PARTS_MAX][64];
	size_t count;
};

/* A node asks for an image in thousands of pieces. */
static struct list lists[LISTS_KEPT];
static size_t next_list;

static int
open_in(const char *dir, const char *file, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, file);

	return bu_confine_open(BU_CONFINE_IMAGES, path, O_RDONLY | O_NONBLOCK, err);
}

static struct bu_manifest *
read_verified(const char *dir, const char *name, const char *keys, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/manifest.json", dir);
	bu_autofree char *sig_path = bu_xasprintf("%s/manifest.sig", dir);
	bu_autofree char *text = NULL, *sig = NULL;
	struct bu_manifest *manifest;
	size_t size = 0;

	text = bu_confine_read(BU_CONFINE_IMAGES, path, BU_MANIFEST_MAX, &size, err);
	if (!text)
		return NULL;
	if (*keys) {
		sig = bu_confine_read(BU_CONFINE_IMAGES, sig_path, SIGNATURES_MAX, NULL,
				      err);
		if (!sig || bu_manifest_verify(text, size, sig, keys, err) != 0)
			return NULL;
	}
	manifest = bu_manifest_parse(text, size, err);
	if (manifest && strcmp(manifest->name, name) != 0) {
		bu_err_set(err, BU_ERR_VERIFY, 0, "%s is of image '%s'", path,
			   manifest->name);
		bu_manifest_destroy(manifest);
		return NULL;
	}
	return manifest;
}

/* NULL: its manifest is not there, or verified by none of the keys. */
static const struct list *
list_of(const char *dir, const char *name, const char *keys, struct bu_err *err)
{
	bu_autoclose int fd = open_in(dir, "manifest.json", err);
	struct bu_manifest *manifest;
	char digest[BU_DIGEST_SIZE];
	struct list *list;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return NULL;
	bu_sha256_hex(keys, strlen(keys), digest);
	for (size_t i = 0; i < LISTS_KEPT; i++)
		if (lists[i].dir && strcmp(lists[i].dir, dir) == 0 &&
		    strcmp(lists[i].keys, digest) == 0 &&
		    bu_file_is_version(&lists[i].version, &st))
			return &lists[i];
	manifest = read_verified(dir, name, keys, err);
	if (!manifest)
		return NULL;
	list = &lists[next_list++ % LISTS_KEPT];
	free(list->dir);
	*list = (struct list){.version = st, .dir = bu_xstrdup(dir)};
	memcpy(list->keys, digest, sizeof(digest));
	for (; list->count < manifest->part_count; list->count++)
		BU_TEXT_COPY(list->names[list->count],
			     manifest->parts[list->count].file);
	bu_manifest_destroy(manifest);
	return list;
}

static int
lists_file(const struct list *list, const char *file)
{
	if (strcmp(file, "manifest.json") == 0 || strcmp(file, "manifest.sig") == 0)
		return 1;
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->names[i], file) == 0)
			return 1;
	return 0;
}

/* The open file, or -1. digest: of the image, NULL = what has the name now. */
static int
open_listed(const struct bu_api *api, const struct bu_desired_image *image,
	    const char *digest, const char *file, struct bu_err *err)
{
	bu_autofree char *keys = bu_work_image_keys(&api->work, image, digest, err);
	bu_autofree char *dir = bu_image_dir(
		image->path ? image->path : api->work.images_dir, image->name, digest);
	const struct list *list = NULL;

	if (keys && (!digest || bu_image_has_digest(dir, digest)))
		list = list_of(dir, image->name, keys, err);
	return list && lists_file(list, file) ? open_in(dir, file, err) : -1;
}

static enum bu_answer
send_fd(struct bu_api *api, int fd, struct bu_reply *reply, struct bu_err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return bu_err_set(err, BU_ERR_NOTFOUND, 0, "this is not a file");
	}
	reply->has_fd = 1;
	reply->fd = fd;
	reply->fd_size = (uint64_t)st.st_size;
	reply->fd_sent = &api->image_bytes;
	reply->content_type = "application/octet-stream";
	return BU_ANSWER_NOW;
}

BU_HANDLER(bu_api_image_file)
{
	struct bu_api *api = arg;
	const char *name = request->params[0], *file = request->params[1];
	const struct bu_desired *desired = api->fleet->desired;
	const struct bu_desired_image plain = {.name = (char *)(uintptr_t)name};
	const struct bu_desired_image *image =
		desired ? bu_desired_image(desired, name) : NULL;
	struct bu_err why = {0};
	int fd = -1;

	if (bu_path_is_name(name) && bu_path_is_name(file))
		fd = open_listed(api, image ? image : &plain, NULL, file, &why);
	if (fd >= 0)
		return send_fd(api, fd, reply, err);
	bu_debug("boot", "image %s: %s is not served: %s", name, file, why.text);
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "no image file of that name is in a verified manifest");
}

/* By each revision that an order goes by, then as the appliance itself has it. */
BU_HANDLER(bu_api_digest_file)
{
	struct bu_api *api = arg;
	const char *digest = request->params[0], *name = request->params[1];
	const char *file = request->params[2];
	const struct bu_desired_image plain = {.name = (char *)(uintptr_t)name};
	const struct bu_desired *desired;
	struct bu_err why = {0};
	int fd = -1;

	if (!bu_path_is_name(name) || !bu_path_is_name(file))
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "no image file of that name");
	for (size_t i = 0; fd < 0 && (desired = bu_fleet_state(api->fleet, i)); i++) {
		const struct bu_desired_image *image = bu_desired_image(desired, name);

		if (image)
			fd = open_listed(api, image, digest, file, &why);
	}
	if (fd < 0)
		fd = open_listed(api, &plain, digest, file, &why);
	if (fd >= 0)
		return send_fd(api, fd, reply, err);
	return bu_err_set(
		err, BU_ERR_NOTFOUND, 0,
		"no image '%.63s' with digest %.12s is stored that is verified "
		"and lists '%.63s'; 'bringup image list' has those that are "
		"stored",
		name, digest, file);
}
