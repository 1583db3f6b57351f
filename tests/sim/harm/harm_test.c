/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The harm oracle as a test: so many seeds, each in a process of its own. One that
 * breaks a rule is made shorter (steps are left out as long as the same rule breaks)
 * and printed.
 *
 * BRINGUP_SEED=N repeats one, BRINGUP_SEEDS=N runs many, from BRINGUP_FIRST on;
 * BRINGUP_RULES=view,job looks for these alone; BRINGUP_KEEP=1 goes on after a failure.
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/sim/harm/harm.h"

/* gcc says it by a macro of its own. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* A sanitizer costs ten times the time, and finds other things. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SEEDS = 30 };
#elif defined(__OPTIMIZE__)
enum { SEEDS = 300 };
#else
enum { SEEDS = 100 };
#endif
enum { FIRST = 1, PATIENCE_S = 60, LIMIT_S = 280, SLOW_MS = 2000 };

struct verdict {
	int broken;
	enum rule rule;
	int crashed;
	int written, loaded; /* systems, to disks and into memory */
	int lost, adopted;   /* appliances, and nodes by their stamps */
	long followed;       /* rows after which a second fleet was compared */
	int64_t ms;          /* simulated */
	int64_t cpu_ms;      /* that it took */
	char words[600];
};

static void
in_child(const struct script *script, const char *log_path, int fd)
{
	FILE *log = log_path ? fopen(log_path, "w") : NULL;
	struct verdict verdict = {0};

	signal(SIGALRM, SIG_DFL); /* Check has one that ends more than this */
	/* A busy machine is no endless loop. */
	setrlimit(RLIMIT_CPU, &(struct rlimit){PATIENCE_S, PATIENCE_S});
	alarm(PATIENCE_S * 10);
	run_script(script, log);
	if (log)
		fclose(log);
	verdict.broken = sim.broken;
	verdict.rule = sim.rule;
	verdict.ms = now_ms();
	verdict.written = sim.written;
	verdict.loaded = sim.loaded;
	verdict.lost = sim.lost;
	verdict.adopted = sim.adopted;
	verdict.followed = oracle_followed();
	verdict.cpu_ms = (int64_t)clock() * 1000 / CLOCKS_PER_SEC;
	memcpy(verdict.words, sim.words, sizeof(verdict.words));
	if (write(fd, &verdict, sizeof(verdict)) != (ssize_t)sizeof(verdict))
		_exit(1);
	_exit(0);
}

static void
run_one(const struct script *script, const char *log_path, struct verdict *ret)
{
	int fds[2], status = 0;
	pid_t child;
	bu_autofree char *dir = bu_xasprintf("%s/run-%d", sim.dir, (int)script->seed);

	memset(ret, 0, sizeof(*ret));
	bu_ignore(bu_remove_tree(dir, NULL));
	ck_assert_int_eq(pipe(fds), 0);
	fflush(stdout);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0)
		in_child(script, log_path, fds[1]);
	close(fds[1]);
	if (read(fds[0], ret, sizeof(*ret)) != (ssize_t)sizeof(*ret)) {
		memset(ret, 0, sizeof(*ret));
		ret->broken = ret->crashed = 1;
	}
	close(fds[0]);
	waitpid(child, &status, 0);
	if (ret->crashed)
		snprintf(ret->words, sizeof(ret->words),
			 "the process ended with status 0x%x", (unsigned)status);
	bu_ignore(bu_remove_tree(dir, NULL));
}

/* Without these steps; what came after them comes at the same time as before. */
static struct script
without(const struct script *script, int from, int count)
{
	struct script less = *script;
	int64_t lost_ms = 0;

	less.count = 0;
	for (int i = 0; i < script->count; i++) {
		if (i >= from && i < from + count) {
			lost_ms += script->steps[i].after_ms;
			continue;
		}
		less.steps[less.count] = script->steps[i];
		less.steps[less.count++].after_ms += lost_ms;
		lost_ms = 0;
	}
	return less;
}

static void
shorten(struct script *script, const struct verdict *wanted)
{
	for (int count = script->count / 2; count > 0; count /= 2) {
		for (int from = 0; from < script->count;) {
			struct script less = without(script, from, count);
			struct verdict verdict;

			run_one(&less, NULL, &verdict);
			if (verdict.broken && verdict.crashed == wanted->crashed &&
			    verdict.rule == wanted->rule)
				*script = less;
			else
				from += count;
		}
	}
}

