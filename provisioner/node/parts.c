/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts and texts of nodes: what a node lacks takes no memory. Used by all that write
 * nodes. Invariant: a part is the node's own, or the zeroed one, which nothing writes;
 * a text is the node's own, interned, or that of the zeroed part.
 */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "base/text.h"
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

static void
set_OWNED(const char **slot, const char *text)
{
	const char *old = *slot;

	*slot = text[0] ? bu_xstrdup(text) : none.zeros;
	if (old != none.zeros)
		free((char *)(uintptr_t)old);
}

static void
set_SHARED(const char **slot, const char *text)
{
	*slot = text[0] ? bu_intern(text) : none.zeros;
}

/* own: the member that points to the text. */
#define TEXT(name, size, keep, own)                                                    \
	void bu_node_set_##name(struct bu_node *node, const char *text)                \
	{                                                                              \
		char cut[size];                                                        \
                                                                                       \
		bu_text_copy(cut, sizeof(cut), text);                                  \
		set_##keep(&node->own, cut);                                           \
	}
#define T(name, size, keep) TEXT(name, size, keep, name)
BU_NODE_TEXTS(T)
#undef T
#define T(name, size, keep) TEXT(name, size, keep, live.name)
BU_LIVE_TEXTS(T)
#undef T

void
bu_node_set_condition(struct bu_node *node, enum bu_condition_id id, int on,
		      int64_t time_ms, json_t *detail)
{
	if (on || node->conditions[id].on)
		bu_condition_set(&bu_node_conditions(node)[id], on, time_ms, detail);
	else
		json_decref(detail);
}

/* Parts' reasons that are counted references. */
static void
each_said(const struct bu_node *node, void (*give)(json_t *said))
{
	for (int id = 0; id < BU_CONDITION_COUNT; id++)
		give(node->conditions[id].detail);
	give(node->live.drift->said);
}

static void
take(json_t *said)
{
	json_incref(said);
}

static void
release(json_t *said)
{
	json_decref(said);
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
#define T(name, size, keep) node->name = none.zeros;
	BU_NODE_TEXTS(T)
#undef T
#define T(name, size, keep) node->live.name = none.zeros;
	BU_LIVE_TEXTS(T)
#undef T
}

void
bu_node_parts_fini(struct bu_node *node)
{
	each_said(node, release);
#define P(name, type, count) bu_node_drop_##name(node);
	BU_NODE_PARTS(P)
	BU_LIVE_PARTS(P)
#undef P
#define T(name, size, keep) bu_node_set_##name(node, "");
	BU_NODE_TEXTS(T)
	BU_LIVE_TEXTS(T)
#undef T
}

static const char *
copy_OWNED(const char *text)
{
	return text == none.zeros ? text : bu_xstrdup(text);
}

static const char *
copy_SHARED(const char *text)
{
	return text;
}

/* own: the member that points to the part. */
#define COPY(type, count, own)                                                         \
	if ((const void *)copy->own != &none)                                          \
		copy->own = memcpy(bu_xcalloc(count, sizeof(type)), copy->own,         \
				   (count) * sizeof(type));

void
bu_node_parts_copy(struct bu_node *copy)
{
	each_said(copy, take);
#define P(name, type, count) COPY(type, count, name)
	BU_NODE_PARTS(P)
#undef P
#define P(name, type, count) COPY(type, count, live.name)
	BU_LIVE_PARTS(P)
#undef P
#define T(name, size, keep) copy->name = copy_##keep(copy->name);
	BU_NODE_TEXTS(T)
#undef T
#define T(name, size, keep) copy->live.name = copy_##keep(copy->live.name);
	BU_LIVE_TEXTS(T)
#undef T
}
