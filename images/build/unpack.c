/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads archives with libarchive, which parses and never touches the disk; tree.c does.
 * The imports call it, in a process of their own. Invariant: an entry is made after its
 * path, type, size and attributes were found harmless, and each at most once in a
 * layer.
 */
#include "images/build/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "images/build/unpack_follow.h"
#include "images/build/unpack_tree.h"

enum { BLOCK = 1024 * 1024 };
#define WHITEOUT ".wh."
#define OPAQUE ".wh..wh..opq"

static void
free_archive(struct archive **archive)
{
	if (*archive)
		archive_read_free(*archive);
}
#define autoarchive __attribute__((cleanup(free_archive)))

static int
archive_err(struct archive *archive, const char *what, struct bu_err *err)
{
	const char *text = archive_error_string(archive);

	return bu_err_set(err, BU_ERR_VERIFY, 0, "%s: %.300s", what,
			  text ? text : "damaged");
}

/* --- the compressed stream --- */

static int
copy_stream(struct archive *archive, int fd, struct bu_unpack_limit *limit,
	    struct bu_sha256_state *sha, struct bu_err *err)
{
	const void *data;
	size_t size;
	la_int64_t offset;
	int rc;

	while ((rc = archive_read_data_block(archive, &data, &size, &offset)) ==
	       ARCHIVE_OK) {
		if (size > limit->stream_bytes)
			return bu_err_set(err, BU_ERR_VERIFY, 0,
					  "it unpacks to more than an image may have");
		limit->stream_bytes -= size;
		bu_sha256_add(sha, data, size);
		if (bu_write_all(fd, data, size, err))
			return -1;
	}
	return rc == ARCHIVE_EOF ? 0 : archive_err(archive, "cut off or damaged", err);
}

int
bu_unpack_stream(const char *path, const char *tar_path, struct bu_unpack_limit *limit,
		 char ret_digest[BU_DIGEST_SIZE], struct bu_err *err)
{
	autoarchive struct archive *archive = archive_read_new();
	bu_autoclose int fd =
		open(tar_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct archive_entry *entry;
	struct bu_sha256_state *sha = bu_sha256_begin();
	int rc = -1;

	archive_read_support_filter_gzip(archive);
	archive_read_support_filter_xz(archive);
	archive_read_support_filter_zstd(archive);
	archive_read_support_format_raw(archive);
	archive_read_support_format_empty(archive);
	if (fd < 0)
		bu_err_set(err, BU_ERR_IO, errno, "%s", tar_path);
	else if (archive_read_open_filename(archive, path, BLOCK))
		archive_err(archive, path, err);
	else
		switch (archive_read_next_header(archive, &entry)) {
		case ARCHIVE_OK:
			rc = copy_stream(archive, fd, limit, sha, err);
			break;
		case ARCHIVE_EOF:
			rc = bu_err_set(err, BU_ERR_VERIFY, 0, "it is empty");
			break;
		default:
			archive_err(archive, "cut off or damaged", err);
		}
	bu_sha256_final(sha, ret_digest);
	return rc;
}

/* --- entries --- */

struct unpack {
	struct archive *archive;
	struct archive_entry *entry;
	int root_fd;
	struct bu_unpack_limit *limit;
	int leads_to_itself; /* the entry: bu_unpack_follow() */
	json_t *seen;        /* paths of this archive; of a folder its time: [s, ns] */
};

static int
refuse(const struct unpack *unpack, struct bu_err *err, const char *why)
{
	const char *name = archive_entry_pathname(unpack->entry);

	return bu_err_set(err, BU_ERR_VERIFY, 0, "entry '%.200s': %s",
			  name ? name : "(not readable)", why);
}

/* The place in the root that the name leads to; owned. */
static char *
place_of(const struct unpack *unpack, const char *name, int *ret_itself,
	 struct bu_err *err)
{
	bu_autofree char *path = bu_unpack_path(name, err);

	return path ? bu_unpack_follow(unpack->root_fd, path, ret_itself, err) : NULL;
}

static char *
entry_path(struct unpack *unpack, struct bu_err *err)
{
	const char *name = archive_entry_pathname(unpack->entry);
	char *path = place_of(unpack, name ? name : "", &unpack->leads_to_itself, err);

	if (!path)
		bu_err_wrap(err, "entry");
	return path;
}

/* The folder's path of a path in it, "" for the root; owned. */
static char *
folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return bu_xstrndup(path, slash ? slash - path : 0);
}

