/* SPDX-License-Identifier: Apache-2.0 */
/* What a change is of, what is kept of the files before it, and their way back. */
#include "agent/change.h"

#include <errno.h>
#include <string.h>

#include "tests/support/changed.h"

static void
sh(const char *command)
{
	setenv("R", root, 1);
	ck_assert_msg(system(command) == 0, "%s", command);
}

START_TEST(what_is_so_already_is_no_change)
{
	static const struct {
		const char *path;
		mode_t mode;
		const char *content;
		size_t changes;
	} rows[] = {
		{"/f", 0644, "abc", 0},
		{"/f", 0600, "abc", 1},
		{"/f", 0644, "ab", 1},
		{"/f", 0644, "abcd", 1},
		{"/f", 0644, "abd", 1},
		{"/f", 0644, NULL, 1},
		{"/none", 0644, NULL, 0},
		{"/none", 0644, "", 1},
		{"/f/x", 0644, NULL, 0},
		{"/d", 0755, "abc", 1},
		/* a link to the same is another thing */
		{"/link", 0777, "abc", 1},
		/* as empty as nothing, and there */
		{"/empty", 0, NULL, 1},
	};

	make_root();
	put("/f", "abc");
	put("/empty", "");
	sh("chmod 0 $R/empty; ln -s f $R/link; mkdir $R/d");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_change change = {.root = root};
		const struct bu_change_file file = {
			.path = rows[i].path,
			.mode = rows[i].mode,
			.apply = "",
			.content = rows[i].content,
			.size = rows[i].content ? strlen(rows[i].content) : 0};

		ck_assert_int_eq(bu_change_add(&change, &file, NULL), 0);
		ck_assert_msg(change.count == rows[i].changes, "row %zu", i);
		bu_change_fini(&change);
		ck_assert_uint_eq(change.count, 0);
	}
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

START_TEST(what_matches_and_is_not_kept_goes)
{
	struct bu_change change = {.root = root};
	/* of which the first is kept */
	const struct bu_change_file keep[] = {{.path = "/n/10-b"}, {.path = "/n/10-c"}};

	make_root();
	put("/n/10-a", "");
	put("/n/10-b", "");
	put("/n/10-c", "");
	put("/n/10-\001", ""); /* no profile can give this name */
	put("/n/20", "");
	bu_change_add_old(&change, "/n/../n/20", keep, 1);
	bu_change_add_old(&change, "/n/30*", keep, 1);
	ck_assert_uint_eq(change.count, 0);
	bu_change_add_old(&change, "/n/10-*", keep, 1);
	ck_assert_uint_eq(change.count, 2);
	ck_assert_str_eq(change.files[0].path, "/n/10-a");
	ck_assert_str_eq(change.files[1].path, "/n/10-c");
	ck_assert_ptr_null(change.files[0].content);
	bu_change_fini(&change);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* Nothing else may be written: that a file goes makes its kind hold anew. */
START_TEST(what_goes_is_applied_with_its_kind)
{
	static const struct {
		const char *path, *apply;
	} rows[] = {
		{"/etc/systemd/network/10-bringup-x.network", "network"},
		{"/etc/sysctl.d/90-bringup.conf", "sysctl"},
		{"/etc/ssh/sshd_config.d/50-bringup.conf", "access"},
		{"/etc/sssd/conf.d/bringup.conf", "access"},
		{"/etc/hosts.bringup", ""},
	};
	struct bu_change change = {.root = root};

	make_root();
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		put(rows[i].path, "x\n");
		bu_change_add_old(&change, rows[i].path, NULL, 0);
		ck_assert_uint_eq(change.count, i + 1);
		ck_assert_str_eq(change.files[i].path, rows[i].path);
		ck_assert_str_eq(change.files[i].apply, rows[i].apply);
	}
	bu_change_fini(&change);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* Notes them all, whatever is there. */
static void
add_all(struct bu_change *change, const char *const *paths, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct bu_change_file file = {paths[i], 0600, "", "new", 3};

		ck_assert_int_eq(bu_change_add(change, &file, NULL), 0);
	}
	ck_assert_uint_eq(change->count, count);
}

static int
begins(struct bu_change *change, struct bu_err *err)
{
	struct bu_note note = {.id = "c1", .boot_id = "b1"};
	int rc = bu_change_begin(change, &note, err);

	bu_note_fini(&note);
	return rc;
}

/* As another process finds it: what was a file, a link as long as one may be, nothing.
 */
