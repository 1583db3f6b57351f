/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules. They are asked where harm would be done (a machine goes off, a disk is
 * written, a node is resumed) and at each look at what views say; settled.c has those
 * for when the faults have ended. Each compares the world's truth with what was
 * consented to and with what is said; none reads a reason.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "provisioner/node/fence.h"
#include "tests/sim/harm/harm.h"

enum {
	VIEW_MS = 30000,
	SLACK_MS = 5000,
	REMOVED_MS = 60000,
	AWAITED_MS = 180000, /* a boot of the daemon: its deadline, a start's grace */
	PAGE_MS = 5000,      /* in which a page asks again at the latest */
	ROOM_MS = 15000,     /* in which a disk with room is written again */
	SEEN_MAX = 64,
};

static const struct {
	const char *name;
	int on;
} rules[RULE_COUNT] = {
#define X(id, name, text, on) [RULE_##id] = {name, on},
	RULES(X)
#undef X
};

static struct seen {
	char name[NAME_SIZE];
	int64_t unusable_ms; /* since; 0 = it is not */
	char why[40];        /* it is unusable */
	int named;           /* a view has said that it is */
	char machine[65];    /* while it is ready */
	char served[65];     /* machine, if it was ready at the last look */
	int64_t left_ms;     /* it left the profile then */
	enum bu_state state; /* at the last look */
	int64_t looked_ms;   /* 0 = never */
	int64_t said_ms;     /* a person said something of it, and was heard */
	int cluster;         /* that it was last ordered to be in; -1 = none */
	int ordered;
	int serves;          /* the one that it became ready for */
	int64_t lent_ms;     /* Unix time; as of the last look */
	int64_t adopted_seq; /* of the stamp by which it was, at the last look */
} seen[SEEN_MAX];
static int seen_count;
static int64_t room_ms; /* since then its disk has room, and its log is out */
static struct {
	json_t *status;
	int64_t version, asked_ms;
} shown;

const char *
rule_name(enum rule rule)
{
	return rules[rule].name;
}

/* BRINGUP_RULES=job,view: these alone; -job,view: all others. */
int
rule_on(enum rule rule)
{
	const char *only = getenv("BRINGUP_RULES");
	int named = only && strstr(only, rules[rule].name);

	if (!only)
		return rules[rule].on;
	return only[0] == '-' ? !named : named;
}

void
broken(enum rule rule, const char *fmt, ...)
{
	va_list args;

	if (sim.broken || !rule_on(rule) || lost_is_stale(rule))
		return;
	sim.broken = 1;
	sim.rule = rule;
	va_start(args, fmt);
	vsnprintf(sim.words, sizeof(sim.words), fmt, args);
	va_end(args);
	say("*** rule %s is broken: %s", rules[rule].name, sim.words);
}

static void
forget_shown(void)
{
	json_decref(shown.status);
	shown.status = NULL;
}

void
oracle_begin(void)
{
	memset(seen, 0, sizeof(seen));
	seen_count = 0;
	oracle_drop();
	room_ms = 0;
	forget_shown();
}

static struct seen *
seen_of(const char *name)
{
	for (int i = 0; i < seen_count; i++)
		if (strcmp(seen[i].name, name) == 0)
			return &seen[i];
	bu_assert(seen_count < SEEN_MAX);
	bu_text_copy(seen[seen_count].name, NAME_SIZE, name);
	return &seen[seen_count++];
}

/* --- before a machine goes off, before a disk is written --- */

/* Its row left the applied profile, and no other row means it. */
static int
is_removed(const struct machine *machine)
{
	const struct bu_node *node = daemon_node_of(machine);

	if (!node || profile_row(&sim.applied, node->name))
		return 0;
	for (int i = 0; i < ROWS; i++)
		if (sim.applied.rows[i].present &&
		    sim.applied.rows[i].bmc == machine->bay)
			return 0;
	return seen_of(node->name)->left_ms &&
	       now_ms() - seen_of(node->name)->left_ms > REMOVED_MS;
}

