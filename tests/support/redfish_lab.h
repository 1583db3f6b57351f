/* SPDX-License-Identifier: Apache-2.0 */
/* The Redfish driver against the strict virtual BMC, both in this process; what the
 * BMC's tree says may be changed. */
#ifndef BU_TESTS_SUPPORT_REDFISH_LAB_H
#define BU_TESTS_SUPPORT_REDFISH_LAB_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json.h"
#include "lab/bmc/engine.h"
#include "lab/bmc/server.h"
#include "tests/support/redfish.h"

struct bench {
	struct bu_loop *loop;
	struct bu_bmc_tree *tree;
	struct bu_bmc *bmc;
	struct bu_bmc_server *server;
	void *driver;
	char url[64];
	struct bu_power_request request;
	int done;
	json_t *report; /* of the last operation */
	enum bu_power_state state;
	struct bu_err err;
};

static inline int
listen_here(char url[64])
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, size), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
	snprintf(url, 64, "http://127.0.0.1:%d", ntohs(at.sin_port));
	return fd;
}

/* Its session ends soon: the end of the driver waits for a server that is of the same
 * loop. */
static inline void *
open_driver(struct bu_loop *loop, int64_t gap_ms, int64_t op_ms)
{
	struct rf_times times = short_times;

	times.gap_ms = gap_ms;
	times.again_ms = 20;
	times.settle_ms = 5;
	times.op_ms = op_ms;
	times.hush_ms = 5;
	times.logout_ms = 20;
	return rf_open(loop, &times);
}

static inline void
close_driver(struct bench *bench)
{
	const struct rf_driver *driver = bench->driver;

	for (int i = 0;
	     i < 100 && driver->bmcs && (driver->bmcs->token || driver->bmcs->ops > 0);
	     i++)
		bu_loop_step(bench->loop, 10);
	bu_power_redfish.close(bench->driver);
}

static inline void
begin_bench(struct bench *bench, const char *tree)
{
	struct bu_bmc_identity identity;
	struct bu_bmc_machine *machine = bu_bmc_machine_paper(0, 2000, &identity);
	struct bu_bmc_listen listen = {0};
	struct bu_err err = {0};

	memset(bench, 0, sizeof(*bench));
	bench->loop = bu_loop_create(NULL);
	bench->tree = bu_bmc_tree_load(tree, &err);
	ck_assert_msg(bench->tree != NULL, "%s", err.text);
	bench->bmc = bu_bmc_create(&(struct bu_bmc_opts){
		.tree = bench->tree,
		.machine = machine,
		.identity = &identity,
		.user = "admin",
		.password = "secret",
		.now_ms = bu_loop_now_ms(bench->loop),
		.wall_ms = bu_wall_ms(bu_loop_clock(bench->loop)),
	});
	json_object_set_new(bench->tree->rules, "power_ms", json_integer(20));
	listen.fd = listen_here(bench->url);
	bench->server = bu_bmc_server_create(bench->loop, bench->bmc, &listen, &err);
	ck_assert_msg(bench->server != NULL, "%s", err.text);
	bench->driver = open_driver(bench->loop, 1, short_times.op_ms);
	bench->request.target = (struct bu_power_target){
		.bmc = bench->url, .user = "admin", .password = "secret"};
}

static inline void
finish_bench(struct bench *bench)
{
	close_driver(bench);
	json_decref(bench->report);
	bu_bmc_server_destroy(bench->server);
	bu_bmc_destroy(bench->bmc);
	bu_bmc_tree_free(bench->tree);
	bu_loop_destroy(bench->loop);
}

static inline void
on_done(const struct bu_power_answer *answer, const struct bu_err *err, void *arg)
{
	struct bench *bench = arg;

	bench->done = 1;
	bench->err = err ? *err : (struct bu_err){0};
	json_decref(bench->report);
	bench->report = answer ? json_incref(answer->report) : NULL;
	bench->state = answer ? answer->state : BU_POWER_UNKNOWN;
}

static inline enum bu_err_kind
ask(struct bench *bench, enum bu_power_op op)
{
	bench->request.op = op;
	bench->done = 0;
	bu_power_redfish.start(bench->driver, &bench->request, on_done, bench);
	for (int i = 0; i < 4000 && !bench->done; i++)
		bu_loop_step(bench->loop, 10);
	ck_assert_msg(bench->done, "the operation does not end");
	return bench->err.kind;
}

#define ok(bench, op)                                                                  \
	ck_assert_msg(ask((bench), (op)) == BU_ERR_NONE, "%s", (bench)->err.text)

static inline void
set_fault(struct bench *bench, const char *text)
{
	struct bu_err err = {0};

	ck_assert_msg(bu_bmc_fault(bench->bmc, text, &err) == 0, "%s", err.text);
}

#endif
