/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event logs, sensors, firmware and the BMC's restart: the driver against the strict
 * virtual BMC in the shapes of six vendors; both are in this process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "provisioner/power/perform.h"
#include "tests/support/redfish_lab.h"

static const json_t *
event(const struct bench *bench, size_t i)
{
	return json_array_get(json_object_get(bench->report, "events"), i);
}

static size_t
events(const struct bench *bench)
{
	return json_array_size(json_object_get(bench->report, "events"));
}

static const char *const trees[] = {"dell", "dgx",    "gb200",
				    "hpe",  "lenovo", "supermicro"};

/* Of the machine and in their order, in each vendor's shape; what the BMC's own
 * software writes to its journal is no event. */
START_TEST(each_tree_tells_its_events)
{
	for (size_t i = 0; i < BU_LEN(trees); i++) {
		struct bench bench;

		begin_bench(&bench, trees[i]);
		set_fault(&bench, "log=3");
		ok(&bench, BU_POWER_SWITCH_ON);
		ok(&bench, BU_POWER_EVENTS);
		ck_assert_msg(events(&bench) == 4, "%s: %zu", trees[i], events(&bench));
		ck_assert_str_eq(bu_json_str(event(&bench, 0), "text", ""),
				 "Correctable error, DIMM A1");
		ck_assert_str_eq(bu_json_str(event(&bench, 0), "severity", ""),
				 "warning");
		ck_assert_str_eq(bu_json_str(event(&bench, 3), "text", ""),
				 "The system was switched on");
		ck_assert_int_eq(bu_json_bool(bench.report, "more", 1), 0);
		ck_assert_int_eq(bu_json_bool(bench.report, "full", 1), 0);
		/* since two and a half minutes ago: two old ones and the new one */
		bench.request.since_ms =
			bu_wall_ms(bu_loop_clock(bench.loop)) - 150 * 1000;
		ok(&bench, BU_POWER_EVENTS);
		ck_assert_msg(events(&bench) == 3, "%s: %zu", trees[i], events(&bench));
		finish_bench(&bench);
	}
}
END_TEST

/* Paged, unpaged and as links: the newest are found without reading all of it, which
 * would take longer than an operation may. */
START_TEST(ten_thousand_entries_are_not_read_one_by_one)
{
	/* the others page as Supermicro does */
	static const char *const shapes[] = {"dell", "supermicro", "lenovo", "hpe"};

	for (size_t i = 0; i < BU_LEN(shapes); i++) {
		size_t most = strcmp(shapes[i], "hpe") == 0 ? 40 : 100;
		struct bench bench;
		char first[64];

		begin_bench(&bench, shapes[i]);
		/* of two hundred pages it would read half */
		close_driver(&bench);
		bench.driver = open_driver(bench.loop, 50, 12000);
		set_fault(&bench, "log=10000");
		ok(&bench, BU_POWER_EVENTS);
		ck_assert_msg(events(&bench) == most, "%s: %zu", shapes[i],
			      events(&bench));
		ck_assert_str_eq(bu_json_str(event(&bench, most - 1), "text", ""),
				 "Correctable error, DIMM A10000");
		snprintf(first, sizeof(first), "Correctable error, DIMM A%d",
			 (int)(10001 - most));
		ck_assert_str_eq(bu_json_str(event(&bench, 0), "text", ""), first);
		finish_bench(&bench);
	}
}
END_TEST

START_TEST(a_full_log_is_named)
{
	struct bench bench;

	begin_bench(&bench, "dell");
	set_fault(&bench, "log=2000");
	set_fault(&bench, "log-full");
	ok(&bench, BU_POWER_EVENTS);
	ck_assert_int_eq(bu_json_bool(bench.report, "full", 0), 1);
	finish_bench(&bench);
}
END_TEST

/* A day ahead: what happened now is not of tomorrow. */
START_TEST(a_bmcs_clock_does_not_move_its_events)
{
	struct bench bench;
	int64_t at_ms, now_ms;

	begin_bench(&bench, "gb200");
	set_fault(&bench, "clock=86400");
	ok(&bench, BU_POWER_SWITCH_ON);
	now_ms = bu_wall_ms(bu_loop_clock(bench.loop));
	bench.request.since_ms = now_ms - 60000;
	ok(&bench, BU_POWER_EVENTS);
	ck_assert_uint_eq(events(&bench), 1);
	at_ms = bu_json_int(event(&bench, 0), "at_ms", 0);
	ck_assert_int_le(at_ms, now_ms + 5000);
	ck_assert_int_ge(at_ms, now_ms - 5000);
	finish_bench(&bench);
}
END_TEST

/* Once, also where a tree tells it in the old way and in the new one, as Dell's does.
 */
static const json_t *
sensor(const struct bench *bench, const char *name)
{
	const json_t *one, *found = NULL;
	size_t i;

	json_array_foreach (json_object_get(bench->report, "sensors"), i, one)
		if (strcmp(bu_json_str(one, "name", ""), name) == 0) {
			ck_assert_msg(!found, "%s twice", name);
			found = one;
		}
	ck_assert_msg(found != NULL, "no sensor %s", name);
	return found;
}

/* A zero is a reading, null is none: a fan that stands still is not one that nobody
 * reads. */
