/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The people who run the site: they edit, plan, grant, apply, give commands, mend what
 * broke, and in the end do what the views tell them to. What they consented to is noted
 * from what they typed, not from what the daemon made of it.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/sim/harm/harm.h"

enum grants {
	GRANT_NONE,
	GRANT_REIMAGE,
	GRANT_WIPE,
	GRANT_SOME,
	GRANT_RESET,
	GRANT_ALL
};

json_t *
person_insists(const char *path, const json_t *body, struct bu_err *err)
{
	json_t *reply = NULL;

	for (int i = 0; i < 40 && !reply; i++) {
		reply = wire_call("POST", path, json_deep_copy(body), err);
		if (reply || err->kind != BU_ERR_BUSY)
			break;
		run_for(500);
	}
	return reply;
}

static int
is_picked(const char *node, unsigned int which)
{
	const struct row *row = profile_row(&sim.profile, node);

	return row && ((unsigned)(row - sim.profile.rows) + which) % 2;
}

static json_t *
make_grants(const json_t *plan, unsigned int grants, unsigned int which)
{
	bu_autofree char *names = bu_xstrdup("");
	json_t *list = json_array(), *step;
	size_t i;

	if (grants == GRANT_REIMAGE)
		json_array_append_new(list, json_pack("{s:s}", "class", "reimage"));
	if (grants == GRANT_WIPE || grants == GRANT_ALL)
		json_array_append_new(list, json_pack("{s:s}", "class", "wipe"));
	if (grants == GRANT_RESET)
		json_array_append_new(list, json_pack("{s:s}", "class", "reset"));
	if (grants != GRANT_SOME)
		return list;
	json_array_foreach (json_object_get(plan, "steps"), i, step) {
		bu_autofree char *old = names;
		const char *node = bu_json_str(step, "node", "");

		names = is_picked(node, which)
				? bu_xasprintf("%s%s%s", old, *old ? "," : "", node)
				: bu_xstrdup(old);
	}
	if (*names)
		json_array_append_new(
			list, json_pack("{s:s,s:s}", "class", "wipe", "nodes", names));
	return list;
}

static struct consent *
new_consent(const char *node)
{
	struct consent *consent = &sim.consents[sim.consents_count++ % CONSENTS_MAX];

	*consent = (struct consent){.machine = -1, .named = -1};
	bu_text_copy(consent->node, sizeof(consent->node), node);
	consent->at_ms = now_ms();
	return consent;
}

static void
note_consent(const json_t *step, const char *rollout, unsigned int grants,
	     unsigned int which)
{
	const char *node = bu_json_str(step, "node", "");
	const struct row *row = profile_row(&sim.profile, node);
	struct consent *consent = new_consent(node);
	int all = grants == GRANT_WIPE || grants == GRANT_ALL ||
		  (grants == GRANT_SOME && is_picked(node, which));

	bu_text_copy(consent->rollout, sizeof(consent->rollout), rollout);
	consent->class = bu_class_from_name(bu_json_str(step, "class", ""));
	consent->granted = all                       ? BU_CLASS_WIPE
			   : grants == GRANT_REIMAGE ? BU_CLASS_REIMAGE
						     : BU_CLASS_NONE;
	consent->reset = all || grants == GRANT_REIMAGE || grants == GRANT_RESET;
	consent->machine = row ? row_means(row) : -1;
	consent->named = row ? row_names(row) : -1;
	consent->disk =
		row ? sim.profile.disk[sim.profile.pool_hardware[row->pool]] : -1;
	consent->ram = row && sim.profile.ram[row->pool];
	say("    %s: %s (%s)%s%s", node, bu_json_str(step, "class", ""),
	    bu_json_str(json_object_get(step, "why"), "code", ""),
	    consent->granted ? "; granted " : "",
	    consent->granted ? bu_class_name(consent->granted) : "");
}

static int
is_refused(const json_t *plan, const char *node)
{
	size_t i;
	json_t *entry;

	json_array_foreach (json_object_get(plan, "refused"), i, entry)
		if (strcmp(bu_json_str(entry, "node", ""), node) == 0)
			return 1;
	return 0;
}

static void
note_orders(const json_t *plan)
{
	for (int i = 0; i < ROWS; i++) {
		const struct row *row = &sim.applied.rows[i];

		if (row->present && !is_refused(plan, row->name))
			ordered_for(row->name, sim.applied.pool_cluster[row->pool]);
	}
}

