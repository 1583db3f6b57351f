/* SPDX-License-Identifier: Apache-2.0 */
/* The restart of a BMC: when it is believed, and who waits for it. Time is made. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "provisioner/power/perform.h"
#include "tests/support/unit.h"

struct paper {
	enum bu_power_state state;
	int64_t goes_ms, returns_ms; /* of its BMC, after the restart; 0 = never */
	int foreign;                 /* its machine is another one */
	enum bu_err_kind refusal;    /* of the restart; NONE = it is taken */
	int64_t reset_ms;            /* when that was taken */
	int64_t off_ms;              /* a machine takes to go off */
	int64_t off_from_ms[8];      /* each of them; 0 = it is as above says */
	char done[128];
	struct bu_clock *clock;
};

static int
is_away(const struct paper *paper)
{
	int64_t since_ms = paper->clock->fake_mono_ms - paper->reset_ms;

	return paper->reset_ms && paper->goes_ms && since_ms >= paper->goes_ms &&
	       (!paper->returns_ms || since_ms < paper->returns_ms);
}

/* Its machine, by the last letter of its name. */
static int64_t *
off_of(struct paper *paper, const struct bu_power_request *request)
{
	const char *bmc = request->target.bmc;

	return &paper->off_from_ms[bmc[strlen(bmc) - 1] & 7];
}

static struct bu_power_call *
paper_start(void *self, const struct bu_power_request *request, bu_power_done_fn fn,
	    void *arg)
{
	struct paper *paper = self;
	struct bu_err err = {.kind = BU_ERR_REMOTE, .text = "no route to it"};
	int64_t *off_from_ms = off_of(paper, request),
		now_ms = paper->clock->fake_mono_ms;
	int is_off = *off_from_ms && now_ms >= *off_from_ms;
	struct bu_power_answer answer = {.state = is_off ? BU_POWER_OFF : paper->state};
	int fails = is_away(paper) && !strstr(request->target.bmc, "://d");

	switch (request->op) {
	case BU_POWER_STATUS:
		/* Behind it, a driver's own patience would hide the silence. */
		ck_assert(!paper->reset_ms || request->once || paper->returns_ms);
		break;
	case BU_POWER_IDENTITY:
		strcat(paper->done, "who ");
		strcpy(answer.machine.serial, paper->foreign ? "SN2" : "SN1");
		break;
	case BU_POWER_BMC_RESET:
		strcat(paper->done, "reset ");
		paper->reset_ms = paper->clock->fake_mono_ms;
		fails = paper->refusal != BU_ERR_NONE;
		err.kind = fails ? paper->refusal : err.kind;
		break;
	case BU_POWER_BOOT_FIRST:
		strcat(paper->done, "order ");
		break;
	case BU_POWER_SWITCH_ON:
		strcat(paper->done, "on ");
		*off_from_ms = 0;
		break;
	case BU_POWER_SWITCH_OFF:
		strcat(paper->done, "off ");
		*off_from_ms = now_ms + paper->off_ms;
		break;
	case BU_POWER_EVENTS:
		answer.report = json_pack("{s:[],s:I}", "events", "since",
					  (json_int_t)request->since_ms);
		break;
	default:
		ck_abort_msg("operation %d", (int)request->op);
	}
	fn(fails ? NULL : &answer, fails ? &err : NULL, arg);
	json_decref(answer.report);
	return NULL;
}

static const struct bu_power_driver driver = {.name = "paper", .start = paper_start};

struct site {
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_performer *performer;
};

struct outcome {
	struct site *site;
	int done;
	int64_t at_ms;
	struct bu_err err;
	json_t *reply;
};

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct outcome *outcome = arg;

	ck_assert_int_eq(outcome->done, 0);
	outcome->done = 1;
	outcome->at_ms = outcome->site->clock.fake_mono_ms;
	outcome->err = err ? *err : (struct bu_err){0};
	outcome->reply = json_deep_copy(reply);
}

static void
begin(struct site *site, struct paper *paper)
{
	bu_clock_fake(&site->clock, 0);
	site->clock.fake_mono_ms = 1000;
	paper->clock = &site->clock;
	site->loop = bu_loop_create(&site->clock);
	site->performer = bu_performer_create(site->loop, &driver, paper);
}

static void
finish(struct site *site)
{
	bu_performer_destroy(site->performer);
	bu_loop_destroy(site->loop);
}

static void
perform_at(struct site *site, struct outcome *outcome, const char *op,
	   const char *target)
{
	bu_autojson json_t *request = json_pack(
		"{s:s,s:s,s:s,s:b,s:b,s:I,s:{s:s}}", "op", op, "target", target,
		"first", "network", "reset", 1, "bmc_reset", strcmp(op, "boot") == 0,
		"since_ms", (json_int_t)77, "machine", "serial", "SN1");

	memset(outcome, 0, sizeof(*outcome));
	outcome->site = site;
	bu_perform(site->performer, request, on_reply, outcome);
}

