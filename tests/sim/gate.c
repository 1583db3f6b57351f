/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What certifying a whole site costs: the real gate and log in process, the clock
 * handed in, agents and links played. Nodes are checked first (each report has the
 * facts of eight rails), then measured; one may never answer, one hang with its first
 * probe, and some be slow. A probe with a slow one is slow for both of its ends. Who
 * listens for one that hangs waits longer than who connects to it
 *(fabric/probe/pair.c). An agent that idles waits for work as the real one does: it is
 *answered at the next wake after something of it changed, and asks again by itself
 *after POLL_MS:
 *
 *	gate [NODES [RAILS [SILENT [HUNG [STRAGGLERS [LOOK_MS]]]]]]
 *
 * STRAGGLERS: of 1,000. The gate rests as its looks cost: CPU of this process, or, the
 * same on every machine and each time, LOOK_MS a look, whatever it does.
 *
 * Prints after how many simulated seconds half, 99 % and all of the healthy ones and
 * all slow ones are certified, and how much of that is no probe of their own: a healthy
 * one that meets a slow one has a longer probe. Then the CPU time (what the agents of
 * paper make of it apart) and the memory of the whole program.
 */
#include <math.h>
#include <sys/resource.h>
#include <time.h>

#include "fabric/schedule.h"
#include "tests/support/gate.h"

enum {
	PROBE_MS = 3000,
	SLOW_MS = 9000,
	/* A probe waits so long for its other end, and tells: who connects, who listens
	 */
	COME_MS = 4000,
	MEET_MS = 10000,
	POLL_MS = 8000, /* as the API lets a poll wait */
	TICK_MS = 200,  /* until the next wake, and the way there and back */
	LIMIT_MS = 600000,
	TOGETHER = 250,
	RAILS = 8 /* of which a report tells */
};

struct agent {
	struct bu_node *node;
	json_t *item; /* at work on it */
	int64_t due_ms, poll_ms;
	int64_t own_ms;    /* of its probes */
	int64_t joined_ms; /* 0 = not yet */
	int silent, hangs, slow, hung;
	int alone; /* the other end of its probe does not come */
	int woken; /* its poll is looked at again */
};

/* CPU of what no daemon does: agents of paper. */
static double paper_s;

static double
cpu_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static json_t *
report_with_facts(const struct bu_node *node, int number)
{
	static const char *const ids[] = {"gid", "guid", "lldp", "nic-firmware"};
	struct bu_checks checks;
	json_t *value;

	bu_checks_init(&checks);
	bu_text_copy(checks.boot_id, sizeof(checks.boot_id), node->boot_id);
	for (int rail = 0; rail < RAILS; rail++) {
		for (size_t i = 0; i < BU_LEN(ids); i++) {
			bu_autofree char *port = bu_xasprintf("mlx5_%d", rail);
			struct bu_check *row = bu_checks_add(&checks, "audit", ids[i],
							     BU_VERDICT_PASS, port);

			if (i < 2)
				BU_CHECK_SET(row->seen, "%s-%d-%d", ids[i], number,
					     rail);
			else if (i == 2)
				BU_CHECK_SET(row->seen, "leaf%d-%d:swp%d", number / 32,
					     rail, number % 32);
			else
				BU_CHECK_SET(row->seen, "28.41.1000");
		}
	}
	value = bu_checks_to_json(&checks);
	bu_checks_fini(&checks);
	return value;
}

/* The agent at this end of its item. */
static const struct agent *
end_of(const struct agent *agents, const json_t *item, const char *end)
{
	return &agents[number_of(bu_json_str(item, end, "node000"))];
}

static void
take(const struct agent *agents, struct agent *agent, json_t *item, int64_t now_ms)
{
	const struct agent *a = end_of(agents, item, "a"),
			   *b = end_of(agents, item, "b");
	int listens = strcmp(bu_json_str(item, "role", ""), "listen") == 0;
	int ms = a->slow || b->slow ? SLOW_MS : PROBE_MS;

	agent->item = item;
	agent->alone = a->silent || b->silent || a->hangs || b->hangs;
	agent->hung = agent->hangs;
	agent->own_ms += agent->alone ? 0 : ms;
	if (agent->alone)
		ms = listens ? MEET_MS : COME_MS;
	agent->due_ms = now_ms + ms;
}

static void
tell_checks(struct rig *rig, struct agent *agent, const json_t *item)
{
	bu_autojson json_t *report = NULL;
	double begun_s = cpu_s();

	report = report_with_facts(agent->node, number_of(agent->node->name));
	paper_s += cpu_s() - begun_s;
	bu_gate_result(rig->gate, agent->node, bu_json_str(item, "id", ""), report,
		       NULL);
	agent->woken = 1;
}

