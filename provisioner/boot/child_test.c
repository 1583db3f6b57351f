/* SPDX-License-Identifier: Apache-2.0 */
/* A child that stays: it is started again when it ends, and only then. The unit of
 * bringup-boot is played by this test. */
#include "provisioner/boot/child.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/unit.h"

enum { RESTART_MS = 2000, SAID = 256, STEP_MS = 50 };

struct site {
	char dir[sizeof("/tmp/bringup-child-XXXXXX")];
	char *socket;
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_child *child;
	int listener, peer;
	char answers[SAID];
};

static void
on_answer(const char *answer, const char *words, void *arg)
{
	struct site *site = arg;
	size_t size = strlen(site->answers);

	snprintf(site->answers + size, SAID - size, "[%s|%s]", answer, words);
}

static int
listen_at(const char *path)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(where.sun_path, sizeof(where.sun_path), "%s", path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	return fd;
}

static void
begin(struct site *site)
{
	memset(site, 0, sizeof(*site));
	strcpy(site->dir, "/tmp/bringup-child-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(site->dir));
	site->socket = bu_xasprintf("%s/socket", site->dir);
	site->listener = listen_at(site->socket);
	site->peer = -1;
	bu_clock_fake(&site->clock, 0);
	site->loop = bu_loop_create(&site->clock);
	site->child = bu_child_create(
		site->loop, &(struct bu_child_opts){.name = "dnsmasq",
						    .conf_path = "/run/x/conf",
						    .socket = site->socket,
						    .fn = on_answer,
						    .arg = site});
}

static void
finish(struct site *site)
{
	bu_child_destroy(site->child);
	bu_loop_destroy(site->loop);
	if (site->peer >= 0)
		close(site->peer);
	close(site->listener);
	free(site->socket);
	ck_assert_int_eq(bu_remove_tree(site->dir, NULL), 0);
}

/* Whether it has connected again, and said what to start. */
static int
connects(struct site *site)
{
	char said[SAID] = "";
	int fd = accept(site->listener, NULL, NULL);

	if (fd < 0)
		return 0;
	if (site->peer >= 0)
		close(site->peer);
	site->peer = fd;
	ck_assert_int_gt(recv(fd, said, sizeof(said) - 1, 0), 0);
	ck_assert_str_eq(said, "start /run/x/conf\n");
	return 1;
}

static void
tell(struct site *site, const char *words)
{
	ck_assert_int_eq(send(site->peer, words, strlen(words), MSG_NOSIGNAL),
			 (ssize_t)strlen(words));
	bu_loop_step(site->loop, STEP_MS);
}

static void
pass(struct site *site, int64_t ms)
{
	bu_clock_advance(&site->clock, ms);
	bu_loop_step(site->loop, 0);
}

START_TEST(one_that_ends_is_started_again)
{
	struct site site;

	begin(&site);
	ck_assert_uint_eq(bu_child_run(site.child), 0);
	ck_assert_int_eq(connects(&site), 0);
	bu_child_restart(site.child);
	ck_assert_int_eq(connects(&site), 1);
	ck_assert_uint_eq(bu_child_run(site.child), 1);
	tell(&site, "ended with 2\n");
	ck_assert_uint_eq(bu_child_run(site.child), 0);
	pass(&site, RESTART_MS - 1);
	ck_assert_int_eq(connects(&site), 0);
	pass(&site, 2);
	ck_assert_int_eq(connects(&site), 1);
	ck_assert_uint_eq(bu_child_run(site.child), 2);
	/* As when bringup-boot is killed. */
	close(site.peer);
	site.peer = -1;
	bu_loop_step(site.loop, STEP_MS);
	ck_assert_uint_eq(bu_child_run(site.child), 0);
	pass(&site, RESTART_MS + 1);
	ck_assert_int_eq(connects(&site), 1);
	pass(&site, 10 * RESTART_MS);
	ck_assert_int_eq(connects(&site), 0);
	bu_child_stop(site.child);
	ck_assert_uint_eq(bu_child_run(site.child), 0);
	pass(&site, 10 * RESTART_MS);
	ck_assert_int_eq(connects(&site), 0);
	ck_assert_str_eq(site.answers, "");
	finish(&site);
}
END_TEST

/* Two at once would want the same ports. */
START_TEST(a_restart_closes_the_connection_before_the_next)
{
	struct site site;
	char byte;

	begin(&site);
	bu_child_restart(site.child);
	ck_assert_int_eq(connects(&site), 1);
	bu_child_restart(site.child);
	ck_assert_int_eq(recv(site.peer, &byte, 1, MSG_DONTWAIT), 0);
	ck_assert_int_eq(connects(&site), 1);
	ck_assert_uint_eq(bu_child_run(site.child), 2);
	finish(&site);
}
END_TEST

START_TEST(what_it_is_asked_goes_there_and_the_answers_come)
{
	struct site site;
	struct bu_err err = {0};
	char said[SAID] = "";
	bu_autofree char *longer = bu_xasprintf("%*s\n", 5000, "failed");

	begin(&site);
	ck_assert_int_eq(bu_child_reload(site.child, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_STATE);
	ck_assert_int_eq(bu_child_widen(site.child, &err), -1);
	bu_child_restart(site.child);
	ck_assert_int_eq(connects(&site), 1);
	ck_assert_int_eq(bu_child_reload(site.child, NULL), 0);
	ck_assert_int_eq(bu_child_widen(site.child, NULL), 0);
	ck_assert_int_gt(recv(site.peer, said, sizeof(said) - 1, 0), 0);
	ck_assert_str_eq(said, "reload\nwiden\n");
	tell(&site, "busy\nwid");
	ck_assert_str_eq(site.answers, "[busy|]");
	tell(&site, "ened\nfailed no such file\n");
	ck_assert_str_eq(site.answers, "[busy|][widened|][failed|no such file]");
	ck_assert_uint_eq(bu_child_run(site.child), 1);
	/* A line without an end is no reason to go on reading it. */
	tell(&site, longer);
	for (int i = 0; i < 20; i++)
		bu_loop_step(site.loop, 0);
	ck_assert_uint_eq(bu_child_run(site.child), 1);
	finish(&site);
}
END_TEST

START_TEST(what_has_not_changed_is_not_written)
{
	char dir[] = "/tmp/bringup-child-XXXXXX";
	bu_autofree char *path = NULL, *present = NULL, *text = bu_xstrdup("a");
	bu_autofree char *same = bu_xstrdup("a"), *other = bu_xstrdup("b");
	int changed = 0;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = bu_xasprintf("%s/conf", dir);
	ck_assert_int_eq(bu_child_put(path, 0600, &present, &text, &changed, NULL), 0);
	ck_assert_int_eq(changed, 1);
	changed = 0;
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(bu_child_put(path, 0600, &present, &same, &changed, NULL), 0);
	ck_assert_int_eq(changed, 0);
	ck_assert_int_eq(bu_file_exists(path), 0);
	ck_assert_int_eq(bu_child_put(path, 0600, &present, &other, &changed, NULL), 0);
	ck_assert_int_eq(changed, 1);
	ck_assert_str_eq(present, "b");
	ck_assert_int_eq(bu_remove_tree(dir, NULL), 0);
}
END_TEST

BU_UNIT("child", one_that_ends_is_started_again,
	a_restart_closes_the_connection_before_the_next,
	what_it_is_asked_goes_there_and_the_answers_come,
	what_has_not_changed_is_not_written)
