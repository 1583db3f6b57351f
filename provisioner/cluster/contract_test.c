/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every cluster driver keeps to, each above a world of its own: for Slurm the fake
 * scontrol, for Kubernetes an API server of paper, and a driver of paper, which keeps
 * its nodes in this program.
 */
#include "provisioner/cluster/cluster.h"

#include <string.h>

#include "tests/support/cluster_world.h"
#include "tests/support/kube_world.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

/* --- the worlds --- */

enum { WORLDS_MAX = 8 };

/* Every driver of the table has its world here. */
static size_t
worlds(struct world ret[WORLDS_MAX])
{
	static const struct world known[] = {
		{&bu_paper_cluster, paper_be, paper_turn, paper_now, paper_silence,
		 paper_labelled, paper_gated, PAPER_REASON, "12 (alice)", no_begin,
		 no_end},
		{NULL, slurm_be, slurm_turn, slurm_now, slurm_silence, slurm_labelled,
		 slurm_gated, PAPER_REASON, "12 (alice)", no_begin, no_end},
		{NULL, kube_be, kube_turn, kube_now, kube_silence, kube_labelled,
		 kube_gated, "cordoned by kubectl-cordon", "default/train-12",
		 kube_begin, kube_end},
	};
	size_t count = BU_LEN(known);

	memcpy(ret, known, sizeof(known));
	ret[1].driver = bu_cluster_driver("slurm");
	ret[2].driver = bu_cluster_driver("kubernetes");
	for (size_t i = 0; bu_cluster_drivers[i]; i++) {
		size_t at = 0;

		while (at < count && ret[at].driver != bu_cluster_drivers[i])
			at++;
		ck_assert_msg(at < count, "driver %s has no world here",
			      bu_cluster_drivers[i]->name);
	}
	return count;
}

/* --- one operation in one world --- */

enum verb { ISSUE, ADMIT, LEAVE, GATE, RELABEL };

struct desk {
	struct rig rig;
	const struct world *world;
	struct bu_cluster *cluster;
	struct bu_cluster_op *op;
	int returned, ended; /* times */
	struct bu_err err;
	char words[200], detail[240], drained[160], secret[4096];
	int seen;
	size_t rows;
	struct bu_err seen_err;
	struct bu_cluster_fact fact;
};

static void
on_end(const struct bu_err *err, const struct bu_cluster_done *done, void *arg)
{
	struct desk *desk = arg;

	ck_assert(desk->returned);
	desk->ended++;
	desk->op = NULL;
	desk->err = err ? *err : (struct bu_err){0};
	snprintf(desk->detail, sizeof(desk->detail), "%s", done->detail);
	snprintf(desk->drained, sizeof(desk->drained), "%s", done->drained);
	snprintf(desk->secret, sizeof(desk->secret), "%.*s", (int)done->secret_size,
		 done->secret ? (const char *)done->secret : "");
}

static void
on_words(const char *text, void *arg)
{
	struct desk *desk = arg;

	snprintf(desk->words, sizeof(desk->words), "%s", text);
}

static void
on_seen(const struct bu_cluster_row *rows, size_t count, const struct bu_err *err,
	void *arg)
{
	struct desk *desk = arg;

	desk->seen++;
	desk->rows = count;
	desk->seen_err = err ? *err : (struct bu_err){0};
	for (size_t i = 1; i < count; i++)
		ck_assert_int_lt(strcmp(rows[i - 1].name, rows[i].name), 0);
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].name, "node001") == 0)
			desk->fact = rows[i].fact;
}

static void
begin(struct desk *desk, const struct world *world, enum paper_is is)
{
	const struct bu_cluster_site site = {
		.name = "c", .driver = world->driver->name, .conf = "/etc/paper.conf"};
	char handle[BU_CLUSTER_HANDLE_SIZE];

	memset(desk, 0, sizeof(*desk));
	rig_begin(&desk->rig, 0);
	desk->world = world;
	world->driver->handle(&site, handle);
	ck_assert(handle[0]);
	world->begin(&desk->rig, handle);
	world->be(&desk->rig, is);
	desk->cluster = world->driver->open(desk->rig.loop, handle, on_seen, desk);
}

