/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup fabric rehearse: a whole campaign against an outside model of a fabric, one
 * JSON object a line (docs/rehearsal.md, fabric/judge/wire.h). Without --model the talk
 * is on standard output and input; with it the model is a child and the findings are
 * printed. Null for LLDP, switches or traces is gone without; what is not understood is
 * an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/spawn.h"
#include "base/text.h"
#include "base/worker.h"
#include "cli/commands/commands.h"
#include "cli/commands/jsonl.h"
#include "fabric/judge/wire.h"

enum { TIMEOUT_DEFAULT_S = 600, TIMEOUT_MAX_S = 86400, ENDS_MS = 5000 };

struct rehearsal {
	struct bu_jsonl lines;
	struct bu_topology topology;
	struct bu_link_count *counts; /* the switches' latest */
	int no_trace;
};

struct settings {
	uint64_t seed;
	int timeout_s;
	char **model; /* NULL = standard input and output */
};

static json_t *
ask(struct rehearsal *r, json_t *request, const char *what, struct bu_err *err)
{
	bu_autojson json_t *sent = request;

	return bu_jsonl_send(&r->lines, sent, err) == 0
		       ? bu_jsonl_receive(&r->lines, what, err)
		       : NULL;
}

static int
run_round(void *arg, struct bu_flow *flows, int count, struct bu_err *err)
{
	struct rehearsal *r = arg;
	bu_autojson json_t *answer =
		ask(r, bu_wire_round(&r->topology, flows, count), "round", err);

	return answer ? bu_wire_round_answer(&r->topology, answer, flows, count, err)
		      : -1;
}

static int
run_trace(void *arg, const struct bu_flow *flow, int count, int *ret_spines,
	  struct bu_err *err)
{
	struct rehearsal *r = arg;
	bu_autojson json_t *answer = NULL;

	for (int i = 0; i < count; i++)
		ret_spines[i] = BU_PATH_UNKNOWN;
	if (r->no_trace)
		return 0;
	answer = ask(r, bu_wire_trace(&r->topology, flow, count), "trace", err);
	if (!answer)
		return -1;
	r->no_trace = json_is_null(answer);
	return bu_wire_trace_answer(&r->topology, answer, flow, count, ret_spines, err);
}

static int
run_lldp(void *arg, int *ret_leaf_of, struct bu_err *err)
{
	struct rehearsal *r = arg;
	bu_autojson json_t *answer =
		ask(r, json_pack("{s:s}", "op", "lldp"), "lldp", err);

	return answer ? bu_wire_lldp_answer(&r->topology, answer, ret_leaf_of, err)
		      : -1;
}

static int
run_switches(void *arg, struct bu_link_count *ret, struct bu_err *err)
{
	struct rehearsal *r = arg;
	bu_autojson json_t *answer =
		ask(r, json_pack("{s:s}", "op", "switch"), "switch", err);

	if (!answer || bu_wire_switch_answer(&r->topology, answer, ret, err) != 0)
		return -1;
	bu_wire_switch_since(&r->topology, r->counts, ret);
	return 0;
}

static int
read_plan(struct rehearsal *r, struct bu_err *err)
{
	bu_autojson json_t *answer =
		ask(r, json_pack("{s:s}", "op", "plan"), "plan", err);
	const json_t *plan = json_object_get(answer, "plan");

	if (!answer ||
	    bu_topology_from_json(plan ? plan : answer, &r->topology, err) != 0)
		return -1;
	r->counts = bu_xcalloc(2 * (size_t)(r->topology.leaves * r->topology.spines),
			       sizeof(*r->counts));
	return 0;
}

static void
print_part(const struct bu_topology *t, const struct bu_accusation *one)
{
	static const char *const port_dirs[] = {"", " sending", " receiving", ""};
	static const char *const link_dirs[] = {"", " up", " down", ""};
	char node[80], leaf[80], spine[80];

	bu_ids_text(&t->node_ids,
		    one->what == BU_WHAT_ENDPOINT ? one->port / t->rails : one->node,
		    node, sizeof(node));
	bu_ids_text(&t->leaf_ids, one->leaf, leaf, sizeof(leaf));
	bu_ids_text(&t->spine_ids, one->spine, spine, sizeof(spine));
	switch (one->what) {
	case BU_WHAT_ENDPOINT:
		printf("node %s rail %d%s", node, one->port % t->rails,
		       port_dirs[one->dir & 3]);
		break;
	case BU_WHAT_LEAF:
		printf("leaf %s", leaf);
		break;
	case BU_WHAT_SPINE:
		printf("spine %s", spine);
		break;
	case BU_WHAT_LINK:
		printf("link leaf %s - spine %s%s", leaf, spine,
		       link_dirs[one->dir & 3]);
		break;
	case BU_WHAT_INCONCLUSIVE:
		printf("node %s is inconclusive", node);
		break;
	case BU_WHAT_ANY:
		for (int i = 0; i < one->of_count; i++) {
			printf("%s", i ? " or " : "");
			print_part(t, &one->of[i]);
		}
		break;
	}
}

static void
print_report(const struct bu_topology *t, const struct bu_report *report)
{
	for (int i = 0; i < report->count; i++) {
		bu_autofree char *text = bu_accusation_text(t, &report->accusations[i]);

		print_part(t, &report->accusations[i]);
		printf(": %s\n", text);
	}
	printf("%d accused; %ld tests in %d rounds (leaves %d, links %d, again %d, "
	       "load "
	       "%d); %d suspects undecided\n",
	       report->count, report->flows,
	       report->rounds[0] + report->rounds[1] + report->rounds[2] +
		       report->rounds[3],
	       report->rounds[0], report->rounds[1], report->rounds[2],
	       report->rounds[3], report->undecided);
}

