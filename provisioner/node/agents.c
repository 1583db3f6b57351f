/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of agents, turned into triggers. Invariant: a message counts only for what
 * was ordered, by the token of this boot or the stamp of this install.
 */
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "model/machine.h"
#include "model/sentence.h"
#include "provisioner/node/binding.h"
#include "provisioner/node/fallback.h"
#include "provisioner/node/over.h"
#include "provisioner/node/ram.h"
#include "provisioner/node/reconcile_impl.h"

/* Bytes; a large machine's inventory has some 60,000. */
enum { INVENTORY_MAX = 256 << 10 };

/* Checks class and TPM of the machine, before anything is written. */
static int
node_fits(const struct bu_desired_node *want, int ram,
	  const struct bu_inventory *inventory, struct bu_reason *ret)
{
	if (!bu_class_fits(want->hardware, ram, inventory, ret))
		return 0;
	if (!bu_desired_seals(want) || inventory->tpm == 2)
		return 1;
	BU_REASON_SET(ret, NO_TPM, .text = {want->pool->name});
	return 0;
}

static void
booted_event(struct bu_event *event, const struct bu_node *node, const char *boot_id,
	     enum bu_where where)
{
	BU_EVENT_MAKE(event, BU_EVENT_BOOTED, node->name, booted, .boot_id = boot_id,
		      .where = where);
}

/* The machine of the certificate may have new parts, but must not be another one. */
static int
check_same(const struct bu_node *node, const struct bu_inventory *inventory,
	   struct bu_err *err)
{
	bu_autofree char *is = NULL, *was = NULL;
	struct bu_machine known, seen;

	bu_inventory_machine(inventory, &seen);
	bu_node_machine(node, &known);
	if (strcmp(node->known->id, node->machine) != 0 ||
	    bu_machine_recognize(&known, &seen) != BU_MACHINE_OTHER)
		return 0;
	is = bu_machine_words(&seen);
	was = bu_machine_words(&known);
	return bu_err_set(err, BU_ERR_DENIED, 0,
			  "the inventory is of another machine (%s); %s is bound to "
			  "%s (%s)",
			  is, node->name, node->machine, was);
}

/* disk.wanted "" = none was chosen. */
static struct bu_body_disk
body_of_disk(const struct bu_seen_disk *disk)
{
	if (!disk->wanted[0])
		return (struct bu_body_disk){0};
	return (struct bu_body_disk){.path = disk->path,
				     .serial = disk->serial,
				     .wwn = disk->wwn,
				     .size_bytes = disk->size_bytes,
				     .holds = disk->holds,
				     .wanted = disk->wanted,
				     .written = disk->written};
}

/* The row has what replay needs of the inventory, which is a blob. */
int
bu_reconcile_bound(struct bu_reconcile *rec, struct bu_event *event,
		   const struct bu_node *node, const char *id,
		   const struct bu_inventory *inventory, struct bu_err *err)
{
	bu_autojson json_t *value = bu_inventory_to_json(inventory), *told = NULL;
	bu_autofree char *text = bu_json_canonical(value);
	const struct bu_desired_node *want = bu_fleet_ordered(rec->fleet, node);
	struct bu_seen_disk disk = {.size_bytes = 0};
	struct bu_machine machine;

	if (strlen(text) > INVENTORY_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the inventory of %s has more than %d bytes",
				  node->name, INVENTORY_MAX);
	bu_inventory_machine(inventory, &machine);
	told = bu_machine_to_json(&machine);
	if (!want || bu_fleet_disk_in(value, want->hardware->disk, &disk) != 0)
		disk.wanted[0] = '\0';
	BU_EVENT_MAKE(event, BU_EVENT_BOUND, node->name, bound, .machine = id,
		      .told = told, .firmware = bu_json_str(value, "firmware", ""),
		      .disk = body_of_disk(&disk));
	bu_event_attach(event, "inventory", bu_steal(&text));
	return 0;
}

static int
bound_event(struct bu_reconcile *rec, struct bu_event *event,
	    const struct bu_node *node, const struct bu_inventory *inventory,
	    struct bu_err *err)
{
	if (check_same(node, inventory, err) != 0)
		return -1;
	return bu_reconcile_bound(rec, event, node, node->machine, inventory, err);
}