/* Its poll, which waits unless something of it has changed. 1 = it is looked at. */
static int
ask(struct rig *rig, struct agent *agents, struct agent *agent, int64_t now_ms)
{
	json_t *item;

	if ((!agent->woken && now_ms < agent->poll_ms) ||
	    (agent->silent && agent->node->checks.body))
		return 0;
	agent->woken = 0;
	agent->poll_ms = now_ms + POLL_MS;
	item = bu_gate_work(rig->gate, agent->node);
	if (item && strcmp(bu_json_str(item, "kind", ""), "checks") == 0) {
		tell_checks(rig, agent, item);
		json_decref(item);
		return 1;
	}
	if (!item)
		return 1;
	take(agents, agent, item, now_ms);
	return 1;
}

static void
tell(struct rig *rig, struct links *links, struct agent *agent)
{
	bu_autojson json_t *result = NULL;
	struct bu_err alone;

	bu_err_set(&alone, BU_ERR_TIMEOUT, 0, "the other end did not come");
	if (!agent->alone) {
		double begun_s = cpu_s();

		result = result_of(links, agent->item);
		paper_s += cpu_s() - begun_s;
	}
	bu_gate_result(rig->gate, agent->node, bu_json_str(agent->item, "id", ""),
		       result, agent->alone ? &alone : NULL);
	json_decref(agent->item);
	agent->item = NULL;
	agent->woken = 1;
}

/* 1 = it spoke to the gate. */
static int
step(struct rig *rig, struct links *links, struct agent *agents, int number,
     int64_t now_ms)
{
	struct agent *agent = &agents[number];
	int spoke = agent->item && now_ms >= agent->due_ms;

	if (agent->hung)
		return 0;
	agent->node->live.last_seen_ms = rig->clock.fake_wall_ms;
	if (spoke)
		tell(rig, links, agent);
	return agent->item ? spoke : ask(rig, agents, agent, now_ms) || spoke;
}

/* The daemon's ears. */
struct ears {
	struct agent *agents;
	struct bu_gate *gate;
};

/* As bringupd wakes its gate and the agents that wait. */
static void
on_change(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	const struct ears *ears = arg;
	struct agent *agents = ears->agents;

	bu_gate_kick(ears->gate);
	if (node)
		agents[number_of(node->name)].woken = 1;
	for (size_t i = 1; !node && i <= fleet->count; i++)
		agents[i].woken = 1;
}

/* The gate rests as long as its work asks for: the process's own CPU time, so that
 * whatever runs beside plays no part. */
static int64_t
cpu_ms(const struct bu_clock *clock)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const struct bu_clock stopwatch = {.mono_ms = cpu_ms, .wall_ms = cpu_ms};

static int look_ms;
static const struct bu_clock *site_clock;

/* Each look costs the same: between its first reading, and all others of that moment.
 */
static int64_t
regular_ms(const struct bu_clock *clock)
{
	static int64_t now_ms, moment_ms;

	if (site_clock->fake_mono_ms == moment_ms)
		return now_ms + look_ms;
	moment_ms = site_clock->fake_mono_ms;
	now_ms += look_ms;
	return now_ms;
}

static const struct bu_clock regular = {.mono_ms = regular_ms, .wall_ms = regular_ms};

/* Of a site, and what it took. */
struct figures {
	int nodes, rails, silent, hung, slow;
	int joined;
	int64_t checked_ms, all_ms;
};

enum group { HEALTHY, SLOW_ONES };

static int
compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Of a group, sorted: when they were certified, or how much of that no probe of their
 * own was; how many. */
static int
times(const struct figures *f, const struct agent *agents, enum group group, int own,
      int64_t *ret)
{
	int count = 0;

	for (int i = 1; i <= f->nodes; i++)
		if (agents[i].joined_ms && agents[i].slow == (group == SLOW_ONES))
			ret[count++] =
				agents[i].joined_ms - (own ? agents[i].own_ms : 0);
	qsort(ret, (size_t)count, sizeof(*ret), compare);
	return count;
}

static void
print_group(const struct figures *f, const struct agent *agents, enum group group)
{
	bu_autofree int64_t *list = bu_xcalloc((size_t)f->nodes + 1, sizeof(*list));

	for (int own = 0; own < 2; own++) {
		int count = times(f, agents, group, own, list);

		if (count == 0)
			return;
		printf("  %s%s 50 %% %.1f s, 99 %% %.1f s, all %.1f s",
		       group == HEALTHY ? "healthy" : "slow",
		       own ? ", over their own probes" : "",
		       (double)list[(count - 1) / 2] / 1e3,
		       (double)list[(count * 99 + 99) / 100 - 1] / 1e3,
		       (double)list[count - 1] / 1e3);
	}
}

static void
print(const struct figures *f, const struct agent *agents, double used_s)
{
	/* As bu_stage_partners() has it. */
	int partners = (int)ceil(log(0.01 / (2.0 * f->nodes)) / log(0.1));
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("nodes %d  rails %d  certified %d (checks %.1f s, probes alone %d s)",
	       f->nodes, f->rails, f->joined, (double)f->checked_ms / 1e3,
	       partners * PROBE_MS / 1000);
	print_group(f, agents, HEALTHY);
	print_group(f, agents, SLOW_ONES);
	printf("  CPU %.1f s, agents of paper %.1f s more  memory %ld MiB\n",
	       used_s - paper_s, paper_s, usage.ru_maxrss / 1024);
}

