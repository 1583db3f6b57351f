/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads, atomic writes, and a removal that goes nowhere else. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/unit.h"

static char top[] = "/tmp/bringup-file-XXXXXX";

static char *
in_top(const char *name)
{
	return bu_xasprintf("%s/%s", top, name);
}

static void
put(const char *name, const char *text)
{
	bu_autofree char *path = in_top(name);
	struct bu_err err = {0};

	ck_assert_msg(bu_file_write(path, text, strlen(text), 0640, &err) == 0, "%s",
		      err.text);
}

static void
make(const char *name)
{
	bu_autofree char *path = in_top(name);
	struct bu_err err = {0};

	ck_assert_msg(bu_mkdir_p(path, 0700, &err) == 0, "%s", err.text);
}

static void
begin(void)
{
	ck_assert_ptr_nonnull(mkdtemp(top));
}

static void
end(void)
{
	struct bu_err err = {0};

	ck_assert_msg(bu_remove_tree(top, &err) == 0, "%s", err.text);
	ck_assert_int_eq(bu_file_exists(top), 0);
}

static int
count_entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count - 2;
}

START_TEST(reads_what_it_wrote)
{
	bu_autofree char *path = NULL;
	bu_autofree char *text = NULL;
	struct bu_err err = {0};
	struct stat st;
	size_t size;

	begin();
	path = in_top("a");
	umask(077);
	put("a", "first");
	put("a", "second");
	text = bu_file_read(path, 0, &size, &err);
	ck_assert_str_eq(text, "second");
	ck_assert_uint_eq(size, 6);
	stat(path, &st);
	ck_assert_uint_eq(st.st_mode & 07777, 0640); /* whatever the umask is */
	ck_assert_int_eq(count_entries(top), 1);     /* nothing is left beside it */
	end();
}
END_TEST

