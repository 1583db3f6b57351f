/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the serial console behind a Redfish BMC is reached. Redfish itself carries none:
 * the system's SerialConsole (or, in older trees, its manager's) names the other ways.
 * The one that we go is IPMI's serial over LAN, with the same account. Called by
 * driver.c.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "provisioner/power/redfish/redfish.h"

enum { IPMI_PORT = 623 };

/* The one that the system names, else the first of all. */
json_t *
rf_manager(struct rf_op *op, const json_t *system, struct bu_err *err)
{
	bu_autojson json_t *all = NULL;
	const json_t *named;
	char path[RF_PATH_SIZE];

	named = json_object_get(json_object_get(system, "Links"), "ManagedBy");
	if (json_array_size(named) == 0) {
		all = rf_get(op, RF_ROOT "Managers", NULL, err);
		named = json_object_get(all, "Members");
	}
	if (rf_path(op->bmc, bu_json_str(json_array_get(named, 0), "@odata.id", ""),
		    path) == 0)
		return rf_get(op, path, NULL, err);
	bu_err_set(err, BU_ERR_REMOTE, 0, "%s: the tree names no manager",
		   op->bmc->origin);
	return NULL;
}

/* What of a new SerialConsole serves: by its kind, {ServiceEnabled, Port}. */
static int
of_system(const json_t *console, struct bu_power_console *ret)
{
	const json_t *ipmi = json_object_get(console, "IPMI");
	int64_t port = bu_json_int(ipmi, "Port", IPMI_PORT);

	if (!bu_json_bool(ipmi, "ServiceEnabled", 0) || port < 1 || port > 65535)
		return 0;
	snprintf(ret->port, sizeof(ret->port), "%d", (int)port);
	return 1;
}

static int
names(const json_t *types, const char *type)
{
	return rf_tells(types) && rf_allows(types, type);
}

/* The old one: {ServiceEnabled, ConnectTypesSupported: ["IPMI", "SSH"]}. */
static int
of_manager(const json_t *console)
{
	const json_t *types = json_object_get(console, "ConnectTypesSupported");

	return bu_json_bool(console, "ServiceEnabled", 0) && names(types, "IPMI");
}

static void
say_none(const json_t *console, struct bu_power_console *ret)
{
	int ssh = bu_json_bool(json_object_get(console, "SSH"), "ServiceEnabled", 0) ||
		  names(json_object_get(console, "ConnectTypesSupported"), "SSH");

	if (console && ssh)
		bu_text_copy(
			ret->why, sizeof(ret->why),
			"its BMC offers the console by SSH and not by IPMI: switch "
			"serial over LAN on there, or log in to the BMC");
	else
		bu_text_copy(ret->why, sizeof(ret->why),
			     "its BMC offers no console by IPMI; where it has one all "
			     "the same, console = ipmi in the pool goes there");
}

/* Not its name: what that leads to the next time is another question. */
static void
take_host(const struct rf_op *op, struct bu_power_console *ret)
{
	BU_TEXT_COPY(ret->host, op->bmc->address);
	ret->way = BU_CONSOLE_IPMI;
}

int
rf_console(struct rf_op *op, struct bu_power_console *ret, struct bu_err *err)
{
	bu_autojson json_t *system = rf_system(op, err);
	bu_autojson json_t *manager = NULL;
	const json_t *console = json_object_get(system, "SerialConsole");

	if (!system)
		return -1;
	snprintf(ret->port, sizeof(ret->port), "%d", IPMI_PORT);
	if (op->console_ipmi || of_system(console, ret)) {
		take_host(op, ret);
		return 0;
	}
	if (!console) {
		manager = rf_manager(op, system, NULL);
		console = json_object_get(manager, "SerialConsole");
	}
	if (manager && of_manager(console))
		take_host(op, ret);
	else
		say_none(console, ret);
	return 0;
}
