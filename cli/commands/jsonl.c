/* SPDX-License-Identifier: Apache-2.0 */
/* JSON lines with deadlines, for `bringup fabric rehearse`. Invariant: a line is taken
 * whole or not at all, and nothing waits longer than the deadline. */
#include "cli/commands/jsonl.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"

void
bu_jsonl_fini(struct bu_jsonl *lines)
{
	free(lines->buf);
	lines->buf = NULL;
	lines->used = lines->cap = 0;
}

static int
wait_for(const struct bu_jsonl *lines, int fd, short events, int64_t until_ms,
	 struct bu_err *err)
{
	struct pollfd poll_fd = {.fd = fd, .events = events};

	for (;;) {
		int64_t left_ms = until_ms - bu_mono_ms(bu_clock_system());
		int rc = poll(&poll_fd, 1, left_ms < 0 ? 0 : (int)left_ms);

		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return bu_err_set(err, BU_ERR_IO, errno, "poll");
		if (rc == 0 && left_ms <= 0)
			return bu_err_set(err, BU_ERR_TIMEOUT, 0,
					  "the model did not answer within %lld s",
					  (long long)lines->timeout_ms / 1000);
	}
}

static int64_t
deadline(const struct bu_jsonl *lines)
{
	return bu_mono_ms(bu_clock_system()) + lines->timeout_ms;
}

int
bu_jsonl_send(struct bu_jsonl *lines, const json_t *request, struct bu_err *err)
{
	bu_autofree char *text = json_dumps(request, JSON_COMPACT);
	size_t size = strlen(text), done = 0;
	int64_t until_ms = deadline(lines);

	text[size++] = '\n'; /* in the place of the NUL */
	while (done < size) {
		ssize_t n;

		if (wait_for(lines, lines->out, POLLOUT, until_ms, err) != 0)
			return -1;
		/* A pipe that is ready takes at least PIPE_BUF without waiting. */
		n = write(lines->out, text + done,
			  size - done < 4096 ? size - done : 4096);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return bu_err_set(err, BU_ERR_REMOTE, errno,
					  "cannot write to the model");
		done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int
fill(struct bu_jsonl *lines, int64_t until_ms, struct bu_err *err)
{
	ssize_t n;

	if (lines->used >= BU_LINE_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the answer is longer than %d bytes", BU_LINE_MAX);
	lines->buf = bu_xgrow(lines->buf, &lines->cap, lines->used + 65536, 1);
	if (wait_for(lines, lines->in, POLLIN, until_ms, err) != 0)
		return -1;
	n = read(lines->in, lines->buf + lines->used, 65536);
	if (n < 0 && errno != EINTR && errno != EAGAIN)
		return bu_err_set(err, BU_ERR_IO, errno, "cannot read from the model");
	if (n == 0)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "the model ended without an answer");
	lines->used += n > 0 ? (size_t)n : 0;
	return 0;
}

/* What a site does not have is answered by a bare null. */
static int
is_null(const char *text, size_t size)
{
	while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\r'))
		size--;
	return size == 4 && memcmp(text, "null", 4) == 0;
}

static json_t *
parse(const char *text, size_t size, const char *what, struct bu_err *err)
{
	json_t *answer = is_null(text, size) ? json_null()
					     : bu_json_parse(text, size, what, err);
	const char *refused = json_string_value(json_object_get(answer, "error"));

	if (!refused)
		return answer;
	bu_err_set(err, BU_ERR_REMOTE, 0, "%s: the model says: %s", what, refused);
	json_decref(answer);
	return NULL;
}

json_t *
bu_jsonl_receive(struct bu_jsonl *lines, const char *what, struct bu_err *err)
{
	int64_t until_ms = deadline(lines);
	size_t searched = 0;

	for (;;) {
		char *end = lines->used > searched ? memchr(lines->buf + searched, '\n',
							    lines->used - searched)
						   : NULL;
		size_t size;
		json_t *answer;

		searched = lines->used;
		if (!end) {
			if (fill(lines, until_ms, err) != 0) {
				bu_err_wrap(err, "%s", what);
				return NULL;
			}
			continue;
		}
		size = (size_t)(end - lines->buf);
		answer = parse(lines->buf, size, what, err);
		lines->used -= size + 1;
		memmove(lines->buf, end + 1, lines->used);
		return answer;
	}
}
