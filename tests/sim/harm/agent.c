/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent on a machine, as agent/identity.c and agent/session.c have it: enrols with
 * the token that it was booted with, says hello, asks for work, does it, tells the
 * result until it is heard. Invariant: it knows only what its boot, its disk and the
 * answers gave it.
 */
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"
#include "model/hello.h"
#include "tests/sim/harm/harm.h"

enum { CALL_MS = 30000, POLL_MS = 30000, POLL_SLACK_MS = 15000, AGAIN_MAX_S = 8 };

enum phase {
	AGENT_ABSENT,
	AGENT_ENROLS,
	AGENT_GREETS,
	AGENT_ASKS,
	AGENT_WORKS,
	AGENT_TELLS,
	AGENT_SWITCHES_OFF,
};

static struct agent {
	enum phase phase;
	int asking; /* a request is under way */
	int64_t due_ms;
	int again_s;
	int enrolled;
	struct ident ident;
	char *csr;
	json_t *item, *last;
	char last_id[128];
	int last_attempt;
	int64_t progress_ms;
	int cancelled;
	struct bu_heard heard; /* in the ramdisk, which keeps none */
} agents[MACHINES];

static struct agent *
agent_of(const struct machine *machine)
{
	return &agents[machine->index];
}

static struct bu_heard *
heard_of(struct machine *machine)
{
	struct disk *disk =
		machine->running == RUNS_SYSTEM ? machine_system(machine) : NULL;

	return disk ? &disk->heard : &agent_of(machine)->heard;
}

static void
forget(struct agent *agent)
{
	json_decref(agent->item);
	json_decref(agent->last);
	free(agent->csr);
	bu_heard_fini(&agent->heard);
	memset(agent, 0, sizeof(*agent));
}

void
agent_starts(struct machine *machine)
{
	struct agent *agent = agent_of(machine);
	const struct disk *disk = machine_system(machine);

	forget(agent);
	agent->again_s = 1;
	agent->due_ms = now_ms() + between(200, 3000);
	agent->phase = machine->running == RUNS_RAMDISK ? AGENT_ENROLS : AGENT_GREETS;
	if (machine->running == RUNS_SYSTEM)
		agent->ident = disk->ident;
}

void
agent_ends(struct machine *machine)
{
	work_cancel(machine);
	wire_forget(machine);
	forget(agent_of(machine));
}

/* The process dies and is started again after 5 s; what it keeps in files stays. */
void
agent_broken_off(struct machine *machine)
{
	struct agent *agent = agent_of(machine);
	struct agent kept = *agent;

	if (agent->phase == AGENT_ABSENT || agent->phase == AGENT_SWITCHES_OFF)
		return;
	work_cancel(machine);
	wire_forget(machine);
	agent->csr = NULL;
	forget(agent);
	agent->csr = kept.csr;
	agent->enrolled = kept.enrolled;
	agent->ident = kept.ident;
	agent->again_s = 1;
	agent->due_ms = now_ms() + SECONDS(5);
	agent->phase = machine->running == RUNS_RAMDISK && !agent->enrolled
			       ? AGENT_ENROLS
			       : AGENT_GREETS;
}

const json_t *
agent_item(const struct machine *machine)
{
	const struct agent *agent = agent_of(machine);

	return agent->phase == AGENT_WORKS ? agent->item : NULL;
}

static void
again_later(struct agent *agent)
{
	agent->due_ms = now_ms() + SECONDS(agent->again_s);
	agent->again_s =
		agent->again_s * 2 > AGAIN_MAX_S ? AGAIN_MAX_S : agent->again_s * 2;
}

static void
say_refusal(const struct machine *machine, const char *what, const struct bu_err *err)
{
	if (err->kind != BU_ERR_REMOTE && err->kind != BU_ERR_TIMEOUT)
		say("%s: its agent's %s is refused: %s", machine->serial, what,
		    err->text);
}

static int
passing(const struct bu_err *err)
{
	return err->kind == BU_ERR_REMOTE || err->kind == BU_ERR_TIMEOUT ||
	       err->kind == BU_ERR_BUSY || err->kind == BU_ERR_IO;
}

static void
ask(struct machine *machine, const char *path, json_t *body, int64_t patience_ms,
    wire_fn fn)
{
	struct agent *agent = agent_of(machine);

	agent->asking = 1;
	wire_ask(machine, &(struct ask){path, body, &agent->ident, patience_ms, fn});
}

/* --- enrolment --- */

static void
on_enrolled(struct machine *machine, const json_t *reply, const struct bu_err *err)
{
	struct agent *agent = agent_of(machine);

	agent->asking = 0;
	if (err) {
		say_refusal(machine, "enrolment", err);
		/* final: its init starts it anew, with the same command line */
		agent->due_ms = now_ms() + SECONDS(passing(err) ? 2 : 5);
		return;
	}
	machine_id(machine, agent->ident.peer); /* the certificate's common name */
	bu_assert(bu_cert_fingerprint(bu_json_str(reply, "cert", ""), agent->ident.cert,
				      NULL) == 0);
	agent->enrolled = 1;
	machine->out = 0;
	agent->phase = AGENT_GREETS;
	agent->due_ms = now_ms();
}

