/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine that has just booted: what is still on its way is waited for, what does not
 * come is a finding, and what no time mends is not waited for.
 */
#include <stdio.h>

#include "base/json.h"
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
	struct bu_audit_probes probes = bu_audit_machine_probes;
	struct bu_checks_ctx ctx = {.root = bu_audit_machine_build(0),
				    .expect = expect};
	struct bu_checks checks;
	size_t found = 0;

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

BU_UNIT("audit_settle", port_that_trains_is_waited_for,
	port_that_stays_down_is_a_finding, what_no_time_mends_is_a_finding_at_once)
