/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzer: a profile tree of one file, as somebody may upload it. It loads or there is a
 * finding that says why not; never neither.
 */
#include <stdint.h>

#include "base/json.h"
#include "profiles/language/schema.h"
#include "profiles/load/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every value of every node has an origin in the tree, or none. */
static void
look_at_origins(const struct bu_desired *desired)
{
	size_t count;
	const struct bu_key *keys = bu_schema_keys(&count);

	for (size_t i = 0; i < desired->nodes_count && i < 8; i++)
		for (size_t j = 0; j < count; j++) {
			const struct bu_origin *origin =
				bu_desired_origin(&desired->nodes[i], keys[j].key);

			bu_assert(!origin || (origin->file && origin->line > 0));
		}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *text = json_stringn((const char *)data, size);
	bu_autojson json_t *value = NULL;
	struct bu_findings findings = {0};
	struct bu_tree *tree;

	if (!text) /* no UTF-8: it would not even have been JSON */
		return 0;
	value = json_pack("{s:{s:o}}", "files", "site.ini", text);
	tree = bu_tree_from_json(value, NULL);
	if (tree) {
		struct bu_desired *desired = bu_profiles_load(tree, &findings);

		bu_assert(desired ? findings.errors == 0 : findings.errors > 0);
		if (desired)
			look_at_origins(desired);
		bu_desired_destroy(desired);
		bu_tree_destroy(tree);
	}
	bu_findings_clear(&findings);
	return 0;
}
