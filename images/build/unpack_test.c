/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives that mean harm, each refused by name, with nothing outside of the folder
 * touched; and what honest layers do.
 */
#include "images/build/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "tests/support/tar.h"
#include "tests/support/unit.h"

/*
 * dir/outside/secret   what must stay
 * dir/root/            unpacked into: the layer below has etc/passwd, d/x, d/y,
 *                      out -> ../outside, abs -> /tmp, fifo
 */
static char dir[40], root[64], tar_path[64];
static int root_fd;

static void
write_at(const char *name, const char *text)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0644, NULL), 0);
}

static void
setup(void)
{
	static const char *const folders[] = {"outside", "root/etc", "root/d"};
	bu_autofree char *out = NULL, *abs = NULL, *fifo = NULL;

	strcpy(dir, "/tmp/bringup-unpack-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(root, sizeof(root), "%s/root", dir);
	snprintf(tar_path, sizeof(tar_path), "%s/tar", dir);
	for (size_t i = 0; i < BU_LEN(folders); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, folders[i]);

		ck_assert_int_eq(bu_mkdir_p(path, 0755, NULL), 0);
	}
	write_at("outside/secret", "secret");
	write_at("root/etc/passwd", "below");
	write_at("root/d/x", "x");
	write_at("root/d/y", "y");
	out = bu_xasprintf("%s/out", root);
	abs = bu_xasprintf("%s/abs", root);
	fifo = bu_xasprintf("%s/fifo", root);
	ck_assert_int_eq(symlink("../outside", out), 0);
	ck_assert_int_eq(symlink("/tmp", abs), 0);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	root_fd = open(root, O_RDONLY | O_DIRECTORY);
	ck_assert_int_ge(root_fd, 0);
}

/* Nothing came, went or changed outside. */
static void
check_outside(void)
{
	static const char *const gone[] = {"outside/new", "new", "../bringup-new"};
	bu_autofree char *secret = bu_xasprintf("%s/outside/secret", dir);
	bu_autofree char *text = bu_file_read(secret, 0, NULL, NULL);
	struct stat st;

	ck_assert_pstr_eq(text, "secret");
	ck_assert_int_eq(stat(secret, &st), 0);
	ck_assert_uint_eq(st.st_nlink, 1);
	ck_assert_uint_eq(st.st_mode & 07777, 0644);
	for (size_t i = 0; i < BU_LEN(gone); i++) {
		bu_autofree char *path = bu_xasprintf("%s/%s", dir, gone[i]);

		ck_assert_msg(!bu_file_exists(path), "%s", path);
	}
}

