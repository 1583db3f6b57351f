/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tired operator: the verbs of nodes, of one node or of several, with and without
 * what they need (a grant, --force, a reason), as a trial, of nodes for which they mean
 * nothing. What was consented to is noted from what was typed and from what was
 * answered as taken.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/verb.h"
#include "tests/sim/harm/harm.h"

/* The daemon gives a power action a minute; what comes after these was not asked. */
enum { WISH_MS = 180000 };

static const struct {
	enum verb verb;
	const char *name;
} verbs[] = {
	{VERB_NODE_DRAIN, "drain"},       {VERB_NODE_RESUME, "resume"},
	{VERB_NODE_SERVICE, "service"},   {VERB_NODE_RELEASE, "release"},
	{VERB_NODE_VALIDATE, "validate"}, {VERB_NODE_RETRY, "retry"},
	{VERB_NODE_REBUILD, "rebuild"},   {VERB_NODE_REBOOT, "reboot"},
	{VERB_NODE_POWER, "power"},       {VERB_NODE_REPLACE, "replace"},
	{VERB_NODE_RETIRE, "retire"},
};

/* --- what was typed --- */

struct typed {
	const char *verb, *grant, *op, *reason;
	char nodes[80];
	const char *one, *two; /* NULL: a pool */
	int pool;
	int force, dry_run;
};

/* Mostly one for which the verb means something: the operator has read the status. */
static const char *
some_node(const struct step *step, enum bu_verb verb)
{
	const struct bu_fleet *fleet = daemon_world();
	const struct bu_node *node = fleet->nodes[step->a % fleet->count];

	for (size_t i = 0; step->c / 7 % 4 && i < fleet->count; i++) {
		const struct bu_node *at = fleet->nodes[(step->a + i) % fleet->count];

		if (bu_verb_takes(verb, at->state))
			return at->name;
	}
	return node->name;
}

static void
type_nodes(const struct step *step, struct typed *typed)
{
	const struct bu_fleet *fleet = daemon_world();
	const char *two = fleet->nodes[step->b % fleet->count]->name;
	enum bu_verb verb = BU_VERB_HOLD;

	bu_assert(bu_verb_from_name(typed->verb, &verb, NULL) == 0);
	typed->pool = (int)(step->a % (unsigned)sim.script.pools);

	if (step->c % 7 == 0) {
		snprintf(typed->nodes, sizeof(typed->nodes), "@p%d", typed->pool);
		return;
	}
	typed->one = some_node(step, verb);
	typed->two = step->c % 7 == 1 ? two : typed->one;
	snprintf(typed->nodes, sizeof(typed->nodes), "%s,%s", typed->one, typed->two);
	if (typed->two == typed->one)
		bu_text_copy(typed->nodes, sizeof(typed->nodes), typed->one);
}

static void
type(const struct step *step, struct typed *typed)
{
	static const char *const grants[] = {"wipe", "reimage", "", "wipe"};
	static const char *const ops[] = {"off", "cycle", "on", "off", "status"};

	memset(typed, 0, sizeof(*typed));
	for (size_t i = 0; i < BU_LEN(verbs); i++)
		if (verbs[i].verb == step->verb)
			typed->verb = verbs[i].name;
	type_nodes(step, typed);
	typed->dry_run = step->b % 8 == 0;
	typed->reason = step->b / 8 % 4 ? "it is late" : "";
	typed->grant = step->verb == VERB_NODE_REBUILD ? grants[step->b % 4] : "";
	typed->op = step->verb == VERB_NODE_POWER ? ops[step->b % 5] : "";
	typed->force = step->verb == VERB_NODE_POWER && step->b / 32 % 2;
}

/* --- what it allows --- */

static void
note_power(const struct typed *typed, const struct row *row)
{
	struct wish *wish = row->bmc < 0 ? NULL : &sim.wishes[row->bmc];

	if (!wish || strcmp(typed->op, "status") == 0)
		return;
	wish->until_ms = now_ms() + WISH_MS;
	if (typed->force)
		wish->forced_ms = wish->until_ms;
}

static int
is_typed(const struct typed *typed, const struct row *row)
{
	if (!typed->one)
		return row->pool == typed->pool;
	return strcmp(row->name, typed->one) == 0 || strcmp(row->name, typed->two) == 0;
}

