/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The composite operations over a driver: observe before acting, confirm after it.
 * Unknown is never taken for off, and a machine that is on is switched off only where
 * the request allows a reset. Runs in the child that belongs to one connection.
 */
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "provisioner/power/power.h"

enum { OBSERVE_MS = 250, CONFIRM_MS = 20000, WAIT_OFF_MAX_MS = 600000 };

static const char *const state_names[] = {"off", "on", "unknown"};

const char *
bu_power_state_name(enum bu_power_state state)
{
	return state_names[state];
}

/* What one request is about. */
struct machine {
	const struct bu_power_driver *driver;
	void *self;
	const char *target;
};

/* Waits until the machine is seen in this state; BU_ERR_TIMEOUT when it is not, and
 * ret_seen (may be NULL) says how it was seen last. */
static int
wait_for(const struct machine *machine, enum bu_power_state want, int64_t within_ms,
	 enum bu_power_state *ret_seen, struct bu_err *err)
{
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + within_ms;
	enum bu_power_state seen = BU_POWER_UNKNOWN;

	for (;;) {
		if (machine->driver->status(machine->self, machine->target, &seen,
					    err) != 0)
			return -1;
		if (ret_seen)
			*ret_seen = seen;
		if (seen == want)
			return 0;
		if (bu_mono_ms(bu_clock_system()) >= until_ms)
			return bu_err_set(err, BU_ERR_TIMEOUT, 0,
					  "%s is %s, not %s after %lld ms",
					  machine->target, state_names[seen],
					  state_names[want], (long long)within_ms);
		poll(NULL, 0, OBSERVE_MS);
	}
}

/* Who asked has given up, and may have asked again since: a reset that comes now hits
 * a machine that has gone on. */
static int
check_wanted(const json_t *request, struct bu_err *err)
{
	int64_t until_ms = bu_json_int(request, "until_ms", INT64_MAX);

	if (bu_mono_ms(bu_clock_system()) <= until_ms)
		return 0;
	return bu_err_set(err, BU_ERR_CANCELLED, 0,
			  "%s: its turn came too late; the request has timed out",
			  bu_json_str(request, "target", ""));
}

/* The machine did not go off by itself: may it be switched off? Only one that is surely
 * on is worth a person's consent; unknown is looked at again. */
static int
check_reset(const json_t *request, const char *target, enum bu_power_state seen,
	    const struct bu_err *late, struct bu_err *err)
{
	if (late->kind == BU_ERR_TIMEOUT && bu_json_bool(request, "reset", 0))
		return 0;
	if (late->kind == BU_ERR_TIMEOUT && seen == BU_POWER_ON)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "%s is on, and no grant allows switching it off",
				  target);
	if (err)
		*err = *late;
	return -1;
}

static int
make_off(const struct machine *machine, const json_t *request, int64_t wait_off_ms,
	 struct bu_err *err)
{
	enum bu_power_state seen = BU_POWER_UNKNOWN;
	struct bu_err late = {0};

	if (wait_for(machine, BU_POWER_OFF, wait_off_ms, &seen, &late) == 0)
		return 0;
	if (check_reset(request, machine->target, seen, &late, err) != 0)
		return -1;
	if (check_wanted(request, err) != 0 ||
	    machine->driver->power_off(machine->self, machine->target, err) != 0)
		return -1;
	return wait_for(machine, BU_POWER_OFF, CONFIRM_MS, NULL, err);
}

static int
boot(const struct machine *machine, const json_t *request, struct bu_err *err)
{
	const struct bu_power_driver *driver = machine->driver;
	const char *target = machine->target;
	const char *first = bu_json_str(request, "first", "");
	int64_t wait_off_ms = bu_json_int(request, "wait_off_ms", 0);
	int disk = strcmp(first, "disk") == 0;

	if (!disk && strcmp(first, "network") != 0)
		return bu_err_set(err, BU_ERR_INVAL, 0, "boot first from '%s'?", first);
	if (wait_off_ms < 0 || wait_off_ms > WAIT_OFF_MAX_MS)
		return bu_err_set(err, BU_ERR_INVAL, 0, "wait_off_ms out of range");
	if (make_off(machine, request, wait_off_ms, err) != 0 ||
	    driver->boot_first(machine->self, target,
			       disk ? BU_BOOT_DISK : BU_BOOT_NETWORK, err) != 0 ||
	    driver->power_on(machine->self, target, err) != 0)
		return -1;
	return wait_for(machine, BU_POWER_ON, CONFIRM_MS, NULL, err);
}

/* To on or off, from the other one alone. */
static int
switch_to(const struct machine *machine, enum bu_power_state want, struct bu_err *err)
{
	const struct bu_power_driver *driver = machine->driver;
	enum bu_power_state seen = BU_POWER_UNKNOWN;

	if (driver->status(machine->self, machine->target, &seen, err) != 0)
		return -1;
	if (seen == want)
		return 0;
	if (seen == BU_POWER_UNKNOWN)
		return bu_err_set(err, BU_ERR_REMOTE, 0,
				  "%s: it is unknown whether it is on; nothing was "
				  "done",
				  machine->target);
	if (want == BU_POWER_ON) {
		if (driver->boot_first(machine->self, machine->target, BU_BOOT_DISK,
				       err) != 0 ||
		    driver->power_on(machine->self, machine->target, err) != 0)
			return -1;
	} else if (driver->power_off(machine->self, machine->target, err) != 0) {
		return -1;
	}
	return wait_for(machine, want, CONFIRM_MS, NULL, err);
}

json_t *
bu_power_perform(const struct bu_power_driver *driver, void *self,
		 const json_t *request, struct bu_err *err)
{
	const char *op = bu_json_str(request, "op", "");
	const char *target = bu_json_str(request, "target", "");
	struct machine machine = {driver, self, target};
	enum bu_power_state state = BU_POWER_ON;

	if (check_wanted(request, err) != 0)
		return NULL;
	if (strcmp(op, "boot") == 0) {
		if (boot(&machine, request, err) != 0)
			return NULL;
	} else if (strcmp(op, "on") == 0 || strcmp(op, "off") == 0) {
		state = strcmp(op, "on") == 0 ? BU_POWER_ON : BU_POWER_OFF;
		if (switch_to(&machine, state, err) != 0)
			return NULL;
	} else if (strcmp(op, "status") == 0) {
		if (driver->status(self, target, &state, err) != 0)
			return NULL;
	} else {
		bu_err_set(err, BU_ERR_INVAL, 0, "no power operation '%s'", op);
		return NULL;
	}
	return json_pack("{s:s}", "power", state_names[state]);
}
