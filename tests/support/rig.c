/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake site. Used by the tests of node, gate, rollout and api. What it journals
 * goes through the same calls as in bringupd; only power, Slurm and time are paper.
 */
#include "tests/support/rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "base/worker.h"
#include "fabric/judge/fabcert.h"
#include "model/sentence.h"
#include "provisioner/gate/terms/state.h"
#include "tests/support/paper.h"
#include "tests/support/profiles.h"
#include "tests/support/row.h"
#include "tests/support/scontrol.h"

enum {
	PATIENCE = 2000, /* turns */
	TURNS = 3,
	REAL_MS = 20000, /* for a fake child; only a mistake takes that long */
	RUNAWAY = 100000,
};

/* --- files --- */

static char *
path_of(const struct rig *rig, const char *name)
{
	return bu_xasprintf("%s/%s", rig->dir, name);
}

void
rig_write(const struct rig *rig, const char *name, const char *text)
{
	bu_autofree char *path = path_of(rig, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0600, NULL), 0);
}

void
rig_remove(const struct rig *rig, const char *name)
{
	bu_autofree char *path = path_of(rig, name);

	unlink(path);
}

char *
rig_read(const struct rig *rig, const char *name)
{
	bu_autofree char *path = path_of(rig, name);
	char *text = bu_file_read(path, 0, NULL, NULL);

	return text ? text : bu_xstrdup("");
}

int
rig_count(const struct rig *rig, const char *line)
{
	bu_autofree char *log = rig_read(rig, "power.log");
	bu_autofree char *want = bu_xasprintf("%s\n", line);
	int count = 0;

	for (const char *at = log; (at = strstr(at, want)); at += strlen(want))
		count++;
	return count;
}

/* --- the site --- */

