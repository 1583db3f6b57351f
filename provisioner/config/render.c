/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Renders a node's files. Called when an install is ordered, when a node joins, and to
 * tell drift. Invariant: what comes from the machine (its MACs) is checked before it is
 * written anywhere; what comes from the profile has been checked by the loader.
 */
#include "provisioner/config/render.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"

#define HEAD "# Written by bringup; changes are lost.\n"

static void
add_bytes(struct bu_config *config, const char *path, mode_t mode, const void *content,
	  size_t size)
{
	struct bu_config_file *file;

	config->files = bu_xgrow(config->files, &config->cap, config->count + 1,
				 sizeof(*config->files));
	file = &config->files[config->count++];
	file->path = bu_xstrdup(path);
	file->mode = mode;
	file->content = bu_xmalloc(size + 1);
	memcpy(file->content, content, size);
	file->content[size] = '\0';
	file->size = size;
}

static void add_text(struct bu_config *config, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static void
add_text(struct bu_config *config, const char *path, const char *fmt, ...)
{
	bu_autofree char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = bu_xvasprintf(fmt, args);
	va_end(args);
	add_bytes(config, path, 0644, text, strlen(text));
}

/* The machine's MAC for this network; -1 when it has none or another than the profile
 * says. */
static int
nic_mac(const struct bu_config_input *input, const struct bu_desired_network *network,
	char ret_mac[18], struct bu_err *err)
{
	const struct bu_desired_node *node = input->node;

	if ((size_t)network->nic >= input->nic_count)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"%s: network '%s' is on nic %d, but the machine has %zu "
			"NICs; correct [network %s] nic or look for the card",
			node->name, network->name, network->nic, input->nic_count,
			network->name);
	if (bu_mac_normalize(input->nic_macs[network->nic], ret_mac) < 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: nic %d has no usable MAC address", node->name,
				  network->nic);
	if (network->role == BU_ROLE_BOOT && node->mac &&
	    strcmp(node->mac, ret_mac) != 0)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"%s: the profile has MAC %s for network '%s', but nic %d "
			"has %s; correct the MAC or [network %s] nic",
			node->name, node->mac, network->name, network->nic, ret_mac,
			network->name);
	return 0;
}

static int
add_network(struct bu_config *config, const struct bu_config_input *input,
	    const struct bu_desired_network *network, FILE *rxe, int *rxe_count,
	    struct bu_err *err)
{
	bu_autofree char *path = NULL, *link = NULL, *ip = NULL;
	char mac[18], address[INET_ADDRSTRLEN];

	if (nic_mac(input, network, mac, err) < 0)
		return -1;
	if (bu_desired_node_address(input->node, network, address) < 0)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "%s: has no address in network '%s'; give it one in "
				  "[network %s] addresses",
				  input->node->name, network->name, network->name);
	/* By its MAC: the lease must not depend on an id that changes with the system.
	 */
	if (network->role == BU_ROLE_BOOT)
		ip = bu_xstrdup("DHCP=ipv4\n\n[DHCPv4]\nClientIdentifier=mac\n"
				"UseHostname=no\n");
	else
		ip = bu_xasprintf("Address=%s/%d\n", address, network->cidr.prefix_len);
	link = bu_xasprintf("RequiredForOnline=%s\n",
			    network->role == BU_ROLE_BOOT ? "yes" : "no");
	if (network->mtu) {
		bu_autofree char *old = link;

		link = bu_xasprintf("%sMTUBytes=%d\n", old, network->mtu);
	}
	path = bu_xasprintf("/etc/systemd/network/10-%s.network", network->name);
	add_text(config, path,
		 HEAD "[Match]\nMACAddress=%s\n\n[Link]\n%s\n[Network]\n"
		      "LinkLocalAddressing=no\nIPv6AcceptRA=no\n%s",
		 mac, link, ip);
	if (network->rdma == BU_RDMA_RXE)
		fprintf(rxe, "rxe%d %s\n", (*rxe_count)++, mac);
	return 0;
}

static int
add_networks(struct bu_config *config, const struct bu_config_input *input,
	     struct bu_err *err)
{
	const struct bu_desired_pool *pool = input->node->pool;
	bu_autofree char *text = NULL;
	size_t size = 0;
	FILE *rxe = open_memstream(&text, &size);
	int rxe_count = 0, rc = 0;

	if (!rxe)
		abort(); /* only for want of memory */
	for (size_t i = 0; i < pool->networks_count && rc == 0; i++)
		rc = add_network(config, input, pool->networks[i], rxe, &rxe_count,
				 err);
	fclose(rxe);
	if (rc == 0 && rxe_count)
		add_text(config, "/etc/bringup/rxe", "%s", text);
	return rc;
}