/* It may be done before it is answered; what is refused is taken back then. */
static void
expect_power(const struct typed *typed)
{
	if (strcmp(typed->verb, "power") != 0 || typed->dry_run)
		return;
	for (int i = 0; i < ROWS; i++)
		if (sim.applied.rows[i].present &&
		    is_typed(typed, &sim.applied.rows[i]))
			note_power(typed, &sim.applied.rows[i]);
}

/* The class that the answer names: "ordered: wipe, rollout r-...". */
static enum bu_class
ordered_class(const char *text)
{
	char class[20];

	text += strcspn(text, " ");
	bu_text_copy(class, sizeof(class), *text ? text + 1 : "");
	class[strcspn(class, ",")] = '\0';
	return bu_class_from_name(class);
}

/* Whatever a person says of it afterwards takes it back. */
static void
note_retired(const struct typed *typed, const char *name)
{
	const struct bu_node *node =
		daemon_runs() ? bu_fleet_node(daemon_world(), name) : NULL;

	for (int i = 0; i < MACHINES; i++) {
		struct machine *machine = &sim.machines[i];

		if (machine->out && strcmp(machine->out_node, name) == 0)
			machine->out = 0;
		if (node && strcmp(typed->verb, "retire") == 0 &&
		    oracle_machine_of(node) == machine)
			lost_retired(machine, name);
	}
}

static void
note_taken(const struct typed *typed, const json_t *answer)
{
	const char *node = bu_json_str(answer, "node", "");
	const struct row *row = profile_row(&sim.applied, node);

	said_of(node);
	note_retired(typed, node);
	if (!row)
		return;
	if (strcmp(typed->verb, "power") == 0)
		note_power(typed, row);
	else if (strcmp(typed->verb, "reboot") == 0)
		consent_to_reboot(node);
	else if (strcmp(typed->verb, "rebuild") == 0)
		consent_to_rebuild(row, ordered_class(bu_json_str(answer, "text", "")),
				   bu_class_from_name(typed->grant));
}

static void
note(const struct typed *typed, const json_t *reply)
{
	size_t i;
	json_t *answer;

	json_array_foreach (json_object_get(reply, "nodes"), i, answer) {
		int ok = bu_json_bool(answer, "ok", 0);

		say("    %s: %s", bu_json_str(answer, "node", ""),
		    bu_json_str(answer, "text", ""));
		if (ok && !typed->dry_run)
			note_taken(typed, answer);
	}
}

void
operator_types(const struct step *step)
{
	bu_autofree char *path = NULL;
	bu_autojson json_t *body = NULL, *reply = NULL;
	struct bu_err err = {0};
	struct wish wishes[BAYS];
	struct typed typed;
	int64_t before;

	if (!daemon_runs() || !daemon_world()->count)
		return;
	type(step, &typed);
	path = bu_xasprintf("/v1/verbs/%s", typed.verb);
	body = json_pack("{s:s,s:s,s:s,s:s,s:b,s:b}", "nodes", typed.nodes, "reason",
			 typed.reason, "grant", typed.grant, "op", typed.op, "force",
			 typed.force, "dry_run", typed.dry_run);
	memcpy(wishes, sim.wishes, sizeof(wishes));
	expect_power(&typed);
	if (typed.dry_run)
		wire_settle();
	before = bu_store_appended(daemon_world()->store);
	reply = typed.dry_run ? wire_call("POST", path, json_incref(body), &err)
			      : person_insists(path, body, &err);
	say("person: node %s %s%s%s %s%s%s%s%s", typed.verb, typed.op,
	    *typed.op ? " " : "", typed.grant, typed.nodes,
	    typed.force ? " --force" : "", typed.dry_run ? " --dry-run" : "",
	    reply ? "" : ": ", reply ? "" : err.text);
	if (typed.dry_run && daemon_runs() &&
	    bu_store_appended(daemon_world()->store) != before)
		broken(RULE_TRIAL, "%s of %s as a trial wrote to the log", typed.verb,
		       typed.nodes);
	memcpy(sim.wishes, wishes, sizeof(wishes));
	note(&typed, reply);
	/* Nobody knows whether it was taken. */
	for (int i = 0; !reply && err.kind == BU_ERR_IO && i < ROWS; i++)
		if (sim.applied.rows[i].present &&
		    is_typed(&typed, &sim.applied.rows[i]))
			said_of(sim.applied.rows[i].name);
}
