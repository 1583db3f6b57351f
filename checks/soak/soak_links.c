/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the links of a machine that soaks, with a neighbour that soaks as well: lap
 * after lap of a probe over all rails, whose rates are not judged. Called by soak.c.
 * Invariants: every lap has a deadline; a neighbour that is away, or between two slices
 * of its own, is no fault of this machine.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "checks/soak/soak_impl.h"

enum { SLOT_LINKS = 2, GRACE_MS = 15000, PAUSE_MS = 200 };

static int
is_stopped(void *arg)
{
	struct bu_soak_links *links = arg;

	return atomic_load(&links->stop) || bu_checks_stop(links->ctx);
}

static void
announce(const struct bu_soak_links *links, int64_t limit_ms)
{
	bu_checks_doing(links->ctx, NULL,
			&(struct bu_doing){.slot = SLOT_LINKS,
					   .limit_ms = limit_ms,
					   .id = "soak-links",
					   .subject = "an adapter of the fabric",
					   .what = "the verbs",
					   .hint = "power cycle; if it hangs again, "
						   "swap the card"});
}

/* 1: this rail's lap went well. */
static int
take_rail(struct bu_soak_links *links, const json_t *value, const char *rail)
{
	struct bu_pair_result result;
	struct bu_err err = {0};

	if (bu_pair_result_from_json(value, &result, &err) != 0) {
		bu_text_copy(links->trouble, sizeof(links->trouble), err.text);
		return 0;
	}
	for (int i = 0; i < 2; i++) {
		const struct bu_pair_error *error = &result.dir[i].error;

		links->moved_bytes += (double)result.dir[i].sent_bytes;
		if (error->kind == BU_ERR_VERIFY) {
			bu_text_copy(links->changed, sizeof(links->changed),
				     error->text);
			bu_text_copy(links->changed_on, sizeof(links->changed_on),
				     rail);
		} else if (error->kind != BU_ERR_NONE) {
			bu_text_copy(links->trouble, sizeof(links->trouble),
				     error->text);
		}
	}
	if (result.error.kind != BU_ERR_NONE)
		bu_text_copy(links->trouble, sizeof(links->trouble), result.error.text);
	return result.error.kind == BU_ERR_NONE &&
	       result.dir[0].error.kind == BU_ERR_NONE &&
	       result.dir[1].error.kind == BU_ERR_NONE;
}

static void
run_lap(struct bu_soak_links *links)
{
	bu_autojson json_t *result = NULL;
	const json_t *rails;
	struct bu_err err = {0};
	int good = 1;
	size_t i;
	json_t *rail;

	announce(links, links->work.deadline_ms + GRACE_MS);
	if (bu_rails_run(&links->work, &links->kept, &result, &err) != 0) {
		bu_text_copy(links->trouble, sizeof(links->trouble), err.text);
		return;
	}
	rails = json_object_get(result, "rails");
	json_array_foreach (rails, i, rail)
		good &= take_rail(links, rail, links->work.rails[i].rail);
	links->laps += good;
}

static void *
load(void *arg)
{
	struct bu_soak_links *links = arg;

	while (!is_stopped(links)) {
		run_lap(links);
		usleep(PAUSE_MS * 1000);
	}
	bu_rails_drop(&links->kept);
	announce(links, 0);
	return NULL;
}

void
bu_soak_links_begin(const struct bu_checks_ctx *ctx, struct bu_soak_links *links)
{
	const json_t *item =
		json_object_get(json_object_get(ctx->expect, "soak"), "link");
	struct bu_err err = {0};

	memset(links, 0, sizeof(*links));
	links->ctx = ctx;
	links->kept.cancelled = is_stopped;
	links->kept.arg = links;
	if (!item)
		return;
	if (bu_work_probe_from_json(item, &links->work, &err) != 0)
		bu_text_copy(links->trouble, sizeof(links->trouble), err.text);
	else
		links->runs = pthread_create(&links->thread, NULL, load, links) == 0;
}

/* Which ports were loaded, how much; or why none was. */
static void
tell(const struct bu_soak_links *links, const char *peer, struct bu_checks *out)
{
	char seen[160];
	struct bu_check *row;

	if (!links->laps) {
		snprintf(seen, sizeof(seen), "not one lap with %.40s: %.90s", peer,
			 links->trouble[0] ? links->trouble : "the slice was over");
		bu_soak_finding(out, BU_SOAK_LINKS, "", seen, "laps over all rails");
		return;
	}
	snprintf(seen, sizeof(seen), "%d laps with %.40s, %.1f GB", links->laps, peer,
		 links->moved_bytes / 1e9);
	row = bu_checks_add(out, "soak", "soak-links", BU_VERDICT_PASS, "");
	BU_CHECK_SET(row->seen, "%s", seen);
}

void
bu_soak_links_end(struct bu_soak_links *links, struct bu_checks *out)
{
	const struct bu_work_probe *work = &links->work;
	int own = strcmp(work->self, work->node[BU_END_B]) == 0;

	atomic_store(&links->stop, 1);
	if (links->runs)
		pthread_join(links->thread, NULL);
	if (!links->runs && !links->trouble[0])
		return;
	if (links->changed[0])
		bu_soak_finding(out, BU_SOAK_PAYLOAD, links->changed_on, links->changed,
				"unchanged");
	tell(links, work->node[!own], out);
}
