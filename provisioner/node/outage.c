/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log that cannot be written (a full disk) makes bringupd read only. Nothing is
 * begun, a change that is not in the log did not happen, and callers that need one get
 * the error. Every two seconds real rows are tried. Once they are in, bringupd goes on
 * as after a start: open steps are observed, and the time of the outage counts for no
 * deadline. The same first row begins the life of a process, so a start on a full disk
 * is an outage from the beginning. A shut fence (fence.c) ends a life likewise, though
 * rows go on. Called by the store, fence.c and reconcile.c. Invariant: effects begin
 * only while `alive`.
 */
#include <stdlib.h>

#include "base/log.h"
#include "base/text.h"
#include "provisioner/node/fence.h"
#include "provisioner/node/reconcile_impl.h"

enum { TRY_MS = 2000, JUMP_MS = 5000 };

static int64_t
offset_ms(const struct bu_reconcile *rec)
{
	const struct bu_clock *clock = bu_loop_clock(rec->fleet->loop);

	return bu_wall_ms(clock) - bu_mono_ms(clock);
}

/* The first row of this life is in the log; its length is counted from from_ms. */
static void
count_from(struct bu_reconcile *rec, int64_t from_ms)
{
	rec->life_seq = rec->fleet->life.seq;
	rec->count_ms = from_ms;
	rec->lasted_ms = 0;
	rec->offset_ms = offset_ms(rec);
}

/* This life is over, as far as deadlines count it. */
static void
end_life(struct bu_reconcile *rec)
{
	rec->outage_ms = bu_loop_now_ms(rec->fleet->loop);
	rec->lasted_ms = rec->outage_ms - rec->count_ms;
	rec->lasted_seq = rec->life_seq;
	rec->alive = 0;
}

/* A life behind the fence: of no length. */
static void
rest(struct bu_reconcile *rec)
{
	rec->fence.paused = 1;
	end_life(rec);
	if (rec->life_seq)
		bu_store_keep_lead(rec->fleet->store, rec->life_seq, rec->lasted_ms);
}

static void
begin_life(struct bu_reconcile *rec)
{
	struct bu_fleet *fleet = rec->fleet;

	rec->alive = 1;
	rec->fence.paused = 0;
	count_from(rec, rec->life_ms);
	if (bu_fence_is_shut(fleet)) {
		rest(rec);
		return;
	}
	for (size_t i = 0; i < fleet->count; i++)
		rec->drive(rec, fleet->nodes[i]);
}

void
bu_outage_mark(struct bu_reconcile *rec)
{
	struct bu_fleet *fleet = rec->fleet;

	if (!rec->alive || !fleet->life.seq)
		return;
	/* The first life of a log is counted from its first row. */
	if (!rec->life_seq)
		count_from(rec, bu_loop_now_ms(fleet->loop));
	else
		bu_store_keep_lead(fleet->store, rec->life_seq,
				   bu_loop_now_ms(fleet->loop) - rec->count_ms);
}

static void
started_event(int64_t lasted_ms, const char *why, struct bu_event *ret)
{
	BU_EVENT_MAKE(ret, BU_EVENT_STARTED, "", started, .why = why,
		      .lasted_ms = lasted_ms);
}

static void
on_started(const struct bu_decided *decided, void *arg)
{
	struct bu_reconcile *rec = arg;

	if (decided->err)
		return;
	/* The row may be in the log, and the log down since. */
	if (!rec->stopped && !bu_store_down(rec->fleet->store))
		begin_life(rec);
}

void
bu_outage_start(struct bu_reconcile *rec)
{
	struct bu_fleet *fleet = rec->fleet;
	struct bu_event event;

	rec->lasted_ms = fleet->life.lasted_ms;
	rec->lasted_seq = fleet->life.seq;
	rec->life_ms = rec->outage_ms = bu_loop_now_ms(fleet->loop);
	/* An empty log begins with any row. */
	if (!fleet->life.seq) {
		begin_life(rec);
		return;
	}
	rec->alive = 0;
	started_event(rec->lasted_ms, "start", &event);
	bu_store_append(fleet->store, &event, 1, fleet->epoch, on_started, rec);
}

static void
on_jumped(const struct bu_decided *decided, void *arg)
{
	struct bu_reconcile *rec = arg;

	if (!decided->err && !rec->stopped && rec->alive)
		count_from(rec, rec->jumped_ms);
}

/* Rows have wall-clock times: a jump ends the life, as its time never passed. */
void
bu_outage_heed_clock(struct bu_reconcile *rec)
{
	int64_t now_ms = bu_loop_now_ms(rec->fleet->loop);
	int64_t jump_ms = offset_ms(rec) - rec->offset_ms;
	struct bu_event event;

	if (!rec->alive || !rec->life_seq)
		return;
	rec->offset_ms += jump_ms;
	if (llabs(jump_ms) < JUMP_MS)
		return;
	bu_warn("main", "the clock was set by %lld s", (long long)jump_ms / 1000);
	rec->jumped_ms = now_ms;
	started_event(now_ms - rec->count_ms, "clock", &event);
	bu_store_append(rec->fleet->store, &event, 1, rec->fleet->epoch, on_jumped,
			rec);
}

