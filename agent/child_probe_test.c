/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is asked: what it answers, what it keeps, and how it ends. */
#include "agent/child_probe.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

enum { LINE_MAX = 4 * 1024 * 1024, LONG_MS = 60000 };

static char mark[] = "/tmp/bringup-aside-XXXXXX";

static int
open_files(void)
{
	DIR *list = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(list))
		count++;
	closedir(list);
	return count - 3; /* ".", ".." and the list's own */
}

/* In the child: how many were asked, how many files it has, a text of that length. */
static json_t *
answer(const json_t *ask, void **kept)
{
	bu_autofree char *text = NULL;
	size_t size = (size_t)bu_json_int(ask, "size", 0);
	int *asked = *kept;

	if (!ask) {
		bu_ignore(bu_file_write_text(mark, 0600, NULL, "let go"));
		free(asked);
		return NULL;
	}
	if (!asked)
		*kept = asked = bu_xcalloc(1, sizeof(*asked));
	if (bu_json_bool(ask, "hang", 0))
		pause();
	if (bu_json_bool(ask, "die", 0))
		_exit(3);
	text = bu_xcalloc(size + 1, 1);
	memset(text, 'x', size);
	return json_pack("{s:i,s:i,s:s}", "asked", ++*asked, "files", open_files(),
			 "text", text);
}

static int
ask(struct bu_child_probe *child, const char *what, int64_t size, struct bu_err *err)
{
	bu_autojson json_t *item =
		json_pack("{s:b,s:I}", what, 1, "size", (json_int_t)size);

	return bu_child_probe_ask(child, answer, item, err);
}

/* NULL: it has died. New reference. */
static json_t *
answer_of(struct bu_child_probe *child, struct bu_err *err)
{
	json_t *said = NULL;

	err->kind = BU_ERR_NONE;
	while (!said && err->kind == BU_ERR_NONE) {
		struct pollfd fd = {.fd = child->fd, .events = POLLIN};

		ck_assert_int_eq(poll(&fd, 1, LONG_MS), 1);
		said = bu_child_probe_take(child, err);
	}
	return said;
}

static void
end_now(struct bu_child_probe *child)
{
	bu_child_probe_end(&child, 1, 0, NULL);
	ck_assert_int_eq(child->pid, 0);
	/* and nothing of it is left */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}

static void
begin(void)
{
	int fd = mkstemp(mark);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(unlink(mark), 0);
}

START_TEST(it_keeps_what_it_has_from_one_answer_to_the_next)
{
	struct bu_child_probe child = {.pid = 0};
	struct bu_child_probe *list[] = {&child};
	int files = open_files(), secret = dup(0);
	unsigned char left = 1;
	struct bu_err err = {0};
	pid_t pid = 0;

	begin();
	for (int i = 1; i <= 3; i++) {
		bu_autojson json_t *said = NULL;

		ck_assert_int_eq(ask(&child, "say", 10, &err), 0);
		said = answer_of(&child, &err);
		ck_assert_int_eq(bu_json_int(said, "asked", 0), i);
		/* its own three, and what it is asked by */
		ck_assert_int_eq(bu_json_int(said, "files", 0), 4);
		ck_assert_str_eq(bu_json_str(said, "text", ""), "xxxxxxxxxx");
		ck_assert(!pid || child.pid == pid);
		pid = child.pid;
	}
	close(secret);
	bu_child_probe_finish(&child);
	bu_child_probe_end(list, 1, LONG_MS, &left);
	ck_assert_int_eq(bu_file_exists(mark), 1);
	ck_assert_int_eq(left, 0);
	ck_assert_int_eq(child.pid, 0);
	ck_assert_int_eq(open_files(), files);
	ck_assert_int_eq(kill(pid, 0), -1);
	/* without a process it is nothing */
	bu_child_probe_finish(&child);
	end_now(&child);
	ck_assert_int_eq(open_files(), files);
	unlink(mark);
}
END_TEST

/* The agent waits for nothing: what hangs is ended when it wants. */
START_TEST(one_that_hangs_costs_no_time)
{
	struct bu_child_probe hangs = {.pid = 0}, other = {.pid = 0};
	struct bu_child_probe *list[] = {&other, &hangs};
	int64_t begin_ms = bu_mono_ms(bu_clock_system());
	bu_autojson json_t *said = NULL;
	struct bu_err err = {0};

	begin();
	ck_assert_int_eq(ask(&hangs, "hang", 0, &err), 0);
	ck_assert_ptr_null(bu_child_probe_take(&hangs, &err));
	ck_assert_int_eq(err.kind, BU_ERR_NONE);
	ck_assert_int_gt(hangs.pid, 0);
	ck_assert_int_eq(ask(&other, "say", 0, &err), 0);
	said = answer_of(&other, &err);
	ck_assert_ptr_nonnull(said);
	bu_child_probe_end(list, 2, 0, NULL);
	ck_assert_int_eq(hangs.pid, 0);
	ck_assert_int_eq(other.pid, 0);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_lt(bu_mono_ms(bu_clock_system()) - begin_ms, LONG_MS / 4);
}
END_TEST

/* Once, as it answers, and once between two asks. */
START_TEST(one_that_died_is_made_anew)
{
	struct bu_child_probe child = {.pid = 0};
	bu_autojson json_t *second = NULL, *third = NULL;
	int files = open_files();
	struct bu_err err = {0};
	siginfo_t ended;
	pid_t pid;

	begin();
	ck_assert_int_eq(ask(&child, "die", 0, &err), 0);
	ck_assert_ptr_null(answer_of(&child, &err));
	ck_assert_str_eq(err.text, "its process died");
	ck_assert_int_eq(child.pid, 0);
	ck_assert_int_eq(open_files(), files);
	ck_assert_int_eq(ask(&child, "say", 0, &err), 0);
	second = answer_of(&child, &err);
	ck_assert_int_eq(bu_json_int(second, "asked", 0), 1);
	pid = child.pid;
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
	ck_assert_int_eq(ask(&child, "say", 0, &err), 0);
	ck_assert_int_ne(child.pid, pid);
	third = answer_of(&child, &err);
	ck_assert_int_eq(bu_json_int(third, "asked", 0), 1);
	end_now(&child);
	ck_assert_int_eq(open_files(), files);
}
END_TEST

/* As one that goes on and on would fill the memory. */
START_TEST(an_answer_has_an_end)
{
	const size_t frame = strlen("{\"asked\":1,\"files\":4,\"text\":\"\"}\n");
	struct bu_child_probe child = {.pid = 0};
	bu_autojson json_t *most = NULL, *more = NULL;
	struct bu_err err = {0};

	begin();
	ck_assert_int_eq(ask(&child, "say", LINE_MAX - (int64_t)frame, &err), 0);
	most = answer_of(&child, &err);
	ck_assert_uint_eq(strlen(bu_json_str(most, "text", "")), LINE_MAX - frame);
	ck_assert_int_eq(ask(&child, "say", LINE_MAX - (int64_t)frame + 1, &err), 0);
	more = answer_of(&child, &err);
	ck_assert_ptr_null(more);
	ck_assert_int_eq(err.kind, BU_ERR_IO);
	ck_assert_int_eq(child.pid, 0);
	end_now(&child);
}
END_TEST

BU_UNIT("child_probe", it_keeps_what_it_has_from_one_answer_to_the_next,
	one_that_hangs_costs_no_time, one_that_died_is_made_anew, an_answer_has_an_end)
