/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between two nodes over NVLink, each played by processes of its own, against
 * the stand-in: what is good is measured at both ends, and each fault is told by the
 * end that has it. */
#include "checks/gpu/nvlink.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "model/work.h"
#include "tests/support/port.h"
#include "tests/support/unit.h"

static char folder[] = "/tmp/bringup-nvlink-XXXXXX";
static int port, least;
static int64_t deadline_ms;

/* How one end is played. */
struct end {
	const char *fault;  /* FAKEGPU; NULL = none */
	const char *clique; /* FAKECLIQUE; NULL = 1 */
	const char *board;  /* NULL = gb200 */
	int no_channel, absent;
	const char *secret; /* NULL = the right one */
};

static json_t *
item_of(int self, const struct end *end)
{
	static const char right[] = "a secret of this one probe";
	struct bu_work_probe work;

	bu_record_init(bu_work_probe_fields, &work);
	work.work = (struct bu_work){.kind = "probe", .id = "n-1", .attempt = 1};
	work.role = self ? BU_PROBE_LISTEN : BU_PROBE_CONNECT;
	work.port = port;
	work.runs = 3;
	work.deadline_ms = deadline_ms;
	strcpy(work.probe, "n-1");
	strcpy(work.node[0], "node001");
	strcpy(work.node[1], "node002");
	strcpy(work.self, work.node[self]);
	strcpy(work.addr, "127.0.0.1");
	strcpy(work.device, "nvlink");
	strcpy(work.secret, end->secret ? end->secret : right);
	return bu_record_to_json(bu_work_probe_fields, &work);
}

static json_t *
expect_of(int self, const struct end *end)
{
	json_t *expect = json_pack("{s:o,s:{s:i,s:i}}", "nvlink", item_of(self, end),
				   "gpu", "copy_bytes", 65536, "p2p_limit_gbs", 900);

	if (least)
		json_object_set_new(json_object_get(expect, "gpu"), "p2p_gbs",
				    json_integer(least));
	return expect;
}

/* In a process of its own: its rows are left in the folder. */
static void
play(int self, const struct end *end)
{
	bu_autofree char *libs = bu_xasprintf("%s/tests/support/libs", BU_BUILDDIR);
	bu_autofree char *root = bu_xasprintf("%s/root%d", folder, self);
	bu_autofree char *dev = bu_xasprintf("%s/dev/nvidia-caps-imex-channels", root);
	bu_autofree char *channel = bu_xasprintf("%s/channel0", dev);
	bu_autofree char *path = bu_xasprintf("%s/rows%d", folder, self);
	bu_autojson json_t *expect = expect_of(self, end);
	bu_autojson json_t *groups = json_pack("[s]", "nvlink");
	struct bu_checks_ctx ctx = {
		.root = root, .libs = libs, .expect = expect, .hurry = 0.1};
	struct bu_checks checks;

	if (!end->no_channel) {
		bu_ignore(bu_mkdir_p(dev, 0755, NULL));
		bu_ignore(bu_file_write_text(channel, 0600, NULL, "\n"));
	}
	setenv("FAKEGPU", end->fault ? end->fault : "", 1);
	setenv("FAKECLIQUE", end->clique ? end->clique : "1", 1);
	setenv("FAKEBOARD", end->board ? end->board : "gb200", 1);
	setenv("FAKEFABRIC", folder, 1);
	if (bu_checks_run(&ctx, groups, &checks, NULL) == 0) {
		bu_autojson json_t *rows = bu_checks_to_json(&checks);
		bu_autofree char *text = bu_json_canonical(rows);

		bu_ignore(bu_file_write_text(path, 0600, NULL, "%s", text));
	}
	_exit(0);
}

static void
take_rows(int self, struct bu_checks *ret)
{
	bu_autofree char *path = bu_xasprintf("%s/rows%d", folder, self);
	bu_autojson json_t *value = bu_json_load(path, NULL);

	ck_assert_msg(bu_checks_from_json(value, ret, NULL) == 0, "end %d", self);
}

