/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unpacks a source into the folder of a build, checks that a node can run it, and lets
 * recipes/import.sh make the file systems; `bringup image import` calls it. Invariant:
 * what is unpacked lies in a folder that nobody but its owner enters (it may hold
 * programs that run as root, and devices).
 */
#include "images/build/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "images/build/check_root.h"
#include "images/build/import_disk.h"
#include "images/build/oci.h"
#include "images/build/registry.h"
#include "images/build/unpack.h"

#define LAYOUT "oci-layout:"
#define REGISTRY "oci://"
#define ARCH "amd64"

static int
fill_from_layout(const char *source, const struct bu_oci_room *room, struct bu_err *err)
{
	const char *place = source + strlen(LAYOUT);
	const char *colon = strrchr(place, ':');
	bu_autofree char *dir =
		bu_xstrndup(place, colon ? (size_t)(colon - place) : strlen(place));
	const struct bu_oci_want want = {.tag = colon ? colon + 1 : NULL, .arch = ARCH};
	struct bu_oci_image image;

	if (bu_oci_unpack_layout(dir, &want, room, &image, err))
		return -1;
	fprintf(stderr, "image: %zu layers of %.12s\n", image.layer_count,
		image.digest);
	return 0;
}

static int
fill_from_registry(const char *source, const struct bu_oci_room *room,
		   struct bu_err *err)
{
	struct bu_oci_image image;

	if (bu_registry_unpack(source, ARCH, room, &image, err))
		return -1;
	fprintf(stderr, "image: %s is sha256:%s\n", source, image.digest);
	return 0;
}

static int
fill_from_tar(const char *source, const struct bu_oci_room *room, struct bu_err *err)
{
	bu_autofree char *tar = bu_xasprintf("%s/source.tar", room->work);
	bu_autoclose int root_fd = open(room->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct bu_unpack_limit limit = BU_UNPACK_LIMIT;
	char digest[BU_DIGEST_SIZE];
	int rc;

	if (root_fd < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "%s", room->root);
	rc = bu_unpack_stream(source, tar, &limit, digest, err) ||
	     bu_unpack_tar(tar, root_fd, 0, &limit, err);
	unlink(tar);
	return rc ? bu_err_wrap(err, "%s", source) : 0;
}

static int
starts(const char *text, const char *head)
{
	return !strncmp(text, head, strlen(head));
}

/* A callback of struct bu_image_build_opts. */
static int
fill(void *arg, const char *work, struct bu_err *err)
{
	const char *source = arg;
	bu_autofree char *root = bu_xasprintf("%s/root", work);
	const struct bu_oci_room room = {root, work};
	int rc;

	if (chmod(work, 0700) || mkdir(root, 0755))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", root);
	if (starts(source, LAYOUT))
		rc = fill_from_layout(source, &room, err);
	else if (starts(source, REGISTRY))
		rc = fill_from_registry(source, &room, err);
	else
		rc = fill_from_tar(source, &room, err);
	return rc ? -1 : bu_check_root(root, err);
}

int
bu_image_import(const char *name, const char *source,
		const struct bu_image_build_opts *opts, struct bu_err *err)
{
	struct bu_image_build_opts with_source = *opts;

	if (bu_import_is_disk(source)) {
		with_source.fill = bu_import_disk;
		with_source.fill_arg = (char *)source;
		with_source.filled = 1;
		return bu_image_build(name, &with_source, err);
	}
	if (!starts(source, LAYOUT) && !starts(source, REGISTRY) &&
	    !bu_file_exists(source))
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "source '%s': no such file; " REGISTRY
				  "HOST/REPOSITORY:TAG, " LAYOUT
				  "DIR[:TAG], " BU_IMPORT_RAW "FILE, " BU_IMPORT_QCOW2
				  "FILE or the path of a tar archive is needed",
				  source);
	with_source.fill = fill;
	with_source.fill_arg = (char *)source;
	return bu_image_build(name, &with_source, err);
}
