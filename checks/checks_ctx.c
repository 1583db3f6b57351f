/* SPDX-License-Identifier: Apache-2.0 */
/* What groups of checks ask their runner, apart from it: a test of one group links no
 * other. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "checks/checks.h"

/* Threads of a group tell their steps, too. */
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

void
bu_checks_tell(int fd, const json_t *line)
{
	bu_autofree char *text = json_dumps(line, JSON_COMPACT);
	bu_autofree char *whole = bu_xasprintf("%s\n", text);
	size_t size = strlen(whole), done = 0;

	pthread_mutex_lock(&telling);
	while (done < size) {
		ssize_t put = write(fd, whole + done, size - done);

		if (put <= 0)
			break;
		done += (size_t)put;
	}
	pthread_mutex_unlock(&telling);
}

static json_t *
step_json(const struct bu_checks_ctx *ctx, const struct bu_doing *doing)
{
	double share = ctx->hurry > 0 ? ctx->hurry : 1;

	return json_pack("{s:i,s:I,s:s,s:s,s:s,s:s}", "slot", doing->slot, "limit_ms",
			 (json_int_t)((double)doing->limit_ms * share), "id",
			 doing->id ? doing->id : "", "subject",
			 doing->subject ? doing->subject : "", "what",
			 doing->what ? doing->what : "", "hint",
			 doing->hint ? doing->hint : "");
}

void
bu_checks_doing(const struct bu_checks_ctx *ctx, const struct bu_checks *out,
		const struct bu_doing *doing)
{
	static const struct bu_doing nothing = {0};
	bu_autojson json_t *line = NULL;

	if (!ctx || !ctx->line)
		return;
	line = json_pack("{s:o}", "step", step_json(ctx, doing ? doing : &nothing));
	if (out && out->count > ctx->line->told) {
		struct bu_checks fresh = *out;

		fresh.list += ctx->line->told;
		fresh.count -= ctx->line->told;
		json_object_set_new(line, "rows", bu_checks_to_json(&fresh));
		ctx->line->told = out->count;
	}
	bu_checks_tell(ctx->line->fd, line);
}

int
bu_checks_stop(const struct bu_checks_ctx *ctx)
{
	if (ctx->cancelled && ctx->cancelled(ctx->arg))
		return 1;
	return ctx->deadline_ms && bu_mono_ms(bu_clock_system()) >= ctx->deadline_ms;
}

enum bu_verdict
bu_checks_severity(const struct bu_checks_ctx *ctx, const char *id,
		   enum bu_verdict usual)
{
	const json_t *own = json_object_get(ctx->expect, "severity");
	const char *name = bu_json_str(own, id, "");

	if (strcmp(name, "fail") == 0)
		return BU_VERDICT_FAIL;
	if (strcmp(name, "warn") == 0)
		return BU_VERDICT_WARN;
	if (strcmp(name, "off") == 0)
		return BU_VERDICT_INCONCLUSIVE;
	return usual;
}
