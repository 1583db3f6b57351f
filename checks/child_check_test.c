/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever hangs or dies in a check is ended in time and named, and its agent lives. */
#include "checks/child_check.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/support/unit.h"

static char root[] = "/tmp/bringup-apart-XXXXXX";

/* Eight GPUs, as the kernel lists them. */
static void
build_machine(void)
{
	ck_assert_ptr_nonnull(mkdtemp(root));
	for (int i = 0; i < 8; i++) {
		bu_autofree char *dir = bu_xasprintf(
			"%s/sys/bus/pci/devices/0000:%02x:00.0", root, 0x18 + i);
		bu_autofree char *vendor = bu_xasprintf("%s/vendor", dir);
		bu_autofree char *class = bu_xasprintf("%s/class", dir);

		ck_assert_int_eq(bu_mkdir_p(dir, 0755, NULL), 0);
		ck_assert_int_eq(bu_file_write_text(vendor, 0644, NULL, "0x10de\n"), 0);
		ck_assert_int_eq(bu_file_write_text(class, 0644, NULL, "0x030200\n"),
				 0);
	}
}

static int calls; /* of the agent's own work while a group runs */

static int
alive(void *arg)
{
	calls++;
	return arg && calls > *(int *)arg;
}

/* The group gpu on a machine with this fault. */
static void
run_gpu(const char *fault, struct bu_checks *ret)
{
	bu_autojson json_t *groups = json_pack("[s]", "gpu");
	bu_autojson json_t *expect = json_pack("{s:{s:b,s:i,s:i}}", "gpu", "measure", 1,
					       "count", 8, "copy_bytes", 65536);
	bu_autofree char *libs = bu_xasprintf("%s/tests/support/libs", BU_BUILDDIR);
	struct bu_checks_ctx ctx = {.root = root,
				    .libs = libs,
				    .expect = expect,
				    .cancelled = alive,
				    .hurry = 0.02};
	struct bu_err err = {0};

	setenv("FAKEGPU", fault, 1);
	ck_assert_msg(bu_checks_run(&ctx, groups, ret, &err) == 0, "%s", err.text);
}

static const struct bu_check *
find(const struct bu_checks *checks, const char *id, const char *subject)
{
	for (size_t i = 0; i < checks->count; i++)
		if (strcmp(checks->list[i].id, id) == 0 &&
		    strcmp(checks->list[i].subject, subject) == 0)
			return &checks->list[i];
	return NULL;
}

static const char *const of_a_gpu[] = {
	"nvmlDeviceGetHandleByIndex_v2",
	"nvmlDeviceGetName",
	"nvmlDeviceGetPciInfo_v3",
	"nvmlDeviceGetMemoryInfo",
	"nvmlDeviceGetTotalEccErrors",
	"nvmlDeviceGetRemappedRows",
	"nvmlDeviceGetNvLinkState",
	"nvmlDeviceGetGpuFabricInfo",
	"nvmlDeviceGetMigMode",
	"cuDeviceGetPCIBusId",
	"cuDevicePrimaryCtxRetain",
	"cuCtxSetCurrent",
	"cuMemAlloc_v2",
	"cuMemHostAlloc",
	"cuStreamCreate",
	"cuEventCreate",
	"cuEventRecord",
	"cuEventSynchronize",
	"cuEventElapsedTime",
	"cuMemcpyHtoDAsync_v2",
	"cuMemcpyDtoHAsync_v2",
	"cuMemcpyDtoDAsync_v2",
	"cuMemcpyPeerAsync",
	"cuDeviceCanAccessPeer",
	"cuMemFree_v2",
	"cuDevicePrimaryCtxRelease_v2",
};

