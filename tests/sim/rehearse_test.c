/* SPDX-License-Identifier: Apache-2.0 */
/* The rehearsal against the model beside it, and against models that misbehave. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/commands/commands.h"
#include "tests/sim/sim.h"
#include "tests/support/unit.h"

/* group: one group of nodes, whose rails reach each other (1) or do not (2). */
static void
check_group(int kind, int sprayed, int ignores_via, int group, const char *wanted)
{
	char path[] = "/tmp/bu-rehearse-XXXXXX", kind_text[16], group_text[16],
	     got[64] = "";
	char model[] = BU_BUILDDIR "/tests/sim/model";
	char *argv[] = {"rehearse",
			"--timeout",
			"30",
			"--model",
			model,
			path,
			kind_text,
			sprayed ? "1" : "0",
			ignores_via ? "1" : "0",
			group_text,
			NULL};
	int fd = mkstemp(path);
	ssize_t n;

	snprintf(kind_text, sizeof(kind_text), "%d", kind);
	snprintf(group_text, sizeof(group_text), "%d", group);
	ck_assert_int_eq(bu_cmd_fabric_rehearse(10, argv), 0);
	n = read(fd, got, sizeof(got) - 1);
	close(fd);
	ck_assert_int_gt(n, 0);
	unlink(path);
	ck_assert_msg(strcmp(got, wanted) == 0,
		      "%s, sprayed %d, via %d, group %d: %s, not %s",
		      kind < 0 ? "clean" : sim_kind_name((enum sim_kind)kind), sprayed,
		      !ignores_via, group, got, wanted);
}

static void
check_model(int kind, int sprayed, int ignores_via, const char *wanted)
{
	check_group(kind, sprayed, ignores_via, 0, wanted);
}

START_TEST(names_what_the_model_has)
{
	for (int kind = 0; kind < SIM_KINDS_COUNT; kind++) {
		check_model(kind, 0, 0, kind == SIM_SWAP ? "right 2" : "right 1");
		check_model(kind, 1, 0, kind == SIM_SWAP ? "right 2" : "right 1");
	}
}
END_TEST

START_TEST(a_model_that_picks_paths_itself)
{
	check_model(SIM_LINK_RATE, 0, 1, "right 1");
	check_model(SIM_PORT_RATE, 0, 1, "right 1");
}
END_TEST

START_TEST(accuses_nobody_in_a_clean_fabric)
{
	check_model(-1, 0, 0, "none");
	check_model(-1, 1, 0, "none");
	check_model(-1, 0, 1, "none");
}
END_TEST

/* Inside one group a rail never leaves its leaf: what is above shows across rails
 * alone, and only where the plan says that there is a way. */
START_TEST(links_of_one_group_show_across_rails)
{
	static const int above[] = {SIM_LINK_RATE, SIM_LINK_LOSS, SIM_SPINE_RATE};

	for (size_t i = 0; i < BU_LEN(above); i++) {
		for (int sprayed = 0; sprayed < 2; sprayed++)
			check_group(above[i], sprayed, 0, 1, "right 1");
		check_group(above[i], 0, 1, 1, "right 1");
		check_group(above[i], 0, 0, 2, "none");
	}
	for (int sprayed = 0; sprayed < 2; sprayed++) {
		check_group(SIM_PORT_RATE, sprayed, 0, 1, "right 1");
		check_group(SIM_LEAF_RATE, sprayed, 0, 1, "right 1");
		check_group(-1, sprayed, 0, 1, "none");
	}
	check_group(-1, 0, 1, 1, "none");
}
END_TEST

/* The plan promises LLDP and counters, the answers are null. */
START_TEST(a_model_that_has_less_than_it_says)
{
	setenv("MODEL_IS_BARE", "1", 1);
	check_model(SIM_LINK_RATE, 0, 0, "right 1");
	check_model(-1, 1, 0, "none");
	unsetenv("MODEL_IS_BARE");
}
END_TEST

/* Switches that run for months, of which few answer at a time. */
START_TEST(switches_that_do_not_always_answer)
{
	setenv("MODEL_IS_PATCHY", "1", 1);
	check_model(-1, 1, 0, "none");
	check_model(SIM_LINK_LOSS, 1, 0, "right 1");
	check_model(SIM_LINK_RATE, 1, 0, "right 1");
	unsetenv("MODEL_IS_PATCHY");
}
END_TEST

#define PLAN                                                                           \
	"read x; echo '{\"nodes\":4,\"rails\":1,\"leaves\":1,\"leaf_of\":[0,0,0,0],"   \
	"\"spines\":0,\"limit_gbps\":100,\"routing\":\"static\"}'; "

/* Ends within its deadline with the exit code of what went wrong. */
START_TEST(models_that_misbehave)
{
	static const struct {
		const char *script;
		enum bu_err_kind kind;
	} rows[] = {
		{"exit 0", BU_ERR_REMOTE},
		{"sleep 20", BU_ERR_TIMEOUT},
		{"read x; echo hello", BU_ERR_INVAL},
		{"read x; echo '{}'", BU_ERR_INVAL},
		{"read x; echo '{\"error\":\"no\"}'", BU_ERR_REMOTE},
		{PLAN "read x; echo '[]'", BU_ERR_INVAL},
		{PLAN "read x; echo '[1,2,3,4]'", BU_ERR_INVAL},
		{PLAN "read x; echo '[{\"rate_gbps\":-1},{},{},{}]'", BU_ERR_INVAL},
		{PLAN "read x; echo '[{\"rate_gbps\":\"fast\"},{},{},{}]'",
		 BU_ERR_INVAL},
		{PLAN "read x", BU_ERR_REMOTE},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		char *argv[] = {"rehearse",
				"--timeout",
				"1",
				"--model",
				"sh",
				"-c",
				(char *)rows[i].script,
				NULL};

		ck_assert_msg(bu_cmd_fabric_rehearse(7, argv) ==
				      bu_err_exit_code(rows[i].kind),
			      "%s", rows[i].script);
	}
}
END_TEST

BU_UNIT("rehearse", names_what_the_model_has, a_model_that_picks_paths_itself,
	links_of_one_group_show_across_rails, accuses_nobody_in_a_clean_fabric,
	a_model_that_has_less_than_it_says, switches_that_do_not_always_answer,
	models_that_misbehave)