static void
perform(struct site *site, struct outcome *outcome, const char *op)
{
	perform_at(site, outcome, op, "t");
}

static void
pass(struct site *site, const struct outcome *until)
{
	for (int i = 0; i < 6000 && !until->done; i++) {
		bu_clock_advance(&site->clock, 100);
		bu_loop_step(site->loop, 0);
	}
	ck_assert_int_eq(until->done, 1);
}

/* goes away | is back | refuses | another's machine | what comes of it | was done */
START_TEST(a_restart_is_believed_when_the_bmc_was_away_and_is_back)
{
	static const struct {
		int64_t goes_ms, returns_ms;
		enum bu_err_kind refusal;
		int foreign;
		enum bu_err_kind kind;
		const char *done;
	} rows[] = {
		{2000, 90000, BU_ERR_NONE, 0, BU_ERR_NONE, "who reset "},
		{1, 300000, BU_ERR_NONE, 0, BU_ERR_NONE, "who reset "},
		/* inert */
		{0, 0, BU_ERR_NONE, 0, BU_ERR_VERIFY, "who reset "},
		/* one look alone was lost */
		{1500, 2700, BU_ERR_NONE, 0, BU_ERR_VERIFY, "who reset "},
		/* never back */
		{2000, 0, BU_ERR_NONE, 0, BU_ERR_TIMEOUT, "who reset "},
		{2000, 90000, BU_ERR_DENIED, 0, BU_ERR_REMOTE, "who reset "},
		{2000, 90000, BU_ERR_INVAL, 0, BU_ERR_INVAL, "who reset "},
		{2000, 90000, BU_ERR_NONE, 1, BU_ERR_FOREIGN, "who "},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct paper paper = {.state = BU_POWER_ON,
				      .goes_ms = rows[i].goes_ms,
				      .returns_ms = rows[i].returns_ms,
				      .refusal = rows[i].refusal,
				      .foreign = rows[i].foreign};
		struct outcome outcome;
		struct site site;

		begin(&site, &paper);
		perform(&site, &outcome, "bmc-reset");
		pass(&site, &outcome);
		ck_assert_msg(outcome.err.kind == rows[i].kind, "row %zu: %s", i,
			      outcome.err.text);
		ck_assert_str_eq(paper.done, rows[i].done);
		ck_assert_int_eq(paper.state, BU_POWER_ON);
		if (!outcome.err.kind) {
			ck_assert_str_eq(bu_json_str(outcome.reply, "power", ""), "on");
			ck_assert_int_ge(outcome.at_ms, rows[i].returns_ms);
		}
		json_decref(outcome.reply);
		finish(&site);
	}
}
END_TEST

/* Of two changes of one machine the second waits; who only looks does not. */
START_TEST(no_power_action_begins_while_the_bmc_restarts)
{
	struct paper paper = {.state = BU_POWER_ON, .goes_ms = 1, .returns_ms = 60000};
	struct outcome reset, off, look;
	struct site site;

	begin(&site, &paper);
	perform(&site, &reset, "bmc-reset");
	perform(&site, &off, "off");
	for (int i = 0; i < 100; i++) {
		bu_clock_advance(&site.clock, 100);
		bu_loop_step(site.loop, 0);
	}
	ck_assert_str_eq(paper.done, "who reset ");
	perform(&site, &look, "status");
	pass(&site, &look);
	ck_assert_int_eq(look.err.kind, BU_ERR_REMOTE); /* it is away */
	ck_assert_int_eq(reset.done, 0);
	pass(&site, &off);
	ck_assert_int_eq(reset.done, 1);
	ck_assert_int_eq(off.err.kind, BU_ERR_NONE);
	ck_assert_int_ge(off.at_ms, 60000);
	ck_assert_str_eq(paper.done, "who reset who off ");
	json_decref(reset.reply);
	json_decref(off.reply);
	finish(&site);
}
END_TEST

/* first | second, of another machine of the same BMC | what was done */
START_TEST(a_bmc_restarts_for_all_its_machines)
{
	static const struct {
		const char *first, *second, *done;
	} rows[] = {
		{"bmc-reset", "off", "who reset who off "},
		{"boot", "off", "who reset who off order on who off "},
		{"off", "bmc-reset", "who off who reset "},
		{"off", "boot", "who off who reset who off order on "},
		{"bmc-reset", "bmc-reset", "who reset who reset "},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct paper paper = {.state = BU_POWER_ON,
				      .goes_ms = 1,
				      .returns_ms = 60000,
				      .off_ms = 5000};
		struct outcome first, second;
		struct site site;

		begin(&site, &paper);
		perform_at(&site, &first, rows[i].first, "https://c/redfish/v1/1");
		perform_at(&site, &second, rows[i].second, "https://C:443/2");
		pass(&site, &second);
		ck_assert_int_eq(first.done, 1);
		ck_assert_msg(first.err.kind == BU_ERR_NONE, "%s", first.err.text);
		ck_assert_msg(second.err.kind == BU_ERR_NONE, "%s", second.err.text);
		ck_assert_str_eq(paper.done, rows[i].done);
		json_decref(first.reply);
		json_decref(second.reply);
		finish(&site);
	}
}
END_TEST