/* It was off, the daemon boots it, and what comes up is another system on its disk; or
 * within that boot people switch it on for themselves, which from outside is the
 * daemon's boot, too: no agent reports of it. What is on when a boot begins is not
 * this. */
static int
is_awaited(const struct machine *machine)
{
	return machine->between_ms && now_ms() - machine->between_ms < AWAITED_MS;
}

void
oracle_off(const struct machine *machine, const char *how)
{
	const struct consent *consent = consent_for(machine);
	const struct bu_node *node = daemon_node_of(machine);
	const struct wish *wish = &sim.wishes[machine->bay];
	int reset = (consent && consent->reset) || wish->until_ms > now_ms();
	/* It was on, nobody knew what it ran, and a person said: all the same. */
	/* Or the log of another appliance does not know it, and it was given. */
	int forced =
		(consent && consent->reset && consent->class == BU_CLASS_INSTALL) ||
		(sim.lost && consent && consent->granted == BU_CLASS_WIPE) ||
		wish->forced_ms > now_ms();
	int job = slurm_jobs_on(machine);
	/* It had left, by an administrator's own drain; whose end is not asked for. */
	int gone =
		node && machine->resumed_ms &&
		now_ms() - machine->resumed_ms < MINUTES(2) &&
		(node->state == BU_STATE_INSPECTING || node->state == BU_STATE_BOOTING);

	lost_look(machine, how);
	if (job && !forced)
		broken(gone ? RULE_RESUMED : RULE_JOB, "%s is %s and ran job %d",
		       machine->serial, how, job);
	if (slurm_gives_work(machine) && !forced)
		broken(gone ? RULE_RESUMED : RULE_SERVICE,
		       "%s is %s, and its cluster gives it work as %s", machine->serial,
		       how, machine->slurmd_name);
	if (machine->running == RUNS_FOREIGN && !reset && !is_awaited(machine))
		broken(RULE_FOREIGN,
		       "%s is %s and ran what is not ours, without a "
		       "grant for it",
		       machine->serial, how);
	if (node && node->state == BU_STATE_READY && wish->forced_ms <= now_ms())
		broken(RULE_READY, "%s is %s while its node %s is ready",
		       machine->serial, how, node->name);
	if (is_removed(machine))
		broken(RULE_REMOVED, "%s is %s; its node %s left the profile",
		       machine->serial, how, node->name);
}

/* Another row has the bay, too: it may be for that one. */
static int
is_of_another(int bay, const struct bu_node *node)
{
	for (int i = 0; i < ROWS; i++)
		if (sim.applied.rows[i].present && sim.applied.rows[i].bmc == bay &&
		    strcmp(sim.applied.rows[i].name, node->name) != 0)
			return 1;
	return 0;
}

void
oracle_power(int bay, const char *op)
{
	const struct machine *machine = machine_in(bay);
	const struct bu_node *node = machine ? daemon_node_of(machine) : NULL;

	oracle_begins("a power action");
	if (!node || sim.wishes[bay].until_ms > now_ms() || is_of_another(bay, node))
		return;
	if (node->state == BU_STATE_SERVICING || node->state == BU_STATE_RETIRED)
		broken(RULE_HANDS_OFF, "%s is %s, and its machine %s gets a power '%s'",
		       node->name, bu_state_name(node->state), machine->serial, op);
}

void
oracle_begins(const char *what)
{
	if (daemon_is_down())
		broken(RULE_FULL, "%s is begun while the log cannot be written", what);
}

void
ordered_for(const char *node, int cluster)
{
	struct seen *at = seen_of(node);

	at->ordered = 1;
	at->cluster = cluster;
}

int
oracle_was_said(const char *node)
{
	int64_t said_ms = seen_of(node)->said_ms;

	return said_ms && said_ms >= sim.epoch_ms;
}

void
said_of(const char *node)
{
	if (daemon_runs() && bu_fleet_node(daemon_world(), node))
		seen_of(node)->said_ms = now_ms();
}