/* Both at once; rows of an absent end are none. */
static void
run(const struct end ends[2], struct bu_checks ret[2])
{
	pid_t pids[2] = {0, 0};

	port = free_port();
	deadline_ms = deadline_ms ? deadline_ms : 60000;
	strcpy(folder + sizeof(folder) - 7, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (int i = 0; i < 2; i++) {
		bu_checks_init(&ret[i]);
		if (ends[i].absent)
			continue;
		pids[i] = fork();
		ck_assert_int_ge(pids[i], 0);
		if (pids[i] == 0)
			play(i, &ends[i]);
	}
	for (int i = 0; i < 2; i++) {
		int status;

		if (!pids[i])
			continue;
		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert_int_eq(status, 0);
		take_rows(i, &ret[i]);
	}
	bu_ignore(bu_remove_tree(folder, NULL));
}

static const struct bu_check *
row_of(const struct bu_checks *checks, const char *id, const char *subject)
{
	for (size_t i = 0; i < checks->count; i++)
		if (strcmp(checks->list[i].id, id) == 0 &&
		    strstr(checks->list[i].subject, subject))
			return &checks->list[i];
	return NULL;
}

static void
end_rows(struct bu_checks checks[2])
{
	for (int i = 0; i < 2; i++)
		bu_checks_fini(&checks[i]);
}

/* Each GPU with that of its number, in each direction and in both. */
START_TEST(good_ends_measure_each_gpu)
{
	const struct end ends[2] = {{0}, {0}};
	struct bu_checks checks[2];

	least = 671;
	run(ends, checks);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(checks[i].count, 8);
		for (size_t k = 0; k < checks[i].count; k++) {
			const struct bu_check *row = &checks[i].list[k];

			ck_assert_msg(row->verdict == BU_VERDICT_PASS, "%s", row->text);
			ck_assert_str_eq(row->group, "nvlink");
			ck_assert_str_eq(row->seen, "748.0 GB/s");
		}
		ck_assert_ptr_nonnull(row_of(&checks[i], "nvlink-rate",
					     i ? "GPU 3 to GPU 3 of node001"
					       : "GPU 3 to GPU 3 of node002"));
		ck_assert_ptr_nonnull(row_of(&checks[i], "nvlink-both", "GPU 0"));
		ck_assert_str_eq(row_of(&checks[i], "nvlink-rate", "GPU 0")->expected,
				 "at least 671.0 GB/s");
	}
	end_rows(checks);
}
END_TEST

/* Of one end alone; the other one has another word for it, or none. */
static const struct {
	struct end end;
	const char *id, *subject, *text;
	enum bu_verdict verdict;
	const char *peer_text; /* NULL = it has no row but good ones */
} faults[] = {
	{{.no_channel = 1},
	 "nvlink-imex",
	 "NVLink to node002",
	 "IMEX is not up here: no channel device, nvidia-imex does not run",
	 BU_VERDICT_WARN,
	 "node001: IMEX is not up here"},
	{{.fault = "imex"},
	 "nvlink-imex",
	 "GPU 3",
	 "share memory with the other node: CUDA_ERROR_NOT_PERMITTED: start "
	 "nvidia-imex",
	 BU_VERDICT_WARN,
	 "node001: share memory with the other node"},
	{{.fault = "imex-off"},
	 "nvlink-imex",
	 "GPU 3",
	 "share memory with the other node: CUDA_ERROR_NOT_SUPPORTED: the driver of "
	 "this node has no fabric handles",
	 BU_VERDICT_WARN,
	 "node001: share memory with the other node"},
	{{.fault = "handles"},
	 "nvlink-imex",
	 "NVLink to node002",
	 "GPU 0: the driver has no fabric handles for it",
	 BU_VERDICT_WARN,
	 "node001: GPU 0"},
	{{.board = "h100-hgx-8"},
	 "nvlink-domain",
	 "NVLink to node002",
	 "its GPUs are in no NVLink domain of several nodes",
	 BU_VERDICT_WARN,
	 "node001: its GPUs are in no"},
	{{.fault = "nvlink-slow"},
	 "nvlink-rate",
	 "GPU 3 to GPU 3 of node002",
	 "200.0 GB/s; expected at least 671.0 GB/s",
	 BU_VERDICT_WARN,
	 NULL},
	{{.fault = "cuda-memory"},
	 "nvlink-answers",
	 "GPU 3",
	 "prepare to copy: CUDA_ERROR_OUT_OF_MEMORY",
	 BU_VERDICT_WARN,
	 "node001: prepare to copy"},
	{{.fault = "hang:cuMemImportFromShareableHandle"},
	 "nvlink-answers",
	 "GPU 3",
	 "did not answer CUDA, to reach the other node's memory within 2 s",
	 BU_VERDICT_FAIL,
	 "node001: the peer closed the control connection"},
	{{.fault = "crash:cuMemMap"},
	 "nvlink-answers",
	 "GPU 3",
	 "Segmentation fault",
	 BU_VERDICT_FAIL,
	 "node001: the peer closed the control connection"},
};

static void
check_fault(size_t i)
{
	const struct end ends[2] = {faults[i].end, {0}};
	struct bu_checks checks[2];
	const struct bu_check *row;
	size_t bad;

	run(ends, checks);
	row = row_of(&checks[0], faults[i].id, faults[i].subject);
	ck_assert_msg(row && row->verdict == faults[i].verdict &&
			      strstr(row->text, faults[i].text),
		      "%zu: %s", i, row ? row->text : "no row");
	ck_assert_str_ne(row->hint, "");
	bad = checks[1].count - bu_checks_count(&checks[1], BU_VERDICT_PASS);
	ck_assert_uint_eq(bad, faults[i].peer_text != NULL);
	row = row_of(&checks[1], "nvlink-peer", "");
	if (faults[i].peer_text)
		ck_assert_msg(row && row->verdict == BU_VERDICT_INCONCLUSIVE &&
				      strstr(row->text, faults[i].peer_text),
			      "%zu: %s", i, row ? row->text : "no row");
	/* What is wrong with GPU 3 costs the GPUs before it nothing. */
	for (int k = 0; k < 6 && strncmp(faults[i].subject, "GPU 3", 5) == 0; k++) {
		bu_autofree char *name = bu_xasprintf("GPU %d", k / 2);

		ck_assert_ptr_nonnull(row_of(&checks[k % 2], "nvlink-rate", name));
	}
	end_rows(checks);
}

