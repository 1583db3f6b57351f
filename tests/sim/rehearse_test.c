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

static void
check_model(int kind, int sprayed, int ignores_via, const char *wanted)
{
	char path[] = "/tmp/bu-rehearse-XXXXXX", kind_text[16], got[64] = "";
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
			NULL};
	int fd = mkstemp(path);
	ssize_t n;

	snprintf(kind_text, sizeof(kind_text), "%d", kind);
	ck_assert_int_eq(bu_cmd_fabric_rehearse(9, argv), 0);
	n = read(fd, got, sizeof(got) - 1);
	close(fd);
	ck_assert_int_gt(n, 0);
	unlink(path);
	ck_assert_msg(strcmp(got, wanted) == 0, "%s, sprayed %d, via %d: %s, not %s",
		      kind < 0 ? "clean" : sim_kind_name((enum sim_kind)kind), sprayed,
		      !ignores_via, got, wanted);
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

/* The plan promises LLDP and counters, the answers are null. */
START_TEST(a_model_that_has_less_than_it_says)
{
	setenv("MODEL_IS_BARE", "1", 1);
	check_model(SIM_LINK_RATE, 0, 0, "right 1");
	check_model(-1, 1, 0, "none");
	unsetenv("MODEL_IS_BARE");
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
	accuses_nobody_in_a_clean_fabric, a_model_that_has_less_than_it_says,
	models_that_misbehave)