/* Shows the condition in memory; the log cannot have it yet. */
static void
show(struct bu_reconcile *rec, const struct bu_err *err)
{
	struct bu_fleet *fleet = rec->fleet;
	struct bu_condition *condition = &fleet->conditions[BU_CONDITION_DISK_FULL];

	bu_condition_set(condition, 1, bu_wall_ms(bu_loop_clock(fleet->loop)),
			 json_string(err->text));
	bu_fleet_touch(fleet, NULL);
}

void
bu_outage_begin(void *arg)
{
	struct bu_reconcile *rec = arg;
	const struct bu_err *err = bu_store_down(rec->fleet->store);

	if (rec->stopped)
		return;
	bu_error("log", "%s", err->text);
	if (rec->alive)
		end_life(rec);
	rec->try_ms = bu_loop_now_ms(rec->fleet->loop) + TRY_MS;
	rec->fleet->outages++;
	bu_effects_pause(rec);
	show(rec, err);
}

static void
give_back(struct bu_reconcile *rec)
{
	struct bu_fleet *fleet = rec->fleet;
	int64_t now_ms = bu_loop_now_ms(fleet->loop);

	for (size_t i = 0; i < fleet->count; i++) {
		struct bu_node *node = fleet->nodes[i];

		node->live.clock_ms += now_ms - rec->outage_ms;
		if (node->live.clock_ms > now_ms)
			node->live.clock_ms = now_ms;
		node->live.log_clock_ms = node->live.clock_ms;
	}
}

static void
condition_event(const struct bu_fleet *fleet, int on, struct bu_event *ret)
{
	const struct bu_condition *condition =
		&fleet->conditions[BU_CONDITION_DISK_FULL];

	BU_EVENT_MAKE(ret, BU_EVENT_CONDITION, "", condition,
		      .name = bu_condition_info(BU_CONDITION_DISK_FULL)->name, .on = on,
		      .detail = on ? condition->detail : NULL,
		      .since_ms = condition->since_ms);
}

/* As after a start. */
static void
go_on(struct bu_reconcile *rec)
{
	struct bu_fleet *fleet = rec->fleet;

	give_back(rec);
	rec->life_ms = bu_loop_now_ms(fleet->loop);
	fleet->loaded_seq = fleet->life.row_seq;
	bu_effects_resume(rec);
	begin_life(rec);
	bu_fleet_touch(fleet, NULL);
}

static void
on_resumed(const struct bu_decided *decided, void *arg)
{
	struct bu_reconcile *rec = arg;

	if (rec->stopped)
		return;
	if (decided->err) {
		show(rec, decided->err);
		return;
	}
	bu_info("log", "it can be written again");
	go_on(rec);
}

/* The length of the life before, unless the log has a row with it by now. */
static int64_t
untold_ms(const struct bu_reconcile *rec)
{
	return rec->fleet->life.seq != rec->lasted_seq ? 0 : rec->lasted_ms;
}

/* Proposes the outage, its end, and the first row of the next life. */
static void
resume(struct bu_reconcile *rec)
{
	struct bu_event events[3];

	condition_event(rec->fleet, 1, &events[0]);
	condition_event(rec->fleet, 0, &events[1]);
	started_event(untold_ms(rec), "room", &events[2]);
	bu_store_resume(rec->fleet->store, events, BU_LEN(events), rec->fleet->epoch,
			on_resumed, rec);
}

int
bu_outage_look(struct bu_reconcile *rec)
{
	struct bu_fleet *fleet = rec->fleet;
	int64_t now_ms = bu_loop_now_ms(fleet->loop);
	struct bu_err err;

	if (!bu_store_down(fleet->store) || now_ms < rec->try_ms)
		return rec->alive;
	rec->try_ms = now_ms + TRY_MS;
	if (bu_store_mend(fleet->store, &err) != 0) {
		show(rec, &err);
		return 0;
	}
	/* Rows that were proposed before may be in the log by now. */
	if (bu_store_down(fleet->store))
		resume(rec);
	return rec->alive;
}

static void
on_opened(const struct bu_decided *decided, void *arg)
{
	struct bu_reconcile *rec = arg;

	rec->fence.opening = 0;
	if (decided->err || rec->stopped || bu_store_down(rec->fleet->store))
		return;
	bu_info("fence", "open: this appliance leads, and goes on");
	go_on(rec);
}

void
bu_outage_fence(struct bu_reconcile *rec, int shut)
{
	struct bu_event event;

	if (rec->stopped)
		return;
	if (shut && rec->alive) {
		rest(rec);
		bu_effects_pause(rec);
	}
	if (shut || !rec->fence.paused || rec->fence.opening ||
	    bu_store_down(rec->fleet->store))
		return;
	rec->fence.opening = 1;
	started_event(untold_ms(rec), "epoch", &event);
	bu_store_append(rec->fleet->store, &event, 1, rec->fleet->epoch, on_opened,
			rec);
}
