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
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

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

/* One connection; conn is NULL until somebody asks, and after a failure. */
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
	case VIR_DOMAIN_SHUTDOWN: /* still on its way */
	case VIR_DOMAIN_PMSUSPENDED:
		ret->state = BU_POWER_ON;
		break;
	default:
		ret->state = BU_POWER_UNKNOWN;
	}
	return 0;
}

static xmlNodePtr
child(xmlNodePtr parent, const char *name)
{
	xmlNodePtr node = parent ? parent->children : NULL;

	while (node && xmlStrcmp(node->name, BAD_CAST name) != 0)
		node = node->next;
	return node;
}

/* Drops <boot> below <os> and below the devices, then writes the two that we want. */
static void
rewrite_order(xmlNodePtr root, enum bu_boot_first first)
{
	static const char *const order[][2] = {{"network", "hd"}, {"hd", "network"}};
	xmlNodePtr os = child(root, "os");
	xmlNodePtr devices = child(root, "devices");
	xmlNodePtr boot;

	for (xmlNodePtr dev = devices ? devices->children : NULL; dev; dev = dev->next)
		while ((boot = child(dev, "boot"))) {
			xmlUnlinkNode(boot);
			xmlFreeNode(boot);
		}
	while ((boot = child(os, "boot"))) {
		xmlUnlinkNode(boot);
		xmlFreeNode(boot);
	}
	for (int i = 0; os && i < 2; i++) {
		boot = xmlNewChild(os, NULL, BAD_CAST "boot", NULL);
		xmlNewProp(boot, BAD_CAST "dev",
			   BAD_CAST order[first == BU_BOOT_DISK][i]);
	}
}

static char *
reordered(const char *xml, enum bu_boot_first first)
{
	xmlDocPtr doc = xmlReadMemory(xml, (int)strlen(xml), "domain.xml", NULL,
				      XML_PARSE_NONET | XML_PARSE_NOERROR);
	xmlChar *text = NULL;
	char *copy = NULL;
	int size;

	if (!doc)
		return NULL;
	rewrite_order(xmlDocGetRootElement(doc), first);
	xmlDocDumpMemory(doc, &text, &size);
	if (text)
		copy = bu_xstrdup((const char *)text);
	xmlFree(text);
	xmlFreeDoc(doc);
	return copy;
}

static int
boot_first(virDomainPtr domain, const struct bu_power_request *request,
	   struct bu_power_answer *ret, struct bu_err *err)
{
	char *xml = virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_INACTIVE |
							VIR_DOMAIN_XML_SECURE);
	bu_autofree char *wanted = xml ? reordered(xml, request->first) : NULL;
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

static int
switch_on(virDomainPtr domain, const struct bu_power_request *request,
	  struct bu_power_answer *ret, struct bu_err *err)
{
	(void)ret;
	if (virDomainCreate(domain) == 0 || virDomainIsActive(domain) == 1)
		return 0;
	return failed("power on", request->target.bmc, err);
}

static int
switch_off(virDomainPtr domain, const struct bu_power_request *request,
	   struct bu_power_answer *ret, struct bu_err *err)
{
	(void)ret;
	/* It may have gone off by itself in between. */
	if (virDomainDestroy(domain) == 0 || virDomainIsActive(domain) == 0)
		return 0;
	return failed("power off", request->target.bmc, err);
}

static void
add_mac(struct bu_machine *machine, xmlNodePtr interface)
{
	xmlChar *text = NULL;

	if (xmlStrcmp(interface->name, BAD_CAST "interface") == 0)
		text = xmlGetProp(child(interface, "mac"), BAD_CAST "address");
	bu_machine_add_mac(machine, (const char *)text);
	xmlFree(text);
}

/* What the domain's SMBIOS says: <system><entry name="serial">. */
static void
set_serial(struct bu_machine *machine, xmlNodePtr sysinfo)
{
	xmlNodePtr system = child(sysinfo, "system");

	for (xmlNodePtr entry = system ? system->children : NULL; entry;
	     entry = entry->next) {
		xmlChar *name = xmlGetProp(entry, BAD_CAST "name");
		xmlChar *text = NULL;

		if (name && xmlStrcmp(name, BAD_CAST "serial") == 0)
			text = xmlNodeGetContent(entry);
		if (text)
			bu_text_copy(machine->serial, sizeof(machine->serial),
				     (const char *)text);
		xmlFree(text);
		xmlFree(name);
	}
}

static int
identity(virDomainPtr domain, const struct bu_power_request *request,
	 struct bu_power_answer *ret, struct bu_err *err)
{
	char *xml = virDomainGetXMLDesc(domain, 0);
	xmlDocPtr doc = xml ? xmlReadMemory(xml, (int)strlen(xml), "domain.xml", NULL,
					    XML_PARSE_NONET | XML_PARSE_NOERROR)
			    : NULL;
	xmlNodePtr root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlNodePtr devices = child(root, "devices");

	free(xml);
	if (!root || virDomainGetUUIDString(domain, ret->machine.uuid) != 0) {
		xmlFreeDoc(doc);
		return failed("identity of", request->target.bmc, err);
	}
	/* There may be several: of the firmware's configuration, too. */
	for (xmlNodePtr part = root->children; part; part = part->next)
		if (xmlStrcmp(part->name, BAD_CAST "sysinfo") == 0)
			set_serial(&ret->machine, part);
	for (xmlNodePtr dev = devices ? devices->children : NULL; dev; dev = dev->next)
		add_mac(&ret->machine, dev);
	xmlFreeDoc(doc);
	return 0;
}

static int (*const operations[BU_POWER_OPS])(virDomainPtr domain,
					     const struct bu_power_request *request,
					     struct bu_power_answer *ret,
					     struct bu_err *err) = {
	[BU_POWER_STATUS] = status,         [BU_POWER_IDENTITY] = identity,
	[BU_POWER_BOOT_FIRST] = boot_first, [BU_POWER_SWITCH_ON] = switch_on,
	[BU_POWER_SWITCH_OFF] = switch_off,
};

static int
carry_out(struct libvirt *libvirt, const struct bu_power_request *request,
	  struct bu_power_answer *ret, struct bu_err *err)
{
	virDomainPtr domain;
	int rc;

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
