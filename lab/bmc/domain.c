/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libvirt domain as the machine behind a virtual BMC. Each call opens its own
 * connection: a BMC lives longer than a libvirtd. libvirt takes a changed boot order at
 * the next start from off, so start() rewrites the persistent definition first.
 */
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/domain_xml.h"
#include "base/text.h"
#include "lab/bmc/fetch.h"
#include "lab/bmc/machine.h"

struct domain {
	struct bu_bmc_machine machine;
	char *uri, *name;
	char *image; /* file of what is in the virtual drive */
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

static int
set_order(struct domain *self, const char *target, const char *image,
	  struct bu_err *err)
{
	size_t row = 0;
	char *xml = virDomainGetXMLDesc(self->domain, VIR_DOMAIN_XML_INACTIVE |
							      VIR_DOMAIN_XML_SECURE);
	virDomainPtr changed = NULL;
	char *wanted = NULL;
	bu_autofree char *ordered = NULL;

	while (*orders[row].target && strcmp(orders[row].target, target) != 0)
		row++;
	if (xml)
		ordered = bu_domain_xml_reorder(xml, orders[row].order);
	if (ordered)
		wanted = bu_domain_xml_cdrom(ordered, image);
	if (wanted)
		changed = virDomainDefineXML(self->conn, wanted);
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
	rc = url ? bu_lab_fetch_image(url, self->image, err) : 0;
	if (rc == 0)
		rc = set_order(self, target, url ? self->image : NULL, err);
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

	unlink(self->image);
	free(self->image);
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

static void
add_mac(const char *mac, void *arg)
{
	struct bu_bmc_identity *identity = arg;

	if (identity->mac_count < BU_BMC_MACS_MAX)
		bu_text_copy(identity->macs[identity->mac_count++],
			     sizeof(identity->macs[0]), mac);
}

struct bu_bmc_machine *
bu_bmc_machine_domain(const char *place, struct bu_bmc_identity *ret,
		      struct bu_err *err)
{
	const char *hash = strrchr(place, '#'), *tmp = getenv("TMPDIR");
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
	self->image = bu_xasprintf("%s/bringup-medium-%s-%d.iso",
				   tmp ? tmp : "/var/tmp", self->name, (int)getpid());
	if (enter(self, err) != 0) {
		domain_close(&self->machine);
		return NULL;
	}
	xml = virDomainGetXMLDesc(self->domain, 0);
	memset(ret, 0, sizeof(*ret));
	bu_domain_xml_serial(xml ? xml : "", ret->serial, sizeof(ret->serial));
	bu_domain_xml_macs(xml ? xml : "", add_mac, ret);
	virDomainGetUUIDString(self->domain, ret->uuid);
	free(xml);
	leave(self);
	return &self->machine;
}
