/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers over a root whose folders are links, as after the merge of /usr: each entry is
 * where a system with that root finds it, which the kernel says (openat2 with
 * RESOLVE_IN_ROOT), and nothing is where it does not belong.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "images/build/inside.h"
#include "images/build/unpack.h"
#include "tests/support/tar.h"
#include "tests/support/unit.h"

static char dir[40], tar_path[64];
static int root_fd;

/* The layer below. */
static const char *const below[] = {
	"5 usr",
	"5 usr/bin",
	"0 usr/bin/sh|sh",
	"0 usr/bin/old|old",
	"5 usr/lib",
	"2 bin|usr/bin",
	"2 lib|/usr/lib",
	"2 sbin|bin",
	"5 run",
	"5 var",
	"2 var/run|../run",
	"2 missing|usr/share/none",
	"2 top|usr/..",
	"2 all|/",
	"2 out|../outside",
	"2 self|self",
	"2 one|two",
	"2 two|one/x",
	NULL,
};

static int
unpack(const char *const *entries, int layer, struct bu_err *err)
{
	struct bu_unpack_limit limit = BU_UNPACK_LIMIT;
	struct tar tar = tar_make(entries);
	int rc;

	memset(err, 0, sizeof(*err));
	ck_assert_int_eq(bu_file_write(tar_path, tar.bytes, tar.size, 0600, NULL), 0);
	rc = bu_unpack_tar(tar_path, root_fd, layer, &limit, err);
	free(tar.bytes);
	return rc;
}