/* Names must resolve when nothing else works, so they are all in the file. */
static void
add_hosts(struct bu_config *config, const struct bu_config_input *input)
{
	const struct bu_desired *desired = input->desired;
	bu_autofree char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort(); /* only for want of memory */
	fprintf(out,
		HEAD "127.0.0.1 localhost\n::1 localhost ip6-localhost\n%s bringup\n",
		input->appliance);
	for (size_t i = 0; i < desired->nodes_count; i++) {
		const struct bu_desired_node *node = &desired->nodes[i];

		for (size_t j = 0; j < node->pool->networks_count; j++) {
			const struct bu_desired_network *network =
				node->pool->networks[j];
			char address[INET_ADDRSTRLEN];

			if (bu_desired_node_address(node, network, address) < 0)
				continue;
			if (network->role == BU_ROLE_BOOT)
				fprintf(out, "%s %s\n", address, node->name);
			else
				fprintf(out, "%s %s-%s\n", address, node->name,
					network->name);
		}
	}
	fclose(out);
	add_bytes(config, "/etc/hosts", 0644, text, size);
}

static struct bu_config *
finish(struct bu_config *config)
{
	bu_autojson json_t *value = bu_config_to_json(config);

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
			   "'%.80s' is no IPv4 address of the appliance",
			   input->appliance);
		return NULL;
	}
	config = bu_xcalloc(1, sizeof(*config));
	add_text(config, "/etc/hostname", "%s\n", input->node->name);
	add_hosts(config, input);
	/* Whatever is not in the hosts file should fail at once, not after a minute. */
	add_text(config, "/etc/resolv.conf", HEAD "options timeout:1 attempts:1\n");
	if (add_networks(config, input, err) < 0) {
		bu_config_destroy(config);
		return NULL;
	}
	return finish(config);
}

struct bu_config *
bu_config_render_cluster(const struct bu_desired_node *node, const void *munge_key,
			 size_t munge_key_size, struct bu_err *err)
{
	const struct bu_desired_network *boot =
		bu_desired_node_network(node, BU_ROLE_BOOT);
	const struct bu_desired_pool *pool = node->pool;
	struct bu_config *config;
	char address[INET_ADDRSTRLEN];

	if (!node->cluster || strcmp(node->cluster->driver, "slurm") != 0) {
		bu_err_set(err, BU_ERR_INVAL, 0,
			   "%s: its pool '%s' joins no Slurm cluster", node->name,
			   pool->name);
		return NULL;
	}
	if (!boot || bu_desired_node_address(node, boot, address) < 0) {
		bu_err_set(err, BU_ERR_INVAL, 0, "%s: has no address in a boot network",
			   node->name);
		return NULL;
	}
	config = bu_xcalloc(1, sizeof(*config));
	/* NodeAddr: slurmctld must never wait for a name that does not resolve. */
	add_text(config, "/etc/systemd/system/slurmd.service.d/bringup.conf",
		 HEAD "[Unit]\nConditionPathExists=\n\n[Service]\nExecStart=\n"
		      "ExecStart=/usr/sbin/slurmd -D -Z --conf-server %s --conf "
		      "\"State=DRAIN "
		      "NodeAddr=%s%s%s%s%s\"\n",
		 node->cluster->controller, address, node->features ? " Feature=" : "",
		 node->features ? node->features : "", node->gres ? " Gres=" : "",
		 node->gres ? node->gres : "");
	add_bytes(config, "/etc/munge/munge.key", 0400, munge_key, munge_key_size);
	return finish(config);
}

json_t *
bu_config_to_json(const struct bu_config *config)
{
	json_t *list = json_array();

	for (size_t i = 0; i < config->count; i++) {
		const struct bu_config_file *file = &config->files[i];
		json_t *item = json_pack("{ss si}", "path", file->path, "mode",
					 (int)file->mode);
		json_t *text = memchr(file->content, 0, file->size)
				       ? NULL
				       : json_stringn(file->content, file->size);

		if (text) {
			json_object_set_new(item, "content", text);
		} else {
			bu_autofree char *hex = bu_xmalloc(2 * file->size + 1);

			bu_hex_encode(file->content, file->size, hex);
			json_object_set_new(item, "content_hex", json_string(hex));
		}
		json_array_append_new(list, item);
	}
	return list;
}

void
bu_config_destroy(struct bu_config *config)
{
	if (!config)
		return;
	for (size_t i = 0; i < config->count; i++) {
		free(config->files[i].path);
		/* It may be a key. */
		explicit_bzero(config->files[i].content, config->files[i].size);
		free(config->files[i].content);
	}
	free(config->files);
	free(config);
}