static void
taken(const json_t *plan, const json_t *reply, unsigned int grants, unsigned int which)
{
	const char *rollout = bu_json_str(reply, "rollout", "");
	size_t i;
	json_t *entry;

	sim.applied = sim.profile;
	note_orders(plan);
	say("person: applied as %s", rollout);
	json_array_foreach (json_object_get(plan, "steps"), i, entry)
		note_consent(entry, rollout, grants, which);
	json_array_foreach (json_object_get(plan, "refused"), i, entry)
		say("    %s: refused: %s", bu_json_str(entry, "node", ""),
		    bu_json_str(json_object_get(entry, "why"), "code", ""));
	json_array_foreach (json_object_get(plan, "left"), i, entry)
		say("    %s: left the profile", json_string_value(entry));
}

static json_t *
make_plan(const struct profile *profile, struct bu_err *err)
{
	struct bu_tree *tree = profile_tree(profile);
	bu_autojson json_t *body =
		json_pack("{s:o,s:s,s:s}", "tree", bu_tree_to_json(tree), "commit", "",
			  "limit", "");

	bu_tree_destroy(tree);
	return person_insists("/v1/plan", body, err);
}

json_t *
person_plans(void)
{
	struct bu_err err;

	return make_plan(&sim.applied, &err);
}

/* Whoever is told that the profile is wrong about machines looks at them, now or when
 * all else is done. */
static void
contradicted(void)
{
	if (sim.helping || dice(2))
		profile_set_known();
}

/* 0 = taken, -1 = refused, 1 = something moved meanwhile. */
static int
apply_once(unsigned int grants, unsigned int which)
{
	struct bu_err err = {0};
	bu_autojson json_t *answer = make_plan(&sim.profile, &err);
	bu_autojson json_t *body = NULL, *reply = NULL;
	const json_t *plan = json_object_get(answer, "plan");

	if (!answer) {
		say("person: no plan: %s", err.text);
		/* What check refuses is mended at once. */
		if (err.kind != BU_ERR_REMOTE)
			sim.profile = sim.applied;
		return -1;
	}
	body = json_pack("{s:s,s:o}", "digest", bu_json_str(answer, "digest", ""),
			 "grants", make_grants(plan, grants, which));
	reply = person_insists("/v1/apply", body, &err);
	if (reply) {
		sim.contradicted = 0;
		taken(plan, reply, grants, which);
		return 0;
	}
	say("person: not applied: %s", err.text);
	sim.contradicted = strstr(err.text, "contradicts") != NULL;
	if (sim.contradicted)
		contradicted();
	return err.kind == BU_ERR_STATE ? 1 : -1;
}

int
person_applies(unsigned int grants, unsigned int which)
{
	static const char *const words[] = {"no grant",    "grant reimage",
					    "grant wipe",  "grant wipe of some",
					    "grant reset", "grant wipe"};
	int rc = 1;

	say("person: applies with %s", words[grants]);
	for (int i = 0; i < 3 && rc == 1 && !sim.broken; i++) {
		rc = apply_once(grants, which);
		if (rc == 1)
			run_for(SECONDS(2));
	}
	return rc == 0 ? 0 : -1;
}

/* --- commands --- */

static void
command(const char *path, json_t *body)
{
	struct bu_err err = {0};
	bu_autojson json_t *owned = body;
	bu_autojson json_t *reply = person_insists(path, owned, &err);

	say("person: %s%s%s", path, reply ? "" : ": ", reply ? "" : err.text);
}

static void
node_command(const char *node, const char *verb, json_t *body)
{
	bu_autofree char *path = bu_xasprintf("/v1/nodes/%s/%s", node, verb);

	command(path, body);
	said_of(node);
}

void
person_commands(const struct step *step)
{
	const struct bu_fleet *fleet = daemon_runs() ? daemon_world() : NULL;
	bu_autofree char *path = NULL;
	const char *node;
	size_t last;

	if (!fleet || !fleet->count || !fleet->rollouts_count)
		return;
	node = fleet->nodes[step->a % fleet->count]->name;
	/* Mostly the newest. */
	last = fleet->rollouts_count - 1;
	last -= step->b % 4 == 0 && last ? 1 : 0;
	path = bu_xasprintf("/v1/rollouts/%s/%s", fleet->rollouts[last].id,
			    step->verb == VERB_ABORT   ? "abort"
			    : step->verb == VERB_PAUSE ? "pause"
						       : "resume");
	if (step->verb == VERB_HOLD)
		node_command(node, "hold",
			     json_pack("{s:s}", "reason", "I look at it"));
	else if (step->verb == VERB_RELEASE)
		node_command(node, "release", json_object());
	else if (step->verb == VERB_AGAIN)
		node_command(node, "again", json_object());
	else
		command(path, json_object());
}

