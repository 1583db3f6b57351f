/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libvirt domain as the machine behind a virtual BMC. Each call opens its own
 * connection: a BMC lives longer than a libvirtd. libvirt takes a changed boot order at
 * the next start from off, so start() rewrites the persistent definition first.
 */
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

#include "base/text.h"
#include "lab/bmc/machine.h"

struct domain {
	struct bu_bmc_machine machine;
	char *uri, *name;
	virConnectPtr conn;
	virDomainPtr domain;
};

static int
failed(const struct domain *self, const char *doing, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_REMOTE, 0, "%s %s#%s: %s", doing, self->uri,
			  self->name, virGetLastErrorMessage());
}

static void
quiet(void *data, virErrorPtr error)
{
}

static void
leave(struct domain *self)
{
	if (self->domain)
		virDomainFree(self->domain);
	if (self->conn)
		virConnectClose(self->conn);
	self->domain = NULL;
	self->conn = NULL;
}

static int
enter(struct domain *self, struct bu_err *err)
{
	virSetErrorFunc(NULL, quiet);
	self->conn = virConnectOpen(self->uri);
	self->domain =
		self->conn ? virDomainLookupByName(self->conn, self->name) : NULL;
	if (self->domain)
		return 0;
	failed(self, "find", err);
	leave(self);
	return -1;
}

static xmlNodePtr
child(xmlNodePtr parent, const char *name)
{
	xmlNodePtr node = parent ? parent->children : NULL;

	while (node && xmlStrcmp(node->name, BAD_CAST name) != 0)
		node = node->next;
	return node;
}

static void
drop_boot(xmlNodePtr below)
{
	xmlNodePtr boot;

	while ((boot = child(below, "boot"))) {
		xmlUnlinkNode(boot);
		xmlFreeNode(boot);
	}
}

/* The domain's words for Redfish's: what comes first, what after it. */
static const struct {
	const char *target;
	const char *order[2];
} orders[] = {
	{"Hdd", {"hd", "network"}},
	{"Cd", {"cdrom", "hd"}},
	{"Usb", {"cdrom", "hd"}},
	{"", {"network", "hd"}},
};

static char *
reordered(const char *xml, const char *target)
{
	xmlDocPtr doc = xmlReadMemory(xml, (int)strlen(xml), "domain.xml", NULL,
				      XML_PARSE_NONET | XML_PARSE_NOERROR);
	xmlNodePtr root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlNodePtr os = child(root, "os"), devices = child(root, "devices");
	xmlChar *text = NULL;
	char *copy = NULL;
	size_t row = 0;
	int size;

	if (!os)
		goto out;
	while (*orders[row].target && strcmp(orders[row].target, target) != 0)
		row++;
	for (xmlNodePtr dev = devices ? devices->children : NULL; dev; dev = dev->next)
		drop_boot(dev);
	drop_boot(os);
	for (int i = 0; i < 2; i++)
		xmlNewProp(xmlNewChild(os, NULL, BAD_CAST "boot", NULL), BAD_CAST "dev",
			   BAD_CAST orders[row].order[i]);
	xmlDocDumpMemory(doc, &text, &size);
	copy = text ? bu_xstrdup((const char *)text) : NULL;
	xmlFree(text);
out:
	xmlFreeDoc(doc);
	return copy;
}

static int
set_order(struct domain *self, const char *target, struct bu_err *err)
{
	char *xml = virDomainGetXMLDesc(self->domain, VIR_DOMAIN_XML_INACTIVE |
							      VIR_DOMAIN_XML_SECURE);
	char *wanted = xml ? reordered(xml, target) : NULL;
	virDomainPtr changed = wanted ? virDomainDefineXML(self->conn, wanted) : NULL;

	free(xml);
	free(wanted);
	if (!changed)
		return failed(self, "set the boot order of", err);
	virDomainFree(changed);
	return 0;
}

static int
domain_is_on(struct bu_bmc_machine *machine, int *ret, struct bu_err *err)
{
	struct domain *self = (struct domain *)machine;
	int active;

	if (enter(self, err) != 0)
		return -1;
	active = virDomainIsActive(self->domain);
	if (active < 0)
		failed(self, "ask", err);
	else
		*ret = active;
	leave(self);
	return active < 0 ? -1 : 0;
}

static int
domain_start(struct bu_bmc_machine *machine, const char *target, const char *url,
	     struct bu_err *err)
{
	struct domain *self = (struct domain *)machine;
	int rc;

