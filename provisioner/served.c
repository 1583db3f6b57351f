/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a profile into what dnsmasq is told; bringupd calls it at the start and after
 * each change of the site. Pure.
 */
#include "provisioner/served.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "base/url.h"
#include "profiles/nodeset/names.h"

/* What DNS answers: the site's names and our own; owned. */
static char *
print_names(const struct bu_desired *desired, const char *address)
{
	const char *domain = desired ? desired->site.domain : NULL;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	bu_assert(out);
	fprintf(out, "%s bringup%s%s\n", address, domain ? " bringup." : "",
		domain ? domain : "");
	if (desired)
		bu_names_print_hosts(desired, out);
	fclose(out);
	return text;
}

static uint32_t
mask_of(const struct bu_desired_network *network)
{
	int bits = network->cidr.prefix_len;

	return bits ? UINT32_MAX << (32 - bits) : 0;
}

/* Is the appliance in this network? */
static int
is_here(const struct bu_desired_network *network, const char *address)
{
	struct in_addr in;

	return inet_pton(AF_INET, address, &in) == 1 &&
	       (ntohl(in.s_addr) & mask_of(network)) == network->cidr.net;
}

static void
print_address(uint32_t address, char text[INET_ADDRSTRLEN])
{
	struct in_addr in = {htonl(address)};

	inet_ntop(AF_INET, &in, text, INET_ADDRSTRLEN);
}

static void
add_host(const struct bu_desired_node *node, const char *here, struct bu_served *ret)
{
	const struct bu_desired_network *boot =
		bu_desired_node_network(node, BU_ROLE_BOOT);
	char *address = ret->texts[ret->site.count];

	if (!node->mac || !boot || bu_desired_node_address(node, boot, address) != 0)
		return;
	ret->hosts[ret->site.count++] = (struct bu_dnsmasq_host){
		.name = node->name,
		.mac = node->mac,
		.address = address,
		.grub = node->hardware->boot_loader == BU_BOOT_LOADER_GRUB,
	};
	if (is_here(boot, here))
		ret->site.gateway = boot->gateway;
}

/* texts: of two each. */
static void
add_net(const struct bu_desired_network *network, char (*texts)[INET_ADDRSTRLEN],
	struct bu_served *ret)
{
	print_address(network->cidr.net, texts[0]);
	print_address(mask_of(network), texts[1]);
	ret->nets[ret->site.nets_count++] = (struct bu_dnsmasq_net){
		.name = network->name,
		.net = texts[0],
		.mask = texts[1],
		.gateway = network->gateway,
	};
}

void
bu_served_make(const struct bu_desired *desired, const char *address,
	       struct bu_served *ret)
{
	size_t nodes = desired ? desired->nodes_count : 0;
	size_t networks = desired ? desired->networks_count : 0;

	memset(ret, 0, sizeof(*ret));
	ret->hosts = bu_xcalloc(nodes, sizeof(*ret->hosts));
	ret->nets = bu_xcalloc(networks, sizeof(*ret->nets));
	ret->texts = bu_xcalloc(nodes + 2 * networks, sizeof(*ret->texts));
	for (size_t i = 0; i < nodes; i++)
		add_host(&desired->nodes[i], address, ret);
	for (size_t i = 0; i < networks; i++)
		if (desired->networks[i].role == BU_ROLE_BOOT &&
		    !is_here(&desired->networks[i], address))
			add_net(&desired->networks[i], &ret->texts[nodes + 2 * i], ret);
	ret->names = print_names(desired, address);
	ret->site.hosts = ret->hosts;
	ret->site.nets = ret->nets;
	ret->site.names = ret->names;
	if (!desired)
		return;
	ret->site.domain = desired->site.domain;
	ret->site.dns = desired->site.dns;
	ret->site.ntp = desired->site.ntp;
}

void
bu_served_fini(struct bu_served *served)
{
	free(served->hosts);
	free(served->nets);
	free(served->texts);
	free(served->names);
}

static void
add_name(char **text, const char *name, const char *domain)
{
	if (!*name)
		return;
	bu_text_add(text, ",", "%s", name);
	if (domain && *domain)
		bu_text_add(text, ",", "%s.%s", name, domain);
}

char *
bu_served_hosts(const struct bu_desired *desired, const char *names,
		const char *media_url)
{
	const char *domain = desired ? desired->site.domain : NULL;
	char host[256] = "", *text = NULL;
	struct bu_url url;

	add_name(&text, "bringup", domain);
	if (gethostname(host, sizeof(host) - 1) == 0)
		add_name(&text, host, domain);
	add_name(&text, names, NULL);
	if (desired && desired->site.appliance)
		add_name(&text, desired->site.appliance, NULL);
	if (bu_url_parse(media_url, &url) == 0)
		add_name(&text, url.host, NULL);
	return text;
}
