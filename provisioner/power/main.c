/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-power: holds the blocking libraries, so that bringupd never blocks.
 *
 * Without arguments it is the router: each request goes to a child of its own per
 * connection ("--driver NAME --connection URI"), started at the first request for it; a
 * stuck hypervisor delays no other. "--console TARGET" writes what a domain says to
 * standard output (libvirt_console.c). A child has a loop and serves its requests side
 * by side (perform.h), as far as its driver does not block.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/worker.h"
#include "provisioner/power/console.h"
#include "provisioner/power/perform.h"

/* A child answers in time, unless its library hangs. */
enum { NO_UNTIL_MS = 700000, HANGS_MS = 30000 };

struct child {
	struct child *next;
	char *key; /* "driver connection" */
	struct bu_service *service;
};

struct router {
	struct bu_loop *loop;
	const char *state; /* folder; NULL = none */
	struct child *children;
};

struct pending {
	struct bu_loop *loop;
	json_int_t id;
	pid_t child;
	int64_t hangs_ms; /* when it does not answer until then */
};

static void
answer(json_int_t id, const json_t *reply, const struct bu_err *err)
{
	bu_autojson json_t *out = reply ? json_deep_copy(reply) : json_object();

	json_object_set_new(out, "id", json_integer(id));
	if (err)
		json_object_set_new(out, "error", bu_json_from_err(err));
	/* bringupd is gone when this fails: so are we. */
	if (bu_frame_write(BU_WORKER_FD, out, NULL) != 0)
		exit(0);
}

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct pending *pending = arg;

	/* A library that hangs does not come back; the next request gets another. That
	 * a BMC does not answer in time is an answer of the child. */
	if (err && err->kind == BU_ERR_TIMEOUT && pending->child > 0 &&
	    bu_loop_now_ms(pending->loop) >= pending->hangs_ms) {
		bu_warn("power", "child %d hangs; ending it", (int)pending->child);
		kill(pending->child, SIGKILL);
	}
	answer(pending->id, reply, err);
	free(pending);
}

static struct child *
child_for(struct router *router, const char *name, const char *connection,
	  struct bu_err *err)
{
	const char *argv[] = {
		"/proc/self/exe", "--driver", name,
		"--connection",   connection, router->state ? "--state" : NULL,
		router->state,    NULL};
	bu_autofree char *key = bu_xasprintf("%s %s", name, connection);
	struct child *child = router->children;

	while (child && strcmp(child->key, key) != 0)
		child = child->next;
	if (!child) {
		child = bu_xcalloc(1, sizeof(*child));
		child->key = bu_steal(&key);
		child->next = router->children;
		router->children = child;
	}
	if (child->service && bu_service_pid(child->service) == 0) {
		bu_service_destroy(child->service);
		child->service = NULL;
	}
	if (!child->service)
		child->service = bu_service_start(router->loop, argv, NULL, NULL, err);
	return child->service ? child : NULL;
}

static int
fail_name(const char *name, struct bu_err *err)
{
	bu_autofree char *names = bu_power_driver_names();

	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "no power driver '%s'; this version has %s", name, names);
}

static void
route(struct router *router, const json_t *request)
{
	json_int_t id = bu_json_int(request, "id", 0);
	const char *name = bu_json_str(request, "driver", "");
	const char *target = bu_json_str(request, "target", "");
	const struct bu_power_driver *driver = bu_power_driver(name);
	bu_autofree char *connection = NULL;
	struct bu_err err = {0};
	int64_t until_ms = bu_json_int(request, "until_ms", -1);
	struct child *child = NULL;
	struct pending *pending;
	int64_t within_ms;

	if (!driver)
		fail_name(name, &err);
	else if ((connection = driver->connection(target, &err)))
		child = child_for(router, name, connection, &err);
	if (!child) {
		answer(id, NULL, &err);
		return;
	}
	within_ms = until_ms < 0 ? NO_UNTIL_MS
				 : until_ms - bu_loop_now_ms(router->loop) + HANGS_MS;
	pending = bu_xcalloc(1, sizeof(*pending));
	pending->loop = router->loop;
	pending->id = id;
	pending->child = bu_service_pid(child->service);
	pending->hangs_ms = bu_loop_now_ms(router->loop) + within_ms;
	bu_service_call(child->service, request, within_ms, on_reply, pending);
}

