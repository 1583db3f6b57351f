/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens in a run: made of a seed, printed for people, done to the world.
 * Invariant: a step means something whatever steps before it were left out, so that a
 * script can be shortened.
 */
#include <string.h>

#include "base/json.h"
#include "tests/sim/harm/harm.h"

static const char *const verb_names[] = {
#define X(id) #id,
	VERBS(X)
#undef X
};

const char *
verb_name(enum verb verb)
{
	return verb_names[verb];
}

/* --- from a seed --- */

static unsigned int
draw(unsigned int *seed, unsigned int below)
{
	return (unsigned int)rand_r(seed) % below;
}

/* How often each kind of step comes. */
static const struct {
	enum verb first, last;
	unsigned int weight;
} kinds[] = {
	{VERB_APPLY, VERB_APPLY, 18},
	{VERB_RENAME, VERB_RIGHT, 34},
	{VERB_RESTART, VERB_KILL, 8},
	{VERB_DIE, VERB_AGENT_DIES, 18},
	{VERB_BMC_ERRORS, VERB_SWITCH_OFF, 8},
	{VERB_ADMIN_DRAIN, VERB_CTLD_LOSES, 14},
	{VERB_LOSE_ANSWERS, VERB_STRANGER, 4},
	{VERB_HOLD, VERB_RESUME, 8},
	{VERB_NODE_DRAIN, VERB_NODE_RETIRE, 22},
	{VERB_DISK_FULL, VERB_DISK_FULL, 4},
};

static enum verb
draw_verb(unsigned int *seed)
{
	unsigned int all = 0, at;

	for (size_t i = 0; i < BU_LEN(kinds); i++)
		all += kinds[i].weight;
	at = draw(seed, all);
	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		if (at < kinds[i].weight)
			return kinds[i].first +
			       draw(seed, kinds[i].last - kinds[i].first + 1);
		at -= kinds[i].weight;
	}
	return VERB_APPLY;
}

static void
add(struct script *script, unsigned int *seed, enum verb verb, int64_t after_ms)
{
	struct step *step = &script->steps[script->count++];

	*step = (struct step){.after_ms = after_ms, .verb = verb};
	step->a = draw(seed, 1u << 20);
	step->b = draw(seed, 1u << 20);
	step->c = draw(seed, 1u << 20);
}

/* --- in the middle of orders --- */

/* An order begins, and while it goes people and strangers do more to the same node. */
static void
add_order(struct script *script, unsigned int *seed)
{
	static const enum verb edits[] = {
		VERB_KARGS, VERB_KARGS,    VERB_SYSCTL,      VERB_FEATURES, VERB_IMAGE,
		VERB_DATA,  VERB_TYPO_MAC, VERB_TYPO_SERIAL, VERB_CLUSTER,
	};
	unsigned int which = draw(seed, 1u << 20);

	add(script, seed, edits[draw(seed, BU_LEN(edits))], MINUTES(4));
	script->steps[script->count - 1].a = which;
	add(script, seed, VERB_APPLY, draw(seed, 4000));
}

static void
add_middle(struct script *script, unsigned int *seed)
{
	static const enum verb verbs[] = {
		VERB_NODE_DRAIN,   VERB_NODE_RESUME,  VERB_NODE_SERVICE,
		VERB_NODE_RELEASE, VERB_NODE_POWER,   VERB_NODE_POWER,
		VERB_NODE_REBOOT,  VERB_NODE_RETRY,   VERB_NODE_VALIDATE,
		VERB_ABORT,        VERB_PAUSE,        VERB_RESUME,
		VERB_TYPO_SERIAL,  VERB_TYPO_MAC,     VERB_RIGHT,
		VERB_KILL,         VERB_STRANGER,     VERB_KARGS,
		VERB_BMC_LOSES,    VERB_LOSE_ANSWERS,
	};
	unsigned int which = script->steps[script->count - 2].a;

	for (unsigned int i = 2 + draw(seed, 4); i > 0; i--) {
		enum verb verb = verbs[draw(seed, BU_LEN(verbs))];

		add(script, seed, verb,
		    draw(seed, 2) ? draw(seed, 15000) : draw(seed, 90000));
		script->steps[script->count - 1].a = which;
		if (verb >= VERB_RENAME && verb <= VERB_RIGHT)
			add(script, seed, VERB_APPLY, draw(seed, 4000));
	}
}

