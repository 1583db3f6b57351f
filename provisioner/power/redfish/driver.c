/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power driver "redfish": its vtable, and the life of operations, BMCs and what
 * stays open between operations. One child of bringup-power serves all BMCs.
 *
 * Invariant: whatever way an operation ends, its BMC's session is ended once nothing
 * has used it for a while, and before the driver closes.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/networks.h"
#include "base/url.h"
#include "provisioner/power/redfish/redfish.h"

enum { GOODBYE_MS = 3000 };

const struct rf_times rf_times_default = {
	.op_ms = RF_OP_MS,
	.request_ms = 20000,
	.op_most_ms = RF_OP_MOST_MS,
	.request_most_ms = 60000,
	.connect_ms = 5000,
	.gap_ms = 50,
	.open_ms = 5,
	.again_ms = 3000,
	.settle_ms = 1000,
	.hush_ms = 5000,
	.logout_ms = 90000,
	.tree_ms = 60 * 60 * 1000,
};

/* --- targets --- */

/* "https://bmc1", perhaps with the path of one system. Plain http is for this machine
 * alone: the password would go in clear text. */
static int
read_target(const char *bmc, char **ret_origin, char ret_wanted[RF_PATH_SIZE],
	    struct bu_err *err)
{
	struct bu_url url;
	const char *path = "";
	int ok = bu_url_parse(bmc, &url) == 0 && url.host[0] && !url.has_user;

	if (ok)
		path = strcmp(url.path, "/") == 0 ? "" : url.path;
	ok = ok && (!path[0] || (strncmp(path, RF_ROOT, strlen(RF_ROOT)) == 0 &&
				 strlen(path) < RF_PATH_SIZE));
	ok = ok &&
	     (strcmp(url.scheme, "https") == 0 ||
	      (strcmp(url.scheme, "http") == 0 && strcmp(url.host, "127.0.0.1") == 0));
	if (!ok)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"bmc '%s' is not a Redfish target; write https://HOST, "
			"or https://HOST/redfish/v1/Systems/ID where the BMC "
			"has several machines",
			bmc);
	strcpy(ret_wanted, path);
	if (ret_origin)
		*ret_origin = bu_xstrndup(bmc, (size_t)(url.path - bmc));
	return 0;
}

static char *
redfish_connection(const char *bmc, struct bu_err *err)
{
	char wanted[RF_PATH_SIZE];

	return read_target(bmc, NULL, wanted, err) == 0 ? bu_xstrdup("") : NULL;
}

/* --- what stays open between operations --- */

static void op_start(struct rf_op *op, bu_task_fn fn);

static void
op_free(struct rf_op *op)
{
	struct rf_op **link = &op->driver->ops;

	while (*link != op)
		link = &(*link)->next;
	*link = op->next;
	free((char *)op->target.bmc);
	free((char *)op->target.user);
	if (op->target.password)
		explicit_bzero((char *)op->target.password,
			       strlen(op->target.password));
	free((char *)op->target.password);
	free((char *)op->target.fingerprint);
	if (op->new_password)
		explicit_bzero(op->new_password, strlen(op->new_password));
	free(op->new_password);
	free(op->media);
	free(op->expected);
	json_decref(op->found);
	json_decref(op->answer.report);
	free(op);
}

static const char *
copy(const char *text)
{
	return text && text[0] ? bu_xstrdup(text) : NULL;
}

static struct rf_op *
op_create(struct rf_bmc *bmc, const struct bu_power_target *target)
{
	struct rf_op *op = bu_xcalloc(1, sizeof(*op));

	op->driver = bmc->driver;
	op->bmc = bmc;
	op->target.bmc = copy(target->bmc);
	op->target.user = copy(target->user);
	op->target.password = copy(target->password);
	op->target.fingerprint = copy(target->fingerprint);
	op->begun_ms = bu_loop_now_ms(bmc->driver->loop);
	op->until_ms = op->begun_ms + bmc->driver->times.op_ms;
	rf_pace_waited(op, 0);
	op->next = bmc->driver->ops;
	bmc->driver->ops = op;
	bmc->ops++;
	return op;
}

