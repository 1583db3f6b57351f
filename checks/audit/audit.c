/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static audit as a group of checks: collects the facts once, runs the rows of
 * audit_rows.h over them. Called by the runner (checks.c). Invariant: a row that is not
 * judged on this machine adds nothing; one that should be judged and cannot is
 * `inconclusive`.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "checks/audit/audit_impl.h"

enum { SETTLE_PAUSES = 30, SETTLE_PAUSE_MS = 1000, ROW_MS = 60000 };

static const struct bu_audit_row rows[] = {
#define X(fn, id, severity, what, how, expectation, hint)                              \
	{id, BU_VERDICT_##severity, what, how, expectation, hint},
	BU_AUDIT_ROWS(X)
#undef X
};

static void (*const judges[])(struct bu_audit *a) = {
#define X(fn, ...) bu_audit_##fn,
	BU_AUDIT_ROWS(X)
#undef X
};

const struct bu_audit_row *
bu_audit_rows(size_t *ret_count)
{
	*ret_count = BU_LEN(rows);
	return rows;
}

static struct bu_check *add(struct bu_audit *a, enum bu_verdict verdict,
			    const char *subject, const char *fmt, va_list args)
	__attribute__((format(printf, 4, 0)));
static struct bu_check *
add(struct bu_audit *a, enum bu_verdict verdict, const char *subject, const char *fmt,
    va_list args)
{
	struct bu_check *row =
		bu_checks_add(a->out, "audit", a->row->id, verdict, subject);

	vsnprintf(row->text, sizeof(row->text), fmt, args);
	return row;
}

struct bu_check *
bu_audit_good(struct bu_audit *a, const char *subject, const char *fmt, ...)
{
	struct bu_check *row;
	va_list args;

	if (bu_checks_severity(a->ctx, a->row->id, a->row->severity) ==
	    BU_VERDICT_INCONCLUSIVE)
		return NULL;
	row = bu_checks_add(a->out, "audit", a->row->id, BU_VERDICT_PASS, subject);
	va_start(args, fmt);
	vsnprintf(row->seen, sizeof(row->seen), fmt, args);
	va_end(args);
	return row;
}

struct finding {
	enum bu_verdict severity; /* before the profile's */
	const char *subject, *seen, *expected, *hint;
};

static void find(struct bu_audit *a, const struct finding *finding, const char *fmt,
		 va_list args) __attribute__((format(printf, 3, 0)));
static void
find(struct bu_audit *a, const struct finding *finding, const char *fmt, va_list args)
{
	enum bu_verdict severity =
		bu_checks_severity(a->ctx, a->row->id, finding->severity);
	struct bu_check *row;

	if (severity == BU_VERDICT_INCONCLUSIVE)
		return;
	row = add(a, a->notes_only ? BU_VERDICT_WARN : severity, finding->subject, fmt,
		  args);
	BU_CHECK_SET(row->seen, "%s", finding->seen);
	BU_CHECK_SET(row->expected, "%s", finding->expected);
	BU_CHECK_SET(row->hint, "%s", finding->hint);
}

void
bu_audit_look_at(struct bu_audit *a, const struct bu_audit_pci *pci)
{
	a->notes_only = !pci->used;
}

void
bu_audit_bad(struct bu_audit *a, const char *subject, const char *seen,
	     const char *expected, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	find(a,
	     &(struct finding){a->row->severity, subject, seen, expected, a->row->hint},
	     fmt, args);
	va_end(args);
}

void
bu_audit_bad_hint(struct bu_audit *a, const char *subject, const char *seen,
		  const char *expected, const char *hint, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	find(a, &(struct finding){a->row->severity, subject, seen, expected, hint}, fmt,
	     args);
	va_end(args);
}

/* The profile may switch the row off, and not make a note of it a fault. */
void
bu_audit_note(struct bu_audit *a, const char *subject, const char *seen,
	      const char *expected, const char *hint, const char *fmt, ...)
{
	va_list args;
	size_t before = a->out->count;

	va_start(args, fmt);
	find(a, &(struct finding){BU_VERDICT_WARN, subject, seen, expected, hint}, fmt,
	     args);
	va_end(args);
	if (a->out->count > before)
		a->out->list[a->out->count - 1].verdict = BU_VERDICT_WARN;
}

void
bu_audit_judge(struct bu_audit *a, int passed, const char *subject, const char *seen,
	       const char *expected, const char *fmt, ...)
{
	va_list args;

	if (passed) {
		bu_audit_good(a, subject, "%s", seen);
		return;
	}
	va_start(args, fmt);
	find(a,
	     &(struct finding){a->row->severity, subject, seen, expected, a->row->hint},
	     fmt, args);
	va_end(args);
}

static void not_judged(struct bu_audit *a, const char *subject, const char *seen,
		       const char *fmt, va_list args)
	__attribute__((format(printf, 4, 0)));
static void
not_judged(struct bu_audit *a, const char *subject, const char *seen, const char *fmt,
	   va_list args)
{
	if (bu_checks_severity(a->ctx, a->row->id, a->row->severity) ==
	    BU_VERDICT_INCONCLUSIVE)
		return;
	BU_CHECK_SET(add(a, BU_VERDICT_INCONCLUSIVE, subject, fmt, args)->seen, "%s",
		     seen);
}

void
bu_audit_unknown(struct bu_audit *a, const char *subject, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	not_judged(a, subject, "", fmt, args);
	va_end(args);
}

void
bu_audit_undone(struct bu_audit *a, const char *subject, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	not_judged(a, subject, BU_CHECK_UNDONE, fmt, args);
	va_end(args);
}

int64_t
bu_audit_threshold(const struct bu_audit *a, const char *name, int64_t usual)
{
	return bu_json_int(json_object_get(a->ctx->expect, "thresholds"), name, usual);
}

/* out: as for bu_checks_doing(). */
static void
tell_step(const struct bu_audit *a, const struct bu_checks *out)
{
	char what[64];

	snprintf(what, sizeof(what), "the check %s", a->row->id);
	bu_checks_doing(
		a->ctx, out,
		&(struct bu_doing){.limit_ms = ROW_MS +
					       bu_audit_threshold(a, "lldp_wait_ms", 0),
				   .id = a->row->id,
				   .what = what,
				   .hint = a->row->hint});
}

static void
run_rows(struct bu_audit *a)
{
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		size_t before = a->out->count;
		int64_t start_ns = bu_raw_ns();

		a->row = &rows[i];
		a->notes_only = 0;
		if (bu_checks_stop(a->ctx)) {
			bu_audit_unknown(a, "", "not checked: the time ran out");
			continue;
		}
		tell_step(a, a->out);
		judges[i](a);
		for (size_t k = before; k < a->out->count; k++)
			a->out->list[k].took_ms = (bu_raw_ns() - start_ns) / 1000000;
	}
}

