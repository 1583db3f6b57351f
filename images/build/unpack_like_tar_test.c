/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What GNU tar packs is unpacked as GNU tar unpacks it: sparse files of each kind, of
 * 2^33 bytes and more, links, long names, owners, modes, times, attributes, access
 * control lists and capabilities.
 */
#include "images/build/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

#define LARGE (INT64_C(1) << 33)

static char dir[40];

static char *
in(const char *folder, const char *name)
{
	return bu_xasprintf("%s/%s/%s", dir, folder, name);
}

static int
sh(const char *commands)
{
	bu_autofree char *text = bu_xasprintf("cd %s && { %s; }", dir, commands);

	return system(text);
}

/* A file of so many bytes with these words at these places, and nothing between. */
static void
put_sparse(const char *name, int64_t size, const int64_t *places)
{
	bu_autofree char *path = in("from", name);
	bu_autoclose int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0640);

	ck_assert_int_ge(fd, 0);
	for (; *places >= 0; places++)
		ck_assert_int_eq(pwrite(fd, "some words", 10, *places), 10);
	ck_assert_int_eq(ftruncate(fd, size), 0);
}

/* As setfacl and setcap write them, which need not be there. */
static void
put_attributes(void)
{
	/* user::rw-, user 1234:r--, group::r--, mask::r--, other::--- */
	static const char acl[] = "\2\0\0\0\1\0\6\0\377\377\377\377\2\0\4\0\322\4\0\0"
				  "\4\0\4\0\377\377\377\377\20\0\4\0\377\377\377\377"
				  "\40\0\0\0\377\377\377\377";
	/* cap_net_raw=ep */
	static const char caps[] = "\1\0\0\2\0\40\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	bu_autofree char *file = in("from", "plain"), *folder = in("from", "folder");

	ck_assert_int_eq(
		setxattr(file, "system.posix_acl_access", acl, sizeof(acl) - 1, 0), 0);
	ck_assert_int_eq(
		setxattr(folder, "system.posix_acl_default", acl, sizeof(acl) - 1, 0),
		0);
	ck_assert_int_eq(
		setxattr(file, "security.capability", caps, sizeof(caps) - 1, 0), 0);
	ck_assert_int_eq(setxattr(file, "user.colour", "blue", 4, 0), 0);
}

/* Everything that a root may have, where `attributes` what the format can say. */
static void
make_tree(int attributes)
{
	static const int64_t one[] = {0, 3000000, 70000000, -1}, none[] = {-1};
	static const int64_t end[] = {LARGE, -1};
	/* More holes than a header of the old kind has room for. */
	int64_t many[41];

	for (int i = 0; i < 40; i++)
		many[i] = i * INT64_C(1000000);
	many[40] = -1;
	strcpy(dir, "/tmp/bringup-liketar-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(
		sh("mkdir -p from/folder want got && cd from && echo plain >plain && "
		   "ln plain hard && ln hard folder/harder && ln -s plain soft && "
		   "ln -s /nowhere/at/all dangling && mkfifo pipe && mknod null c 1 3 "
		   "&& mknod block b 7 99 && mkdir -m 1777 sticky && "
		   "n=$(printf %0250d 7) && echo long >$n && ln -s $n$n to-long && "
		   "mkdir -p folder/$n/$n && echo deep >folder/$n/$n/$n && "
		   "ln folder/$n/$n/$n hard-long && : >empty && chmod 4755 empty && "
		   "echo 'a b' >'name with blanks' && chown 1234:4321 plain empty soft"),
		0);
	put_sparse("sparse", 70000010, one);
	put_sparse("holes", 50000000, many);
	put_sparse("nothing", 9000000, none);
	put_sparse("large", LARGE + 10, end);
	put_sparse("large-nothing", LARGE + 1, none);
	if (attributes)
		put_attributes();
	ck_assert_int_eq(sh("find from -exec touch -h -d @1500000000.25 {} +"), 0);
}