/* In a process of its own, so that the waits go side by side. */
static int
names_it(const char *mood, const char *call)
{
	bu_autofree char *fault = bu_xasprintf("%s:%s", mood, call);
	const char *library = strncmp(call, "cu", 2) == 0 ? "CUDA" : "NVML";
	bu_autofree char *hung = bu_xasprintf(
		"GPU 3 at 0000:1b:00.0 did not answer %s within 0.4 s", library);
	bu_autofree char *died = bu_xasprintf(
		"GPU 3 at 0000:1b:00.0: the process that asked %s died: Segmentation "
		"fault",
		library);
	int64_t start_ms = bu_mono_ms(bu_clock_system());
	const struct bu_check *row;
	struct bu_checks checks;
	int ok;

	run_gpu(fault, &checks);
	row = find(&checks, "gpu-answers", "GPU 3 at 0000:1b:00.0");
	ok = row && row->verdict == BU_VERDICT_FAIL && row->hint[0] &&
	     strcmp(row->text, *mood == 'h' ? hung : died) == 0 &&
	     bu_mono_ms(bu_clock_system()) - start_ms < 20000;
	if (!ok)
		printf("%s: %s\n", fault, row ? row->text : "no row");
	fflush(stdout);
	bu_checks_fini(&checks);
	return ok;
}

static int
count_good(const pid_t *pids, size_t count)
{
	int good = 0, status;

	for (size_t i = 0; i < count; i++) {
		waitpid(pids[i], &status, 0);
		good += status == 0;
	}
	return good;
}

static void
each_call(const char *mood)
{
	enum { AT_ONCE = 9 };
	pid_t pids[AT_ONCE];
	size_t running = 0;
	int good = 0;

	build_machine();
	for (size_t i = 0; i < BU_LEN(of_a_gpu); i++) {
		pids[running] = fork();
		if (pids[running++] == 0)
			_exit(!names_it(mood, of_a_gpu[i]));
		if (running == AT_ONCE || i + 1 == BU_LEN(of_a_gpu)) {
			good += count_good(pids, running);
			running = 0;
		}
	}
	ck_assert_int_eq(good, BU_LEN(of_a_gpu));
	bu_ignore(bu_remove_tree(root, NULL));
}

START_TEST(a_gpu_that_hangs_in_any_call_is_named_in_time)
{
	each_call("hang");
}
END_TEST

START_TEST(a_gpu_whose_driver_kills_the_process_is_named)
{
	each_call("crash");
}
END_TEST

START_TEST(a_library_that_never_starts_is_named_too)
{
	static const char *const of_the_library[] = {"hang:nvmlInit_v2", "hang:cuInit"};

	build_machine();
	for (size_t i = 0; i < BU_LEN(of_the_library); i++) {
		struct bu_checks checks;

		run_gpu(of_the_library[i], &checks);
		ck_assert_ptr_nonnull(find(&checks, "gpu-answers", "the GPU driver"));
		bu_checks_fini(&checks);
	}
	bu_ignore(bu_remove_tree(root, NULL));
}
END_TEST

/* What was seen before stays, and meanwhile the agent goes on answering. */
START_TEST(the_agent_lives_and_keeps_what_it_has_seen)
{
	struct bu_checks checks;

	build_machine();
	calls = 0;
	run_gpu("hang:cuMemcpyPeerAsync", &checks);
	ck_assert_int_ge(calls, 3);
	ck_assert_ptr_nonnull(find(&checks, "gpu-answers", "GPU 3 at 0000:1b:00.0"));
	bu_checks_fini(&checks);
	run_gpu("hang:nvmlDeviceGetName", &checks);
	ck_assert_ptr_nonnull(find(&checks, "gpu-h2d", "GPU 2 at 0000:1a:00.0"));
	bu_checks_fini(&checks);
	bu_ignore(bu_remove_tree(root, NULL));
}
END_TEST

/* All its copies together take longer than one may take to answer. */
START_TEST(a_slow_way_is_no_silence)
{
	const struct bu_check *row;
	struct bu_checks checks;

	build_machine();
	run_gpu("late", &checks);
	row = find(&checks, "gpu-answers", "GPU 3 at 0000:1b:00.0");
	ck_assert_ptr_nonnull(row);
	ck_assert_msg(row->verdict == BU_VERDICT_PASS, "%s", row->text);
	bu_checks_fini(&checks);
	bu_ignore(bu_remove_tree(root, NULL));
}
END_TEST

