/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One proposal at a time: what comes after it waits, also for what is unknown.
 * Invariant: a row that is in the log never changes.
 */
#include "tests/support/slow_log.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"

struct slow {
	struct slow_log *log;
	struct bu_store *store;
	struct bu_proposal *first, **last;
	struct bu_timer *turn;
	char doubt; /* 'i' or 'o': of the first proposal; 0 = none */
	int turns_left;
	int64_t since_ms;
	size_t seen; /* rows that the store knows of */
	int crashed;
};

struct slow_log {
	struct bu_loop *loop;
	struct bu_event *rows;
	size_t count, cap;
	json_t *blobs;
	int64_t epoch, kept_seq, kept_ms;
	int turns, doubt_turns;
	char fates[32];
	struct slow *open;
};

static void
row_hash(const struct bu_event *row, const char *before, char ret[BU_DIGEST_SIZE])
{
	bu_autofree char *body = bu_json_canonical(row->body);
	bu_autofree char *text =
		bu_xasprintf("%s|%lld|%s|%s|%s", before, (long long)row->seq, row->node,
			     bu_event_name(row->kind), body);

	bu_sha256_hex(text, strlen(text), ret);
}

/* Takes a reference of the body. */
static void
add_row(struct slow_log *log, struct bu_event *event)
{
	event->seq = (int64_t)log->count + 1;
	event->time_ms = bu_wall_ms(bu_loop_clock(log->loop));
	log->rows = bu_xgrow(log->rows, &log->cap, log->count + 1, sizeof(*log->rows));
	log->rows[log->count] = *event;
	log->rows[log->count].blob.text = NULL;
	if (event->blob.text)
		json_object_set_new(log->blobs, event->blob.digest,
				    json_string(event->blob.text));
	json_incref(event->body);
	log->count++;
	bu_epoch_learn(&log->epoch, event);
}

static void
go_on(struct slow *self)
{
	if (!self->crashed)
		bu_timer_set(self->turn, 0);
}

static void
write_other(struct slow_log *log, enum bu_event_kind kind, const char *node,
	    json_t *body)
{
	struct bu_event event;

	bu_event_init(&event, kind, node, body);
	add_row(log, &event);
	bu_event_fini(&event);
	if (log->open)
		go_on(log->open);
}

void
slow_log_write(struct slow_log *log, const char *node)
{
	write_other(log, BU_EVENT_HELD, node, json_object());
}

void
slow_log_lead(struct slow_log *log, int64_t epoch)
{
	write_other(log, BU_EVENT_EPOCH, "",
		    json_pack("{s:I}", "epoch", (json_int_t)epoch));
	if (log->open)
		log->open->since_ms = -1;
}

void
slow_log_fates(struct slow_log *log, const char *fates)
{
	snprintf(log->fates, sizeof(log->fates), "%s", fates);
}

void
slow_log_doubt(struct slow_log *log, int turns)
{
	log->doubt_turns = turns;
	if (log->open) {
		log->open->turns_left = turns;
		go_on(log->open);
	}
}

static char
next_fate(struct slow_log *log)
{
	char fate = log->fates[0] ? log->fates[0] : 'd';

	if (log->fates[0])
		memmove(log->fates, log->fates + 1, strlen(log->fates));
	return fate;
}

static void
land(struct slow_log *log, struct bu_proposal *proposal)
{
	for (size_t i = 0; i < proposal->count; i++)
		add_row(log, &proposal->events[i]);
}

static void
tell(struct slow *self, enum bu_proposal_end end, const struct bu_err *err)
{
	struct bu_proposal *proposal = self->first;

	self->doubt = 0;
	self->turns_left = self->log->turns;
	self->first = proposal->next;
	if (!self->first)
		self->last = &self->first;
	bu_store_decide(self->store, proposal, end, err);
}

static void
wonder(struct slow *self, char fate)
{
	struct bu_err err;

	self->doubt = fate;
	self->turns_left = self->log->doubt_turns;
	bu_err_set(&err, BU_ERR_IO, 0, "no answer");
	bu_store_decide(self->store, self->first, BU_PROPOSAL_UNKNOWN, &err);
}

static void
decide_first(struct slow *self)
{
	struct slow_log *log = self->log;
	char fate = self->doubt ? self->doubt : next_fate(log);
	struct bu_err err;

	bu_err_set(&err, BU_ERR_DENIED, 0, "another appliance wrote row %zu",
		   log->count + 1);
	if (self->doubt) {
		tell(self, fate == 'i' ? BU_PROPOSAL_DONE : BU_PROPOSAL_NOT, &err);
		return;
	}
	if (self->first->fence < log->epoch) {
		tell(self, BU_PROPOSAL_NOT, &err);
		return;
	}
	if (fate == 'g' || fate == 'l')
		write_other(log, BU_EVENT_HELD, "x", json_object());
	if (fate != 'l' && fate != 'o')
		land(log, self->first);
	if (fate == 'i' || fate == 'o')
		wonder(self, fate);
	else
		tell(self, fate == 'l' ? BU_PROPOSAL_NOT : BU_PROPOSAL_DONE, &err);
}

static void
on_turn(void *arg)
{
	struct slow *self = arg;

	if (self->crashed)
		return;
	if (self->seen < self->log->count && !self->doubt) {
		self->seen = self->log->count;
		bu_store_grew(self->store);
	}
	if (self->first && self->turns_left != -1 && self->turns_left-- == 0)
		decide_first(self);
	if ((self->first && self->turns_left != -1) || self->seen < self->log->count)
		go_on(self);
}

/* --- the driver --- */