static void
print_log(const char *path)
{
	bu_autofree char *text = bu_file_read(path, 0, NULL, NULL);

	if (text)
		fputs(text, stdout);
}

static void
report(struct script *script, struct verdict *verdict)
{
	bu_autofree char *path = bu_xasprintf("%s/log", sim.dir);
	int before = script->count;

	if (!getenv("BRINGUP_LONG"))
		shorten(script, verdict);
	run_one(script, path, verdict);
	printf("harm: BRINGUP_SEED=%u breaks rule %s (%d steps of %d are needed)\n",
	       script->seed, verdict->crashed ? "crash" : rule_name(verdict->rule),
	       script->count, before);
	for (int i = 0; i < script->count; i++)
		printf("    after %.3f s %s %u %u %u\n",
		       (double)script->steps[i].after_ms / 1000,
		       verb_name(script->steps[i].verb), script->steps[i].a,
		       script->steps[i].b, script->steps[i].c);
	print_log(path);
	printf("harm: BRINGUP_SEED=%u: %s: %s\n\n", script->seed,
	       verdict->crashed ? "crash" : rule_name(verdict->rule), verdict->words);
	fflush(stdout);
}

static unsigned int
number(const char *name, unsigned int fallback)
{
	const char *text = getenv(name);

	return text ? (unsigned int)strtoul(text, NULL, 10) : fallback;
}

/* Of three one has what is done in the middle of orders, and one another appliance. */
static unsigned int
nth(unsigned int first, unsigned int i)
{
	if (getenv("BRINGUP_SEED"))
		return first;
	return first + i / 3 + i % 3 * MIDDLE;
}

START_TEST(nothing_that_runs_is_harmed)
{
	unsigned int first = number("BRINGUP_SEED", number("BRINGUP_FIRST", FIRST));
	unsigned int count =
		getenv("BRINGUP_SEED") ? 1 : number("BRINGUP_SEEDS", SEEDS);
	int failed = 0, by_rule[RULE_COUNT + 1] = {0};
	int64_t ms = 0;
	int written = 0, loaded = 0, lost = 0, adopted = 0;
	long followed = 0;

	daemon_begin();
	for (unsigned int i = 0; i < count; i++) {
		struct script script;
		struct verdict verdict;
		int at;

		script_make(&script, nth(first, i));
		run_one(&script, getenv("BRINGUP_LOG"), &verdict);
		ms += verdict.ms;
		written += verdict.written;
		loaded += verdict.loaded;
		lost += verdict.lost;
		adopted += verdict.adopted;
		followed += verdict.followed;
		if (verdict.cpu_ms > SLOW_MS)
			printf("harm: BRINGUP_SEED=%u took %.1f s\n", script.seed,
			       (double)verdict.cpu_ms / 1000);
		if (!verdict.broken)
			continue;
		at = verdict.crashed ? RULE_COUNT : (int)verdict.rule;
		failed++;
		if (by_rule[at]++ < (int)number("BRINGUP_EACH", 1))
			report(&script, &verdict);
		else
			printf("harm: BRINGUP_SEED=%u: %s: %s\n", script.seed,
			       verdict.crashed ? "crash" : rule_name(verdict.rule),
			       verdict.words);
		if (failed >= (int)number("BRINGUP_KEEP", 1))
			break;
	}
	daemon_end();
	printf("harm: %u seeds, %.0f simulated hours, %d failed\n", count,
	       (double)ms / 3600000, failed);
	printf("harm: %d systems written to disks, %d into memory\n", written, loaded);
	printf("harm: %d appliances lost, %d nodes adopted\n", lost, adopted);
	printf("harm: who only follows was compared after %ld rows\n", followed);
	for (int i = 0; i <= RULE_COUNT; i++)
		if (by_rule[i])
			printf("harm: rule %s: %d\n",
			       i == RULE_COUNT ? "crash" : rule_name((enum rule)i),
			       by_rule[i]);
	fflush(stdout); /* a failed check leaves without it */
	ck_assert_int_eq(failed, 0);
	/* Nothing is harmed either where the daemon takes no plan. */
	ck_assert(count < SEEDS || (written > (int)count && loaded > (int)count / 2));
	ck_assert(count < SEEDS ||
		  (lost > (int)count / 6 && adopted > lost / (count < 100 ? 4 : 2)));
	ck_assert(count < SEEDS || followed > 100L * count);
}
END_TEST

