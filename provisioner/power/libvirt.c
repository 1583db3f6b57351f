/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power driver for libvirt domains. Target: "<connection URI>#<domain>". The library
 * blocks, so every call has ended when start() returns.
 *
 * libvirt applies a changed boot order at the next start from off, so the persistent
 * definition is rewritten; its uuid stays, or libvirt takes it for another domain.
 */
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <string.h>

#include "base/domain_xml.h"
#include "base/text.h"
#include "provisioner/power/driver.h"

static char *
libvirt_connection(const char *target, struct bu_err *err)
{
	const char *hash = strrchr(target, '#');

	if (!hash || hash == target || !hash[1]) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "bmc '%s' is not a libvirt target; write URI#DOMAIN, for "
			   "example qemu:///system#node001",
			   target);
		return NULL;
	}
	return bu_xstrndup(target, (size_t)(hash - target));
}

static void
quiet(void *data, virErrorPtr error)
{
	(void)data;
	(void)error;
}

static int
failed(const char *doing, const char *target, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_REMOTE, 0, "%s %s: %s", doing, target,
			  virGetLastErrorMessage());
}

/* One connection; conn is NULL until it is needed, and after a failure. */
struct libvirt {
	char *uri;
	virConnectPtr conn;
};

static void *
libvirt_open(struct bu_loop *loop, const char *connection, struct bu_err *err)
{
	struct libvirt *libvirt = bu_xcalloc(1, sizeof(*libvirt));

	(void)loop;
	(void)err;
	virSetErrorFunc(NULL, quiet);
	libvirt->uri = bu_xstrdup(connection);
	return libvirt;
}

static void
hang_up(struct libvirt *libvirt)
{
	if (libvirt->conn)
		virConnectClose(libvirt->conn);
	libvirt->conn = NULL;
}

static void
libvirt_close(void *self)
{
	struct libvirt *libvirt = self;

	hang_up(libvirt);
	free(libvirt->uri);
	free(libvirt);
}

static virDomainPtr
find(virConnectPtr conn, const char *target, struct bu_err *err)
{
	const char *hash = strrchr(target, '#');
	virDomainPtr domain = hash ? virDomainLookupByName(conn, hash + 1) : NULL;

	if (!domain)
		failed("find", target, err);
	return domain;
}

static int
status(virDomainPtr domain, const struct bu_power_request *request,
       struct bu_power_answer *ret, struct bu_err *err)
{
	int state = VIR_DOMAIN_NOSTATE;

	if (virDomainGetState(domain, &state, NULL, 0) != 0)
		return failed("state of", request->target.bmc, err);
	switch (state) {
	case VIR_DOMAIN_SHUTOFF:
	case VIR_DOMAIN_CRASHED:
		ret->state = BU_POWER_OFF;
		break;
	case VIR_DOMAIN_RUNNING:
	case VIR_DOMAIN_BLOCKED:
	case VIR_DOMAIN_PAUSED:
	case VIR_DOMAIN_PMSUSPENDED:
		ret->state = BU_POWER_ON;
		break;
	case VIR_DOMAIN_SHUTDOWN:
		ret->state = BU_POWER_UNKNOWN;
		ret->move = BU_POWER_FALLS;
		break;
	default:
		ret->state = BU_POWER_UNKNOWN;
	}
	return 0;
}

static int
boot_first(virDomainPtr domain, const struct bu_power_request *request,
	   struct bu_power_answer *ret, struct bu_err *err)
{
	static const char *const orders[][2] = {[BU_BOOT_NETWORK] = {"network", "hd"},
						[BU_BOOT_DISK] = {"hd", "network"},
						[BU_BOOT_MEDIA] = {"cdrom", "hd"}};
	char *xml = virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_INACTIVE |
							VIR_DOMAIN_XML_SECURE);
	bu_autofree char *wanted =
		xml ? bu_domain_xml_reorder(xml, orders[request->first]) : NULL;
	virDomainPtr changed = NULL;

	(void)ret;
	if (wanted)
		changed = virDomainDefineXML(virDomainGetConnect(domain), wanted);
	free(xml);
	if (!changed)
		return failed("set the boot order of", request->target.bmc, err);
	virDomainFree(changed);
	return 0;
}

/* The library cannot say whether it was done. */
static int
lost(const char *doing, const char *target, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_TIMEOUT, 0, "%s %s: %s", doing, target,
			  virGetLastErrorMessage());
}

