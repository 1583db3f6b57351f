/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the power drivers; main.c looks here. A driver is in it once the profile
 * may name it. */
#include <string.h>

#include "base/text.h"
#include "provisioner/power/driver.h"

static const struct bu_power_driver *const drivers[] = {
	&bu_power_libvirt, &bu_power_ipmi, &bu_power_redfish};

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
