/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that make an image a certain node: names, network, tuning, data partitions,
 * cluster client. Pure: the same input gives the same bytes and the same digest.
 */
#ifndef BU_CONFIG_RENDER_H
#define BU_CONFIG_RENDER_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "model/inventory.h"
#include "profiles/desired.h"

struct bu_config_file {
	char *path; /* absolute */
	mode_t mode;
	/* What must be done for it to hold on a running node: "network", "hosts",
	 * "time", "sysctl", "tmpfiles", "modules", "gpu"; "" = nothing. */
	const char *apply;
	char *content; /* may hold any byte; a NUL follows it */
	size_t size;
};

struct bu_config {
	struct bu_config_file *files; /* in the order of rendering */
	size_t count, cap;
	char *kargs;     /* the node's part of the kernel's command line; never NULL */
	char digest[65]; /* SHA-256 of the canonical JSON of files and kargs */
};

struct bu_config_input {
	const struct bu_desired *desired;
	const struct bu_desired_node *node; /* of desired */
	const struct bu_nic *nics;          /* of its machine, in PCI order */
	size_t nic_count;
	const char *appliance; /* its IPv4 address in the boot network */
};

/*
 * What every node gets: its name, the others' names, DNS and time servers, the network
 * for what the image brings it up with, /etc/bringup/rxe ("rxe0 MAC" or "rxe0 bond0" a
 * line) where a network has rdma = rxe, and the tuning that its profile asks for.
 * BU_ERR_INVAL when the machine's NICs do not fit the profile.
 */
struct bu_config *bu_config_render(const struct bu_config_input *input,
				   struct bu_err *err);
/* Paths with '*' for any characters but '/': a file that matches one of them and is not
 * in the configuration is an old one of ours, and goes. Ends with NULL. */
extern const char *const bu_config_patterns[];
/* The node's data partitions for the installer, an empty list without any, and how much
 * of the disk the image may have (0 = what they leave):
 * [{"name","guid","size_bytes" (0 = the rest)}]. New reference. */
json_t *bu_config_data(const struct bu_desired *desired,
		       const struct bu_desired_node *node, uint64_t *ret_root_bytes);

/* What a node gets when it joins its cluster: slurmd's drop-in and the munge key (a
 * secret: mode 0400, its owner is set by the agent). The node registers as drained; it
 * takes work only when the appliance says so. BU_ERR_INVAL when it has no cluster. */
struct bu_config *bu_config_render_cluster(const struct bu_desired_node *node,
					   const void *munge_key, size_t munge_key_size,
					   struct bu_err *err);
/* [{"path","mode","content","apply"}]; "content_hex" instead where the content is not
 * text, no "apply" where there is nothing to do. */
json_t *bu_config_to_json(const struct bu_config *config);
void bu_config_destroy(struct bu_config *config);

/* For the files of this folder: adds a text file; a UUID that is the same each time. */
void bu_config_add(struct bu_config *config, const char *path, mode_t mode,
		   const char *apply, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void bu_config_uuid(char ret[37], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The parts of bu_config_render(), in their files. */
void bu_config_tuning(const struct bu_config_input *input, struct bu_config *config);
void bu_config_services(const struct bu_config_input *input, struct bu_config *config);

#endif