static int
switch_on(virDomainPtr domain, const struct bu_power_request *request,
	  struct bu_power_answer *ret, struct bu_err *err)
{
	int is_active = virDomainCreate(domain) == 0 ? 1 : virDomainIsActive(domain);

	(void)ret;
	if (is_active == 1)
		return 0;
	return is_active < 0 ? lost("power on", request->target.bmc, err)
			     : failed("power on", request->target.bmc, err);
}

static int
switch_off(virDomainPtr domain, const struct bu_power_request *request,
	   struct bu_power_answer *ret, struct bu_err *err)
{
	/* It may have gone off by itself in between. */
	int is_active = virDomainDestroy(domain) == 0 ? 0 : virDomainIsActive(domain);

	(void)ret;
	if (is_active == 0)
		return 0;
	return is_active < 0 ? lost("power off", request->target.bmc, err)
			     : failed("power off", request->target.bmc, err);
}

static void
add_mac(const char *mac, void *arg)
{
	bu_machine_add_mac(arg, mac);
}

static int
identity(virDomainPtr domain, const struct bu_power_request *request,
	 struct bu_power_answer *ret, struct bu_err *err)
{
	struct bu_machine *machine = &ret->machine;
	char *xml = virDomainGetXMLDesc(domain, 0);

	if (!xml || virDomainGetUUIDString(domain, machine->uuid) != 0) {
		free(xml);
		return failed("identity of", request->target.bmc, err);
	}
	bu_domain_xml_serial(xml, machine->serial, sizeof(machine->serial));
	bu_domain_xml_macs(xml, add_mac, machine);
	free(xml);
	return 0;
}

static int
console(virDomainPtr domain, const struct bu_power_request *request,
	struct bu_power_answer *ret, struct bu_err *err)
{
	char *xml = virDomainGetXMLDesc(domain, 0);
	char where[256];

	if (!xml)
		return failed("console of", request->target.bmc, err);
	bu_domain_xml_console(xml, where, sizeof(where));
	free(xml);
	ret->console.way = *where ? BU_CONSOLE_LIBVIRT : BU_CONSOLE_NONE;
	bu_text_copy(ret->console.why, sizeof(ret->console.why),
		     *where ? "" : "the domain has no serial port");
	return 0;
}

static int (*const operations[BU_POWER_OPS])(virDomainPtr domain,
					     const struct bu_power_request *request,
					     struct bu_power_answer *ret,
					     struct bu_err *err) = {
	[BU_POWER_STATUS] = status,         [BU_POWER_IDENTITY] = identity,
	[BU_POWER_BOOT_FIRST] = boot_first, [BU_POWER_SWITCH_ON] = switch_on,
	[BU_POWER_SWITCH_OFF] = switch_off, [BU_POWER_CONSOLE] = console,
};

static int
carry_out(struct libvirt *libvirt, const struct bu_power_request *request,
	  struct bu_power_answer *ret, struct bu_err *err)
{
	virDomainPtr domain;
	int rc;

	if (request->op >= BU_POWER_EVENTS)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: a virtual machine has no BMC: no event log, no "
				  "sensors, no firmware versions, nothing to restart",
				  request->target.bmc);
	if (!operations[request->op])
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: libvirt has no password to change; remove "
				  "bmc_credentials_before",
				  request->target.bmc);
	if (!libvirt->conn)
		libvirt->conn = virConnectOpen(libvirt->uri);
	if (!libvirt->conn)
		return failed("connect to", libvirt->uri, err);
	domain = find(libvirt->conn, request->target.bmc, err);
	rc = domain ? operations[request->op](domain, request, ret, err) : -1;
	if (domain)
		virDomainFree(domain);
	/* It may be the connection: the next call gets another. */
	if (rc != 0)
		hang_up(libvirt);
	return rc;
}

static struct bu_power_call *
libvirt_start(void *self, const struct bu_power_request *request, bu_power_done_fn fn,
	      void *arg)
{
	struct bu_power_answer answer = {0};
	struct bu_err err = {0};
	int rc = carry_out(self, request, &answer, &err);

	fn(rc == 0 ? &answer : NULL, rc == 0 ? NULL : &err, arg);
	return NULL;
}

/* Nothing is ever under way. */
static void
libvirt_cancel(void *self, struct bu_power_call *call)
{
	(void)self;
	(void)call;
}

const struct bu_power_driver bu_power_libvirt = {
	.name = "libvirt",
	.connection = libvirt_connection,
	.open = libvirt_open,
	.close = libvirt_close,
	.start = libvirt_start,
	.cancel = libvirt_cancel,
};