static void
teardown(void)
{
	check_outside();
	close(root_fd);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

static int
unpack_counted(const struct tar *tar, struct bu_unpack_limit *limit, struct bu_err *err)
{
	memset(err, 0, sizeof(*err));
	ck_assert_int_eq(bu_file_write(tar_path, tar->bytes, tar->size, 0600, NULL), 0);
	return bu_unpack_tar(tar_path, root_fd, 0, limit, err);
}

static int
unpack(const struct tar *tar, int layer, struct bu_unpack_limit limit,
       struct bu_err *err)
{
	memset(err, 0, sizeof(*err));
	ck_assert_int_eq(bu_file_write(tar_path, tar->bytes, tar->size, 0600, NULL), 0);
	return bu_unpack_tar(tar_path, root_fd, layer, &limit, err);
}

#define DEEP20 "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/"
#define LONG50 "longlonglonglonglonglonglonglonglonglonglonglongon"

static const struct hostile {
	const char *why; /* in the message */
	const char *entries[5];
} hostile[] = {
	/* out of the folder by the path */
	{"leads out", {"0 ../new|x"}},
	{"leads out", {"0 ../outside/secret|x"}},
	{"leads out", {"0 a/../../new|x"}},
	{"leads out", {"0 a/..|x"}},
	{"leads out", {"5 .."}},
	{"leads out", {"5 ../outside"}},
	{"leads out", {"0 ./../new|x"}},
	{"leads out", {"2 ../outside/new|secret"}},
	{"leads out", {"pax=path=../new 0 harmless|x"}},
	{"leads out", {"pax=path=x/../../new 0 harmless|x"}},
	{"absolute", {"0 /tmp/bringup-new|x"}},
	{"absolute", {"5 /tmp"}},
	{"absolute", {"pax=path=/etc/new 0 harmless|x"}},
	{"absolute", {"0 //etc/new|x"}},
	{"too deep",
	 {"pax=path=" DEEP20 DEEP20 DEEP20 DEEP20 DEEP20 DEEP20 DEEP20 DEEP20 DEEP20
		  DEEP20 DEEP20 "x 0 harmless|x"}},
	{"too long",
	 {"pax=path=" LONG50 LONG50 LONG50 LONG50 LONG50 LONG50 " 0 harmless|x"}},
	{"", {"0 |x"}},
	/* through a symbolic link */
	{"leads out", {"0 out/new|x"}},
	{"leads out", {"0 out/secret|x"}},
	{"leads out", {"2 l|../outside", "0 l/new|x"}},
	{"leads out", {"2 a|b", "2 b|../outside", "0 a/new|x"}},
	{"leads out", {"5 s", "2 s/up|../..", "0 s/up/new|x"}},
	{"leads out", {"2 l|/../outside", "0 l/new|x"}},
	{"leads out", {"2 l|d/../../outside", "0 l/new|x"}},
	{"leads out", {"2 s|.", "2 s/t|../outside", "0 s/t/new|x"}},
	{"is there twice", {"5 a", "2 a|../outside", "0 a/new|x"}},
	{"is there twice", {"2 a|../outside", "5 a", "0 a/new|x"}},
	{"is a link or a file", {"0 etc/passwd/new|x"}},
	{"is a link or a file", {"0 fifo/new|x"}},
	{"leads out", {"4 out/dev|8,0"}},
	/* hard links */
	{"out of the tree", {"1 h|../outside/secret"}},
	{"out of the tree", {"1 h|/etc/passwd"}},
	{"leads out", {"1 h|out/secret"}},
	{"leads out", {"2 l|../outside", "1 h|l/secret", "0 h|x"}},
	{"is not a file", {"1 h|etc"}},
	{"is not a file", {"1 h|etc/missing"}},
	{"to itself", {"1 etc/passwd|etc/passwd"}},
	{"is not a file", {"1 h|."}},
	{"leads out", {"1 out/new|etc/passwd"}},
	{"there twice", {"1 h|etc/passwd", "0 h|x"}},
	/* whiteouts */
	{"leads out", {"0 out/.wh.secret"}},
	{"leads out", {"0 out/.wh..wh..opq"}},
	{"of no name", {"0 .wh."}},
	{"of no name", {"0 d/.wh.."}},
	{"of no name", {"0 d/.wh..."}},
	{"of no name", {"0 d/.wh..wh.plnk"}},
	{"leads out", {"0 ../outside/.wh.secret"}},
	{"absolute", {"0 /.wh.tmp"}},
	{"not an empty file", {"5 d/.wh.x"}},
	{"not an empty file", {"2 d/.wh.x|../outside"}},
	{"not an empty file", {"1 d/.wh.x|etc/passwd"}},
	{"not an empty file", {"0 d/.wh.x|content"}},
	{"below a whiteout", {"0 d/.wh.x/new|x"}},
	{"whiteout of overlayfs", {"3 d/x|0,0"}},
	/* twice */
	{"there twice", {"0 a|1", "0 a|2"}},
	{"there twice", {"0 a|1", "0 ./a|2"}},
	{"there twice", {"0 a|1", "5 a"}},
	{"there twice", {"2 a|x", "0 a|2"}},
	/* sizes */
	{"overflow", {"size=9223372036854775807 0 a|x"}},
	{"runcated", {"size=1099511627776 0 a|x"}},
	{"runcated", {"pax=size=4611686018427387904 0 a|x"}},
	{"runcated", {"size=4096 0 a|x"}},
	{"overflow", {"pax=size=9000000000000000000000 0 a|x"}},
	{"larger than", {"pax=GNU.sparse.size=1125899906842624 0 a|x"}},
	/* attributes, types */
	{"'d': attribute trusted.overlay.opaque is none that an image keeps",
	 {"pax=SCHILY.xattr.trusted.overlay.opaque=y 5 d"}},
	{"'a': attribute security.imaginary is none",
	 {"pax=SCHILY.xattr.security.imaginary=y 0 a|x"}},
	{"'a': attribute system.posix_acl is none",
	 {"pax=SCHILY.xattr.system.posix_acl=y 0 a|x"}},
	{"'a': attribute user. is none", {"pax=SCHILY.xattr.user.=y 0 a|x"}},
	{"--xattrs-exclude='trusted.mine'", {"pax=SCHILY.xattr.trusted.mine=y 0 a|x"}},
	{"'l': attribute user.x is for files and folders",
	 {"pax=SCHILY.xattr.user.x=y 2 l|x"}},
	{"access control list", {"pax=SCHILY.acl.access=user::rwx,user:7:rwx 0 a|x"}},
	{"must be a folder", {"2 .|../outside", "0 new|x"}},
	{"symbolic link to nothing", {"2 l|"}},
};

START_TEST(hostile_archives_are_refused_by_name)
{
	for (size_t i = 0; i < BU_LEN(hostile); i++) {
		struct tar tar = tar_make(hostile[i].entries);
		struct bu_err err;

		setup();
		ck_assert_msg(unpack(&tar, 1, BU_UNPACK_LIMIT, &err) == -1,
			      "row %zu (%s) was taken", i, hostile[i].entries[0]);
		ck_assert_msg(err.kind == BU_ERR_VERIFY, "row %zu (%s): %d %s", i,
			      hostile[i].entries[0], err.kind, err.text);
		ck_assert_msg(strstr(err.text, hostile[i].why) != NULL,
			      "row %zu (%s): %s", i, hostile[i].entries[0], err.text);
		teardown();
		free(tar.bytes);
	}
}
END_TEST

static char *
read_in(const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);

	return bu_file_read(path, 0, NULL, NULL);
}

