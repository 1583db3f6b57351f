/* SPDX-License-Identifier: Apache-2.0 */
/* The names of states and boot modes, in what bringupd and bringup-power say to each
 * other and in the log. */
#include <string.h>

#include "base/text.h"
#include "provisioner/power/power.h"

static const char *const state_names[] = {"off", "on", "unknown"};
static const char *const mode_names[] = {"", "bios", "uefi"};

const char *const bu_bmc_report_names[] = {"events", "sensors", "firmware", NULL};

const char *
bu_power_state_name(enum bu_power_state state)
{
	return state_names[state];
}

const char *
bu_boot_mode_name(enum bu_boot_mode mode)
{
	return mode_names[mode];
}

enum bu_boot_mode
bu_boot_mode_from_name(const char *name)
{
	for (int i = BU_BOOT_MODE_BIOS; i <= BU_BOOT_MODE_UEFI; i++)
		if (strcmp(name, mode_names[i]) == 0)
			return (enum bu_boot_mode)i;
	return BU_BOOT_MODE_KEPT;
}

char *
bu_power_whose(const struct bu_power_seen *seen)
{
	if (seen->unsaid)
		return bu_xstrdup("its BMC reports no serial number, UUID or MAC");
	if (seen->differs && *seen->differs)
		return bu_xasprintf("its BMC reports %s", seen->differs);
	return NULL;
}
