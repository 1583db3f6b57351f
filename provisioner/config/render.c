/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renders a node's files. Called when an install is ordered, when a node joins, and to
 * tell drift. Invariant: what comes from the machine (its MACs) is checked before it is
 * written anywhere; what comes from the profile has been checked by the loader.
 */
#include "provisioner/config/render.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "provisioner/config/access.h"
#include "provisioner/config/links.h"
#include "provisioner/config/services.h"
#include "provisioner/config/tuning.h"

/* All that we ever write but hostname, hosts and resolv.conf, which any system has. */
const char *const bu_config_patterns[] = {
	"/etc/NetworkManager/conf.d/bringup.conf",
	"/etc/NetworkManager/system-connections/bringup-*.nmconnection",
	"/etc/bringup/device-plugin.yaml",
	"/etc/bringup/gpu",
	"/etc/bringup/group",
	"/etc/bringup/passwd",
	"/etc/bringup/rxe",
	"/etc/bringup/scratch",
	"/etc/bringup/volumes",
	"/etc/bringup/volumes.tpm",
	"/etc/fstab", /* no image of ours has one: house() of recipes/lib.sh */
	"/etc/modules-load.d/bringup.conf",
	"/etc/netplan/90-bringup.yaml",
	"/etc/ssh/bringup_keys/*",
	"/etc/ssh/bringup_known_hosts",
	"/etc/ssh/bringup_user_ca.pub",
	"/etc/ssh/ssh_config.d/10-bringup.conf",
	"/etc/ssh/sshd_config.d/10-bringup.conf",
	"/etc/sssd/bringup-ca.pem",
	"/etc/sssd/conf.d/bringup.conf",
	"/etc/sudoers.d/bringup",
	"/etc/sysctl.d/90-bringup.conf",
	"/etc/systemd/network/10-bringup-*.netdev",
	"/etc/systemd/network/10-bringup-*.network",
	"/etc/tmpfiles.d/bringup.conf",
	NULL,
};

/* Of an image's network_config. */
static const struct {
	const char *name;
	void (*fn)(const struct bu_links *links, struct bu_config *config);
} backends[] = {
	{"networkd", bu_links_networkd},
	{"networkmanager", bu_links_networkmanager},
	{"netplan", bu_links_netplan},
};

/* RDMA in software over the link of each network that asks for it. */
static void
add_rxe(const struct bu_links *links, struct bu_config *config)
{
	bu_autofree char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int count = 0;

	bu_assert(out); /* only for want of memory */
	for (size_t i = 0; i < links->count; i++) {
		const struct bu_uplink *link = &links->list[i];

		if (link->network && link->network->rdma == BU_RDMA_RXE)
			fprintf(out, "rxe%d %s\n", count++, bu_link_handle(link));
	}
	fclose(out);
	if (count)
		bu_config_add(config, "/etc/bringup/rxe", 0644, "network", "%s", text);
}

static int
add_networks(const struct bu_config_input *input, struct bu_config *config,
	     struct bu_err *err)
{
	const char *want = input->node->image->network_config;
	struct bu_links links;

	if (bu_links_make(input, &links, err) < 0)
		return -1;
	for (size_t i = 0; i < BU_LEN(backends); i++)
		if (strcmp(backends[i].name, want) == 0)
			backends[i].fn(&links, config);
	add_rxe(&links, config);
	return 0;
}

/* What is digested. */
static const struct bu_field config_fields[] = {
	BU_FIELD_MANY_AS("files", LIST, struct bu_config, rows, count,
			 BU_WORK_FILES_MAX, bu_work_file_fields),
	BU_FIELD(STRING, struct bu_config, kargs),
	BU_FIELD_END,
};

static struct bu_config *
finish(struct bu_config *config)
{
	bu_autojson json_t *value = NULL;

	bu_config_rows(config);
	value = bu_record_to_json(config_fields, config);
	bu_json_digest(value, config->digest);
	return config;
}

struct bu_config *
bu_config_render(const struct bu_config_input *input, struct bu_err *err)
{
	struct bu_config *config;
	struct in_addr in;

	if (inet_pton(AF_INET, input->appliance, &in) != 1) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "'%.80s' is not an IPv4 address of the appliance",
			   input->appliance);
		return NULL;
	}
	config = bu_xcalloc(1, sizeof(*config));
	bu_config_services(input, config);
	bu_config_tuning(input, config);
	bu_config_access(input, config);
	if (add_networks(input, config, err) < 0) {
		bu_config_destroy(config);
		return NULL;
	}
	return finish(config);
}