static void
write_script(const struct rig *rig, const char *name, const char *text)
{
	bu_autofree char *path = path_of(rig, name);

	ck_assert_int_eq(bu_file_write(path, text, strlen(text), 0755, NULL), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
}

static void
write_paper(const struct rig *rig)
{
	char self[512] = "";
	bu_autofree char *bin = path_of(rig, "bin"), *power = NULL;
	bu_autofree char *slurm = NULL, *path = NULL;

	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	ck_assert_int_eq(bu_mkdir_p(bin, 0755, NULL), 0);
	power = bu_xasprintf("#!/bin/sh\nexec '%s' power '%s'\n", self, rig->dir);
	slurm = bu_xasprintf("#!/bin/sh\ncd '%s'\n%s", rig->dir, scontrol_script);
	write_script(rig, "bin/paper-power", power);
	for (size_t i = 0; i < BU_LEN(slurm_names); i++)
		write_script(rig, slurm_names[i], slurm);
	path = bu_xasprintf("%s:%s", bin, getenv("PATH"));
	setenv("PATH", path, 1);
	rig_write(rig, "sinfo", "");
	rig_write(rig, "squeue", "");
	rig_write(rig, "reservations", "");
}

void
rig_go(struct rig *rig)
{
	static const char *const names[] = {"DNS:bringup", "IP:127.0.0.1",
					    "IP:10.99.0.1", NULL};
	bu_autofree char *keys = path_of(rig, "keys"), *log = path_of(rig, "log.db");
	bu_autofree char *program = path_of(rig, "bin/paper-power");
	struct bu_reconcile_opts opts = {.fleet = NULL};
	struct bu_err err = {0};

	free(rig->console_dir);
	rig->console_dir = rig->consoles ? path_of(rig, "console") : NULL;
	opts.console_dir = rig->console_dir;

	rig->loop = bu_loop_create(&rig->clock);
	rig->asked = 0;
	rig->trust = bu_trust_open(keys, names, &err);
	ck_assert_msg(rig->trust != NULL, "%s", err.text);
	rig->store = bu_store_open_sqlite(rig->loop, log, &err);
	ck_assert_msg(rig->store != NULL, "%s", err.text);
	rig->fleet = bu_fleet_create(rig->loop, rig->store);
	rig->fleet->public_pem = bu_trust_public_key(rig->trust);
	ck_assert_msg(bu_fleet_load(rig->fleet, &err) == 0, "%s", err.text);
	rig->power = bu_power_create(rig->loop, program, NULL, &err);
	ck_assert_msg(rig->power != NULL, "%s", err.text);
	opts.fleet = rig->fleet;
	opts.power = rig->power;
	opts.trust = rig->trust;
	rig->rec = bu_reconcile_create(&opts);
	rig->rollouts = bu_rollouts_create(rig->fleet, rig->rec);
	bu_reconcile_start(rig->rec);
}

/* In the order of bringupd. */
void
rig_halt(struct rig *rig)
{
	bu_reconcile_stop(rig->rec);
	bu_gate_destroy(rig->gate);
	bu_rollouts_destroy(rig->rollouts);
	bu_power_destroy(rig->power);
	bu_store_destroy(rig->store);
	bu_reconcile_destroy(rig->rec);
	bu_fleet_destroy(rig->fleet);
	bu_trust_destroy(rig->trust);
	bu_loop_destroy(rig->loop);
	rig->gate = NULL;
}

void
rig_begin(struct rig *rig, int nodes)
{
	memset(rig, 0, sizeof(*rig));
	strcpy(rig->dir, "/tmp/bringup-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rig->dir));
	bu_clock_fake(&rig->clock, (int64_t)RIG_START_MS * 1000);
	write_paper(rig);
	rig_go(rig);
	if (nodes)
		rig_apply(rig, nodes, BU_CLASS_INSTALL, "d1", NULL, NULL);
}

void
rig_end(struct rig *rig)
{
	rig_halt(rig);
	free(rig->console_dir);
	ck_assert_int_eq(bu_remove_tree(rig->dir, NULL), 0);
}

void
rig_open_gate(struct rig *rig)
{
	const char *seed = getenv("BRINGUP_SEED");

	rig->gate = bu_gate_create(rig->fleet, rig->rec, rig->trust);
	/* Of the site's key, which is another one each time: who meets whom, and when,
	 * is the same in each run of a test. BRINGUP_SEED=N tries others. */
	rig->gate->seed = seed ? (uint64_t)atoi(seed) : 1;
}

void
rig_restart(struct rig *rig)
{
	rig_away(rig, 0);
}

void
rig_away(struct rig *rig, int64_t ms)
{
	int gate = rig->gate != NULL;

	rig_halt(rig);
	bu_clock_advance(&rig->clock, ms);
	rig_go(rig);
	if (gate)
		rig_open_gate(rig);
}

/* One step; with a wait, until something runs: the loop wakes now and then by real
 * time, when nothing is due by ours. */
static int
step(struct rig *rig, int wait, const char *whom)
{
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + REAL_MS;
	int ran;

	do {
		ran = bu_loop_step(rig->loop, wait ? REAL_MS : 0);
		ck_assert_msg(ran || bu_mono_ms(bu_clock_system()) < until_ms,
			      "%s does not come to an end", whom);
	} while (wait && !ran);
	return ran;
}

/* What a server takes, and the client waits for by its own clock, is real time: ours
 * goes on with it. */
static int
await_server(struct rig *rig)
{
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + REAL_MS;
	int ran;

	while (!(ran = bu_loop_step(rig->loop, 1))) {
		ck_assert_msg(bu_mono_ms(bu_clock_system()) < until_ms,
			      "a server does not answer");
		bu_clock_advance(&rig->clock, 1);
	}
	return ran;
}

/* Until no child or server is at work any more and nothing is ready; the clock stands,
 * but for a server. */
static int
run_ready(struct rig *rig)
{
	const struct bu_awaited *awaited = bu_loop_awaited(rig->loop);
	int all = 0, ran;

	do {
		int wait = awaited->jobs + awaited->exchanges > rig->hanging;

		ran = wait && awaited->exchanges ? await_server(rig)
						 : step(rig, wait, "a child");
		all += ran;
		ck_assert_msg(all < RUNAWAY, "it never comes to rest");
	} while (ran);
	return all;
}

static void
on_barrier(const struct bu_power_seen *seen, const struct bu_err *err, void *arg)
{
	int *passed = arg;

	*passed = 1;
}

/* The fake bringup-power answers in order: what was asked for before this question and
 * has no answer by now will get none. */
static void
pass_barrier(struct rig *rig)
{
	const struct bu_power_bmc barrier = {.driver = "libvirt", .bmc = "#barrier"};
	int passed = 0;

	bu_power_status(rig->power, &barrier, on_barrier, &passed);
	rig->asked = bu_loop_awaited(rig->loop)->asked;
	while (!passed)
		step(rig, 1, "fake bringup-power");
}

/* Everything that follows from what is now, without a ms passing. Returns how many
 * callbacks that took. */
static int
run_children(struct rig *rig)
{
	const struct bu_awaited *awaited = bu_loop_awaited(rig->loop);
	int all = run_ready(rig);

	while (awaited->calls > 0 && awaited->asked != rig->asked) {
		pass_barrier(rig);
		all += run_ready(rig);
	}
	return all;
}

static void
hear_agents(struct rig *rig)
{
	for (size_t i = 0; i < rig->fleet->count; i++) {
		int number = atoi(rig->fleet->nodes[i]->name + strlen("node"));

		if (number > 31 || !(rig->silent & 1U << number))
			bu_reconcile_heard(rig->rec, rig->fleet->nodes[i]);
	}
}

void
rig_pass(struct rig *rig, int64_t ms)
{
	int turns = 0, ran;

	bu_clock_advance(&rig->clock, ms);
	hear_agents(rig);
	run_children(rig);
	/* What that queued for the log is written in the next ms, and so on. */
	do {
		bu_clock_advance(&rig->clock, 1);
		ran = run_children(rig);
		ck_assert_msg(++turns < RUNAWAY, "it never comes to rest");
	} while (ran > 0 || turns < TURNS);
}

struct bu_node *
rig_node(const struct rig *rig, int number)
{
	char name[16];
	struct bu_node *node;

	snprintf(name, sizeof(name), "node%03d", number);
	node = bu_fleet_node(rig->fleet, name);
	ck_assert_ptr_nonnull(node);
	return node;
}

void
rig_until(struct rig *rig, const struct bu_node *node, enum bu_state state)
{
	for (int i = 0; i < PATIENCE && (node->state != state || node->live.appending);
	     i++)
		rig_pass(rig, 1);
	ck_assert_msg(node->state == state, "%s is %s (%s), not %s", node->name,
		      bu_state_name(node->state), rig_said(node->reason),
		      bu_state_name(state));
}

void
rig_until_step(struct rig *rig, const struct bu_node *node, enum bu_action action,
	       enum bu_step_status status)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (!node->live.appending && node->step.action == action &&
		    node->step.status == status)
			return;
		rig_pass(rig, 1);
	}
	ck_abort_msg("%s: step %s is %s %d", node->name, node->step.id,
		     bu_action_name(node->step.action), (int)node->step.status);
}

