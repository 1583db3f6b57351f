/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Services: children that stay and answer framed JSON requests on their descriptor 3.
 *
 * Every call ends in exactly one callback (answer, deadline, death of the child) unless
 * the service is destroyed. A reply that comes after its deadline is dropped. A frame
 * that is no JSON object ends the child: it has lost the thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/spawn.h"
#include "base/worker.h"

struct call {
	struct call *next;
	int64_t id;
	struct bu_timer *deadline;
	struct bu_service *service;
	bu_reply_fn fn;
	void *arg;
};

struct bu_service {
	struct bu_loop *loop;
	char *name;
	pid_t pid;
	int fd;
	struct bu_watch *watch;
	struct call *calls;
	int64_t last_id;
	bu_service_exit_fn exit_fn;
	void *arg;
	char *in;
	size_t in_size;
	size_t in_cap;
	char *out;
	size_t out_size;
	size_t out_cap;
};

static void
finish_call(struct call *call, const json_t *reply, const struct bu_err *err)
{
	struct call **link = &call->service->calls;
	bu_reply_fn fn = call->fn;
	void *arg = call->arg;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	bu_loop_awaited(call->service->loop)->calls--;
	bu_timer_destroy(call->deadline);
	free(call);
	if (fn)
		fn(reply, err, arg);
}

static struct call *
find_call(struct bu_service *service, int64_t id)
{
	for (struct call *call = service->calls; call; call = call->next)
		if (call->id == id)
			return call;
	return NULL;
}

/* All that were made before now: a callback may call the service again (that call ends
 * on its own), so each is looked for anew. */
static void
finish_all(struct bu_service *service, const struct bu_err *err)
{
	int64_t last_id = service->last_id;

	for (;;) {
		struct call *call = service->calls;

		while (call && call->id > last_id)
			call = call->next;
		if (!call)
			return;
		finish_call(call, NULL, err);
	}
}

static void
child_gone(struct bu_service *service, const char *why)
{
	struct bu_err err;
	int status = 0;

	bu_watch_destroy(service->watch);
	service->watch = NULL;
	close(service->fd);
	service->fd = -1;
	kill(service->pid, SIGKILL);
	waitpid(service->pid, &status, 0);
	service->pid = 0;
	bu_err_set(&err, BU_ERR_IO, 0, "child '%s' %s (status %d)", service->name, why,
		   WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	finish_all(service, &err);
	if (service->exit_fn)
		service->exit_fn(&err, service->arg);
}

static void
deliver(struct bu_service *service, const json_t *reply)
{
	struct call *call = find_call(service, bu_json_int(reply, "id", 0));
	const json_t *error = json_object_get(reply, "error");
	struct bu_err err;

	if (!call)
		return;
	if (!error) {
		finish_call(call, reply, NULL);
		return;
	}
	bu_json_to_err(error, &err);
	finish_call(call, NULL, &err);
}

static uint32_t
frame_size(const char *head)
{
	const uint8_t *b = (const uint8_t *)head;

	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* 1: a frame was taken, 0: more bytes are needed, -1: broken. */
static int
take_frame(struct bu_service *service, json_t **ret)
{
	uint32_t size;

	if (service->in_size < 4)
		return 0;
	size = frame_size(service->in);
	if (size > BU_FRAME_MAX)
		return -1;
	if (service->in_size < 4 + (size_t)size)
		return 0;
	*ret = bu_json_parse(service->in + 4, size, service->name, NULL);
	service->in_size -= 4 + (size_t)size;
	memmove(service->in, service->in + 4 + size, service->in_size);
	return *ret && json_is_object(*ret) ? 1 : -1;
}

static void
flush_out(struct bu_service *service)
{
	ssize_t sent;

	while (service->out_size) {
		sent = send(service->fd, service->out, service->out_size, MSG_NOSIGNAL);
		if (sent <= 0)
			break;
		service->out_size -= (size_t)sent;
		memmove(service->out, service->out + sent, service->out_size);
	}
	if (service->watch)
		bu_watch_set(service->watch, service->out_size
						     ? BU_READABLE | BU_WRITABLE
						     : BU_READABLE);
}

static void
on_ready(int fd, int what, void *arg)
{
	struct bu_service *service = arg;
	char buf[65536];
	ssize_t got;
	int taken;

	if (what & BU_WRITABLE)
		flush_out(service);
	if (!(what & BU_READABLE))
		return;
	got = read(fd, buf, sizeof(buf));
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		child_gone(service, "ended");
		return;
	}
	service->in = bu_xgrow(service->in, &service->in_cap,
			       service->in_size + (size_t)got, 1);
	memcpy(service->in + service->in_size, buf, (size_t)got);
	service->in_size += (size_t)got;
	for (;;) {
		bu_autojson json_t *frame = NULL;

		taken = take_frame(service, &frame);
		if (taken < 0)
			child_gone(service, "sent a broken frame");
		if (taken <= 0)
			return;
		deliver(service, frame);
	}
}

struct bu_service *
bu_service_start(struct bu_loop *loop, const char *const *argv,
		 bu_service_exit_fn exit_fn, void *arg, struct bu_err *err)
{
	struct bu_service *service;
	int pair[2];
	struct bu_spawn how = {
		.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1};
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
		bu_err_set(err, BU_ERR_IO, errno, "socket pair for '%s'", argv[0]);
		return NULL;
	}
	how.extra_fd = pair[1];
	pid = bu_spawn(&how, NULL, err);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return NULL;
	}
	fcntl(pair[0], F_SETFL, O_NONBLOCK);
	service = bu_xcalloc(1, sizeof(*service));
	service->loop = loop;
	service->name = bu_xstrdup(argv[0]);
	service->pid = pid;
	service->fd = pair[0];
	service->exit_fn = exit_fn;
	service->arg = arg;
	service->watch =
		bu_watch_create(loop, service->fd, BU_READABLE, on_ready, service);
	return service;
}

