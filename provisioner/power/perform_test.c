/* SPDX-License-Identifier: Apache-2.0 */
/* Fake machines that note what was done to them, in order; time is made. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "provisioner/power/perform.h"
#include "tests/support/unit.h"

enum { MACHINES = 3, ANSWER_MS = 5 };

struct bu_power_call {
	struct bu_timer *timer; /* NULL: it never answers */
	const struct bu_power_request *request;
	bu_power_done_fn fn;
	void *arg;
};

struct paper {
	enum bu_power_state state;
	int looks_until_off; /* goes off by itself after so many looks; 0 = never */
	int refuses_off;
	int silent;     /* its BMC says nothing about its power */
	int deaf_looks; /* and after a switch for so many looks */
	int at_once;    /* the driver's library blocks */
	int hangs;      /* no call is ever answered */
	int cancelled;
	int nameless; /* its BMC cannot be asked whose it is */
	struct bu_machine machine;
	struct bu_power_request order; /* the last one that changed something */
	char done[128];
	struct bu_loop *loop;
};

/* The machines "t0", "t1", ...; the others are the first one. */
static struct paper *
paper_of(void *self, const char *bmc)
{
	struct paper *papers = self;
	int which = bmc[0] == 't' && bmc[1] >= '0' && bmc[1] < '0' + MACHINES
			    ? bmc[1] - '0'
			    : 0;

	return &papers[which];
}

static int
carry_out(struct paper *paper, const struct bu_power_request *request,
	  struct bu_power_answer *ret, struct bu_err *err)
{
	const char *bmc = request->target.bmc;

	switch (request->op) {
	case BU_POWER_STATUS:
		if (paper->silent || (*paper->done && paper->deaf_looks-- > 0))
			return bu_err_set(err, BU_ERR_REMOTE, 0, "%s: no session", bmc);
		if (paper->looks_until_off && --paper->looks_until_off == 0)
			paper->state = BU_POWER_OFF;
		ret->state = paper->state;
		return 0;
	case BU_POWER_IDENTITY:
		strcat(paper->done, "who ");
		if (paper->nameless)
			return bu_err_set(err, BU_ERR_REMOTE, 0, "%s: no FRU", bmc);
		ret->machine = paper->machine;
		return 0;
	case BU_POWER_BOOT_FIRST:
		paper->order = *request;
		strcat(paper->done,
		       request->first == BU_BOOT_DISK ? "disk " : "network ");
		return 0;
	case BU_POWER_SWITCH_ON:
		ck_assert_int_eq(paper->state, BU_POWER_OFF);
		paper->state = BU_POWER_ON;
		strcat(paper->done, "on ");
		return 0;
	case BU_POWER_SWITCH_OFF:
		strcat(paper->done, "off ");
		if (paper->refuses_off)
			return bu_err_set(err, BU_ERR_REMOTE, 0, "power off %s: stuck",
					  bmc);
		paper->state = BU_POWER_OFF;
		return 0;
	default:
		ck_abort_msg("operation %d", (int)request->op);
	}
}

static void
answer_now(struct paper *paper, const struct bu_power_request *request,
	   bu_power_done_fn fn, void *arg)
{
	struct bu_power_answer answer = {0};
	struct bu_err err = {0};
	int rc = carry_out(paper, request, &answer, &err);

	fn(rc == 0 ? &answer : NULL, rc == 0 ? NULL : &err, arg);
}

static struct paper *the_papers;

static void
on_due(void *arg)
{
	struct bu_power_call *call = arg, due = *call;

	bu_timer_destroy(call->timer);
	free(call);
	answer_now(paper_of(the_papers, due.request->target.bmc), due.request, due.fn,
		   due.arg);
}

static struct bu_power_call *
paper_start(void *self, const struct bu_power_request *request, bu_power_done_fn fn,
	    void *arg)
{
	struct paper *paper = paper_of(self, request->target.bmc);
	struct bu_power_call *call;

	if (paper->at_once) {
		answer_now(paper, request, fn, arg);
		return NULL;
	}
	call = bu_xcalloc(1, sizeof(*call));
	call->request = request;
	call->fn = fn;
	call->arg = arg;
	call->timer = bu_timer_create(((struct paper *)self)->loop, on_due, call);
	if (!paper->hangs)
		bu_timer_set(call->timer, ANSWER_MS);
	return call;
}

static void
paper_cancel(void *self, struct bu_power_call *call)
{
	paper_of(self, call->request->target.bmc)->cancelled++;
	bu_timer_destroy(call->timer);
	free(call);
}