/* Enough for so many nodes: 200 of each of the net's parts. */
static char *
addresses(const char *net, int nodes)
{
	char *text = bu_xasprintf("%s.0.[11-%d]", net, nodes > 8 ? 210 : 18);

	for (int part = 1; part * 200 < nodes; part++) {
		bu_autofree char *before = text;

		text = bu_xasprintf("%s,%s.%d.[11-210]", before, net, part);
	}
	return text;
}

static char *
site_text(int nodes, const char *from, const char *to)
{
	bu_autofree char *set = bu_xasprintf("nodes = node[001-%03d]\n", nodes);
	bu_autofree char *a =
		bu_testing_replace(bu_testing_site, "nodes = node[001-002]\n", set);
	bu_autofree char *fabric = addresses("10.78", nodes);
	bu_autofree char *boot = addresses("10.77", nodes);
	bu_autofree char *b = bu_testing_replace(a, "10.78.0.11,10.78.0.12", fabric);
	bu_autofree char *c = bu_testing_replace(b, "10.77.0.[11-14]", boot);
	bu_autofree char *d = bu_testing_replace(
		c, "10.77.0.0/24", nodes > 200 ? "10.77.0.0/16" : "10.77.0.0/24");
	bu_autofree char *e = bu_testing_replace(
		d, "10.78.0.0/24", nodes > 200 ? "10.78.0.0/16" : "10.78.0.0/24");

	return bu_testing_replace(e, from ? from : "format = 1",
				  from ? to : "format = 1");
}

