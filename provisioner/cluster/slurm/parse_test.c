/* SPDX-License-Identifier: Apache-2.0 */
/* Output of a real slurmctld 22.05, and what somebody may make of it. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "provisioner/cluster/slurm/parse.h"
#include "tests/support/unit.h"

static char *
golden(void)
{
	char *text = bu_file_read(BU_SRCDIR "/provisioner/cluster/slurm/show_node.txt",
				  0, NULL, NULL);

	ck_assert_ptr_nonnull(text);
	return text;
}

START_TEST(real_states_are_read)
{
	static const struct {
		const char *name;
		int responds, down, jobs, invalid;
		enum bu_drain drain;
		const char *reason, *by;
	} want[] = {
		{"idle", 1, 0, 0, 0, BU_DRAIN_NONE, "", ""},
		/* by slurmd's --conf */
		{"registered", 1, 0, 0, 0, BU_DRAIN_OURS, "", ""},
		{"odd-reason", 1, 0, 0, 0, BU_DRAIN_OTHER, "DIMM A3  State=IDLE x",
		 "root"},
		{"two-lines", 1, 0, 0, 0, BU_DRAIN_OTHER, "line one", "root"},
		{"mixed", 1, 0, 1, 0, BU_DRAIN_NONE, "", ""},
		{"leaving", 1, 0, 1, 0, BU_DRAIN_OURS, "bringup: leaves the cluster",
		 "root"},
		{"left", 1, 0, 0, 0, BU_DRAIN_OURS, "bringup: leaves the cluster",
		 "root"},
		{"down", 1, 0, 0, 0, BU_DRAIN_OTHER, "psu", "root"},
		{"fail", 1, 0, 0, 0, BU_DRAIN_OTHER, "weak", "root"},
		/* slurmctld's own word for a node that is away */
		{"dead", 0, 1, 0, 0, BU_DRAIN_OURS, "Not responding", "root"},
		{"drained-dead", 0, 1, 0, 0, BU_DRAIN_OTHER, "DIMM A3", "root"},
		{"invalid", 1, 1, 0, 1, BU_DRAIN_OTHER,
		 "gres/gpu count reported lower than configured (0 < 8)", "root"},
		{"reserved", 1, 0, 0, 0, BU_DRAIN_NONE, "", ""},
		{"maint", 1, 0, 0, 0, BU_DRAIN_NONE, "", ""},
		{"cloudy", 0, 1, 0, 0, BU_DRAIN_NONE, "", ""},
	};
	bu_autofree char *text = golden();
	bu_autofree struct bu_cluster_row *rows = NULL;
	struct bu_err err = {0};
	size_t count;

	ck_assert_msg(bu_slurm_parse(text, &rows, &count, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(count, BU_LEN(want));
	for (size_t i = 0; i < BU_LEN(want); i++) {
		const struct bu_cluster_row *row =
			bu_slurm_find(rows, count, want[i].name);

		ck_assert_msg(row != NULL, "%s", want[i].name);
		ck_assert_int_eq(row->fact.known, 1);
		ck_assert_msg(row->fact.responds == want[i].responds &&
				      row->fact.down == want[i].down &&
				      row->fact.jobs == want[i].jobs &&
				      row->invalid == want[i].invalid &&
				      row->fact.drain == want[i].drain,
			      "%s: responds %d, down %d, jobs %d, invalid %d, drain %d",
			      want[i].name, row->fact.responds, row->fact.down,
			      row->fact.jobs, row->invalid, (int)row->fact.drain);
		ck_assert_str_eq(row->fact.reason, want[i].reason);
		ck_assert_str_eq(row->fact.by, want[i].by);
	}
	ck_assert_ptr_null(bu_slurm_find(rows, count, "nosuch"));
	ck_assert_str_eq(bu_slurm_find(rows, count, "maint")->fact.state,
			 "IDLE+DYNAMIC_NORM+MAINTENANCE+RESERVED");
}
END_TEST

START_TEST(features_are_read)
{
	bu_autofree char *text = golden();
	bu_autofree struct bu_cluster_row *rows = NULL;
	const struct bu_cluster_row *row;
	size_t count;

	ck_assert_int_eq(bu_slurm_parse(text, &rows, &count, NULL), 0);
	row = bu_slurm_find(rows, count, "idle");
	ck_assert_uint_eq(row->features_size, 3);
	ck_assert_int_eq(strncmp(row->features, "a,b", 3), 0);
	ck_assert_uint_eq(bu_slurm_find(rows, count, "registered")->features_size, 0);
}
END_TEST

#define LINE(name, state)                                                              \
	"NodeName=" name " CPUAlloc=0 State=" state " ThreadsPerCore=1"

/* A node that is missing would be taken for one that has left. */
START_TEST(half_an_answer_is_none)
{
	static const char *const rows[] = {
		"",
		"\n\nfoo\n",
		"slurm_load_node error\n",
		LINE("a", "IDLE"), /* cut: no end of the line */
		LINE("a", "IDLE") "\nNodeName=b CPUAll",
		LINE("a", "IDLE") "\nState=IDLE\n",
		"NodeName= CPUAlloc=0 State=IDLE ThreadsPerCore=1\n",
		("NodeName=a12345678901234567890123456789012345678901234567890123456789"
		 "01234 CPUAlloc=0\n"),
		"No nodes in the system\nmore\n",
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_cluster_row *found = NULL;
		struct bu_err err = {0};
		size_t count;

		ck_assert_msg(bu_slurm_parse(rows[i], &found, &count, &err) == -1,
			      "'%s'", rows[i]);
		ck_assert_int_eq(err.kind, BU_ERR_REMOTE);
	}
}
END_TEST

START_TEST(an_empty_cluster_is_an_answer)
{
	struct bu_cluster_row *rows = NULL;
	size_t count = 7;

	ck_assert_int_eq(
		bu_slurm_parse("No nodes in the system\n", &rows, &count, NULL), 0);
	ck_assert_uint_eq(count, 0);
	ck_assert_ptr_null(bu_slurm_find(rows, count, "a"));
	free(rows);
}
END_TEST

/* An answer that cannot be read is neither idle nor free of jobs nor drained. */
START_TEST(odd_states_are_not_taken_for_good_ones)
{
	static const struct {
		const char *line;
		int responds, jobs;
		enum bu_drain drain;
	} rows[] = {
		{LINE("a", "PARTYING"), 0, 0, BU_DRAIN_NONE},
		{LINE("a", "DRAIN"), 0, 0, BU_DRAIN_NONE},
		{LINE("a", "idle"), 0, 0, BU_DRAIN_NONE},
		{LINE("a", "IDLEX"), 0, 0, BU_DRAIN_NONE},
		{LINE("a", "IDLE*"), 0, 0, BU_DRAIN_NONE},
		{LINE("a", "IDLE*+DRAIN"), 0, 0, BU_DRAIN_OURS},
		{LINE("a", "IDLE+NEWFLAG+COMPLETING"), 1, 1, BU_DRAIN_NONE},
		{"NodeName=a CPUAlloc=x State=IDLE ThreadsPerCore=1", 1, 1,
		 BU_DRAIN_NONE},
		{"NodeName=a CPUAlloc=12 State=IDLE ThreadsPerCore=1", 1, 1,
		 BU_DRAIN_NONE},
		{"NodeName=a State=IDLE ThreadsPerCore=1", 1, 1, BU_DRAIN_NONE},
		{"NodeName=a CPUAlloc=0 OS=a State=IDLE b State=DOWN ThreadsPerCore=1",
		 1, 0, BU_DRAIN_OURS},
		{"NodeName=a CPUAlloc=0", 0, 1, BU_DRAIN_NONE},
		{LINE("a", "IDLE+DRAIN") " Reason=not [bringup: x [me@now]", 1, 0,
		 BU_DRAIN_OTHER},
		/* DRAIN is somebody's will, also with words like slurmctld's */
		{LINE("a", "IDLE+DRAIN") " Reason=Not responding "
					 "[me@2026-11-22T09:25:18]",
		 1, 0, BU_DRAIN_OTHER},
		{LINE("a", "IDLE+DRAIN") " Reason=Not responding to IPMI "
					 "[root@2026-11-22T09:25:18]",
		 1, 0, BU_DRAIN_OTHER},
		{LINE("a", "IDLE+DRAIN") " Reason=Kill task failed "
					 "[root@2026-11-22T09:25:18]",
		 1, 0, BU_DRAIN_OTHER},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_xasprintf("%s\n", rows[i].line);
		bu_autofree struct bu_cluster_row *found = NULL;
		size_t count;

		ck_assert_int_eq(bu_slurm_parse(text, &found, &count, NULL), 0);
		ck_assert_msg(found->fact.responds == rows[i].responds &&
				      found->fact.jobs == rows[i].jobs &&
				      found->fact.drain == rows[i].drain,
			      "%s: responds %d, jobs %d, drain %d", rows[i].line,
			      found->fact.responds, found->fact.jobs,
			      (int)found->fact.drain);
	}
}
END_TEST

/* As slurmctld 22.05 writes them in a round trip of its power saving. */
START_TEST(it_is_read_which_node_is_powered_down)
{
	static const struct {
		const char *line;
		int sleeps, down;
		enum bu_drain drain;
	} rows[] = {
		{LINE("a", "IDLE+DYNAMIC_NORM"), 0, 0, BU_DRAIN_NONE},
		{LINE("a", "IDLE+DYNAMIC_NORM+POWERING_DOWN"), 1, 1, BU_DRAIN_NONE},
		{LINE("a", "IDLE+DYNAMIC_NORM+POWERED_DOWN"), 1, 1, BU_DRAIN_NONE},
		{LINE("a", "MIXED+DYNAMIC_NORM+NOT_RESPONDING+POWERING_UP"), 0, 1,
		 BU_DRAIN_NONE},
		{LINE("a", "MIXED+DYNAMIC_NORM+REBOOT_REQUESTED"), 0, 0, BU_DRAIN_NONE},
		{LINE("a",
		      "DOWN+DYNAMIC_NORM+REBOOT_ISSUED") " Reason=reboot issued [root@2026-11-22T09:25:18]",
		 0, 0, BU_DRAIN_OTHER},
		/* The wait ends when the node is back. */
		{LINE("a",
		      "DOWN+DYNAMIC_NORM+NOT_RESPONDING") " Reason=ResumeTimeout reached [root@2026-11-22T09:25:18]",
		 0, 1, BU_DRAIN_OURS},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_xasprintf("%s\n", rows[i].line);
		bu_autofree struct bu_cluster_row *found = NULL;
		size_t count;

		ck_assert_int_eq(bu_slurm_parse(text, &found, &count, NULL), 0);
		ck_assert_msg(
			found->fact.sleeps == rows[i].sleeps &&
				found->fact.down == rows[i].down &&
				found->fact.drain == rows[i].drain &&
				found->fact.reboots ==
					(strstr(rows[i].line, "REBOOT_ISSUED") != NULL),
			"%s: sleeps %d, down %d, drain %d", rows[i].line,
			found->fact.sleeps, found->fact.down, (int)found->fact.drain);
	}
}
END_TEST

/* Names of a directory have an "@", and a node may have a comment. */
START_TEST(a_reason_ends_at_its_stamp)
{
	static const struct {
		const char *said, *by, *reason;
	} rows[] = {
		{"DIMM B2 replace [alice@corp.example.net@2026-11-02T10:00:00] "
		 "Comment=ticket 4711",
		 "alice@corp.example.net", "DIMM B2 replace"},
		{"DIMM B2 [root@2026-11-02T10:00:00] Extra=x Comment=see "
		 "[bob@2026-11-03T10:00:00]",
		 "root", "DIMM B2"},
		{"fan [left] bob@example.net [bob@2026-11-02T10:00:00]", "bob",
		 "fan [left] bob@example.net"},
		{"fan Comment=ticket 4711", "", "fan"},
		{"fan", "", "fan"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *text = bu_xasprintf(
			"%s Reason=%s\n", LINE("a", "IDLE+DRAIN"), rows[i].said);
		bu_autofree struct bu_cluster_row *found = NULL;
		size_t count;

		ck_assert_int_eq(bu_slurm_parse(text, &found, &count, NULL), 0);
		ck_assert_str_eq(found->fact.by, rows[i].by);
		ck_assert_str_eq(found->fact.reason, rows[i].reason);
	}
}
END_TEST

/* One that slurmd's --conf drained and that died: slurmctld 22.05 keeps no reason from
 * there, and writes its own; an administrator's it keeps. */
START_TEST(a_drain_of_ours_is_ours_after_slurmctld_names_it)
{
	static const char *const rows[] = {
		LINE("a", "DOWN+DRAIN+DYNAMIC_NORM+NOT_RESPONDING") " Reason=Not "
								    "responding ",
		LINE("a", "IDLE+DRAIN+DYNAMIC_NORM") " Reason=Not responding ",
		LINE("a",
		     "IDLE+DRAIN+DYNAMIC_NORM") " Reason=Node unexpectedly rebooted ",
	};

	for (size_t i = 0; i < BU_LEN(rows) * 2; i++) {
		bu_autofree char *text =
			bu_xasprintf("%s[%s@2026-11-22T16:15:46]\n", rows[i / 2],
				     i % 2 ? "root" : "slurm");
		bu_autofree struct bu_cluster_row *found = NULL;
		size_t count;

		ck_assert_int_eq(bu_slurm_parse(text, &found, &count, NULL), 0);
		ck_assert_msg(found->fact.drain == BU_DRAIN_OURS, "%s", text);
	}
}
END_TEST

START_TEST(lists_of_names_are_searched)
{
	static const struct {
		const char *list, *name;
		int has;
	} rows[] = {
		{"", "a", 0},
		{"a", "a", 1},
		{"a", "ab", 0},
		{"ab", "a", 0},
		{"a,b", "b", 1},
		{"gpu[001-004,7],login", "gpu003", 1},
		{"gpu[001-004,7],login", "gpu7", 1},
		{"gpu[001-004,7],login", "gpu03", 0},
		{"gpu[001-004,7],login", "gpu005", 0},
		{"gpu[001-004,7],login", "login", 1},
		{"gpu[1-12]", "gpu9", 1},
		{"gpu[1-12]", "gpu12", 1},
		{"gpu[1-12]", "gpu012", 0},
		{"gpu[1-12]", "gpu13", 0},
		{"r[1-2]n[01-02]", "r2n01", 1},
		{"r[1-2]n[01-02]", "r2n03", 0},
		{"n[1-3]-ib", "n2-ib", 1},
		{"n[1-3]-ib", "n2", 0},
		{"a[1][1][1][1]", "a1111", 1},
		{"a[1][1][1][1]", "b", 0},
		/* cannot be read: it may have any */
		{"gpu[001-", "gpu009", 1},
		{"gpu[x]", "gpu009", 1},
		{"gpu[1-x]", "gpu009", 1},
		{"gpu[]", "gpu009", 1},
		/* no number of Slurm's is so long */
		{"gpu[1-3]", "gpu0000000000000000000000000000000000000001", 0},
		{"a[1][1][1][1][1]", "b", 1},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++)
		ck_assert_msg(bu_slurm_list_has(rows[i].list, strlen(rows[i].list),
						rows[i].name) == rows[i].has,
			      "%s in %s", rows[i].name, rows[i].list);
}
END_TEST

/* Bytes of the real answer are changed, cut and doubled: it is read or refused. */
START_TEST(garbled_answers_are_read_or_refused)
{
	bu_autofree char *text = golden();
	size_t size = strlen(text);
	unsigned int seed = 1;
	int read = 0;

	for (int i = 0; i < 4000; i++) {
		bu_autofree char *garbled = bu_xstrndup(text, size);
		bu_autofree struct bu_cluster_row *rows = NULL;
		size_t count;

		for (int k = rand_r(&seed) % 6; k >= 0; k--)
			garbled[(size_t)rand_r(&seed) % size] =
				" =+[]@,\nNRS\x80"[rand_r(&seed) % 12];
		if (i % 3 == 0)
			garbled[(size_t)rand_r(&seed) % size] = '\0';
		if (bu_slurm_parse(garbled, &rows, &count, NULL) != 0)
			continue;
		read++;
		for (size_t k = 0; k < count; k++)
			bu_slurm_list_has(rows[k].fact.reason,
					  strlen(rows[k].fact.reason), "gpu1");
	}
	ck_assert_int_gt(read, 100);
}
END_TEST

BU_UNIT("slurm_parse", real_states_are_read, features_are_read, half_an_answer_is_none,
	an_empty_cluster_is_an_answer, odd_states_are_not_taken_for_good_ones,
	it_is_read_which_node_is_powered_down, a_reason_ends_at_its_stamp,
	a_drain_of_ours_is_ours_after_slurmctld_names_it, lists_of_names_are_searched,
	garbled_answers_are_read_or_refused)
