/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader's own files share; included by load*.c and desired.c alone. */
#ifndef BU_PROFILES_LOAD_LOAD_INTERNAL_H
#define BU_PROFILES_LOAD_LOAD_INTERNAL_H

#include "profiles/desired.h"
#include "profiles/language/scan.h"
#include "profiles/language/schema.h"
#include "profiles/load/findings.h"
#include "profiles/load/tree.h"

struct bu_loader {
	const struct bu_tree *tree;
	struct bu_findings *findings;
	struct bu_ini ini;
	struct bu_desired *desired;                  /* being built */
	const struct bu_ini_section **pool_sections; /* by position in desired->pools */
	const struct bu_ini_section **network_sections;
	const struct bu_ini_section **validation_sections;
	const struct bu_ini_section **image_sections;
	const struct bu_ini_section **disks_sections;
	const struct bu_ini_section **mount_sections;
	const struct bu_ini_section **hardware_sections;
	const struct bu_ini_section **cluster_sections;
	const struct bu_ini_section **group_sections;
	const struct bu_ini_section **user_sections;
	const char *inventory;     /* path of its file; NULL: there is none */
	char *unread;              /* by position in desired->nodes; 1: its row */
	unsigned int lost_columns; /* of the inventory; as in inventory_csv.h */
	struct bu_inherit of_pool[BU_INHERIT_MAX];
	size_t of_pool_count; /* keys of a node that its pool may have, too */
};

/* A finding at the key's line, or at the section's when the key is not there. */
void bu_load_wrong(struct bu_loader *ld, const struct bu_ini_section *section,
		   const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Reads the section's keys into the object as the table says; unknown, missing and
 * wrong ones become findings. References need what they point to: they are read apart.
 */
void bu_load_values(struct bu_loader *ld, const struct bu_ini_section *section,
		    void *object);
void bu_load_references(struct bu_loader *ld, const struct bu_ini_section *section,
			void *object);
/* The object of that kind and name, NULL with a finding. */
const void *bu_load_find(struct bu_loader *ld, const struct bu_ini_section *section,
			 const char *key, const char *kind, const char *name);

/* load_objects.c: the [site] section, NULL when there is none; and all sections but
 * [node], references resolved. */
const struct bu_ini_section *bu_load_site(const struct bu_ini *ini);
void bu_load_objects(struct bu_loader *ld);
/* The loader's own lists, not the desired state. */
void bu_load_fini(struct bu_loader *ld);
/* load_nodes.c: pools become nodes; inventory and [node] sections are laid over them.
 */
void bu_load_nodes(struct bu_loader *ld);
/* load_inventory.c: rows of the inventory over the nodes; nodes without one. 1 when
 * what the node has not of this key may stand where the inventory could not be read,
 * which is a finding already. */
void bu_load_inventory(struct bu_loader *ld);
void bu_load_check_inventory(struct bu_loader *ld);
int bu_load_is_unread(const struct bu_loader *ld, const struct bu_desired_node *node,
		      const char *key);
/* load_zip.c: ranges in a pool's values, given to its nodes (first[0..count)). */
void bu_load_zip(struct bu_loader *ld, const struct bu_ini_section *section,
		 struct bu_desired_node *first, size_t count);
/* load_checks.c: what no key alone can tell. */
void bu_load_checks(struct bu_loader *ld);
/* load_disks.c: data partitions of a pool; [disks], and what both mount. */
void bu_load_check_data(struct bu_loader *ld, const struct bu_desired_pool *pool,
			const struct bu_ini_section *section);
void bu_load_check_disks(struct bu_loader *ld);
/* The folder itself, or something in it; either may end with '/'. */
int bu_load_is_in(const char *path, const char *folder);
/* Where a mount would hide what the system needs, or the agent's own state. */
int bu_load_is_system_path(const char *path);
/* load_mounts.c: [mount] alone, and what a pool mounts beside its data. */
void bu_load_check_mounts(struct bu_loader *ld);
/* load_access.c: accounts that would clash on a node. */
void bu_load_check_access(struct bu_loader *ld);
/* load_sshkeys.c: 1 when a list of public keys names a file of the tree; the keys of
 * such a list, a line each (bu_sshkey_next), instead of the owned *ret; and files of
 * keys that nothing names. */
int bu_load_names_keys(const char *value);
void bu_load_sshkeys(struct bu_loader *ld, const struct bu_ini_section *section,
		     const struct bu_ini_entry *entry, char **ret);
void bu_load_check_sshkeys(struct bu_loader *ld);
/* load_site_checks.c: what lies in checks.d, and who wants it. */
void bu_load_site_checks(struct bu_loader *ld);
/* load_addresses.c: host byte order; -1 when it is no IPv4 address. */
int bu_load_ipv4(const char *text, uint32_t *ret);
int bu_load_in_cidr(const struct bu_cidr *cidr, uint32_t address);
/* One address for two. */
void bu_load_check_addresses(struct bu_loader *ld);
/* load_machines.c: two names for one machine; fills desired->by_mac. */
void bu_load_check_machines(struct bu_loader *ld);
/* load_names.c */
void bu_load_check_names(struct bu_loader *ld);
/* load_networks.c: of networks alone, and of the networks of a pool. */
void bu_load_check_networks(struct bu_loader *ld);
/* load_fabrics.c */
void bu_load_check_fabrics(struct bu_loader *ld);
/* load_switches.c: whose switches are asked what they count, and how. */
void bu_load_check_switches(struct bu_loader *ld, const struct bu_desired_network *one,
			    const struct bu_ini_section *section);
int bu_load_same_switches(const struct bu_desired_network *a,
			  const struct bu_desired_network *b);
void bu_load_check_pool_networks(struct bu_loader *ld,
				 const struct bu_desired_pool *pool,
				 const struct bu_ini_section *section);

/* layout.c: everything but the list of files; every text field that the table knows. */
void bu_load_free(struct bu_desired *desired);
void bu_load_free_node(struct bu_desired_node *node);
/* load_keys.c. Replaces a text of a node; the old one is freed unless it is the pool's.
 * Takes text.
 */
void bu_load_set_text(struct bu_desired_node *node, const struct bu_key *key,
		      char *text);
/* Adds to node->origins. */
void bu_load_note_origin(struct bu_desired_node *node, const struct bu_key *key,
			 const char *file, int line);

#endif
