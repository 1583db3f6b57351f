/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that take their time, and BMCs that lose an answer, over the Redfish driver:
 * what is under way is waited for, and never cut off. Time is made.
 */
#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/perform.h"
#include "tests/support/redfish.h"

enum { IDLE_MS = 500 };

struct performed {
	int done;
	char power[16];
	struct bu_err err;
	int64_t took_ms;
};

struct bench {
	struct rig rig;
	struct bu_performer *performer;
};

static void
begin(struct bench *bench)
{
	rig_made(&bench->rig, "supermicro", HOSTILE_OPEN, &rf_times_default);
	bench->performer = bu_performer_create(bench->rig.loop, &bu_power_redfish,
					       bench->rig.driver);
}

static void
finish(struct bench *bench)
{
	bu_performer_destroy(bench->performer);
	rig_end(&bench->rig);
}

static void
on_performed(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct performed *performed = arg;

	performed->done = 1;
	bu_text_copy(performed->power, sizeof(performed->power),
		     bu_json_str(reply, "power", ""));
	performed->err = err ? *err : (struct bu_err){0};
}

/* op, as a request; the machine may be switched off. */
static void
ask(struct bench *bench, const char *op, struct performed *ret)
{
	bu_autojson json_t *request =
		json_pack("{s:s,s:s,s:s,s:b}", "op", op, "target", bench->rig.url,
			  "first", "network", "reset", 1);

	memset(ret, 0, sizeof(*ret));
	bu_perform(bench->performer, request, on_performed, ret);
}

/* Between two operations of the driver nothing needs time of ours. */
static void
step(struct bench *bench)
{
	const struct rf_driver *driver = bench->rig.driver;

	if (driver->ops) {
		rig_step(&bench->rig);
		return;
	}
	bu_clock_advance(&bench->rig.clock, IDLE_MS);
	bu_loop_step(bench->rig.loop, 0);
}

static void
idle(struct bench *bench, int for_ms)
{
	int64_t until_ms = bu_loop_now_ms(bench->rig.loop) + for_ms;

	while (bu_loop_now_ms(bench->rig.loop) < until_ms)
		step(bench);
}

static void
until_done(struct bench *bench, struct performed *performed)
{
	int64_t from_ms = bu_loop_now_ms(bench->rig.loop);

	for (int i = 0; i < 40000 && !performed->done; i++)
		step(bench);
	ck_assert(performed->done);
	performed->took_ms = bu_loop_now_ms(bench->rig.loop) - from_ms;
}

static void
perform(struct bench *bench, const char *op, struct performed *ret)
{
	ask(bench, op, ret);
	until_done(bench, ret);
}

static void
ok(struct bench *bench, const char *op, struct performed *ret)
{
	perform(bench, op, ret);
	ck_assert_msg(ret->err.kind == BU_ERR_NONE, "%s", ret->err.text);
}

static int
resets(struct bench *bench)
{
	return hostile_count(bench->rig.bmc, "POST", ".Reset");
}

/* On and off, as it moves or shows what was. */
START_TEST(a_machine_is_waited_for_as_long_as_it_moves)
{
	static const struct {
		const char *before, *op, *shown, *after;
		int64_t at_least_ms;
		int looks;
	} rows[] = {
		{"Off", "on", "PoweringOn", "on", 25000, 28},
		{"Off", "boot", "PoweringOn", "on", 60000, 48},
		{"Off", "on", "Off", "on", 60000, 48},
		{"Off", "on", "Reset", "on", 25000, 28},
		{"On", "off", "PoweringOff", "off", 60000, 48},
		{"On", "off", "On", "off", 60000, 48},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct performed performed;
		struct bench bench;

		begin(&bench);
		hostile_set_power(bench.rig.bmc, rows[i].before);
		hostile_course(bench.rig.bmc, rows[i].shown, rows[i].looks, 0);
		ok(&bench, rows[i].op, &performed);
		ck_assert_str_eq(performed.power, rows[i].after);
		ck_assert_msg(performed.took_ms >= rows[i].at_least_ms, "%zu: %lld", i,
			      (long long)performed.took_ms);
		ck_assert_int_eq(resets(&bench), 1);
		finish(&bench);
	}
}
END_TEST