/* A machine whose system runs from memory has booted, by an order or by itself. */
static int
hello_again(struct bu_reconcile *rec, struct bu_node *node,
	    const struct bu_inventory *inventory, struct bu_err *err)
{
	struct bu_event events[3];
	size_t count = 0;

	if (bound_event(rec, &events[count++], node, inventory, err) != 0)
		return -1;
	booted_event(&events[count++], node, inventory->boot_id, BU_WHERE_RAMDISK);
	if (node->state == BU_STATE_BOOTING && node->step.status == BU_STEP_OPEN)
		bu_outcome_event(&events[count++], node, NULL, "seen by its boot");
	return bu_ram_hello(rec, node, events, count, err);
}

static int
hello_ramdisk(struct bu_reconcile *rec, struct bu_node *node,
	      const struct bu_inventory *inventory, struct bu_err *err)
{
	struct bu_target target;
	struct bu_event events[3];
	size_t count = 0;
	struct bu_reason reason;
	int ram = bu_ram_is(rec, node), fits;

	/* The agent was restarted within its boot: its work is still there. */
	if (node->state != BU_STATE_INSPECTING &&
	    (!ram ||
	     (!node->boot_installed && strcmp(node->boot_id, inventory->boot_id) == 0)))
		return 0;
	if (node->state != BU_STATE_INSPECTING)
		return hello_again(rec, node, inventory, err);
	if (strcmp(node->admitted_step, node->step.id) != 0)
		return bu_err_set(err, BU_ERR_DENIED, 0,
				  "%s was not admitted in this boot; it needs its "
				  "token",
				  node->name);
	if (bu_fleet_target(rec->fleet, node, &target, err) != 0)
		return -1;
	fits = node_fits(target.node, ram, inventory, &reason);
	if (!fits && bu_disks_may_come(rec, node, inventory->boot_id, &reason, err))
		return -1;
	if (bound_event(rec, &events[count++], node, inventory, err) != 0)
		return -1;
	booted_event(&events[count++], node, inventory->boot_id, BU_WHERE_RAMDISK);
	if (node->step.status == BU_STEP_OPEN)
		bu_outcome_event(&events[count++], node, NULL, "seen by its boot");
	if (fits && ram)
		return bu_ram_hello(rec, node, events, count, err);
	return bu_reconcile_move(
		rec, node,
		&(struct bu_move){.on = fits ? BU_TRIGGER_INSPECTED : BU_TRIGGER_MISFIT,
				  .reason = fits ? NULL : &reason,
				  .extra = events,
				  .count = count},
		err);
}

/* A system just loaded into memory has the stamp of its network boot. */
static const char *
expected_step(const struct bu_reconcile *rec, const struct bu_node *node)
{
	return node->boot_installed || !bu_ram_is(rec, node) ? node->installed_step
							     : node->admitted_step;
}

struct stamp {
	char kind[32]; /* "stamp" */
	char step[112];
	char machine[BU_MACHINE_ID_SIZE];
	char image[BU_NAME_MAX];
	char digest[BU_DIGEST_SIZE];
};

static const struct bu_field stamp_fields[] = {
	BU_FIELD(TEXT, struct stamp, kind),
	BU_FIELD(TEXT, struct stamp, step),
	BU_FIELD(TEXT, struct stamp, machine),
	BU_FIELD(TEXT, struct stamp, image, .need = BU_SPARSE),
	BU_FIELD(TEXT, struct stamp, digest, .need = BU_SPARSE),
	BU_FIELD_END,
};

static int
open_stamp(const struct bu_reconcile *rec, const json_t *stamp, const char *step,
	   const char *machine, struct stamp *ret, struct bu_err *err)
{
	bu_autojson json_t *body = NULL;

	if (!json_is_object(stamp))
		return bu_err_set(err, BU_ERR_VERIFY, 0, "the system has no stamp");
	body = bu_trust_open_signed(rec->trust, stamp, err);
	if (!body || bu_record_from_json(stamp_fields, body, ret, err) != 0)
		return bu_err_wrap(err, "stamp");
	/* The mark of an unfinished install is signed with the same key. */
	if (strcmp(ret->kind, "stamp") != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0, "it is a %s, not a stamp",
				  ret->kind);
	if (strcmp(ret->step, step) != 0 || strcmp(ret->machine, machine) != 0)
		return bu_err_set(err, BU_ERR_VERIFY, 0,
				  "the stamp is of step %s on machine %s, not of %s",
				  ret->step, ret->machine, step);
	return 0;
}

static int
check_stamp(const struct bu_reconcile *rec, const struct bu_node *node,
	    const json_t *stamp, const char *step, struct stamp *ret,
	    struct bu_err *err)
{
	return open_stamp(rec, stamp, step, node->machine, ret, err);
}

int
bu_reconcile_check_stamp(const struct bu_reconcile *rec, const json_t *stamp,
			 const char *step, const char *machine, struct bu_err *err)
{
	struct stamp stamped;

	return open_stamp(rec, stamp, step, machine, &stamped, err);
}

