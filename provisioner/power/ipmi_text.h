/* SPDX-License-Identifier: Apache-2.0 */
/* What ipmitool prints, and what it is told. */
#ifndef BU_POWER_IPMI_TEXT_H
#define BU_POWER_IPMI_TEXT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Why there is no session; NULL: it was not refused. kind NONE: it does not have the
 * cipher suite. */
const char *bu_ipmi_refusal(const char *errs, const char *out,
			    enum bu_err_kind *ret_kind);
/* "HOST" or "HOST:PORT"; -1: it is none of them. */
int bu_ipmi_split(const char *bmc, char ret_host[256], char ret_port[8]);
/* Behind "NAME   : "; "" when there is none. */
void bu_ipmi_field(const char *text, const char *name, char *ret, size_t size);
/* A GUID whose byte order ipmitool does not know comes without dashes. */
void bu_ipmi_dash(char *uuid, size_t size);
/* In what `user list` prints, "2   admin   true ..."; -1: not there. */
int bu_ipmi_user_id(const char *text, const char *user);
bu_must int bu_ipmi_check_password(const char *password, struct bu_err *err);
/* What `ipmitool shell` reads; owned. */
char *bu_ipmi_set_password(int id, const char *password);
/* What the shell printed: its exit status is that of `quit`, whatever went before. */
bu_must int bu_ipmi_check_changed(const char *text, const char *bmc, const char *user,
				  struct bu_err *err);

/* A line of `-c sel elist`, which is written into. -1: it is none. */
struct bu_ipmi_entry {
	int64_t at_ms; /* Unix time by the BMC's clock; 0 = it had none then */
	char text[288];
};
int bu_ipmi_entry(char *line, struct bu_ipmi_entry *ret);
/* Of `sel time get`; 0 = its clock was never set. */
int64_t bu_ipmi_time(const char *text);
/* Of `-c sdr`: rows as report.h has them. New reference. */
json_t *bu_ipmi_sensors(const char *text);

#endif
