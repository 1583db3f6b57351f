/* SPDX-License-Identifier: Apache-2.0 */
/* bringupd's side of bringup-power: requests out, answers back, the child kept alive.
 */
#include "provisioner/power/power.h"

#include <assert.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/worker.h"

/* A boot of a BMC that answers in 3 s takes a minute; one that refuses changes in POST,
 * has its reset as a task and is silent over it takes two; and the machine may be on
 * its way when we come, after it was switched off, and after it was switched on. What
 * gives up before the end asks again. */
enum {
	RESTART_MS = 1000,
	ASK_MS = BU_POWER_CALL_MS + 5000,
	BOOT_MS = 180000 + 3 * BU_POWER_MOVE_MS,
};

enum { OPTIONS_MAX = 4 };

struct bu_power {
	struct bu_loop *loop;
	char *argv[2 * OPTIONS_MAX + 2]; /* owned; ends with NULL */
	struct bu_service *service;
	struct bu_timer *restart;
	struct request *requests; /* not answered yet */
};

struct request {
	struct request *next;
	struct bu_power *power;
	bu_power_fn fn;
	bu_power_report_fn report_fn; /* instead of it */
	void *arg;
};

static void start_child(void *arg);

static void
on_exit_seen(const struct bu_err *err, void *arg)
{
	struct bu_power *power = arg;

	bu_warn("power", "%s; starting it again", err->text);
	bu_timer_set(power->restart, RESTART_MS);
}

static void
start_child(void *arg)
{
	struct bu_power *power = arg;
	struct bu_err err;

	bu_service_destroy(power->service);
	power->service = bu_service_start(power->loop, (const char *const *)power->argv,
					  on_exit_seen, power, &err);
	if (power->service)
		return;
	bu_error("power", "%s", err.text);
	bu_timer_set(power->restart, RESTART_MS);
}

static void
fill_argv(struct bu_power *power, const char *program, const struct bu_power_opts *opts)
{
	const struct {
		const char *name, *value;
	} options[] = {
		{"--state", opts->state},
		{"--secrets", opts->secrets_dir},
		{"--bmc-networks", opts->bmc_networks},
	};
	size_t count = 0;

	static_assert(BU_LEN(options) <= OPTIONS_MAX, "they fit");
	power->argv[count++] = bu_xstrdup(program);
	for (size_t i = 0; i < BU_LEN(options); i++)
		if (options[i].value) {
			power->argv[count++] = bu_xstrdup(options[i].name);
			power->argv[count++] = bu_xstrdup(options[i].value);
		}
}

struct bu_power *
bu_power_create(struct bu_loop *loop, const char *program,
		const struct bu_power_opts *opts, struct bu_err *err)
{
	struct bu_power *power = bu_xcalloc(1, sizeof(*power));

	power->loop = loop;
	fill_argv(power, program, opts ? opts : &(struct bu_power_opts){0});
	power->restart = bu_timer_create(loop, start_child, power);
	power->service = bu_service_start(loop, (const char *const *)power->argv,
					  on_exit_seen, power, err);
	if (power->service)
		return power;
	bu_power_destroy(power);
	return NULL;
}

void
bu_power_destroy(struct bu_power *power)
{
	struct request *request;

	if (!power)
		return;
	while ((request = power->requests)) {
		power->requests = request->next;
		free(request);
	}
	bu_timer_destroy(power->restart);
	bu_service_destroy(power->service);
	for (size_t i = 0; power->argv[i]; i++)
		free(power->argv[i]);
	free(power);
}

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct request *request = arg;
	struct request **link = &request->power->requests;
	const char *power = bu_json_str(reply, "power", "");
	struct bu_power_seen seen = {.state = BU_POWER_UNKNOWN};

	for (int i = BU_POWER_OFF; i <= BU_POWER_ON; i++)
		if (strcmp(power, bu_power_state_name((enum bu_power_state)i)) == 0)
			seen.state = (enum bu_power_state)i;
	seen.unsaid = strcmp(bu_json_str(reply, "identity", ""), "unsaid") == 0;
	seen.differs = bu_json_str(reply, "differs", NULL);
	seen.started_ms = bu_json_int(reply, "started_ms", 0);
	while (*link != request)
		link = &(*link)->next;
	*link = request->next;
	if (request->report_fn)
		request->report_fn(err ? NULL : reply, err, request->arg);
	else
		request->fn(&seen, err, request->arg);
	free(request);
}

/* Who wants to know, and by when. */
struct asker {
	int64_t deadline_ms;
	bu_power_fn fn;
	void *arg;
	bu_power_report_fn report_fn;
};

