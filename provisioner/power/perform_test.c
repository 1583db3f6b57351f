/* SPDX-License-Identifier: Apache-2.0 */
/* A machine of paper that notes what was done to it, in order. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "provisioner/power/power.h"
#include "tests/support/unit.h"

struct paper {
	enum bu_power_state state;
	int looks_until_off; /* goes off by itself after so many looks; 0 = never */
	int refuses_off;
	int silent; /* its BMC says nothing about its power */
	char done[128];
};

static int
status(void *self, const char *target, enum bu_power_state *ret, struct bu_err *err)
{
	struct paper *paper = self;

	if (paper->silent)
		return bu_err_set(err, BU_ERR_REMOTE, 0, "%s: no session", target);
	if (paper->looks_until_off && --paper->looks_until_off == 0)
		paper->state = BU_POWER_OFF;
	*ret = paper->state;
	return 0;
}

static int
first(void *self, const char *target, enum bu_boot_first order, struct bu_err *err)
{
	struct paper *paper = self;

	strcat(paper->done, order == BU_BOOT_DISK ? "disk " : "network ");
	return 0;
}

static int
on(void *self, const char *target, struct bu_err *err)
{
	struct paper *paper = self;

	ck_assert_int_eq(paper->state, BU_POWER_OFF);
	paper->state = BU_POWER_ON;
	strcat(paper->done, "on ");
	return 0;
}

static int
off(void *self, const char *target, struct bu_err *err)
{
	struct paper *paper = self;

	strcat(paper->done, "off ");
	if (paper->refuses_off)
		return bu_err_set(err, BU_ERR_REMOTE, 0, "power off %s: stuck", target);
	paper->state = BU_POWER_OFF;
	return 0;
}

static const struct bu_power_driver driver = {
	.name = "paper",
	.status = status,
	.boot_first = first,
	.power_on = on,
	.power_off = off,
};

static int
perform(struct paper *paper, json_t *request, struct bu_err *err)
{
	bu_autojson json_t *reply = bu_power_perform(&driver, paper, request, err);

	json_decref(request);
	return reply ? 0 : -1;
}

static int
boot_within(struct paper *paper, const char *order, int wait_off_ms, int within_ms,
	    struct bu_err *err)
{
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + within_ms;

	return perform(paper,
		       json_pack("{s:s,s:s,s:s,s:i,s:I,s:b}", "op", "boot", "target",
				 "t", "first", order, "wait_off_ms", wait_off_ms,
				 "until_ms", (json_int_t)until_ms, "reset", 1),
		       err);
}

/* Nobody granted that it is switched off. */
static int
boot_from_off(struct paper *paper, int wait_off_ms, struct bu_err *err)
{
	return perform(paper,
		       json_pack("{s:s,s:s,s:s,s:i}", "op", "boot", "target", "t",
				 "first", "network", "wait_off_ms", wait_off_ms),
		       err);
}

static int
boot(struct paper *paper, const char *order, int wait_off_ms, struct bu_err *err)
{
	return boot_within(paper, order, wait_off_ms, 60000, err);
}

START_TEST(a_machine_that_runs_is_cycled_in_this_order)
{
	struct paper paper = {.state = BU_POWER_ON};

	ck_assert_int_eq(boot(&paper, "network", 0, NULL), 0);
	ck_assert_str_eq(paper.done, "off network on ");
}
END_TEST

START_TEST(a_machine_that_is_off_is_not_switched_off)
{
	struct paper paper = {.state = BU_POWER_OFF};

	ck_assert_int_eq(boot(&paper, "disk", 0, NULL), 0);
	ck_assert_str_eq(paper.done, "disk on ");
}
END_TEST

START_TEST(one_that_goes_off_by_itself_is_waited_for)
{
	struct paper paper = {.state = BU_POWER_ON, .looks_until_off = 3};
	int64_t from_ms = bu_mono_ms(bu_clock_system());

	ck_assert_int_eq(boot(&paper, "disk", 60000, NULL), 0);
	ck_assert_str_eq(paper.done, "disk on ");
	/* Its BMC is asked four times a second, and not without a pause. */
	ck_assert_int_ge(bu_mono_ms(bu_clock_system()) - from_ms, 2 * 250 - 2);
}
END_TEST