/* All is as it was before, some time later. */
static void
add_way_back(struct script *script, unsigned int *seed)
{
	unsigned int which = script->steps[script->count - 1].a;

	add(script, seed, VERB_NO_KARGS,
	    draw(seed, 2) ? draw(seed, 60000) : MINUTES(4));
	script->steps[script->count - 1].a = which;
	add(script, seed, VERB_APPLY, draw(seed, 4000));
}

static void
make_middle(struct script *script, unsigned int first)
{
	unsigned int seed = first * 2654435761u + 1;

	script->nodes = 2 + (int)draw(&seed, 3);
	script->bays = script->nodes;
	script->pools = 1 + (int)draw(&seed, 2);
	script->clusters = 1;
	for (unsigned int i = 1 + draw(&seed, 2); i > 0; i--) {
		add_order(script, &seed);
		add_middle(script, &seed);
	}
	if (draw(&seed, 3))
		add_way_back(script, &seed);
}

static void
add_some(struct script *script, unsigned int *seed, int steps)
{
	for (int i = 0; i < steps && script->count < STEPS_MAX - 2; i++) {
		enum verb verb = draw_verb(seed);
		int64_t after_ms =
			draw(seed, 3) == 0 ? draw(seed, 3000) : draw(seed, 120000);

		if (i == 0 && draw(seed, 4))
			after_ms += MINUTES(5);
		add(script, seed, verb, after_ms);
		/* Who took a node out does something more with it. */
		if (verb >= VERB_NODE_DRAIN && verb <= VERB_NODE_RETIRE &&
		    draw(seed, 4)) {
			unsigned int a = script->steps[script->count - 1].a;

			add(script, seed,
			    VERB_NODE_DRAIN +
				    draw(seed, VERB_NODE_RETIRE - VERB_NODE_DRAIN + 1),
			    draw(seed, 2) ? draw(seed, 4000) : draw(seed, 200000));
			script->steps[script->count - 1].a = a;
		}
		/* An edit is mostly applied soon. */
		if (verb >= VERB_RENAME && verb <= VERB_RIGHT && draw(seed, 4))
			add(script, seed, VERB_APPLY, draw(seed, 5000));
	}
}

static void
draw_site(struct script *script, unsigned int *seed)
{
	script->nodes = 2 + (int)draw(seed, 7);
	script->bays = script->nodes + (int)draw(seed, 3);
	if (script->bays > BAYS)
		script->bays = BAYS;
	script->pools = 1 + (int)draw(seed, POOLS);
	script->clusters = 1 + (int)draw(seed, CLUSTERS);
}

/* --- the appliance is lost --- */

static void
make_lost(struct script *script, unsigned int first)
{
	static const enum verb verbs[] = {VERB_OLD_LOG, VERB_OLD_LOG, VERB_EMPTY_LOG,
					  VERB_LOG_BACK};
	unsigned int seed = first * 2654435761u + 1;
	int times = 1 + (draw(&seed, 4) == 0);

	draw_site(script, &seed);
	add_some(script, &seed, 2 + (int)draw(&seed, 6));
	for (int i = 0; i < times && script->count < STEPS_MAX - 4; i++) {
		add(script, &seed, verbs[draw(&seed, BU_LEN(verbs))],
		    draw(&seed, 2) ? draw(&seed, 5000) : draw(&seed, 300000));
		if (draw(&seed, 2))
			add(script, &seed, VERB_TAKE_OVER, draw(&seed, 200000));
		if (draw(&seed, 2))
			add_some(script, &seed, 1 + (int)draw(&seed, 4));
	}
}

