/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of events.json: those that are refused, those that are shipped. */
#include <string.h>

#include "base/json.h"
#include "model/kernel_event.h"
#include "tests/support/unit.h"

START_TEST(the_shipped_rows_are_good)
{
	struct bu_err err = {0};
	bu_autojson json_t *value = bu_json_load(BU_SRCDIR "/data/events.json", &err);
	bu_autojson json_t *rows = bu_kernel_events_wire(value), *row;
	size_t i;

	ck_assert_msg(bu_kernel_events_check(value, &err) == 0, "%s", err.text);
	ck_assert_uint_gt(json_array_size(rows), 150);
	json_array_foreach (rows, i, row)
		ck_assert(!json_object_get(row, "source"));
	ck_assert_int_eq(bu_kernel_events_find(rows, "xid", 46, "").class,
			 BU_KERNEL_RESET);
	ck_assert_int_eq(bu_kernel_events_find(rows, "xid", 69, "").class,
			 BU_KERNEL_JOB);
	ck_assert_int_eq(bu_kernel_events_find(rows, "xid", 92, "").class,
			 BU_KERNEL_IGNORE);
	ck_assert_int_eq(bu_kernel_events_find(rows, "xid", 5000, "").class,
			 BU_KERNEL_UNKNOWN);
	ck_assert_int_eq(bu_kernel_events_find(NULL, "xid", 46, "").class,
			 BU_KERNEL_UNKNOWN);
}
END_TEST

#define GOOD "\"action\":\"x\",\"source\":\"y\",\"date\":\"2026-11-29\"}"

START_TEST(a_row_without_its_origin_is_refused)
{
	static const struct {
		const char *row, *trouble;
	} cases[] = {
		{"{\"of\":\"xid\",\"number\":1,\"class\":\"job\"," GOOD, NULL},
		{"{\"of\":\"cpu\",\"number\":1,\"class\":\"job\"," GOOD, "'of'"},
		{"{\"of\":\"nic\",\"number\":1,\"class\":\"job\"," GOOD, "'number'"},
		{"{\"of\":\"nic\",\"class\":\"job\"," GOOD, "neither"},
		{"{\"of\":\"xid\",\"number\":9,\"to\":3,\"class\":\"job\"," GOOD,
		 "'to'"},
		{"{\"of\":\"xid\",\"number\":1,\"class\":\"note\"," GOOD, "'class'"},
		{"{\"of\":\"xid\",\"number\":1,\"colour\":1,\"class\":\"job\"," GOOD,
		 "unknown field"},
		{"{\"of\":\"xid\",\"number\":1,\"class\":\"job\",\"action\":\"x\","
		 "\"date\":\"2026-11-29\"}",
		 "'source'"},
		{"{\"of\":\"xid\",\"number\":1,\"class\":\"job\",\"action\":\"x\","
		 "\"source\":\"y\",\"date\":\"soon\"}",
		 "'date'"},
		{"{\"of\":\"xid\",\"number\":1,\"class\":\"job\",\"source\":\"y\","
		 "\"date\":\"2026-11-29\"}",
		 "'action'"},
		{"7", "unknown field"},
	};

	for (size_t i = 0; i < BU_LEN(cases); i++) {
		bu_autofree char *text =
			bu_xasprintf("{\"format\":1,\"events\":[%s]}", cases[i].row);
		bu_autojson json_t *value = json_loads(text, 0, NULL);
		struct bu_err err = {0};
		int rc = bu_kernel_events_check(value, &err);

		ck_assert_int_eq(rc, cases[i].trouble ? -1 : 0);
		ck_assert_msg(!cases[i].trouble || strstr(err.text, cases[i].trouble),
			      "%s", err.text);
	}
	ck_assert_int_eq(bu_kernel_events_check(NULL, NULL), -1);
}
END_TEST

START_TEST(parts_of_a_pattern_come_in_their_order)
{
	ck_assert(bu_kernel_event_fits("", "anything"));
	ck_assert(bu_kernel_event_fits("mlx5*timeout", "x mlx5_core 1: TX timeout y"));
	ck_assert(!bu_kernel_event_fits("timeout*mlx5", "x mlx5_core 1: TX timeout y"));
	ck_assert(bu_kernel_event_fits("a**b*", "a b"));
	ck_assert(!bu_kernel_event_fits("aa*a", "aa"));
}
END_TEST

BU_UNIT("kernel-event", the_shipped_rows_are_good, a_row_without_its_origin_is_refused,
	parts_of_a_pattern_come_in_their_order)