static struct bu_tree *
tree_of(int nodes, const char *site)
{
	bu_autofree char *racks = bu_xstrdup("name,mac,serial,bmc\n");
	const char *bmc = strstr(site, "one_bmc")
				  ? "https://one_bmc/redfish/v1/Systems/"
			  : strstr(site, "power = redfish") ? "https://"
							    : "qemu:///system#";

	for (int i = 1; i <= nodes; i++) {
		bu_autofree char *old = racks;

		racks = bu_xasprintf("%snode%03d,52:54:00:77:%02x:%02x,LAB-%03d,"
				     "%snode%03d\n",
				     old, i, (unsigned)i >> 8, (unsigned)i & 0xff, i,
				     bmc, i);
	}
	return bu_testing_tree("site.ini", site, "racks.csv", racks, NULL);
}

struct bu_tree *
rig_tree(int nodes, const char *from, const char *to)
{
	bu_autofree char *site = site_text(nodes, from, to);

	return tree_of(nodes, site);
}

static void
put_site(struct rig *rig, int nodes, const char *site,
	 char ret_revision[BU_DIGEST_SIZE])
{
	struct bu_tree *tree = tree_of(nodes, site);
	bu_autojson json_t *value = bu_tree_to_json(tree);
	bu_autofree char *text = bu_json_canonical(value);

	ck_assert_int_eq(bu_store_put_blob(rig->store, text, ret_revision, NULL), 0);
	bu_tree_destroy(tree);
}

static void
put_tree(struct rig *rig, int nodes, const char *from, const char *to,
	 char ret_revision[BU_DIGEST_SIZE])
{
	bu_autofree char *site = site_text(nodes, from, to);

	put_site(rig, nodes, site, ret_revision);
}

static void
until_applied(struct rig *rig, const char *revision)
{
	rig_pass(rig, 1);
	for (int i = 0; i < PATIENCE && strcmp(rig->fleet->revision, revision); i++)
		rig_pass(rig, 1);
	ck_assert_str_eq(rig->fleet->revision, revision);
}

static void
apply_revision(struct rig *rig, const char *revision)
{
	struct bu_event event;

	row_init(&event, BU_EVENT_APPLIED, "",
		 json_pack("{s:s,s:s,s:i}", "plan", "p", "revision", revision, "nodes",
			   0));
	bu_reconcile_note(rig->rec, &event, 1);
	until_applied(rig, revision);
}

void
rig_revise(struct rig *rig, int nodes, const char *from, const char *to)
{
	char revision[BU_DIGEST_SIZE];

	put_tree(rig, nodes, from, to, revision);
	apply_revision(rig, revision);
}

void
rig_give_rails(struct rig *rig, int nodes, int rails)
{
	rig_give_rails_with(rig, nodes, rails, NULL);
}