void
script_make(struct script *script, unsigned int first)
{
	unsigned int seed = first * 2654435761u + 1;
	int steps = 3 + (int)draw(&seed, 14);

	memset(script, 0, sizeof(*script));
	script->seed = first;
	if (first >= LOST) {
		make_lost(script, first);
	} else if (first >= MIDDLE) {
		make_middle(script, first);
	} else {
		draw_site(script, &seed);
		add_some(script, &seed, steps);
	}
}

/* --- done to the world --- */

static struct machine *
some_machine(unsigned int which)
{
	return machine_in((int)(which % (unsigned)sim.script.bays));
}

/* The daemon's own boot of this bay is under way: what runs there then looks like it.
 */
static int
is_being_booted(int bay)
{
	for (int i = 0; i < ROWS && daemon_runs(); i++) {
		const struct row *row = &sim.applied.rows[i];
		const struct bu_node *node =
			row->present && row->bmc == bay
				? bu_fleet_node(daemon_world(), row->name)
				: NULL;

		if (node && node->order->open && node->order->begun)
			return 1;
	}
	return 0;
}

static void
replace(struct machine *machine, const struct step *step)
{
	int bay = machine->bay;

	for (int i = 0; i < MACHINES; i++) {
		struct machine *next = &sim.machines[i];
		int busy = next->bay >= 0 || next->boots > 0;

		if (busy)
			continue;
		say("people: %s is taken out of bay %d, %s comes in%s", machine->serial,
		    bay, next->serial, step->c % 3 == 0 ? ", it runs its burn-in" : "");
		machine_power(machine, 0);
		machine->bay = -1;
		machine_new(next, bay, step->c % 3 == 0 ? DISK_FOREIGN : DISK_EMPTY);
		if (step->c % 3 == 0) {
			machine_power(next, 1);
			if (is_being_booted(bay))
				next->between_ms = now_ms();
		}
		if (step->c % 2)
			profile_set_right();
		return;
	}
}

/* Somebody has a machine that is nobody's yet. */
static void
put_foreign(struct machine *machine)
{
	if (machine->on || machine->disks[0].content != DISK_EMPTY)
		return;
	say("people: %s runs something of its own", machine->serial);
	machine->disks[0].content = DISK_FOREIGN;
	machine->disks[0].data = 1;
	machine->boots_network = 0;
	machine_power(machine, 1);
	machine->between_ms = machine->begun_ms;
}

static void
new_disk(struct machine *machine, unsigned int which)
{
	struct disk *disk = &machine->disks[which % DISKS];
	int on = machine->on;

	say("people: %s gets a new %s", machine->serial, disk_path(which % DISKS));
	machine_power(machine, 0);
	json_decref(disk->stamp);
	json_decref(disk->record);
	bu_heard_fini(&disk->heard);
	memset(disk, 0, sizeof(*disk));
	machine_power(machine, on);
}

static void
break_machine(struct machine *machine, const struct step *step)
{
	say("%s: %s", verb_name(step->verb), machine_words(machine));
	switch (step->verb) {
	case VERB_DIE:
	case VERB_SWITCH_OFF:
		machine->died = machine->on;
		machine_power(machine, 0);
		break;
	case VERB_SWITCH_ON:
		machine_power(machine, 1);
		break;
	case VERB_HANG:
		machine->hung = machine->on;
		machine->changed_ms = now_ms();
		break;
	case VERB_REBOOT:
		machine_reboot(machine);
		break;
	case VERB_CUT:
		machine->cut_ms = now_ms() + SECONDS(10 + step->b % 170);
		break;
	case VERB_SLOW_LINK:
		machine->slow_link = machine->was_faulty = 1;
		break;
	case VERB_BAD_MEMORY:
		machine->bad_memory = machine->was_faulty = 1;
		break;
	case VERB_OVER_LINK:
		machine->outlier = 1;
		break;
	case VERB_CLOCKS:
		machine->outlier = 2;
		break;
	case VERB_AGENT_DIES:
		agent_broken_off(machine);
		break;
	default:
		bmc_fault(machine->bay, step->verb,
			  now_ms() + SECONDS(20 + step->b % 280));
	}
}

