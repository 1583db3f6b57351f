/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that we have told to start, until somebody was told that they did; called by
 * perform.c. A start that ends as "failed" is asked for again: a machine that has come
 * on by then is what was asked for, and switching it off would hit it in its firmware.
 *
 * Invariant: a start answers for one request more, of the same kind, and not for ever.
 */
#include <string.h>

#include "base/json.h"
#include "provisioner/power/perform_impl.h"

enum { KEPT_MS = 15 * 60 * 1000 };

struct bu_started {
	struct bu_started *next;
	char *bmc;
	char *how; /* what it boots from, and in which mode */
	int64_t at_ms;
};

/* Owned. */
static char *
how_of(const struct bu_run *run)
{
	int network = run->order.first != BU_BOOT_DISK;

	return bu_xasprintf("%s %s %d", network ? "network" : "disk",
			    network ? bu_json_str(run->request, "media", "") : "",
			    (int)run->order.mode);
}

void
bu_started_forget(struct bu_run *run)
{
	struct bu_started **link = &run->performer->started, *started;

	while ((started = *link))
		if (strcmp(started->bmc, run->bmc) == 0) {
			*link = started->next;
			free(started->bmc);
			free(started->how);
			free(started);
		} else {
			link = &started->next;
		}
}

void
bu_started_note(struct bu_run *run)
{
	struct bu_started *started = bu_xcalloc(1, sizeof(*started));

	bu_started_forget(run);
	started->bmc = bu_xstrdup(run->bmc);
	started->how = how_of(run);
	started->at_ms = bu_run_now_ms(run);
	started->next = run->performer->started;
	run->performer->started = started;
}

int
bu_started_is(const struct bu_run *run)
{
	const struct bu_started *started = run->performer->started;
	bu_autofree char *how = how_of(run);

	while (started && strcmp(started->bmc, run->bmc) != 0)
		started = started->next;
	return started && strcmp(started->how, how) == 0 &&
	       bu_run_now_ms(run) - started->at_ms < KEPT_MS;
}

void
bu_started_free(struct bu_performer *performer)
{
	struct bu_started *started;

	while ((started = performer->started)) {
		performer->started = started->next;
		free(started->bmc);
		free(started->how);
		free(started);
	}
}
