/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The topology of a fabric: nodes with rails, leaves, spines. The JSON comes from other
 * programs: bu_topology_from_json() trusts nothing.
 *
 * {"nodes": N | [ID] | [{"node","leaf"|"leaves"}], "rails": N,
 *  "leaves": N | [ID] | [{"leaf","nodes":[NODE],"rail"?}] | [[NODE]] | {"ID":[NODE]},
 *  "leaf_of": [LEAF | [LEAF per rail]] | {"NODE": LEAF | [LEAF per rail]},
 *  "spines": N | [ID] | [{"spine"}], "limit_gbps",
 *  "routing": "static"|"sprayed", "across": bool, "lldp": bool, "switch": bool}
 * Without "leaves" the leaves are those that nodes name. "leaves" may also be the leaf
 * of each node. A count N names 0 to N - 1. An ID is a text or an integer, and later
 * messages use it again. NODE is an ID or {"node","rail"}. nodes, leaves or leaf_of
 * give the leaf of each rail of each node, which is required.
 */
#ifndef BU_MODEL_TOPOLOGY_H
#define BU_MODEL_TOPOLOGY_H

#include <jansson.h>

#include "base/err.h"

enum {
	BU_TOPOLOGY_NODES_MAX = 65536,
	BU_TOPOLOGY_RAILS_MAX = 64,
	BU_TOPOLOGY_SPINES_MAX = 256,    /* in a profile */
	BU_TOPOLOGY_LINKS_MAX = 1 << 22, /* leaves x spines */
};

/* The names of one kind of part, in order. */
struct bu_ids {
	json_t *list;  /* array of IDs */
	json_t *index; /* object: text of an ID -> its place */
};

struct bu_topology {
	int nodes, rails, leaves, spines;
	int *leaf_of; /* per port: node * rails + rail */
	double limit_gbps;
	int sprayed;  /* each flow takes all spines */
	int across;   /* ports of different rails reach each other */
	int has_lldp; /* LLDP data can be had */
	int has_switch;
	struct bu_ids node_ids, leaf_ids, spine_ids;
};

/* BU_ERR_INVAL: err names the field. */
bu_must int bu_topology_from_json(const json_t *value, struct bu_topology *ret,
				  struct bu_err *err);
void bu_topology_fini(struct bu_topology *topology);
/* Place of an ID; -1 = unknown. */
int bu_ids_find(const struct bu_ids *ids, const json_t *id);
/* Place of a name; an unknown name is appended. */
int bu_ids_place(struct bu_ids *ids, const char *name);
/* New reference. */
json_t *bu_ids_get(const struct bu_ids *ids, int place);
/* Text of an ID, for people. */
void bu_ids_text(const struct bu_ids *ids, int place, char *ret, size_t size);
static inline int
bu_topology_ports(const struct bu_topology *topology)
{
	return topology->nodes * topology->rails;
}

#endif
