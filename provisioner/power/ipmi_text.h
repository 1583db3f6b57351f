/* SPDX-License-Identifier: Apache-2.0 */
/* Output of ipmitool, and its input. */
#ifndef BU_POWER_IPMI_TEXT_H
#define BU_POWER_IPMI_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The reason for which the BMC refused the session; NULL = not refused. kind NONE = the
 * BMC lacks the cipher suite. */
const char *bu_ipmi_refusal(const char *errs, const char *out,
			    enum bu_err_kind *ret_kind);
/* Splits "HOST" or "HOST:PORT"; -1 = neither. */
int bu_ipmi_split(const char *bmc, char ret_host[256], char ret_port[8]);
/* The value after "NAME   : "; "" = none. */
void bu_ipmi_field(const char *text, const char *name, char *ret, size_t size);
/* Adds the dashes that ipmitool leaves out in a GUID of unknown byte order. */
void bu_ipmi_dash(char *uuid, size_t size);
/* The id in `user list`, "2   admin   true ..."; -1 = no such user. */
int bu_ipmi_user_id(const char *text, const char *user);
bu_must int bu_ipmi_check_password(const char *password, struct bu_err *err);
/* Input of `ipmitool shell`; owned. */
char *bu_ipmi_set_password(int id, const char *password);
/* Checks the shell's output: its exit status is only that of `quit`. */
bu_must int bu_ipmi_check_changed(const char *text, const char *bmc, const char *user,
				  struct bu_err *err);

/* An entry of `-c sel elist`; line is written into. -1 = not an entry. */
struct bu_ipmi_entry {
	int64_t at_ms; /* Unix time by the BMC's clock; 0 = clock not set then */
	char text[288];
};
int bu_ipmi_entry(char *line, struct bu_ipmi_entry *ret);
/* Time from `sel time get`; 0 = the clock was never set. */
int64_t bu_ipmi_time(const char *text);
/* Rows of report.h from `-c sdr`. New reference. */
json_t *bu_ipmi_sensors(const char *text);

#endif