START_TEST(each_tree_tells_its_sensors)
{
	for (size_t i = 0; i < BU_LEN(trees); i++) {
		struct bench bench;
		const json_t *one;

		begin_bench(&bench, trees[i]);
		ok(&bench, BU_POWER_SENSORS);
		one = sensor(&bench, "Fan 2");
		ck_assert(json_is_null(json_object_get(one, "value")));
		ok(&bench, BU_POWER_SWITCH_ON);
		for (int k = 0; k < 1000 && bench.bmc->phase != BU_BMC_IN_POST; k++)
			bu_loop_step(bench.loop, 10);
		ok(&bench, BU_POWER_SENSORS);
		one = sensor(&bench, "Fan 2");
		ck_assert(json_is_number(json_object_get(one, "value")));
		ck_assert_str_eq(bu_json_str(one, "unit", ""), "RPM");
		ck_assert_str_eq(bu_json_str(one, "health", ""), "critical");
		one = sensor(&bench, "Inlet Temp");
		ck_assert_int_eq(bu_json_int(one, "value", 0), 23);
		ck_assert_str_eq(bu_json_str(one, "unit", ""), "C");
		one = sensor(&bench, "Slot 8 Temp");
		ck_assert(json_is_null(json_object_get(one, "value")));
		ck_assert_str_eq(bu_json_str(one, "state", ""), "absent");
		finish_bench(&bench);
	}
}
END_TEST

START_TEST(each_tree_tells_its_firmware)
{
	for (size_t i = 0; i < BU_LEN(trees); i++) {
		struct bench bench;
		const json_t *list, *one;
		size_t k, bios = 0;

		begin_bench(&bench, trees[i]);
		ok(&bench, BU_POWER_FIRMWARE);
		list = json_object_get(bench.report, "firmware");
		ck_assert_uint_eq(json_array_size(list), 2);
		json_array_foreach (list, k, one)
			bios += strcmp(bu_json_str(one, "name", ""), "BIOS") == 0;
		/* Dell's previous one only lies there */
		ck_assert_uint_eq(bios, 1);
		finish_bench(&bench);
	}
}
END_TEST

static void
on_reply(const json_t *reply, const struct bu_err *err, void *arg)
{
	struct bench *bench = arg;

	(void)reply;
	bench->done = 1;
	bench->err = err ? *err : (struct bu_err){0};
}

static enum bu_err_kind
perform(struct bench *bench, const char *op)
{
	char path[] = "/tmp/bringup-events.XXXXXX";
	bu_autofree char *reference = NULL;
	bu_autojson json_t *request = NULL;
	int fd = mkstemp(path);
	struct bu_performer *performer =
		bu_performer_create(bench->loop, &bu_power_redfish, bench->driver);

	ck_assert_int_eq(write(fd, "admin:secret\n", 13), 13);
	close(fd);
	reference = bu_xasprintf("file:%s", path);
	request = json_pack("{s:s,s:s,s:s,s:s}", "op", op, "target", bench->url,
			    "first", "network", "credentials", reference);
	bench->done = 0;
	bu_perform(performer, request, on_reply, bench);
	for (int i = 0; i < 4000 && !bench->done; i++)
		bu_loop_step(bench->loop, 10);
	ck_assert_msg(bench->done, "the request does not end");
	bu_performer_destroy(performer);
	unlink(path);
	return bench->err.kind;
}

/* By ActionInfo or inline, gently where that is allowed; its sessions are gone, and the
 * next request has another. */
START_TEST(each_bmc_restarts)
{
	for (size_t i = 0; i < BU_LEN(trees); i++) {
		struct bench bench;

		begin_bench(&bench, trees[i]);
		json_object_set_new(bench.tree->rules, "manager_ms", json_integer(200));
		ok(&bench, BU_POWER_BMC_RESET);
		bench.request.once = 1;
		ck_assert_int_eq(ask(&bench, BU_POWER_STATUS), BU_ERR_REMOTE);
		for (int k = 0; k < 30; k++)
			bu_loop_step(bench.loop, 10);
		bench.request.once = 0;
		ok(&bench, BU_POWER_STATUS);
		ck_assert_int_eq(bench.state, BU_POWER_OFF);
		finish_bench(&bench);
	}
}
END_TEST

/* The command is taken and the BMC is away before it could be read back. */
START_TEST(a_restart_in_the_midst_of_a_power_action_does_not_lose_it)
{
	struct bench bench;

	begin_bench(&bench, "dell");
	json_object_set_new(bench.tree->rules, "manager_ms", json_integer(1200));
	set_fault(&bench, "restarts=1");
	ck_assert_msg(perform(&bench, "on") == BU_ERR_NONE, "%s", bench.err.text);
	ck_assert_int_eq(bu_bmc_machine_paper_starts(bench.bmc->machine) <= 1, 1);
	ok(&bench, BU_POWER_STATUS);
	ck_assert_int_eq(bench.state, BU_POWER_ON);
	finish_bench(&bench);
}
END_TEST

BU_UNIT("redfish reports", each_tree_tells_its_events,
	ten_thousand_entries_are_not_read_one_by_one, a_full_log_is_named,
	a_bmcs_clock_does_not_move_its_events, each_tree_tells_its_sensors,
	each_tree_tells_its_firmware, each_bmc_restarts,
	a_restart_in_the_midst_of_a_power_action_does_not_lose_it)