/* The last word; a model may answer or end, both are right. */
static int
accuse(struct rehearsal *r, const struct bu_report *report, struct bu_err *err)
{
	bu_autojson json_t *request = bu_wire_accuse(&r->topology, report);
	bu_autojson json_t *answer = NULL;

	if (bu_jsonl_send(&r->lines, request, err) != 0)
		return -1;
	r->lines.timeout_ms = ENDS_MS;
	answer = bu_jsonl_receive(&r->lines, "accuse", NULL);
	return 0;
}

static int
rehearse(struct rehearsal *r, const struct settings *settings, struct bu_err *err)
{
	struct bu_site site = {.round = run_round,
			       .trace = run_trace,
			       .lldp = run_lldp,
			       .switches = run_switches,
			       .arg = r};
	struct bu_localise_opts opts = {.seed = settings->seed};
	struct bu_report report;
	int rc;

	if (read_plan(r, err) != 0 ||
	    bu_localise(&r->topology, &site, &opts, &report, err) != 0)
		return -1;
	rc = accuse(r, &report, err);
	if (rc == 0 && settings->model)
		print_report(&r->topology, &report);
	bu_report_fini(&report);
	return rc;
}

static pid_t
start_model(struct rehearsal *r, char **model, struct bu_err *err)
{
	int to[2], from[2];
	struct bu_spawn how = {.argv = (const char *const *)model,
			       .stdout_fd = -1,
			       .stderr_fd = -1,
			       .extra_fd = -1};
	pid_t pid;

	if (pipe2(to, O_CLOEXEC) != 0)
		return (pid_t)bu_err_set(err, BU_ERR_IO, errno, "pipe");
	if (pipe2(from, O_CLOEXEC) != 0) {
		bu_err_set(err, BU_ERR_IO, errno, "pipe");
		close(to[0]);
		close(to[1]);
		return -1;
	}
	how.stdin_fd = to[0];
	how.stdout_fd = from[1];
	pid = bu_spawn(&how, NULL, err);
	close(to[0]);
	close(from[1]);
	r->lines.out = to[1];
	r->lines.in = from[0];
	return pid;
}

static int
run(const struct settings *settings, struct bu_err *err)
{
	struct rehearsal r = {.lines = {.in = STDIN_FILENO,
					.out = STDOUT_FILENO,
					.timeout_ms = settings->timeout_s * 1000LL}};
	pid_t pid = 0;
	int rc;

	signal(SIGPIPE, SIG_IGN);
	if (settings->model) {
		pid = start_model(&r, settings->model, err);
		if (pid < 0 && r.lines.in == STDIN_FILENO)
			return -1;
	}
	rc = pid < 0 ? -1 : rehearse(&r, settings, err);
	if (settings->model) {
		close(r.lines.out);
		close(r.lines.in);
		bu_daemon_end(pid, ENDS_MS);
	}
	bu_topology_fini(&r.topology);
	bu_jsonl_fini(&r.lines);
	free(r.counts);
	return rc;
}

static int
usage(FILE *out)
{
	fputs("usage: bringup fabric rehearse [--seed N] [--timeout SECONDS]\n"
	      "                               [--model COMMAND...]\n"
	      "Runs the campaign against a model of a fabric, with one JSON object a "
	      "line,\n"
	      "over standard output and input, or with the command after --model.\n"
	      "Then prints the parts that it accuses.\n"
	      "  --seed N             of the schedule (1)\n"
	      "  --timeout SECONDS    for each answer (600)\n"
	      "  --model COMMAND...   must come last\n",
	      out);
	return out == stdout ? 0 : bu_err_exit_code(BU_ERR_USAGE);
}

int
bu_cmd_fabric_rehearse(int argc, char **argv)
{
	static const struct option table[] = {{"seed", required_argument, NULL, 's'},
					      {"timeout", required_argument, NULL, 't'},
					      {"model", no_argument, NULL, 'm'},
					      {"help", no_argument, NULL, 'h'},
					      {NULL, 0, NULL, 0}};
	struct settings settings = {.seed = 1, .timeout_s = TIMEOUT_DEFAULT_S};
	int64_t seed = 1, timeout_s = TIMEOUT_DEFAULT_S;
	int c, with_model = 0, wrong = 0;
	struct bu_err err = {0};

	optind = 0;
	while (!with_model && (c = getopt_long(argc, argv, "+h", table, NULL)) != -1) {
		if (c == 'h')
			return usage(stdout);
		with_model |= c == 'm';
		wrong |= c == '?';
		if (c == 's')
			wrong |= bu_text_int(optarg, 0, INT64_MAX, &seed);
		if (c == 't')
			wrong |= bu_text_int(optarg, 1, TIMEOUT_MAX_S, &timeout_s);
	}
	if (wrong || (with_model ? optind >= argc : optind < argc))
		return usage(stderr);
	settings.seed = (uint64_t)seed;
	settings.timeout_s = (int)timeout_s;
	settings.model = with_model ? argv + optind : NULL;
	if (run(&settings, &err) == 0)
		return 0;
	fprintf(stderr, "bringup: fabric rehearse: %s\n", err.text);
	return bu_err_exit_code(err.kind);
}