START_TEST(keeps_the_old_content_on_failure)
{
	bu_autofree char *path = NULL;
	struct bu_err err = {0};

	begin();
	make("folder/inside");
	path = in_top("folder");
	/* A file cannot take the place of a folder that is not empty. */
	ck_assert_int_eq(bu_file_write(path, "x", 1, 0600, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	ck_assert_int_eq(count_entries(top), 1);
	ck_assert_int_eq(bu_file_write("/nonexistent/x", "x", 1, 0600, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	end();
}
END_TEST

START_TEST(reads_up_to_a_limit)
{
	bu_autofree char *path = NULL;
	bu_autofree char *text = NULL;
	char line[4];
	struct bu_err err = {0};

	begin();
	path = in_top("a");
	put("a", "12345678\nrest");
	ck_assert_ptr_null(bu_file_read(path, 12, NULL, &err));
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	text = bu_file_read(path, 13, NULL, &err);
	ck_assert_str_eq(text, "12345678\nrest");
	bu_file_line(path, line, sizeof(line));
	ck_assert_str_eq(line, "123");
	bu_file_line("/nonexistent", line, sizeof(line));
	ck_assert_str_eq(line, "");
	ck_assert_ptr_null(bu_file_read("/nonexistent", 0, NULL, &err));
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_ptr_null(bu_file_read(top, 0, NULL, &err));
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	end();
}
END_TEST

/* Its size is 0 in the eyes of stat(). */
START_TEST(reads_a_file_of_proc)
{
	size_t size = 0;
	bu_autofree char *text = bu_file_read("/proc/self/maps", 0, &size, NULL);

	ck_assert_ptr_nonnull(text);
	ck_assert_uint_gt(size, 100);
	ck_assert_uint_eq(strlen(text), size);
}
END_TEST

START_TEST(makes_folders)
{
	bu_autofree char *deep = NULL;
	bu_autofree char *below_file = NULL;
	struct bu_err err = {0};

	begin();
	deep = in_top("a//b/c/");
	ck_assert_int_eq(bu_mkdir_p(deep, 0755, &err), 0);
	ck_assert_int_eq(bu_mkdir_p(deep, 0755, &err), 0);
	ck_assert_int_eq(bu_mkdir_p("/", 0755, &err), 0);
	put("file", "x");
	below_file = in_top("file");
	ck_assert_int_eq(bu_mkdir_p(below_file, 0755, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	end();
}
END_TEST

START_TEST(removes_a_tree_and_nothing_else)
{
	bu_autofree char *link = NULL;
	bu_autofree char *link_slash = NULL;
	bu_autofree char *tree = NULL;
	bu_autofree char *kept = NULL;
	bu_autofree char *missing = NULL;
	bu_autofree char *file = NULL;
	struct bu_err err = {0};

	begin();
	make("kept");
	put("kept/precious", "x");
	make("tree/a/b/c");
	for (int i = 0; i < 300; i++) {
		char name[64];

		snprintf(name, sizeof(name), "tree/a/file%d", i);
		put(name, "x");
	}
	kept = in_top("kept");
	link = in_top("tree/a/link");
	tree = in_top("tree");
	missing = in_top("missing");
	ck_assert_int_eq(symlink(kept, link), 0);
	ck_assert_int_eq(bu_remove_tree(tree, &err), 0);
	ck_assert_int_eq(bu_file_exists(tree), 0);
	ck_assert_int_eq(count_entries(kept), 1);
	ck_assert_int_eq(bu_remove_tree(missing, &err), 0);
	/* A link is no tree, with or without a slash; nor is a file. */
	free(link);
	link = in_top("link");
	link_slash = in_top("link/");
	ck_assert_int_eq(symlink(kept, link), 0);
	ck_assert_int_eq(bu_remove_tree(link, &err), -1);
	ck_assert_int_eq(bu_remove_tree(link_slash, &err), -1);
	file = in_top("kept/precious");
	ck_assert_int_eq(bu_remove_tree(file, &err), -1);
	ck_assert_int_eq(count_entries(kept), 1);
	ck_assert_int_eq(bu_remove_tree("", &err), -1);
	end();
}
END_TEST

/* In a child with a mount namespace of its own. */
static int
remove_below_a_bind_mount(const char *tree, const char *mount_point, const char *kept)
{
	struct bu_err err = {0};

	if (unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(kept, mount_point, NULL, MS_BIND, NULL) < 0)
		return 1;
	if (bu_remove_tree(tree, &err) != -1)
		return 1;
	return err.kind == BU_ERR_STATE && count_entries(kept) == 1 ? 0 : 2;
}

/* A bind mount has the same device number as its source. */
START_TEST(stops_at_a_mount)
{
	bu_autofree char *tree = NULL;
	bu_autofree char *point = NULL;
	bu_autofree char *kept = NULL;
	int status = 0;
	pid_t pid;

	BU_NEEDS("root");
	begin();
	make("tree/point");
	make("kept");
	put("kept/precious", "x");
	tree = in_top("tree");
	point = in_top("tree/point");
	kept = in_top("kept");
	pid = fork();
	if (pid == 0)
		_exit(remove_below_a_bind_mount(tree, point, kept));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_int_eq(count_entries(kept), 1);
	end();
}
END_TEST

START_TEST(writes_all_to_a_pipe)
{
	static char big[300 * 1000];
	struct bu_err err = {0};
	size_t total = 0;
	int fds[2];
	pid_t pid;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		_exit(bu_write_all(fds[1], big, sizeof(big), NULL) ? 1 : 0);
	}
	close(fds[1]);
	for (;;) {
		static char chunk[4096];
		ssize_t got = read(fds[0], chunk, sizeof(chunk));

		if (got <= 0)
			break;
		total += (size_t)got;
	}
	ck_assert_uint_eq(total, sizeof(big));
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(bu_write_all(fds[0], "x", 1, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	ck_assert_int_eq(err.sys_errno, EBADF);
	close(fds[0]);
}
END_TEST

START_TEST(sets_and_clears_cloexec)
{
	int fd = open("/dev/null", O_RDONLY);

	ck_assert_int_eq(bu_set_cloexec(fd, 1), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(bu_set_cloexec(fd, 0), 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), 0);
	close(fd);
}
END_TEST

BU_UNIT("file", reads_what_it_wrote, keeps_the_old_content_on_failure,
	reads_up_to_a_limit, reads_a_file_of_proc, makes_folders,
	removes_a_tree_and_nothing_else, stops_at_a_mount, writes_all_to_a_pipe,
	sets_and_clears_cloexec)