/* Once in an archive, but for folders. */
static int
note_path(struct unpack *unpack, const char *path, int is_folder, struct bu_err *err)
{
	const json_t *seen = json_object_get(unpack->seen, path);

	if (seen && !(is_folder && json_is_array(seen)))
		return refuse(unpack, err, "it is there twice");
	json_object_set_new_nocheck(
		unpack->seen, path,
		is_folder
			? json_pack("[I, I]",
				    (json_int_t)archive_entry_mtime(unpack->entry),
				    (json_int_t)archive_entry_mtime_nsec(unpack->entry))
			: json_null());
	return 0;
}

/* Each folder has changed with what was made in it. */
static int
set_folder_times(const struct unpack *unpack, struct bu_err *err)
{
	const char *path;
	json_t *seen;

	json_object_foreach (unpack->seen, path, seen) {
		const struct bu_unpack_node node = {
			.path = path,
			.mtime = {json_integer_value(json_array_get(seen, 0)),
				  json_integer_value(json_array_get(seen, 1))},
		};

		if (json_is_array(seen) && bu_unpack_time(unpack->root_fd, &node, err))
			return -1;
	}
	return 0;
}

static int
check_kind(const struct unpack *unpack, int layer, struct bu_err *err)
{
	struct archive_entry *entry = unpack->entry;
	mode_t type = archive_entry_filetype(entry);

	if (archive_entry_hardlink(entry))
		return 0;
	if (type != AE_IFREG && type != AE_IFDIR && type != AE_IFLNK &&
	    type != AE_IFCHR && type != AE_IFBLK && type != AE_IFIFO)
		return refuse(unpack, err, "its type is unknown or a socket");
	if (layer && type == AE_IFCHR && !archive_entry_rdev(entry))
		return refuse(unpack, err,
			      "a whiteout of overlayfs; layers have .wh. files");
	if (type == AE_IFLNK &&
	    (!archive_entry_symlink(entry) || !*archive_entry_symlink(entry) ||
	     strlen(archive_entry_symlink(entry)) > BU_UNPACK_PATH_MAX))
		return refuse(unpack, err, "a symbolic link to nothing or too far");
	if (archive_entry_acl_count(entry, ARCHIVE_ENTRY_ACL_TYPE_POSIX1E |
						   ARCHIVE_ENTRY_ACL_TYPE_NFS4) > 0)
		return refuse(unpack, err,
			      "it has an access control list in words; pack it with "
			      "tar --xattrs --xattrs-include='*' and without --acls");
	return 0;
}

static int
check_size(const struct unpack *unpack, struct bu_err *err)
{
	la_int64_t size = archive_entry_size(unpack->entry);

	if (size < 0 || (uint64_t)size > unpack->limit->bytes)
		return refuse(unpack, err, "it is larger than an image may be");
	if (size && (archive_entry_hardlink(unpack->entry) ||
		     archive_entry_filetype(unpack->entry) != AE_IFREG))
		return refuse(unpack, err, "it has content, but is not a file");
	return 0;
}

static int
write_content(const struct unpack *unpack, int fd, struct bu_err *err)
{
	la_int64_t total = archive_entry_size(unpack->entry), offset;
	const void *data;
	size_t size;
	int rc;

	while ((rc = archive_read_data_block(unpack->archive, &data, &size, &offset)) ==
	       ARCHIVE_OK) {
		if (offset < 0 || offset > total || size > (uint64_t)(total - offset))
			return refuse(unpack, err, "it has more bytes than it says");
		if (lseek(fd, offset, SEEK_SET) < 0 ||
		    bu_write_all(fd, data, size, err))
			return bu_err_wrap(err, "writing");
	}
	if (rc != ARCHIVE_EOF) {
		bu_autofree char *text =
			bu_xstrdup(archive_error_string(unpack->archive)
					   ? archive_error_string(unpack->archive)
					   : "damaged");

		return refuse(unpack, err, text);
	}
	if (ftruncate(fd, total))
		return bu_err_set(err, BU_ERR_IO, errno, "writing");
	return 0;
}

