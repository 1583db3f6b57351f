/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which children the router ends. They are this program: off is answered with the pid,
 * status is not answered; of the driver "ipmi" it lets nothing be answered any more.
 */
#include "provisioner/power/router.h"

#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/worker.h"
#include "provisioner/power/driver.h"
#include "tests/support/unit.h"

/* --- the child --- */

static void
reply_to(const json_t *request)
{
	bu_autojson json_t *reply =
		json_pack("{s:I,s:I}", "id", (json_int_t)bu_json_int(request, "id", 0),
			  "pid", (json_int_t)getpid());

	if (bu_frame_write(BU_WORKER_FD, reply, NULL) != 0)
		_exit(0);
}

static void
serve(const char *driver)
{
	json_t *request;

	while ((request = bu_frame_read(BU_WORKER_FD, NULL))) {
		if (strcmp(bu_json_str(request, "op", ""), "status") != 0)
			reply_to(request);
		else if (strcmp(driver, "ipmi") == 0)
			pause();
		json_decref(request);
	}
	_exit(0);
}

__attribute__((constructor)) static void
begin_child(int argc, char **argv)
{
	if (argc >= 5 && strcmp(argv[1], "--driver") == 0)
		serve(argv[2]);
}

/* --- what the router needs of drivers.c --- */

static char *
one_connection(const char *bmc, struct bu_err *err)
{
	(void)bmc, (void)err;
	return bu_xstrdup("");
}

const struct bu_power_driver *
bu_power_driver(const char *name)
{
	static const struct bu_power_driver driver = {.connection = one_connection};

	(void)name;
	return &driver;
}

char *
bu_power_driver_names(void)
{
	return bu_xstrdup("redfish, ipmi");
}

/* --- the tests --- */

struct site {
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_router *router;
	int answers;
	json_int_t pid;
	struct bu_err err;
};

static void
on_answer(json_int_t id, const json_t *reply, const struct bu_err *err, void *arg)
{
	struct site *site = arg;

	(void)id;
	site->answers++;
	site->pid = bu_json_int(reply, "pid", 0);
	site->err = err ? *err : (struct bu_err){0};
}

static void
ask(struct site *site, const char *driver, const char *op)
{
	bu_autojson json_t *request = json_pack(
		"{s:i,s:s,s:s,s:s,s:I}", "id", 7, "op", op, "driver", driver, "target",
		"b", "until_ms", (json_int_t)bu_loop_now_ms(site->loop) + 15000);
	int answers = site->answers;

	bu_router_route(site->router, request);
	for (int i = 0; i < 5000 && site->answers == answers; i++) {
		if (strcmp(op, "status") == 0)
			bu_clock_advance(&site->clock, 1000);
		bu_loop_step(site->loop, 2);
	}
	ck_assert_int_eq(site->answers, answers + 1);
}

/* Until the router knows whether the child is there. */
static void
settle(struct site *site, int late)
{
	for (int i = 0; i < 5000 && bu_loop_awaited(site->loop)->calls > 0; i++) {
		bu_loop_step(site->loop, 2);
		if (late)
			bu_clock_advance(&site->clock, 1000);
	}
	ck_assert_int_eq(bu_loop_awaited(site->loop)->calls, 0);
}

/* The first child answers after the time that its BMC took; the other one never. */
START_TEST(a_child_whose_loop_runs_is_not_ended)
{
	static const struct {
		const char *driver;
		int ended;
	} rows[] = {{"redfish", 0}, {"ipmi", 1}};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct site site = {0};
		json_int_t pid;

		bu_clock_fake(&site.clock, 0);
		site.loop = bu_loop_create(&site.clock);
		site.router = bu_router_create(site.loop, NULL, on_answer, &site);
		ask(&site, rows[i].driver, "off");
		pid = site.pid;
		ck_assert_int_gt(pid, 0);
		ask(&site, rows[i].driver, "status");
		ck_assert_int_eq(site.err.kind, BU_ERR_TIMEOUT);
		settle(&site, rows[i].ended);
		ask(&site, rows[i].driver, "off");
		ck_assert_int_eq(site.err.kind, BU_ERR_NONE);
		ck_assert_int_eq(site.pid != pid, rows[i].ended);
		bu_router_destroy(site.router);
		bu_loop_destroy(site.loop);
	}
}
END_TEST

BU_UNIT("router", a_child_whose_loop_runs_is_not_ended)
