/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a change: note, write, apply, prove, keep or undo. Called by jobs.c for
 * work items and by main.c at the start. Invariant: at every moment either the journal
 * is on the disk or the files are those of a configuration that reached the appliance
 * (or that were there before).
 */
#include "agent/configure.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/apply.h"
#include "agent/links.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/applied.h"

enum { PROOFS = 2 };

/* Of the change that the last start had to undo. */
static struct {
	char id[128];
	int attempt;
	char text[300];
} undone;

/* Twice, with a pause: the first may still have come through what is going away. */
static int
prove(const struct bu_configure *configure, const char *id, int64_t confirm_ms,
      struct bu_err *err)
{
	int64_t end_ms = bu_mono_ms(bu_clock_system()) + confirm_ms;
	int measurements = 0;

	for (;;) {
		if (configure->confirm(id, configure->arg, err) == 0) {
			if (++measurements == PROOFS)
				return 0;
		} else {
			measurements = 0;
			bu_debug("configure", "%s", err->text);
			if (bu_mono_ms(bu_clock_system()) >= end_ms)
				return -1;
		}
		usleep((useconds_t)configure->pause_ms * 1000);
	}
}

/* Files, what they make hold, and what no file says. The journal goes last. */
static int
undo(const struct bu_configure *configure, struct bu_change *change, int apply,
     struct bu_err *err)
{
	const struct bu_note *note = &change->journal;
	struct bu_drops drops = bu_apply_drops_back(change);
	int rc = bu_change_restore(change, err);

	if (note->kargs && configure->bootargs &&
	    configure->bootargs(note->kargs, NULL, rc == 0 ? err : NULL) != 0)
		rc = -1;
	if (apply &&
	    bu_apply_groups(configure->root, note, &drops, rc == 0 ? err : NULL) != 0)
		rc = -1;
	if (apply)
		bu_apply_values(configure->root, note);
	free(drops.list);
	/* What could not be put back now may be at the next start. */
	return rc == 0 ? bu_change_close(change, err) : rc;
}

static int
roll_back(const struct bu_configure *configure, struct bu_change *change,
	  struct bu_err *err)
{
	struct bu_err why = *err;

	if (undo(configure, change, 1, err) != 0)
		return bu_err_wrap(err,
				   "%.150s; putting the old configuration back failed",
				   why.text);
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "rolled back: %.300s; the old configuration is back",
			  why.text);
}

static int
apply_and_prove(const struct bu_configure *configure, struct bu_change *change,
		const char *id, int64_t confirm_ms, struct bu_err *err)
{
	struct bu_drops drops = {change->journal.drops, change->journal.drops_count};

	if (bu_apply_groups(configure->root, &change->journal, &drops, err) != 0)
		return -1;
	if (prove(configure, id, confirm_ms, err) != 0)
		return bu_err_wrap(err,
				   "after the change the appliance was not reached "
				   "within %d s",
				   (int)(confirm_ms / 1000));
	return 0;
}

static json_t *
result_of(const struct bu_configure *configure, const struct bu_change *change,
	  int live)
{
	bu_autoinventory struct bu_inventory *now = bu_inventory_create();
	bu_autojson json_t *json = NULL;
	json_t *paths = json_array(), *applied = json_array();
	const struct bu_note *note = &change->journal;

	bu_links_collect(configure->root, now);
	json = bu_inventory_to_json(now);
	for (size_t i = 0; i < change->count; i++)
		if (strcmp(change->files[i].path, BU_APPLIED_PATH) != 0)
			json_array_append_new(paths,
					      json_string(change->files[i].path));
	if (note->kargs)
		json_array_append_new(paths, json_string("kargs"));
	for (size_t i = 0; live && i < note->groups_count; i++)
		json_array_append_new(applied, json_string(note->groups[i]));
	return json_pack("{s:o,s:o,s:O}", "changed", paths, "applied", applied, "links",
			 json_object_get(json, "links"));
}

/* kargs: what they were; NULL = they do not change. */
static int
begin(const struct bu_configure *configure, struct bu_change *change,
      const struct bu_work_configure *work, const char *kargs, struct bu_err *err)
{
	struct bu_note note = {.id = work->work.id,
			       .attempt = work->work.attempt,
			       .boot_id = configure->boot_id,
			       .live = work->live,
			       .confirm_ms = work->confirm_ms,
			       .kargs = kargs};
	int rc;

	bu_apply_note(change, &note);
	rc = bu_change_begin(change, &note, err);
	bu_note_fini(&note);
	return rc;
}

