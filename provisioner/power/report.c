/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What BMCs tell, in one shape; called by the drivers. Invariants: a log of any length
 * is held in as many rows as were asked for; what a BMC without a clock says is never
 * given a time.
 */
#include "provisioner/power/report.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"

/* A clock that was never set begins at its first second, or in its firmware's year. */
#define SET_MS ((int64_t)1577836800 * 1000) /* 2020 */
enum { SAME_CLOCK_MS = 3000 };

static void
lower(char *text)
{
	for (; *text; text++)
		*text = (char)tolower((unsigned char)*text);
}

/* Where an entry of this time stands: behind those that are as old. */
static size_t
place_of(const json_t *rows, int64_t at_ms)
{
	size_t i = json_array_size(rows);

	while (i > 0 && bu_json_int(json_array_get(rows, i - 1), "at_ms", 0) > at_ms)
		i--;
	return i;
}

int
bu_bmc_log_is_old(const struct bu_bmc_log *log, int64_t at_ms)
{
	return at_ms && at_ms - log->ahead_ms < log->since_ms;
}

void
bu_bmc_log_take(struct bu_bmc_log *log, int64_t at_ms, const char *severity,
		const char *name, const char *text)
{
	char kept[BU_BMC_TEXT_SIZE], kind[16];
	int64_t ours_ms = at_ms ? at_ms - log->ahead_ms : 0;

	if (bu_bmc_log_is_old(log, at_ms))
		return;
	if (!log->rows)
		log->rows = json_array();
	bu_text_copy(kept, sizeof(kept), text);
	bu_text_copy(kind, sizeof(kind), severity);
	lower(kind);
	json_array_insert_new(log->rows, place_of(log->rows, ours_ms),
			      json_pack("{s:I,s:s,s:s,s:s}", "at_ms",
					(json_int_t)ours_ms, "severity", kind, "log",
					name, "text", bu_text_trim(kept)));
	while (json_array_size(log->rows) > log->most) {
		json_array_remove(log->rows, 0);
		log->more = 1;
	}
}

/* Its answer took a moment; a difference of that size is none. */
void
bu_bmc_log_clock(struct bu_bmc_log *log, int64_t bmc_ms, int64_t now_ms)
{
	int64_t ahead_ms = bmc_ms - now_ms;

	log->ahead_ms =
		bmc_ms && (ahead_ms > SAME_CLOCK_MS || ahead_ms < -SAME_CLOCK_MS)
			? ahead_ms
			: 0;
}

json_t *
bu_bmc_log_end(struct bu_bmc_log *log)
{
	json_t *rows = log->rows ? log->rows : json_array();

	log->rows = NULL;
	return json_pack("{s:o,s:b,s:b}", "events", rows, "more", log->more, "full",
			 log->full);
}

void
bu_bmc_sensor_add(json_t *list, const char *name, const json_t *value, const char *unit,
		  const char *health, const char *state)
{
	char kept[80], is[16], in[24];

	bu_text_copy(kept, sizeof(kept), name);
	bu_text_copy(is, sizeof(is), health);
	bu_text_copy(in, sizeof(in), state);
	lower(is);
	lower(in);
	json_array_append_new(
		list,
		json_pack("{s:s,s:o,s:s,s:s,s:s}", "name", kept, "value",
			  json_is_number(value) ? json_deep_copy(value) : json_null(),
			  "unit", unit, "health", is, "state", in));
}

/* "Z", "+00:00", "-0600" in minutes; what is none of them is taken for UTC. */
static int
zone_minutes(const char *text)
{
	int hours = 0, minutes = 0;

	if (*text == '.')
		text += 1 + strspn(text + 1, "0123456789");
	if ((*text != '+' && *text != '-') ||
	    sscanf(text + 1, "%2d%*1[:]%2d", &hours, &minutes) < 1)
		return 0;
	return (hours * 60 + minutes) * (*text == '-' ? -1 : 1);
}

int64_t
bu_bmc_time_read(const char *text)
{
	struct tm at = {0};
	int64_t ms;
	int end = 0;

	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &at.tm_year, &at.tm_mon,
		   &at.tm_mday, &at.tm_hour, &at.tm_min, &at.tm_sec, &end) < 6 ||
	    !end)
		return 0;
	at.tm_year -= 1900;
	at.tm_mon -= 1;
	ms = ((int64_t)timegm(&at) - zone_minutes(text + end) * 60) * 1000;
	return ms >= SET_MS ? ms : 0;
}
