/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the site's program that prints what switches count, and keeps what grew since
 * the reading before. Asked by switches.c. Invariants: the loop never waits for the
 * program, which is ended after PROGRAM_MS; a reading is taken as a whole or not at
 * all.
 */
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/secret.h"
#include "fabric/judge/wire.h"
#include "provisioner/gate/switches_impl.h"

enum { PROGRAM_MS = 30000, AGAIN_MS = 60000, OUTPUT_MAX = 16 * 1024 * 1024 };

static size_t
links_of(const struct bu_switches *counters)
{
	return 2 * (size_t)counters->shape.leaves * (size_t)counters->shape.spines;
}

/* What it prints counts from its own start on. */
static int64_t
last_seq(const struct bu_measurements *all)
{
	int64_t seq = 0;

	for (size_t i = 0; i < all->count; i++)
		if (all->logs[i].last.seq > seq)
			seq = all->logs[i].last.seq;
	return seq;
}

static int
check_links(const struct bu_switches *counters, const struct bu_link_count *now,
	    struct bu_err *err)
{
	const struct bu_topology *t = &counters->shape;
	int told = 0;

	for (size_t i = 0; i < links_of(counters); i++) {
		char leaf[BU_GATE_LEAF_SIZE + BU_NAME_MAX], spine[BU_NAME_MAX];
		int link = (int)i / 2;

		told += now[i].told;
		if (!counters->latest || now[i].told == counters->latest[i].told)
			continue;
		bu_ids_text(&t->leaf_ids, link / t->spines, leaf, sizeof(leaf));
		bu_ids_text(&t->spine_ids, link % t->spines, spine, sizeof(spine));
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "answer to switch: the link of %s and %s, %s, is in "
				  "one reading and not in the other; print the same "
				  "links each time",
				  leaf, spine, i % 2 ? "down" : "up");
	}
	return told ? 0
		    : bu_err_set(err, BU_ERR_INVAL, 0,
				 "answer to switch: names no link; print those of the "
				 "leaves and spines on standard input");
}

/* Counters count up; a smaller figure is a new beginning. */
static struct bu_link_count *
grown(const struct bu_switches *counters, const struct bu_link_count *now)
{
	size_t links = links_of(counters);
	struct bu_link_count *ret = bu_xcalloc(links + 1, sizeof(*ret));

	for (size_t i = 0; i < links; i++) {
		double before = counters->latest ? counters->latest[i].bad : now[i].bad;

		ret[i] = now[i];
		ret[i].bad = now[i].bad >= before ? now[i].bad - before : now[i].bad;
	}
	return ret;
}

static int
take(struct bu_switches *counters, const struct bu_job_result *result,
     struct bu_err *err)
{
	bu_autojson json_t *answer =
		bu_json_parse(result->out, result->out_size, "its output", err);
	struct bu_link_count *now =
		bu_xcalloc(links_of(counters) + 1, sizeof(*counters->latest));

	if (!answer || bu_wire_switch_answer(&counters->shape, answer, now, err) != 0 ||
	    check_links(counters, now, err) != 0) {
		free(now);
		return -1;
	}
	counters->list = bu_xgrow(counters->list, &counters->cap, counters->count + 1,
				  sizeof(*counters->list));
	counters->list[counters->count++] = (struct bu_reading){
		.links = grown(counters, now),
		.seq = last_seq(&counters->gate->fleet->measurements)};
	free(counters->latest);
	counters->latest = now;
	return 0;
}

static void
fail(struct bu_switches *counters, const char *program, const struct bu_err *err)
{
	char *text = bu_xasprintf(
		"%s: its switches' counters could not be read, so a bad link between "
		"its leaves may stay unseen: %s: %s",
		counters->key, program, err->text);

	if (!counters->failure || strcmp(counters->failure, text) != 0)
		bu_warn("gate", "%s", text);
	free(counters->failure);
	counters->failure = text;
	counters->again_ms = bu_loop_now_ms(counters->gate->fleet->loop) + AGAIN_MS;
}

static void
forgive(struct bu_switches *counters)
{
	free(counters->failure);
	counters->failure = NULL;
}

static void
on_printed(const struct bu_job_result *result, const struct bu_err *err, void *arg)
{
	struct bu_switches *counters = arg;
	struct bu_err wrong = {0};

	counters->job = NULL;
	if (err)
		fail(counters, counters->program, err);
	else if (take(counters, result, &wrong) != 0)
		fail(counters, counters->program, &wrong);
	else
		forgive(counters);
	bu_gate_kick(counters->gate);
}

void
bu_switches_read(struct bu_switches *counters, const char *program)
{
	struct bu_loop *loop = counters->gate->fleet->loop;
	bu_autofree char *reference = bu_xasprintf("exec:%s", program);
	bu_autofree char *checked = NULL, *input = NULL;
	bu_autojson json_t *request = NULL;
	struct bu_err err = {0};

	if (counters->job || bu_loop_now_ms(loop) < counters->again_ms)
		return;
	request = json_pack("{s:s,s:O,s:O}", "op", "switch", "leaves",
			    counters->shape.leaf_ids.list, "spines",
			    counters->shape.spine_ids.list);
	input = bu_json_canonical(request);
	free(counters->program);
	counters->program = bu_xstrdup(program);
	checked = bu_secret_program(reference, &err);
	if (checked)
		counters->job = bu_job_start(
			loop,
			&(struct bu_job_opts){
				.argv = (const char *const[]){checked, NULL},
				.input = input,
				.deadline_ms = PROGRAM_MS,
				.output_max = OUTPUT_MAX},
			on_printed, counters, &err);
	if (!counters->job)
		fail(counters, program, &err);
}

void
bu_switches_forget(struct bu_switches *counters)
{
	if (counters->job)
		bu_job_cancel(counters->job);
	counters->job = NULL;
	for (size_t i = 0; i < counters->count; i++)
		free(counters->list[i].links);
	counters->count = 0;
	free(counters->latest);
	counters->latest = NULL;
	bu_topology_fini(&counters->shape);
	counters->shape = (struct bu_topology){0};
}
