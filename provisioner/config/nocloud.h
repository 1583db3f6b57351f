/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cloud-init is told on a node whose image bringup did not build (NoCloud): who
 * the node is, its network, its files, and the agent. JSON where cloud-init reads YAML,
 * which JSON is a part of. Pure.
 */
#ifndef BU_CONFIG_NOCLOUD_H
#define BU_CONFIG_NOCLOUD_H

#include "provisioner/config/config.h"

/* A file that comes with the appliance and is the same on each node. */
struct bu_nocloud_file {
	const char *path;
	int mode;
	const char *content;
};

struct bu_nocloud {
	const char *node;
	const char *instance; /* another one is a first boot again */
	/* Where it is asked which agent there is now, and the one that there was, of
	 * its bundle (images/bundle.h). */
	const char *user_url, *agent_url, *agent_digest;
	const struct bu_nocloud_file *files;
	size_t file_count;
};

/* Who it is. Owned. */
char *bu_nocloud_meta(const struct bu_nocloud *what);
/* "#cloud-config" and all that the node gets; it lies on the disk, for cloud-init asks
 * nobody a second time. rows: of bu_config_rows(). Owned. */
char *bu_nocloud_user(const struct bu_nocloud *what, const struct bu_work_file *rows,
		      size_t count);
/* The network in netplan's words, version 2, as cloud-init takes it. Owned. */
char *bu_nocloud_network(const struct bu_config_input *input, struct bu_err *err);

#endif
