/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The desired state as JSON, for other programs. The shape follows the table of keys
 * (`bringup export --schema` prints it): sections are members, named ones lists of
 * objects; a value has the key's name and, where it has a unit, the unit behind it
 * (memory_min_bytes, deadline_ms, bw_min_percent). What is not set is left out.
 *
 *	{"format": 1, "revision": HEX, "site": {...}, "policy": {...}, "network": [...],
 *	 "image": [...], "hardware": [...], "cluster": [...], "validation": [...],
 *	 "pool": [{"name", "nodes": HOSTLIST, "networks": [NAME], ...}],
 *	 "node": [{"name", "pool", "hardware", "image", ..., "addresses": {NETWORK: IP},
 *	           "origin": {KEY: "file:line"}}]}
 *
 * Secrets are references here, too.
 */
#ifndef BU_PROFILES_EXPORT_EXPORT_H
#define BU_PROFILES_EXPORT_EXPORT_H

#include <jansson.h>
#include <stdio.h>

#include "profiles/desired.h"

json_t *bu_desired_to_json(const struct bu_desired *desired);
/* One element of "node". */
json_t *bu_desired_node_to_json(const struct bu_desired *desired,
				const struct bu_desired_node *node);
/* JSON Schema (draft 2020-12) of bu_desired_to_json(). */
json_t *bu_desired_schema(void);
/* An inventory for Ansible's yaml plugin: a group for each pool ('-' becomes '_'). */
json_t *bu_desired_ansible(const struct bu_desired *desired);
/* The reference of all sections and keys, Markdown. */
void bu_schema_print_reference(FILE *out);

#endif
