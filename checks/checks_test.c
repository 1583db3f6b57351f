/* SPDX-License-Identifier: Apache-2.0 */
/* The runner of checks: what is asked for is run, or says why not. */
#include "checks/checks.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

static char root[64];

static void
build(void)
{
	bu_autofree char *dir = NULL, *file = NULL;

	strcpy(root, "/tmp/bringup-checks-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
	dir = bu_xasprintf("%s/proc/sys/kernel/random", root);
	file = bu_xasprintf("%s/boot_id", dir);
	ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(file, 0644, NULL, "boot-1\n"), 0);
}

static void
unbuild(void)
{
	ck_assert_int_eq(bu_remove_tree(root, NULL), 0);
}

static const struct bu_check *
row_of(const struct bu_checks *checks, const char *id)
{
	for (size_t i = 0; i < checks->count; i++)
		if (strcmp(checks->list[i].id, id) == 0)
			return &checks->list[i];
	return NULL;
}

START_TEST(each_group_runs_or_says_why_not)
{
	bu_autojson json_t *groups = json_pack("[s,s,s]", "audit", "external", "site");
	struct bu_checks_ctx ctx = {.root = root};
	struct bu_checks checks;

	build();
	ck_assert_int_eq(bu_checks_run(&ctx, groups, &checks, NULL), 0);
	ck_assert_str_eq(checks.boot_id, "boot-1");
	ck_assert_int_gt(checks.at_ms, 0);
	/* A machine without anything still has no name. */
	ck_assert_ptr_nonnull(row_of(&checks, "identity"));
	ck_assert_ptr_nonnull(row_of(&checks, "external-not-run"));
	ck_assert_str_eq(row_of(&checks, "external-not-run")->text,
			 "the external checks did not run: this agent has none");
	ck_assert_int_eq(row_of(&checks, "external-not-run")->verdict,
			 BU_VERDICT_INCONCLUSIVE);
	ck_assert_str_eq(row_of(&checks, "external-not-run")->seen, "");
	/* Nothing to judge is nothing to tell. */
	ck_assert_ptr_null(row_of(&checks, "site-not-run"));
	bu_checks_fini(&checks);
	unbuild();
}
END_TEST

START_TEST(no_group_is_made_up)
{
	static const char *const bad[] = {"[\"audit\",\"nonsense\"]", "[]", "{}",
					  "[7]"};
	struct bu_checks_ctx ctx = {.root = "/nowhere"};

	for (size_t i = 0; i < BU_LEN(bad); i++) {
		bu_autojson json_t *groups = json_loads(bad[i], 0, NULL);
		struct bu_checks checks;
		struct bu_err err = {0};

		ck_assert_int_eq(bu_checks_run(&ctx, groups, &checks, &err), -1);
		ck_assert_int_eq(err.kind, BU_ERR_INVAL);
	}
	ck_assert_int_eq(
		bu_checks_run(&ctx, NULL, &(struct bu_checks){.count = 0}, NULL), -1);
}
END_TEST

START_TEST(a_deadline_that_is_over_is_told)
{
	bu_autojson json_t *groups = json_pack("[s,s]", "audit", "host");
	struct bu_checks_ctx ctx = {.root = "/nowhere", .deadline_ms = 1};
	struct bu_checks checks;

	ck_assert_int_eq(bu_checks_run(&ctx, groups, &checks, NULL), 0);
	ck_assert_uint_eq(checks.count, 2);
	ck_assert_str_eq(checks.list[1].text,
			 "the host checks did not run: the time ran out");
	ck_assert_str_eq(checks.list[1].seen, BU_CHECK_UNDONE);
	ck_assert_int_eq(bu_checks_worst(&checks), BU_VERDICT_INCONCLUSIVE);
	bu_checks_fini(&checks);
}
END_TEST

static int
cancelled(void *arg)
{
	return *(int *)arg > 0;
}

static void
progress(const char *group, int done, int total, void *arg)
{
	ck_assert_int_le(done, total);
	ck_assert(done == total || *group);
	*(int *)arg += 1;
}