/* What a file has at its data is the other's, and where it has none are zeros. */
static void
same_data(const char *name, const char *one_root, const char *other_root)
{
	bu_autofree char *one_path = in(one_root, name), *path = in(other_root, name);
	bu_autofree char *a = bu_xmalloc(65536), *b = bu_xmalloc(65536);
	bu_autoclose int one = open(one_path, O_RDONLY | O_CLOEXEC);
	bu_autoclose int other = open(path, O_RDONLY | O_CLOEXEC);
	off_t at = 0;

	ck_assert_msg(one >= 0 && other >= 0, "%s", name);
	while ((at = lseek(one, at, SEEK_DATA)) >= 0) {
		ssize_t got = pread(one, a, 65536, at);

		ck_assert_int_gt(got, 0);
		ck_assert_int_eq(pread(other, b, (size_t)got, at), got);
		ck_assert_msg(!memcmp(a, b, (size_t)got), "%s at %lld", name,
			      (long long)at);
		at += got;
	}
	ck_assert_int_eq(errno, ENXIO);
}

static void
same_attribute(const char *name, const char *attribute)
{
	bu_autofree char *want_path = in("want", name), *got_path = in("got", name);
	char want[256], got[256];
	ssize_t size = getxattr(want_path, attribute, want, sizeof(want));

	ck_assert_msg(size > 0, "GNU tar: %s of %s", attribute, name);
	ck_assert_msg(getxattr(got_path, attribute, got, sizeof(got)) == size &&
			      !memcmp(want, got, (size_t)size),
		      "%s of %s", attribute, name);
}