static int
is_replaced(const struct bu_node *node)
{
	const struct row *row = profile_row(&sim.applied, node->name);
	int machine = row ? row_machine(row) : -1;

	return node->machine[0] && machine >= 0 &&
	       daemon_node_of(&sim.machines[machine]) != node;
}

/* It is in no bay any more. */
static int
is_taken_out(const struct bu_node *node)
{
	for (int i = 0; i < MACHINES; i++)
		if (node->machine[0] && daemon_node_of(&sim.machines[i]) == node)
			return sim.machines[i].bay < 0;
	return 0;
}

/* By state: what a person asks of a node that does not go on by itself. */
static const char *
next_command(const struct bu_node *node)
{
	int lost = node->conditions[BU_CONDITION_UNREACHABLE].on ||
		   node->conditions[BU_CONDITION_NOT_IN_CLUSTER].on;

	if (node->state == BU_STATE_RETIRED) /* its row is still in the profile */
		return node->hold->owner ? "release" : "replace";
	/* What a person holds takes nothing else. */
	if (node->hold->owner && node->hold->owner != BU_OWNER_BRINGUP)
		return "release";
	if (is_replaced(node) && node->state != BU_STATE_READY &&
	    node->state != BU_STATE_ENROLLED)
		return "replace";
	/* Its agent has not come back after a release. */
	if (bu_node_has_left(node) && node->hold->owner && sim.helping > 2)
		return "replace";
	if (node->state == BU_STATE_FAILED && sim.contradicted && sim.helping % 3 == 0)
		return "replace";
	if (node->state == BU_STATE_FAILED && node->order->class == BU_CLASS_REIMAGE &&
	    sim.helping % 4 == 0 && profile_row(&sim.applied, node->name))
		return "rebuild";
	if (is_taken_out(node) && sim.helping % 2)
		return "replace";
	if (node->live.late_ms && json_object_size(daemon_world()->brakes))
		return "release";
	if (node->state == BU_STATE_VALIDATING && bu_node_stands_still(node))
		return "validate";
	if (node->hold->reason.code == BU_REASON_IS_ON)
		return NULL; /* an apply with its grant */
	if ((node->state == BU_STATE_JOINING || node->state == BU_STATE_VALIDATING) &&
	    node->hold->owner && sim.helping % 2)
		return "reboot";
	if (node->hold->owner || node->state == BU_STATE_SERVICING)
		return "release";
	if (node->state == BU_STATE_PARKED)
		return "resume";
	if (node->state == BU_STATE_READY && lost)
		return "reboot";
	if (node->state == BU_STATE_QUARANTINED || node->state == BU_STATE_FAILED)
		return sim.helping % 2 ? "validate" : NULL;
	return NULL;
}

static void
abort_stuck(const struct bu_node *node)
{
	bu_autofree char *path =
		bu_xasprintf("/v1/rollouts/%s/abort", node->order->rollout);

	if (node->hold->owner && node->order->open && node->order->begun &&
	    sim.helping % 2)
		command(path, json_object());
}

/* It left the profile on its way, and another row means its machine. */
static int
blocks_another(const struct bu_node *node)
{
	for (int i = 0; i < ROWS && !node->live.in_profile && sim.helping % 2; i++) {
		const struct row *row = &sim.profile.rows[i];
		const struct machine *machine = machine_in(row->bmc);

		if (row->present && machine && daemon_node_of(machine) == node)
			return node->state != BU_STATE_RETIRED;
	}
	return 0;
}

/* What was to be kept is not there: its whole disk is given. */
static void
rebuild(const char *node)
{
	consent_to_rebuild(profile_row(&sim.applied, node), BU_CLASS_WIPE,
			   BU_CLASS_WIPE);
	command("/v1/verbs/rebuild", json_pack("{s:s,s:s,s:s}", "nodes", node, "reason",
					       "the views say so", "grant", "wipe"));
	said_of(node);
}

