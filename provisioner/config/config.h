/* SPDX-License-Identifier: Apache-2.0 */
/* What is rendered, and of what: the files of a node, below all that write them. */
#ifndef BU_CONFIG_CONFIG_H
#define BU_CONFIG_CONFIG_H

#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "model/inventory.h"
#include "model/work.h"
#include "profiles/desired.h"

/* The first line of a file of ours, where its format has comments. */
#define BU_CONFIG_HEAD "# Written by bringup; changes are lost.\n"

struct bu_config_file {
	char *path; /* absolute */
	mode_t mode;
	/* What must be done for it to hold on a running node: "network", "hosts",
	 * "time", "sysctl", "tmpfiles", "modules", "gpu", "access"; "" = nothing. */
	const char *apply;
	char *content; /* may hold any byte; a NUL follows it */
	size_t size;
};

struct bu_config {
	struct bu_config_file *files; /* in the order of rendering */
	size_t count, cap;
	struct bu_work_file *rows; /* the same for a work item: bu_config_rows() */
	char *kargs;     /* the node's part of the kernel's command line; never NULL */
	char digest[65]; /* SHA-256 of the canonical JSON of files and kargs */
};

struct bu_config_input {
	const struct bu_desired *desired;
	const struct bu_desired_node *node; /* of desired */
	const struct bu_nic *nics;          /* of its machine, in PCI order */
	size_t nic_count;
	const char *appliance;     /* its IPv4 address in the boot network */
	const char *directory_ca;  /* PEM; what [access] names, NULL = it names none */
	const char *directory_key; /* the password */
};

/* The files as they are sent, `count` of them; owned by the configuration. */
struct bu_work_file *bu_config_rows(struct bu_config *config);
void bu_config_destroy(struct bu_config *config);

/* For the files of this folder: adds a text file, or any bytes (copied); a UUID that is
 * the same each time. */
void bu_config_add(struct bu_config *config, const char *path, mode_t mode,
		   const char *apply, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
void bu_config_add_bytes(struct bu_config *config, const char *path, mode_t mode,
			 const char *apply, const void *content, size_t size);
void bu_config_uuid(char ret[37], const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
