/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: hostlists, from a command line or a request. A set that was accepted folds to
 * a text that gives the same set again.
 */
#include <stdint.h>
#include <string.h>

#include "profiles/nodeset/nodeset.h"

enum { MANY = 10000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bu_autofree char *text = bu_xstrndup((const char *)data, size), *folded = NULL;
	struct bu_nodeset *one = bu_nodeset_parse(text, NULL, NULL, NULL), *two;

	if (!one)
		return 0;
	bu_assert(one->count <= BU_NODESET_MAX);
	/* "a!a"; and what takes seconds with both sanitizers, to find nothing more */
	if (one->count == 0 || one->count > MANY) {
		bu_nodeset_destroy(one);
		return 0;
	}
	bu_nodeset_sort(one);
	folded = bu_nodeset_fold((const char *const *)one->names, one->count);
	two = bu_nodeset_parse(folded, NULL, NULL, NULL);
	bu_assert(two);
	bu_nodeset_sort(two);
	bu_assert(two->count == one->count);
	for (size_t i = 0; i < one->count; i++)
		bu_assert(strcmp(one->names[i], two->names[i]) == 0);
	bu_nodeset_destroy(one);
	bu_nodeset_destroy(two);
	return 0;
}
