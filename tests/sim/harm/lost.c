/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The appliance is lost: another one begins from an older log, from none, or the disk
 * of the same one is set back. Called by script.c between the steps of a run.
 * Invariants: another appliance begins as `bringup restore` and `bringup init` make it;
 * what was consented to before its epoch is consent no more; who was retired is known
 * by the world alone.
 */
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "model/event_body.h"
#include "provisioner/node/fence.h"
#include "tests/sim/harm/harm.h"

/* KEEPS: until what an agent showed is in the log. */
enum { KEPT = 6, KEEPS_MS = 1000 };

static struct kept {
	char *texts[LOG_FILES];
	size_t sizes[LOG_FILES];
	struct profile applied;
	int64_t at_ms;
} kept[KEPT];
static int kept_count;

static void
forget(struct kept *log)
{
	for (int i = 0; i < LOG_FILES; i++)
		free(log->texts[i]);
	memset(log, 0, sizeof(*log));
}

void
lost_begin(void)
{
	while (kept_count > 0)
		forget(&kept[--kept_count]);
}

void
lost_keep(void)
{
	if (!daemon_runs() || sim.disk_bad_ms || daemon_is_down() || sim.lost)
		return;
	wire_settle();
	if (kept_count == KEPT) {
		forget(&kept[0]);
		memmove(&kept[0], &kept[1], sizeof(kept[0]) * (KEPT - 1));
		memset(&kept[--kept_count], 0, sizeof(kept[0]));
	}
	log_keep(kept[kept_count].texts, kept[kept_count].sizes);
	kept[kept_count].applied = sim.applied;
	kept[kept_count++].at_ms = now_ms();
}

/* --- the first rows of another appliance --- */

static void
on_decided(const struct bu_decided *decided, void *arg)
{
	bu_assert(!decided->err);
}

/* Above that of the log. count: of rows after those of the epoch. */
static void
begin_epoch(struct bu_loop *loop, struct bu_store *store, int ends,
	    const struct bu_event *rows, size_t count)
{
	int64_t epoch = sim.clock.fake_wall_ms / 1000;
	struct bu_event events[4];

	bu_assert(count <= 2 && epoch > bu_store_lead(store).epoch);
	BU_EVENT_MAKE(&events[0], BU_EVENT_EPOCH, "", epoch, .epoch = epoch,
		      .ends = ends);
	BU_EVENT_MAKE(&events[1], BU_EVENT_CONDITION, "", condition,
		      .name = bu_condition_info(BU_CONDITION_EPOCH_UNCHECKED)->name,
		      .on = 1);
	for (size_t i = 0; i < count; i++)
		events[2 + i] = rows[i];
	bu_store_append(store, events, 2 + count, epoch, on_decided, NULL);
	while (bu_store_committed(store) < bu_store_appended(store)) {
		bu_clock_advance(&sim.clock, 1);
		bu_loop_step(loop, 0);
	}
}

/* As provisioner/backup/init.c. */
static void
begin_empty(struct bu_loop *loop, struct bu_store *store)
{
	struct bu_tree *tree = profile_tree(&sim.applied);
	bu_autojson json_t *files = bu_tree_to_json(tree), *none = json_array();
	bu_autofree char *text = bu_json_canonical(files);
	const char *const texts[] = {text};
	struct bu_event rows[2];

	bu_assert(bu_store_put_blobs(store, texts, 1, NULL) == 0);
	BU_EVENT_MAKE(&rows[0], BU_EVENT_REVISION, "", revision, .digest = tree->digest,
		      .commit = "");
	BU_EVENT_MAKE(&rows[1], BU_EVENT_APPLIED, "", applied, .rollout = "",
		      .plan = "", .revision = tree->digest, .commit = "", .limit = "",
		      .grants = none, .by = "bringup init");
	begin_epoch(loop, store, 0, rows, BU_LEN(rows));
	bu_tree_destroy(tree);
}

static void
begin_another(int empty)
{
	struct bu_loop *loop = bu_loop_create(&sim.clock);
	bu_autofree char *path = log_path("");
	struct bu_store *store = bu_store_open_sqlite(loop, path, NULL);

	bu_assert(store);
	if (empty)
		begin_empty(loop, store);
	else
		begin_epoch(loop, store, 1, NULL, 0);
	bu_store_destroy(store);
	bu_loop_destroy(loop);
	lost_epoch();
}

/* --- what happens --- */