static int
has(const char *name)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", root, name);
	struct stat st;

	return !lstat(path, &st);
}

static void
take(int layer, const char *const *entries)
{
	struct tar tar = tar_make(entries);
	struct bu_err err;

	ck_assert_msg(!unpack(&tar, layer, BU_UNPACK_LIMIT, &err), "%s", err.text);
	free(tar.bytes);
}

/* An absolute link leads to a place of the root, not of this machine. */
START_TEST(absolute_links_lead_to_places_of_the_root)
{
	static const struct {
		const char *entries[4], *at;
	} rows[] = {
		{{"0 abs/bringup-new|x"}, "tmp/bringup-new"},
		{{"2 l|/tmp", "5 l/bringup-new"}, "tmp/bringup-new"},
		{{"2 l|/tmp", "0 l/.wh.passwd"}, "etc/passwd"},
		{{"0 abs/.wh.secret"}, "abs"},
		{{"5 s", "2 s/up|..", "0 s/up/new|x"}, "new"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		setup();
		take(1, rows[i].entries);
		ck_assert_msg(has(rows[i].at), "row %zu: %s", i, rows[i].at);
		teardown();
	}
}
END_TEST

START_TEST(a_layer_lies_over_the_ones_below)
{
	bu_autofree char *text = NULL, *path = NULL;
	struct stat st, other;

	setup();
	take(1, (const char *const[]){"5 ./", "0 ./.wh.abs", "0 etc/.wh.passwd",
				      "0 etc/passwd|above", "0 d/z|z",
				      "0 d/.wh..wh..opq", "0 d/w|w", NULL});
	text = read_in("etc/passwd");
	ck_assert_pstr_eq(text, "above");
	ck_assert(!has("abs") && !has("d/x") && !has("d/y"));
	ck_assert(has("d/z") && has("d/w") && has("out"));
	/* a folder in place of a link, a link in place of a folder */
	take(1, (const char *const[]){"5 out", "0 out/in|in", "2 d|etc",
				      "1 etc/hard|out/in", "0 .wh.nothing",
				      "0 no/such/.wh.thing", NULL});
	ck_assert(has("out/in") && has("d/passwd"));
	path = bu_xasprintf("%s/out/in", root);
	ck_assert_int_eq(stat(path, &st), 0);
	free(path);
	path = bu_xasprintf("%s/etc/hard", root);
	ck_assert_int_eq(stat(path, &other), 0);
	ck_assert_uint_eq(st.st_ino, other.st_ino);
	ck_assert_int_eq(st.st_mtime, 1600000000);
	teardown();
}
END_TEST

/* In an archive that is no layer they are files like any other. */
START_TEST(a_plain_archive_has_no_whiteouts)
{
	setup();
	take(0, (const char *const[]){"0 d/.wh.x", NULL});
	ck_assert(has("d/x") && has("d/.wh.x"));
	teardown();
}
END_TEST

/* Of UTF-8 or not: whoever packs and whoever unpacks may have another locale. */
START_TEST(names_keep_their_bytes)
{
	setup();
	take(1, (const char *const[]){"0 caf\xc3\xa9|1", "0 caf\xe9|2",
				      "pax=path=na\xc3\xafve 0 x|3",
				      "pax=linkpath=caf\xc3\xa9 2 l|z", NULL});
	ck_assert(has("caf\xc3\xa9") && has("caf\xe9"));
	ck_assert(has("na\xc3\xafve") && has("l"));
	teardown();
}
END_TEST

START_TEST(attributes_and_nodes_are_kept)
{
	bu_autofree char *path = NULL;
	char value[8] = "";
	struct stat st;

	BU_NEEDS("root");
	setup();
	path = bu_xasprintf("%s/null", root);
	take(1, (const char *const[]){"3 null|1,3", "6 pipe", NULL});
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert(S_ISCHR(st.st_mode) && st.st_rdev == 0x103);
	take(1, (const char *const[]){"pax=SCHILY.xattr.user.colour=blue 0 a|x", NULL});
	free(path);
	path = bu_xasprintf("%s/a", root);
	if (getxattr(path, "user.colour", value, sizeof(value)) < 0)
		ck_assert_int_eq(errno, ENOTSUP);
	else
		ck_assert_str_eq(value, "blue");
	teardown();
}
END_TEST

/* In two archives, of a file, a folder and a link; told once each. */
START_TEST(attributes_that_a_node_can_do_without_are_left_out_and_told)
{
	static const char *const names[] = {"security.ima", "security.selinux",
					    "system.nfs4_acl", "btrfs.compression",
					    "com.apple.provenance"};
	struct bu_unpack_limit limit = BU_UNPACK_LIMIT;
	bu_autofree char *told = NULL;
	size_t size;
	FILE *out = open_memstream(&told, &size);

	setup();
	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *file =
			bu_xasprintf("pax=SCHILY.xattr.%s=y 0 a|x", names[i]);
		bu_autofree char *folder =
			bu_xasprintf("pax=LIBARCHIVE.xattr.%s=eQ== 5 b", names[i]);
		bu_autofree char *link =
			bu_xasprintf("pax=SCHILY.xattr.%s=y 2 l|x", names[i]);
		bu_autofree char *path = bu_xasprintf("%s/a", root);
		struct tar one = tar_make((const char *const[]){file, NULL});
		struct tar two = tar_make((const char *const[]){folder, link, NULL});
		struct bu_err err;

		ck_assert_msg(!unpack_counted(&one, &limit, &err), "%s: %s", names[i],
			      err.text);
		ck_assert_int_lt(getxattr(path, names[i], NULL, 0), 0);
		ck_assert_msg(!unpack_counted(&two, &limit, &err), "%s: %s", names[i],
			      err.text);
		free(one.bytes);
		free(two.bytes);
	}
	bu_attributes_tell(&limit.left_out, out);
	fclose(out);
	for (size_t i = 0; i < BU_LEN(names); i++) {
		int apple = !strncmp(names[i], "com.apple.", 10);
		bu_autofree char *line =
			bu_xasprintf("image: attribute %s of 3 files is left out: ",
				     apple ? "com.apple.*" : names[i]);
		const char *at = strstr(told, line);

		ck_assert_msg(at && !strstr(at + 1, line), "%s: %s", names[i], told);
	}
	teardown();
}
END_TEST