START_TEST(what_was_there_is_kept_until_the_end)
{
	static const char *const paths[] = {"/f", "/link", "/none/x"};
	struct bu_change change = {.root = root}, later = {.root = root};
	char target[4096] = "", now[4097] = "";
	bu_autofree char *link = NULL;
	struct bu_err err = {0};

	make_root();
	link = bu_xasprintf("%s/link", root);
	memset(target, 'x', sizeof(target) - 1);
	ck_assert_int_eq(symlink(target, link), 0);
	put("/f", "old");
	add_all(&change, paths, BU_LEN(paths));
	ck_assert_int_eq(begins(&change, &err), 0);
	ck_assert_int_eq(change.has_journal, 1);
	ck_assert_int_eq(bu_change_write(&change, &err), 0);
	for (size_t i = 0; i < BU_LEN(paths); i++)
		has(paths[i], "new", 0600);
	ck_assert_int_eq(bu_change_load(&later, &err), 0);
	ck_assert_int_eq(later.has_journal, 1);
	ck_assert_int_eq(bu_change_restore(&later, &err), 0);
	has("/f", "old", 0644);
	ck_assert_int_eq(is_there("/none/x"), 0);
	ck_assert_int_eq(readlink(link, now, sizeof(now) - 1), 4095);
	ck_assert_str_eq(now, target);
	ck_assert_int_eq(bu_change_close(&later, &err), 0);
	ck_assert_int_eq(later.has_journal, 0);
	ck_assert_int_eq(is_there(STATE), 0);
	bu_change_fini(&later);
	bu_change_fini(&change);
	ck_assert_int_eq(bu_change_load(&later, &err), 0);
	ck_assert_int_eq(later.has_journal, 0);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* What cannot be kept must not be touched. */
START_TEST(without_a_journal_nothing_begins)
{
	static const struct {
		const char *make, *path, *says;
	} rows[] = {
		{"touch $R/state && mkdir -p $R/var/lib && ln -s $R/state "
		 "$R/var/lib/bringup",
		 "/x", "change'"},
		{"ln -s loop $R/loop", "/loop/x", "'/loop/x'"},
		{"truncate -s 5M $R/x", "/x", "/x"},
		{"true", "/\xff", "path"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_change change = {.root = root};
		const char *paths[] = {HOSTS, rows[i].path};
		struct bu_err err = {0};

		make_root();
		sh(rows[i].make);
		add_all(&change, paths, 2);
		ck_assert_int_eq(begins(&change, &err), -1);
		ck_assert_msg(strstr(err.text, rows[i].says) != NULL, "%zu: %s", i,
			      err.text);
		ck_assert_msg(strncmp(err.text, "keep the old files: ", 20) == 0, "%s",
			      err.text);
		ck_assert_int_eq(change.has_journal, 0);
		ck_assert_int_eq(is_there(STATE), 0);
		bu_change_fini(&change);
		ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
	}
}
END_TEST

START_TEST(what_cannot_be_written_is_said)
{
	static const struct {
		struct bu_change_file file;
		const char *says; /* NULL = it is done */
	} rows[] = {
		{{"/f/x", 0644, "", "new", 3}, "/f"},
		{{"/d", 0644, "", "new", 3}, "/d"},
		{{"/d", 0644, "", NULL, 0}, "remove '/d'"},
		{{"/f/x", 0644, "", NULL, 0}, NULL},
		{{"/gone", 0644, "", NULL, 0}, NULL},
		{{"/f", 0644, "", NULL, 0}, NULL},
	};

	make_root();
	put("/f", "old");
	sh("mkdir $R/d");
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_change_file file = rows[i].file;
		const struct bu_change change = {
			.root = root, .files = &file, .count = 1};
		struct bu_err err = {0};

		errno = EPERM; /* of something before */
		ck_assert_msg(bu_change_write(&change, &err) == (rows[i].says ? -1 : 0),
			      "row %zu: %s", i, err.text);
		ck_assert_msg(!rows[i].says || strstr(err.text, rows[i].says), "%s",
			      err.text);
	}
	ck_assert_int_eq(is_there("/f"), 0);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

/* The first is named; the journal stays for another try. */
START_TEST(one_that_cannot_be_put_back_keeps_no_other_away)
{
	static const char *const paths[] = {"/a", "/b/link", "/d/link", "/none", "/z"};
	static const char *const in_the_way[] = {"/a", "/d/link", "/b", "/none"};
	struct bu_change change = {.root = root};
	struct bu_err err = {0};

	make_root();
	put("/a", "old a");
	put("/z", "old z");
	sh("mkdir $R/b $R/d && ln -s to $R/b/link && ln -s to $R/d/link");
	add_all(&change, paths, BU_LEN(paths));
	ck_assert_int_eq(begins(&change, &err), 0);
	ck_assert_int_eq(bu_change_write(&change, &err), 0);
	sh("rm -r $R/a $R/b $R/d/link && mkdir $R/a $R/d/link");
	ck_assert_int_eq(bu_change_restore(&change, &err), -1);
	ck_assert_msg(strstr(err.text, "/a") != NULL, "%s", err.text);
	has("/z", "old z", 0644);
	ck_assert_int_eq(is_there("/none"), 0);
	sh("rmdir $R/a && mkdir $R/none");
	for (size_t i = 1; i < BU_LEN(in_the_way); i++) {
		put("/z", "other");
		ck_assert_int_eq(bu_change_restore(&change, &err), -1);
		has("/a", "old a", 0644);
		has("/z", "old z", 0644);
		if (i == 1)
			ck_assert_msg(strstr(err.text, "link '/b/link'") != NULL, "%s",
				      err.text);
		if (i == 2)
			ck_assert_msg(strstr(err.text, "remove '/d/link'") != NULL,
				      "%s", err.text);
		if (i == 3)
			ck_assert_msg(strstr(err.text, "remove '/none'") != NULL, "%s",
				      err.text);
		sh(i == 1   ? "mkdir $R/b"
		   : i == 2 ? "rmdir $R/d/link"
			    : "rmdir $R/none");
	}
	ck_assert_int_eq(bu_change_restore(&change, &err), 0);
	sh("test $(readlink $R/b/link) = to && test $(readlink $R/d/link) = to");
	ck_assert_int_eq(is_there(STATE "/change.json"), 1);
	/* It counts until it has gone for good. */
	sh("rm $R" STATE "/change.json && mkdir $R" STATE "/change.json");
	ck_assert_int_eq(bu_change_close(&change, &err), -1);
	ck_assert_int_eq(is_there(STATE "/change.json"), 1);
	bu_change_fini(&change);
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}
END_TEST

BU_UNIT("change", what_is_so_already_is_no_change, what_matches_and_is_not_kept_goes,
	what_goes_is_applied_with_its_kind, what_was_there_is_kept_until_the_end,
	without_a_journal_nothing_begins, what_cannot_be_written_is_said,
	one_that_cannot_be_put_back_keeps_no_other_away)