/* --- what is no harm --- */

static void
breaks_nothing(const struct script *script)
{
	struct script copy = *script;
	struct verdict verdict;

	daemon_begin();
	run_one(script, getenv("BRINGUP_LOG"), &verdict);
	if (verdict.broken)
		report(&copy, &verdict);
	daemon_end();
	ck_assert_msg(!verdict.broken, "%s", verdict.words);
}

/* The BMCs of two rows are exchanged after both machines were forgotten: what is wiped
 * by a grant is what has the serial number and the MAC of its row. */
START_TEST(a_grant_is_for_the_machine_that_is_named)
{
	static const struct script script = {
		.nodes = 2,
		.bays = 2,
		.pools = 1,
		.clusters = 1,
		.steps = {{MINUTES(5), VERB_NODE_REPLACE, 0, 1, 0},
			  {MINUTES(3), VERB_SWAP_BMCS, 0, 1, 0},
			  {SECONDS(1), VERB_APPLY, 4, 0, 0},
			  {MINUTES(2), VERB_APPLY, 2, 0, 0}},
		.count = 4,
	};

	breaks_nothing(&script);
}
END_TEST

/* A row that could not be made safe may be in the log that a start reads. */
START_TEST(a_row_in_doubt_is_no_change_by_a_restart)
{
	static const struct script script = {
		.nodes = 2,
		.bays = 2,
		.pools = 1,
		.clusters = 1,
		.steps = {{SECONDS(10), VERB_DISK_FULL, 2, 150, 0},
			  {SECONDS(60), VERB_RESTART, 0, 0, 0}},
		.count = 2,
	};

	breaks_nothing(&script);
}
END_TEST

/* Power is not looked at between two commands of one boot, nor while an agent is
 * awaited. */
START_TEST(what_people_boot_within_a_boot_is_that_boot)
{
	static const struct script script = {
		.nodes = 2,
		.bays = 2,
		.pools = 1,
		.clusters = 1,
		.steps = {{1962, VERB_SWITCH_OFF, 0, 0, 0},
			  {SECONDS(2), VERB_FOREIGN_OS, 0, 0, 0}},
		.count = 2,
	};

	breaks_nothing(&script);
}
END_TEST

/* n03 becomes n04, and later n02 becomes n03, whose turn is not yet. */
START_TEST(a_name_that_a_rename_freed_is_given_again)
{
	struct script script;

	script_make(&script, 100420);
	breaks_nothing(&script);
	script_make(&script, 341079); /* of a node that was retired */
	breaks_nothing(&script);
	script_make(&script, 361605);
	breaks_nothing(&script);
}
END_TEST

/* slurmctld comes back, and in that second an administrator deletes the node. */
START_TEST(another_cause_has_its_own_time)
{
	struct script script;

	script_make(&script, 361326);
	breaks_nothing(&script);
}
END_TEST

/* It was taken out while bringup booted its bay, and comes back with its burn-in. */
START_TEST(who_comes_back_into_a_bay_is_not_reset)
{
	struct script script;

	script_make(&script, 401103);
	breaks_nothing(&script);
}
END_TEST

/* It was off, its row has a wrong MAC, and bringup's own boot ends on its disk. */
START_TEST(what_a_boot_itself_brought_up_is_booted_again)
{
	struct script script;

	script_make(&script, 757859);
	breaks_nothing(&script);
}
END_TEST

/* One is measured again, the machines of all others are off. */
START_TEST(who_waits_for_silent_partners_names_a_way)
{
	struct script script;

	script_make(&script, 750857);
	breaks_nothing(&script);
}
END_TEST

/* The last row of a power action is lost on a full disk. */
START_TEST(nobody_waits_for_a_power_action_that_ended)
{
	struct script script;

	script_make(&script, 362245);
	breaks_nothing(&script);
}
END_TEST

/* A node leaves the profile, held or draining for an order; a new row has its machine.
 */
START_TEST(who_left_the_profile_gives_its_machine_away)
{
	struct script script;

	script_make(&script, 352429);
	breaks_nothing(&script);
}
END_TEST