static int
stays_silent(const struct bu_checks_ctx *ctx, struct bu_checks *out, struct bu_err *err)
{
	return pause();
}

static int
is_killed(const struct bu_checks_ctx *ctx, struct bu_checks *out, struct bu_err *err)
{
	return raise(SIGKILL);
}

static int
fails(const struct bu_checks_ctx *ctx, struct bu_checks *out, struct bu_err *err)
{
	bu_checks_add(out, "audit", "seen", BU_VERDICT_PASS, "x");
	return bu_err_set(err, BU_ERR_IO, 0, "no such thing");
}

START_TEST(a_group_without_steps_ends_too)
{
	static const struct {
		bu_checks_fn fn;
		int cancel_after, deadline_ms, rc;
		enum bu_err_kind kind;
		const char *text;
	} rows[] = {
		{stays_silent, 2, 0, -1, BU_ERR_CANCELLED, "cancelled"},
		{stays_silent, 0, 1, BU_CHILD_CHECK_BROKEN, BU_ERR_TIMEOUT,
		 "the time ran out"},
		{is_killed, 0, 0, BU_CHILD_CHECK_BROKEN, BU_ERR_IO,
		 "their process died: Killed"},
		{fails, 0, 0, -1, BU_ERR_IO, "no such thing"},
	};

	for (size_t i = 0; i < BU_LEN(rows); i++) {
		int after = rows[i].cancel_after;
		struct bu_checks_ctx ctx = {.root = "",
					    .cancelled = alive,
					    .arg = after ? &after : NULL,
					    .deadline_ms = rows[i].deadline_ms};
		struct bu_checks checks;
		struct bu_err err = {0};

		calls = 0;
		bu_checks_init(&checks);
		ck_assert_int_eq(
			bu_child_check_run(&ctx, "audit", rows[i].fn, &checks, &err),
			rows[i].rc);
		ck_assert_int_eq(err.kind, rows[i].kind);
		ck_assert_str_eq(err.text, rows[i].text);
		ck_assert_uint_eq(checks.count, rows[i].fn == fails);
		bu_checks_fini(&checks);
	}
}
END_TEST

/* In the way of the linker's --wrap: as of processes that sleep in a driver. */
static int unkillable, naps;

int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number);
int
__wrap_kill(pid_t pid, int number)
{
	return unkillable ? 0 : __real_kill(pid, number);
}

int __real_usleep(useconds_t us);
int __wrap_usleep(useconds_t us);
int
__wrap_usleep(useconds_t us)
{
	naps++;
	return __real_usleep(us);
}

/* One that ends, and so many that do not: all are waited for at the same time. */
START_TEST(several_that_cannot_be_killed_cost_no_more_than_one)
{
	enum { COUNT = 4 };
	pid_t pids[COUNT + 1] = {0};
	unsigned char left[COUNT + 1];
	int of_one;

	for (int i = 0; i < COUNT; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			if (i > 0)
				pause();
			_exit(0);
		}
	}
	unkillable = 1;
	bu_child_check_end_all(&pids[1], 1, 0, left);
	ck_assert_int_eq(left[0], 1);
	of_one = naps;
	bu_child_check_end_all(pids, COUNT + 1, 0, left);
	ck_assert_int_eq(left[0], 0);
	for (int i = 1; i < COUNT; i++)
		ck_assert_int_eq(left[i], 1);
	ck_assert_int_eq(left[COUNT], 0);
	ck_assert_int_lt(naps - of_one, of_one + of_one / 2);
	unkillable = 0;
	bu_child_check_end_all(&pids[1], COUNT - 1, 0, left);
	for (int i = 0; i < COUNT - 1; i++)
		ck_assert_int_eq(left[i], 0);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

BU_UNIT("child_check", several_that_cannot_be_killed_cost_no_more_than_one,
	a_gpu_that_hangs_in_any_call_is_named_in_time,
	a_gpu_whose_driver_kills_the_process_is_named, a_slow_way_is_no_silence,
	a_library_that_never_starts_is_named_too,
	the_agent_lives_and_keeps_what_it_has_seen, a_group_without_steps_ends_too)
