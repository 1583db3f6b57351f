/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power driver for libvirt domains. Target: "<connection URI>#<domain>".
 *
 * libvirt applies a changed boot order at the next start from off, so the persistent
 * definition is rewritten; its uuid stays, or libvirt takes it for another domain.
 */
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <libxml/parser.h>
#include <libxml/tree.h>
#include <string.h>

#include "provisioner/power/power.h"

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

static void *
libvirt_open(const char *connection, struct bu_err *err)
{
	virConnectPtr conn;

	virSetErrorFunc(NULL, quiet);
	conn = virConnectOpen(connection);
	if (!conn)
		failed("connect to", connection, err);
	return conn;
}

static void
libvirt_close(void *self)
{
	virConnectClose(self);
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
libvirt_status(void *self, const char *target, enum bu_power_state *ret,
	       struct bu_err *err)
{
	virDomainPtr domain = find(self, target, err);
	int state = VIR_DOMAIN_NOSTATE;
	int rc;

	if (!domain)
		return -1;
	rc = virDomainGetState(domain, &state, NULL, 0);
	virDomainFree(domain);
	if (rc != 0)
		return failed("state of", target, err);
	switch (state) {
	case VIR_DOMAIN_SHUTOFF:
	case VIR_DOMAIN_CRASHED:
		*ret = BU_POWER_OFF;
		break;
	case VIR_DOMAIN_RUNNING:
	case VIR_DOMAIN_BLOCKED:
	case VIR_DOMAIN_PAUSED:
	case VIR_DOMAIN_SHUTDOWN: /* still on its way */
	case VIR_DOMAIN_PMSUSPENDED:
		*ret = BU_POWER_ON;
		break;
	default:
		*ret = BU_POWER_UNKNOWN;
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
libvirt_boot_first(void *self, const char *target, enum bu_boot_first first,
		   struct bu_err *err)
{
	virDomainPtr domain = find(self, target, err), changed = NULL;
	char *xml, *wanted;
	int rc = 0;

	if (!domain)
		return -1;
	xml = virDomainGetXMLDesc(domain,
				  VIR_DOMAIN_XML_INACTIVE | VIR_DOMAIN_XML_SECURE);
	wanted = xml ? reordered(xml, first) : NULL;
	if (wanted)
		changed = virDomainDefineXML(self, wanted);
	if (!changed)
		rc = failed("set the boot order of", target, err);
	else
		virDomainFree(changed);
	free(wanted);
	free(xml);
	virDomainFree(domain);
	return rc;
}

static int
libvirt_power_on(void *self, const char *target, struct bu_err *err)
{
	virDomainPtr domain = find(self, target, err);
	int rc;

	if (!domain)
		return -1;
	rc = virDomainCreate(domain);
	virDomainFree(domain);
	return rc == 0 ? 0 : failed("power on", target, err);
}

static int
libvirt_power_off(void *self, const char *target, struct bu_err *err)
{
	virDomainPtr domain = find(self, target, err);
	int rc;

	if (!domain)
		return -1;
	rc = virDomainDestroy(domain);
	/* It may have gone off by itself in between. */
	if (rc != 0 && virDomainIsActive(domain) == 0)
		rc = 0;
	virDomainFree(domain);
	return rc == 0 ? 0 : failed("power off", target, err);
}

static const struct bu_power_driver libvirt_driver = {
	.name = "libvirt",
	.connection = libvirt_connection,
	.open = libvirt_open,
	.close = libvirt_close,
	.status = libvirt_status,
	.boot_first = libvirt_boot_first,
	.power_on = libvirt_power_on,
	.power_off = libvirt_power_off,
};

static const struct bu_power_driver *const drivers[] = {&libvirt_driver};

const struct bu_power_driver *
bu_power_driver(const char *name)
{
	for (size_t i = 0; i < BU_LEN(drivers); i++)
		if (strcmp(drivers[i]->name, name) == 0)
			return drivers[i];
	return NULL;
}
