/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a BMC says: events, sensors, firmware versions, a line each. Pure. Invariants:
 * a sensor without a reading shows none, and no zero; an event without a time shows
 * none.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "cli/render/output.h"
#include "cli/render/render.h"

static void
render_event(const json_t *event, FILE *out)
{
	int64_t at_ms = bu_json_int(event, "at_ms", 0);
	bu_autofree char *severity =
		bu_out_clean(bu_json_str(event, "severity", ""), 0);
	bu_autofree char *log = bu_out_clean(bu_json_str(event, "log", ""), 0);
	bu_autofree char *text = bu_out_clean(bu_json_str(event, "text", ""), 0);
	char at[24] = "no time";

	if (at_ms > 0)
		bu_time_iso(at_ms, at);
	fprintf(out, "%-20s  %-8s  %-11s  %s\n", at, *severity ? severity : "-", log,
		text);
}

void
bu_render_bmc_events(const json_t *report, FILE *out)
{
	const json_t *events = json_object_get(report, "events"), *event;
	size_t i;

	if (bu_json_bool(report, "more", 0))
		fputs("(older ones are left out)\n", out);
	json_array_foreach (events, i, event)
		render_event(event, out);
	if (json_array_size(events) == 0)
		fputs("its event logs are empty\n", out);
	if (bu_json_bool(report, "full", 0))
		fputs("warning: its log is full and takes no more: what happened "
		      "lately is not in it; clear it at the BMC\n",
		      out);
}

static void
render_sensor(const json_t *sensor, FILE *out)
{
	const json_t *value = json_object_get(sensor, "value");
	double number = json_number_value(value);
	bu_autofree char *name = bu_out_clean(bu_json_str(sensor, "name", ""), 0);
	bu_autofree char *unit = bu_out_clean(bu_json_str(sensor, "unit", ""), 0);
	bu_autofree char *health = bu_out_clean(bu_json_str(sensor, "health", ""), 0);
	bu_autofree char *state = bu_out_clean(bu_json_str(sensor, "state", ""), 0);
	bu_autofree char *reading =
		json_is_number(value)
			? bu_xasprintf("%.*f %s",
				       fabs(number - rint(number)) < 0.005 ? 0 : 2,
				       number, unit)
			: bu_xstrdup(strcmp(state, "absent") == 0 ? "absent"
								  : "no reading");

	fprintf(out, "%-32s  %-16s  %s\n", name, reading, *health ? health : "-");
}

void
bu_render_bmc_sensors(const json_t *report, FILE *out)
{
	const json_t *sensor;
	size_t i;

	json_array_foreach (json_object_get(report, "sensors"), i, sensor)
		render_sensor(sensor, out);
	if (bu_json_bool(report, "more", 0))
		fputs("(there are more)\n", out);
}

void
bu_render_bmc_firmware(const json_t *report, FILE *out)
{
	const json_t *one;
	size_t i;

	json_array_foreach (json_object_get(report, "firmware"), i, one) {
		bu_autofree char *name = bu_out_clean(bu_json_str(one, "name", ""), 0);
		bu_autofree char *version =
			bu_out_clean(bu_json_str(one, "version", ""), 0);

		fprintf(out, "%-48s  %s\n", name, version);
	}
	if (bu_json_bool(report, "more", 0))
		fputs("(there are more)\n", out);
}