	if (enter(self, err) != 0)
		return -1;
	rc = set_order(self, target, err);
	if (rc == 0 && virDomainIsActive(self->domain) == 0 &&
	    virDomainCreate(self->domain) != 0)
		rc = failed(self, "start", err);
	leave(self);
	return rc;
}

static int
domain_stop(struct bu_bmc_machine *machine, struct bu_err *err)
{
	struct domain *self = (struct domain *)machine;
	int rc;

	if (enter(self, err) != 0)
		return -1;
	rc = virDomainDestroy(self->domain);
	/* It may have gone off by itself in between. */
	if (rc != 0 && virDomainIsActive(self->domain) == 0)
		rc = 0;
	if (rc != 0)
		failed(self, "stop", err);
	leave(self);
	return rc;
}

static int
domain_ask_off(struct bu_bmc_machine *machine, struct bu_err *err)
{
	struct domain *self = (struct domain *)machine;
	int rc;

	if (enter(self, err) != 0)
		return -1;
	rc = virDomainShutdown(self->domain);
	if (rc != 0)
		failed(self, "shut down", err);
	leave(self);
	return rc;
}

static void
domain_close(struct bu_bmc_machine *machine)
{
	struct domain *self = (struct domain *)machine;

	free(self->uri);
	free(self->name);
	free(self);
}

static const struct bu_bmc_machine_ops domain_ops = {
	.name = "libvirt",
	.is_on = domain_is_on,
	.start = domain_start,
	.stop = domain_stop,
	.ask_off = domain_ask_off,
	.close = domain_close,
};

/* <sysinfo><system><entry name='serial'>, else what QEMU would say: nothing. */
static void
read_serial(xmlNodePtr root, struct bu_bmc_identity *ret)
{
	xmlNodePtr entry = child(child(child(root, "sysinfo"), "system"), "entry");

	for (; entry; entry = entry->next) {
		xmlChar *name = xmlGetProp(entry, BAD_CAST "name");
		xmlChar *text = xmlNodeGetContent(entry);

		if (name && xmlStrcmp(name, BAD_CAST "serial") == 0)
			bu_text_copy(ret->serial, sizeof(ret->serial),
				     (const char *)text);
		xmlFree(name);
		xmlFree(text);
	}
}

static void
read_identity(const char *xml, struct bu_bmc_identity *ret)
{
	xmlDocPtr doc = xmlReadMemory(xml, (int)strlen(xml), "domain.xml", NULL,
				      XML_PARSE_NONET | XML_PARSE_NOERROR);
	xmlNodePtr root = doc ? xmlDocGetRootElement(doc) : NULL;
	xmlNodePtr device = child(root, "devices");

	memset(ret, 0, sizeof(*ret));
	read_serial(root, ret);
	for (device = device ? device->children : NULL;
	     device && ret->mac_count < BU_BMC_MACS_MAX; device = device->next) {
		xmlNodePtr mac = child(device, "mac");
		xmlChar *address = mac ? xmlGetProp(mac, BAD_CAST "address") : NULL;

		if (address)
			bu_text_copy(ret->macs[ret->mac_count++], sizeof(ret->macs[0]),
				     (const char *)address);
		xmlFree(address);
	}
	xmlFreeDoc(doc);
}

struct bu_bmc_machine *
bu_bmc_machine_domain(const char *place, struct bu_bmc_identity *ret,
		      struct bu_err *err)
{
	const char *hash = strrchr(place, '#');
	struct domain *self;
	char *xml;

	if (!hash || hash == place || !hash[1]) {
		bu_err_set(err, BU_ERR_USAGE, 0,
			   "machine '%s': write URI#DOMAIN, for example "
			   "qemu:///system#node001",
			   place);
		return NULL;
	}
	self = bu_xcalloc(1, sizeof(*self));
	self->machine.ops = &domain_ops;
	self->uri = bu_xstrndup(place, (size_t)(hash - place));
	self->name = bu_xstrdup(hash + 1);
	if (enter(self, err) != 0) {
		domain_close(&self->machine);
		return NULL;
	}
	xml = virDomainGetXMLDesc(self->domain, 0);
	read_identity(xml ? xml : "", ret);
	virDomainGetUUIDString(self->domain, ret->uuid);
	free(xml);
	leave(self);
	return &self->machine;
}