static void
enrol(struct machine *machine)
{
	struct agent *agent = agent_of(machine);
	bu_autoinventory struct bu_inventory *inventory = machine_inventory(machine);

	if (!agent->csr)
		agent->csr = machine_request(machine);
	ask(machine, "/v1/agent/enroll",
	    json_pack("{s:s,s:s,s:s,s:o}", "node", machine->boot_node, "token",
		      machine->token, "csr", agent->csr, "inventory",
		      bu_inventory_to_json(inventory)),
	    CALL_MS, on_enrolled);
}

/* --- hello --- */

static void
on_greeted(struct machine *machine, const json_t *reply, const struct bu_err *err)
{
	struct agent *agent = agent_of(machine);

	struct bu_err behind;

	agent->asking = 0;
	if (!err)
		lost_heard(heard_of(machine));
	if (!err && bu_heard_answer(heard_of(machine), reply, &behind) != 0)
		err = &behind;
	if (!err) {
		agent->phase = AGENT_ASKS;
		agent->again_s = 1;
		agent->due_ms = now_ms();
		return;
	}
	say_refusal(machine, "hello", err);
	if (err->kind == BU_ERR_DENIED && machine->running == RUNS_RAMDISK) {
		agent_broken_off(machine);
	} else {
		again_later(agent);
	}
}

/* As agent/itself.c: what it runs, and what lies on the disk that it runs from. */
static json_t *
runs_said(const struct machine *machine, const struct disk *disk)
{
	const json_t *record = disk->record;
	const char *kargs = bu_json_str(record, "kargs", NULL);
	json_t *runs = json_pack("{s:s,s:s}", "kernel", "6.1.0", "cmdline", "quiet");

	if (!record)
		return runs;
	json_object_set(runs, "node", json_object_get(record, "node"));
	json_object_set(runs, "step", json_object_get(record, "step"));
	json_object_set(runs, "facets", json_object_get(record, "facets"));
	if (!kargs)
		return runs;
	json_object_set_new(runs, "kargs", json_string(kargs));
	json_object_set_new(runs, "loader", json_string(disk->loader));
	json_object_set_new(runs, "booted", json_string(machine->booted));
	return runs;
}

static void
greet(struct machine *machine)
{
	bu_autoinventory struct bu_inventory *inventory = machine_inventory(machine);
	const struct disk *disk = machine_system(machine);
	int installed = machine->running == RUNS_SYSTEM;
	json_t *body;

	if (installed)
		machine->unheard_ms = 0;
	body = json_pack("{s:i,s:s,s:o,s:o}", "protocol", BU_AGENT_PROTOCOL, "where",
			 installed ? "installed" : "ramdisk", "stamp",
			 installed && disk && disk->stamp ? json_incref(disk->stamp)
							  : json_null(),
			 "inventory", bu_inventory_to_json(inventory));
	json_object_set(body, "anchor", heard_of(machine)->document);
	json_object_set(body, "settled", heard_of(machine)->settled);
	if (installed && disk)
		json_object_set_new(body, "runs", runs_said(machine, disk));
	ask(machine, "/v1/agent/hello", body, CALL_MS, on_greeted);
}

/* --- work --- */

static void
told(struct machine *machine, const json_t *item, int failed)
{
	struct agent *agent = agent_of(machine);
	const char *kind = bu_json_str(item, "kind", "");

	agent->phase = AGENT_ASKS;
	agent->due_ms = now_ms();
	if (!failed && (strcmp(kind, "install") == 0 ||
			(strcmp(kind, "configure") == 0 &&
			 strcmp(bu_json_str(item, "then", ""), "off") == 0))) {
		agent->phase = AGENT_SWITCHES_OFF;
		agent->due_ms = now_ms() + between(1000, 6000);
	} else if (strcmp(kind, "configure") == 0) {
		agent->phase = AGENT_GREETS;
	} else if (!failed && strcmp(kind, "load") == 0) {
		machine_goes(machine);
	}
}

static void
on_told(struct machine *machine, const json_t *reply, const struct bu_err *err)
{
	struct agent *agent = agent_of(machine);
	bu_autojson json_t *item = NULL;

	agent->asking = 0;
	if (err && passing(err)) {
		again_later(agent);
		return;
	}
	item = bu_steal(&agent->item);
	agent->again_s = 1;
	/* What was refused is not followed by anything. */
	if (err) {
		agent->phase = AGENT_ASKS;
		agent->due_ms = now_ms();
	} else {
		told(machine, item, json_object_get(agent->last, "error") != NULL);
	}
}

static void
tell(struct machine *machine)
{
	ask(machine, "/v1/agent/result", json_incref(agent_of(machine)->last), CALL_MS,
	    on_told);
}

static int
done_before(const struct agent *agent, const json_t *item)
{
	return agent->last &&
	       strcmp(agent->last_id, bu_json_str(item, "id", "")) == 0 &&
	       agent->last_attempt == (int)bu_json_int(item, "attempt", 0);
}