/* Says what to do with an attribute that is no image's. */
static int
refuse_xattr(const struct unpack *unpack, const char *attribute, const char *why,
	     struct bu_err *err)
{
	bu_autofree char *text = bu_xasprintf(
		"attribute %.80s %s; pack it without (tar --xattrs-exclude='%.80s', or "
		"setfattr -x on the file before)",
		attribute, why, attribute);

	return refuse(unpack, err, text);
}

/* What the build host's own file systems would obey is refused. */
static int
write_xattrs(const struct unpack *unpack, const char *path, struct bu_err *err)
{
	mode_t type = archive_entry_filetype(unpack->entry);
	struct bu_unpack_xattr xattr;

	archive_entry_xattr_reset(unpack->entry);
	while (archive_entry_xattr_next(unpack->entry, &xattr.name, &xattr.value,
					&xattr.size) == ARCHIVE_OK) {
		enum bu_attribute fate =
			bu_attribute_judge(xattr.name, &unpack->limit->left_out);

		if (fate == BU_ATTRIBUTE_LEFT_OUT)
			continue;
		if (fate == BU_ATTRIBUTE_REFUSED)
			return refuse_xattr(unpack, xattr.name,
					    "is none that an image keeps or can do "
					    "without",
					    err);
		if (type != AE_IFREG && type != AE_IFDIR)
			return refuse_xattr(unpack, xattr.name,
					    "is for files and folders, and this is "
					    "neither",
					    err);
		if (bu_unpack_xattr(unpack->root_fd, path, &xattr, err))
			return -1;
	}
	return 0;
}

static int
make_link(struct unpack *unpack, const char *path, struct bu_err *err)
{
	struct bu_err why = {0};
	int itself;
	bu_autofree char *target =
		place_of(unpack, archive_entry_hardlink(unpack->entry), &itself, &why);
	const struct bu_unpack_node node = {.path = path, .target = target};

	if (!target) {
		bu_err_wrap(&why, "a hard link out of the tree");
		return refuse(unpack, err, why.text);
	}
	if (note_path(unpack, path, 0, err))
		return -1;
	return bu_unpack_link(unpack->root_fd, &node, err);
}

static int
make_entry(struct unpack *unpack, const char *path, struct bu_err *err)
{
	struct archive_entry *entry = unpack->entry;
	const struct bu_unpack_node node = {
		.path = path,
		.mode = archive_entry_mode(entry),
		.uid = archive_entry_uid(entry),
		.gid = archive_entry_gid(entry),
		.device = archive_entry_rdev(entry),
		.target = archive_entry_symlink(entry),
		.mtime = {archive_entry_mtime(entry), archive_entry_mtime_nsec(entry)},
	};
	bu_autoclose int fd = -1;

	if (archive_entry_hardlink(entry))
		return make_link(unpack, path, err);
	if (note_path(unpack, path, S_ISDIR(node.mode), err) ||
	    bu_unpack_make(unpack->root_fd, &node, &fd, err))
		return -1;
	if (fd >= 0 && write_content(unpack, fd, err))
		return -1;
	unpack->limit->bytes -= archive_entry_size(entry);
	if (bu_unpack_finish(unpack->root_fd, &node, err) ||
	    write_xattrs(unpack, path, err))
		return -1;
	return 0;
}

/* --- whiteouts --- */

/* The path that a whiteout removes, "" for all that is in its folder; owned. */
static char *
whiteout_target(const struct unpack *unpack, const char *path, struct bu_err *err)
{
	const char *name = bu_path_name(path), *gone = name + strlen(WHITEOUT);

	if (archive_entry_filetype(unpack->entry) != AE_IFREG ||
	    archive_entry_hardlink(unpack->entry) ||
	    archive_entry_size(unpack->entry)) {
		refuse(unpack, err, "a whiteout that is not an empty file");
		return NULL;
	}
	if (!strcmp(name, OPAQUE))
		return bu_xstrdup("");
	if (!*gone || !strcmp(gone, ".") || !strcmp(gone, "..") ||
	    !strncmp(gone, WHITEOUT, strlen(WHITEOUT))) {
		refuse(unpack, err, "a whiteout of no name");
		return NULL;
	}
	return bu_xasprintf("%.*s%s", (int)(name - path), path, gone);
}