static void
note(struct figures *f, struct agent *agents, int64_t now_ms)
{
	double begun_s = cpu_s();

	f->joined = 0;
	for (int i = 1; i <= f->nodes; i++) {
		struct agent *agent = &agents[i];

		if (!agent->joined_ms && agent->node->state == BU_STATE_JOINING)
			agent->joined_ms = now_ms;
		f->joined += agent->joined_ms != 0;
	}
	if (!f->checked_ms && agents[f->nodes].node->checks.body)
		f->checked_ms = now_ms;
	if (!f->all_ms && f->joined == f->nodes - f->silent - f->hung)
		f->all_ms = now_ms;
	paper_s += cpu_s() - begun_s;
}

static struct agent *
make_agents(struct figures *f, const struct rig *rig, int stragglers, uint64_t seed)
{
	struct agent *agents = bu_xcalloc((size_t)f->nodes + 1, sizeof(*agents));
	bu_autofree int *order = bu_xcalloc((size_t)f->nodes + 1, sizeof(*order));
	int gone = f->silent + f->hung;

	f->slow = f->nodes * stragglers / 1000;
	bu_schedule_order(f->nodes, seed, order);
	for (int i = 0; i < gone + f->slow; i++) {
		struct agent *agent = &agents[1 + order[i]];

		agent->silent = i < f->silent;
		agent->hangs = !agent->silent && i < gone;
		agent->slow = i >= gone;
	}
	for (int i = 1; i <= f->nodes; i++) {
		agents[i].node = rig_node(rig, i);
		agents[i].woken = 1;
	}
	return agents;
}

static struct agent *
begin_site(struct rig *rig, struct figures *f, int stragglers, struct ears *ears)
{
	const char *seed = getenv("BRINGUP_SEED"); /* of the schedule, too */
	struct agent *agents;

	rig_begin(rig, f->nodes);
	site_clock = &rig->clock;
	rig_open_gate(rig);
	bu_gate_set_stopwatch(rig->gate, look_ms ? &regular : &stopwatch);
	rig_give_rails(rig, f->nodes, f->rails);
	for (int i = 1; i <= f->nodes; i++)
		put_node(rig, i);
	rig_pass(rig, 1);
	agents = make_agents(f, rig, stragglers, seed ? (uint64_t)atoi(seed) : 1);
	*ears = (struct ears){agents, rig->gate};
	bu_fleet_watch(rig->fleet, on_change, ears);
	return agents;
}

static int
run(struct figures *f, int stragglers)
{
	struct links *links = bu_xcalloc(1, sizeof(*links));
	struct agent *agents;
	struct ears ears;
	double begun_s;
	int64_t start_ms;
	struct rig rig;

	*links = good_links();
	agents = begin_site(&rig, f, stragglers, &ears);
	begun_s = cpu_s();
	start_ms = rig.clock.fake_mono_ms;
	while (!f->all_ms && rig.clock.fake_mono_ms - start_ms < LIMIT_MS) {
		int spoke = 0;

		for (int i = 1; i <= f->nodes; i++) {
			spoke += step(&rig, links, agents, i,
				      rig.clock.fake_mono_ms - start_ms);
			/* Nobody hears all of them at once. */
			if (spoke == TOGETHER)
				rig_pass(&rig, 1), spoke = 0;
		}
		rig_pass(&rig, TICK_MS);
		note(f, agents, rig.clock.fake_mono_ms - start_ms);
	}
	print(f, agents, cpu_s() - begun_s);
	bu_fleet_unwatch(rig.fleet, on_change, &ears);
	for (int i = 1; i <= f->nodes; i++)
		json_decref(agents[i].item);
	free(agents);
	free(links);
	rig_end(&rig);
	return f->all_ms == 0;
}

static int
number(int argc, char **argv, int place, int usual)
{
	return argc > place ? atoi(argv[place]) : usual;
}

static int arguments[5];

START_TEST(the_site_is_certified)
{
	struct figures f = {.nodes = arguments[0],
			    .rails = arguments[1],
			    .silent = arguments[2],
			    .hung = arguments[3]};

	ck_assert_int_eq(run(&f, arguments[4]), 0);
}
END_TEST

/* A test of libcheck's in this process: what the rig asserts needs one. */
int
main(int argc, char **argv)
{
	const TTest *const tests[] = {the_site_is_certified};
	int paper = rig_paper(argc, argv);

	if (paper >= 0)
		return paper;
	arguments[0] = number(argc, argv, 1, RIG_NODES_MAX);
	arguments[1] = number(argc, argv, 2, RAILS);
	for (int i = 2; i < 5; i++)
		arguments[i] = number(argc, argv, i + 1, 0);
	look_ms = number(argc, argv, 6, 0);
	setenv("CK_FORK", "no", 1);
	return bu_unit_run("gate", tests, 1);
}
