/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of nodes: what most of thousands lack takes no memory. Used by all that write
 * nodes. Invariant: a part is the node's own, or the zeroed one, which nothing writes.
 */
#include "provisioner/node/node.h"

static const union {
	char zeros[4096];
	int64_t aligned;
} none;

#define P(name, type, count)                                                           \
	_Static_assert(sizeof(type) * (count) <= sizeof(none), "no room for " #name);
BU_NODE_PARTS(P)
BU_LIVE_PARTS(P)
#undef P

/* own: the member that points to the part. */
#define PART(name, type, count, own)                                                   \
	type *bu_node_##name(struct bu_node *node)                                     \
	{                                                                              \
		if ((const void *)node->own == &none)                                  \
			node->own = bu_xcalloc(count, sizeof(type));                   \
		return (type *)(uintptr_t)node->own;                                   \
	}                                                                              \
	void bu_node_drop_##name(struct bu_node *node)                                 \
	{                                                                              \
		if ((const void *)node->own != &none)                                  \
			free((void *)(uintptr_t)node->own);                            \
		node->own = (const type *)(const void *)&none;                         \
	}
#define P(name, type, count) PART(name, type, count, name)
BU_NODE_PARTS(P)
#undef P
#define P(name, type, count) PART(name, type, count, live.name)
BU_LIVE_PARTS(P)
#undef P

void
bu_node_clear_condition(struct bu_node *node, enum bu_condition_id id)
{
	if (node->conditions[id].on)
		bu_node_conditions(node)[id].on = 0;
}

void
bu_node_parts_init(struct bu_node *node)
{
#define P(name, type, count) node->name = (const type *)(const void *)&none;
	BU_NODE_PARTS(P)
#undef P
#define P(name, type, count) node->live.name = (const type *)(const void *)&none;
	BU_LIVE_PARTS(P)
#undef P
}

void
bu_node_parts_fini(struct bu_node *node)
{
#define P(name, type, count) bu_node_drop_##name(node);
	BU_NODE_PARTS(P)
	BU_LIVE_PARTS(P)
#undef P
}

/* own: the member that points to the part. */
#define COPY(type, count, own)                                                         \
	if ((const void *)copy->own != &none)                                          \
		copy->own = memcpy(bu_xcalloc(count, sizeof(type)), copy->own,         \
				   (count) * sizeof(type));

void
bu_node_parts_copy(struct bu_node *copy)
{
#define P(name, type, count) COPY(type, count, name)
	BU_NODE_PARTS(P)
#undef P
#define P(name, type, count) COPY(type, count, live.name)
	BU_LIVE_PARTS(P)
#undef P
}
