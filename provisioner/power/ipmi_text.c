/* SPDX-License-Identifier: Apache-2.0 */
/* What ipmitool prints, and what it is told; for ipmi.c. Pure text. */
#include "provisioner/power/ipmi_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/text.h"
#include "base/url.h"
#include "provisioner/power/report.h"

/* IPMI 2.0 has 20, and some BMCs that take them know another password then. */
enum { PASSWORD_MAX = 16, PORT = 623 };

/* ipmitool's own words. */
static const char password_is_set[] = "Set User Password command successful";

/* Behind "NAME   : " at the beginning of a line; "" when there is none. */
void
bu_ipmi_field(const char *text, const char *name, char *ret, size_t size)
{
	const char *at = text;

	ret[0] = '\0';
	while ((at = strstr(at, name))) {
		const char *colon = at + strlen(name);

		colon += strspn(colon, " \t");
		if (*colon == ':') {
			colon += 1 + strspn(colon + 1, " \t");
			bu_text_copy_part(ret, size, colon, strcspn(colon, "\r\n"));
			return;
		}
		at = colon;
	}
}

/* A GUID whose byte order ipmitool does not know comes without dashes. */
void
bu_ipmi_dash(char *uuid, size_t size)
{
	bu_autofree char *plain = bu_xstrdup(uuid);

	if (strlen(plain) == 32)
		snprintf(uuid, size, "%.8s-%.4s-%.4s-%.4s-%.12s", plain, plain + 8,
			 plain + 12, plain + 16, plain + 20);
}

int
bu_ipmi_user_id(const char *text, const char *user)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		char name[32];
		int id;

		line += *line == '\n';
		if (sscanf(line, "%d %31s", &id, name) == 2 && strcmp(name, user) == 0)
			return id;
	}
	return -1;
}

int
bu_ipmi_check_password(const char *password, struct bu_err *err)
{
	if (*password && strlen(password) <= PASSWORD_MAX &&
	    bu_text_is_ascii(password) && !strpbrk(password, " \"'\\#"))
		return 0;
	return bu_err_set(err, BU_ERR_INVAL, 0,
			  "a new password has 1 to %d characters, no blanks, quotes, "
			  "backslash or #",
			  PASSWORD_MAX);
}

char *
bu_ipmi_set_password(int id, const char *password)
{
	return bu_xasprintf("user set password %d %s %d\nquit\n", id, password,
			    PASSWORD_MAX);
}

int
bu_ipmi_check_changed(const char *text, const char *bmc, const char *user,
		      struct bu_err *err)
{
	if (strstr(text, password_is_set))
		return 0;
	return bu_err_set(err, BU_ERR_REMOTE, 0,
			  "IPMI of %s: it did not take the new password of account "
			  "'%s'; look at its rules for passwords, and at what this "
			  "account may do",
			  bmc, user);
}

int
bu_ipmi_split(const char *bmc, char ret_host[256], char ret_port[8])
{
	struct bu_url url;

	if (bu_url_parse(bmc, &url) != 0 || !bu_url_is_host(&url) || url.port == 0)
		return -1;
	bu_text_copy(ret_host, 256, url.host);
	snprintf(ret_port, 8, "%d", url.port < 0 ? PORT : url.port);
	return 0;
}

/* What ipmitool says when there is no session, and what that means. */
static const struct {
	const char *says;
	enum bu_err_kind kind; /* NONE: the suite is not there */
} refusals[] = {
	{"no matching cipher suite", BU_ERR_NONE},
	{"invalid authentication algorithm", BU_ERR_NONE},
	{"invalid integrity algorithm", BU_ERR_NONE},
	{"invalid confidentiality algorithm", BU_ERR_NONE},
	{"RAKP 2 HMAC is invalid", BU_ERR_DENIED},
	{"unauthorized name", BU_ERR_DENIED},
	{"insufficient resources", BU_ERR_REMOTE},
	{"Unable to establish", BU_ERR_REMOTE},
	/* Sent, and not answered: it may have been done. */
	{"Unable to set Chassis Power Control", BU_ERR_TIMEOUT},
};

const char *
bu_ipmi_refusal(const char *errs, const char *out, enum bu_err_kind *ret_kind)
{
	for (size_t i = 0; i < BU_LEN(refusals); i++) {
		if (!strstr(errs, refusals[i].says) && !strstr(out, refusals[i].says))
			continue;
		*ret_kind = refusals[i].kind;
		return refusals[i].says;
	}
	return NULL;
}

