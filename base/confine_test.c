/* SPDX-License-Identifier: Apache-2.0 */
/* Files that profiles name are opened beneath the listed directories alone. */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

static char top[40];

static char *
at(const char *rest)
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, rest);
	return path;
}

static void
put(const char *rest, const char *text)
{
	char *path = at(rest), *slash = strrchr(path, '/');

	*slash = '\0';
	ck_assert_int_eq(bu_mkdir_p(path, 0700, NULL), 0);
	*slash = '/';
	ck_assert_int_eq(bu_file_write_text(path, 0600, NULL, "%s", text), 0);
}

/* state/ with the key of the CA and images in it, secrets/, more/ */
static void
setup(void)
{
	struct bu_err err = {0};
	char secrets[128], images[256], state[128];

	strcpy(top, "/tmp/bringup-confine-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(top));
	put("state/keys/ca.key", "the CA's");
	put("state/images/debian/manifest.json", "{}");
	put("state/images/.store/d1/part", "frames");
	put("secrets/munge.key", "munge");
	put("secrets/deep/er", "deeper");
	put("more/image/part", "more");
	put("outside", "not listed");
	put("secrets2/key", "a name that only begins alike");
	snprintf(secrets, sizeof(secrets), "%s", at("secrets"));
	snprintf(images, sizeof(images), "%s, %s/", at("state/images"), at("more"));
	snprintf(state, sizeof(state), "%s", at("state"));
	ck_assert_msg(
		bu_confine_begin(&(struct bu_confine_opts){secrets, images, state},
				 &err) == 0,
		"%s", err.text);
}

static void
teardown(void)
{
	bu_confine_end();
	ck_assert_int_eq(bu_remove_tree(top, NULL), 0);
}

static void
reads(int lists, const char *rest, const char *want)
{
	struct bu_err err = {0};
	bu_autofree char *text = bu_confine_read(lists, at(rest), 0, NULL, &err);

	ck_assert_msg(text != NULL, "%s: %s", rest, err.text);
	ck_assert_str_eq(text, want);
	ck_assert_int_eq(bu_confine_check(lists, at(rest), 0, NULL), 0);
}

static void
refuses(int lists, const char *rest, enum bu_err_kind kind, const char *words)
{
	struct bu_err err = {0};
	bu_autofree char *text = bu_confine_read(lists, at(rest), 0, NULL, &err);

	ck_assert_msg(text == NULL, "%s was read: %s", rest, text);
	ck_assert_msg(err.kind == kind && strstr(err.text, words), "%s: %s", rest,
		      err.text);
	/* a check before does not ask what it is */
	if (!strstr(err.text, "is not a plain file"))
		ck_assert_int_eq(bu_confine_check(lists, at(rest), 0, NULL),
				 kind == BU_ERR_DENIED ? -1 : 0);
}

enum { S = BU_CONFINE_SECRETS, I = BU_CONFINE_IMAGES };

#define D BU_ERR_DENIED

START_TEST(what_is_beneath_is_read_and_nothing_else)
{
	setup();
	reads(S, "secrets/munge.key", "munge");
	reads(S, "secrets/deep/er", "deeper");
	reads(S | I, "secrets/munge.key", "munge");
	reads(I, "more/image/part", "more");
	reads(I, "state/images/debian/manifest.json", "{}");
	ck_assert_int_eq(bu_confine_check(I, at("more"), O_DIRECTORY, NULL), 0);
	refuses(S, "secrets/none", BU_ERR_NOTFOUND, "No such file");
	/* no other list, no other folder */
	refuses(S, "more/image/part", D, "is not beneath secrets_dir of bringupd.conf");
	refuses(I, "secrets/munge.key", D, "image_dirs of bringupd.conf (");
	refuses(S | I, "outside", D, "secrets_dir or image_dirs");
	refuses(S, "secrets2/key", D, "not beneath");
	refuses(S, "secrets/../outside", D, "not beneath");
	refuses(S, "secrets/./munge.key", D, "not beneath");
	refuses(S, "secrets//munge.key", D, "not beneath");
	refuses(S, "secrets", D, "is not a plain file");
	ck_assert_int_eq(bu_confine_check(S, "secrets/munge.key", 0, NULL), -1);
	ck_assert_int_eq(bu_confine_check(S, "", 0, NULL), -1);
	/* the state directory by its own name */
	refuses(S | I, "state/keys/ca.key", D, "not beneath");
	ck_assert_int_eq(bu_confine_check(I, at("state"), O_DIRECTORY, NULL), -1);
	ck_assert_int_eq(bu_confine_check(I, at("state/keys"), O_DIRECTORY, NULL), -1);
	teardown();
}
END_TEST

static void
link_to(const char *target, const char *rest)
{
	ck_assert_int_eq(symlink(target, at(rest)), 0);
}

/* 0: no links at all, as for a kernel without openat2(). */
static void
try_links(int links)
{
	link_to(at("state/keys"), "secrets/keys");
	link_to("../state/keys", "secrets/rel");
	link_to(at("state/keys/ca.key"), "secrets/file");
	link_to("munge.key", "secrets/alike");
	link_to("deep", "secrets/inside");
	link_to("/proc/self/root", "secrets/root");
	link_to("../keys", "state/images/out");
	link_to(".store/d1", "state/images/d");
	refuses(S, "secrets/keys/ca.key", D, links ? "by a link" : "");
	refuses(S, "secrets/rel/ca.key", D, links ? "by a link" : "");
	refuses(S, "secrets/file", D, "");
	refuses(S, "secrets/alike", D, "");
	refuses(S, "secrets/root/etc/passwd", D, "");
	refuses(I, "state/images/out/ca.key", D, "");
	reads(S, "secrets/deep/er", "deeper");
	if (links) {
		reads(S, "secrets/inside/er", "deeper");
		reads(I, "state/images/d/part", "frames");
		ck_assert_int_eq(
			bu_confine_check(I, at("state/images/d"), O_DIRECTORY, NULL),
			0);
	}
	ck_assert_int_eq(bu_confine_check(I, at("state/images/out"), O_DIRECTORY, NULL),
			 -1);
	/* another name of the same file */
	ck_assert_int_eq(link(at("state/keys/ca.key"), at("secrets/hard")), 0);
	ck_assert_int_eq(link(at("state/keys/ca.key"), at("more/hard")), 0);
	ck_assert_int_eq(link(at("more/image/part"), at("more/twice")), 0);
	refuses(S, "secrets/hard", D, "is in the state directory");
	refuses(I, "more/hard", D, "is in the state directory");
	reads(I, "more/twice", "more");
	ck_assert_int_eq(mkfifo(at("secrets/fifo"), 0600), 0);
	refuses(S, "secrets/fifo", D, "is not a plain file");
}

START_TEST(links_lead_nowhere_else)
{
	setup();
	try_links(1);
	teardown();
}
END_TEST

/* openat2() is not there, as with a kernel of before 5.6. */
static void
without_openat2(void)
{
	struct sock_filter rows[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {4, rows};

	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
	ck_assert_int_eq(syscall(SYS_openat2, AT_FDCWD, "/", NULL, 0), -1);
	ck_assert_int_eq(errno, ENOSYS);
}

static void
mounts(void)
{
	ck_assert_int_eq(mkdir(at("secrets/bound"), 0700), 0);
	put("secrets/one", "its own");
	ck_assert_int_eq(unshare(CLONE_NEWNS), 0);
	ck_assert_int_eq(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	ck_assert_int_eq(
		mount(at("state/keys"), at("secrets/bound"), NULL, MS_BIND, NULL), 0);
	ck_assert_int_eq(
		mount(at("state/keys/ca.key"), at("secrets/one"), NULL, MS_BIND, NULL),
		0);
	refuses(S, "secrets/bound/ca.key", D, "is on another mount");
	refuses(S, "secrets/one", D, "is on another mount");
	/* a listed directory becomes the state directory */
	ck_assert_int_eq(mount(at("state"), at("more"), NULL, MS_BIND, NULL), 0);
	refuses(I, "more/keys/ca.key", D, "is in the state directory");
}

/* In a process of its own: neither mounts nor filters are undone. */
static void
in_child(void (*fn)(void), int has_openat2)
{
	pid_t child = fork();
	int status = -1;

	ck_assert_int_ge(child, 0);
	if (child == 0) {
		if (!has_openat2)
			without_openat2();
		fn();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(status == 0, "status %x", (unsigned int)status);
}

static void
try_walk(void)
{
	try_links(0);
}

START_TEST(an_old_kernel_is_as_strict)
{
	setup();
	in_child(try_walk, 0);
	teardown();
}
END_TEST

START_TEST(mounts_are_no_way_into_the_state_directory)
{
	BU_NEEDS("root");
	setup();
	in_child(mounts, 1);
	teardown();
	setup();
	in_child(mounts, 0);
	teardown();
}
END_TEST

static void
begins(const char *secrets, const char *images, enum bu_err_kind kind,
       const char *words)
{
	struct bu_err err = {0};
	int rc = bu_confine_begin(
		&(struct bu_confine_opts){secrets, images, at("state")}, &err);

	ck_assert_msg((rc == 0) == (kind == BU_ERR_NONE), "%s %s: %s", secrets, images,
		      err.text);
	ck_assert_int_eq(err.kind, kind);
	ck_assert_msg(!words || strstr(err.text, words), "%s", err.text);
}

START_TEST(a_list_without_the_state_directory)
{
	setup();
	link_to("state", "alias");
	begins(at("secrets"), at("state/images"), BU_ERR_NONE, NULL);
	begins("", "", BU_ERR_NONE, NULL);
	begins(at("not-there-yet"), NULL, BU_ERR_NONE, NULL);
	begins(at("state"), NULL, D, "secrets_dir: '");
	begins(at("state/keys"), NULL, D, "is, holds or lies in the state directory");
	begins(NULL, at("alias"), D, "image_dirs: '");
	begins(NULL, top, D, "image_dirs: '");
	begins("/", NULL, BU_ERR_INVAL, "expected absolute directories");
	begins("relative", NULL, BU_ERR_INVAL, "secrets_dir = relative");
	begins("/a,,/b", NULL, BU_ERR_INVAL, "with commas between them");
	teardown();
}
END_TEST

BU_UNIT("confine", what_is_beneath_is_read_and_nothing_else, links_lead_nowhere_else,
	an_old_kernel_is_as_strict, mounts_are_no_way_into_the_state_directory,
	a_list_without_the_state_directory)
