/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What certifying a whole site costs: the real gate and log in process, the clock
 *handed in, agents and links played. Nodes are checked first (each report has the facts
 *of eight rails), then measured; one may never answer, one hang with its first probe,
 *and some be slow. A probe with a slow one is slow for both of its ends:
 *
 *	gate [NODES [RAILS [SILENT [HUNG [STRAGGLERS [LOOK_MS]]]]]]
 *
 * STRAGGLERS: of 1,000. The gate rests as its looks cost: CPU of this process, or, the
 *same on every machine and each time, LOOK_MS a look, whatever it does.
 *
 * Prints after how many simulated seconds 99 %, all healthy ones and all that can be
 *are certified, the CPU time (what the agents of paper make of it apart) and the memory
 *of the whole program.
 */
#include <math.h>
#include <sys/resource.h>
#include <time.h>

#include "fabric/schedule.h"
#include "tests/support/gate.h"

enum {
	PROBE_S = 3,
	SLOW_S = 9,
	ALONE_S = 5, /* a probe waits so long for its other end, and tells */
	LIMIT_S = 600,
	TOGETHER = 100,
	RAILS = 8 /* of which a report tells */
};

struct agent {
	json_t *item; /* at work on it */
	int due_s;
	int silent, hangs, slow, hung;
	int alone; /* the other end of its probe does not come */
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

static int
lasts_s(const struct agent *a, const struct agent *b)
{
	if (a->silent || b->silent || a->hangs || b->hangs)
		return ALONE_S;
	return a->slow || b->slow ? SLOW_S : PROBE_S;
}

static void
start(struct rig *rig, struct agent *agents, int number, int now_s)
{
	struct agent *agent = &agents[number];
	struct bu_node *node = rig_node(rig, number);
	json_t *item = bu_gate_work(rig->gate, node);
	bu_autojson json_t *report = NULL;
	int seconds;

	if (item && strcmp(bu_json_str(item, "kind", ""), "checks") == 0) {
		double begun_s = cpu_s();

		report = report_with_facts(node, number);
		paper_s += cpu_s() - begun_s;
		bu_gate_result(rig->gate, node, bu_json_str(item, "id", ""), report,
			       NULL);
		json_decref(item);
		return;
	}
	if (!item)
		return;
	agent->item = item;
	seconds = lasts_s(&agents[number_of(bu_json_str(item, "a", ""))],
			  &agents[number_of(bu_json_str(item, "b", ""))]);
	agent->alone = seconds == ALONE_S;
	agent->due_s = now_s + seconds;
	agent->hung = agent->hangs;
}

static void
step(struct rig *rig, struct links *links, struct agent *agents, int number, int now_s)
{
	struct bu_node *node = rig_node(rig, number);
	struct agent *agent = &agents[number];
	bu_autojson json_t *result = NULL;
	struct bu_err alone;

	if (agent->hung)
		return;
	node->live.last_seen_ms = rig->clock.fake_wall_ms;
	node->live.agent.protocol = BU_AGENT_PROTOCOL;
	if (!agent->item && !(agent->silent && node->checks.body))
		start(rig, agents, number, now_s);
	if (!agent->item || now_s < agent->due_s)
		return;
	bu_err_set(&alone, BU_ERR_TIMEOUT, 0, "the other end did not come");
	if (!agent->alone) {
		double begun_s = cpu_s();

		result = result_of(links, agent->item);
		paper_s += cpu_s() - begun_s;
	}
	bu_gate_result(rig->gate, node, bu_json_str(agent->item, "id", ""), result,
		       agent->alone ? &alone : NULL);
	json_decref(agent->item);
	agent->item = NULL;
}

static int
count_joined(const struct rig *rig, const struct agent *agents, int nodes, int slow)
{
	int count = 0;

	for (int i = 1; i <= nodes; i++)
		count += agents[i].slow == slow &&
			 rig_node(rig, i)->state == BU_STATE_JOINING;
	return count;
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

/* Of a site, and when (simulated) how much of it was certified. */
struct figures {
	int nodes, rails, silent, hung, slow;
	int joined;
	int checked_s, most_s, healthy_s, all_s;
};

static void
print(const struct figures *f, double used_s)
{
	/* As bu_stage_partners() has it. */
	int partners = (int)ceil(log(0.01 / (2.0 * f->nodes)) / log(0.1));
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("nodes %d  rails %d  certified %d  99 %% after %d s, all healthy after %d s, "
	       "all after %d s (checks %d, probes alone %d, of slow ones %d)  CPU %.1f s, "
	       "agents of paper %.1f s more  memory %ld MiB\n",
	       f->nodes, f->rails, f->joined, f->most_s, f->healthy_s, f->all_s,
	       f->checked_s, partners * PROBE_S, f->slow ? partners * SLOW_S : 0,
	       used_s - paper_s, paper_s, usage.ru_maxrss / 1024);
}

static void
note(struct figures *f, const struct rig *rig, const struct agent *agents, int second)
{
	int healthy = count_joined(rig, agents, f->nodes, 0);

	f->joined = healthy + count_joined(rig, agents, f->nodes, 1);
	if (!f->checked_s && rig_node(rig, f->nodes)->checks.body)
		f->checked_s = second;
	if (!f->most_s && f->joined * 100 >= f->nodes * 99)
		f->most_s = second;
	if (!f->healthy_s && healthy == f->nodes - f->silent - f->hung - f->slow)
		f->healthy_s = second;
	if (!f->all_s && f->joined == f->nodes - f->silent - f->hung)
		f->all_s = second;
}

static struct agent *
make_agents(struct figures *f, int stragglers, uint64_t seed)
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
	return agents;
}

static int
run(struct figures *f, int stragglers)
{
	const char *seed = getenv("BRINGUP_SEED"); /* of the schedule, too */
	struct agent *agents =
		make_agents(f, stragglers, seed ? (uint64_t)atoi(seed) : 1);
	struct links *links = bu_xcalloc(1, sizeof(*links));
	double begun_s;
	struct rig rig;

	*links = good_links();
	rig_begin(&rig, f->nodes);
	site_clock = &rig.clock;
	rig_open_gate(&rig);
	bu_gate_set_stopwatch(rig.gate, look_ms ? &regular : &stopwatch);
	rig_give_rails(&rig, f->nodes, f->rails);
	for (int i = 1; i <= f->nodes; i++)
		put_node(&rig, i);
	rig_pass(&rig, 1);
	begun_s = cpu_s();
	for (int second = 0; second < LIMIT_S && !f->all_s; second++) {
		for (int i = 1; i <= f->nodes; i++) {
			step(&rig, links, agents, i, second);
			/* Nobody hears all of them at once. */
			if (i % TOGETHER == 0)
				rig_pass(&rig, 1);
		}
		rig_pass(&rig, 1000);
		note(f, &rig, agents, second + 1);
	}
	print(f, cpu_s() - begun_s);
	for (int i = 1; i <= f->nodes; i++)
		json_decref(agents[i].item);
	free(agents);
	free(links);
	rig_end(&rig);
	return f->all_s == 0;
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
