/* SPDX-License-Identifier: Apache-2.0 */
/* Work items of probes over a stand-in for libibverbs of which each call may hang or
 * crash: what becomes of that rail, of the other one, and of the next item. */
#include "agent/prober.h"

#include <infiniband/verbs.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "model/result.h"
#include "tests/support/fakeverbs.h"
#include "tests/support/unit.h"

#undef ibv_reg_mr

enum { DEADLINE_MS = 2000, GRACE_MS = 200 };

/* --- in the way of the linker's --wrap --- */

static const char *bad_call, *bad_device; /* for children that are made from now on */
static int crashes;
static char opened[64];

static void
on_call(const char *name)
{
	if (!bad_call || strcmp(name, bad_call) != 0 || strcmp(opened, bad_device) != 0)
		return;
	if (crashes)
		raise(SIGSEGV);
	for (;;)
		pause();
}

#define CALL(type, name, takes, passes)                                                \
	type __real_##name takes;                                                      \
	type __wrap_##name takes;                                                      \
	type __wrap_##name takes                                                       \
	{                                                                              \
		on_call(#name);                                                        \
		return __real_##name passes;                                           \
	}
CALL(struct ibv_pd *, ibv_alloc_pd, (struct ibv_context * context), (context))
CALL(struct ibv_mr *, ibv_reg_mr, (struct ibv_pd * pd, void *at, size_t size, int how),
     (pd, at, size, how))
CALL(struct ibv_mr *, ibv_reg_mr_iova2,
     (struct ibv_pd * pd, void *at, size_t size, uint64_t iova, unsigned how),
     (pd, at, size, iova, how))
CALL(struct ibv_comp_channel *, ibv_create_comp_channel, (struct ibv_context * context),
     (context))
CALL(struct ibv_cq *, ibv_create_cq,
     (struct ibv_context * context, int size, void *arg,
      struct ibv_comp_channel *channel, int vector),
     (context, size, arg, channel, vector))
CALL(struct ibv_qp *, ibv_create_qp,
     (struct ibv_pd * pd, struct ibv_qp_init_attr *init), (pd, init))
CALL(int, ibv_modify_qp, (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask),
     (qp, attr, mask))
CALL(int, ibv_destroy_qp, (struct ibv_qp * qp), (qp))

static int (*poll_cq)(struct ibv_cq *cq, int max, struct ibv_wc *wc);
static int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			struct ibv_send_wr **bad);

static int
wrap_poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wc)
{
	on_call("ibv_poll_cq");
	return poll_cq(cq, max, wc);
}

static int
wrap_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	on_call("ibv_post_send");
	return post_send(qp, wr, bad);
}

struct ibv_context *__real_ibv_open_device(struct ibv_device *device);
struct ibv_context *__wrap_ibv_open_device(struct ibv_device *device);
struct ibv_context *
__wrap_ibv_open_device(struct ibv_device *device)
{
	struct ibv_context *context;

	strcpy(opened, ibv_get_device_name(device));
	on_call("ibv_open_device");
	context = __real_ibv_open_device(device);
	poll_cq = context->ops.poll_cq;
	post_send = context->ops.post_send;
	context->ops.poll_cq = wrap_poll_cq;
	context->ops.post_send = wrap_post_send;
	return context;
}

/* --- the tests --- */

/* Each rail's adapter sends to itself: fake0 and fake2. */
static json_t *
make_item(void)
{
	json_t *item = json_pack(
		"{s:s, s:s, s:i, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:[{s:s, s:s, "
		"s:s}, {s:s, s:s, s:s}]}",
		"kind", "probe", "id", "w1", "attempt", 1, "probe", "p1", "role",
		"loopback", "a", "node001", "message_bytes", 4096, "bytes", 64 * 4096,
		"runs", 2, "pings", 0, "deadline_ms", DEADLINE_MS, "rails", "rail",
		"fabric0", "port", "fake0", "address", "127.0.0.1", "rail", "fabric1",
		"port", "fake2", "address", "127.0.0.3");

	ck_assert_ptr_nonnull(item);
	return item;
}

static struct bu_pair_result
rail_of(const json_t *result, size_t rail)
{
	const json_t *rails = json_object_get(result, "rails");
	struct bu_pair_result one;
	struct bu_err err = {.text = ""};

	ck_assert_uint_eq(json_array_size(rails), 2);
	ck_assert_msg(
		bu_pair_result_from_json(json_array_get(rails, rail), &one, &err) == 0,
		"%s", err.text);
	return one;
}

static void
is_good(const struct bu_pair_result *result, const char *device, const char *call)
{
	ck_assert_msg(result->error.kind == BU_ERR_NONE, "%s: %s", call,
		      result->error.text);
	ck_assert_str_eq(result->end[0].device, device);
	for (int i = 0; i < 2; i++)
		ck_assert_msg(result->dir[i].error.kind == BU_ERR_NONE &&
				      result->dir[i].runs == 2,
			      "%s: %s", call, result->dir[i].error.text);
}

static json_t *
run(struct bu_prober *prober, const json_t *item)
{
	json_t *result = NULL;
	struct bu_err err = {.text = ""};

	ck_assert_msg(bu_prober_run(prober, item, &result, &err) == 0, "%s", err.text);
	return result;
}

static const char *const calls[] = {
	"ibv_open_device", "ibv_alloc_pd",  "ibv_reg_mr",    "ibv_create_comp_channel",
	"ibv_create_cq",   "ibv_create_qp", "ibv_modify_qp", "ibv_post_send",
	"ibv_poll_cq",     "ibv_destroy_qp"};