/* What a machine that has just booted may still be about to have: a driver that loads,
 * a link that trains, a subnet manager's word. */
static int
is_settled(const struct bu_checks_ctx *ctx, const struct bu_audit_probes *probes)
{
	static const char *const ids[] = {BU_CHECK_NIC_MISSING,
					  "nic-down",
					  "nic-speed",
					  "rdma-missing",
					  "rdma-state",
					  BU_CHECK_GID,
					  "ib-sm",
					  "ib-lid",
					  "ib-gid",
					  "data-mount"};
	bu_autofree struct bu_audit *a = bu_xcalloc(1, sizeof(*a));
	struct bu_checks seen;
	int settled;

	bu_checks_init(&seen);
	*a = (struct bu_audit){
		.ctx = ctx, .probes = probes, .out = &seen, .root = ctx->root};
	bu_audit_collect(a);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		a->row = &rows[i];
		for (size_t k = 0; k < BU_LEN(ids); k++)
			if (strcmp(rows[i].id, ids[k]) == 0) {
				tell_step(a, NULL);
				judges[i](a);
			}
	}
	settled = bu_checks_count(&seen, BU_VERDICT_FAIL) == 0;
	bu_checks_fini(&seen);
	return settled;
}

int
bu_audit_run_with(const struct bu_checks_ctx *ctx, const struct bu_audit_probes *probes,
		  struct bu_checks *out, struct bu_err *err)
{
	bu_autofree struct bu_audit *a = bu_xcalloc(1, sizeof(*a));

	for (int i = 0; probes->pause && i < SETTLE_PAUSES && !bu_checks_stop(ctx) &&
			!is_settled(ctx, probes);
	     i++)
		probes->pause(SETTLE_PAUSE_MS);
	a->ctx = ctx;
	a->probes = probes;
	a->out = out;
	a->root = ctx->root;
	bu_audit_collect(a);
	run_rows(a);
	return 0;
}
