/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power driver for IPMI 2.0: what is asked of ipmitool for power, boot, identity and
 * accounts; ipmi_run.c runs it, ipmi_report.c asks for the rest. Target: "HOST" or
 * "HOST:PORT".
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "base/worker.h"
#include "provisioner/power/driver.h"
#include "provisioner/power/ipmi_impl.h"
#include "provisioner/power/ipmi_text.h"

/* --- the target --- */

static char *
ipmi_connection(const char *bmc, struct bu_err *err)
{
	char host[256], port[8];

	if (bu_ipmi_split(bmc, host, port) == 0)
		return bu_xstrdup("");
	bu_err_set(err, BU_ERR_INVAL, 0,
		   "bmc '%s' is not an IPMI target; write HOST or HOST:PORT", bmc);
	return NULL;
}

/* --- what is asked --- */

/* ipmitool's own words. */
static const struct {
	const char *says;
	enum bu_power_state state;
} states[] = {
	{"Chassis Power is off", BU_POWER_OFF},
	{"Chassis Power is on", BU_POWER_ON},
};
static const char boot_from_disk[] = "Force Boot from default Hard-Drive";
static const char boot_from_network[] = "Force PXE";
static const char boot_flags_invalid[] = "Boot Flag Invalid";
static const char boot_by_uefi[] = "EFI boot";

static void
on_status(struct bu_power_call *call, const char *text)
{
	call->answer.state = BU_POWER_UNKNOWN;
	for (size_t i = 0; i < BU_LEN(states); i++)
		if (strstr(text, states[i].says))
			call->answer.state = states[i].state;
	bu_ipmi_end(call, NULL);
}

static void
on_done(struct bu_power_call *call, const char *text)
{
	(void)text;
	bu_ipmi_end(call, NULL);
}

static void
on_fru(struct bu_power_call *call, const char *text)
{
	/* Firmware takes any of them for the serial number of the system. */
	static const struct {
		const char *field;
		enum bu_number_of of;
	} others[] = {
		{"Board Serial", BU_NUMBER_BOARD},
		{"Chassis Serial", BU_NUMBER_CHASSIS},
	};
	struct bu_machine *machine = &call->answer.machine;
	char number[sizeof(machine->serial)];

	bu_ipmi_field(text, "Product Serial", machine->serial, sizeof(machine->serial));
	for (size_t i = 0; i < BU_LEN(others); i++) {
		bu_ipmi_field(text, others[i].field, number, sizeof(number));
		bu_machine_add_number(machine, others[i].of, number);
	}
	bu_ipmi_end(call, NULL);
}

static void
on_guid(struct bu_power_call *call, const char *text)
{
	struct bu_machine *machine = &call->answer.machine;

	bu_ipmi_field(text, "System GUID", machine->uuid, sizeof(machine->uuid));
	bu_ipmi_dash(machine->uuid, sizeof(machine->uuid));
	BU_IPMI_ASK(call, on_fru, 1, "fru", "print", "0");
}

/* The device is what counts. BMCs are known to lose the UEFI bit and the valid flag,
 * and to boot as they were told all the same: that is said, and the boot decides. */
static void
on_boot_read(struct bu_power_call *call, const char *text)
{
	const char *wanted = call->request->first == BU_BOOT_DISK ? boot_from_disk
								  : boot_from_network;
	const char *bmc = call->request->target.bmc;
	char device[64];
	struct bu_err err;

	bu_ipmi_field(text, "Boot Device Selector", device, sizeof(device));
	if (strcmp(device, wanted) != 0) {
		bu_err_set(&err, BU_ERR_VERIFY, 0,
			   "IPMI of %s: told to boot from %s, it shows '%s'", bmc,
			   wanted, device);
		bu_ipmi_end(call, &err);
		return;
	}
	if (strstr(text, boot_flags_invalid))
		bu_warn("ipmi", "%s: the boot flags read back as not valid", bmc);
	if (call->request->mode == BU_BOOT_MODE_UEFI && !strstr(text, boot_by_uefi))
		bu_warn("ipmi", "%s: the UEFI bit of the boot flags was lost", bmc);
	bu_ipmi_end(call, NULL);
}

static void
on_password(struct bu_power_call *call, const char *text)
{
	const struct bu_power_target *target = &call->request->target;
	struct bu_err err;
	int ret = bu_ipmi_check_changed(text, target->bmc, target->user, &err);

	bu_ipmi_end(call, ret ? &err : NULL);
}

/* The new password goes by standard input: arguments are for everybody on this machine
 * to read. */
static void
on_users(struct bu_power_call *call, const char *text)
{
	const struct bu_power_request *request = call->request;
	const char *user = request->target.user ? request->target.user : "";
	int id = bu_ipmi_user_id(text, user);
	struct bu_err err;

	if (id > 0) {
		call->input = bu_ipmi_set_password(id, request->new_password);
		BU_IPMI_ASK(call, on_password, 0, "shell");
		return;
	}
	bu_err_set(&err, BU_ERR_REMOTE, 0, "IPMI of %s: it lists no account '%s'",
		   request->target.bmc, user);
	bu_ipmi_end(call, &err);
}

