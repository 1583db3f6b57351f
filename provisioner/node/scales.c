/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wanted size of pools, replayed from the log. Asked by scale.c and by the API.
 * Invariant: the newest word counts: one that was said over another count of the
 * profile is over.
 */
#include "provisioner/node/scales.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "provisioner/node/fleet.h"
#include "provisioner/node/replay_impl.h"

void
bu_scales_fini(struct bu_scales *scales)
{
	free(scales->list);
	memset(scales, 0, sizeof(*scales));
}

static struct bu_scale *
find(const struct bu_scales *scales, const char *pool)
{
	for (size_t i = 0; i < scales->count; i++)
		if (strcmp(scales->list[i].pool, pool) == 0)
			return &scales->list[i];
	return NULL;
}

int
bu_replay_scale(BU_REPLAY_ARGS)
{
	struct bu_scales *scales = &fleet->scales;
	struct bu_scale *scale = find(scales, body->scale.pool);

	if (!scale) {
		scales->list = bu_xgrow(scales->list, &scales->cap, scales->count + 1,
					sizeof(*scales->list));
		scale = &scales->list[scales->count++];
	}
	*scale = (struct bu_scale){.count = (int)body->scale.count,
				   .of = (int)body->scale.of,
				   .at_ms = event->time_ms};
	BU_TEXT_COPY(scale->pool, body->scale.pool);
	BU_TEXT_COPY(scale->by, body->scale.by);
	BU_TEXT_COPY(scale->words, bu_body_text(body->scale.reason));
	return 0;
}

const struct bu_scale *
bu_scale_of(const struct bu_fleet *fleet, const struct bu_desired_pool *pool)
{
	const struct bu_scale *scale = find(&fleet->scales, pool->name);

	return pool->max && scale && scale->of == pool->count ? scale : NULL;
}

int
bu_scale_wanted(const struct bu_fleet *fleet, const struct bu_desired_pool *pool)
{
	const struct bu_scale *scale = bu_scale_of(fleet, pool);
	int wanted = scale         ? scale->count
		     : pool->count ? pool->count
				   : (int)pool->nodes_count;

	if (!pool->max)
		return (int)pool->nodes_count;
	if (wanted > pool->max)
		wanted = pool->max;
	return wanted < pool->min ? pool->min : wanted;
}
