/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans that were made and not applied, each with its tree, as text. Called by
 * plans.c. Invariant: they are in memory alone, and no more than a few of them: who
 * comes too late sends plan and tree once more, as the command line always does.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/api/api.h"

static void
forget(struct bu_kept_plan *kept)
{
	free(kept->plan);
	free(kept->tree);
	memset(kept, 0, sizeof(*kept));
}

void
bu_api_keep_plan(struct bu_api *api, const char *digest, const char *plan,
		 const char *tree)
{
	struct bu_kept_plan *kept = api->kept;
	size_t place = 0;

	while (place + 1 < BU_PLANS_KEPT && strcmp(kept[place].digest, digest) != 0)
		place++;
	forget(&kept[place]);
	memmove(&kept[1], &kept[0], place * sizeof(kept[0]));
	memcpy(kept[0].digest, digest, sizeof(kept[0].digest));
	kept[0].plan = bu_xstrdup(plan);
	kept[0].tree = bu_xstrdup(tree);
}

const struct bu_kept_plan *
bu_api_kept_plan(const struct bu_api *api, const char *digest)
{
	for (size_t i = 0; i < BU_PLANS_KEPT && api->kept[i].plan; i++)
		if (strcmp(api->kept[i].digest, digest) == 0)
			return &api->kept[i];
	return NULL;
}

void
bu_api_forget_plans(struct bu_api *api)
{
	for (size_t i = 0; i < BU_PLANS_KEPT; i++)
		forget(&api->kept[i]);
}
