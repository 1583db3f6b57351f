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

/* What is imported; all of `want` but its tag. */
struct import {
	const char *source;
	struct bu_oci_want want;
};

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
fill_from_layout(const struct import *import, const struct bu_oci_room *room,
		 struct bu_image_origin *ret, struct bu_err *err)
{
	const char *place = import->source + strlen(LAYOUT);
	const char *colon = strrchr(place, ':');
	bu_autofree char *dir =
		bu_xstrndup(place, colon ? (size_t)(colon - place) : strlen(place));
	struct bu_oci_want want = import->want;
	struct bu_oci_image image;

	want.tag = colon ? colon + 1 : NULL;
	if (bu_oci_unpack_layout(dir, &want, room, &image, err))
		return -1;
	fprintf(stderr, "image: %zu layers of %.12s\n", image.layer_count,
		image.digest);
	bu_origin_version(ret, want.tag ? want.tag : "");
	return add_oci(BU_SOURCE_OCI_LAYOUT, want.tag ? want.tag : "", &image, ret,
		       err);
}

static int
fill_from_registry(const struct import *import, const struct bu_oci_room *room,
		   struct bu_image_origin *ret, struct bu_err *err)
{
	const char *source = import->source;
	struct bu_registry_ref ref;
	struct bu_oci_image image;

	if (bu_registry_parse(source, &ref, err) ||
	    bu_registry_unpack(source, &import->want, room, &image, err))
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
	if (rc)
		return bu_err_wrap(err, "%s", source);
	bu_attributes_tell(&limit.left_out, stderr);
	return 0;
}

static int
starts(const char *text, const char *head)
{
	return !strncmp(text, head, strlen(head));
}

/* Leaves the script which kernel starts: "VERSION PATH" in <work>/kernel. */
static int
check(const char *root, const char *work, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/kernel", work);
	struct bu_root_kernel kernel;

	if (bu_check_root(root, &kernel, err))
		return -1;
	if (kernel.others[0])
		fprintf(stderr,
			"image: kernel %s starts, the newest of /lib/modules; %s stay%s "
			"unused\n",
			kernel.version, kernel.others,
			strchr(kernel.others, ',') ? "" : "s");
	return bu_file_write_text(path, 0600, err, "%s %s\n", kernel.version,
				  kernel.path);
}

/* A callback of struct bu_image_build_opts. */
static int
fill(void *arg, const char *work, struct bu_image_origin *ret, struct bu_err *err)
{
	const struct import *import = arg;
	const char *source = import->source;
	bu_autofree char *root = bu_xasprintf("%s/root", work);
	const struct bu_oci_room room = {root, work};
	int rc;

	if (chmod(work, 0700) || mkdir(root, 0755))
		return bu_err_set(err, BU_ERR_IO, errno, "%s", root);
	if (starts(source, LAYOUT))
		rc = fill_from_layout(import, &room, ret, err);
	else if (starts(source, REGISTRY))
		rc = fill_from_registry(import, &room, ret, err);
	else
		rc = fill_from_tar(source, &room, ret, err);
	return rc ? -1 : check(root, work, err);
}

/* BU_ERR_NOTFOUND names what a source can be. */
static int
check_source(const char *source, const char *platform, struct bu_err *err)
{
	int oci = starts(source, LAYOUT) || starts(source, REGISTRY);

	if (!oci && !bu_import_is_disk(source) && !bu_file_exists(source))
		return bu_err_set(err, BU_ERR_NOTFOUND, 0,
				  "source '%s': no such file; " REGISTRY
				  "HOST/REPOSITORY:TAG, " LAYOUT
				  "DIR[:TAG], " BU_IMPORT_RAW "FILE, " BU_IMPORT_QCOW2
				  "FILE or the path of a tar archive is needed",
				  source);
	if (!oci && platform)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"source '%s' has one platform; leave out platform '%s', "
			"which chooses of an OCI image alone",
			source, platform);
	return 0;
}

int
bu_image_import(const char *name, const char *source, const char *platform,
		const struct bu_image_build_opts *opts, struct bu_err *err)
{
	struct bu_image_build_opts with_source = *opts;
	struct import import = {.source = source, .want = {.arch = ARCH}};

	if (check_source(source, platform, err) ||
	    (platform && bu_oci_platform(platform, &import.want, err)))
		return -1;
	if (bu_import_is_disk(source)) {
		with_source.fill = bu_import_disk;
		with_source.fill_arg = (char *)source;
		with_source.filled = 1;
		return bu_image_build(name, &with_source, err);
	}
	with_source.fill = fill;
	with_source.fill_arg = &import;
	return bu_image_build(name, &with_source, err);
}
