/* SPDX-License-Identifier: Apache-2.0 */
/* The Redfish driver against a fake BMC, with times that a test can wait for. */
#ifndef BU_TESTS_SUPPORT_REDFISH_H
#define BU_TESTS_SUPPORT_REDFISH_H

#include <string.h>

#include "base/json.h"
#include "provisioner/power/redfish/redfish.h"
#include "tests/support/hostile.h"
#include "tests/support/quoted.h"
#include "tests/support/unit.h"

static const struct rf_times short_times = {
	.op_ms = 30000,
	.request_ms = 10000,
	.connect_ms = 10000,
	.gap_ms = 0,
	.open_ms = 0,
	.again_ms = 5,
	.settle_ms = 1,
	.hush_ms = 50,
	.logout_ms = 1050,
	.tree_ms = 60000,
};

struct rig {
	struct bu_clock clock;
	int made; /* its time */
	struct bu_loop *loop;
	void *driver;
	struct hostile_bmc *bmc;
	char *url;
	struct bu_power_request request;
	/* of the last operation */
	int done;
	struct bu_power_answer answer;
	json_t *report; /* of the last one that had one */
	struct bu_err err;
};

static inline void
rig_on_loop(struct rig *rig, const char *shape, int habits,
	    const struct rf_times *times, struct bu_loop *loop)
{
	rig->loop = loop;
	rig->driver = rf_open(rig->loop, times);
	rig->bmc = hostile_create(hostile_shape(shape), habits, 0);
	rig->url = bu_xstrdup(hostile_url(rig->bmc));
	rig->request.target.user = "root";
	rig->request.target.password = "calvin";
}

static inline void
rig_times(struct rig *rig, const char *shape, int habits, const struct rf_times *times)
{
	memset(rig, 0, sizeof(*rig));
	rig_on_loop(rig, shape, habits, times, bu_loop_create(NULL));
}

/* Time goes on with the steps of the loop, not before: a pause of seconds takes none.
 * A busy machine's answers may take some of it; what a test demands is a least. */
static inline void
rig_made(struct rig *rig, const char *shape, int habits, const struct rf_times *times)
{
	memset(rig, 0, sizeof(*rig));
	rig->made = 1;
	bu_clock_fake(&rig->clock, 0);
	rig_on_loop(rig, shape, habits, times, bu_loop_create(&rig->clock));
}

static inline void
rig_step(struct rig *rig)
{
	if (rig->made)
		bu_clock_advance(&rig->clock, 50);
	bu_loop_step(rig->loop, rig->made ? 1 : 10);
}

static inline void
rig_begin(struct rig *rig, const char *shape, int habits)
{
	rig_times(rig, shape, habits, &short_times);
}

/* Whatever happened, no session is left open. */
static inline void
rig_end(struct rig *rig)
{
	if (rig->driver)
		bu_power_redfish.close(rig->driver);
	ck_assert_int_eq(hostile_sessions(rig->bmc), 0);
	hostile_destroy(rig->bmc);
	bu_loop_destroy(rig->loop);
	json_decref(rig->report);
	free(rig->url);
}

static inline void
rig_on_done(const struct bu_power_answer *answer, const struct bu_err *err, void *arg)
{
	struct rig *rig = arg;

	ck_assert_int_eq(rig->done, 0);
	ck_assert((answer == NULL) == (err != NULL));
	rig->done = 1;
	rig->err = err ? *err : (struct bu_err){0};
	rig->answer = answer ? *answer : (struct bu_power_answer){0};
	if (answer && answer->report) {
		json_decref(rig->report);
		rig->report = json_incref(answer->report);
	}
}

static inline struct bu_power_call *
rig_start(struct rig *rig, enum bu_power_op op)
{
	rig->request.op = op;
	rig->request.target.bmc = rig->url;
	rig->done = 0;
	return bu_power_redfish.start(rig->driver, &rig->request, rig_on_done, rig);
}

/* The kind of its error; BU_ERR_NONE when it was done. */
static inline enum bu_err_kind
rig_do(struct rig *rig, enum bu_power_op op)
{
	rig_start(rig, op);
	for (int i = 0; i < 40000 && !rig->done; i++)
		rig_step(rig);
	ck_assert_msg(rig->done, "the operation does not end");
	return rig->err.kind;
}

/* The loop runs until it is so; a machine may be busy with other things. */
#define rig_until(rig, what)                                                           \
	do {                                                                           \
		for (int i_ = 0; i_ < 3000 && !(what); i_++)                           \
			rig_step(rig);                                                 \
		ck_assert(what);                                                       \
	} while (0)

static inline void
rig_idle(struct rig *rig, int for_ms)
{
	int64_t until_ms = bu_loop_now_ms(rig->loop) + for_ms;

	while (bu_loop_now_ms(rig->loop) < until_ms)
		rig_step(rig);
}

#define rig_ok(rig, op)                                                                \
	ck_assert_msg(rig_do(rig, op) == BU_ERR_NONE, "%s", (rig)->err.text)

/* Its report is what is written here, with ' for ". */
static inline void
rig_report(struct rig *rig, enum bu_power_op op, const char *wanted)
{
	bu_autojson json_t *report = quoted(wanted);
	bu_autofree char *want = bu_json_canonical(report);
	bu_autofree char *got = NULL;

	rig_ok(rig, op);
	got = bu_json_canonical(rig->report);
	ck_assert_str_eq(got, want);
}

/* And its words have this in them. */
static inline void
rig_fails(struct rig *rig, enum bu_power_op op, enum bu_err_kind kind, const char *why)
{
	enum bu_err_kind is = rig_do(rig, op);

	ck_assert_msg(is == kind && strstr(rig->err.text, why), "%d: %s", (int)is,
		      rig->err.text);
}

/* A link of an object of its BMC, to a path. */
static inline void
rig_link(struct rig *rig, const char *object, const char *key, const char *path)
{
	hostile_set(rig->bmc, object, key, json_pack("{s:s}", "@odata.id", path));
}

#endif