/* "11/23/26", "11/23/2026" and "02:04:34", perhaps with " UTC". */
static int64_t
time_of(const char *date, const char *clock)
{
	struct tm at = {0};
	char iso[32];

	if (sscanf(date, "%2d/%2d/%4d", &at.tm_mon, &at.tm_mday, &at.tm_year) != 3 ||
	    sscanf(clock, "%2d:%2d:%2d", &at.tm_hour, &at.tm_min, &at.tm_sec) != 3)
		return 0;
	snprintf(iso, sizeof(iso), "%04d-%02d-%02dT%02d:%02d:%02dZ",
		 at.tm_year + (at.tm_year < 100 ? 2000 : 0), at.tm_mon, at.tm_mday,
		 at.tm_hour, at.tm_min, at.tm_sec);
	return bu_bmc_time_read(iso);
}

int64_t
bu_ipmi_time(const char *text)
{
	char date[16] = "", clock[16] = "";

	return sscanf(text, "%15s %15s", date, clock) == 2 ? time_of(date, clock) : 0;
}

enum { COLUMNS = 4 };

/* Cuts a line at its first commas; how many columns there are. The last one keeps the
 * rest. */
static int
cut(char *line, char *columns[COLUMNS])
{
	int count = 0;

	while (line && count < COLUMNS) {
		columns[count++] = line;
		line = strchr(line, ',');
		if (line && count < COLUMNS)
			*line++ = '\0';
	}
	return count;
}

/* "2,11/23/26,02:04:34 UTC,Temperature Inlet,Upper Critical,Asserted,Reading 0 > ..."
 */
int
bu_ipmi_entry(char *line, struct bu_ipmi_entry *ret)
{
	char *columns[COLUMNS];
	size_t size = 0;

	/* The numbers of entries are hexadecimal. */
	if (cut(line, columns) < COLUMNS ||
	    !bu_text_is(bu_text_trim(columns[0]), "0123456789abcdef"))
		return -1;
	ret->at_ms = time_of(bu_text_trim(columns[1]), bu_text_trim(columns[2]));
	for (const char *at = columns[3]; *at && size + 3 < sizeof(ret->text); at++) {
		ret->text[size++] = *at;
		if (*at == ',')
			ret->text[size++] = ' ';
	}
	ret->text[size] = '\0';
	return 0;
}

/* ipmitool's words for how a sensor is, and ours. */
static const struct {
	const char *word, *health, *state;
} healths[] = {
	{"ok", "ok", "enabled"},        {"ns", "", "absent"},
	{"nc", "warning", "enabled"},   {"cr", "critical", "enabled"},
	{"nr", "critical", "enabled"},  {"lnc", "warning", "enabled"},
	{"unc", "warning", "enabled"},  {"lcr", "critical", "enabled"},
	{"ucr", "critical", "enabled"}, {"lnr", "critical", "enabled"},
	{"unr", "critical", "enabled"},
};

static const struct {
	const char *word, *unit;
} units[] = {{"degrees C", "C"}, {"Watts", "W"}, {"Volts", "V"}, {"percent", "%"}};

/* "Inlet Temp,35,degrees C,ok", "Fan 3,,,ns" */
static void
add_sensor(char *line, json_t *list)
{
	char *columns[COLUMNS], *end = NULL;
	bu_autojson json_t *value = NULL;
	const char *unit;
	double number;

	if (cut(line, columns) < COLUMNS)
		return;
	number = strtod(columns[1], &end);
	if (*columns[1] && !*end)
		value = json_real(number);
	unit = columns[2];
	for (size_t i = 0; i < BU_LEN(units); i++)
		if (strcmp(units[i].word, unit) == 0)
			unit = units[i].unit;
	columns[3] = bu_text_trim(columns[3]);
	for (size_t i = 0; i < BU_LEN(healths); i++)
		if (strcmp(healths[i].word, columns[3]) == 0) {
			bu_bmc_sensor_add(list, columns[0], value, unit,
					  healths[i].health, healths[i].state);
			return;
		}
	bu_bmc_sensor_add(list, columns[0], value, unit, "", "");
}

json_t *
bu_ipmi_sensors(const char *text)
{
	bu_autofree char *lines = bu_xstrdup(text);
	json_t *list = json_array();
	char *rest, *line;

	for (line = strtok_r(lines, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		add_sensor(line, list);
	return list;
}
