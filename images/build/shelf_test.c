/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store, cut off before each of its writes: by a kill, and by a disk that is full
 * from there on. What has the name is whole each time, and the next put mends the rest.
 */
#include "images/build/shelf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "images/build/sign.h"
#include "tests/support/image.h"
#include "tests/support/unit.h"

/* --- what changes a disk, counted --- */

enum cut { CUT_NOT, CUT_KILL, CUT_FULL };
static enum cut cut;
static int calls_left, calls_seen;

static int
is_cut(void)
{
	calls_seen++;
	if (cut == CUT_NOT || calls_left-- > 0)
		return 0;
	if (cut == CUT_KILL)
		_exit(99);
	errno = ENOSPC;
	return 1;
}

int __real_renameat2(int from_dir, const char *from, int to_dir, const char *to,
		     unsigned int flags);
int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to,
		     unsigned int flags);
int __real_symlink(const char *target, const char *path);
int __wrap_symlink(const char *target, const char *path);
int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __real_unlinkat(int dir, const char *path, int flags);
int __wrap_unlinkat(int dir, const char *path, int flags);
int __wrap_syncfs(int fd);

int
__wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to,
		 unsigned int flags)
{
	return is_cut() ? -1 : __real_renameat2(from_dir, from, to_dir, to, flags);
}

int
__wrap_symlink(const char *target, const char *path)
{
	return is_cut() ? -1 : __real_symlink(target, path);
}

int
__wrap_mkdir(const char *path, mode_t mode)
{
	return is_cut() ? -1 : __real_mkdir(path, mode);
}

/* A full disk still lets things go. */
int
__wrap_unlinkat(int dir, const char *path, int flags)
{
	return is_cut() && cut == CUT_KILL ? -1 : __real_unlinkat(dir, path, flags);
}

int
__wrap_syncfs(int fd)
{
	return is_cut() ? -1 : 0; /* a kill loses nothing that was written */
}

/* --- a store with images of nothing --- */

static char dir[40], images[64];
static char *private_pem, *public_pem;