/* The hello of a known boot: its links may have changed since. Changes beyond the limit
 * `inventories` are not logged but set the condition unsteady-inventory. */
static int
refresh_inventory(struct bu_reconcile *rec, struct bu_node *node,
		  const struct bu_inventory *inventory, struct bu_err *err)
{
	bu_autojson json_t *value = bu_inventory_to_json(inventory);
	char digest[BU_DIGEST_SIZE];
	struct bu_event event;

	bu_json_digest(value, digest);
	if (strcmp(digest, node->inventory) == 0)
		return 0;
	if (check_same(node, inventory, err) != 0)
		return -1;
	if (bu_meter_take(rec->inventories, node->name, 1) != 0) {
		bu_node_agent(node)->unsteady_ms = bu_loop_now_ms(rec->fleet->loop);
		return 0;
	}
	if (bound_event(rec, &event, node, inventory, err) != 0)
		return -1;
	bu_reconcile_append(rec, node, &event, 1);
	return 0;
}

/* Facts of the condition stamp-differs. */
static void
show(struct bu_node *node, const char *foreign)
{
	bu_node_agent(node)->showed = 1;
	bu_text_copy(bu_node_agent(node)->foreign, sizeof(bu_node_agent(node)->foreign),
		     foreign);
}

/* Did the other root boot? Not asked in service, nor on the way without a trial. */
static int
fell_back(struct bu_reconcile *rec, const struct bu_node *node, const json_t *stamp)
{
	struct stamp stamped;

	return node->other->step[0] &&
	       (node->state == BU_STATE_BOOTING ||
		(node->state == BU_STATE_VALIDATING && bu_fallback_trial(node)) ||
		(bu_state_info(node->state)->settled &&
		 !bu_lifecycle_has(node->state, BU_TRIGGER_BOOTED))) &&
	       check_stamp(rec, node, stamp, node->other->step, &stamped, NULL) == 0;
}

/* A hello from the other root: the root that should come up did not. */
static int
hello_fallback(struct bu_reconcile *rec, struct bu_node *node,
	       const struct bu_inventory *inventory, struct bu_err *err)
{
	struct bu_event events[4];
	size_t count = 0;

	show(node, "");
	if (bound_event(rec, &events[count++], node, inventory, err) != 0)
		return -1;
	return bu_fallback_hello(rec, node, inventory->boot_id, events, count, err);
}

/* A system says hello while the ramdisk should be at work: the machine was reset. */
static void
note_reset(struct bu_reconcile *rec, struct bu_node *node, const json_t *stamp)
{
	const char *const steps[] = {node->installed_step, node->other->step};

	for (size_t i = 0; i < BU_LEN(steps); i++) {
		struct stamp stamped;

		if (*steps[i] &&
		    check_stamp(rec, node, stamp, steps[i], &stamped, NULL) == 0)
			bu_reconcile_boot_restarts(rec, node);
	}
}

static int
hello_installed(struct bu_reconcile *rec, struct bu_node *node, const json_t *stamp,
		const struct bu_inventory *inventory, struct bu_err *err)
{
	struct stamp stamped;
	struct bu_event events[4];
	struct bu_err bad = {0};
	size_t count = 0;
	int same = strcmp(node->boot_id, inventory->boot_id) == 0;

	if (same && node->boot_installed) {
		show(node, "");
		return refresh_inventory(rec, node, inventory, err);
	}
	note_reset(rec, node, stamp);
	if (check_stamp(rec, node, stamp, expected_step(rec, node), &stamped, &bad) !=
	    0) {
		if (fell_back(rec, node, stamp))
			return hello_fallback(rec, node, inventory, err);
		if (node->state == BU_STATE_BOOTING) {
			struct bu_reason reason;

			BU_REASON_SET(&reason, OTHER_SYSTEM, .text = {bad.text});
			bu_reconcile_try(rec, node, BU_TRIGGER_FAULT, &reason, NULL, 0);
		}
		show(node, bad.text);
		if (err)
			*err = bad;
		return -1;
	}
	show(node, "");
	if (bound_event(rec, &events[count++], node, inventory, err) != 0)
		return -1;
	if (!node->boot_installed && bu_ram_is(rec, node))
		BU_EVENT_MAKE(&events[count++], BU_EVENT_INSTALLED, node->name,
			      installed, .step = node->admitted_step,
			      .image = stamped.image, .digest = stamped.digest,
			      .ram = 1);
	booted_event(&events[count++], node, inventory->boot_id, BU_WHERE_INSTALLED);
	if (node->state == BU_STATE_BOOTING && node->step.status == BU_STEP_OPEN)
		bu_outcome_event(&events[count++], node, NULL, "seen by its boot");
	/* The node stays as it is; a verb that takes it back finds the boot known. */
	if (bu_state_info(node->state)->settled &&
	    !bu_lifecycle_has(node->state, BU_TRIGGER_BOOTED)) {
		bu_reconcile_append(rec, node, events, count);
		return 0;
	}
	return bu_reconcile_move(rec, node,
				 &(struct bu_move){.on = BU_TRIGGER_BOOTED,
						   .extra = events,
						   .count = count},
				 err);
}

