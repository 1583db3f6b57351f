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

/* Asked again while the daemon is busy with the nodes, as the command line does. */
static json_t *
insist(const char *path, const json_t *body, struct bu_err *err)
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

static void
note_consent(const json_t *step, const char *rollout, unsigned int grants,
	     unsigned int which)
{
	const char *node = bu_json_str(step, "node", "");
	const struct row *row = profile_row(&sim.profile, node);
	struct consent *consent = &sim.consents[sim.consents_count % CONSENTS_MAX];
	int all = grants == GRANT_WIPE || grants == GRANT_ALL ||
		  (grants == GRANT_SOME && is_picked(node, which));

	memset(consent, 0, sizeof(*consent));
	sim.consents_count++;
	bu_text_copy(consent->rollout, sizeof(consent->rollout), rollout);
	bu_text_copy(consent->node, sizeof(consent->node), node);
	consent->class = bu_class_from_name(bu_json_str(step, "class", ""));
	consent->granted = all                       ? BU_CLASS_WIPE
			   : grants == GRANT_REIMAGE ? BU_CLASS_REIMAGE
						     : BU_CLASS_NONE;
	consent->reset = all || grants == GRANT_REIMAGE || grants == GRANT_RESET;
	consent->machine = row ? row_means(row) : -1;
	consent->disk =
		row ? sim.profile.disk[sim.profile.pool_hardware[row->pool]] : -1;
	consent->at_ms = now_ms();
	say("    %s: %s (%s)%s%s", node, bu_json_str(step, "class", ""),
	    bu_json_str(step, "why", ""), consent->granted ? "; granted " : "",
	    consent->granted ? bu_class_name(consent->granted) : "");
}

static void
taken(const json_t *plan, const json_t *reply, unsigned int grants, unsigned int which)
{
	const char *rollout = bu_json_str(reply, "rollout", "");
	size_t i;
	json_t *entry;

	sim.applied = sim.profile;
	say("person: applied as %s", rollout);
	json_array_foreach (json_object_get(plan, "steps"), i, entry)
		note_consent(entry, rollout, grants, which);
	json_array_foreach (json_object_get(plan, "refused"), i, entry)
		say("    %s: refused: %s", bu_json_str(entry, "node", ""),
		    bu_json_str(entry, "why", ""));
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
	return insist("/v1/plan", body, err);
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
	reply = insist("/v1/apply", body, &err);
	if (reply) {
		taken(plan, reply, grants, which);
		return 0;
	}
	say("person: not applied: %s", err.text);
	if (strstr(err.text, "contradicts"))
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
	bu_autojson json_t *reply = insist(path, owned, &err);

	say("person: %s%s%s", path, reply ? "" : ": ", reply ? "" : err.text);
}

static void
node_command(const char *node, const char *verb, json_t *body)
{
	bu_autofree char *path = bu_xasprintf("/v1/nodes/%s/%s", node, verb);

	command(path, body);
}

void
person_commands(const struct step *step)
{
	const struct bu_fleet *fleet = daemon_runs() ? daemon_world() : NULL;
	const struct consent *last =
		sim.consents_count
			? &sim.consents[(sim.consents_count - 1) % CONSENTS_MAX]
			: NULL;
	bu_autofree char *path = NULL;
	const char *node;

	if (!fleet || !fleet->count || !last)
		return;
	node = fleet->nodes[step->a % fleet->count]->name;
	path = bu_xasprintf("/v1/rollouts/%s/%s", last->rollout,
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

/* By state: what a person asks of a node that does not go on by itself. */
static const char *
next_command(const struct bu_node *node)
{
	int lost = node->conditions[BU_CONDITION_UNREACHABLE].on ||
		   node->conditions[BU_CONDITION_NOT_IN_CLUSTER].on;

	if (is_replaced(node) && node->state != BU_STATE_READY &&
	    node->state != BU_STATE_ENROLLED)
		return "replace";
	if (node->live.late_ms && json_object_size(daemon_world()->brakes))
		return "release";
	if (node->state == BU_STATE_VALIDATING && bu_node_stands_still(node))
		return "validate";
	if (node->held_for == BU_HOLD_IS_ON)
		return NULL; /* an apply with its grant */
	if (node->state == BU_STATE_JOINING && node->held_by[0] && sim.helping++ % 2)
		return "reboot";
	if (node->held_by[0] || node->state == BU_STATE_SERVICING)
		return "release";
	if (node->state == BU_STATE_PARKED)
		return "resume";
	if (node->state == BU_STATE_READY && lost)
		return "reboot";
	if (node->state == BU_STATE_QUARANTINED || node->state == BU_STATE_FAILED)
		return sim.helping++ % 2 ? "validate" : NULL;
	return NULL;
}

/* Whoever reboots a node means what answers at its BMC. */
static void
note_reboot(const char *node)
{
	struct consent *consent = &sim.consents[sim.consents_count % CONSENTS_MAX];
	const struct row *row = profile_row(&sim.applied, node);
	const struct machine *machine = row ? machine_in(row->bmc) : NULL;

	memset(consent, 0, sizeof(*consent));
	sim.consents_count++;
	bu_text_copy(consent->node, sizeof(consent->node), node);
	consent->machine = machine ? machine->index : -1;
	consent->reset = 1;
	consent->at_ms = now_ms();
}

static void
abort_stuck(const struct bu_node *node)
{
	bu_autofree char *path =
		bu_xasprintf("/v1/rollouts/%s/abort", node->order.rollout);

	if (node->held_by[0] && node->order.open && node->order.begun &&
	    sim.helping++ % 2)
		command(path, json_object());
}

/* What the views name as the next command of each node. */
int
person_helps(void)
{
	const struct bu_fleet *fleet = daemon_world();
	int done = 0;

	for (size_t i = 0; i < fleet->count; i++) {
		const struct bu_node *node = fleet->nodes[i];
		const char *verb;

		if (!node->live.in_profile || slurm_admin_drained(node->name))
			continue;
		abort_stuck(node);
		verb = next_command(node);
		if (!verb)
			continue;
		if (strcmp(verb, "reboot") == 0)
			note_reboot(node->name);
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
	sim.lose_answers_ms = 0;
	bmc_mend();
	slurm_mend();
	for (int i = 0; i < MACHINES; i++)
		mend_machine(&sim.machines[i]);
}

/* --- consent --- */

const struct consent *
consent_for(const struct machine *machine)
{
	for (int i = sim.consents_count;
	     i-- > 0 && i >= sim.consents_count - CONSENTS_MAX;)
		if (sim.consents[i % CONSENTS_MAX].machine == machine->index)
			return &sim.consents[i % CONSENTS_MAX];
	return NULL;
}

int
consent_to_write(const struct machine *machine, int disk, const char *step,
		 int keeps_data)
{
	enum bu_class least = keeps_data ? BU_CLASS_REIMAGE : BU_CLASS_WIPE;

	for (int i = 0; i < sim.consents_count && i < CONSENTS_MAX; i++) {
		struct consent *consent = &sim.consents[i];
		size_t length = strlen(consent->node);

		if (consent->machine != machine->index || consent->disk != disk ||
		    consent->granted < least ||
		    strncmp(consent->node, step, length) != 0 || step[length] != '.')
			continue;
		if (consent->step[0] && strcmp(consent->step, step) != 0)
			continue;
		bu_text_copy(consent->step, sizeof(consent->step), step);
		return 1;
	}
	return 0;
}