static void
setup(void)
{
	strcpy(dir, "/tmp/bringup-shelf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(images, sizeof(images), "%s/images", dir);
	ck_assert_int_eq(bu_mkdir_p(images, 0755, NULL), 0);
	if (!private_pem)
		ck_assert_int_eq(bu_sign_key_create(&private_pem, &public_pem, NULL),
				 0);
}

static void
teardown(void)
{
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}

/* What a build makes: <dir>/out; its digest. */
static void
make_out(int which, char *ret_digest)
{
	char created[24];
	bu_autofree char *from = bu_xasprintf("%s/made", dir);
	bu_autofree char *made = bu_xasprintf("%s/small", from);
	bu_autofree char *out = bu_xasprintf("%s/out", dir);

	snprintf(created, sizeof(created), "2026-01-%02dT00:00:00Z", which);
	ck_assert_int_eq(
		paper_image(from, "small", created, private_pem, ret_digest, NULL), 0);
	ck_assert_int_eq(bu_remove_tree(out, NULL), 0);
	ck_assert_int_eq(rename(made, out), 0);
}

static int
put(struct bu_err *err)
{
	bu_autofree char *out = bu_xasprintf("%s/out", dir);

	memset(err, 0, sizeof(*err));
	return bu_shelf_put(images, "small", out, err);
}

static void
put_new(int which, char *ret_digest)
{
	struct bu_err err;

	make_out(which, ret_digest);
	ck_assert_msg(!put(&err), "%s", err.text);
	usleep(2000); /* the next one is newer */
}

static void
named_is(char *ret_digest)
{
	struct bu_image image;
	struct bu_err err = {0};

	ck_assert_msg(!bu_image_load(images, "small", public_pem, &image, &err), "%s",
		      err.text);
	memcpy(ret_digest, image.digest, BU_DIGEST_SIZE);
	bu_image_fini(&image);
}

/* Whatever has a digest for its name has that digest, and all of its parts. */
static size_t
count_whole(void)
{
	struct bu_shelf_item *items;
	size_t count;
	struct bu_err err = {0};

	ck_assert_int_eq(bu_shelf_list(images, &items, &count, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		const struct bu_image_id id = {items[i].name, items[i].digest};
		struct bu_image image;

		ck_assert_msg(
			!bu_image_load_stored(images, &id, public_pem, &image, &err),
			"%s", err.text);
		bu_image_fini(&image);
	}
	free(items);
	return count;
}

/* In a child that is cut off before its nth call; 0 when there are no more calls. */
static int
cut_off(enum cut how, int nth, int (*act)(struct bu_err *err))
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		struct bu_err err = {0};
		int rc;

		cut = how;
		calls_left = nth;
		calls_seen = 0;
		rc = act(&err);
		_exit(calls_seen <= nth ? 7 : rc ? 1 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status) != 7;
}

/* --- tests --- */

static void
a_put_cut_off_everywhere(enum cut how, int plain)
{
	char old[BU_DIGEST_SIZE], new[BU_DIGEST_SIZE], named[BU_DIGEST_SIZE];
	int more = 1, olds = 0;

	for (int nth = 0; more; nth++) {
		struct bu_err err;

		ck_assert_int_lt(nth, 40);
		setup();
		if (plain)
			ck_assert_int_eq(paper_image(images, "small",
						     "2026-01-01T00:00:00Z",
						     private_pem, old, NULL),
					 0);
		else
			put_new(1, old);
		make_out(2, new);
		more = cut_off(how, nth, put);
		named_is(named);
		if (!strcmp(named, old))
			olds++;
		else
			ck_assert_str_eq(named, new);
		count_whole();
		make_out(2, new);
		ck_assert_msg(!put(&err), "call %d: %s", nth, err.text);
		named_is(named);
		ck_assert_str_eq(named, new);
		/* nothing was lost on the way */
		ck_assert_uint_eq(count_whole(), 2);
		teardown();
	}
	ck_assert_int_gt(olds, 0);
}

START_TEST(a_put_that_is_cut_off_leaves_the_old_or_the_new)
{
	a_put_cut_off_everywhere(CUT_KILL, 0);
	a_put_cut_off_everywhere(CUT_FULL, 0);
}
END_TEST

START_TEST(a_plain_folder_is_taken_over_at_once_or_not)
{
	a_put_cut_off_everywhere(CUT_FULL, 1);
}
END_TEST

static struct bu_shelf_item leaving;

static int
remove_it(struct bu_err *err)
{
	return bu_shelf_remove(images, &leaving, err);
}

START_TEST(a_removal_that_is_cut_off_leaves_no_half)
{
	char old[BU_DIGEST_SIZE], new[BU_DIGEST_SIZE];

	for (int nth = 0, more = 1; more; nth++) {
		size_t count;

		ck_assert_int_lt(nth, 40);
		setup();
		put_new(1, old);
		put_new(2, new);
		ck_assert_int_eq(bu_shelf_find(images, "small", NULL, &leaving, NULL),
				 0);
		ck_assert_str_eq(leaving.digest, old);
		more = cut_off(CUT_KILL, nth, remove_it);
		count = count_whole();
		ck_assert(count == 1 || count == 2);
		if (count == 2)
			ck_assert_int_eq(remove_it(NULL), 0);
		teardown();
	}
}
END_TEST

START_TEST(a_name_goes_back_and_forth)
{
	char one[BU_DIGEST_SIZE], two[BU_DIGEST_SIZE], now[BU_DIGEST_SIZE];
	struct bu_shelf_item item;
	struct bu_err err = {0};

	setup();
	put_new(1, one);
	ck_assert_int_eq(bu_shelf_find(images, "small", NULL, &item, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	put_new(2, two);
	ck_assert_int_eq(bu_shelf_find(images, "small", NULL, &item, NULL), 0);
	ck_assert_str_eq(item.digest, one);
	ck_assert_int_eq(
		bu_shelf_use(images, &(struct bu_image_id){"small", one}, NULL), 0);
	named_is(now);
	ck_assert_str_eq(now, one);
	ck_assert_int_eq(bu_shelf_find(images, "small", two, &item, NULL), 0);
	ck_assert_int_eq(
		bu_shelf_use(images, &(struct bu_image_id){"small", two}, NULL), 0);
	named_is(now);
	ck_assert_str_eq(now, two);
	ck_assert_int_eq(bu_shelf_find(images, "small", "zz", &item, &err), -1);
	ck_assert_int_eq(bu_shelf_find(images, "small", two, &item, NULL), 0);
	ck_assert_int_eq(bu_shelf_remove(images, &item, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	teardown();
}
END_TEST

START_TEST(a_changed_manifest_is_not_what_the_store_says)
{
	char digest[BU_DIGEST_SIZE], other[BU_DIGEST_SIZE];
	bu_autofree char *stored = NULL, *out = NULL;
	struct bu_image image;
	struct bu_err err = {0};

	setup();
	out = bu_xasprintf("%s/out", dir);
	put_new(1, digest);
	make_out(2, other); /* signed by the same key */
	stored = bu_xasprintf("%s/.store/%s", images, digest);
	ck_assert_int_eq(bu_remove_tree(stored, NULL), 0);
	ck_assert_int_eq(rename(out, stored), 0);
	ck_assert_int_eq(bu_image_load(images, "small", public_pem, &image, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_VERIFY);
	teardown();
}
END_TEST

START_TEST(what_somebody_needs_stays)
{
	static const enum bu_shelf_need want[] = {BU_NEED_NAME, BU_NEED_BEFORE,
						  BU_NEED_NODES, BU_NEED_NONE};
	char made[4][BU_DIGEST_SIZE];
	const char *const used[] = {made[1]};
	struct bu_shelf_item *items;
	size_t count;

	setup();
	for (int i = 0; i < 4; i++)
		put_new(i + 1, made[i]);
	ck_assert_int_eq(bu_shelf_list(images, &items, &count, NULL), 0);
	ck_assert_uint_eq(count, 4);
	bu_shelf_judge(items, count, used, 1);
	for (size_t i = 0; i < count; i++) {
		ck_assert_str_eq(items[i].digest, made[3 - i]);
		ck_assert_int_eq(items[i].need, want[i]);
	}
	free(items);
	/* the one that was rolled back from has no name, and nobody needs it */
	ck_assert_int_eq(
		bu_shelf_use(images, &(struct bu_image_id){"small", made[2]}, NULL), 0);
	ck_assert_int_eq(bu_shelf_list(images, &items, &count, NULL), 0);
	bu_shelf_judge(items, count, used, 1);
	ck_assert_int_eq(items[0].need, BU_NEED_NONE);
	ck_assert_int_eq(items[1].need, BU_NEED_NAME);
	ck_assert_int_eq(items[2].need, BU_NEED_NODES);
	ck_assert_int_eq(items[3].need, BU_NEED_NONE);
	free(items);
	teardown();
}
END_TEST

/* A build that makes the same bytes again, signed by this machine's key alone. */
START_TEST(the_same_again_keeps_its_signatures)
{
	char digest[BU_DIGEST_SIZE], same[BU_DIGEST_SIZE];
	bu_autofree char *path = NULL, *stored = NULL, *own = NULL, *after = NULL;
	char *keys[2], *pubs[2];
	struct bu_err err = {0};

	setup();
	put_new(1, digest);
	stored = bu_xasprintf("%s/.store/%s", images, digest);
	path = bu_xasprintf("%s/manifest.sig", stored);
	own = bu_file_read(path, 4096, NULL, NULL);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(bu_sign_key_create(&keys[i], &pubs[i], NULL), 0);
		ck_assert_int_eq(bu_image_sign(stored, keys[i], same, &err), 1);
	}
	put_new(1, same);
	ck_assert_str_eq(same, digest);
	put_new(1, same);
	after = bu_file_read(path, 4096, NULL, NULL);
	/* none is there twice */
	ck_assert_int_eq(strncmp(after, own, BU_SIG_HEX_SIZE - 1), 0);
	ck_assert_uint_eq(strlen(after), 3 * BU_SIG_HEX_SIZE);
	for (size_t i = 0; i < 2; i++) {
		struct bu_image image;

		ck_assert_msg(!bu_image_load(images, "small", pubs[i], &image, &err),
			      "%s", err.text);
		bu_image_fini(&image);
		free(keys[i]);
		free(pubs[i]);
	}
	/* What is no signature is not kept, nor that of another manifest. */
	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "00\n%s", after), 0);
	put_new(1, same);
	free(bu_steal(&own));
	own = bu_file_read(path, 4096, NULL, NULL);
	ck_assert_str_eq(own, after);
	free(bu_steal(&own));
	own = bu_xasprintf("%s/manifest.json", stored);
	ck_assert_int_eq(bu_file_write_text(own, 0644, NULL, "{}"), 0);
	put_new(1, same);
	free(bu_steal(&after));
	after = bu_file_read(path, 4096, NULL, NULL);
	ck_assert_uint_lt(strlen(after), BU_SIG_HEX_SIZE + 1);
	teardown();
}
END_TEST

START_TEST(what_cannot_be_read_keeps_its_name)
{
	char one[BU_DIGEST_SIZE], two[BU_DIGEST_SIZE];
	bu_autofree char *path = NULL;
	struct bu_shelf_item *items;
	size_t count;
	struct bu_err err = {0};

	setup();
	put_new(1, one);
	put_new(2, two);
	path = bu_xasprintf("%s/.store/%s/manifest.json", images, two);
	ck_assert_int_eq(bu_file_write_text(path, 0644, NULL, "{"), 0);
	ck_assert_int_eq(bu_shelf_list(images, &items, &count, NULL), 0);
	bu_shelf_judge(items, count, NULL, 0);
	ck_assert_uint_eq(count, 2);
	ck_assert_str_eq(items[0].digest, two);
	ck_assert_str_eq(items[0].name, "small");
	ck_assert_int_eq(items[0].need, BU_NEED_NAME);
	ck_assert_int_eq(items[1].need, BU_NEED_BEFORE);
	ck_assert_int_eq(bu_shelf_remove(images, &items[0], &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	free(items);
	teardown();
}
END_TEST

/* A kill in the middle of a build, of a removal, of a change of names. */
START_TEST(what_was_cut_off_is_swept)
{
	static const char *const left[] = {"tmp/other/root/etc",
					   "images/.store/.going"};
	bu_autofree char *tmp = NULL, *aside = NULL, *plain = NULL, *file = NULL;
	char one[BU_DIGEST_SIZE], two[65];
	uint64_t bytes = 0;

	setup();
	put_new(1, one);
	for (size_t i = 0; i < BU_LEN(left); i++) {
		bu_autofree char *path = bu_xasprintf("%s/../%s", images, left[i]);

		ck_assert_int_eq(bu_mkdir_p(path, 0755, NULL), 0);
	}
	tmp = bu_xasprintf("%s/../tmp", images);
	file = bu_xasprintf("%s/other/root/etc/big", tmp);
	ck_assert_int_eq(bu_file_write(file, images, sizeof(images), 0644, NULL), 0);
	/* Somebody's plain folder, which an installation may need. */
	ck_assert_int_eq(paper_image(images, "plain", "2026-01-09T00:00:00Z",
				     private_pem, two, NULL),
			 0);
	plain = bu_xasprintf("%s/plain", images);
	aside = bu_xasprintf("%s/.store/.plain.aside", images);
	ck_assert_int_eq(rename(plain, aside), 0);
	ck_assert_int_eq(bu_shelf_sweep(images, tmp, 0, &bytes, NULL), 0);
	ck_assert_uint_ge(bytes, 4096);
	ck_assert(bu_file_exists(file) && bu_file_exists(aside));
	ck_assert_int_eq(bu_shelf_sweep(images, tmp, 1, &bytes, NULL), 0);
	ck_assert(!bu_file_exists(file) && !bu_file_exists(aside));
	ck_assert_uint_eq(count_whole(), 2);
	ck_assert_int_eq(bu_shelf_sweep(images, tmp, 1, &bytes, NULL), 0);
	ck_assert_uint_eq(bytes, 0);
	teardown();
}
END_TEST

BU_UNIT("shelf", a_put_that_is_cut_off_leaves_the_old_or_the_new,
	a_plain_folder_is_taken_over_at_once_or_not,
	a_removal_that_is_cut_off_leaves_no_half, a_name_goes_back_and_forth,
	a_changed_manifest_is_not_what_the_store_says, what_somebody_needs_stays,
	the_same_again_keeps_its_signatures, what_cannot_be_read_keeps_its_name,
	what_was_cut_off_is_swept)