static void
run_logout(void *arg)
{
	struct rf_op *op = arg;
	struct rf_bmc *bmc = op->bmc;
	struct bu_task_turn turn;

	op->task = bu_task_self();
	op->deaf = 1; /* nothing cancels it but the end of close() */
	bu_task_queue(&bmc->door, &turn);
	while (!bu_task_has(&bmc->door, &turn) && !op->cancelled)
		bu_task_wait();
	if (!op->cancelled)
		rf_logout(op);
	bu_task_leave(&bmc->door, &turn);
	op_free(op);
	if (--bmc->ops == 0)
		bu_timer_set(bmc->idle, bmc->driver->times.hush_ms);
}

static void
log_out(struct rf_bmc *bmc)
{
	struct bu_power_target target = {.bmc = bmc->origin,
					 .fingerprint = bmc->fingerprint};

	op_start(op_create(bmc, &target), run_logout);
}

/* First the connection goes, then the session. */
static void
on_idle(void *arg)
{
	struct rf_bmc *bmc = arg;
	const struct rf_times *times = &bmc->driver->times;

	if (bmc->ops > 0)
		return;
	if (!bmc->hushed) {
		bu_http_async_close(bmc->driver->http, bmc->connection);
		bmc->hushed = 1;
		bmc->is_open = 0;
		if (bmc->token)
			bu_timer_set(bmc->idle, times->logout_ms - times->hush_ms);
	} else if (bmc->token) {
		log_out(bmc);
	}
}

static void
bmc_rests(struct rf_bmc *bmc)
{
	if (--bmc->ops > 0)
		return;
	if (bmc->driver->closing && bmc->token)
		log_out(bmc);
	else
		bu_timer_set(bmc->idle, bmc->driver->times.hush_ms);
}

static struct rf_bmc *
bmc_of(struct rf_driver *driver, const char *origin)
{
	struct rf_bmc *bmc = driver->bmcs;

	while (bmc && strcmp(bmc->origin, origin) != 0)
		bmc = bmc->next;
	if (bmc)
		return bmc;
	bmc = bu_xcalloc(1, sizeof(*bmc));
	bmc->driver = driver;
	bmc->origin = bu_xstrdup(origin);
	bmc->idle = bu_timer_create(driver->loop, on_idle, bmc);
	bmc->next = driver->bmcs;
	driver->bmcs = bmc;
	return bmc;
}

/* --- operations --- */

static int
perform(struct rf_op *op, struct bu_err *err)
{
	switch (op->op) {
	case BU_POWER_STATUS:
		return rf_state(op, &op->answer, err);
	case BU_POWER_IDENTITY:
		return rf_identity(op, &op->answer.machine, err);
	case BU_POWER_BOOT_FIRST:
		return rf_boot_first(op, err);
	case BU_POWER_SWITCH_ON:
		return rf_switch(op, BU_POWER_ON, err);
	case BU_POWER_SWITCH_OFF:
		return rf_switch(op, BU_POWER_OFF, err);
	case BU_POWER_LOGIN:
		return rf_login(op, err);
	case BU_POWER_SET_PASSWORD:
		return rf_set_password(op, err);
	case BU_POWER_CONSOLE:
		return rf_console(op, &op->answer.console, err);
	case BU_POWER_MEDIA_INSERT:
		return rf_media_insert(op, err);
	case BU_POWER_MEDIA_EJECT:
		return rf_media_eject(op, err);
	case BU_POWER_EVENTS:
		return rf_events(op, &op->answer.report, err);
	case BU_POWER_SENSORS:
		return rf_sensors(op, &op->answer.report, err);
	case BU_POWER_FIRMWARE:
		return rf_firmware(op, &op->answer.report, err);
	case BU_POWER_BMC_RESET:
		return rf_reset_manager(op, err);
	default:
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: redfish has no operation %d", op->bmc->origin,
				  (int)op->op);
	}
}

