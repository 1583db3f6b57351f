/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot medium of a run: put into the virtual drive before the machine is told to
 * boot from it, and taken out before it boots from its disk, when bringupd says so, or
 * when the start failed. Called by perform.c. Invariant: a machine that was not
 * switched on has no medium of this run.
 */
#include "base/json.h"
#include "base/log.h"
#include "provisioner/power/perform_impl.h"

static const char *
text_of(const struct bu_run *run, const char *key)
{
	return json_string_value(json_object_get(run->request, key));
}

static void
on_inserted(struct bu_run *run)
{
	if (run->err.kind != BU_ERR_NONE) {
		bu_run_fail(run);
		return;
	}
	run->loaded = 1;
	run->order.first = BU_BOOT_MEDIA;
	run->known(run);
}

/* The order says the disk; who takes the medium out later is bringupd. */
static void
on_cleared(struct bu_run *run)
{
	if (run->err.kind != BU_ERR_NONE)
		bu_warn("power", "the boot medium is not out: %s", run->err.text);
	run->known(run);
}

void
bu_run_load(struct bu_run *run, bu_step_fn then)
{
	run->known = then;
	run->order.media = text_of(run, "media_dir");
	if (run->order.first == BU_BOOT_NETWORK && text_of(run, "media")) {
		run->order.media = text_of(run, "media");
		bu_run_call(run, BU_POWER_MEDIA_INSERT, on_inserted);
	} else if (run->order.media) {
		bu_run_call(run, BU_POWER_MEDIA_EJECT, on_cleared);
	} else {
		then(run);
	}
}

static void
on_unloaded(struct bu_run *run)
{
	if (run->err.kind != BU_ERR_NONE)
		bu_warn("power", "the boot medium is not out: %s", run->err.text);
	run->err = run->why;
	bu_run_fail(run);
}

void
bu_run_fail_loaded(struct bu_run *run)
{
	if (!run->loaded) {
		bu_run_fail(run);
		return;
	}
	run->why = run->err;
	run->order.media = text_of(run, "media_dir");
	bu_run_call(run, BU_POWER_MEDIA_EJECT, on_unloaded);
}

static void
on_ejected(struct bu_run *run)
{
	run->seen = BU_POWER_UNKNOWN; /* it was not looked at */
	if (run->err.kind != BU_ERR_NONE)
		bu_run_fail(run);
	else
		bu_run_done(run);
}

void
bu_run_eject(struct bu_run *run)
{
	run->order.media = text_of(run, "media_dir");
	if (!run->order.media) {
		bu_err_set(&run->err, BU_ERR_INVAL, 0, "eject: no media_dir");
		bu_run_fail(run);
		return;
	}
	bu_run_call(run, BU_POWER_MEDIA_EJECT, on_ejected);
}