static void
end(struct desk *desk)
{
	desk->world->driver->close(desk->cluster);
	desk->world->end();
	rig_end(&desk->rig);
}

static void
start(struct desk *desk, enum verb verb, const char *drained)
{
	const struct bu_cluster_driver *driver = desk->world->driver;
	struct bu_cluster_target target = {
		.member = {.name = "node001",
			   .address = "10.77.0.11",
			   .features = "gold",
			   .labels = "tier=gold"},
		.deadline_ms = verb == LEAVE ? 0 : 20000,
		.drained = drained,
		.words = on_words,
	};

	desk->ended = desk->returned = 0;
	desk->op = (verb == ISSUE   ? driver->issue
		    : verb == ADMIT ? driver->admit
		    : verb == LEAVE ? driver->leave
		    : verb == GATE
			    ? driver->gate
			    : driver->relabel)(desk->cluster, &target, on_end, desk);
	ck_assert_ptr_nonnull(desk->op);
	desk->returned = 1;
}

static void
start_accepted(struct desk *desk, const char *once, const char *prints)
{
	const struct bu_cluster_acceptance acceptance = {.command = "reduce",
							 .image = "site/reduce",
							 .least = 4,
							 .limit_ms = 60000,
							 .once = once};
	const struct bu_cluster_target target = {.member = {.name = "node001"},
						 .deadline_ms = 20000,
						 .acceptance = &acceptance,
						 .words = on_words};

	paper_cluster.prints = prints;
	desk->ended = desk->returned = 0;
	desk->op = desk->world->driver->admit(desk->cluster, &target, on_end, desk);
	desk->returned = 1;
}

static void
pass(struct desk *desk, int64_t ms)
{
	for (; ms > 0; ms -= 250) {
		rig_pass(&desk->rig, 250);
		desk->world->turn(&desk->rig);
	}
}

static void
until_ended(struct desk *desk)
{
	for (int i = 0; i < 300 && !desk->ended; i++)
		pass(desk, 250);
	ck_assert_int_eq(desk->ended, 1);
}

#define EACH_WORLD(desk, is)                                                           \
	struct world list_[WORLDS_MAX];                                                \
	size_t count_ = worlds(list_);                                                 \
	for (size_t at_ = 0; at_ < count_ && (begin(desk, &list_[at_], is), 1);        \
	     end(desk), at_++)

START_TEST(a_driver_says_what_it_is)
{
	struct world list[WORLDS_MAX];
	size_t count = worlds(list);

	for (size_t i = 0; i < count; i++) {
		ck_assert(list[i].driver->name[0]);
		ck_assert(list[i].driver->needs[0]);
	}
	for (size_t i = 0; bu_cluster_drivers[i]; i++)
		ck_assert_ptr_eq(bu_cluster_driver(bu_cluster_drivers[i]->name),
				 bu_cluster_drivers[i]);
	ck_assert_ptr_null(bu_cluster_driver("pbs"));
}
END_TEST

/* Of who makes one; an earlier one of the node is replaced. */
START_TEST(a_secret_is_made_for_each_join)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_UNKNOWN)
	{
		char first[sizeof(desk.secret)];

		if (!desk.world->driver->issue)
			continue;
		start(&desk, ISSUE, NULL);
		until_ended(&desk);
		ck_assert_msg(desk.err.kind == BU_ERR_NONE, "%s", desk.err.text);
		ck_assert(desk.secret[0]);
		memcpy(first, desk.secret, sizeof(first));
		start(&desk, ISSUE, NULL);
		until_ended(&desk);
		ck_assert_msg(desk.err.kind == BU_ERR_NONE, "%s", desk.err.text);
		ck_assert(desk.secret[0]);
		start(&desk, ISSUE, NULL);
		desk.world->driver->cancel(desk.op);
		pass(&desk, 2000);
		ck_assert_int_eq(desk.ended, 0);
	}
}
END_TEST