static void
ask(struct bu_power *power, json_t *body, const struct bu_power_bmc *bmc,
    const struct asker *asker)
{
	struct request *request = bu_xcalloc(1, sizeof(*request));
	struct bu_err err;

	request->power = power;
	request->next = power->requests;
	power->requests = request;
	request->fn = asker->fn;
	request->report_fn = asker->report_fn;
	request->arg = asker->arg;
	json_object_set_new(body, "driver", json_string(bmc->driver));
	json_object_set_new(body, "target", json_string(bmc->bmc));
	if (bmc->machine)
		json_object_set_new(body, "machine", bu_machine_to_json(bmc->machine));
	if (bmc->credentials)
		json_object_set_new(body, "credentials", json_string(bmc->credentials));
	if (bmc->before)
		json_object_set_new(body, "before", json_string(bmc->before));
	if (bmc->factory)
		json_object_set_new(body, "factory", json_string(bmc->factory));
	if (bmc->fingerprint)
		json_object_set_new(body, "fingerprint", json_string(bmc->fingerprint));
	if (bmc->mode != BU_BOOT_MODE_KEPT)
		json_object_set_new(body, "mode",
				    json_string(bu_boot_mode_name(bmc->mode)));
	if (bmc->media)
		json_object_set_new(body, "media", json_string(bmc->media));
	if (bmc->media_dir)
		json_object_set_new(body, "media_dir", json_string(bmc->media_dir));
	/* It may wait behind others of its connection, longer than we do. */
	json_object_set_new(
		body, "until_ms",
		json_integer(bu_mono_ms(bu_clock_system()) + asker->deadline_ms));
	if (power->service) {
		bu_service_call(power->service, body, asker->deadline_ms, on_reply,
				request);
	} else {
		bu_err_set(&err, BU_ERR_BUSY, 0, "bringup-power is not running");
		on_reply(NULL, &err, request);
	}
	json_decref(body);
}

void
bu_power_status(struct bu_power *power, const struct bu_power_bmc *bmc, bu_power_fn fn,
		void *arg)
{
	ask(power, json_pack("{s:s}", "op", "status"), bmc,
	    &(struct asker){ASK_MS, fn, arg, NULL});
}

void
bu_power_eject(struct bu_power *power, const struct bu_power_bmc *bmc, bu_power_fn fn,
	       void *arg)
{
	ask(power, json_pack("{s:s}", "op", "eject"), bmc,
	    &(struct asker){BOOT_MS, fn, arg, NULL});
}

static const char *
first_name(enum bu_boot_first first)
{
	return first == BU_BOOT_DISK ? "disk" : "network";
}

void
bu_power_on(struct bu_power *power, const struct bu_power_bmc *bmc,
	    enum bu_boot_first first, bu_power_fn fn, void *arg)
{
	ask(power, json_pack("{s:s,s:s}", "op", "on", "first", first_name(first)), bmc,
	    &(struct asker){BOOT_MS, fn, arg, NULL});
}

void
bu_power_off(struct bu_power *power, const struct bu_power_bmc *bmc, bu_power_fn fn,
	     void *arg)
{
	ask(power, json_pack("{s:s}", "op", "off"), bmc,
	    &(struct asker){BOOT_MS, fn, arg, NULL});
}

void
bu_power_boot(struct bu_power *power, const struct bu_power_bmc *bmc,
	      const struct bu_power_boot *boot, bu_power_fn fn, void *arg)
{
	json_t *body = json_pack("{s:s,s:s,s:I,s:b}", "op", "boot", "first",
				 first_name(boot->first), "wait_off_ms",
				 (json_int_t)boot->wait_off_ms, "reset", boot->reset);
	int64_t deadline_ms = BOOT_MS + boot->wait_off_ms;

	if (boot->bmc_reset) {
		json_object_set_new(body, "bmc_reset", json_true());
		deadline_ms += BU_POWER_BMC_RESET_MS;
	}
	ask(power, body, bmc, &(struct asker){deadline_ms, fn, arg, NULL});
}

void
bu_power_reset_bmc(struct bu_power *power, const struct bu_power_bmc *bmc,
		   bu_power_fn fn, void *arg)
{
	ask(power, json_pack("{s:s}", "op", "bmc-reset"), bmc,
	    &(struct asker){BU_POWER_BMC_RESET_MS, fn, arg, NULL});
}

void
bu_power_report(struct bu_power *power, const struct bu_power_bmc *bmc,
		enum bu_bmc_report what, int64_t since_ms, bu_power_report_fn fn,
		void *arg)
{
	ask(power,
	    json_pack("{s:s,s:I}", "op", bu_bmc_report_names[what], "since_ms",
		      (json_int_t)since_ms),
	    bmc, &(struct asker){ASK_MS, NULL, arg, fn});
}

void
bu_power_console(struct bu_power *power, const struct bu_power_bmc *bmc,
		 const char *node, const char *way, bu_power_report_fn fn, void *arg)
{
	ask(power,
	    json_pack("{s:s,s:s,s:s}", "op", "console", "node", node, "way", way), bmc,
	    &(struct asker){ASK_MS, NULL, arg, fn});
}
