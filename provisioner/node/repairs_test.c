/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster asks that a node be repaired: what is done, what is refused, what is
 * answered. The cluster's side is of paper. */
#include <string.h>

#include "provisioner/node/reconcile_impl.h"
#include "provisioner/node/verbs.h"
#include "tests/support/rig.h"
#include "tests/support/unit.h"

static struct rig rig;
static struct bu_node *node;
static struct bu_cluster_repair repair;
static char answers[1024], fault[512];

static void
repairs(struct bu_cluster *cluster, bu_cluster_repair_fn fn, void *arg)
{
	if (repair.id)
		fn(&repair, arg);
}

static void
answer(struct bu_cluster *cluster, const char *id, enum bu_cluster_verdict verdict,
       const char *code, const char *text)
{
	static const char *const verdicts[] = {"accepted", "repaired", "refused"};

	snprintf(answers, sizeof(answers), "%s %s %s %s", id, verdicts[verdict], code,
		 text);
	if (verdict == BU_CLUSTER_ACCEPTED)
		repair.accepted_ms =
			bu_wall_ms(bu_loop_clock(rig.loop)) / 1000 * 1000 + 1000;
	else
		repair.id = NULL;
}

static void
tell(struct bu_cluster *cluster, const char *name, const char *code, const char *text)
{
	ck_assert_str_eq(name, "node001");
	snprintf(fault, sizeof(fault), "%s", text ? text : "none");
}

static const struct bu_cluster_driver of_paper = {
	.name = "paper", .repairs = repairs, .answer = answer, .fault = tell};

static void
look(void)
{
	struct bu_joined of = *node->joined;

	if (!of.cluster[0])
		snprintf(of.handle, sizeof(of.handle), "away");
	bu_repairs_look(rig.rec, &of_paper, NULL, &of);
}

static void
pass_s(int seconds)
{
	for (int i = 0; i < seconds; i++)
		rig_pass(&rig, 990);
}

static int64_t
now(void)
{
	return bu_wall_ms(bu_loop_clock(rig.loop));
}

/* A ready node for 11 minutes, and a new request for it. */
static void
begin(void)
{
	answers[0] = '\0';
	node = rig_up_to(&rig, RIG_READY);
	pass_s(11 * 60);
	repair = (struct bu_cluster_repair){
		.id = "r1", .node = "node001", .created_ms = now()};
}

static void
answered(const char *text)
{
	ck_assert_msg(strncmp(answers, text, strlen(text)) == 0, "'%s', not '%s'",
		      answers, text);
}

/* Its machine restarts, is validated and joins. */
static void
come_again(void)
{
	rig_write(&rig, "sinfo", "");
	rig_until(&rig, node, BU_STATE_BOOTING);
	rig_come_up(&rig, 1, "boot-again");
	rig_join(&rig, 1);
	pass_s(2);
}