/* The same bytes each time; a secret is in files of the kind that only their owner
 * reads. */
START_TEST(its_client_is_a_function_of_what_it_is_told)
{
	static const char secret[] = "k3y-of-it\nand what goes with it\n";
	static const char key[] = "k3y-of-it";
	const struct bu_cluster_site site = {.name = "c",
					     .controller = "10.77.0.1:6817",
					     .conf = "/etc/paper.conf",
					     .key = "env:KEY",
					     .token = "env:KEY"};
	const struct bu_cluster_member member = {.name = "node001",
						 .address = "10.77.0.11"};
	struct world list[WORLDS_MAX];
	size_t count = worlds(list);

	for (size_t i = 0; i < count; i++) {
		struct bu_cluster_client a, b;
		struct bu_err err;

		for (struct bu_cluster_client *to = &a; to; to = to == &a ? &b : NULL)
			ck_assert_msg(list[i].driver->client(&site, &member, secret,
							     strlen(secret), to,
							     &err) == 0,
				      "%s", err.text);
		ck_assert_uint_gt(a.services_count, 0);
		ck_assert_uint_eq(a.files_count, b.files_count);
		for (size_t j = 0; j < a.files_count; j++) {
			const struct bu_work_file *file = &a.files[j];

			ck_assert_int_eq(file->path[0], '/');
			ck_assert_str_eq(file->path, b.files[j].path);
			ck_assert((file->content != NULL) !=
				  (file->content_hex != NULL));
			ck_assert_pstr_eq(file->content, b.files[j].content);
			if (file->content && strstr(file->content, key))
				ck_assert_int_eq(file->mode & 077, 0);
		}
		bu_cluster_client_fini(&a);
		bu_cluster_client_fini(&b);
	}
}
END_TEST

START_TEST(who_is_admitted_takes_work)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_OURS)
	{
		start(&desk, ADMIT, NULL);
		until_ended(&desk);
		ck_assert_msg(desk.err.kind == BU_ERR_NONE, "%s", desk.err.text);
		ck_assert_int_eq(desk.world->now(), PAPER_SERVES);
		start(&desk, ADMIT, NULL); /* it is there already */
		until_ended(&desk);
		ck_assert_int_eq(desk.err.kind, BU_ERR_NONE);
	}
}
END_TEST

/* Its job comes first; a silent cluster is waited for in the middle of it. */
START_TEST(who_is_not_accepted_takes_no_work)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_OURS)
	{
		start_accepted(&desk, "node001.12.join", "rate 3.5");
		until_ended(&desk);
		ck_assert_int_eq(desk.err.kind, BU_ERR_VERIFY);
		rig_text_has(desk.err.text, "3.5, at least 4");
		ck_assert_int_eq(desk.world->now(), PAPER_OURS);
		start_accepted(&desk, "node001.15.join", "rate 4.5");
		pass(&desk, 250);
		desk.world->silence(&desk.rig, 1);
		pass(&desk, 2000);
		desk.world->silence(&desk.rig, 0);
		until_ended(&desk);
		ck_assert_msg(desk.err.kind == BU_ERR_NONE, "%s", desk.err.text);
		ck_assert_int_eq(desk.world->now(), PAPER_SERVES);
	}
}
END_TEST

/* Whoever drained it resumes it; a drain in the log is made again. */
START_TEST(a_drain_of_somebody_else_stays)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_THEIRS)
	{
		const char *reason = desk.world->theirs;

		start(&desk, ADMIT, NULL);
		until_ended(&desk);
		ck_assert_int_eq(desk.err.kind, BU_ERR_NONE);
		rig_text_has(desk.detail, reason);
		ck_assert_int_eq(desk.world->now(), PAPER_THEIRS);
		start(&desk, LEAVE, NULL);
		until_ended(&desk);
		ck_assert_str_eq(desk.drained, reason);
		ck_assert_int_eq(desk.world->now(), PAPER_THEIRS);
		start(&desk, LEAVE, reason);
		until_ended(&desk);
		ck_assert_str_eq(desk.drained, "");
		ck_assert_int_eq(desk.world->now(), PAPER_UNKNOWN);
		desk.world->be(&desk.rig, PAPER_OURS);
		start(&desk, ADMIT, reason);
		until_ended(&desk);
		ck_assert_int_eq(desk.world->now(), PAPER_THEIRS);
	}
}
END_TEST

