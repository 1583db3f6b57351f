/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch port of each NIC, heard by agents (LLDP, InfiniBand) or from the profile,
 * and the topology files for schedulers. Reading trusts nothing.
 *
 * {"v":1,"wires":[{"node","network","rail","switch","port"}],
 *  "domains":[{"node","domain"}],"uplinks":[{"switch","above"}],
 *  "racks":[{"node","rack"}]}
 * rail: 0 to 63, -1 = none. domain: of NVLink, "ClusterUUID.CliqueID". uplinks: the
 * switch above a switch, where known. racks: of nodes of which no wire is known.
 */
#ifndef BU_MODEL_WIRING_H
#define BU_MODEL_WIRING_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

enum { BU_WIRE_TEXT = 64, BU_WIRES_MAX = 1 << 20 };

struct bu_wire {
	char node[BU_WIRE_TEXT];
	char network[BU_WIRE_TEXT];
	int rail;
	char sw[BU_WIRE_TEXT];
	char port[BU_WIRE_TEXT];
};

/* A node and its NVLink domain or its rack; a switch and the one above it. */
struct bu_wiring_pair {
	char name[BU_WIRE_TEXT];
	char of[BU_WIRE_TEXT];
};

struct bu_wiring {
	struct bu_wire *wires;
	struct bu_wiring_pair *domains, *uplinks, *racks;
	size_t wire_count, wire_cap, domain_count, domain_cap, uplink_count, uplink_cap;
	size_t rack_count, rack_cap;
};

void bu_wiring_fini(struct bu_wiring *wiring);
/* Texts are cut to their size. port may be "". */
void bu_wiring_add(struct bu_wiring *wiring, const char *node, const char *network,
		   int rail, const char *sw, const char *port);
void bu_wiring_add_domain(struct bu_wiring *wiring, const char *node,
			  const char *domain);
void bu_wiring_add_uplink(struct bu_wiring *wiring, const char *sw, const char *above);
void bu_wiring_add_rack(struct bu_wiring *wiring, const char *node, const char *rack);
/* "leaf01:swp3" or "leaf01", as in `lldp` rows. The last colon separates the port. */
void bu_wiring_add_text(struct bu_wiring *wiring, const char *node, const char *network,
			int rail, const char *switch_port);
/* By node, rail and network; the first wire of a node is its primary one. */
void bu_wiring_sort(struct bu_wiring *wiring);

json_t *bu_wiring_to_json(const struct bu_wiring *wiring); /* new reference */
/* ret is initialized and sorted on success only. BU_ERR_INVAL: err names the field. */
bu_must int bu_wiring_from_json(const json_t *value, struct bu_wiring *ret,
				struct bu_err *err);

/* --- for schedulers: pure, from a sorted wiring --- */

/* Folds names into a hostlist; owned. */
typedef char *(*bu_wiring_fold_fn)(const char *const *names, size_t count);

/* A tree for schedulers. Nodes are at the switch of their primary wire, without a wire
 * at "rack-NAME". Switches are below those of uplinks; several roots are below one
 * named "fabric". Names become [A-Za-z0-9._-]. Owned; NULL and BU_ERR_INVAL: uplinks
 * form a circle, two switches get one name, or there is no wire and no rack. */
char *bu_wiring_slurm_conf(const struct bu_wiring *wiring, bu_wiring_fold_fn fold,
			   struct bu_err *err);
/* The same as topology.yaml, with NVLink domains as blocks if any. */
char *bu_wiring_slurm_yaml(const struct bu_wiring *wiring, bu_wiring_fold_fn fold,
			   struct bu_err *err);
/* Blocks of NVLink domains, without any of the switches of the tree, for Slurm's
 * topology/block (24.05 and later). Owned; NULL as above. */
char *bu_wiring_slurm_blocks(const struct bu_wiring *wiring, bu_wiring_fold_fn fold,
			     struct bu_err *err);
/* {NODE: {label: value}}: tiers from the nearest, and the NVLink domain, with
 * topograph's names. New reference; NULL as above. */
json_t *bu_wiring_labels(const struct bu_wiring *wiring, struct bu_err *err);

#endif