void
rig_give_rails_with(struct rig *rig, int nodes, int rails, const char *const *more)
{
	bu_autofree char *sections = bu_xstrdup(""), *names = bu_xstrdup("");
	char revision[BU_DIGEST_SIZE];

	for (int rail = 1; rail < rails; rail++) {
		bu_autofree char *before = sections, *others = names;
		bu_autofree char *net = bu_xasprintf("10.%d", 78 + rail);
		bu_autofree char *list = addresses(net, nodes);
		const char *own = more ? more[rail] : "";

		sections = bu_xasprintf(
			"%s[network rail%d]\nrole = fabric\n"
			"cidr = %s.0.0/16\naddresses = %s\nnic = %d\n"
			"rdma = rxe\n%s%s",
			before, rail, net, list, rail + 1,
			strstr(own, "link_gbps") ? "" : "link_gbps = 0.02\n", own);
		names = bu_xasprintf("%s, rail%d", others, rail);
	}
	bu_autofree char *all = bu_xasprintf("networks = boot, fabric%s\n", names);
	bu_autofree char *last =
		bu_xasprintf("%s%s[image debian12]\n", more ? more[0] : "", sections);
	bu_autofree char *a = site_text(nodes, "[image debian12]\n", last);
	bu_autofree char *b = bu_testing_replace(a, "networks = boot, fabric\n", all);
	bu_autofree char *c = bu_testing_replace(b, "nics = 2\n", "");
	bu_autofree char *site = bu_testing_replace(c, "fabric = fabric\n", "");

	put_site(rig, nodes, site, revision);
	apply_revision(rig, revision);
}

void
rig_apply(struct rig *rig, int nodes, enum bu_class class, const char *digest,
	  const char *from, const char *to)
{
	struct bu_event events[1 + RIG_NODES_MAX];
	char revision[BU_DIGEST_SIZE];
	size_t count = 0;

	put_tree(rig, nodes, from, to, revision);
	row_init(&events[count++], BU_EVENT_APPLIED, "",
		 json_pack("{s:s,s:s,s:s}", "rollout", "r-1", "plan", "p", "revision",
			   revision));
	for (int i = 1; i <= nodes; i++) {
		char name[16];

		snprintf(name, sizeof(name), "node%03d", i);
		row_init(&events[count++], BU_EVENT_ORDER, name,
			 json_pack("{s:s,s:s,s:s,s:s,s:s+}", "rollout", "r-1", "class",
				   bu_class_name(class), "image", "debian12", "digest",
				   digest, "facets", "f-", digest));
	}
	bu_reconcile_note(rig->rec, events, count);
	until_applied(rig, revision);
}

void
rig_text_has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "'%s' does not say '%s'", text, part);
}

void
rig_reason_has(const struct bu_reason *reason, const char *part)
{
	bu_autofree char *text = bu_reason_text(reason);

	rig_text_has(text, part);
}

const char *
rig_said(const struct bu_reason *reason)
{
	static char said[2 * BU_REASON_TEXT_MAX];
	bu_autofree char *text = bu_reason_text(reason);

	bu_text_copy(said, sizeof(said), text);
	return said;
}

void
rig_reason_says(const struct bu_reason *reason, const char *text)
{
	bu_autofree char *said = bu_reason_text(reason);

	ck_assert_str_eq(said, text);
}

char *
rig_why(const struct rig *rig, const struct bu_node *node)
{
	return rig_lines(bu_reconcile_why(rig->rec, node));
}

void
rig_why_says(const struct rig *rig, const struct bu_node *node, const char *part)
{
	bu_autofree char *why = rig_why(rig, node);

	rig_text_has(why, part);
}

static int
on_event(const struct bu_event *event, void *arg)
{
	char *kinds = arg;

	strcat(kinds, event->node[0] ? bu_event_name(event->kind) : "-");
	strcat(kinds, " ");
	return 0;
}

void
rig_events_after(const struct rig *rig, int64_t seq, char ret[4096])
{
	ret[0] = '\0';
	ck_assert_int_eq(bu_store_read(rig->store, seq, 0, on_event, ret, NULL), 0);
}