void
oracle_write(const struct machine *machine, int disk, const char *step, int keeps_data)
{
	const struct disk *at = &machine->disks[disk];
	int allowed = at->content == DISK_EMPTY || strcmp(at->step, step) == 0;

	lost_look(machine, "written");
	if (consent_is_for_memory(step))
		broken(RULE_RAM, "%s of %s is written by %s, whose system is in memory",
		       disk_path(disk), machine->serial, step);
	/* Always: the consent is spent with it. */
	if (consent_to_write(machine, disk, step, keeps_data))
		allowed = 1;
	if (slurm_jobs_on(machine))
		broken(RULE_JOB, "%s of %s is written and runs a job", disk_path(disk),
		       machine->serial);
	if (!allowed)
		broken(RULE_WRITE,
		       "%s of %s holds %s and is written by %s; nobody "
		       "granted that",
		       disk_path(disk), machine->serial,
		       at->content == DISK_FOREIGN ? "somebody's data"
		       : at->data                  ? "a system and data"
						   : "a system",
		       step);
}

/* --- what views say --- */

const struct machine *
oracle_machine_of(const struct bu_node *node)
{
	for (int i = 0; i < MACHINES; i++)
		if (node->machine[0] && daemon_node_of(&sim.machines[i]) == node)
			return &sim.machines[i];
	return NULL;
}

/* Until then it is what it was, and stays it when the order is taken back before. */
static int
awaits_turn(const struct bu_node *node)
{
	return !node->order->begun && (node->order->open || node->order->withdrawn);
}

const char *
oracle_unusable(const struct bu_node *node)
{
	const struct row *row = profile_row(&sim.applied, node->name);
	const struct seen *at = seen_of(node->name);
	const struct machine *its = oracle_machine_of(node);
	/* A rename that waits is still known by the name that it joined with. */
	const char *cluster = slurm_unusable(
		its && its->slurmd_name[0] ? its->slurmd_name : node->name);

	if (!cluster)
		return NULL;
	/* Of what was refused of an apply either may be so. */
	if (row && (at->ordered || !lost_serves_none(node)) &&
	    sim.applied.pool_cluster[row->pool] >= 0 &&
	    (!at->ordered || (awaits_turn(node) ? at->serves : at->cluster) >= 0))
		return cluster;
	if (its)
		return machine_works(its) ? NULL : "its machine does not run";
	return "it has no machine";
}

/* What a page shows that asks for news (?since=VERSION&wait=...): asked again when
 * there are some, and at times all the same. */
static const json_t *
status_shown(void)
{
	int64_t version = (int64_t)daemon_world()->version;
	struct bu_err err;

	if (shown.status && shown.version == version &&
	    now_ms() - shown.asked_ms < PAGE_MS)
		return shown.status;
	json_decref(shown.status);
	shown.status = wire_call("GET", "/v1/status", NULL, &err);
	shown.version = version;
	shown.asked_ms = now_ms();
	return shown.status;
}

/* Says the status, without any remark, that the node is ready? */
static int
is_said_ready(const char *name)
{
	const json_t *status = status_shown();
	size_t i;
	json_t *node;

	json_array_foreach (json_object_get(status, "nodes"), i, node)
		if (strcmp(bu_json_str(node, "name", ""), name) == 0)
			return strcmp(bu_json_str(node, "state", ""), "ready") == 0 &&
			       !json_array_size(json_object_get(node, "conditions")) &&
			       !json_object_get(node, "held") &&
			       bu_json_bool(node, "in_profile", 1);
	return 0;
}

/* In service, by its own agent, whose silence is at most the step's deadline long;
 * views say "ready" with the order that is under way. */
static int
is_being_changed(const struct bu_node *node)
{
	return node->order->open && node->order->begun &&
	       node->step.status == BU_STEP_OPEN &&
	       node->step.action == BU_ACTION_CONFIGURE;
}

/* A person gave its name to another machine in service: what had it before has another
 * one now, and this one served as another until this look. */