static void
on_work(struct machine *machine, const json_t *reply, const struct bu_err *err)
{
	struct agent *agent = agent_of(machine);
	json_t *item;
	struct bu_err behind;

	agent->asking = 0;
	if (!err)
		lost_served(machine);
	if (!err && bu_heard_answer(heard_of(machine), reply, &behind) != 0)
		err = &behind;
	item = err ? NULL : json_object_get(reply, "work");
	if (err) {
		if (err->kind == BU_ERR_DENIED && machine->running == RUNS_RAMDISK) {
			agent_broken_off(machine);
			return;
		}
		agent->phase = AGENT_GREETS;
		again_later(agent);
		return;
	}
	agent->due_ms = now_ms();
	agent->again_s = 1;
	if (!json_is_object(item))
		return;
	json_decref(agent->item);
	agent->item = json_deep_copy(item);
	agent->cancelled = 0;
	agent->progress_ms = now_ms() + SECONDS(4);
	agent->phase = done_before(agent, item) ? AGENT_TELLS : AGENT_WORKS;
	if (agent->phase == AGENT_WORKS)
		work_begin(machine, agent->item);
}

static void
on_progress(struct machine *machine, const json_t *reply, const struct bu_err *err)
{
	struct agent *agent = agent_of(machine);

	agent->asking = 0;
	if (!err && agent->phase == AGENT_WORKS && bu_json_bool(reply, "cancel", 0))
		agent->cancelled = 1;
}

static void
end_work(struct machine *machine, json_t *result, const struct bu_err *err)
{
	struct agent *agent = agent_of(machine);

	json_decref(agent->last);
	agent->last_attempt = (int)bu_json_int(agent->item, "attempt", 0);
	bu_text_copy(agent->last_id, sizeof(agent->last_id),
		     bu_json_str(agent->item, "id", ""));
	agent->last = json_pack("{s:s,s:s,s:i}", "id", agent->last_id, "kind",
				bu_json_str(agent->item, "kind", ""), "attempt",
				agent->last_attempt);
	if (err->kind)
		json_object_set_new(agent->last, "error", bu_json_from_err(err));
	if (result)
		json_object_set_new(agent->last, "result", result);
	agent->phase = AGENT_TELLS;
	agent->due_ms = now_ms();
}

static void
work(struct machine *machine)
{
	struct agent *agent = agent_of(machine);
	struct bu_err err = {0};
	json_t *result = NULL;

	if (agent->cancelled) {
		work_cancel(machine);
		bu_err_set(&err, BU_ERR_CANCELLED, 0, "cancelled by the appliance");
		end_work(machine, NULL, &err);
		return;
	}
	if (work_turn(machine, agent->item, &result, &err)) {
		end_work(machine, result, &err);
		return;
	}
	if (agent->asking || agent->progress_ms > now_ms() ||
	    strcmp(bu_json_str(agent->item, "kind", ""), "install") != 0)
		return;
	agent->progress_ms = now_ms() + SECONDS(4);
	ask(machine, "/v1/agent/progress",
	    json_pack("{s:s,s:s,s:i,s:i}", "id", bu_json_str(agent->item, "id", ""),
		      "stage", "write", "done_bytes", 1, "total_bytes", 2),
	    CALL_MS, on_progress);
}

void
agent_turn(struct machine *machine)
{
	struct agent *agent = agent_of(machine);

	if (agent->phase == AGENT_WORKS) {
		work(machine);
		return;
	}
	if (agent->phase == AGENT_ABSENT || agent->asking || agent->due_ms > now_ms())
		return;
	if (agent->phase == AGENT_ENROLS)
		enrol(machine);
	else if (agent->phase == AGENT_GREETS)
		greet(machine);
	else if (agent->phase == AGENT_ASKS)
		ask(machine, "/v1/agent/work",
		    json_pack("{s:i,s:i,s:s,s:s}", "wait_ms", POLL_MS, "protocol",
			      BU_AGENT_PROTOCOL, "revoked",
			      heard_of(machine)->newest.revoked, "settled",
			      heard_of(machine)->settled_of),
		    POLL_MS + POLL_SLACK_MS, on_work);
	else if (agent->phase == AGENT_TELLS)
		tell(machine);
	else
		machine_power(machine, 0);
}

int64_t
agent_due_ms(const struct machine *machine)
{
	const struct agent *agent = agent_of(machine);

	if (agent->phase == AGENT_ABSENT || machine->hung)
		return INT64_MAX;
	if (agent->phase == AGENT_WORKS)
		return agent->asking || work_due_ms(machine) < agent->progress_ms
			       ? work_due_ms(machine)
			       : agent->progress_ms;
	return agent->asking ? INT64_MAX : agent->due_ms;
}

void
agent_leaves(const struct machine *machine, struct disk *disk)
{
	const struct agent *agent = agent_of(machine);

	disk->ident = agent->ident;
	memcpy(disk->node, machine->boot_node, sizeof(disk->node));
}
