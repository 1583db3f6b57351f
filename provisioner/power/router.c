/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The router of bringup-power: each request goes to the child of its connection, which
 * is started at the first request for it. Called by main.c. Invariant: a child is ended
 * for one reason alone, that its loop stands still (a library that hangs): a BMC that
 * is slow delays its own request, and nobody else's.
 */
#include "provisioner/power/router.h"

#include <signal.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/worker.h"
#include "provisioner/power/driver.h"

/* A child that gave no answer in time is asked whether it is there. */
enum { NO_UNTIL_MS = 3600000, LATE_MS = 5000, PING_MS = 30000 };
enum { WORDS = 5, MORE_MAX = 8 };

struct child {
	struct child *next;
	struct bu_router *router;
	char *key; /* "driver connection"; "" = it is ended, and dies */
	struct bu_service *service;
	pid_t pinged; /* 0 = it was not */
};

struct bu_router {
	struct bu_loop *loop;
	const char *argv[WORDS + MORE_MAX + 1]; /* of a child; ends with NULL */
	bu_router_fn fn;
	void *arg;
	struct child *children;
};

struct pending {
	struct child *child;
	json_int_t id;
};

/* --- is it there? --- */

static void
on_pong(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct child *child = arg;
	pid_t pid = child->service ? bu_service_pid(child->service) : 0;

	(void)reply;
	/* A library that hangs does not come back; the next request gets another. */
	if (err && err->kind == BU_ERR_TIMEOUT && pid > 0 && pid == child->pinged) {
		bu_warn("power", "child %d hangs; ending it", (int)pid);
		kill(pid, SIGKILL);
		child->key[0] = '\0';
	}
	child->pinged = 0;
}

static void
ping(struct child *child)
{
	bu_autojson json_t *request = json_pack("{s:s}", "op", BU_ROUTER_PING);
	pid_t pid = child->service ? bu_service_pid(child->service) : 0;

	if (pid <= 0 || child->pinged)
		return;
	child->pinged = pid;
	bu_service_call(child->service, request, PING_MS, on_pong, child);
}

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct pending *pending = arg;
	struct child *child = pending->child;

	if (err && err->kind == BU_ERR_TIMEOUT)
		ping(child);
	child->router->fn(pending->id, reply, err, child->router->arg);
	free(pending);
}

/* --- which child --- */

static void
child_free(struct child *child)
{
	bu_service_destroy(child->service);
	free(child->key);
	free(child);
}

/* Those that were ended and are dead: what they were asked has been answered. */
static void
bury(struct bu_router *router)
{
	struct child **link = &router->children, *child;

	while ((child = *link)) {
		if (child->key[0] || bu_service_pid(child->service) > 0) {
			link = &child->next;
			continue;
		}
		*link = child->next;
		child_free(child);
	}
}

static struct child *
child_for(struct bu_router *router, const char *name, const char *connection,
	  struct bu_err *err)
{
	bu_autofree char *key = bu_xasprintf("%s %s", name, connection);
	struct child *child;

	bury(router);
	child = router->children;
	while (child && strcmp(child->key, key) != 0)
		child = child->next;
	if (!child) {
		child = bu_xcalloc(1, sizeof(*child));
		child->key = bu_steal(&key);
		child->router = router;
		child->next = router->children;
		router->children = child;
	}
	if (child->service && bu_service_pid(child->service) == 0) {
		bu_service_destroy(child->service);
		child->service = NULL;
		child->pinged = 0;
	}
	router->argv[2] = name;
	router->argv[4] = connection;
	if (!child->service)
		child->service =
			bu_service_start(router->loop, router->argv, NULL, NULL, err);
	return child->service ? child : NULL;
}

static int
fail_name(const char *name, struct bu_err *err)
{
	bu_autofree char *names = bu_power_driver_names();

	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "no power driver '%s'; this version has %s", name, names);
}

void
bu_router_route(struct bu_router *router, const json_t *request)
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
		router->fn(id, NULL, &err, router->arg);
		return;
	}
	within_ms = until_ms < 0 ? NO_UNTIL_MS
				 : until_ms - bu_loop_now_ms(router->loop) + LATE_MS;
	pending = bu_xcalloc(1, sizeof(*pending));
	pending->child = child;
	pending->id = id;
	bu_service_call(child->service, request, within_ms, on_reply, pending);
}

struct bu_router *
bu_router_create(struct bu_loop *loop, const char *const *more, bu_router_fn fn,
		 void *arg)
{
	struct bu_router *router = bu_xcalloc(1, sizeof(*router));

	router->loop = loop;
	router->fn = fn;
	router->arg = arg;
	router->argv[0] = "/proc/self/exe";
	router->argv[1] = "--driver";
	router->argv[3] = "--connection";
	for (size_t i = 0; i < MORE_MAX && more && more[i]; i++)
		router->argv[WORDS + i] = more[i];
	return router;
}

void
bu_router_destroy(struct bu_router *router)
{
	struct child *child;

	while ((child = router->children)) {
		router->children = child->next;
		child_free(child);
	}
	free(router);
}