START_TEST(who_does_not_come_is_late)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_AWAY)
	{
		start(&desk, ADMIT, NULL);
		pass(&desk, 19000);
		ck_assert_int_eq(desk.ended, 0);
		until_ended(&desk);
		ck_assert_int_eq(desk.err.kind, BU_ERR_TIMEOUT);
		rig_text_has(desk.err.text, "node001");
		ck_assert_int_eq(desk.world->now(), PAPER_AWAY);
	}
}
END_TEST

START_TEST(who_leaves_lets_its_jobs_end_and_is_unknown_then)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_BUSY)
	{
		start(&desk, LEAVE, NULL);
		pass(&desk, 60000);
		ck_assert_int_eq(desk.ended, 0);
		ck_assert_int_eq(desk.world->now(), PAPER_LEAVING);
		rig_text_has(desk.words, desk.world->job);
		desk.world->be(&desk.rig, PAPER_OURS);
		until_ended(&desk);
		ck_assert_int_eq(desk.err.kind, BU_ERR_NONE);
		ck_assert_int_eq(desk.world->now(), PAPER_UNKNOWN);
		start(&desk, LEAVE, NULL); /* it is not there any more */
		until_ended(&desk);
		ck_assert_int_eq(desk.err.kind, BU_ERR_NONE);
	}
}
END_TEST

/* No answer is neither "left" nor an end. */
START_TEST(a_cluster_that_is_silent_is_waited_for)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_UNKNOWN)
	{
		desk.world->silence(&desk.rig, 1);
		start(&desk, LEAVE, NULL);
		desk.world->driver->observe(desk.cluster);
		pass(&desk, 60000);
		ck_assert_int_eq(desk.ended, 0);
		ck_assert(desk.words[0]);
		ck_assert_int_gt(desk.seen, 0);
		ck_assert_int_ne(desk.seen_err.kind, BU_ERR_NONE);
		desk.world->silence(&desk.rig, 0);
		until_ended(&desk);
		ck_assert_int_eq(desk.err.kind, BU_ERR_NONE);
	}
}
END_TEST

/* Of whoever may get work; a repetition changes nothing, and a join opens it again. */
START_TEST(who_is_gated_gets_no_work_until_it_is_admitted)
{
	static const struct {
		enum paper_is before, after;
	} rows[] = {
		{PAPER_SERVES, PAPER_OURS},   {PAPER_BUSY, PAPER_LEAVING},
		{PAPER_OURS, PAPER_OURS},     {PAPER_LEAVING, PAPER_LEAVING},
		{PAPER_THEIRS, PAPER_THEIRS}, {PAPER_UNKNOWN, PAPER_UNKNOWN},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct desk desk;

		EACH_WORLD(&desk, rows[i].before)
		{
			for (int times = 0; times < 2; times++) {
				start(&desk, GATE, NULL);
				until_ended(&desk);
				ck_assert_msg(desk.err.kind == BU_ERR_NONE, "%s",
					      desk.err.text);
				ck_assert_int_eq(desk.world->now(), rows[i].after);
			}
			if (rows[i].after != PAPER_OURS)
				continue;
			start(&desk, ADMIT, NULL);
			until_ended(&desk);
			ck_assert_int_eq(desk.world->now(), PAPER_SERVES);
		}
	}
}
END_TEST

/* It would be in service as soon as its machine is back. */
START_TEST(who_is_away_is_gated_too)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_AWAY)
	{
		start(&desk, GATE, NULL);
		until_ended(&desk);
		ck_assert_int_eq(desk.err.kind, BU_ERR_NONE);
		ck_assert(desk.world->gated(&desk.rig));
	}
}
END_TEST

