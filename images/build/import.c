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
#include "base/text.h"
#include "images/build/check_root.h"
#include "images/build/import_disk.h"
#include "images/build/made_of.h"
#include "images/build/oci.h"
#include "images/build/registry.h"
#include "images/build/unpack.h"

#define LAYOUT "oci-layout:"
#define REGISTRY "oci://"
#define ARCH "amd64"

/* What all sources of the kind say of themselves. */
static int
add_oci(enum bu_source_kind kind, const char *name, const struct bu_oci_image *image,
	struct bu_image_origin *ret, struct bu_err *err)
{
	struct bu_image_source *source = bu_origin_add(ret, kind, name, err);

	if (!source)
		return -1;
	memcpy(source->digest, image->digest, sizeof(source->digest));
	if (image->version[0])
		bu_origin_version(ret, image->version);
	return 0;
}

static int
fill_from_layout(const char *source, const struct bu_oci_room *room,
		 struct bu_image_origin *ret, struct bu_err *err)
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
	bu_origin_version(ret, want.tag ? want.tag : "");
	return add_oci(BU_SOURCE_OCI_LAYOUT, want.tag ? want.tag : "", &image, ret,
		       err);
}

static int
fill_from_registry(const char *source, const struct bu_oci_room *room,
		   struct bu_image_origin *ret, struct bu_err *err)
{
	struct bu_registry_ref ref;
	struct bu_oci_image image;

	if (bu_registry_parse(source, &ref, err) ||
	    bu_registry_unpack(source, ARCH, room, &image, err))
		return -1;
	fprintf(stderr, "image: %s is sha256:%s\n", source, image.digest);
	bu_origin_version(ret, ref.tag);
	if (add_oci(BU_SOURCE_OCI, source, &image, ret, err))
		return -1;
	BU_TEXT_COPY(ret->sources[ret->source_count - 1].host, ref.host);
	return 0;
}

/* The digest is of what was unpacked, or the manifest would lie. */
static int
check_unchanged(const char *source, const struct stat *before, struct bu_err *err)
{
	struct stat st;

	if (!stat(source, &st) && st.st_ino == before->st_ino &&
	    st.st_size == before->st_size &&
	    st.st_mtim.tv_sec == before->st_mtim.tv_sec &&
	    st.st_mtim.tv_nsec == before->st_mtim.tv_nsec)
		return 0;
	return bu_err_set(err, BU_ERR_VERIFY, 0,
			  "it changed while it was read; import it again");
}

static int
fill_from_tar(const char *source, const struct bu_oci_room *room,
	      struct bu_image_origin *ret, struct bu_err *err)
{
	bu_autofree char *tar = bu_xasprintf("%s/source.tar", room->work);
	bu_autoclose int root_fd = open(room->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct bu_unpack_limit limit = BU_UNPACK_LIMIT;
	char digest[BU_DIGEST_SIZE];
	struct stat st;
	int rc;

	if (root_fd < 0 || stat(source, &st))
		return bu_err_set(err, BU_ERR_IO, errno, "%s",
				  root_fd < 0 ? room->root : source);
	rc = bu_made_of_file(BU_SOURCE_TAR, source, ret, err) ||
	     bu_unpack_stream(source, tar, &limit, digest, err) ||
	     bu_unpack_tar(tar, root_fd, 0, &limit, err) ||
	     check_unchanged(source, &st, err);
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
fill(void *arg, const char *work, struct bu_image_origin *ret, struct bu_err *err)
{
	const char *source = arg;
	bu_autofree char *root = bu_xasprintf("%s/root", work);
	const struct bu_oci_room room = {root, work};
	int rc;

	if (chmod(work, 0700) || mkdir(root, 0755))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", root);
	if (starts(source, LAYOUT))
		rc = fill_from_layout(source, &room, ret, err);
	else if (starts(source, REGISTRY))
		rc = fill_from_registry(source, &room, ret, err);
	else
		rc = fill_from_tar(source, &room, ret, err);
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