/* The stand-in has ibv_reg_mr() by both of its names. */
static void
set_bad(const char *call, const char *device)
{
	bad_call = call && strcmp(call, "ibv_reg_mr") == 0 ? "ibv_reg_mr_iova2" : call;
	bad_device = device;
}

START_TEST(a_call_that_hangs_costs_its_rail_alone)
{
	struct bu_prober prober = {.grace_ms = GRACE_MS};
	bu_autojson json_t *item = make_item();

	for (size_t i = 0; i < BU_LEN(calls); i++) {
		bu_autojson json_t *result = NULL, *after = NULL;
		struct bu_pair_result rail;

		set_bad(calls[i], "fake2");
		result = run(&prober, item);
		rail = rail_of(result, 0);
		is_good(&rail, "fake0", calls[i]);
		rail = rail_of(result, 1);
		ck_assert_msg(rail.error.kind == BU_ERR_TIMEOUT, "%s: %s", calls[i],
			      rail.error.text);
		ck_assert_str_eq(rail.error.text,
				 "the probe on port fake2 of rail fabric1 did not end "
				 "within 2 s");
		ck_assert_str_eq(rail.end[0].rail, "fabric1");
		ck_assert_str_eq(rail.end[0].node, "node001");
		set_bad(NULL, NULL);
		after = run(&prober, item);
		rail = rail_of(after, 1);
		is_good(&rail, "fake2", calls[i]);
		/* Made anew, so that it hangs again. */
		bu_prober_drop(&prober);
	}
}
END_TEST

START_TEST(a_call_that_crashes_costs_its_rail_alone)
{
	struct bu_prober prober = {.grace_ms = GRACE_MS};
	bu_autojson json_t *item = make_item(), *result = NULL;
	struct bu_pair_result rail;

	crashes = 1;
	set_bad("ibv_modify_qp", "fake2");
	result = run(&prober, item);
	crashes = 0;
	set_bad(NULL, NULL);
	rail = rail_of(result, 0);
	is_good(&rail, "fake0", "a crash");
	rail = rail_of(result, 1);
	ck_assert_str_eq(rail.error.text, "the probe on port fake2 of rail fabric1: "
					  "its process died");
	bu_prober_drop(&prober);
}
END_TEST

/* Registering the window costs more than the rest of a set-up: it stays open from one
 * item to the next, in the same processes, and is let go of when they are dropped. */
START_TEST(children_stay_between_probes)
{
	struct bu_prober prober = {.grace_ms = GRACE_MS};
	bu_autojson json_t *item = make_item(), *first = run(&prober, item);
	bu_autojson json_t *second = NULL;
	pid_t pids[2] = {prober.rail[0].pid, prober.rail[1].pid};

	ck_assert_ptr_nonnull(first);
	ck_assert_int_gt(pids[0], 0);
	ck_assert_int_ne(pids[0], pids[1]);
	second = run(&prober, item);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(prober.rail[i].pid, pids[i]);
	bu_prober_drop(&prober);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(prober.rail[i].pid, 0);
		ck_assert_int_eq(kill(pids[i], 0), -1);
	}
}
END_TEST

static int asked;

static int
at_third(void *arg)
{
	return ++asked >= 3;
}

START_TEST(an_item_that_is_withdrawn_ends)
{
	struct bu_prober prober = {.grace_ms = GRACE_MS, .cancelled = at_third};
	bu_autojson json_t *item = make_item();
	json_t *result = NULL;
	struct bu_err err = {.text = ""};

	json_object_set_new(item, "deadline_ms", json_integer(3600000));
	set_bad("ibv_poll_cq", "fake2");
	ck_assert_int_eq(bu_prober_run(&prober, item, &result, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
	ck_assert_ptr_null(result);
	ck_assert_int_eq(prober.rail[1].pid, 0);
	set_bad(NULL, NULL);
	bu_prober_drop(&prober);
}
END_TEST

/* The one port of the item has no name of a rail. */
START_TEST(an_item_of_one_port_has_one_result)
{
	struct bu_prober prober = {.grace_ms = GRACE_MS};
	bu_autojson json_t *item = make_item(), *result = NULL;
	json_t *none = NULL;
	struct bu_pair_result one;
	struct bu_err err = {.text = ""};

	json_object_del(item, "rails");
	json_object_set_new(item, "local_ip", json_string("127.0.0.1"));
	result = run(&prober, item);
	ck_assert_int_eq(bu_pair_result_from_json(result, &one, &err), 0);
	is_good(&one, "fake0", "one port");
	json_object_set_new(item, "local_ip", json_string("127.0.0.9"));
	ck_assert_int_eq(bu_prober_run(&prober, item, &none, &err), 0);
	json_decref(none);
	bu_prober_drop(&prober);
	set_bad("ibv_open_device", "fake0");
	none = NULL;
	ck_assert_int_eq(bu_prober_run(&prober, item, &none, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_TIMEOUT);
	ck_assert_msg(strstr(err.text, "127.0.0.9") != NULL, "%s", err.text);
	set_bad(NULL, NULL);
	bu_prober_drop(&prober);
}
END_TEST

BU_UNIT("prober", a_call_that_hangs_costs_its_rail_alone,
	a_call_that_crashes_costs_its_rail_alone, children_stay_between_probes,
	an_item_that_is_withdrawn_ends, an_item_of_one_port_has_one_result)