START_TEST(limits_count_over_all)
{
	struct tar tar = tar_make((const char *const[]){"0 a|aaaa", "0 b|bbbb", NULL});
	struct bu_err err;

	setup();
	ck_assert_int_eq(unpack(&tar, 1,
				(struct bu_unpack_limit){.bytes = 7, .entries = 9},
				&err),
			 -1);
	ck_assert_ptr_nonnull(strstr(err.text, "'b'"));
	ck_assert_int_eq(unpack(&tar, 1,
				(struct bu_unpack_limit){.bytes = 8, .entries = 1},
				&err),
			 -1);
	ck_assert_ptr_nonnull(strstr(err.text, "one entry too many"));
	ck_assert_int_eq(unpack(&tar, 1,
				(struct bu_unpack_limit){.bytes = 8, .entries = 2},
				&err),
			 0);
	teardown();
	free(tar.bytes);
}
END_TEST

static const char *
packed_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/packed", dir);
	return path;
}

/* An image may have what it may, packed or not. */
START_TEST(content_counts_once)
{
	struct tar tar = tar_make((const char *const[]){"0 a|aaaa", NULL});
	struct bu_unpack_limit limit = {.bytes = 4, .entries = 1};
	char digest[BU_DIGEST_SIZE];
	struct bu_err err = {0};

	setup();
	limit.stream_bytes = tar.size;
	ck_assert_int_eq(bu_file_write(packed_path(), tar.bytes, tar.size, 0600, NULL),
			 0);
	ck_assert_msg(!bu_unpack_stream(packed_path(), tar_path, &limit, digest, &err),
		      "%s", err.text);
	ck_assert_msg(!bu_unpack_tar(tar_path, root_fd, 0, &limit, &err), "%s",
		      err.text);
	ck_assert_uint_eq(limit.bytes, 0);
	ck_assert_uint_eq(limit.stream_bytes, 0);
	teardown();
	free(tar.bytes);
}
END_TEST