static int
is_name_of_another(const struct bu_node *node)
{
	const struct row *row = profile_row(&sim.applied, node->name);
	const struct machine *machine = oracle_machine_of(node);

	if (!row || !machine || strcmp(seen_of(node->name)->served, node->machine) == 0)
		return 0;
	if (row->serial != machine->index && row->mac != machine->index)
		return 0;
	for (int i = 0; i < seen_count; i++)
		if (strcmp(seen[i].name, node->name) != 0 &&
		    strcmp(seen[i].served, node->machine) == 0)
			return 1;
	return 0;
}

/* What it became ready for: what it was last ordered to be, or, where an apply of
 * another cluster was refused of it since, that of the applied profile; the world says
 * which of both. Under a new name it serves what it served. */
static int
became_ready_for(const struct bu_node *node, const struct seen *at)
{
	const struct row *row = profile_row(&sim.applied, node->name);
	const struct machine *its = oracle_machine_of(node);
	int applied = row ? sim.applied.pool_cluster[row->pool] : at->cluster;
	int known = its && slurm_knows(its->slurmd_name);
	/* its slurmd may still run where the cluster has let it go */
	int is_there =
		its && (applied < 0 ? !known : known && its->slurmd - 1 == applied);

	for (int i = 0; i < seen_count; i++)
		if (&seen[i] != at && node->machine[0] &&
		    strcmp(seen[i].served, node->machine) == 0)
			return seen[i].serves;
	return is_there ? applied : at->cluster;
}

static void
look_at_ready(const struct bu_node *node, struct seen *at)
{
	const char *why;

	if (!at->machine[0])
		at->serves = became_ready_for(node, at);
	why = oracle_unusable(node);
	if (at->machine[0] && strcmp(at->machine, node->machine) != 0 &&
	    !is_name_of_another(node))
		broken(RULE_STOLEN,
		       "%s is ready and was bound to machine %.12s; now "
		       "it is bound to %.12s",
		       node->name, at->machine,
		       node->machine[0] ? node->machine : "none");
	BU_TEXT_COPY(at->machine, node->machine);
	if (!why || is_being_changed(node)) {
		at->unusable_ms = 0;
		return;
	}
	/* A cause after one that a view has named has its own time to be seen. */
	if (!at->unusable_ms || (at->named && strcmp(at->why, why) != 0)) {
		at->unusable_ms = now_ms();
		at->named = 0;
	}
	bu_text_copy(at->why, sizeof(at->why), why);
	if (!rule_on(RULE_VIEW))
		return;
	if (!is_said_ready(node->name))
		at->named = 1;
	else if (now_ms() - at->unusable_ms > VIEW_MS + SLACK_MS)
		broken(RULE_VIEW, "%s is said to be ready; since %lld s: %s",
		       node->name, (long long)(now_ms() - at->unusable_ms) / 1000, why);
}

static int
other_is_faulty(const struct machine *machine)
{
	for (int i = 0; i < MACHINES; i++)
		if (&sim.machines[i] != machine && sim.machines[i].was_faulty)
			return 1;
	return 0;
}

static int
was_ordered(const struct bu_node *node)
{
	for (int i = 0; i < sim.consents_count && i < CONSENTS_MAX; i++)
		if (strcmp(sim.consents[i].node, node->name) == 0 &&
		    sim.consents[i].class)
			return 1;
	return 0;
}

/* What a person took out stays out until a person says something else. */
static void
look_at_kept(const struct bu_node *node, struct seen *at)
{
	enum bu_state was = at->looked_ms ? at->state : node->state;
	int said = at->said_ms >= at->looked_ms;
	int adopted = node->adopted->seq != at->adopted_seq;

	/* What is said now is done when the log takes rows again, or never. */
	if (daemon_is_down())
		return;
	at->state = node->state;
	at->looked_ms = now_ms();
	at->adopted_seq = node->adopted->seq;
	/* Its stamp says what a person said of it later. */
	if (was == node->state || said || adopted ||
	    (was != BU_STATE_SERVICING && was != BU_STATE_RETIRED &&
	     was != BU_STATE_PARKED))
		return;
	/* Its turn for what was ordered. */
	if ((was == BU_STATE_PARKED && was_ordered(node)) || is_name_of_another(node))
		return;
	broken(RULE_KEPT, "%s was %s and is %s; no person said so", node->name,
	       bu_state_name(was), bu_state_name(node->state));
}