static const struct bu_power_driver driver = {
	.name = "paper",
	.start = paper_start,
	.cancel = paper_cancel,
};

/* Some requests at once, and how each ended. */
struct site {
	struct bu_clock clock;
	struct bu_loop *loop;
	struct bu_performer *performer;
};

struct answer {
	struct site *site;
	int64_t at_ms; /* 0 = none yet */
	int failed;
	struct bu_err err;
	char power[16], identity[80];
	int64_t started_ms;
};

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct answer *answer = arg;

	ck_assert_int_eq(answer->at_ms, 0);
	ck_assert((reply != NULL) != (err != NULL));
	answer->at_ms = bu_loop_now_ms(answer->site->loop) + 1;
	answer->failed = err != NULL;
	if (err)
		answer->err = *err;
	snprintf(answer->power, sizeof(answer->power), "%s",
		 bu_json_str(reply, "power", ""));
	snprintf(answer->identity, sizeof(answer->identity), "%s",
		 bu_json_str(reply, "identity", bu_json_str(reply, "differs", "")));
	answer->started_ms = bu_json_int(reply, "started_ms", 0);
}

static void
begin(struct site *site, struct paper *papers)
{
	bu_clock_fake(&site->clock, 0);
	site->clock.fake_mono_ms = 0;
	site->loop = bu_loop_create(&site->clock);
	papers[0].loop = site->loop;
	the_papers = papers;
	site->performer = bu_performer_create(site->loop, &driver, papers);
}

static void
finish(struct site *site)
{
	bu_performer_destroy(site->performer);
	bu_loop_destroy(site->loop);
}

/* request is stolen. */
static void
ask(struct site *site, json_t *request, struct answer *ret)
{
	*ret = (struct answer){.site = site};
	bu_perform(site->performer, request, on_reply, ret);
	json_decref(request);
}

static void
until_answered(struct site *site, const struct answer *answer)
{
	for (int i = 0; i < 1000000 && !answer->at_ms; i++) {
		bu_clock_advance(&site->clock, 1);
		bu_loop_step(site->loop, 0);
	}
	ck_assert_int_ne(answer->at_ms, 0);
}

static int64_t took_ms, started_ms;
static char identity[80];

static int
perform(struct paper *paper, json_t *request, struct bu_err *err)
{
	struct paper papers[MACHINES] = {*paper};
	struct site site;
	struct answer answer;

	begin(&site, papers);
	ask(&site, request, &answer);
	until_answered(&site, &answer);
	finish(&site);
	*paper = papers[0];
	took_ms = answer.at_ms;
	started_ms = answer.started_ms;
	strcpy(identity, answer.identity);
	if (err)
		*err = answer.err;
	return answer.failed ? -1 : 0;
}