/* The hello was sent before the machine went off, or the machine never went off. */
static int
refuse_ended(const struct bu_node *node, struct bu_err *err)
{
	bu_autojson json_t *said = bu_over_said(node);
	bu_autofree char *how = bu_said_text(said);

	return bu_err_set(err, BU_ERR_STATE, 0,
			  "boot %s of %s has ended (%s); a later one is waited for",
			  node->over->boot_id, node->name, how);
}

int
bu_reconcile_hello(struct bu_reconcile *rec, struct bu_node *node, enum bu_where where,
		   const json_t *stamp, const struct bu_inventory *inventory,
		   struct bu_err *err)
{
	if (node->live.appending)
		return bu_err_set(err, BU_ERR_BUSY, 0,
				  "node %s is changing right now; say it again",
				  node->name);
	if (bu_over_ended(node, inventory->boot_id))
		return refuse_ended(node, err);
	return where == BU_WHERE_RAMDISK
		       ? hello_ramdisk(rec, node, inventory, err)
		       : hello_installed(rec, node, stamp, inventory, err);
}

int
bu_reconcile_wants_agent(const struct bu_node *node)
{
	if (node->step.status != BU_STEP_OPEN || node->hold->owner)
		return 0;
	return bu_action_info(node->step.action)->fetched && !node->live.join_started;
}

static void
install_done(struct bu_reconcile *rec, struct bu_node *node,
	     const struct bu_work_installed *as)
{
	const struct bu_desired_node *want = bu_fleet_ordered(rec->fleet, node);
	struct bu_event events[2];

	bu_outcome_event(&events[0], node, NULL, "");
	BU_EVENT_MAKE(&events[1], BU_EVENT_INSTALLED, node->name, installed,
		      .step = node->step.id, .image = node->order->image,
		      .digest = node->order->image_digest, .kexec = as->kexec,
		      .raw = want && bu_desired_is_raw(want),
		      .slot = as->slot && *as->slot ? as->slot : NULL,
		      .tried = as->tried, .reused = as->reused);
	bu_reconcile_try(rec, node, BU_TRIGGER_IMAGED, NULL, events, 2);
}

/* An answer to an earlier step or attempt does not count. */
static int
is_open(const struct bu_node *node, const char *step, int attempt)
{
	return strcmp(node->step.id, step) == 0 && node->step.attempt == attempt &&
	       node->step.status == BU_STEP_OPEN && !node->live.appending;
}

void
bu_reconcile_installed(struct bu_reconcile *rec, struct bu_node *node, const char *step,
		       int attempt, const struct bu_work_installed *as)
{
	if (is_open(node, step, attempt) && node->step.action == BU_ACTION_INSTALL)
		install_done(rec, node, as);
}

void
bu_reconcile_result(struct bu_reconcile *rec, struct bu_node *node, const char *step,
		    int attempt, const struct bu_err *failure)
{
	struct bu_event event;
	struct bu_reason why;

	if (!is_open(node, step, attempt))
		return;
	if (failure) {
		bu_outcome_event(&event, node, failure, "");
		BU_REASON_SET(&why, STEP_FAILED, .text = {failure->text});
		if (bu_failure_is_final(failure) &&
		    bu_state_info(node->state)->ladder == BU_LADDER_POWER)
			bu_reconcile_try(rec, node, BU_TRIGGER_FAULT, &why, &event, 1);
		else
			bu_reconcile_append(rec, node, &event, 1);
		return;
	}
	if (node->step.action == BU_ACTION_INSTALL) {
		install_done(rec, node, &(struct bu_work_installed){.slot = NULL});
	} else if (node->step.action == BU_ACTION_CONFIGURE) {
		bu_outcome_event(&event, node, NULL, "");
		bu_reconcile_append(rec, node, &event, 1);
	} else if (node->step.action == BU_ACTION_JOIN && !node->live.join_started) {
		node->live.join_started = 1;
		bu_effect_start(rec, node);
	}
}