/* What the views name as the next command of each node. */
int
person_helps(void)
{
	const struct bu_fleet *fleet = daemon_world();
	int done = 0;

	/* What may be answered in two ways is tried in both, turn by turn. */
	sim.helping++;
	for (size_t i = 0; i < fleet->count; i++) {
		const struct bu_node *node = fleet->nodes[i];
		const char *verb;

		if (blocks_another(node)) {
			node_command(node->name,
				     node->hold->owner == BU_OWNER_PERSON ? "release"
									  : "retire",
				     json_object());
			continue;
		}
		if (!node->live.in_profile || slurm_admin_drained(node->name))
			continue;
		abort_stuck(node);
		verb = next_command(node);
		if (!verb)
			continue;
		if (strcmp(verb, "rebuild") == 0) {
			rebuild(node->name);
			done++;
			continue;
		}
		if (strcmp(verb, "reboot") == 0)
			consent_to_reboot(node->name);
		node_command(node->name, verb,
			     json_pack("{s:s}", "reason", "the views say so"));
		done++;
	}
	for (size_t i = 0; i < fleet->rollouts_count; i++) {
		const struct bu_rollout *rollout = &fleet->rollouts[i];
		bu_autofree char *path =
			bu_xasprintf("/v1/rollouts/%s/resume", rollout->id);

		if (rollout->ended_ms || (rollout->state != BU_ROLLOUT_PAUSED &&
					  rollout->state != BU_ROLLOUT_STOPPED))
			continue;
		command(path, json_object());
		done++;
	}
	return done + (person_applies(GRANT_ALL, 0) == 0);
}

/* --- repairs --- */

static void
mend_machine(struct machine *machine)
{
	machine->cut_ms = 0;
	machine->outlier = machine->slow_link = machine->bad_memory = 0;
	if (machine->bay < 0)
		return;
	if (machine->hung && machine->on)
		machine_reboot(machine);
	else if (machine->died && !machine->on)
		machine_power(machine, 1);
	machine->died = 0;
}

void
person_mends(void)
{
	say("--- the faults end");
	daemon_fill_disk(0, 0);
	sim.lose_answers_ms = 0;
	bmc_mend();
	slurm_mend();
	for (int i = 0; i < MACHINES; i++)
		mend_machine(&sim.machines[i]);
}

/* --- consent --- */

/* Whoever reboots a node means what answers at its BMC. */
void
consent_to_reboot(const char *node)
{
	const struct row *row = profile_row(&sim.applied, node);
	const struct machine *machine = row ? machine_in(row->bmc) : NULL;
	struct consent *consent = new_consent(node);

	consent->machine = machine ? machine->index : -1;
	consent->reset = 1;
}

void
consent_to_rebuild(const struct row *row, enum bu_class class, enum bu_class granted)
{
	struct consent *consent = new_consent(row->name);

	consent->class = class;
	consent->granted = granted;
	consent->reset = 1;
	consent->machine = row_means(row);
	consent->named = row_names(row);
	consent->disk = sim.applied.disk[sim.applied.pool_hardware[row->pool]];
	consent->ram = sim.applied.ram[row->pool];
}

const struct consent *
consent_for(const struct machine *machine)
{
	for (int i = sim.consents_count;
	     i-- > 0 && i >= sim.consents_count - CONSENTS_MAX;)
		if (sim.consents[i % CONSENTS_MAX].machine == machine->index)
			return &sim.consents[i % CONSENTS_MAX];
	return NULL;
}

static int
is_step_of(const char *step, const char *node)
{
	size_t length = strlen(node);

	return strncmp(node, step, length) == 0 && step[length] == '.';
}

int
consent_is_for_memory(const char *step)
{
	for (int i = sim.consents_count;
	     i-- > 0 && i >= sim.consents_count - CONSENTS_MAX;) {
		const struct consent *consent = &sim.consents[i % CONSENTS_MAX];

		if (consent->class >= BU_CLASS_REBOOT &&
		    is_step_of(step, consent->node))
			return consent->ram;
	}
	return 0;
}

/* What was granted of a machine is granted under its new name, too. */
int
consent_to_write(const struct machine *machine, int disk, const char *step,
		 int keeps_data)
{
	enum bu_class least = keeps_data ? BU_CLASS_REIMAGE : BU_CLASS_WIPE;
	const struct bu_node *node = daemon_node_of(machine);

	for (int i = 0; i < sim.consents_count && i < CONSENTS_MAX; i++) {
		struct consent *consent = &sim.consents[i];

		if (consent->named != machine->index || consent->disk != disk ||
		    consent->granted < least ||
		    (!is_step_of(step, consent->node) &&
		     !(node && is_step_of(step, node->name))))
			continue;
		if (consent->step[0] && strcmp(consent->step, step) != 0)
			continue;
		bu_text_copy(consent->step, sizeof(consent->step), step);
		return 1;
	}
	return 0;
}
