/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that make an image a certain node: host name, network, cluster client.
 * Pure: the same input gives the same bytes and the same digest.
 */
#ifndef BU_CONFIG_RENDER_H
#define BU_CONFIG_RENDER_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "profiles/desired.h"

struct bu_config_file {
	char *path; /* absolute */
	mode_t mode;
	char *content; /* may hold any byte; a NUL follows it */
	size_t size;
};

struct bu_config {
	struct bu_config_file *files; /* in the order of rendering */
	size_t count, cap;
	char digest[65]; /* SHA-256 of the canonical JSON */
};

struct bu_config_input {
	const struct bu_desired *desired;
	const struct bu_desired_node *node; /* of desired */
	const char *const *nic_macs;        /* of the node's NICs, in PCI order */
	size_t nic_count;
	const char *appliance; /* its IPv4 address in the boot network */
};

/* What every node gets: /etc/hostname, /etc/hosts, /etc/resolv.conf, a file for
 * systemd-networkd per network, and /etc/bringup/rxe ("rxe0 <mac>" a line) where a
 * network has rdma = rxe. BU_ERR_INVAL when the machine's NICs do not fit the profile.
 */
struct bu_config *bu_config_render(const struct bu_config_input *input,
				   struct bu_err *err);
/* What a node gets when it joins its cluster: slurmd's drop-in and the munge key (a
 * secret: mode 0400, its owner is set by the agent). The node registers as drained; it
 * takes work only when the appliance says so. BU_ERR_INVAL when it has no cluster. */
struct bu_config *bu_config_render_cluster(const struct bu_desired_node *node,
					   const void *munge_key, size_t munge_key_size,
					   struct bu_err *err);
/* [{"path","mode","content"}]; "content_hex" instead where the content is not text. */
json_t *bu_config_to_json(const struct bu_config *config);
void bu_config_destroy(struct bu_config *config);

#endif
