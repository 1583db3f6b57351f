/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs groups of checks one after the other, each in a process of its own, called by
 * the agent. Invariant: a group that was asked for and cannot run leaves a row that
 * says why; one that has nothing to judge on this machine leaves none.
 */
#include "checks/checks.h"

#include <string.h>

#include "base/clock.h"
#include "base/sysroot.h"
#include "checks/audit/audit.h"
#include "checks/checks_names.h"
#include "checks/child_check.h"
#include "checks/fabric/loops.h"
#include "checks/gpu/gpu.h"
#include "checks/gpu/nvlink.h"
#include "checks/host/host.h"
#include "checks/site_checks.h"
#include "checks/soak/soak.h"

static const struct group {
	const char *name;
	bu_checks_fn fn; /* in a child process */
	/* In this one, which alone can ask the appliance; may be NULL. */
	void (*after)(const struct bu_checks_ctx *ctx, struct bu_checks *out);
} groups[] = {
	{"audit", bu_audit_run, NULL},        {"gpu", bu_gpu_run, NULL},
	{"host", bu_host_run, bu_host_clock}, {"site", bu_site_checks_run, NULL},
	{"fabric", bu_loops_run, NULL},       {"soak", bu_soak_run, NULL},
	{"nvlink", bu_nvlink_run, NULL},
};

/* broken: it might have gone well, and is not let pass for that. */
static void
not_run(struct bu_checks *out, const char *group, const char *why, int broken)
{
	bu_autofree char *id = bu_xasprintf("%s-not-run", group);
	struct bu_check *row =
		bu_checks_add(out, group, id, BU_VERDICT_INCONCLUSIVE, "");

	BU_CHECK_SET(row->seen, "%s", broken ? BU_CHECK_UNDONE : "");
	BU_CHECK_SET(row->text, "the %s checks did not run: %s", group, why);
}

static const struct group *
find_group(const char *name)
{
	for (size_t i = 0; i < BU_LEN(groups); i++)
		if (strcmp(groups[i].name, name) == 0)
			return &groups[i];
	return NULL;
}

/* The profile's severities, for every group. The audit asks for them before it looks,
 * too: of a row that is off it leaves nothing, however it went. */
static void
apply_severity(const struct bu_checks_ctx *ctx, size_t from, struct bu_checks *out)
{
	size_t kept = from;

	for (size_t i = from; i < out->count; i++) {
		struct bu_check *row = &out->list[i];
		int finding = row->verdict == BU_VERDICT_FAIL ||
			      row->verdict == BU_VERDICT_WARN;

		if (finding)
			row->verdict = bu_checks_severity(ctx, row->id, row->verdict);
		if (finding && row->verdict == BU_VERDICT_INCONCLUSIVE)
			continue; /* off */
		if (kept != i)
			out->list[kept] = *row;
		kept++;
	}
	out->count = kept;
}

static void
run_group(const struct bu_checks_ctx *ctx, const char *name, struct bu_checks *out)
{
	const struct group *group = find_group(name);
	size_t before = out->count;
	struct bu_err why = {0};
	int rc = 0;

	if (!group)
		not_run(out, name, "this agent has none", 0);
	else if (bu_checks_stop(ctx))
		not_run(out, name, "the time ran out", 1);
	else
		rc = bu_child_check_run(ctx, name, group->fn, out, &why);
	if (rc != 0)
		not_run(out, name, why.text, rc == BU_CHILD_CHECK_BROKEN);
	else if (group && group->after && !bu_checks_stop(ctx))
		group->after(ctx, out);
	apply_severity(ctx, before, out);
}

static int
check_names(const json_t *names, struct bu_err *err)
{
	size_t i;
	json_t *name;

	if (!json_is_array(names) || json_array_size(names) == 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "field 'groups': expected names of groups");
	json_array_foreach (names, i, name)
		if (!json_is_string(name) ||
		    !bu_check_group_is_valid(json_string_value(name)))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "field 'groups': no such group '%s'",
					  json_is_string(name) ? json_string_value(name)
							       : "?");
	return 0;
}

int
bu_checks_run(const struct bu_checks_ctx *ctx, const json_t *names,
	      struct bu_checks *ret, struct bu_err *err)
{
	int total = (int)json_array_size(names);
	size_t i;
	json_t *name;

	if (check_names(names, err) != 0)
		return -1;
	bu_checks_init(ret);
	ret->at_ms = bu_wall_ms(bu_clock_system());
	bu_sysroot_line(ctx->root, ret->boot_id, sizeof(ret->boot_id),
			"proc/sys/kernel/random/boot_id");
	bu_checks_name_unknown(ctx, ret);
	json_array_foreach (names, i, name) {
		if (ctx->progress)
			ctx->progress(json_string_value(name), (int)i, total, ctx->arg);
		run_group(ctx, json_string_value(name), ret);
	}
	if (ctx->cancelled && ctx->cancelled(ctx->arg)) {
		bu_checks_fini(ret);
		return bu_err_set(err, BU_ERR_CANCELLED, 0,
				  "the checks were cancelled");
	}
	if (ctx->progress)
		ctx->progress("", total, total, ctx->arg);
	return 0;
}
