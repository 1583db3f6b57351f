/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the power drivers: those that the profile may name. main.c looks here.
 */
#include <string.h>

#include "base/text.h"
#include "provisioner/power/driver.h"

static const struct bu_power_driver *const drivers[] = {
#define X(id, name) &bu_power_##id,
	BU_POWER_DRIVERS(X)
#undef X
};

const struct bu_power_driver *
bu_power_driver(const char *name)
{
	for (size_t i = 0; i < BU_LEN(drivers); i++)
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	return NULL;
}

char *
bu_power_driver_names(void)
{
	char *names = NULL;

	for (size_t i = 0; i < BU_LEN(drivers); i++)
		bu_text_add(&names, ", ", "%s", drivers[i]->name);
	return names;
}