static void
on_request(int fd, int what, void *arg)
{
	struct router *router = arg;
	struct bu_err err = {0};
	bu_autojson json_t *request = bu_frame_read(fd, &err);

	if (!request) {
		bu_loop_stop(router->loop);
		return;
	}
	route(router, request);
}

/* What ends us closes the pipe, sends TERM and waits a second: time to end the
 * sessions at BMCs. TERM is heard to the end, for the pipe's end comes first. */
static void
on_term(int signo, void *arg)
{
	(void)signo;
	bu_loop_stop(arg);
}

static int
run_router(const char *state)
{
	struct router router = {.loop = bu_loop_create(NULL), .state = state};
	struct bu_sigwatch *term =
		bu_sigwatch_create(router.loop, SIGTERM, on_term, router.loop);
	struct bu_watch *watch = bu_watch_create(router.loop, BU_WORKER_FD, BU_READABLE,
						 on_request, &router);
	struct child *child;

	bu_loop_run(router.loop);
	bu_watch_destroy(watch);
	while ((child = router.children)) {
		router.children = child->next;
		bu_service_destroy(child->service);
		free(child->key);
		free(child);
	}
	bu_sigwatch_destroy(term);
	bu_loop_destroy(router.loop);
	return 0;
}

/* --- the child of one connection --- */

static void
on_performed(const json_t *reply, const struct bu_err *err, void *arg)
{
	json_int_t *id = arg;

	answer(*id, reply, err);
	free(id);
}

struct child_side {
	struct bu_loop *loop;
	struct bu_performer *performer;
};

static void
on_child_request(int fd, int what, void *arg)
{
	struct child_side *side = arg;
	struct bu_err err = {0};
	bu_autojson json_t *request = bu_frame_read(fd, &err);
	json_int_t *id;

	(void)what;
	if (!request) {
		bu_loop_stop(side->loop);
		return;
	}
	id = bu_xmalloc(sizeof(*id));
	*id = bu_json_int(request, "id", 0);
	bu_perform(side->performer, request, on_performed, id);
}

static void
use_state(struct bu_performer *performer, const char *state)
{
	bu_autofree char *journal = state ? bu_xasprintf("%s/bmc", state) : NULL;
	bu_autofree char *consoles = state ? bu_xasprintf("%s/console", state) : NULL;

	if (!state)
		return;
	bu_performer_journal(performer, journal);
	bu_performer_keep_consoles(performer, consoles);
}

/* The router is gone when this ends: what is under way goes with the process. */
static int
run_child(const char *name, const char *connection, const char *state)
{
	const struct bu_power_driver *driver = bu_power_driver(name);
	struct child_side side = {.loop = bu_loop_create(NULL)};
	struct bu_consoles *consoles;
	struct bu_sigwatch *term;
	struct bu_watch *watch;
	struct bu_err err = {0};
	void *self = driver ? driver->open(side.loop, connection, &err) : NULL;

	if (!self) {
		bu_error("power", "%s", driver ? err.text : "no such driver");
		return 1;
	}
	side.performer = bu_performer_create(side.loop, driver, self);
	use_state(side.performer, state);
	watch = bu_watch_create(side.loop, BU_WORKER_FD, BU_READABLE, on_child_request,
				&side);
	term = bu_sigwatch_create(side.loop, SIGTERM, on_term, side.loop);
	bu_loop_run(side.loop);
	bu_watch_destroy(watch);
	/* Their sessions end while those of the driver do: the time is short. */
	consoles = bu_performer_end_consoles(side.performer);
	bu_performer_destroy(side.performer);
	driver->close(self);
	bu_consoles_destroy(consoles);
	bu_sigwatch_destroy(term);
	bu_loop_destroy(side.loop);
	return 0;
}

int
main(int argc, char **argv)
{
	const char *state = argc >= 3 && strcmp(argv[argc - 2], "--state") == 0
				    ? argv[argc - 1]
				    : NULL;

	if (state)
		argc -= 2;
	bu_log_init("bringup-power", BU_LOG_INFO);
	if (argc == 1)
		return run_router(state);
	if (argc == 3 && strcmp(argv[1], "--console") == 0)
		return bu_libvirt_console(argv[2]) == 0 ? 0 : 1;
	if (argc == 5 && strcmp(argv[1], "--driver") == 0 &&
	    strcmp(argv[3], "--connection") == 0)
		return run_child(argv[2], argv[4], state);
	fprintf(stderr, "bringup-power is started by bringupd; it has no options\n");
	return 1;
}