START_TEST(a_fault_is_told_by_the_end_that_has_it)
{
	least = 671;
	for (size_t i = 0; i < BU_LEN(faults); i++)
		check_fault(i);
}
END_TEST

/* The end that it was sent to sees it, and no rate is told of such a copy. */
START_TEST(changed_payload_is_seen_where_it_arrives)
{
	static const char *const kinds[] = {"nvlink-changed", "nvlink-lost",
					    "nvlink-late"};

	for (int from = 0; from < 2; from++)
		for (size_t i = 0; i < BU_LEN(kinds); i++) {
			struct end ends[2] = {{0}, {0}};
			struct bu_checks checks[2];
			const struct bu_check *row;

			ends[from].fault = kinds[i];
			run(ends, checks);
			row = row_of(&checks[!from], "nvlink-payload", "GPU 3");
			ck_assert_msg(row && row->verdict == BU_VERDICT_FAIL &&
					      strstr(row->text, " and on came as 0x"),
				      "%s", kinds[i]);
			ck_assert_ptr_null(row_of(&checks[from], "nvlink-payload", ""));
			ck_assert_ptr_nonnull(row_of(&checks[from], "nvlink-peer", ""));
			for (int k = 0; k < 2; k++) {
				ck_assert_ptr_null(
					row_of(&checks[k], "nvlink-rate", "GPU 3"));
				ck_assert_ptr_nonnull(
					row_of(&checks[k], "nvlink-rate", "GPU 2"));
			}
			end_rows(checks);
		}
}
END_TEST

/* Before any memory is shared, and by the driver where it is not seen before. */
START_TEST(another_clique_cannot_be_reached)
{
	const struct end ends[2] = {{.clique = "1"}, {.clique = "2"}};
	struct bu_checks checks[2];

	run(ends, checks);
	for (int i = 0; i < 2; i++) {
		const struct bu_check *row =
			row_of(&checks[i], "nvlink-domain", "NVLink to");

		ck_assert_uint_eq(checks[i].count, 1);
		ck_assert_ptr_nonnull(row);
		ck_assert_int_eq(row->verdict, BU_VERDICT_WARN);
		ck_assert_ptr_nonnull(strstr(row->text, i ? "000.2, node001 in abcd"
							  : "000.1, node002 in abcd"));
	}
	end_rows(checks);
}
END_TEST

/* The driver refuses a handle, though NVML names one clique. */
START_TEST(a_handle_that_is_refused_is_told)
{
	const struct end ends[2] = {{.fault = "nvlink-refused"}, {0}};
	struct bu_checks checks[2];
	const struct bu_check *row;

	run(ends, checks);
	row = row_of(&checks[0], "nvlink-answers", "GPU 3");
	ck_assert_ptr_nonnull(row);
	ck_assert_ptr_nonnull(strstr(row->text, "reach the other node's memory: "
						"CUDA_ERROR_INVALID_VALUE"));
	ck_assert_ptr_null(row_of(&checks[1], "nvlink-rate", "GPU 3"));
	end_rows(checks);
}
END_TEST

/* Without a published figure a rate is told and not judged; more than the links carry
 * is the instrument's fault. */
START_TEST(a_rate_without_a_figure_is_told)
{
	const struct end ends[2] = {{.fault = "nvlink-slow"}, {0}};
	struct bu_checks checks[2];

	least = 0;
	run(ends, checks);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(bu_checks_count(&checks[i], BU_VERDICT_PASS), 8);
		ck_assert_str_eq(row_of(&checks[i], "nvlink-rate", "GPU 3")->expected,
				 "no figure of this part; compared with its like");
	}
	end_rows(checks);
}
END_TEST

/* The other end does not come, or does not know the secret. */
START_TEST(an_end_alone_ends_in_time)
{
	static const struct end others[] = {
		{.absent = 1}, {.secret = "another one, as long as the first"}};

	for (size_t i = 0; i < BU_LEN(others); i++) {
		const struct end ends[2] = {others[i], {0}};
		struct bu_checks checks[2];
		const struct bu_check *row;

		deadline_ms = 2000;
		run(ends, checks);
		ck_assert_uint_eq(checks[1].count, 1);
		row = row_of(&checks[1], "nvlink-peer", "NVLink to node001");
		ck_assert_ptr_nonnull(row);
		ck_assert_int_eq(row->verdict, BU_VERDICT_INCONCLUSIVE);
		end_rows(checks);
	}
}
END_TEST

BU_UNIT("nvlink", good_ends_measure_each_gpu, a_fault_is_told_by_the_end_that_has_it,
	changed_payload_is_seen_where_it_arrives, another_clique_cannot_be_reached,
	a_handle_that_is_refused_is_told, a_rate_without_a_figure_is_told,
	an_end_alone_ends_in_time)