static void
set_password(struct bu_power_call *call)
{
	struct bu_err err;

	if (bu_ipmi_check_password(call->request->new_password, &err) != 0) {
		bu_err_wrap(&err, "IPMI of %s", call->request->target.bmc);
		bu_ipmi_end(call, &err);
		return;
	}
	BU_IPMI_ASK(call, on_users, 0, "user", "list", "1");
}

/* The suite is known now, and so is that the BMC takes the credentials. */
static void
on_console(struct bu_power_call *call, const char *text)
{
	struct bu_power_console *console = &call->answer.console;

	(void)text;
	console->way = BU_CONSOLE_IPMI;
	BU_TEXT_COPY(console->host, call->host);
	BU_TEXT_COPY(console->port, call->port);
	bu_text_copy(console->suite, sizeof(console->suite), bu_ipmi_suite(call));
	bu_ipmi_end(call, NULL);
}

static void
on_boot_set(struct bu_power_call *call, const char *text)
{
	(void)text;
	BU_IPMI_ASK(call, on_boot_read, 0, "chassis", "bootparam", "get", "5");
}

static void
begin(struct bu_power_call *call)
{
	const struct bu_power_request *request = call->request;

	switch (request->op) {
	case BU_POWER_STATUS:
	case BU_POWER_LOGIN:
		BU_IPMI_ASK(call, on_status, 0, "chassis", "power", "status");
		return;
	case BU_POWER_IDENTITY:
		BU_IPMI_ASK(call, on_guid, 1, "mc", "guid");
		return;
	case BU_POWER_BOOT_FIRST:
		BU_IPMI_ASK(call, on_boot_set, 0, "chassis", "bootdev",
			    request->first == BU_BOOT_DISK ? "disk" : "pxe",
			    request->mode == BU_BOOT_MODE_UEFI ? "options=efiboot"
							       : NULL);
		return;
	case BU_POWER_SWITCH_ON:
	case BU_POWER_SWITCH_OFF:
		BU_IPMI_ASK(call, on_done, 0, "chassis", "power",
			    request->op == BU_POWER_SWITCH_ON ? "on" : "off");
		return;
	case BU_POWER_SET_PASSWORD:
		set_password(call);
		return;
	case BU_POWER_CONSOLE:
		BU_IPMI_ASK(call, on_console, 0, "chassis", "power", "status");
		return;
	default:
		bu_ipmi_report(call);
	}
}

/* --- the vtable --- */

static void *
ipmi_open(struct bu_loop *loop, const char *connection, struct bu_err *err)
{
	struct bu_ipmi *ipmi = bu_xcalloc(1, sizeof(*ipmi));

	(void)connection;
	(void)err;
	ipmi->loop = loop;
	return ipmi;
}

static void
ipmi_close(void *self)
{
	struct bu_ipmi *ipmi = self;
	struct bu_ipmi_known *known;

	while ((known = ipmi->known)) {
		ipmi->known = known->next;
		free(known->bmc);
		free(known);
	}
	free(ipmi);
}

static struct bu_ipmi_known *
known_of(struct bu_ipmi *ipmi, const char *bmc)
{
	struct bu_ipmi_known *known = ipmi->known;

	while (known && strcmp(known->bmc, bmc) != 0)
		known = known->next;
	if (known)
		return known;
	known = bu_xcalloc(1, sizeof(*known));
	known->bmc = bu_xstrdup(bmc);
	known->next = ipmi->known;
	ipmi->known = known;
	return known;
}

static struct bu_power_call *
ipmi_start(void *self, const struct bu_power_request *request, bu_power_done_fn fn,
	   void *arg)
{
	struct bu_ipmi *ipmi = self;
	struct bu_power_call *call = bu_xcalloc(1, sizeof(*call)),
			     **link = &ipmi->calls;
	int ended = 0;

	call->ipmi = ipmi;
	call->known = known_of(ipmi, request->target.bmc);
	call->request = request;
	call->fn = fn;
	call->arg = arg;
	while (*link)
		link = &(*link)->next;
	*link = call;
	call->ended = &ended;
	begin(call);
	if (ended) /* for want of the program */
		return NULL;
	call->ended = NULL;
	return call;
}

static void
ipmi_cancel(void *self, struct bu_power_call *call)
{
	(void)self;
	bu_ipmi_take_back(call);
}

const struct bu_power_driver bu_power_ipmi = {
	.name = "ipmi",
	.connection = ipmi_connection,
	.open = ipmi_open,
	.close = ipmi_close,
	.start = ipmi_start,
	.cancel = ipmi_cancel,
};