START_TEST(a_gate_waits_for_a_silent_cluster_until_its_deadline)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_SERVES)
	{
		desk.world->silence(&desk.rig, 1);
		start(&desk, GATE, NULL);
		pass(&desk, 15000);
		ck_assert_int_eq(desk.ended, 0);
		ck_assert(desk.words[0]);
		until_ended(&desk);
		ck_assert_int_eq(desk.err.kind, BU_ERR_TIMEOUT);
		desk.world->silence(&desk.rig, 0);
		ck_assert_int_eq(desk.world->now(), PAPER_SERVES);
	}
}
END_TEST

START_TEST(labels_change_while_jobs_go_on)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_BUSY)
	{
		ck_assert(!desk.world->labelled(&desk.rig));
		start(&desk, RELABEL, NULL);
		until_ended(&desk);
		ck_assert_msg(desk.err.kind == BU_ERR_NONE, "%s", desk.err.text);
		ck_assert(desk.world->labelled(&desk.rig));
		ck_assert_int_eq(desk.world->now(), PAPER_BUSY);
		desk.world->be(&desk.rig, PAPER_UNKNOWN);
		start(&desk, RELABEL, NULL);
		until_ended(&desk);
		ck_assert_int_eq(desk.err.kind, BU_ERR_TIMEOUT);
	}
}
END_TEST

START_TEST(who_is_cancelled_is_silent_and_does_nothing_more)
{
	struct desk desk;

	EACH_WORLD(&desk, PAPER_BUSY)
	{
		start(&desk, LEAVE, NULL);
		desk.world->driver->cancel(desk.op);
		pass(&desk, 10000);
		ck_assert_int_eq(desk.ended, 0);
		ck_assert_int_eq(desk.world->now(), PAPER_BUSY);
	}
}
END_TEST

START_TEST(an_answer_tells_what_each_node_is)
{
	static const struct {
		enum paper_is is;
		int known, responds, jobs;
		enum bu_drain drain;
	} rows[] = {
		{PAPER_UNKNOWN, 0, 0, 0, BU_DRAIN_NONE},
		{PAPER_OURS, 1, 1, 0, BU_DRAIN_OURS},
		{PAPER_SERVES, 1, 1, 0, BU_DRAIN_NONE},
		{PAPER_BUSY, 1, 1, 1, BU_DRAIN_NONE},
		{PAPER_THEIRS, 1, 1, 0, BU_DRAIN_OTHER},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct desk desk;

		EACH_WORLD(&desk, rows[i].is)
		{
			desk.world->driver->observe(desk.cluster);
			pass(&desk, 1000);
			ck_assert_int_eq(desk.seen, 1);
			ck_assert_int_eq(desk.seen_err.kind, BU_ERR_NONE);
			ck_assert_uint_eq(desk.rows, (size_t)rows[i].known);
			ck_assert_int_eq(desk.fact.known, rows[i].known);
			ck_assert_int_eq(desk.fact.responds, rows[i].responds);
			ck_assert_int_eq(desk.fact.jobs, rows[i].jobs);
			ck_assert_int_eq((int)desk.fact.drain, (int)rows[i].drain);
		}
	}
}
END_TEST

RIG_UNIT("cluster_contract", a_driver_says_what_it_is, a_secret_is_made_for_each_join,
	 its_client_is_a_function_of_what_it_is_told, who_is_admitted_takes_work,
	 who_is_not_accepted_takes_no_work, a_drain_of_somebody_else_stays,
	 who_does_not_come_is_late, who_leaves_lets_its_jobs_end_and_is_unknown_then,
	 who_is_gated_gets_no_work_until_it_is_admitted, who_is_away_is_gated_too,
	 a_gate_waits_for_a_silent_cluster_until_its_deadline,
	 a_cluster_that_is_silent_is_waited_for, labels_change_while_jobs_go_on,
	 who_is_cancelled_is_silent_and_does_nothing_more,
	 an_answer_tells_what_each_node_is)
