/* SPDX-License-Identifier: Apache-2.0 */
/* The Redfish driver against a fake BMC, with times that a test can wait for. */
#ifndef BU_TESTS_SUPPORT_REDFISH_H
#define BU_TESTS_SUPPORT_REDFISH_H

#include <string.h>

#include "provisioner/power/redfish/redfish.h"
#include "tests/support/hostile.h"
#include "tests/support/unit.h"

static const struct rf_times short_times = {
	.op_ms = 30000,
	.request_ms = 10000,
	.connect_ms = 10000,
	.gap_ms = 1,
	.open_ms = 1,
	.again_ms = 20,
	.settle_ms = 5,
	.hush_ms = 50,
	.logout_ms = 1050,
	.tree_ms = 60000,
};

struct rig {
	struct bu_loop *loop;
	void *driver;
	struct hostile_bmc *bmc;
	char *url;
	struct bu_power_request request;
	/* of the last operation */
	int done;
	struct bu_power_answer answer;
	struct bu_err err;
};

static inline void
rig_times(struct rig *rig, const char *shape, int habits, const struct rf_times *times)
{
	memset(rig, 0, sizeof(*rig));
	rig->loop = bu_loop_create(NULL);
	rig->driver = rf_open(rig->loop, times);
	rig->bmc = hostile_create(hostile_shape(shape), habits, 0);
	rig->url = bu_xstrdup(hostile_url(rig->bmc));
	rig->request.target.user = "root";
	rig->request.target.password = "calvin";
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
	for (int i = 0; i < 4000 && !rig->done; i++)
		bu_loop_step(rig->loop, 10);
	ck_assert_msg(rig->done, "the operation does not end");
	return rig->err.kind;
}

/* The loop runs until it is so; a machine may be busy with other things. */
#define rig_until(rig, what)                                                           \
	do {                                                                           \
		for (int i_ = 0; i_ < 3000 && !(what); i_++)                           \
			bu_loop_step((rig)->loop, 10);                                 \
		ck_assert(what);                                                       \
	} while (0)

static inline void
rig_idle(struct rig *rig, int for_ms)
{
	int64_t until_ms = bu_loop_now_ms(rig->loop) + for_ms;

	while (bu_loop_now_ms(rig->loop) < until_ms)
		bu_loop_step(rig->loop, 10);
}

#define rig_ok(rig, op)                                                                \
	ck_assert_msg(rig_do(rig, op) == BU_ERR_NONE, "%s", (rig)->err.text)

#endif