/* A machine on the boot network that has heard who others are. */
static void
stranger(const struct step *step)
{
	const struct row *row = &sim.applied.rows[step->a % ROWS];
	struct machine *victim = some_machine(step->b);
	bu_autofree char *script = NULL, *token = NULL;
	bu_autojson json_t *inventory = NULL, *reply = NULL;
	bu_autoinventory struct bu_inventory *forged = NULL;
	struct bu_err err = {0};
	const char *at;

	if (!row->present || row->mac < 0 || !victim)
		return;
	script = wire_boot_script(sim.machines[row->mac].mac[0]);
	at = script ? strstr(script, "bringup.token=") : NULL;
	if (!at)
		return;
	token = bu_xstrndup(at + 14, strcspn(at + 14, " \n"));
	forged = machine_inventory(victim);
	snprintf(forged->nics[1].mac, sizeof(forged->nics[1].mac), "%s",
		 sim.machines[row->mac].mac[0]);
	snprintf(forged->boot_id, sizeof(forged->boot_id), "a-stranger");
	inventory = bu_inventory_to_json(forged);
	say("stranger: enrols as %s and says that it is %s", row->name, victim->serial);
	reply = wire_stranger(row->name, token, machine_request(&sim.machines[0]),
			      inventory, &err);
	say("stranger: %s", reply ? "is believed" : err.text);
}

static void
restart(const struct step *step)
{
	if (!daemon_runs())
		return;
	say("bringupd is %s", step->verb == VERB_KILL ? "killed" : "stopped");
	daemon_stop(step->verb == VERB_KILL);
	sim.restart_ms = now_ms() + SECONDS(1 + step->a % 20);
}

void
script_do(const struct step *step)
{
	struct machine *machine = some_machine(step->a);
	char words[200];

	if (step->verb < VERB_OLD_LOG)
		lost_keep();
	else {
		lost_does(step);
		return;
	}
	if (profile_edit(step, words, sizeof(words))) {
		say("person: edits: %s", words);
		return;
	}
	if (step->verb == VERB_APPLY) {
		/* Who is told which grant is missing mostly gives it. */
		if (person_applies(step->a % 5, step->b) != 0 && step->c % 2)
			person_applies(2, 0);
	} else if (step->verb == VERB_RESTART || step->verb == VERB_KILL) {
		restart(step);
	} else if (step->verb >= VERB_ADMIN_DRAIN && step->verb <= VERB_CTLD_LOSES) {
		slurm_admin(step->verb, step->a, step->b);
	} else if (step->verb == VERB_DISK_FULL) {
		daemon_fill_disk(1 + step->a % 4,
				 now_ms() + SECONDS(2 + step->b % 200));
	} else if (step->verb >= VERB_NODE_DRAIN) {
		operator_types(step);
	} else if (step->verb >= VERB_HOLD) {
		person_commands(step);
	} else if (step->verb == VERB_LOSE_ANSWERS) {
		say("answers are lost for a minute");
		sim.lose_answers_ms = now_ms() + MINUTES(1);
	} else if (step->verb == VERB_STRANGER) {
		stranger(step);
	} else if (machine && step->verb == VERB_REPLACE) {
		replace(machine, step);
	} else if (machine && step->verb == VERB_NEW_DISK) {
		new_disk(machine, step->b);
	} else if (machine && step->verb == VERB_FOREIGN_OS) {
		put_foreign(machine);
	} else if (machine) {
		break_machine(machine, step);
	}
}
