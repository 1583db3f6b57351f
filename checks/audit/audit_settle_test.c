/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that has just booted: what is still on its way is waited for, what does not
 * come is a finding, and what no time mends is not waited for. A driver that does not
 * answer is named with its device.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "checks/child_check.h"
#include "model/kernel_event.h"
#include "tests/support/audit_machine.h"
#include "tests/support/unit.h"

static const char state[] = "sys/class/infiniband/mlx5_1/ports/1/state";
static int pauses, mended_after;

static void
pause_ms(int64_t ms)
{
	ck_assert_int_eq(ms, 1000);
	if (++pauses == mended_after)
		bu_audit_machine_change(state, "4: ACTIVE");
}

/* Findings of the good machine with this file changed. */
static size_t
audit(const char *file, const char *text, char *ret_id, size_t size)
{
	bu_autojson json_t *expect = json_loads(bu_audit_machine_expected, 0, NULL);
	bu_autojson json_t *events = bu_json_load(BU_SRCDIR "/data/events.json", NULL);
	struct bu_audit_probes probes = bu_audit_machine_probes;
	struct bu_checks_ctx ctx = {.root = bu_audit_machine_build(0),
				    .expect = expect};
	struct bu_checks checks;
	size_t found = 0;

	json_object_set_new(expect, "events", bu_kernel_events_wire(events));
	pauses = 0;
	probes.pause = pause_ms;
	bu_audit_machine_change(file, text);
	bu_checks_init(&checks);
	ck_assert_int_eq(bu_audit_run_with(&ctx, &probes, &checks, NULL), 0);
	for (size_t i = 0; i < checks.count; i++) {
		if (checks.list[i].verdict == BU_VERDICT_PASS)
			continue;
		snprintf(ret_id, size, "%s", checks.list[i].id);
		found++;
	}
	bu_checks_fini(&checks);
	bu_audit_machine_remove();
	return found;
}

START_TEST(port_that_trains_is_waited_for)
{
	char id[64] = "";

	mended_after = 3;
	ck_assert_uint_eq(audit(state, "2: INIT", id, sizeof(id)), 0);
	ck_assert_int_eq(pauses, 3);
}
END_TEST

START_TEST(port_that_stays_down_is_a_finding)
{
	char id[64] = "";

	mended_after = 0;
	ck_assert_uint_eq(audit(state, "2: INIT", id, sizeof(id)), 1);
	ck_assert_str_eq(id, "rdma-state");
	ck_assert_int_eq(pauses, 30);
}
END_TEST

START_TEST(what_no_time_mends_is_a_finding_at_once)
{
	char id[64] = "";

	mended_after = 0;
	ck_assert_uint_eq(audit("sys/class/net/eth1/mtu", "1500", id, sizeof(id)), 1);
	ck_assert_str_eq(id, "nic-mtu");
	ck_assert_int_eq(pauses, 0);
}
END_TEST

static const char *hangs; /* NULL, or the end of this file's path */

ssize_t __real_read(int fd, void *data, size_t size);
ssize_t __wrap_read(int fd, void *data, size_t size);

ssize_t
__wrap_read(int fd, void *data, size_t size)
{
	bu_autofree char *link = bu_xasprintf("/proc/self/fd/%d", fd);
	char path[4096] = "";
	ssize_t length = hangs ? readlink(link, path, sizeof(path) - 1) : 0;

	if (length > 0 && (size_t)length > strlen(hangs) &&
	    strcmp(path + length - strlen(hangs), hangs) == 0)
		sleep(100);
	return __real_read(fd, data, size);
}

static int
audit_here(const struct bu_checks_ctx *ctx, struct bu_checks *out, struct bu_err *err)
{
	struct bu_audit_probes probes = bu_audit_machine_probes;

	probes.pause = pause_ms;
	return bu_audit_run_with(ctx, &probes, out, err);
}

/* Also where it looks first, whether all has settled. */
START_TEST(a_driver_that_hangs_is_named)
{
	static const struct {
		const char *file, *id, *subject;
	} rows[] = {
		{"net/eth1/address", "nic-down", "eth1"},
		{"infiniband/mlx5_1/ports/1/link_layer", "rdma-state", "mlx5_1"},
		{"infiniband/mlx5_1/ports/1/state", "rdma-state", ""},
		{"net/eth1/mtu", "nic-mtu", ""},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autojson json_t *expect =
			json_loads(bu_audit_machine_expected, 0, NULL);
		struct bu_checks_ctx ctx = {.root = bu_audit_machine_build(0),
					    .expect = expect,
					    .hurry = 0.02};
		const struct bu_check *last;
		struct bu_checks checks;

		mended_after = 0;
		hangs = rows[i].file;
		bu_checks_init(&checks);
		ck_assert_int_eq(
			bu_child_check_run(&ctx, "audit", audit_here, &checks, NULL),
			0);
		hangs = NULL;
		ck_assert_uint_gt(checks.count, 0);
		last = &checks.list[checks.count - 1];
		ck_assert_str_eq(last->id, rows[i].id);
		ck_assert_str_eq(last->subject, rows[i].subject);
		ck_assert_int_eq(last->verdict, BU_VERDICT_FAIL);
		ck_assert_str_eq(last->seen, "no answer");
		ck_assert_msg(last->hint[0] != '\0', "%zu", i);
		bu_checks_fini(&checks);
		bu_audit_machine_remove();
	}
}
END_TEST

BU_UNIT("audit_settle", port_that_trains_is_waited_for,
	port_that_stays_down_is_a_finding, what_no_time_mends_is_a_finding_at_once,
	a_driver_that_hangs_is_named)
