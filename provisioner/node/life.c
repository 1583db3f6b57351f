/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lives of bringupd. A life begins with a start, or when a log that could not be
 * written takes rows again. Its first row is `started`, with the length of the life
 * before it. Deadlines count the time that bringupd was alive: its absence is not the
 * node's fault, and a kill gives no node its time anew.
 *
 * While the log is loaded, a node's clock is a point of that time, in ms since the
 * first row. Invariants: the clock is never after the end of its life; no jump of the
 * wall clock makes it older than the rows around it say. Within a life only time from
 * row to row counts, and the length of a life is from the monotonic clock. A wait stops
 * a node's clock in memory; late.c logs the long ones. Called by replay.c.
 */
#include "provisioner/node/life.h"

void
bu_life_set_clock(const struct bu_fleet *fleet, struct bu_node *node)
{
	node->live.clock_ms =
		fleet->loading ? fleet->life.alive_ms : bu_loop_now_ms(fleet->loop);
	node->live.log_clock_ms = node->live.clock_ms;
	node->live.wait_logged = 0;
}

void
bu_life_row(struct bu_fleet *fleet, const struct bu_event *event)
{
	struct bu_life *life = &fleet->life;

	if (!life->seq)
		life->seq = event->seq;
	else if (event->time_ms > life->row_ms)
		life->alive_ms += event->time_ms - life->row_ms;
	life->row_ms = event->time_ms;
}

/* Ends a life of lasted_ms. A node that waited at its end gets its time anew. */
static void
end_life(struct bu_fleet *fleet, int64_t lasted_ms)
{
	struct bu_life *life = &fleet->life;

	life->alive_ms = life->base_ms + lasted_ms;
	life->base_ms = life->alive_ms;
	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		if (fleet->loading &&
		    (node->live.wait_logged || node->live.clock_ms > life->alive_ms))
			bu_life_set_clock(fleet, node);
		node->live.wait_logged = 0;
	}
}

void
bu_life_started(struct bu_fleet *fleet, int64_t seq, int64_t lasted_ms)
{
	end_life(fleet, lasted_ms > 0 ? lasted_ms : 0);
	fleet->life.seq = seq;
}

void
bu_life_settle(struct bu_fleet *fleet)
{
	struct bu_life *life = &fleet->life;
	int64_t lasted_ms = bu_store_kept_lead(fleet->store, life->seq);
	int64_t now_ms = bu_loop_now_ms(fleet->loop);

	/* A life of unknown length lasted until its last row at least. */
	if (lasted_ms < 0)
		lasted_ms = life->alive_ms - life->base_ms;
	life->lasted_ms = lasted_ms;
	end_life(fleet, lasted_ms);
	for (size_t i = 0; i < fleet->count; i++) {
		fleet->nodes[i]->live.clock_ms += now_ms - life->alive_ms;
		fleet->nodes[i]->live.log_clock_ms = fleet->nodes[i]->live.clock_ms;
	}
}