START_TEST(it_is_accepted_carried_out_once_and_answered)
{
	begin();
	look();
	answered("r1 accepted Accepted");
	ck_assert_int_eq(node->state, BU_STATE_READY);
	look();
	pass_s(1);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	ck_assert_int_eq(node->next->state, BU_STATE_BOOTING);
	rig_reason_says(&node->next->reason,
			"reboot by cluster hpc: ExternalRemediationRequest r1");
	ck_assert_str_eq(node->next->by, "cluster hpc");
	rig_restart(&rig); /* knows what it has begun */
	node = rig_node(&rig, 1);
	look();
	come_again();
	ck_assert_int_eq(node->state, BU_STATE_READY);
	look();
	answered("r1 repaired Validated");
	pass_s(2);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

START_TEST(who_may_not_be_repaired_is_refused_with_the_reason)
{
	const struct bu_verb_ask hold = {.verb = BU_VERB_HOLD,
					 .by = "anna",
					 .reason = "a card is changed",
					 .grant = "",
					 .op = ""};
	struct bu_joined other = {.cluster = "other", .driver = "x", .handle = "y"};
	bu_autofree char *text = NULL;
	struct bu_err err;

	begin();
	/* Of another cluster of the site. */
	bu_repairs_look(rig.rec, &of_paper, NULL, &other);
	answered("r1 refused NotInCluster");
	/* Older than the last time that it was validated, or than a day. */
	repair.id = "r2";
	repair.created_ms = node->since_ms - 1;
	look();
	answered("r2 refused Outdated node001 was validated after the request");
	repair.id = "r3";
	repair.created_ms = 1;
	look();
	answered("r3 refused Outdated the request for node001 is older than a day");
	/* Whoever says that it was accepted tomorrow does not get it each hour. */
	repair = (struct bu_cluster_repair){.id = "r4",
					    .node = "node001",
					    .created_ms = now(),
					    .accepted_ms = now() + 86400000};
	look();
	answered("r4 refused Outdated bringup did not accept the request");
	/* One of another site: somebody else may answer it. */
	answers[0] = '\0';
	repair = (struct bu_cluster_repair){
		.id = "r5", .node = "elsewhere", .created_ms = now()};
	look();
	answered("");
	text = bu_verb_run(rig.rec, node, &hold, &err);
	ck_assert_ptr_nonnull(text);
	pass_s(1);
	repair = (struct bu_cluster_repair){
		.id = "r6", .node = "node001", .created_ms = now()};
	look();
	answered("r6 refused HeldByPerson node001 is held by anna");
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

START_TEST(a_hold_after_the_acceptance_counts)
{
	const struct bu_verb_ask hold = {.verb = BU_VERB_HOLD,
					 .by = "anna",
					 .reason = "mine",
					 .grant = "",
					 .op = ""};
	bu_autofree char *text = NULL;
	struct bu_err err;

	begin();
	look();
	answered("r1 accepted");
	text = bu_verb_run(rig.rec, node, &hold, &err);
	pass_s(1);
	look();
	answered("r1 refused HeldByPerson");
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_is_not_repaired_again_within_minutes)
{
	begin();
	look();
	look();
	pass_s(1);
	come_again();
	look();
	answered("r1 repaired");
	answers[0] = '\0';
	pass_s(2);
	repair = (struct bu_cluster_repair){
		.id = "r2", .node = "node001", .created_ms = now()};
	look();
	answered("");
	/* Nor where others say that it was accepted. */
	repair.accepted_ms = now();
	look();
	pass_s(1);
	ck_assert_int_eq(node->state, BU_STATE_READY);
	repair.accepted_ms = 0;
	pass_s(10 * 60);
	look();
	answered("r2 accepted");
	rig_end(&rig);
}
END_TEST

START_TEST(a_node_that_does_not_come_back_is_answered_with_that)
{
	const struct bu_verb_ask drain = {.verb = BU_VERB_DRAIN,
					  .by = "anna",
					  .reason = "",
					  .grant = "",
					  .op = ""};
	struct bu_joined of;
	bu_autofree char *text = NULL;
	struct bu_err err;

	begin();
	of = *node->joined;
	look();
	look();
	pass_s(1);
	ck_assert_int_eq(node->state, BU_STATE_DRAINING);
	/* A person has it parked instead. */
	text = bu_verb_run(rig.rec, node, &drain, &err);
	ck_assert_msg(text != NULL, "%s", err.text);
	rig_write(&rig, "sinfo", "");
	rig_until(&rig, node, BU_STATE_PARKED);
	bu_repairs_look(rig.rec, &of_paper, NULL, &of);
	answered("r1 refused NotValidated node001 is parked");
	rig_end(&rig);
}
END_TEST

/* More of the pool than its profile allows are not out for requests. */
START_TEST(a_pool_gives_no_more_than_max_unavailable)
{
	rig_begin(&rig, 2);
	node = rig_node(&rig, 1);
	rig_to_validating(&rig, 1);
	rig_join(&rig, 1);
	pass_s(11 * 60);
	answers[0] = '\0';
	repair = (struct bu_cluster_repair){
		.id = "r1", .node = "node001", .created_ms = now()};
	look(); /* node002 is not ready */
	answered("");
	ck_assert_int_eq(node->state, BU_STATE_READY);
	rig_end(&rig);
}
END_TEST

START_TEST(what_bringup_finds_is_told_in_the_form_that_watchers_read)
{
	begin();
	repair.id = NULL;
	look();
	ck_assert_str_eq(fault, "none");
	rig.silent = 1U << 1;
	pass_s(40);
	look();
	ck_assert_str_eq(fault, "[unreachable] its agent does not answer - "
				"RecommendedAction: RESTART_BM");
	rig.silent = 0;
	pass_s(40);
	look();
	ck_assert_str_eq(fault, "none");
	rig_end(&rig);
}
END_TEST

RIG_UNIT("repairs", it_is_accepted_carried_out_once_and_answered,
	 who_may_not_be_repaired_is_refused_with_the_reason,
	 a_hold_after_the_acceptance_counts,
	 a_node_is_not_repaired_again_within_minutes,
	 a_node_that_does_not_come_back_is_answered_with_that,
	 a_pool_gives_no_more_than_max_unavailable,
	 what_bringup_finds_is_told_in_the_form_that_watchers_read)