void
lost_epoch(void)
{
	sim.consents_count = 0;
	sim.epoch_ms = now_ms() + 1;
	sim.stale = 0;
}

static void
put(int which)
{
	static char *const none[LOG_FILES];
	static const size_t no_sizes[LOG_FILES];

	log_put_back(which < 0 ? none : kept[which].texts,
		     which < 0 ? no_sizes : kept[which].sizes);
	if (which >= 0)
		sim.applied = kept[which].applied;
}

static void
lose(const struct step *step)
{
	int empty = step->verb == VERB_EMPTY_LOG;
	int which = kept_count ? (int)(step->a % (unsigned)kept_count) : -1;

	if (!kept_count)
		return;
	say("the appliance is lost: %s%s",
	    empty                         ? "another one begins with an empty log"
	    : step->verb == VERB_LOG_BACK ? "its disk is set back"
					  : "another one is restored",
	    sim.lost ? ", once more" : "");
	daemon_fill_disk(0, 0);
	daemon_stop(1);
	oracle_begin();
	slurm_forget_gone();
	sim.lost++;
	for (int i = 0; i < MACHINES; i++)
		sim.machines[i].warned_ms = 0;
	put(empty ? -1 : which);
	if (step->verb == VERB_LOG_BACK)
		sim.stale = 1;
	else
		begin_another(empty);
	sim.restart_ms = now_ms() + SECONDS(1 + step->b % 20);
}

static void
take_over(void)
{
	struct bu_err err = {0};
	bu_autojson json_t *body = json_pack("{s:s}", "reason", "nobody answers");
	bu_autojson json_t *reply = NULL;

	if (!daemon_runs())
		return;
	wire_settle();
	reply = wire_call("POST", "/v1/site/take-over", json_incref(body), &err);
	say("person: site take-over%s%s", reply ? "" : ": ", reply ? "" : err.text);
	if (reply)
		lost_epoch();
}

void
lost_does(const struct step *step)
{
	if (step->verb == VERB_TAKE_OVER)
		take_over();
	else
		lose(step);
}

int
lost_adopted(void)
{
	const struct bu_fleet *fleet = daemon_runs() ? daemon_world() : NULL;
	int count = 0;

	for (size_t i = 0; fleet && i < fleet->count; i++)
		count += fleet->nodes[i]->adopted->epoch != 0;
	return count;
}

int
lost_serves_none(const struct bu_node *node)
{
	return node->adopted->epoch && !node->joined->cluster[0];
}

/* --- rules --- */

/* The disk of the appliance was set back: until a person takes over, nobody but its
 * agents knows, and it may do once more what it did. */
int
lost_is_stale(enum rule rule)
{
	return sim.stale && rule != RULE_FENCE && rule != RULE_OUT;
}

/* What a person said of it since this epoch began, or ordered. */
void
lost_look(const struct machine *machine, const char *what)
{
	const struct bu_node *node = daemon_node_of(machine);
	const struct wish *wish = machine->bay < 0 ? NULL : &sim.wishes[machine->bay];

	if (!sim.epoch_ms || (wish && wish->until_ms > now_ms()) ||
	    consent_for(machine) || (node && oracle_was_said(node->name)))
		return;
	broken(RULE_EPOCH,
	       "%s is %s; nobody has said anything of %s since this epoch began",
	       machine->serial, what, node ? node->name : "it");
}

void
lost_power(const char *what)
{
	if (daemon_runs() && bu_fence_is_shut(daemon_world()))
		broken(RULE_FENCE, "%s is begun behind the fence", what);
}

/* A person has retired it. */
void
lost_retired(struct machine *machine, const char *node)
{
	machine->out = 1;
	snprintf(machine->out_node, sizeof(machine->out_node), "%s", node);
}

/* The appliance heard an agent that had been told of it, and had time to keep that. */
void
lost_served(const struct machine *machine)
{
	if (machine->out && sim.lost && machine->warned_ms &&
	    now_ms() - machine->warned_ms > KEEPS_MS)
		broken(RULE_OUT, "%s was retired as %s, and is served again",
		       machine->serial, machine->out_node);
}

void
lost_heard(const struct bu_heard *heard)
{
	const json_t *revoked = json_object_get(heard->document, "revoked");
	char id[BU_MACHINE_ID_SIZE];

	for (int i = 0; i < MACHINES; i++) {
		struct machine *machine = &sim.machines[i];

		machine_id(machine, id);
		if (machine->out && !machine->warned_ms && json_object_get(revoked, id))
			machine->warned_ms = now_ms();
	}
}
