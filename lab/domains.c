/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libvirt for up, status and reset; the only file of the lab that includes it.
 */
#include "lab/domains.h"

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <string.h>

#include "lab/render.h"

struct bu_domains {
	const struct bu_rack *rack;
	virConnectPtr conn;
};

static int
fail(struct bu_err *err, const char *what)
{
	return bu_err_set(err, BU_ERR_REMOTE, 0, "libvirt: %s: %s", what,
			  virGetLastErrorMessage());
}

/* libvirt prints errors on its own otherwise. */
static void
ignore_error(void *data, virErrorPtr error)
{
}

struct bu_domains *
bu_domains_open(const struct bu_rack *rack, struct bu_err *err)
{
	bu_autofree char *uri = bu_xasprintf(
		"qemu+unix:///system?socket=%s/run/libvirt/libvirt-sock", rack->dir);
	struct bu_domains *domains;
	virConnectPtr conn;

	virSetErrorFunc(NULL, ignore_error);
	conn = virConnectOpen(uri);
	if (!conn) {
		fail(err, "connect to the rack's libvirtd");
		return NULL;
	}
	domains = bu_xcalloc(1, sizeof(*domains));
	domains->rack = rack;
	domains->conn = conn;
	return domains;
}

void
bu_domains_close(struct bu_domains *domains)
{
	if (!domains)
		return;
	virConnectClose(domains->conn);
	free(domains);
}

int
bu_domains_kvm(struct bu_domains *domains)
{
	char *caps = virConnectGetDomainCapabilities(domains->conn, NULL, "x86_64",
						     "pc", "kvm", 0);
	int ok = caps && strstr(caps, "<mode name='host-passthrough' supported='yes'");

	free(caps);
	return ok;
}

int
bu_domains_define(struct bu_domains *domains, struct bu_err *err)
{
	for (size_t i = 0; i < domains->rack->node_count; i++) {
		const struct bu_rack_node *node = &domains->rack->nodes[i];
		bu_autofree char *xml = bu_render_domain(domains->rack, node);
		virDomainPtr domain = virDomainDefineXML(domains->conn, xml);

		if (!domain)
			return fail(err, node->name);
		virDomainFree(domain);
	}
	return 0;
}

int
bu_domains_destroy(struct bu_domains *domains, struct bu_err *err)
{
	for (size_t i = 0; i < domains->rack->node_count; i++) {
		const char *name = domains->rack->nodes[i].name;
		virDomainPtr domain = virDomainLookupByName(domains->conn, name);
		int rc = 0;

		if (!domain)
			continue;
		if (virDomainIsActive(domain) == 1)
			rc = virDomainDestroy(domain);
		/* It may have ended on its own in between. */
		if (rc != 0 && virDomainIsActive(domain) != 0)
			fail(err, name);
		else
			rc = 0;
		virDomainFree(domain);
		if (rc != 0)
			return -1;
	}
	return 0;
}

const char *
bu_domains_power(struct bu_domains *domains, const char *name)
{
	virDomainPtr domain = virDomainLookupByName(domains->conn, name);
	int state = VIR_DOMAIN_NOSTATE;
	int rc = domain ? virDomainGetState(domain, &state, NULL, 0) : -1;

	if (domain)
		virDomainFree(domain);
	if (rc != 0)
		return "unknown";
	switch (state) {
	case VIR_DOMAIN_RUNNING:
	case VIR_DOMAIN_BLOCKED:
	case VIR_DOMAIN_SHUTDOWN:
		return "on";
	case VIR_DOMAIN_SHUTOFF:
		return "off";
	case VIR_DOMAIN_PAUSED:
	case VIR_DOMAIN_PMSUSPENDED:
		return "paused";
	case VIR_DOMAIN_CRASHED:
		return "crashed";
	default:
		return "unknown";
	}
}