static void
setup(void)
{
	bu_autofree char *root = NULL, *secret = NULL;
	struct bu_err err;

	strcpy(dir, "/tmp/bringup-links-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(tar_path, sizeof(tar_path), "%s/tar", dir);
	root = bu_xasprintf("%s/root", dir);
	secret = bu_xasprintf("%s/outside", dir);
	ck_assert_int_eq(mkdir(root, 0755), 0);
	ck_assert_int_eq(mkdir(secret, 0755), 0);
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(root_fd, 0);
	ck_assert_msg(!unpack(below, 1, &err), "%s", err.text);
}

static void
teardown(void)
{
	bu_autofree char *secret = bu_xasprintf("%s/outside", dir);

	ck_assert_int_eq(rmdir(secret), 0); /* nothing is in it */
	close(root_fd);
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

/* "PATH=TEXT": the file itself is there; "-PATH": nothing is; "/PATH": a folder, no
 * link; ">PATH=TEXT": the system finds the file there by whatever links. */
static void
expect(const char *want, const char *row)
{
	const char *equals = strchr(want, '=');
	int mark = strchr("-/>", want[0]) != NULL;
	bu_autofree char *path =
		bu_xstrndup(want + mark, equals ? (size_t)(equals - want - mark)
						: strlen(want + mark));
	int is_there = 0;
	struct stat st = {0};

	is_there = !fstatat(root_fd, path, &st, AT_SYMLINK_NOFOLLOW);
	if (want[0] == '-') {
		ck_assert_msg(!is_there, "%s: %s", row, want);
	} else if (want[0] == '/') {
		ck_assert_msg(is_there && S_ISDIR(st.st_mode), "%s: %s", row, want);
	} else {
		bu_autofree char *text =
			bu_inside_read(root_fd, path, 4096, NULL, NULL);

		ck_assert_msg(text && !strcmp(text, equals + 1), "%s: %s: %s", row,
			      want, text ? text : "none");
		ck_assert_msg(want[0] == '>' || S_ISREG(st.st_mode), "%s: %s", row,
			      want);
	}
}

START_TEST(a_layer_writes_through_links_inside_the_root)
{
	static const struct {
		const char *entries[5];
		const char *wants[4];
	} rows[] = {
		/* entries */
		{{"0 bin/x|x"}, {"usr/bin/x=x", ">bin/x=x", "usr/bin/sh=sh"}},
		{{"0 lib/x|x"}, {"usr/lib/x=x", ">lib/x=x"}},
		{{"0 sbin/x|x"}, {"usr/bin/x=x", ">sbin/x=x"}},
		{{"0 var/run/x|x"}, {"run/x=x", ">var/run/x=x"}},
		{{"0 bin/sh|new"}, {"usr/bin/sh=new"}},
		{{"5 bin/d", "0 bin/d/x|x"}, {"usr/bin/d/x=x", ">sbin/d/x=x"}},
		{{"0 missing/x|x"}, {"usr/share/none/x=x", ">missing/x=x"}},
		{{"0 top/x|x"}, {"x=x", ">top/x=x"}},
		{{"0 all/all/bin/x|x"}, {"usr/bin/x=x"}},
		{{"2 bin/l|sh"}, {">usr/bin/l=sh", ">bin/l=sh"}},
		{{"1 bin/h|sbin/sh"}, {"usr/bin/h=sh"}},
		{{"2 new|/lib", "0 new/x|x"}, {"usr/lib/x=x"}},
		{{"5 usr/bin/old", "0 bin/old/x|x"}, {"usr/bin/old/x=x"}},
		/* a link that the layer replaces or repeats */
		{{"2 bin|usr/lib", "0 bin/x|x"}, {"usr/lib/x=x", "-usr/bin/x"}},
		{{"5 bin", "0 bin/x|x"}, {"/bin", "bin/x=x", "-usr/bin/x"}},
		{{"2 bin|usr/bin", "0 bin/x|x"}, {"usr/bin/x=x", ">bin/sh=sh"}},
		{{"0 bin|file"}, {"bin=file", "usr/bin/sh=sh"}},
		{{"0 all/all|x"}, {"all=x", "usr/bin/sh=sh"}}, /* on its own way */
		/* whiteouts */
		{{"0 bin/.wh.sh"}, {"-usr/bin/sh", "usr/bin/old=old"}},
		{{"0 bin/.wh.sh", "0 bin/sh|new"}, {"usr/bin/sh=new"}},
		{{"0 bin/sh|new", "0 usr/bin/.wh.sh"}, {"usr/bin/sh=new"}},
		{{"0 bin/x|x", "0 bin/.wh..wh..opq"}, {"usr/bin/x=x", "-usr/bin/sh"}},
		{{"2 bin|usr/bin", "0 bin/.wh.sh"}, {"-usr/bin/sh"}},
		{{"0 .wh.bin"}, {"-bin", "usr/bin/sh=sh"}},
		{{"0 bin/.wh.sh", "0 .wh.bin"}, {"-bin", "usr/bin/sh=sh"}},
		{{"0 .wh.bin", "0 bin/x|x"}, {"/bin", "bin/x=x", "-usr/bin/x"}},
		{{"0 missing/.wh.x"}, {"-usr/share"}},
		/* a folder in place of a link, as overlayfs says it */
		{{"5 bin", "0 bin/.wh..wh..opq", "0 bin/x|x"},
		 {"bin/x=x", "usr/bin/sh=sh"}},
		{{"0 bin/.wh..wh..opq", "0 bin/x|x", "5 bin"},
		 {"/bin", "usr/bin/sh=sh", "usr/bin/old=old"}},
		{{"0 bin/.wh.sh", "5 bin"}, {"/bin", "usr/bin/sh=sh"}},
		/* and in place of a file */
		{{"5 usr/bin/old", "0 bin/old/.wh..wh..opq", "0 bin/old/x|x"},
		 {"usr/bin/old/x=x"}},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *row =
			bu_xasprintf("row %zu (%s)", i, rows[i].entries[0]);
		struct bu_err err;

		setup();
		ck_assert_msg(!unpack(rows[i].entries, 1, &err), "%s: %s", row,
			      err.text);
		for (size_t j = 0; j < BU_LEN(rows[i].wants) && rows[i].wants[j]; j++)
			expect(rows[i].wants[j], row);
		teardown();
	}
}
END_TEST

START_TEST(links_that_lead_nowhere_are_refused)
{
	static const struct {
		const char *entries[3], *why;
	} rows[] = {
		{{"0 out/x|x"}, "the link 'out' on its way leads out of the root"},
		{{"0 out/.wh.x"}, "the link 'out' on its way leads out of the root"},
		{{"2 far|/../outside", "0 far/x|x"}, "the link 'far' on its way"},
		{{"2 far|usr/bin/../../..", "0 far/x|x"}, "leads out of the root"},
		{{"2 usr/far|all", "2 usr/all|../out", "0 usr/far/x|x"},
		 "the link 'out' on its way"},
		{{"0 self/x|x"}, "a circle of them"},
		{{"0 one/x|x"}, "a circle of them"},
		{{"1 h|self/x"}, "a circle of them"},
		{{"0 two/.wh.x"}, "a circle of them"},
		{{"0 bin/sh/x|x"}, "is a link or a file, no folder"},
		{{"1 usr/bin/sh|bin/sh"}, "a hard link to itself"},
		/* one file by two names */
		{{"0 usr/bin/x|1", "0 bin/x|2"}, "it is there twice"},
		{{"0 sbin/x|1", "2 bin/x|sh"}, "it is there twice"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		const char *entries[4] = {rows[i].entries[0], rows[i].entries[1],
					  rows[i].entries[2], NULL};
		struct bu_err err;

		setup();
		ck_assert_msg(unpack(entries, 1, &err) == -1, "row %zu (%s) was taken",
			      i, entries[0]);
		ck_assert_msg(err.kind == BU_ERR_VERIFY &&
				      strstr(err.text, rows[i].why),
			      "row %zu (%s): %s", i, entries[0], err.text);
		teardown();
	}
}
END_TEST

/* l1 leads to l2, and so on to a folder, over so many links. */
static int
unpack_chain(int links, struct bu_err *err)
{
	char texts[64][32];
	const char *entries[66] = {0};

	for (int i = 0; i < links; i++) {
		snprintf(texts[i], sizeof(texts[i]), "2 l%d|%s%d", i,
			 i + 1 < links ? "l" : "end", i + 1);
		entries[i] = texts[i];
	}
	entries[links] = "0 l0/x|x";
	return unpack(entries, 0, err);
}

/* As many as the kernel follows. */
START_TEST(links_are_counted)
{
	bu_autofree char *text = NULL;
	struct bu_err err;

	setup();
	ck_assert_msg(!unpack_chain(40, &err), "%s", err.text);
	text = bu_inside_read(root_fd, "l0/x", 10, NULL, NULL);
	ck_assert_pstr_eq(text, "x");
	ck_assert_int_eq(unpack_chain(41, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "too many links"));
	teardown();
}
END_TEST

/* Of a folder behind a link, too. */
START_TEST(folders_behind_links_have_their_time)
{
	struct bu_err err;
	struct stat st;

	setup();
	ck_assert_int_eq(
		unpack((const char *const[]){"5 bin/d", "0 bin/d/x|x", NULL}, 1, &err),
		0);
	ck_assert_int_eq(bu_inside_stat(root_fd, "usr/bin/d", &st), 0);
	ck_assert_int_eq(st.st_mtime, 1600000000);
	teardown();
}
END_TEST

BU_UNIT("unpack_links", a_layer_writes_through_links_inside_the_root,
	links_that_lead_nowhere_are_refused, links_are_counted,
	folders_behind_links_have_their_time)