static void
on_call_deadline(void *arg)
{
	struct call *call = arg;
	struct bu_err err;

	bu_err_set(&err, BU_ERR_TIMEOUT, 0, "no answer from '%s' in time",
		   call->service->name);
	finish_call(call, NULL, &err);
}

static void
queue_frame(struct bu_service *service, const json_t *message)
{
	bu_autofree char *text = json_dumps(message, JSON_COMPACT);
	size_t size = strlen(text);
	uint8_t head[4] = {(uint8_t)(size >> 24), (uint8_t)(size >> 16),
			   (uint8_t)(size >> 8), (uint8_t)size};

	if (service->fd < 0)
		return;
	service->out = bu_xgrow(service->out, &service->out_cap,
				service->out_size + 4 + size, 1);
	memcpy(service->out + service->out_size, head, 4);
	memcpy(service->out + service->out_size + 4, text, size);
	service->out_size += 4 + size;
	flush_out(service);
}

void
bu_service_call(struct bu_service *service, const json_t *request, int64_t deadline_ms,
		bu_reply_fn fn, void *arg)
{
	bu_autojson json_t *message = json_copy((json_t *)(uintptr_t)request);
	struct call *call = bu_xcalloc(1, sizeof(*call));

	call->id = ++service->last_id;
	call->service = service;
	call->fn = fn;
	call->arg = arg;
	call->next = service->calls;
	service->calls = call;
	bu_loop_awaited(service->loop)->calls++;
	bu_loop_awaited(service->loop)->asked++;
	call->deadline = bu_timer_create(service->loop, on_call_deadline, call);
	/* A child that is gone answers through the deadline, at once. */
	bu_timer_set(call->deadline, service->fd < 0 ? 0 : deadline_ms);
	json_object_set_new(message, "id", json_integer(call->id));
	queue_frame(service, message);
}

pid_t
bu_service_pid(const struct bu_service *service)
{
	return service->pid;
}

void
bu_service_destroy(struct bu_service *service)
{
	if (!service)
		return;
	while (service->calls) {
		service->calls->fn = NULL;
		finish_call(service->calls, NULL, NULL);
	}
	bu_watch_destroy(service->watch);
	if (service->fd >= 0)
		close(service->fd);
	if (service->pid > 0)
		bu_daemon_end(service->pid, 1000);
	free(service->in);
	free(service->out);
	free(service->name);
	free(service);
}

static int
read_all(int fd, void *data, size_t size, struct bu_err *err)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = read(fd, (char *)data + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return bu_err_set(err, BU_ERR_IO, errno, "read frame");
		if (got == 0 && done == 0)
			return bu_err_set(err, BU_ERR_NONE, 0, "end of input");
		if (got == 0)
			return bu_err_set(err, BU_ERR_IO, 0, "frame ends early");
		done += (size_t)got;
	}
	return 0;
}

json_t *
bu_frame_read(int fd, struct bu_err *err)
{
	char head[4];
	bu_autofree char *text = NULL;
	uint32_t size;

	if (read_all(fd, head, sizeof(head), err) != 0)
		return NULL;
	size = frame_size(head);
	if (size > BU_FRAME_MAX) {
		bu_err_set(err, BU_ERR_INVAL, 0, "frame of %u bytes; at most %d", size,
			   BU_FRAME_MAX);
		return NULL;
	}
	text = bu_xmalloc(size + 1);
	if (read_all(fd, text, size, err) != 0) {
		if (err && err->kind == BU_ERR_NONE)
			bu_err_set(err, BU_ERR_IO, 0, "frame ends early");
		return NULL;
	}
	return bu_json_parse(text, size, "frame", err);
}

int
bu_frame_write(int fd, const json_t *message, struct bu_err *err)
{
	bu_autofree char *text = json_dumps(message, JSON_COMPACT);
	size_t size = strlen(text);
	uint8_t head[4] = {(uint8_t)(size >> 24), (uint8_t)(size >> 16),
			   (uint8_t)(size >> 8), (uint8_t)size};

	if (bu_write_all(fd, head, sizeof(head), err) != 0)
		return -1;
	return bu_write_all(fd, text, size, err);
}
