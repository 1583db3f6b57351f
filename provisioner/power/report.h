/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of BMCs besides power, in one shape for all drivers:
 *
 * {"events":[{"at_ms","severity","log","text"}],"more":bool,"full":bool}
 *	oldest first. at_ms: Unix time by our clock, 0 = not known. severity:
 *	"critical", "warning", "ok", "" = not told. more: further events in that time.
 *	full: the log takes no more entries, so the latest may be missing.
 * {"sensors":[{"name","value","unit","health","state"}],"more":bool}
 *	value null: no reading now.
 * {"firmware":[{"name","version"}],"more":bool}
 */
#ifndef BU_POWER_REPORT_H
#define BU_POWER_REPORT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { BU_BMC_TEXT_SIZE = 304 };

/* The newest entries of all logs of one BMC, at most `most` rows. */
struct bu_bmc_log {
	json_t *rows; /* owned */
	size_t most;
	int64_t since_ms; /* Unix time; older entries are left out */
	int64_t ahead_ms; /* the BMC's clock minus ours */
	int more, full;
};

/* at_ms: by the BMC's clock, 0 = not known. A long text is cut. */
void bu_bmc_log_take(struct bu_bmc_log *log, int64_t at_ms, const char *severity,
		     const char *name, const char *text);
/* 1 = before since_ms, by the BMC's clock. */
int bu_bmc_log_is_old(const struct bu_bmc_log *log, int64_t at_ms);
/* The BMC's clock reads bmc_ms at now_ms; 0 = it tells none. */
void bu_bmc_log_clock(struct bu_bmc_log *log, int64_t bmc_ms, int64_t now_ms);
/* Makes the report and clears the log. New reference. */
json_t *bu_bmc_log_end(struct bu_bmc_log *log);

/* value: a number, else no reading; borrowed. */
void bu_bmc_sensor_add(json_t *list, const char *name, const json_t *value,
		       const char *unit, const char *health, const char *state);

/* "2026-11-23T02:03:04-06:00" as Unix time; 0 = malformed, or of a clock that was never
 * set. */
int64_t bu_bmc_time_read(const char *text);

#endif