/* All that waited for the restart go on after it, and other BMCs wait for nothing. */
START_TEST(only_who_has_the_bmc_waits_for_its_restart)
{
	struct paper paper = {.state = BU_POWER_ON, .goes_ms = 1, .returns_ms = 60000};
	struct outcome reset, waits[2], other;
	struct site site;

	begin(&site, &paper);
	perform_at(&site, &reset, "bmc-reset", "https://c/1");
	perform_at(&site, &waits[0], "off", "https://c/2");
	perform_at(&site, &waits[1], "off", "https://c/3");
	perform_at(&site, &other, "off", "https://d/4");
	ck_assert_str_eq(paper.done, "who reset who off ");
	ck_assert_int_eq(other.done, 1);
	pass(&site, &reset);
	pass(&site, &waits[0]);
	pass(&site, &waits[1]);
	ck_assert_int_le(waits[0].at_ms, reset.at_ms + 1000);
	ck_assert_int_le(waits[1].at_ms, reset.at_ms + 1000);
	json_decref(reset.reply);
	json_decref(waits[0].reply);
	json_decref(waits[1].reply);
	json_decref(other.reply);
	finish(&site);
}
END_TEST

/* The last try of a start may begin so. */
START_TEST(a_boot_may_restart_the_bmc_first)
{
	struct paper paper = {.state = BU_POWER_ON, .goes_ms = 1, .returns_ms = 60000};
	struct outcome boot;
	struct site site;

	begin(&site, &paper);
	perform(&site, &boot, "boot");
	pass(&site, &boot);
	ck_assert_msg(boot.err.kind == BU_ERR_NONE, "%s", boot.err.text);
	ck_assert_str_eq(paper.done, "who reset who off order on ");
	json_decref(boot.reply);
	finish(&site);
}
END_TEST

/* The last try is not lost to a BMC that has no restart, allows none or does nothing;
 * behind another machine's nothing is switched, and one that stays away takes nothing.
 */
START_TEST(a_boot_goes_on_without_the_restart)
{
	static const struct {
		int64_t goes_ms, returns_ms;
		enum bu_err_kind refusal;
		int foreign;
		enum bu_err_kind kind;
		const char *done;
	} rows[] = {
		{0, 1, BU_ERR_INVAL, 0, BU_ERR_NONE, "who reset who off order on "},
		{0, 1, BU_ERR_DENIED, 0, BU_ERR_NONE, "who reset who off order on "},
		{0, 1, BU_ERR_NONE, 0, BU_ERR_NONE, "who reset who off order on "},
		{1, 0, BU_ERR_NONE, 0, BU_ERR_TIMEOUT, "who reset "},
		{0, 1, BU_ERR_INVAL, 1, BU_ERR_FOREIGN, "who "},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct paper paper = {.state = BU_POWER_ON,
				      .goes_ms = rows[i].goes_ms,
				      .returns_ms = rows[i].returns_ms,
				      .refusal = rows[i].refusal,
				      .foreign = rows[i].foreign};
		struct outcome boot;
		struct site site;

		begin(&site, &paper);
		perform(&site, &boot, "boot");
		pass(&site, &boot);
		ck_assert_msg(boot.err.kind == rows[i].kind, "row %zu: %s", i,
			      boot.err.text);
		ck_assert_str_eq(paper.done, rows[i].done);
		json_decref(boot.reply);
		finish(&site);
	}
}
END_TEST

START_TEST(a_report_is_passed_on)
{
	struct paper paper = {.state = BU_POWER_ON};
	struct outcome events;
	struct site site;

	begin(&site, &paper);
	perform(&site, &events, "events");
	pass(&site, &events);
	ck_assert(json_is_array(json_object_get(events.reply, "events")));
	ck_assert_int_eq(bu_json_int(events.reply, "since", 0), 77);
	json_decref(events.reply);
	finish(&site);
}
END_TEST

BU_UNIT("restart of a BMC", a_restart_is_believed_when_the_bmc_was_away_and_is_back,
	no_power_action_begins_while_the_bmc_restarts,
	a_bmc_restarts_for_all_its_machines, only_who_has_the_bmc_waits_for_its_restart,
	a_boot_may_restart_the_bmc_first, a_boot_goes_on_without_the_restart,
	a_report_is_passed_on)