START_TEST(progress_is_told_and_cancelling_ends_it)
{
	bu_autojson json_t *groups = json_pack("[s,s]", "audit", "site");
	int count = 0;
	struct bu_checks_ctx ctx = {.root = root, .progress = progress, .arg = &count};
	struct bu_checks checks;
	struct bu_err err = {0};

	build();
	ck_assert_int_eq(bu_checks_run(&ctx, groups, &checks, &err), 0);
	ck_assert_int_eq(count, 3);
	bu_checks_fini(&checks);
	ctx.cancelled = cancelled;
	ck_assert_int_eq(bu_checks_run(&ctx, groups, &checks, &err), -1);
	ck_assert_int_eq(err.kind, BU_ERR_CANCELLED);
	unbuild();
}
END_TEST

START_TEST(severities_hold_for_every_group_and_wrong_names_are_said)
{
	bu_autojson json_t *groups = json_pack("[s]", "site");
	bu_autojson json_t *site = json_pack("[{s:s,s:s},{s:s,s:s}]", "name", "loud",
					     "content", "#!/bin/sh\nexit 1\n", "name",
					     "quiet", "content", "#!/bin/sh\nexit 1\n");
	bu_autojson json_t *expect =
		json_pack("{s:{s:s,s:s,s:s},s:{s:i,s:i}}", "severity", "site:loud",
			  "warn", "site:quiet", "off", "nic-mtoo", "off", "thresholds",
			  "memory_gbs", 1, "memory_gb", 1);
	struct bu_checks_ctx ctx = {.root = root, .site = site, .expect = expect};
	struct bu_checks checks;

	build();
	ck_assert_int_eq(bu_checks_run(&ctx, groups, &checks, NULL), 0);
	ck_assert_uint_eq(checks.count, 3);
	ck_assert_str_eq(checks.list[0].text,
			 "severity: unknown name 'nic-mtoo'; it has no effect");
	ck_assert_str_eq(checks.list[1].text,
			 "thresholds: unknown name 'memory_gb'; it has no effect");
	ck_assert_int_eq(row_of(&checks, "site:loud")->verdict, BU_VERDICT_WARN);
	ck_assert_ptr_null(row_of(&checks, "site:quiet"));
	bu_checks_fini(&checks);
	unbuild();
}
END_TEST

/* Each limit that docs/checks.md has; none of them is a typo. */
START_TEST(every_limit_is_known)
{
	static const char *const limits[] = {
		"aer_correctable",  "carrier_downs",  "clock_offset_us", "cpu_percent",
		"disk_read_mbs",    "disk_write_mbs", "gpu_pcie_width",  "lldp_wait_ms",
		"max_read_request", "memory_gbs",     "nic_pcie_width",
	};
	bu_autojson json_t *groups = json_pack("[s]", "site");
	bu_autojson json_t *site =
		json_pack("[{s:s,s:s}]", "name", "one", "content", "#!/bin/sh\n");
	bu_autojson json_t *expect = json_pack("{s:{}}", "thresholds");
	struct bu_checks_ctx ctx = {.root = root, .site = site, .expect = expect};
	struct bu_checks checks;

	for (size_t i = 0; i < BU_LEN(limits); i++)
		json_object_set_new(json_object_get(expect, "thresholds"), limits[i],
				    json_integer(1));
	build();
	ck_assert_int_eq(bu_checks_run(&ctx, groups, &checks, NULL), 0);
	ck_assert_uint_eq(checks.count, 1);
	ck_assert_str_eq(checks.list[0].id, "site:one");
	bu_checks_fini(&checks);
	unbuild();
}
END_TEST

BU_UNIT("checks", each_group_runs_or_says_why_not,
	severities_hold_for_every_group_and_wrong_names_are_said, every_limit_is_known,
	no_group_is_made_up, a_deadline_that_is_over_is_told,
	progress_is_told_and_cancelling_ends_it)