/* Before the last look is kept: a machine that the daemon switched proves nothing, and
 * serves nobody as a partner, until its system has said hello. */
static void
look_at_unheard(const struct bu_node *node, struct seen *at)
{
	const struct machine *its = oracle_machine_of(node);
	int comes = its && at->looked_ms && at->state != node->state &&
		    node->since_ms > its->unheard_ms &&
		    (node->state == BU_STATE_JOINING || node->state == BU_STATE_READY);
	int lent = its && at->looked_ms && node->lent_ms > at->lent_ms &&
		   node->lent_ms > its->unheard_ms;

	at->lent_ms = node->lent_ms;
	if (its && its->unheard_ms && (comes || lent) && !is_name_of_another(node))
		broken(RULE_UNHEARD,
		       "%s is %s%s; its machine %s was switched and has "
		       "not said hello since",
		       node->name, bu_state_name(node->state),
		       lent ? " and lent as a partner" : "", its->serial);
}

static void
look_at_node(const struct bu_node *node)
{
	struct seen *at = seen_of(node->name);
	const struct machine *machine;

	look_at_unheard(node, at);
	look_at_kept(node, at);
	if (node->order->open && node->order->begun)
		at->serves = at->cluster;
	if (profile_row(&sim.applied, node->name))
		at->left_ms = 0;
	else if (!at->left_ms)
		at->left_ms = now_ms();
	if (node->state == BU_STATE_READY) {
		oracle_memory(node);
		look_at_ready(node, at);
		return;
	}
	at->machine[0] = '\0';
	at->unusable_ms = 0;
	if (node->state != BU_STATE_QUARANTINED)
		return;
	machine = oracle_machine_of(node);
	if (machine && !machine->was_faulty) {
		bu_autofree char *reason = bu_reason_text(node->reason);

		broken(other_is_faulty(machine) ? RULE_SCAPEGOAT : RULE_INNOCENT,
		       "%s (%s) is quarantined and has no fault: %s", node->name,
		       machine->serial, reason);
	}
}

/* While the log is out nothing that is seen can be kept; the site says so. */
static void
look_at_log(void)
{
	if (!daemon_is_down()) {
		room_ms = 0;
		return;
	}
	for (int i = 0; i < seen_count; i++)
		seen[i].unusable_ms = 0;
	if (!wire_site_has("disk-full"))
		broken(RULE_FULL, "the log cannot be written, and the status does not "
				  "say so");
	if (sim.disk_bad_ms) {
		room_ms = 0;
		return;
	}
	if (!room_ms)
		room_ms = now_ms();
	if (now_ms() - room_ms > ROOM_MS)
		broken(RULE_FULL, "since %lld s there is room, and the log is out",
		       (long long)(now_ms() - room_ms) / 1000);
}

/* Behind the fence no cluster is asked; the site says so. */
static void
look_at_fence(const struct bu_fleet *fleet)
{
	for (int i = 0; bu_fence_is_shut(fleet) && i < seen_count; i++)
		seen[i].unusable_ms = 0;
}

void
oracle_look(void)
{
	const struct bu_fleet *fleet;

	if (!daemon_runs())
		return;
	look_at_log();
	fleet = daemon_world();
	look_at_fence(fleet);
	for (size_t i = 0; i < fleet->count && !sim.broken; i++)
		look_at_node(fleet->nodes[i]);
	for (int i = 0; i < seen_count; i++) {
		const struct bu_node *node = bu_fleet_node(fleet, seen[i].name);

		bu_text_copy(seen[i].served, sizeof(seen[i].served),
			     node && node->state == BU_STATE_READY ? node->machine
								   : "");
	}
}

/* Facts are asked anew after a start, and have their time for it. */
void
oracle_anew(void)
{
	forget_shown();
	for (int i = 0; i < seen_count; i++)
		seen[i].unusable_ms = 0;
}