/* pack: tar's options of both ways. */
static void
compare(const char *pack, const char *extract, int attributes)
{
	static const char *const sparse[] = {"sparse", "holes", "nothing", "large",
					     "large-nothing"};
	static const char *const look =
		"look() { (cd $1 && find . -mindepth 1 ! -type d -printf "
		"'%P %y %m %U %G %s %T@ %l %n\\n' , -mindepth 1 -type d -printf "
		"'%P %y %m %U %G %T@\\n' | sort); }; look want >w; look got >g; "
		"[ $(wc -l <w) -gt 20 ] && diff w g";
	bu_autofree char *commands = bu_xasprintf(
		"tar -C from %s -cf tar . && tar -C want --numeric-owner %s -xpf tar",
		pack, extract);
	bu_autofree char *tar = NULL, *got = NULL;
	struct bu_unpack_limit limit = BU_UNPACK_LIMIT;
	bu_autoclose int root_fd = -1;
	struct bu_err err = {0};
	struct stat st;

	make_tree(attributes);
	tar = bu_xasprintf("%s/tar", dir);
	got = bu_xasprintf("%s/got", dir);
	root_fd = open(got, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(sh(commands), 0);
	ck_assert_msg(!stat(tar, &st) && st.st_size < 10000000, "not sparse: %s", pack);
	ck_assert_msg(!bu_unpack_tar(tar, root_fd, 0, &limit, &err), "%s: %s", pack,
		      err.text);
	ck_assert_msg(!sh(look), "%s", pack);
	for (size_t i = 0; i < BU_LEN(sparse); i++) {
		bu_autofree char *path = in("got", sparse[i]);

		same_data(sparse[i], "want", "got");
		same_data(sparse[i], "got", "want");
		ck_assert_int_eq(stat(path, &st), 0);
		ck_assert_msg(st.st_blocks * 512 < 2000000, "%s: %s takes %lld bytes",
			      pack, sparse[i], (long long)st.st_blocks * 512);
	}
	if (attributes) {
		same_attribute("plain", "system.posix_acl_access");
		same_attribute("plain", "security.capability");
		same_attribute("plain", "user.colour");
		same_attribute("folder", "system.posix_acl_default");
	}
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

START_TEST(sparse_files_of_the_old_kind)
{
	BU_NEEDS("root", "tar");
	compare("--format=gnu --sparse", "", 0);
}
END_TEST

START_TEST(sparse_files_of_pax)
{
	BU_NEEDS("root", "tar");
	compare("--format=posix --sparse --sparse-version=0.0", "", 0);
	compare("--format=posix --sparse --sparse-version=0.1", "", 0);
	compare("--format=posix --sparse --sparse-version=1.0", "", 0);
}
END_TEST

START_TEST(attributes_lists_and_capabilities)
{
	BU_NEEDS("root", "tar");
	compare("--format=posix --sparse --xattrs --xattrs-include='*'",
		"--xattrs --xattrs-include='*'", 1);
}
END_TEST

static int
put_one(const char *attribute)
{
	bu_autofree char *file = in("from", "plain");

	return setxattr(file, attribute, "a value", 7, 0);
}

/* What GNU tar packs of a file with attributes of its machine. */
static int
unpack_plain(struct bu_unpack_limit *limit, struct bu_err *err)
{
	bu_autofree char *tar = bu_xasprintf("%s/tar", dir);
	bu_autofree char *got = bu_xasprintf("%s/got", dir);
	bu_autoclose int root_fd = open(got, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(sh("tar -C from --format=posix --xattrs --xattrs-include='*' "
			    "-cf tar plain"),
			 0);
	return bu_unpack_tar(tar, root_fd, 0, limit, err);
}

START_TEST(what_a_packed_file_has_of_its_machine_is_left_out_or_named)
{
	struct bu_unpack_limit limit = BU_UNPACK_LIMIT;
	bu_autofree char *told = NULL, *file = NULL;
	struct bu_err err = {0};
	size_t size;
	FILE *out = open_memstream(&told, &size);

	BU_NEEDS("root", "tar");
	make_tree(1);
	file = in("got", "plain");
	ck_assert_int_eq(put_one("security.ima") | put_one("trusted.lov"), 0);
	ck_assert_msg(!unpack_plain(&limit, &err), "%s", err.text);
	ck_assert_int_lt(getxattr(file, "security.ima", NULL, 0), 0);
	ck_assert_int_lt(getxattr(file, "trusted.lov", NULL, 0), 0);
	ck_assert_int_eq(getxattr(file, "user.colour", NULL, 0), 4);
	bu_attributes_tell(&limit.left_out, out);
	fclose(out);
	ck_assert_msg(strstr(told, "security.ima of 1 file is left out") &&
			      strstr(told, "trusted.lov of 1 file is left out"),
		      "%s", told);
	ck_assert_int_eq(put_one("trusted.mine"), 0);
	ck_assert_int_eq(unpack_plain(&limit, &err), -1);
	ck_assert_msg(strstr(err.text, "'plain': attribute trusted.mine") != NULL, "%s",
		      err.text);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

/* Its names would be those of the machine that packed it. */
START_TEST(a_list_in_words_is_refused_by_name)
{
	struct bu_unpack_limit limit = BU_UNPACK_LIMIT;
	bu_autofree char *tar = NULL, *got = NULL;
	bu_autoclose int root_fd = -1;
	struct bu_err err = {0};

	BU_NEEDS("root", "tar");
	make_tree(1);
	tar = bu_xasprintf("%s/tar", dir);
	got = bu_xasprintf("%s/got", dir);
	root_fd = open(got, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(sh("tar -C from --format=posix --sparse --acls -cf tar plain"),
			 0);
	ck_assert_int_eq(bu_unpack_tar(tar, root_fd, 0, &limit, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	ck_assert_ptr_nonnull(strstr(err.text, "'plain': it has an access control "
					       "list in words"));
	ck_assert_int_eq(sh("[ -z \"$(ls got)\" ]"), 0);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

BU_UNIT("unpack_like_tar", sparse_files_of_the_old_kind, sparse_files_of_pax,
	attributes_lists_and_capabilities,
	what_a_packed_file_has_of_its_machine_is_left_out_or_named,
	a_list_in_words_is_refused_by_name)