static int
apply_whiteout(const struct unpack *unpack, const char *path, struct bu_err *err)
{
	bu_autofree char *folder = folder_of(path);
	bu_autofree char *target = whiteout_target(unpack, path, err);

	if (!target)
		return -1;
	return *target ? bu_unpack_remove(unpack->root_fd, target, err)
		       : bu_unpack_empty(unpack->root_fd, folder, err);
}

/* A link of the layers below that the layer replaces or removes leads none of its
 * whiteouts anywhere: a folder in its place hides nothing of where the link led. One
 * that is on its own way is needed until then. */
static int
drop_link(const struct unpack *unpack, const char *path, int whiteout,
	  struct bu_err *err)
{
	bu_autofree char *target =
		whiteout ? whiteout_target(unpack, path, err) : bu_xstrdup(path);

	if (!target)
		return -1;
	return *target && !unpack->leads_to_itself
		       ? bu_unpack_drop_link(unpack->root_fd, target,
					     archive_entry_symlink(unpack->entry), err)
		       : 0;
}

static int
is_whiteout(const char *path)
{
	return !strncmp(bu_path_name(path), WHITEOUT, strlen(WHITEOUT));
}

/* A file cannot lie below a whiteout, nor a whiteout be a folder. */
static int
has_whiteout_above(const char *path)
{
	return !strncmp(path, WHITEOUT, strlen(WHITEOUT)) ||
	       strstr(path, "/" WHITEOUT) != NULL;
}

/* A layer is read once for each. */
enum pass {
	PASS_LINKS, /* links of the layers below go that have no place in this one */
	PASS_WHITEOUTS,
	PASS_ENTRIES,
};

static int
do_entry(struct unpack *unpack, int layer, enum pass pass, struct bu_err *err)
{
	bu_autofree char *path = entry_path(unpack, err);
	int whiteout = path && layer && has_whiteout_above(path);

	if (!path)
		return -1;
	if (whiteout && !is_whiteout(path))
		return refuse(unpack, err, "it lies below a whiteout");
	if (pass == PASS_LINKS)
		return drop_link(unpack, path, whiteout, err);
	if (whiteout != (pass == PASS_WHITEOUTS))
		return 0;
	if (whiteout)
		return apply_whiteout(unpack, path, err);
	if (check_kind(unpack, layer, err) || check_size(unpack, err))
		return -1;
	return make_entry(unpack, path, err);
}

static int
read_archive(struct unpack *unpack, const char *tar_path, int layer, enum pass pass,
	     struct bu_err *err)
{
	autoarchive struct archive *archive = archive_read_new();
	int rc;

	archive_read_support_format_tar(archive);
	archive_read_support_format_empty(archive);
	unpack->archive = archive;
	if (archive_read_open_filename(archive, tar_path, BLOCK))
		return archive_err(archive, "no tar archive", err);
	while ((rc = archive_read_next_header(archive, &unpack->entry)) == ARCHIVE_OK) {
		if (!unpack->limit->entries)
			return refuse(unpack, err, "one entry too many for an image");
		unpack->limit->entries -= pass == PASS_ENTRIES;
		if (do_entry(unpack, layer, pass, err))
			return -1;
	}
	return rc == ARCHIVE_EOF
		       ? 0
		       : archive_err(archive, "no tar archive, or damaged", err);
}

/* libarchive takes a name of UTF-8 for damaged where the locale has no such letters. */
int
bu_unpack_tar(const char *tar_path, int root_fd, int layer,
	      struct bu_unpack_limit *limit, struct bu_err *err)
{
	struct unpack unpack = {
		.root_fd = root_fd, .limit = limit, .seen = json_object()};
	locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	locale_t before = utf8 ? uselocale(utf8) : (locale_t)0;
	int rc = 0;

	for (enum pass pass = layer ? PASS_LINKS : PASS_ENTRIES;
	     !rc && pass <= PASS_ENTRIES; pass++)
		rc = read_archive(&unpack, tar_path, layer, pass, err);
	if (!rc)
		rc = set_folder_times(&unpack, err);
	if (utf8) {
		uselocale(before);
		freelocale(utf8);
	}
	json_decref(unpack.seen);
	return rc;
}