/* One that waits for its boot gives way to the next. */
static int
leave_old_change(const struct bu_configure *configure, struct bu_err *err)
{
	struct bu_change old = {.root = configure->root};
	int rc = bu_change_load(&old, err);

	if (rc == 0 && old.has_journal)
		rc = undo(configure, &old, old.journal.live, err);
	bu_change_fini(&old);
	return rc;
}

/* 1 when the kernel's arguments are to change: *ret_old is what they are now. An image
 * that keeps none of them by itself is fine as long as none is asked for. */
static int
kargs_differ(const struct bu_configure *configure, const char *kargs, char **ret_old,
	     struct bu_err *err)
{
	*ret_old = NULL;
	if (!kargs || !configure->bootargs)
		return 0;
	if (configure->bootargs(NULL, ret_old, err) != 0)
		return *kargs ? -1 : 0;
	return strcmp(*ret_old, kargs) != 0;
}

/* The record of it comes last: what is cut off has none that agrees. */
static int
write_all(const struct bu_configure *configure, const struct bu_change *change,
	  const char *kargs, struct bu_err *err)
{
	if (bu_change_write(change, err) != 0 ||
	    (kargs && configure->bootargs(kargs, NULL, err) != 0))
		return -1;
	return bu_change_write_record(change, err);
}

static int
carry_out(const struct bu_configure *configure, struct bu_change *change,
	  const struct bu_work_configure *work, json_t **ret_result, struct bu_err *err)
{
	const char *kargs = work->kargs;
	bu_autofree char *old_kargs = NULL;
	int differ = kargs_differ(configure, kargs, &old_kargs, err);

	if (differ < 0)
		return -1;
	if (change->count > 0 || differ) {
		if (begin(configure, change, work, differ ? old_kargs : NULL, err) != 0)
			return -1;
		if (write_all(configure, change, differ ? kargs : NULL, err) != 0 ||
		    (work->live && apply_and_prove(configure, change, work->work.id,
						   work->confirm_ms, err) != 0))
			return roll_back(configure, change, err);
	}
	*ret_result = result_of(configure, change, work->live);
	if (work->live && change->has_journal && bu_change_close(change, err) != 0) {
		json_decref(*ret_result);
		*ret_result = NULL;
		return -1;
	}
	return 0;
}

int
bu_configure_run(const struct bu_configure *configure,
		 const struct bu_work_configure *work,
		 const struct bu_change_file *files, size_t count, json_t **ret_result,
		 struct bu_err *err)
{
	struct bu_change change = {.root = configure->root};
	int rc;

	if (strcmp(undone.id, work->work.id) == 0 &&
	    undone.attempt == work->work.attempt)
		return bu_err_set(err, BU_ERR_STATE, 0, "rolled back: %s", undone.text);
	rc = leave_old_change(configure, err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = bu_change_add(&change, &files[i], err);
	for (size_t i = 0; i < work->patterns_count && rc == 0; i++)
		bu_change_add_old(&change, work->patterns[i], files, count);
	if (rc == 0)
		rc = carry_out(configure, &change, work, ret_result, err);
	bu_change_fini(&change);
	return rc;
}

/* A change that was written for this boot: does it reach the appliance? */
static int
proven_by_boot(const struct bu_configure *configure, struct bu_change *change,
	       struct bu_err *err)
{
	bu_apply_settle(configure->root);
	return prove(configure, change->journal.id, change->journal.confirm_ms, err) ==
	       0;
}

static void
recover(const struct bu_configure *configure, struct bu_change *change)
{
	const struct bu_note *note = &change->journal;
	int same_boot = strcmp(note->boot_id, configure->boot_id) == 0;
	struct bu_err err = {0};

	if (!note->live) {
		if (same_boot)
			return; /* it waits for the next boot */
		if (proven_by_boot(configure, change, &err)) {
			if (bu_change_close(change, &err) != 0)
				bu_warn("configure", "%s", err.text);
			return;
		}
	}
	BU_TEXT_COPY(undone.id, note->id);
	undone.attempt = note->attempt;
	snprintf(undone.text, sizeof(undone.text), "%.200s",
		 err.kind    ? err.text
		 : same_boot ? "the agent stopped before the change was confirmed"
			     : "the machine stopped before the change was confirmed");
	bu_warn("configure", "%s: %s; putting the old configuration back", undone.id,
		undone.text);
	if (undo(configure, change, 1, &err) != 0)
		bu_error("configure", "%s", err.text);
}

void
bu_configure_recover(const struct bu_configure *configure)
{
	struct bu_change change = {.root = configure->root};
	struct bu_err err = {0};

	if (bu_change_load(&change, &err) != 0)
		bu_error("configure", "%s", err.text);
	else if (change.has_journal)
		recover(configure, &change);
	bu_change_fini(&change);
}
