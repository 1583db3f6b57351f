/* SPDX-License-Identifier: Apache-2.0 */
/* What groups of checks ask their runner, apart from it: a test of one group links no
 * other. */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "checks/checks.h"

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