static int
boot_within(struct paper *paper, const char *order, int wait_off_ms, int within_ms,
	    struct bu_err *err)
{
	return perform(paper,
		       json_pack("{s:s,s:s,s:s,s:i,s:i,s:b}", "op", "boot", "target",
				 "t", "first", order, "wait_off_ms", wait_off_ms,
				 "until_ms", within_ms, "reset", 1),
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

START_TEST(a_machine_is_cycled_or_switched_on_in_this_order)
{
	struct paper paper = {.state = BU_POWER_ON};

	ck_assert_int_eq(boot(&paper, "network", 0, NULL), 0);
	ck_assert_str_eq(paper.done, "off network on ");
	/* from the order, and not from what was seen of it */
	ck_assert(started_ms > ANSWER_MS && started_ms < took_ms - 3 * ANSWER_MS);
	paper = (struct paper){.state = BU_POWER_OFF};
	ck_assert_int_eq(boot(&paper, "disk", 0, NULL), 0);
	ck_assert_str_eq(paper.done, "disk on ");
}
END_TEST

START_TEST(one_that_goes_off_by_itself_is_waited_for)
{
	struct paper paper = {.state = BU_POWER_ON, .looks_until_off = 3};

	ck_assert_int_eq(boot(&paper, "disk", 60000, NULL), 0);
	ck_assert_str_eq(paper.done, "disk on ");
	/* Its BMC is asked four times a second, and not without a pause. */
	ck_assert_int_ge(took_ms, 2 * 250);
	ck_assert_int_le(took_ms, 2 * 250 + 100);
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
	struct paper paper = {.state = BU_POWER_ON}, is_off = {.state = BU_POWER_OFF};
	struct bu_err err = {0};

	ck_assert_int_eq(boot_within(&paper, "network", 0, -1, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
	/* at its last moment it is */
	ck_assert_int_eq(perform(&is_off,
				 json_pack("{s:s,s:s,s:i}", "op", "status", "target",
					   "t", "until_ms", 0),
				 &err),
			 0);
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

/* The second machine does not wait for the first one, which goes off by itself in its
 * own time; nor does whoever only looks. */
START_TEST(machines_of_one_connection_go_on_side_by_side)
{
	struct paper papers[MACHINES] = {
		{.state = BU_POWER_ON, .looks_until_off = 100},
		{.state = BU_POWER_OFF},
	};
	struct site site;
	struct answer slow, quick, look;

	begin(&site, papers);
	ask(&site,
	    json_pack("{s:s,s:s,s:s,s:i}", "op", "boot", "target", "t0", "first",
		      "disk", "wait_off_ms", 600000),
	    &slow);
	ask(&site,
	    json_pack("{s:s,s:s,s:s}", "op", "boot", "target", "t1", "first",
		      "network"),
	    &quick);
	ask(&site, json_pack("{s:s,s:s}", "op", "status", "target", "t0"), &look);
	until_answered(&site, &quick);
	until_answered(&site, &look);
	ck_assert_int_eq(quick.failed, 0);
	ck_assert_str_eq(papers[1].done, "network on ");
	ck_assert_str_eq(look.power, "on");
	ck_assert_int_eq(slow.at_ms, 0);
	ck_assert_int_le(look.at_ms, 1000);
	until_answered(&site, &slow);
	ck_assert_str_eq(papers[0].done, "disk on ");
	finish(&site);
}
END_TEST

/* And one that waits for its turn too long is not begun. */
START_TEST(one_machine_is_changed_by_one_request_at_a_time)
{
	struct paper papers[MACHINES] = {{.state = BU_POWER_ON, .looks_until_off = 20}};
	struct site site;
	struct answer first, second, late;

	begin(&site, papers);
	ask(&site,
	    json_pack("{s:s,s:s,s:s,s:i}", "op", "boot", "target", "t0", "first",
		      "disk", "wait_off_ms", 600000),
	    &first);
	ask(&site, json_pack("{s:s,s:s}", "op", "off", "target", "t0"), &second);
	ask(&site,
	    json_pack("{s:s,s:s,s:i}", "op", "on", "target", "t0", "until_ms", 1000),
	    &late);
	until_answered(&site, &late);
	ck_assert_int_eq(late.err.kind, BU_ERR_CANCELLED);
	ck_assert_int_eq(first.at_ms, 0);
	ck_assert_str_eq(papers[0].done, "");
	until_answered(&site, &second);
	ck_assert_int_lt(first.at_ms, second.at_ms);
	ck_assert_str_eq(papers[0].done, "disk on off ");
	finish(&site);
}
END_TEST

START_TEST(a_call_without_an_answer_is_taken_back)
{
	struct paper papers[MACHINES] = {{.state = BU_POWER_ON, .hangs = 1},
					 {.state = BU_POWER_OFF}};
	struct site site;
	struct answer hung, other;

	begin(&site, papers);
	ask(&site, json_pack("{s:s,s:s}", "op", "off", "target", "t0"), &hung);
	ask(&site, json_pack("{s:s,s:s}", "op", "on", "target", "t1"), &other);
	until_answered(&site, &other);
	ck_assert_int_eq(other.failed, 0);
	ck_assert_int_eq(papers[0].cancelled, 0);
	until_answered(&site, &hung);
	ck_assert_int_eq(hung.err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(hung.err.text, "t0: no answer in 120 s");
	ck_assert_int_eq(papers[0].cancelled, 1);
	ck_assert_str_eq(papers[0].done, "");
	/* and at the end what is under way is taken back without an answer */
	ask(&site, json_pack("{s:s,s:s}", "op", "off", "target", "t0"), &hung);
	finish(&site);
	ck_assert_int_eq(papers[0].cancelled, 2);
	ck_assert_int_eq(hung.at_ms, 0);
}
END_TEST

START_TEST(a_driver_may_finish_at_once)
{
	struct paper paper = {.state = BU_POWER_ON, .at_once = 1};

	ck_assert_int_eq(boot(&paper, "network", 0, NULL), 0);
	ck_assert_str_eq(paper.done, "off network on ");
}
END_TEST

/* Only what it says afterwards counts. */
START_TEST(a_bmc_may_be_silent_after_a_switch)
{
	struct paper paper = {.state = BU_POWER_ON, .deaf_looks = 3};
	struct paper deaf = {.state = BU_POWER_ON, .deaf_looks = 100000};
	struct bu_err err = {0};

	ck_assert_int_eq(boot(&paper, "network", 0, NULL), 0);
	ck_assert_str_eq(paper.done, "off network on ");
	ck_assert_int_eq(boot(&deaf, "network", 0, &err), -1);
	ck_assert_str_eq(err.text, "t: no session");
	ck_assert_str_eq(deaf.done, "off ");
}
END_TEST

static json_t *
expecting(const char *op)
{
	return json_pack("{s:s,s:s,s:s,s:b,s:s,s:{s:s,s:s,s:[s]}}", "op", op, "target",
			 "t", "first", "network", "reset", 1, "mode", "uefi", "machine",
			 "serial", "LAB-001", "uuid", "", "macs", "52:54:00:77:00:01");
}

/* Somebody put another machine into the bay, or swapped two BMCs' cables. */
START_TEST(behind_another_machines_bmc_nothing_is_switched)
{
	static const char *const ops[] = {"boot", "on", "off"};
	static const enum bu_power_state states[] = {BU_POWER_OFF, BU_POWER_ON};

	for (size_t i = 0; i < BU_LEN(ops) * BU_LEN(states); i++) {
		const char *op = ops[i / 2];
		struct paper paper = {.state = states[i % 2],
				      .machine = {.serial = "LAB-002"}};
		struct bu_err err = {0};
		int there = strcmp(op, bu_power_state_name(paper.state)) == 0;

		/* whoever is there already is left alone, and not asked */
		ck_assert_int_eq(perform(&paper, expecting(op), &err), there ? 0 : -1);
		ck_assert_str_eq(paper.done, there ? "" : "who ");
		ck_assert_int_eq(paper.state, states[i % 2]);
		if (there)
			continue;
		ck_assert_int_eq(err.kind, BU_ERR_FOREIGN);
		ck_assert_str_eq(err.text,
				 "t is the BMC of another machine: it says serial "
				 "LAB-002, expected is serial LAB-001, MAC "
				 "52:54:00:77:00:01");
	}
}
END_TEST

START_TEST(its_own_machine_is_asked_once_and_switched)
{
	struct paper paper = {.state = BU_POWER_ON, .machine = {.serial = "CN12"}};

	bu_machine_add_mac(&paper.machine, "52:54:00:77:00:01");
	ck_assert_int_eq(perform(&paper, expecting("boot"), NULL), 0);
	ck_assert_str_eq(paper.done, "who off network on ");
	ck_assert_str_eq(identity, "serial number 'CN12', expected is 'LAB-001'");
	ck_assert_int_eq(paper.order.mode, BU_BOOT_MODE_UEFI);
}
END_TEST

/* It says nothing, or nothing that can be compared: it is switched, and that is said.
 * One that cannot even be asked is no "nothing". */
START_TEST(a_bmc_that_cannot_say_whose_it_is_is_not_refused)
{
	struct paper silent = {.state = BU_POWER_ON};
	struct paper other = {
		.state = BU_POWER_OFF,
		.machine = {.serial = "To Be Filled By O.E.M.",
			    .uuid = "5f0c6d0e-0000-4000-8000-000000000001"}};
	struct paper broken = {.state = BU_POWER_ON, .nameless = 1};
	struct bu_err err = {0};

	ck_assert_int_eq(perform(&silent, expecting("off"), NULL), 0);
	ck_assert_str_eq(silent.done, "who off ");
	ck_assert_str_eq(identity, "unsaid");
	ck_assert_int_eq(perform(&other, expecting("on"), NULL), 0);
	ck_assert_str_eq(identity, "unsaid");
	ck_assert_int_eq(perform(&broken, expecting("off"), &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	ck_assert_str_eq(broken.done, "who ");
}
END_TEST

BU_UNIT("perform", behind_another_machines_bmc_nothing_is_switched,
	its_own_machine_is_asked_once_and_switched,
	a_bmc_that_cannot_say_whose_it_is_is_not_refused,
	a_switch_goes_from_the_other_state_alone, a_silent_bmc_is_no_answer,
	what_nobody_waits_for_is_not_begun,
	a_machine_is_cycled_or_switched_on_in_this_order,
	without_a_grant_a_machine_that_is_on_stays_on,
	one_that_goes_off_by_itself_is_waited_for, unknown_is_not_off,
	a_strange_request_does_nothing, machines_of_one_connection_go_on_side_by_side,
	one_machine_is_changed_by_one_request_at_a_time,
	a_call_without_an_answer_is_taken_back, a_driver_may_finish_at_once,
	a_bmc_may_be_silent_after_a_switch)
