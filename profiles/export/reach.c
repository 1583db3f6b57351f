/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether two revisions say the same of how a node's machine is reached and known.
 * Called by the plan for each node of the site, most of which are as they were: it
 * compares values where facets would put them into words. Invariant: what it calls the
 * same has the same facets of bu_facets_reach().
 */
#include <string.h>

#include "profiles/export/facets.h"
#include "profiles/language/schema.h"

static int
same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static int
same_value(const struct bu_key *key, const void *a, const void *b)
{
	const void *x = (const char *)a + key->offset,
		   *y = (const char *)b + key->offset;

	switch (key->type) {
	case BU_KEY_INT:
	case BU_KEY_ENUM:
		return *(const int *)x == *(const int *)y;
	case BU_KEY_DURATION:
		return *(const int64_t *)x == *(const int64_t *)y;
	case BU_KEY_REF: { /* the name comes first in what is referred to */
		char *const *p = *(char *const *const *)x, *const *q = *(
								   char *const *const *)
									       y;

		return same_text(p ? *p : NULL, q ? *q : NULL);
	}
	default:
		bu_assert(bu_key_is_text(key));
		return same_text(*(char *const *)x, *(char *const *)y);
	}
}

static const void *
object_of(const struct bu_desired_node *node, const char *section)
{
	return strcmp(section, "node") == 0   ? (const void *)node
	       : strcmp(section, "pool") == 0 ? (const void *)node->pool
					      : (const void *)node->hardware;
}

int
bu_reach_same(const struct bu_desired_node *a, const struct bu_desired_node *b)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < count; i++)
		if (keys[i].use == BU_KEY_REACH && keys[i].offset != BU_KEY_NO_FIELD &&
		    !same_value(&keys[i], object_of(a, keys[i].section),
				object_of(b, keys[i].section)))
			return 0;
	return 1;
}
