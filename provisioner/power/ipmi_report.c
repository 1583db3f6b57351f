/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an IPMI BMC tells besides power: its event log, its sensors, its version; and
 * its restart. Called by ipmi.c. Invariant: what ipmitool prints is read by its
 * columns, and a line that has others is left out.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "provisioner/power/ipmi_impl.h"
#include "provisioner/power/ipmi_text.h"

/* With the names of sensors ipmitool reads all of their records first. */
enum { NAMED_MS = 30000, MOST_DEFAULT = 100, MOST_MAX = 1000 };

static void
done(struct bu_power_call *call, const char *text)
{
	(void)text;
	bu_ipmi_end(call, NULL);
}

/* --- the event log --- */

static void
take_entries(struct bu_power_call *call, const char *text)
{
	bu_autofree char *lines = bu_xstrdup(text);
	char *rest, *line;

	for (line = strtok_r(lines, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		struct bu_ipmi_entry entry;

		if (bu_ipmi_entry(line, &entry) == 0)
			bu_bmc_log_take(&call->log, entry.at_ms, "", "SEL", entry.text);
	}
	call->answer.report = bu_bmc_log_end(&call->log);
	bu_ipmi_end(call, NULL);
}

/* One that is late with the names of its sensors still has its numbers. */
static void
on_named(struct bu_power_call *call, const char *text)
{
	if (*text) {
		take_entries(call, text);
		return;
	}
	call->program_ms = 0;
	BU_IPMI_ASK(call, take_entries, 1, "sel", "list", "last", call->last);
}

static void
on_info(struct bu_power_call *call, const char *text)
{
	char overflow[8];

	bu_ipmi_field(text, "Overflow", overflow, sizeof(overflow));
	call->log.full = strcmp(overflow, "true") == 0;
	call->csv = 1;
	call->program_ms = NAMED_MS;
	snprintf(call->last, sizeof(call->last), "%d", (int)call->log.most);
	BU_IPMI_ASK(call, on_named, 1, "sel", "elist", "last", call->last);
}

static void
on_clock(struct bu_power_call *call, const char *text)
{
	int64_t now_ms = bu_wall_ms(bu_loop_clock(call->ipmi->loop));

	bu_bmc_log_clock(&call->log, bu_ipmi_time(text), now_ms);
	BU_IPMI_ASK(call, on_info, 0, "sel", "info");
}

static void
read_events(struct bu_power_call *call)
{
	size_t most = call->request->most ? call->request->most : MOST_DEFAULT;

	call->log.most = most < MOST_MAX ? most : MOST_MAX;
	call->log.since_ms = call->request->since_ms;
	BU_IPMI_ASK(call, on_clock, 1, "sel", "time", "get");
}

/* --- the others --- */

static void
on_sensors(struct bu_power_call *call, const char *text)
{
	json_t *list = bu_ipmi_sensors(text);
	struct bu_err err;

	if (json_array_size(list) > 0) {
		call->answer.report =
			json_pack("{s:o,s:b}", "sensors", list, "more", 0);
		bu_ipmi_end(call, NULL);
		return;
	}
	json_decref(list);
	bu_err_set(&err, BU_ERR_INVAL, 0, "IPMI of %s: the BMC shows no sensors",
		   call->request->target.bmc);
	bu_ipmi_end(call, &err);
}

/* Its own version is all that IPMI has. */
static void
on_firmware(struct bu_power_call *call, const char *text)
{
	char version[40];

	bu_ipmi_field(text, "Firmware Revision", version, sizeof(version));
	call->answer.report = json_pack("{s:[{s:s,s:s}],s:b}", "firmware", "name",
					"BMC", "version", version, "more", 0);
	bu_ipmi_end(call, NULL);
}

void
bu_ipmi_report(struct bu_power_call *call)
{
	struct bu_err err;

	switch (call->request->op) {
	case BU_POWER_EVENTS:
		read_events(call);
		return;
	case BU_POWER_SENSORS:
		call->csv = 1;
		call->program_ms = NAMED_MS;
		BU_IPMI_ASK(call, on_sensors, 0, "sdr");
		return;
	case BU_POWER_FIRMWARE:
		BU_IPMI_ASK(call, on_firmware, 0, "mc", "info");
		return;
	case BU_POWER_BMC_RESET:
		BU_IPMI_ASK(call, done, 0, "mc", "reset", "cold");
		return;
	default:
		bu_err_set(&err, BU_ERR_INVAL, 0, "IPMI of %s: it has no operation %d",
			   call->request->target.bmc, (int)call->request->op);
		bu_ipmi_end(call, &err);
	}
}