/* Out for a validation while its turn is to come: it joins as was applied. */
START_TEST(who_joins_before_its_turn_serves_what_was_applied)
{
	struct script script;

	script_make(&script, 362048);
	breaks_nothing(&script);
	script_make(&script, 410593); /* it was lost, and a change refused of it */
	breaks_nothing(&script);
	script_make(&script, 505979); /* it is renamed before its turn */
	breaks_nothing(&script);
	script_make(&script, 858207); /* out of its cluster, and back is refused */
	breaks_nothing(&script);
}
END_TEST

/* Of a row that was wrong twice, of two rows for one machine: what is right in the end
 * is taken. */
START_TEST(a_profile_that_was_mended_is_applied)
{
	struct script script;

	script_make(&script, 402775);
	breaks_nothing(&script);
	script_make(&script, 506498);
	breaks_nothing(&script);
}
END_TEST

/* What the words of a node ask a person for leads out. */
START_TEST(what_its_words_ask_for_leads_out)
{
	static const unsigned int seeds[] = {
		807633, /* behind the brake, before its turn */
		811335, /* the order named another machine's BMC */
		840380, /* what was to be kept is not on its disk */
	};
	struct script script;

	for (size_t i = 0; i < BU_LEN(seeds); i++) {
		script_make(&script, seeds[i]);
		breaks_nothing(&script);
	}
}
END_TEST

/* Its system is gone, or its boot was not done, within an order that boots nothing. */
START_TEST(who_is_silent_within_a_restart_is_rebooted)
{
	struct script script;

	script_make(&script, 413736);
	breaks_nothing(&script);
	script_make(&script, 503297);
	breaks_nothing(&script);
}
END_TEST

/* Nothing happens for long, and then slurmctld stops. */
START_TEST(who_is_awake_says_it_in_time)
{
	struct script script;

	script_make(&script, 416711);
	breaks_nothing(&script);
}
END_TEST

/* A machine goes while its agent writes the files of an order. */
START_TEST(an_agent_at_work_may_be_silent_until_its_deadline)
{
	struct script script;

	script_make(&script, 331809);
	breaks_nothing(&script);
}
END_TEST

/* Between the log that is restored and its end a node was retired; its machine runs on.
 */
START_TEST(who_was_retired_stays_out_of_an_older_log)
{
	static const struct script script = {
		.nodes = 3,
		.bays = 3,
		.pools = 1,
		.clusters = 1,
		.steps = {{MINUTES(5), VERB_RIGHT, 0, 0, 0},
			  {SECONDS(1), VERB_NODE_RETIRE, 0, 9, 2},
			  {MINUTES(4), VERB_OLD_LOG, 0, 0, 0}},
		.count = 3,
	};

	breaks_nothing(&script);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("harm");
	TCase *tcase = tcase_create("harm");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, nothing_that_runs_is_harmed);
	tcase_add_test(tcase, a_grant_is_for_the_machine_that_is_named);
	tcase_add_test(tcase, a_row_in_doubt_is_no_change_by_a_restart);
	tcase_add_test(tcase, what_people_boot_within_a_boot_is_that_boot);
	tcase_add_test(tcase, a_name_that_a_rename_freed_is_given_again);
	tcase_add_test(tcase, who_is_awake_says_it_in_time);
	tcase_add_test(tcase, an_agent_at_work_may_be_silent_until_its_deadline);
	tcase_add_test(tcase, another_cause_has_its_own_time);
	tcase_add_test(tcase, who_comes_back_into_a_bay_is_not_reset);
	tcase_add_test(tcase, what_a_boot_itself_brought_up_is_booted_again);
	tcase_add_test(tcase, who_waits_for_silent_partners_names_a_way);
	tcase_add_test(tcase, nobody_waits_for_a_power_action_that_ended);
	tcase_add_test(tcase, who_left_the_profile_gives_its_machine_away);
	tcase_add_test(tcase, who_joins_before_its_turn_serves_what_was_applied);
	tcase_add_test(tcase, what_its_words_ask_for_leads_out);
	tcase_add_test(tcase, a_profile_that_was_mended_is_applied);
	tcase_add_test(tcase, who_is_silent_within_a_restart_is_rebooted);
	tcase_add_test(tcase, who_was_retired_stays_out_of_an_older_log);
	tcase_set_timeout(tcase, getenv("BRINGUP_SEEDS") ? 0 : LIMIT_S); /* 0 = none */
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
