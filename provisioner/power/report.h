/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What BMCs tell of a machine beside its power, in one shape for all drivers:
 * {"events":[{"at_ms","severity","log","text"}],"more":bool,"full":bool}: the oldest
 *	first; at_ms is Unix time by our clock, 0 = it has none; severity "critical",
 *	"warning", "ok" or "" (not said); more: there are others in that time; full: the
 *	log takes no more, so what happened last may not be in it.
 * {"sensors":[{"name","value","unit","health","state"}],"more":bool}: value null: it
 *	has no reading now.
 * {"firmware":[{"name","version"}],"more":bool}
 */
#ifndef BU_POWER_REPORT_H
#define BU_POWER_REPORT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { BU_BMC_TEXT_SIZE = 304 };

/* The newest entries of all logs of one BMC; rows are at most `most`. */
struct bu_bmc_log {
	json_t *rows; /* owned */
	size_t most;
	int64_t since_ms; /* Unix time; older ones are left out */
	int64_t ahead_ms; /* of the BMC's clock before ours */
	int more, full;
};

/* at_ms: by the BMC's clock, 0 = it has none. The text is cut where it is long. */
void bu_bmc_log_take(struct bu_bmc_log *log, int64_t at_ms, const char *severity,
		     const char *name, const char *text);
/* By the BMC's own clock, is this before the time that is asked for? */
int bu_bmc_log_is_old(const struct bu_bmc_log *log, int64_t at_ms);
/* What the BMC says that it is now; 0 = it does not say. */
void bu_bmc_log_clock(struct bu_bmc_log *log, int64_t bmc_ms, int64_t now_ms);
/* The report; ends the log. New reference. */
json_t *bu_bmc_log_end(struct bu_bmc_log *log);

/* value: a number, or anything else for none; borrowed. */
void bu_bmc_sensor_add(json_t *list, const char *name, const json_t *value,
		       const char *unit, const char *health, const char *state);

/* "2026-11-23T02:03:04-06:00" as Unix time; 0 = that is none, or of a clock that was
 * never set. */
int64_t bu_bmc_time_read(const char *text);

#endif
