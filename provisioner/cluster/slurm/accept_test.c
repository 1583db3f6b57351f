/* SPDX-License-Identifier: Apache-2.0 */
/* Acceptances, step by step; accept_real_test.c has them in a real Slurm. */
#include <string.h>

#include "base/crypto.h"
#include "tests/support/slurm_desk.h"
#include "tests/support/unit.h"

#define ONCE "node001.12.join"
#define RESERVED(nodes, count)                                                         \
	"ReservationName=bringup_acceptance-node001 StartTime=x Nodes=" nodes          \
	" NodeCnt=" count " Users=root\n"
#define FREED "delete reservationname=bringup_acceptance-node001\n"

static struct bu_cluster_op *
accept_op(struct desk *desk, const char *node, struct ended *ended)
{
	static const struct bu_cluster_acceptance acceptance = {
		.command = "reduce", .least = 4, .limit_ms = 60000, .once = ONCE};
	const struct bu_cluster_target target = {.member.name = node,
						 .deadline_ms = 20000,
						 .acceptance = &acceptance,
						 .words = on_words};

	memset(ended, 0, sizeof(*ended));
	return slurm()->admit(desk->cluster, &target, on_end, ended);
}

/* state: "RUNNING|1|node001|None". */
static void
job_is(const struct desk *desk, const char *id, const char *state, const char *told)
{
	char hex[BU_DIGEST_SIZE];
	bu_autofree char *text = NULL;

	bu_sha256_hex(ONCE, strlen(ONCE), hex);
	text = bu_xasprintf("bringup|%s|%s|bringup %.8s%s\n", id, state, hex, told);
	rig_write(&desk->rig, "squeue", text);
}

static void
say_nothing(const struct desk *desk)
{
	rig_write(&desk->rig, "scontrol.log", "");
}

static void
tells(struct desk *desk, int64_t ms, const char *want)
{
	bu_autofree char *log = NULL;

	pass(desk, ms);
	log = told(desk);
	rig_text_has(log, want);
	say_nothing(desk);
}

static void
tells_not(struct desk *desk, int64_t ms, const char *never)
{
	bu_autofree char *log = NULL;

	pass(desk, ms);
	log = told(desk);
	ck_assert_ptr_null(strstr(log, never));
}

/* Each thing happens once what it needs is seen. */
START_TEST(nodes_that_join_together_get_one_job)
{
	struct desk desk;
	struct ended one, two;

	begin(&desk, "drained\n");
	accept_op(&desk, "node001", &one);
	accept_op(&desk, "node002", &two);
	tells_not(&desk, 15000, "create");
	tells(&desk, 10000,
	      "create reservation reservationname=bringup_acceptance-"
	      "node001 nodes=node001,node002 ");
	rig_write(&desk.rig, "reservations", RESERVED("node[001-002]", "2"));
	tells(&desk, 3000, "update nodename=node001,node002 state=resume\n");
	tells_not(&desk, 3000, "sbatch");
	rig_write(&desk.rig, "sinfo", "IDLE+MAINTENANCE\n");
	tells(&desk, 3000, " --nodelist=node001,node002 --nodes=2 ");
	job_is(&desk, "12", "RUNNING|2|node[001-002]|None", "");
	say_nothing(&desk);
	tells_not(&desk, 30000, "sbatch");
	rig_text_has(one.words, "job 12 is RUNNING");
	job_is(&desk, "12", "COMPLETED|2|node[001-002]|None", "; exit 0; MB/s 4.5");
	tells(&desk, 3000, FREED);
	ck_assert_int_eq(one.times + two.times, 0);
	rig_write(&desk.rig, "reservations", "No reservations in the system\n");
	rig_write(&desk.rig, "sinfo", "idle\n");
	until_ended(&desk, &one);
	until_ended(&desk, &two);
	ck_assert_int_eq(one.err.kind + two.err.kind, BU_ERR_NONE);
	ck_assert_str_eq(two.detail,
			 "acceptance: job 12 on node[001-002]: 4.5, at least 4");
	end(&desk);
}
END_TEST

