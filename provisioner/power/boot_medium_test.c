/* SPDX-License-Identifier: Apache-2.0 */
/* When a boot medium goes into its drive and out of it; the machine is of paper. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "provisioner/power/perform.h"
#include "tests/support/unit.h"

struct paper {
	enum bu_power_state state;
	int refuses_order, refuses_on, keeps_medium; /* its BMC */
	char done[128];
};

static struct bu_power_call *
paper_start(void *self, const struct bu_power_request *request, bu_power_done_fn fn,
	    void *arg)
{
	static const char *const orders[] = {"network ", "disk ", "cd "};
	struct bu_err err = {.kind = BU_ERR_REMOTE, .text = "the drive is stuck"};
	struct paper *paper = self;
	struct bu_power_answer answer = {.state = paper->state};
	int fails = 0;

	switch (request->op) {
	case BU_POWER_STATUS:
		break;
	case BU_POWER_BOOT_FIRST:
		strcat(paper->done, orders[request->first]);
		fails = paper->refuses_order;
		err.kind = fails ? BU_ERR_VERIFY : err.kind;
		break;
	case BU_POWER_SWITCH_ON:
		strcat(paper->done, "on ");
		fails = paper->refuses_on;
		paper->state = fails ? BU_POWER_OFF : BU_POWER_ON;
		err.kind = fails ? BU_ERR_VERIFY : err.kind;
		break;
	case BU_POWER_MEDIA_INSERT:
		strcat(strcat(strcat(paper->done, "in:"), request->media), " ");
		break;
	case BU_POWER_MEDIA_EJECT:
		strcat(strcat(strcat(paper->done, "out:"), request->media), " ");
		fails = paper->keeps_medium;
		break;
	default:
		ck_abort_msg("operation %d", (int)request->op);
	}
	fn(fails ? NULL : &answer, fails ? &err : NULL, arg);
	return NULL;
}

static const struct bu_power_driver driver = {.name = "paper", .start = paper_start};

struct outcome {
	int done;
	enum bu_err_kind kind;
	char power[16];
};

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct outcome *outcome = arg;

	outcome->done = 1;
	outcome->kind = err ? err->kind : BU_ERR_NONE;
	snprintf(outcome->power, sizeof(outcome->power), "%s",
		 bu_json_str(reply, "power", ""));
}

static struct outcome
perform(struct paper *paper, const char *op, const char *first)
{
	bu_autojson json_t *request =
		json_pack("{s:s,s:s,s:s,s:s,s:s}", "op", op, "target", "t", "first",
			  first, "media", "M/1.iso", "media_dir", "M/");
	struct bu_loop *loop = bu_loop_create(NULL);
	struct bu_performer *performer = bu_performer_create(loop, &driver, paper);
	struct outcome outcome = {0};

	bu_perform(performer, request, on_reply, &outcome);
	for (int i = 0; i < 1000 && !outcome.done; i++)
		bu_loop_step(loop, 10);
	ck_assert_int_eq(outcome.done, 1);
	bu_performer_destroy(performer);
	bu_loop_destroy(loop);
	return outcome;
}

/* In before the order is written; out where the machine was not started, and before it
 * boots its disk. One that stays keeps nobody from the disk, and hides no failure. */
START_TEST(a_medium_goes_in_before_and_out_after)
{
	static const struct {
		const char *op, *first;
		int refuses_order, refuses_on, keeps_medium;
		enum bu_err_kind kind;
		const char *done;
	} rows[] = {
		{"boot", "network", 0, 0, 0, BU_ERR_NONE, "in:M/1.iso cd on "},
		{"boot", "network", 1, 0, 0, BU_ERR_VERIFY, "in:M/1.iso cd out:M/ "},
		{"boot", "network", 1, 0, 1, BU_ERR_VERIFY, "in:M/1.iso cd out:M/ "},
		{"boot", "network", 0, 1, 0, BU_ERR_VERIFY, "in:M/1.iso cd on out:M/ "},
		{"boot", "disk", 0, 0, 0, BU_ERR_NONE, "out:M/ disk on "},
		{"boot", "disk", 0, 0, 1, BU_ERR_NONE, "out:M/ disk on "},
		{"boot", "disk", 1, 0, 0, BU_ERR_VERIFY, "out:M/ disk "},
		{"on", "network", 0, 0, 0, BU_ERR_NONE, "in:M/1.iso cd on "},
		{"eject", "", 0, 0, 0, BU_ERR_NONE, "out:M/ "},
		{"eject", "", 0, 0, 1, BU_ERR_REMOTE, "out:M/ "},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct paper paper = {.state = BU_POWER_OFF,
				      .refuses_order = rows[i].refuses_order,
				      .refuses_on = rows[i].refuses_on,
				      .keeps_medium = rows[i].keeps_medium};
		struct outcome outcome = perform(&paper, rows[i].op, rows[i].first);

		ck_assert_msg(outcome.kind == rows[i].kind, "row %zu: %d", i,
			      (int)outcome.kind);
		ck_assert_str_eq(paper.done, rows[i].done);
	}
}
END_TEST

/* Nobody looked at the power: who asked must not take that for off. */
START_TEST(an_ejection_says_nothing_of_the_power)
{
	struct paper paper = {.state = BU_POWER_ON};

	ck_assert_str_eq(perform(&paper, "eject", "").power, "unknown");
}
END_TEST

BU_UNIT("boot media of a run", a_medium_goes_in_before_and_out_after,
	an_ejection_says_nothing_of_the_power)