static void
attach(void *driver, struct bu_store *store)
{
	((struct slow *)driver)->store = store;
}

static void
propose(void *driver, struct bu_proposal *proposal)
{
	struct slow *self = driver;

	if (!self->first)
		self->turns_left = self->log->turns;
	proposal->next = NULL;
	*self->last = proposal;
	self->last = &proposal->next;
}

static void
decide(void *driver)
{
	go_on(driver);
}

static int
mend(void *driver, struct bu_err *err)
{
	struct slow *self = driver;

	return self->first ? bu_err_set(err, BU_ERR_IO, 0, "no answer yet") : 0;
}

static struct bu_lead
lead(void *driver)
{
	struct slow *self = driver;

	return (struct bu_lead){.epoch = self->log->epoch, .since_ms = self->since_ms};
}

static void
keep_lead(void *driver, int64_t seq, int64_t led_ms)
{
	struct slow_log *log = ((struct slow *)driver)->log;

	log->kept_seq = seq;
	log->kept_ms = led_ms;
}

static int64_t
kept_lead(void *driver, int64_t seq)
{
	struct slow_log *log = ((struct slow *)driver)->log;

	return log->kept_seq == seq ? log->kept_ms : -1;
}

static int
read_rows(void *driver, int64_t after_seq, size_t max, bu_store_read_fn fn, void *arg,
	  struct bu_err *err)
{
	struct slow_log *log = ((struct slow *)driver)->log;

	for (size_t at = (size_t)after_seq, i = 0; at < log->count && (!max || i < max);
	     at++, i++)
		if (fn(&log->rows[at], arg) != 0)
			break;
	return 0;
}

static int
read_tail(void *driver, size_t count, bu_store_read_fn fn, void *arg,
	  struct bu_err *err)
{
	size_t all = ((struct slow *)driver)->log->count;

	return read_rows(driver, (int64_t)(all - (count < all ? count : all)), 0, fn,
			 arg, err);
}

/* Only the whole log, the oldest first, is looked for here. */
static int
search_rows(void *driver, struct bu_search *search, bu_store_read_fn fn, void *arg,
	    struct bu_err *err)
{
	search->last = search->at = (int64_t)((struct slow *)driver)->log->count;
	return read_rows(driver, search->after, search->max, fn, arg, err);
}

static int
blobs_put(void *driver, const struct bu_blob *blobs, size_t count, struct bu_err *err)
{
	for (size_t i = 0; i < count; i++)
		json_object_set_new(((struct slow *)driver)->log->blobs,
				    blobs[i].digest, json_string(blobs[i].text));
	return 0;
}

static char *
blob_get(void *driver, const char *digest, struct bu_err *err)
{
	const json_t *blobs = ((struct slow *)driver)->log->blobs;
	const char *text = bu_json_str(blobs, digest, NULL);

	if (!text)
		bu_err_set(err, BU_ERR_NOTFOUND, 0, "no blob %s in the store", digest);
	return text ? bu_xstrdup(text) : NULL;
}

static int
verify(void *driver, struct bu_chain *at, size_t max, struct bu_err *err)
{
	struct slow_log *log = ((struct slow *)driver)->log;

	for (size_t i = 0; at->seq < (int64_t)log->count && (!max || i < max); i++) {
		struct bu_chain next = {.seq = at->seq + 1};

		row_hash(&log->rows[at->seq], at->hash, next.hash);
		*at = next;
	}
	return 0;
}

static int
has(void *driver, const struct bu_chain *row, struct bu_err *err)
{
	struct bu_chain at = {0};

	return row->seq > 0 && verify(driver, &at, (size_t)row->seq, err) == 0 &&
	       at.seq == row->seq && strcmp(at.hash, row->hash) == 0;
}

static void
end_of(void *driver, struct bu_chain *ret)
{
	memset(ret, 0, sizeof(*ret));
	verify(driver, ret, 0, NULL);
}

static void
close_driver(void *driver)
{
	struct slow *self = driver;

	self->log->open = NULL;
	bu_timer_destroy(self->turn);
	free(self);
}

static const struct bu_store_ops slow_ops = {
	.name = "slow",
	.attach = attach,
	.propose = propose,
	.decide = decide,
	.mend = mend,
	.lead = lead,
	.keep_lead = keep_lead,
	.kept_lead = kept_lead,
	.read = read_rows,
	.read_tail = read_tail,
	.search = search_rows,
	.blobs_put = blobs_put,
	.blob_get = blob_get,
	.verify = verify,
	.has = has,
	.end = end_of,
	.close = close_driver,
};

struct slow_log *
slow_log_create(struct bu_loop *loop, int turns)
{
	struct slow_log *log = bu_xcalloc(1, sizeof(*log));

	log->loop = loop;
	log->turns = turns;
	log->doubt_turns = -1;
	log->blobs = json_object();
	return log;
}

void
slow_log_destroy(struct slow_log *log)
{
	for (size_t i = 0; i < log->count; i++)
		bu_event_fini(&log->rows[i]);
	free(log->rows);
	json_decref(log->blobs);
	free(log);
}

struct bu_store *
slow_log_open(struct slow_log *log)
{
	struct slow *self = bu_xcalloc(1, sizeof(*self));

	self->log = log;
	self->last = &self->first;
	self->since_ms = bu_loop_now_ms(log->loop);
	self->seen = log->count;
	self->turn = bu_timer_create(log->loop, on_turn, self);
	log->open = self;
	return bu_store_create(log->loop, &slow_ops, self);
}

void
slow_log_crash(struct slow_log *log)
{
	log->open->crashed = 1;
}