/* As a daemon that was killed finds it; slurmctld, too, is away for a while. */
START_TEST(a_job_that_runs_already_is_followed)
{
	struct desk desk;
	struct ended ended;

	begin(&desk, "IDLE+MAINTENANCE\n");
	rig_write(&desk.rig, "reservations", RESERVED("node001", "1"));
	job_is(&desk, "12", "RUNNING|1|node001|None", "");
	accept_op(&desk, "node001", &ended);
	tells_not(&desk, 30000, "sbatch");
	rig_write(&desk.rig, "slurm.fail", "slurmctld is away\n");
	pass(&desk, 100000);
	ck_assert_int_eq(ended.times, 0);
	rig_remove(&desk.rig, "slurm.fail");
	job_is(&desk, "12", "COMPLETED|1|node001|None", "; exit 0; 5");
	tells(&desk, 20000, FREED);
	rig_write(&desk.rig, "reservations", "");
	until_ended(&desk, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	end(&desk);
}
END_TEST

/* Whoever is not good is drained before its reservation ends. */
START_TEST(a_job_that_is_not_good_keeps_its_node_out)
{
	static const struct {
		const char *state, *told, *words;
	} rows[] = {
		{"COMPLETED|1|node001|None", "; exit 0; 3.5", "3.5, at least 4"},
		{"COMPLETED|1|node001|None", "; exit 0; no rate", "printed no number"},
		{"COMPLETED|1|node001|None", "", "told nothing"},
		{"FAILED|1|node001|None", "; exit 3; no fabric 9",
		 "exit status 3: no fabric"},
		{"TIMEOUT|1|node001|None", "", "TIMEOUT"},
		{"NODE_FAIL|1|node001|None", "", "NODE_FAIL"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct desk desk;
		struct ended ended;

		begin(&desk, "IDLE+MAINTENANCE\n");
		rig_write(&desk.rig, "reservations", RESERVED("node001", "1"));
		job_is(&desk, "12", rows[i].state, rows[i].told);
		accept_op(&desk, "node001", &ended);
		tells(&desk, 3000, "state=drain reason=bringup: not accepted");
		tells_not(&desk, 3000, "delete");
		rig_write(&desk.rig, "sinfo", "IDLE+DRAIN+MAINTENANCE bringup: x\n");
		tells(&desk, 3000, FREED);
		rig_write(&desk.rig, "reservations", "");
		until_ended(&desk, &ended);
		ck_assert_int_eq(ended.err.kind, BU_ERR_VERIFY);
		rig_text_has(ended.err.text, rows[i].words);
		end(&desk);
	}
}
END_TEST

START_TEST(a_job_that_never_ends_is_cancelled)
{
	struct desk desk;
	struct ended ended;

	begin(&desk, "IDLE+MAINTENANCE\n");
	rig_write(&desk.rig, "reservations", RESERVED("node001", "1"));
	job_is(&desk, "12", "PENDING|1|node001|Resources", "");
	accept_op(&desk, "node001", &ended);
	tells_not(&desk, 180000, "scancel");
	tells(&desk, 30000, "scancel 12\n");
	job_is(&desk, "12", "CANCELLED|1|node001|None", "");
	rig_write(&desk.rig, "sinfo", "IDLE+DRAIN+MAINTENANCE bringup: x\n");
	rig_write(&desk.rig, "reservations", "");
	until_ended(&desk, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_VERIFY);
	rig_text_has(ended.err.text, "did not end in time: job 12 is PENDING "
				     "(Resources)");
	end(&desk);
}
END_TEST

/* Who cancels it says nothing of the node, unless that goes on. */
START_TEST(a_job_that_somebody_cancels_is_begun_anew_twice)
{
	struct desk desk;
	struct ended ended;

	begin(&desk, "IDLE+MAINTENANCE\n");
	rig_write(&desk.rig, "reservations", RESERVED("node001", "1"));
	accept_op(&desk, "node001", &ended);
	tells(&desk, 3000, "sbatch ");
	job_is(&desk, "12", "CANCELLED|1|node001|None", "");
	tells(&desk, 4000, "sbatch ");
	job_is(&desk, "13", "RUNNING|1|node001|None", "");
	pass(&desk, 2000);
	rig_write(&desk.rig, "squeue", "");
	say_nothing(&desk);
	tells(&desk, 4000, "sbatch ");
	job_is(&desk, "14", "CANCELLED|1|node001|None", "");
	tells(&desk, 4000, "state=drain");
	rig_write(&desk.rig, "sinfo", "IDLE+DRAIN+MAINTENANCE bringup: x\n");
	rig_write(&desk.rig, "reservations", "");
	until_ended(&desk, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_VERIFY);
	end(&desk);
}
END_TEST

/* A join that was called off, or whose profile wants no acceptance any more. */
START_TEST(who_leaves_or_joins_without_takes_its_job_along)
{
	static const enum verb verbs[] = {LEAVE, ADMIT};

	for (size_t i = 0; i < BU_LEN(verbs); i++) {
		struct desk desk;
		struct ended ended;

		begin(&desk, "IDLE+MAINTENANCE\n");
		rig_write(&desk.rig, "reservations", RESERVED("node001", "1"));
		job_is(&desk, "12", "RUNNING|1|node001|None", "");
		begin_op(desk.cluster, verbs[i], "node001", &ended);
		tells(&desk, 3000, "scancel 12\n");
		job_is(&desk, "12", "CANCELLED|1|node001|None", "");
		tells(&desk, 3000, FREED);
		tells_not(&desk, 1000, "state=drain");
		rig_write(&desk.rig, "reservations", "");
		rig_write(&desk.rig, "sinfo", verbs[i] == LEAVE ? "" : "idle\n");
		until_ended(&desk, &ended);
		ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
		end(&desk);
	}
}
END_TEST

/* Its others would get no work while it leaves, and work unaccepted afterwards. */
START_TEST(who_leaves_waits_until_the_others_are_drained)
{
	struct desk desk;
	struct ended leaves, stays;

	begin(&desk, "IDLE+MAINTENANCE\n");
	rig_write(&desk.rig, "reservations", RESERVED("node[001-002]", "2"));
	accept_op(&desk, "node001", &stays);
	begin_op(desk.cluster, LEAVE, "node002", &leaves);
	tells(&desk, 2000,
	      "update nodename=node001 state=drain reason=bringup: not "
	      "accepted\n");
	tells_not(&desk, 5000, "delete");
	rig_write(&desk.rig, "slurm.node001", "IDLE+DRAIN+MAINTENANCE bringup: x\n");
	tells(&desk, 5000, FREED);
	end(&desk);
}
END_TEST

/* Somebody's jobs run there: it was accepted before a crash, or by hand. */
START_TEST(a_node_that_works_already_is_left_at_it)
{
	struct desk desk;
	struct ended ended;

	begin(&desk, "mixed\n");
	accept_op(&desk, "node001", &ended);
	until_ended(&desk, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	ck_assert_told(&desk, "");
	end(&desk);
	begin(&desk, "idle\n");
	accept_op(&desk, "node001", &ended);
	tells(&desk, 3000, "state=drain");
	end(&desk);
}
END_TEST

START_TEST(a_node_that_an_administrator_drained_is_not_tried)
{
	struct desk desk;
	struct ended ended;

	begin(&desk, "IDLE+DRAIN DIMM A3\n");
	accept_op(&desk, "node001", &ended);
	until_ended(&desk, &ended);
	ck_assert_int_eq(ended.err.kind, BU_ERR_NONE);
	rig_text_has(ended.detail, "it stays drained by root: ");
	ck_assert_told(&desk, "");
	end(&desk);
}
END_TEST

RIG_UNIT("slurm_accept", nodes_that_join_together_get_one_job,
	 a_job_that_runs_already_is_followed, a_job_that_is_not_good_keeps_its_node_out,
	 a_job_that_never_ends_is_cancelled,
	 a_job_that_somebody_cancels_is_begun_anew_twice,
	 who_leaves_or_joins_without_takes_its_job_along,
	 who_leaves_waits_until_the_others_are_drained,
	 a_node_that_works_already_is_left_at_it,
	 a_node_that_an_administrator_drained_is_not_tried)
