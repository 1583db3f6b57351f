/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the site's own checks, one after the other, each with its time. Called by the
 * runner of checks. Invariant: each check that was sent leaves exactly one row, and
 * what it printed is cut and cleaned, never interpreted, before it goes further.
 */
#include "checks/site_checks.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/worker.h"

enum { OUTPUT_MAX = 256 * 1024, END_MS = 10000 };

static void
copy_field(const json_t *object, const char *key, char *field, size_t size)
{
	const char *text = bu_json_str(object, key, NULL);

	if (text)
		bu_check_set(field, size, "%s", text);
}

/* 1 when the whole output was an object of the form above. */
static int
read_object(const char *out, struct bu_check *row)
{
	bu_autojson json_t *object =
		out[strspn(out, " \t\r\n")] == '{'
			? bu_json_parse(out, strlen(out), "output", NULL)
			: NULL;
	enum bu_verdict verdict;

	if (!object ||
	    bu_verdict_from_name(bu_json_str(object, "verdict", ""), &verdict) != 0)
		return 0;
	row->verdict = verdict;
	copy_field(object, "text", row->text, sizeof(row->text));
	copy_field(object, "seen", row->seen, sizeof(row->seen));
	copy_field(object, "expected", row->expected, sizeof(row->expected));
	copy_field(object, "hint", row->hint, sizeof(row->hint));
	return 1;
}

static void
judge(const struct bu_job_end *end, int64_t timeout_ms, struct bu_check *row)
{
	bu_autofree char *out = bu_xstrdup(end->out), *errs = bu_xstrdup(end->errs);
	const char *line = bu_text_last_line(out);
	int object = read_object(end->out, row);

	if (!*line)
		line = bu_text_last_line(errs);
	if (!object)
		row->verdict = BU_VERDICT_PASS;
	if (end->timed_out) {
		row->verdict = BU_VERDICT_FAIL;
		BU_CHECK_SET(row->text, "did not end within %lld s%s%s",
			     (long long)timeout_ms / 1000, *line ? ": " : "", line);
	} else if (end->exit_code != 0) {
		row->verdict = BU_VERDICT_FAIL;
		if (!object || !row->text[0])
			BU_CHECK_SET(row->text, "%s", line);
		if (!row->text[0])
			BU_CHECK_SET(row->text, "exit status %d without output",
				     end->exit_code);
		BU_CHECK_SET(row->expected, "exit status 0");
		if (!row->seen[0])
			BU_CHECK_SET(row->seen, "exit status %d", end->exit_code);
	} else if (!object && *line) {
		BU_CHECK_SET(row->seen, "%s", line);
	}
	if (row->verdict != BU_VERDICT_PASS && !row->text[0])
		BU_CHECK_SET(row->text, "%s", *line ? line : "it gave no reason");
}

static int
run_file(const char *path, const char *name, int64_t timeout_ms, struct bu_job_end *end,
	 struct bu_err *err)
{
	bu_autofree char *variable = bu_xasprintf("BRINGUP_CHECK=%s", name);
	const char *argv[] = {path, NULL};
	const char *env[] = {variable, NULL};
	struct bu_job_opts opts = {.argv = argv,
				   .env = env,
				   .cwd = "/",
				   .deadline_ms = timeout_ms,
				   .same_group = 1,
				   .output_max = OUTPUT_MAX};

	return bu_job_wait(&opts, end, err);
}

static void
run_check(const struct bu_checks_ctx *ctx, const char *dir, const json_t *item,
	  struct bu_checks *out)
{
	const char *name = bu_json_str(item, "name", "");
	const char *content = bu_json_str(item, "content", "");
	int64_t timeout_ms = bu_json_int(item, "timeout_ms", BU_SITE_TIMEOUT_MS);
	int64_t start_ms = bu_mono_ms(bu_clock_system());
	bu_autofree char *path = bu_xasprintf("%s/%s", dir, name);
	bu_autofree char *id = bu_xasprintf("site:%s", name);
	struct bu_job_end end = {.exit_code = -1};
	struct bu_check *row;
	struct bu_err err = {0};

	if (!bu_check_id_is_valid(id) || strchr(name, ':') || name[0] == '.') {
		row = bu_checks_add(out, "site", "site:unnamed", BU_VERDICT_FAIL, "");
		BU_CHECK_SET(row->text, "a check of the site has no usable name");
		return;
	}
	row = bu_checks_add(out, "site", id, BU_VERDICT_INCONCLUSIVE, "");
	BU_CHECK_SET(row->hint, "see checks.d/%s of the profile", name);
	if (bu_checks_stop(ctx)) {
		BU_CHECK_SET(row->text, "it was not run: the time ran out");
		return;
	}
	bu_checks_doing(ctx, NULL,
			&(struct bu_doing){.limit_ms = timeout_ms + END_MS,
					   .id = id,
					   .subject = name,
					   .what = "its check",
					   .hint = "see checks.d of the profile"});
	if (bu_file_write(path, content, strlen(content), 0700, &err) == 0 &&
	    run_file(path, name, timeout_ms, &end, &err) == 0) {
		judge(&end, timeout_ms, row);
	} else {
		/* The site wants it to be good, and that is unknown. */
		row->verdict = BU_VERDICT_FAIL;
		BU_CHECK_SET(row->text, "it could not be run: %s", err.text);
	}
	row->took_ms = bu_mono_ms(bu_clock_system()) - start_ms;
	unlink(path);
	bu_job_end_fini(&end);
}

int
bu_site_checks_run(const struct bu_checks_ctx *ctx, struct bu_checks *out,
		   struct bu_err *err)
{
	/* Not below /run, which many distributions mount noexec. */
	bu_autofree char *dir =
		bu_xasprintf("%s/var/lib/bringup/checks.d", ctx->root ? ctx->root : "");
	size_t i;
	json_t *item;

	if (bu_mkdir_p(dir, 0700, err) != 0)
		return -1;
	json_array_foreach (ctx->site, i, item)
		run_check(ctx, dir, item, out);
	bu_checks_doing(ctx, out, NULL);
	rmdir(dir);
	return 0;
}