/* Somebody else, or we before a restart, began it. */
START_TEST(what_is_under_way_is_not_cut_off)
{
	static const struct {
		const char *op, *moves, *then;
		int resets;
	} rows[] = {
		{"on", "PoweringOn", "On", 0},    {"on", "PoweringOff", "Off", 1},
		{"off", "PoweringOff", "Off", 0}, {"off", "PoweringOn", "On", 1},
		{"boot", "PoweringOn", "On", 2},  {"boot", "PoweringOff", "Off", 1},
		{"boot", "Reset", "On", 2},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct performed performed;
		struct bench bench;

		begin(&bench);
		hostile_set_power(bench.rig.bmc, rows[i].moves);
		ask(&bench, rows[i].op, &performed);
		idle(&bench, 60000);
		ck_assert_int_eq(performed.done, 0);
		ck_assert_int_eq(resets(&bench), 0);
		hostile_set_power(bench.rig.bmc, rows[i].then);
		until_done(&bench, &performed);
		ck_assert_msg(performed.err.kind == BU_ERR_NONE, "%s",
			      performed.err.text);
		ck_assert_msg(resets(&bench) == rows[i].resets, "%zu: %d", i,
			      resets(&bench));
		finish(&bench);
	}
}
END_TEST

/* It is told so, and what came on since is no machine to switch off: once. */
START_TEST(a_start_that_failed_and_came_on_is_not_made_again)
{
	struct performed performed;
	struct bench bench;

	begin(&bench);
	hostile_set_power(bench.rig.bmc, "Off");
	hostile_course(bench.rig.bmc, "PoweringOn", 1000000, 0);
	perform(&bench, "boot", &performed);
	ck_assert_int_eq(performed.err.kind, BU_ERR_TIMEOUT);
	ck_assert_ptr_nonnull(strstr(performed.err.text, "is going on, not on after"));
	ck_assert_int_ge(performed.took_ms, BU_POWER_MOVE_MS);
	ck_assert_int_eq(resets(&bench), 1);
	ask(&bench, "boot", &performed);
	idle(&bench, 20000);
	ck_assert_int_eq(performed.done, 0);
	hostile_course(bench.rig.bmc, "", 0, 0);
	until_done(&bench, &performed);
	ck_assert_msg(performed.err.kind == BU_ERR_NONE, "%s", performed.err.text);
	ck_assert_str_eq(performed.power, "on");
	ck_assert_int_eq(resets(&bench), 1);
	/* whoever asks once more means it */
	ok(&bench, "boot", &performed);
	ck_assert_int_eq(resets(&bench), 3);
	finish(&bench);
}
END_TEST

/* What the looks show decides, and the switch goes out once. */
START_TEST(a_switch_without_an_answer_is_looked_at)
{
	static const struct {
		const char *before, *op, *shown, *after;
	} rows[] = {
		{"Off", "boot", "PoweringOn", "on"},
		{"Off", "boot", "Off", "on"},
		{"Off", "on", "On", "on"},
		{"On", "off", "PoweringOff", "off"},
		{"On", "off", "On", "off"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct performed performed;
		struct bench bench;

		begin(&bench);
		hostile_set_power(bench.rig.bmc, rows[i].before);
		hostile_course(bench.rig.bmc, rows[i].shown, 30, 1);
		ok(&bench, rows[i].op, &performed);
		ck_assert_str_eq(performed.power, rows[i].after);
		ck_assert_int_eq(resets(&bench), 1);
		finish(&bench);
	}
}
END_TEST

START_TEST(what_became_of_a_lost_answer_is_said)
{
	static const struct {
		int looks; /* 0: it was not done; else it moves for ever */
		const char *says;
	} rows[] = {
		{0, "it was not done: off"},
		{1000000, "it is unknown whether it was done: going on"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct performed performed;
		struct bench bench;

		begin(&bench);
		hostile_set_power(bench.rig.bmc, "Off");
		if (rows[i].looks)
			hostile_course(bench.rig.bmc, "PoweringOn", rows[i].looks, 1);
		else
			hostile_plan(bench.rig.bmc, "POST", ".Reset", 0, NULL, 1);
		perform(&bench, "boot", &performed);
		ck_assert_int_eq(performed.err.kind, BU_ERR_TIMEOUT);
		ck_assert_msg(strstr(performed.err.text, rows[i].says) != NULL, "%s",
			      performed.err.text);
		ck_assert_int_eq(resets(&bench), 1);
		finish(&bench);
	}
}
END_TEST

BU_UNIT("look", a_machine_is_waited_for_as_long_as_it_moves,
	what_is_under_way_is_not_cut_off,
	a_start_that_failed_and_came_on_is_not_made_again,
	a_switch_without_an_answer_is_looked_at, what_became_of_a_lost_answer_is_said)