START_TEST(unknown_is_not_off)
{
	struct paper paper = {.state = BU_POWER_UNKNOWN, .refuses_off = 1};
	struct bu_err err = {0};

	ck_assert_int_eq(boot(&paper, "network", 0, &err), -1);
	ck_assert_str_eq(paper.done, "off ");
	ck_assert_str_eq(err.text, "power off t: stuck");
}
END_TEST

START_TEST(without_a_grant_a_machine_that_is_on_stays_on)
{
	struct paper on = {.state = BU_POWER_ON};
	struct paper off = {.state = BU_POWER_OFF};
	struct paper goes_off = {.state = BU_POWER_ON, .looks_until_off = 2};
	struct paper unknown = {.state = BU_POWER_UNKNOWN};
	struct bu_err err = {0};

	ck_assert_int_eq(boot_from_off(&on, 0, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_DENIED);
	ck_assert_str_eq(err.text, "t is on, and no grant allows switching it off");
	ck_assert_str_eq(on.done, "");
	ck_assert_int_eq(boot_from_off(&off, 0, NULL), 0);
	ck_assert_str_eq(off.done, "network on ");
	ck_assert_int_eq(boot_from_off(&goes_off, 60000, NULL), 0);
	ck_assert_str_eq(goes_off.done, "network on ");
	/* Unknown asks nobody for a grant: it is looked at again. */
	ck_assert_int_eq(boot_from_off(&unknown, 0, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(unknown.done, "");
}
END_TEST

START_TEST(a_silent_bmc_is_no_answer)
{
	struct paper paper = {.state = BU_POWER_ON, .silent = 1};
	struct bu_err err = {0};

	ck_assert_int_eq(boot(&paper, "network", 0, &err), -1);
	ck_assert_str_eq(paper.done, "");
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	ck_assert_str_eq(err.text, "t: no session");
}
END_TEST

START_TEST(a_strange_request_does_nothing)
{
	struct paper paper = {.state = BU_POWER_ON}, is_off = {.state = BU_POWER_OFF};
	struct bu_err err = {0};

	ck_assert_int_eq(boot(&paper, "floppy", 0, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_int_eq(boot(&paper, "disk", -5, &err), -1);
	ck_assert_int_eq(boot(&paper, "disk", 600001, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_str_eq(paper.done, "");
	/* ten minutes are waited for */
	ck_assert_int_eq(boot(&is_off, "disk", 600000, NULL), 0);
}
END_TEST

START_TEST(what_nobody_waits_for_is_not_begun)
{
	struct paper paper = {.state = BU_POWER_ON};
	struct bu_err err = {0};

	ck_assert_int_eq(boot_within(&paper, "network", 0, -1, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
	/* nor is it switched off when the waiting took that long */
	ck_assert_int_eq(boot_within(&paper, "disk", 300, 100, &err), -1);
	ck_assert_str_eq(err.text,
			 "t: its turn came too late; the request has timed out");
	ck_assert_str_eq(paper.done, "");
}
END_TEST

/* Each row: what is seen, what is asked, what is done. */
START_TEST(a_switch_goes_from_the_other_state_alone)
{
	static const struct {
		enum bu_power_state seen;
		const char *op;
		int rc;
		const char *done;
	} rows[] = {
		{BU_POWER_OFF, "on", 0, "disk on "}, {BU_POWER_ON, "on", 0, ""},
		{BU_POWER_UNKNOWN, "on", -1, ""},    {BU_POWER_ON, "off", 0, "off "},
		{BU_POWER_OFF, "off", 0, ""},        {BU_POWER_UNKNOWN, "off", -1, ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct paper paper = {.state = rows[i].seen};

		ck_assert_int_eq(
			perform(&paper,
				json_pack("{s:s,s:s}", "op", rows[i].op, "target", "t"),
				NULL),
			rows[i].rc);
		ck_assert_str_eq(paper.done, rows[i].done);
	}
}
END_TEST

BU_UNIT("perform", a_switch_goes_from_the_other_state_alone, a_silent_bmc_is_no_answer,
	what_nobody_waits_for_is_not_begun, a_machine_that_runs_is_cycled_in_this_order,
	a_machine_that_is_off_is_not_switched_off,
	without_a_grant_a_machine_that_is_on_stays_on,
	one_that_goes_off_by_itself_is_waited_for, unknown_is_not_off,
	a_strange_request_does_nothing)