/* --- the stream around an archive --- */

static int
stream(const void *data, size_t size, struct bu_unpack_limit limit, struct bu_err *err)
{
	char digest[BU_DIGEST_SIZE];

	memset(err, 0, sizeof(*err));
	ck_assert_int_eq(bu_file_write(packed_path(), data, size, 0600, NULL), 0);
	return bu_unpack_stream(packed_path(), tar_path, &limit, digest, err);
}

START_TEST(a_stream_is_whole_or_refused)
{
	bu_autofree char *plain = bu_xcalloc(1, 3000000);
	bu_autofree char *packed = bu_xmalloc(ZSTD_compressBound(3000000));
	bu_autofree char *out = NULL;
	struct bu_unpack_limit limit = BU_UNPACK_LIMIT;
	size_t size, got;
	struct bu_err err;

	setup();
	for (size_t i = 0; i < 3000000; i++)
		plain[i] = (char)(i * 2654435761u >> 13);
	size = ZSTD_compress(packed, ZSTD_compressBound(3000000), plain, 3000000, 1);
	ck_assert_msg(!stream(packed, size, limit, &err), "%s", err.text);
	out = bu_file_read(tar_path, 0, &got, NULL);
	ck_assert_uint_eq(got, 3000000);
	ck_assert_int_eq(memcmp(out, plain, got), 0);
	for (size_t cut = 1; cut < size; cut = cut * 3 + 1) {
		ck_assert_int_eq(stream(packed, size - cut, limit, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	}
	limit.stream_bytes = 2999999;
	ck_assert_int_eq(stream(packed, size, limit, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "more than an image"));
	ck_assert_int_eq(stream("", 0, limit, &err), -1);
	teardown();
}
END_TEST

/* As layers and tarballs come. */
START_TEST(each_packing_is_known)
{
	static int (*const filters[])(struct archive *) = {
		archive_write_add_filter_none, archive_write_add_filter_gzip,
		archive_write_add_filter_xz, archive_write_add_filter_zstd};
	static const char plain[] = "what is in it, and again what is in it";

	setup();
	for (size_t i = 0; i < BU_LEN(filters); i++) {
		struct archive *archive = archive_write_new();
		struct archive_entry *entry = archive_entry_new();
		bu_autofree char *out = NULL;
		char packed[4096];
		size_t size, got;
		struct bu_err err;

		ck_assert_int_eq(filters[i](archive), ARCHIVE_OK);
		archive_write_set_format_raw(archive);
		archive_write_set_bytes_in_last_block(archive, 1);
		ck_assert_int_eq(archive_write_open_memory(archive, packed,
							   sizeof(packed), &size),
				 ARCHIVE_OK);
		archive_entry_set_filetype(entry, AE_IFREG);
		ck_assert_int_eq(archive_write_header(archive, entry), ARCHIVE_OK);
		ck_assert_int_eq(archive_write_data(archive, plain, sizeof(plain)),
				 sizeof(plain));
		ck_assert_int_eq(archive_write_close(archive), ARCHIVE_OK);
		archive_write_free(archive);
		archive_entry_free(entry);
		ck_assert_msg(!stream(packed, size, BU_UNPACK_LIMIT, &err), "%zu: %s",
			      i, err.text);
		out = bu_file_read(tar_path, 0, &got, NULL);
		ck_assert_uint_eq(got, sizeof(plain));
		ck_assert_int_eq(memcmp(out, plain, got), 0);
	}
	teardown();
}
END_TEST

BU_UNIT("unpack", hostile_archives_are_refused_by_name,
	absolute_links_lead_to_places_of_the_root, a_layer_lies_over_the_ones_below,
	a_plain_archive_has_no_whiteouts, names_keep_their_bytes, each_packing_is_known,
	attributes_and_nodes_are_kept,
	attributes_that_a_node_can_do_without_are_left_out_and_told,
	limits_count_over_all, content_counts_once, a_stream_is_whole_or_refused)
