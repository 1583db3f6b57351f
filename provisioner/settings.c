/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the daemon's own configuration with iniparser: one short, flat file. */
#include "provisioner/settings.h"

#include <errno.h>
#include <iniparser.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *key; /* as iniparser names it */
	const char *fallback;
	size_t offset;
} rows[] = {
#define X(field, fallback, help)                                                       \
	{"bringupd:" #field, fallback, offsetof(struct bu_settings, field)},
	BU_SETTINGS(X)
#undef X
};

static char **
slot(struct bu_settings *settings, size_t row)
{
	return (char **)(void *)((char *)settings + rows[row].offset);
}

static int
known(const char *key)
{
	enum bu_state state;

	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (strcmp(rows[i].key, key) == 0)
			return 1;
	return strncmp(key, "limits:", 7) == 0 &&
	       bu_state_from_name(key + 7, &state, NULL) == 0;
}

static int
check_section(const dictionary *ini, const char *section, struct bu_err *err)
{
	int count = iniparser_getsecnkeys(ini, section);
	bu_autofree const char **keys = bu_xcalloc((size_t)count + 1, sizeof(*keys));

	iniparser_getseckeys(ini, section, keys);
	for (int i = 0; i < count; i++)
		if (!known(keys[i]))
			return bu_err_set(
				err, BU_ERR_INVAL, 0,
				"unknown key '%s'; see the sample bringupd.conf",
				keys[i]);
	return 0;
}

static int
read_limits(const dictionary *ini, struct bu_settings *ret, struct bu_err *err)
{
	for (int state = 0; state < BU_STATE_COUNT; state++) {
		char key[64];
		int value;

		snprintf(key, sizeof(key), "limits:%s",
			 bu_state_name((enum bu_state)state));
		value = iniparser_getint(ini, key, 0);
		if (value < 0 ||
		    (value && bu_state_info((enum bu_state)state)->settled))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "'%s' must be seconds, of an unsettled state",
					  key);
		ret->limit_s[state] = value;
	}
	return 0;
}

int
bu_settings_load(const char *path, struct bu_settings *ret, struct bu_err *err)
{
	dictionary *ini;
	int rc = 0;

	if (access(path, R_OK) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "read '%s'", path);
	ini = iniparser_load(path);
	if (!ini)
		return bu_err_set(err, BU_ERR_INVAL, 0, "'%s' is no INI file", path);
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; rc == 0 && i < iniparser_getnsec(ini); i++)
		rc = check_section(ini, iniparser_getsecname(ini, i), err);
	if (rc == 0)
		rc = read_limits(ini, ret, err);
	for (size_t i = 0; i < BU_LEN(rows); i++)
		*slot(ret, i) = bu_xstrdup(
			iniparser_getstring(ini, rows[i].key, rows[i].fallback));
	iniparser_freedict(ini);
	if (rc == 0)
		return 0;
	bu_settings_fini(ret);
	return bu_err_wrap(err, "%s", path);
}

void
bu_settings_fini(struct bu_settings *settings)
{
	for (size_t i = 0; i < BU_LEN(rows); i++)
		free(*slot(settings, i));
	memset(settings, 0, sizeof(*settings));
}