static void
run_op(void *arg)
{
	struct rf_op *op = arg;
	struct rf_bmc *bmc = op->bmc;
	struct bu_err err = {0};
	bu_power_done_fn fn;
	int rc;

	op->task = bu_task_self();
	rc = perform(op, &err);
	if (rc != 0 && op->objected)
		rf_doubt(bmc);
	fn = op->fn;
	op->task = NULL;
	if (op->ended)
		*op->ended = 1;
	if (fn)
		fn(rc == 0 ? &op->answer : NULL, rc == 0 ? NULL : &err, op->arg);
	op_free(op);
	bmc_rests(bmc);
}

static void
op_start(struct rf_op *op, bu_task_fn fn)
{
	bu_timer_stop(op->bmc->idle);
	op->bmc->hushed = 0;
	bu_task_start(fn, op);
}

static struct bu_power_call *
redfish_start(void *self, const struct bu_power_request *request, bu_power_done_fn fn,
	      void *arg)
{
	struct rf_driver *driver = self;
	bu_autofree char *origin = NULL;
	char wanted[RF_PATH_SIZE];
	struct bu_err err = {0};
	struct rf_op *op;
	int ended = 0;

	if (read_target(request->target.bmc, &origin, wanted, &err) != 0) {
		fn(NULL, &err, arg);
		return NULL;
	}
	op = op_create(bmc_of(driver, origin), &request->target);
	strcpy(op->wanted, wanted);
	op->op = request->op;
	op->first = request->first;
	op->mode = request->mode;
	op->console_ipmi = request->console_ipmi;
	op->since_ms = request->since_ms;
	op->most = request->most;
	op->once = request->once;
	if (request->op == BU_POWER_SET_PASSWORD)
		op->new_password = bu_xstrdup(request->new_password);
	op->media = request->media ? bu_xstrdup(request->media) : NULL;
	if (request->machine) {
		op->expected = bu_xmalloc(sizeof(*op->expected));
		*op->expected = *request->machine;
	}
	op->fn = fn;
	op->arg = arg;
	op->ended = &ended;
	op_start(op, run_op);
	if (ended)
		return NULL;
	op->ended = NULL;
	return (struct bu_power_call *)op;
}

static void
redfish_cancel(void *self, struct bu_power_call *call)
{
	struct rf_op *op = (struct rf_op *)call;

	(void)self;
	op->fn = NULL;
	op->cancelled = 1;
	if (op->task)
		bu_task_wake(op->task);
}

/* --- open and close --- */

void *
rf_open(struct bu_loop *loop, const struct rf_times *times)
{
	struct rf_driver *driver = bu_xcalloc(1, sizeof(*driver));

	driver->loop = loop;
	driver->times = *times;
	driver->http = bu_http_async_create(loop);
	bu_http_async_limit(driver->http, bu_networks_check);
	return driver;
}

/* A descriptor for each BMC that is asked. */
static void *
redfish_open(struct bu_loop *loop, const char *connection, struct bu_err *err)
{
	(void)connection, (void)err;
	bu_raise_open_files(ULONG_MAX);
	return rf_open(loop, &rf_times_default);
}

/* Those that were cancelled and wait for the name of their session get it first. */
static void
redfish_close(void *self)
{
	struct rf_driver *driver = self;
	struct rf_bmc *bmc;

	driver->closing = 1;
	driver->times.gap_ms = driver->times.open_ms = 0;
	for (bmc = driver->bmcs; bmc; bmc = bmc->next) {
		bmc->next_ms = 0;
		if (bmc->ops == 0 && bmc->token)
			log_out(bmc);
	}
	bu_http_async_finish(driver->http, GOODBYE_MS);
	while (driver->ops) {
		driver->ops->deaf = 0;
		driver->ops->cancelled = 1;
		bu_task_wake(driver->ops->task);
	}
	while ((bmc = driver->bmcs)) {
		driver->bmcs = bmc->next;
		bu_timer_destroy(bmc->idle);
		rf_trees_free(bmc);
		free(bmc->token);
		free(bmc->origin);
		free(bmc);
	}
	bu_http_async_destroy(driver->http);
	free(driver);
}

const struct bu_power_driver bu_power_redfish = {
	.name = "redfish",
	.connection = redfish_connection,
	.open = redfish_open,
	.close = redfish_close,
	.start = redfish_start,
	.cancel = redfish_cancel,
};
