/* SPDX-License-Identifier: Apache-2.0 */
/* The item `switches`: what its child says, and that one that hangs or crashes costs
 * the agent its deadline at most. The walk itself is a stand-in. */
#include "agent/switches.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "checks/audit/ibfabric.h"
#include "tests/support/unit.h"

json_t *__wrap_bu_ib_fabric_read_of(const struct bu_work_rail *rail,
				    const json_t *names, int64_t limit_ms,
				    struct bu_err *err);

/* Says what it was asked; "hang" and "crash" are ports that do so. */
json_t *
__wrap_bu_ib_fabric_read_of(const struct bu_work_rail *rail, const json_t *names,
			    int64_t limit_ms, struct bu_err *err)
{
	if (strcmp(rail->port, "hang") == 0)
		sleep(60);
	if (strcmp(rail->port, "crash") == 0)
		abort();
	if (strcmp(rail->port, "none") == 0) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "no such port");
		return NULL;
	}
	return json_pack("{s:[{s:s,s:I,s:i}]}", "ports", "switch", rail->port, "limit",
			 (json_int_t)limit_ms, "names", (int)json_object_size(names));
}

static json_t *
item_of(const char *port, int64_t deadline_ms)
{
	return json_pack("{s:s,s:s,s:i,s:{s:s},s:{s:b,s:b},s:I}", "kind", "switches",
			 "id", "s-1", "attempt", 1, "rail", "port", port, "names",
			 "leaf01", 1, "s1", 1, "deadline_ms", (json_int_t)deadline_ms);
}

static int
do_item(const char *port, int64_t deadline_ms, json_t **ret, struct bu_err *err)
{
	bu_autojson json_t *item = item_of(port, deadline_ms);
	struct bu_uplink link = {.identity = NULL};

	*ret = NULL;
	err->kind = BU_ERR_NONE;
	return bu_agent_switches(&link, item, ret, err);
}

START_TEST(a_child_reads)
{
	bu_autojson json_t *result = NULL;
	struct bu_err err = {0};
	const json_t *port;

	ck_assert_int_eq(do_item("mlx5_0/1", 30000, &result, &err), 0);
	port = json_array_get(json_object_get(result, "ports"), 0);
	ck_assert_str_eq(bu_json_str(port, "switch", ""), "mlx5_0/1");
	ck_assert_int_eq(bu_json_int(port, "names", 0), 2);
	/* Before the agent gives it up it ends by itself. */
	ck_assert_int_eq(bu_json_int(port, "limit", 0), 28000);
}
END_TEST

START_TEST(its_error_is_told)
{
	struct bu_err err = {0};
	json_t *result;

	ck_assert_int_eq(do_item("none", 30000, &result, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_NOTFOUND);
	ck_assert_str_eq(err.text, "no such port");
	ck_assert_ptr_null(result);
}
END_TEST

START_TEST(one_that_hangs_or_crashes_costs_its_result_alone)
{
	int64_t since_ms = bu_mono_ms(bu_clock_system());
	struct bu_err err = {0};
	json_t *result;

	ck_assert_int_eq(do_item("hang", 500, &result, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_TIMEOUT);
	ck_assert_str_eq(err.text, "port hang: its driver does not answer");
	ck_assert_int_ge(bu_mono_ms(bu_clock_system()) - since_ms, 500);
	ck_assert_int_lt(bu_mono_ms(bu_clock_system()) - since_ms, 30000);
	ck_assert_int_eq(do_item("crash", 30000, &result, &err), -1);
	ck_assert_ptr_nonnull(strstr(err.text, "port crash: "));
	ck_assert_ptr_null(result);
	result = NULL;
	ck_assert_int_eq(do_item("mlx5_0/1", 30000, &result, &err), 0);
	json_decref(result);
}
END_TEST

START_TEST(what_is_no_item_is_refused)
{
	bu_autojson json_t *item = item_of("mlx5_0/1", 30000);
	struct bu_uplink link = {.identity = NULL};
	struct bu_err err = {0};
	json_t *result = NULL;

	json_object_del(item, "names");
	ck_assert_int_eq(bu_agent_switches(&link, item, &result, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "names"));
	ck_assert_ptr_null(result);
}
END_TEST

BU_UNIT("switches", a_child_reads, its_error_is_told,
	one_that_hangs_or_crashes_costs_its_result_alone, what_is_no_item_is_refused)
