/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host checks of CPUs, memory and clock. Called by the runner of checks. Invariant:
 * what is loaded is loaded for a bounded time and ends when the checks are cancelled.
 */
#include "checks/host/host.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/sysroot.h"
#include "base/text.h"
#include "checks/host/host_impl.h"
#include "checks/host/host_load.h"

enum {
	LOAD_MS = 1500, /* of CPUs, and of memory */
	MEMORY_LOAD_MAX_MIB = 4096,
	CPU_PERCENT = 80,
	CLOCK_OFFSET_US = 1000,
	CORRECTED_A_DAY = 10,
	DAY_S = 24 * 60 * 60,
	STEP_MS = 60000,
};

static int
on_tick(void *arg)
{
	return bu_checks_stop(arg);
}

/* --- CPUs --- */

static void
check_cpu_online(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	const json_t *hardware = json_object_get(ctx->expect, "hardware");
	int64_t least = bu_json_int(hardware, "cpus", 0);
	cpu_set_t cpus;
	int online;
	char seen[24], expected[40];

	bu_sysroot_cpus(ctx->root, &cpus, "sys/devices/system/cpu/online");
	online = CPU_COUNT(&cpus);
	if (!least || !online)
		return;
	snprintf(seen, sizeof(seen), "%d", online);
	snprintf(expected, sizeof(expected), "at least %lld", (long long)least);
	bu_host_add(out, "cpu-online",
		    online < least ? BU_VERDICT_FAIL : BU_VERDICT_PASS, "", seen,
		    expected);
}

struct cpus {
	const char *root;
	cpu_set_t idle; /* isolated from what we may load: at rest by intent */
	double slowest_percent;
	char slowest[16];
	int64_t throttled; /* sum of all counters */
	int frequencies, counters;
};

static void
look_at_cpu(const char *name, void *arg)
{
	struct cpus *cpus = arg;
	int64_t now, top, core, package;
	unsigned int number;

	if (sscanf(name, "cpu%u", &number) != 1)
		return;
	now = bu_sysroot_int(cpus->root, 0,
			     "sys/devices/system/cpu/%s/cpufreq/scaling_cur_freq",
			     name);
	top = bu_sysroot_int(cpus->root, 0,
			     "sys/devices/system/cpu/%s/cpufreq/base_frequency", name);
	if (!top)
		top = bu_sysroot_int(
			cpus->root, 0,
			"sys/devices/system/cpu/%s/cpufreq/cpuinfo_max_freq", name);
	if (now > 0 && top > 0 && !CPU_ISSET(number, &cpus->idle)) {
		double percent = 100.0 * (double)now / (double)top;

		if (!cpus->frequencies++ || percent < cpus->slowest_percent) {
			cpus->slowest_percent = percent;
			bu_text_copy(cpus->slowest, sizeof(cpus->slowest), name);
		}
	}
	core = bu_sysroot_int(
		cpus->root, -1,
		"sys/devices/system/cpu/%s/thermal_throttle/core_throttle_count", name);
	package = bu_sysroot_int(
		cpus->root, 0,
		"sys/devices/system/cpu/%s/thermal_throttle/package_throttle_count",
		name);
	if (core >= 0) {
		cpus->counters++;
		cpus->throttled += core + package;
	}
}

/* CPUs that the load leaves alone: those that are isolated, and on this machine those
 * that we may not run on. */
static void
find_idle(const char *root, cpu_set_t *ret)
{
	cpu_set_t ours;

	bu_sysroot_cpus(root, ret, "sys/devices/system/cpu/isolated");
	CPU_ZERO(&ours);
	if ((root && *root) || sched_getaffinity(0, sizeof(ours), &ours) != 0)
		return;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (!CPU_ISSET(cpu, &ours))
			CPU_SET(cpu, ret);
}

static void
look_at_cpus(const char *root, struct cpus *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->root = root;
	find_idle(root, &ret->idle);
	bu_sysroot_each(root, look_at_cpu, ret, "sys/devices/system/cpu");
}

struct load_watch {
	const struct bu_checks_ctx *ctx;
	struct cpus under_load;
};

static int64_t
load_ms(const struct bu_checks_ctx *ctx)
{
	return bu_json_int(json_object_get(ctx->expect, "host"), "load_ms", LOAD_MS);
}

/* The last look counts, when frequencies have come up. */
static int
on_load_tick(void *arg)
{
	struct load_watch *watch = arg;

	look_at_cpus(watch->ctx->root, &watch->under_load);
	return bu_checks_stop(watch->ctx);
}

static void
judge_cpus(const struct bu_checks_ctx *ctx, struct bu_checks *out,
	   const struct cpus *before, const struct cpus *after,
	   const struct cpus *under_load)
{
	double least = bu_host_threshold(ctx, "cpu_percent", CPU_PERCENT);
	char seen[64], expected[48];

	if (under_load->frequencies) {
		snprintf(seen, sizeof(seen), "%.0f %% of its top",
			 under_load->slowest_percent);
		snprintf(expected, sizeof(expected), "at least %.0f %%", least);
		bu_host_add(out, "cpu-frequency",
			    under_load->slowest_percent < least ? BU_VERDICT_FAIL
								: BU_VERDICT_PASS,
			    under_load->slowest, seen, expected);
	}
	if (before->counters && after->counters) {
		int64_t times = after->throttled - before->throttled;

		snprintf(seen, sizeof(seen), "%lld times", (long long)times);
		bu_host_add(out, "cpu-throttle",
			    times > 0 ? BU_VERDICT_FAIL : BU_VERDICT_PASS, "", seen,
			    "0 times");
	}
}

static void
check_cpu_load(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	struct load_watch watch = {.ctx = ctx};
	struct cpus before, after;
	struct bu_host_load load;
	struct bu_err err;
	char seen[64];

	look_at_cpus(ctx->root, &before);
	if (bu_host_load_cpu(0, load_ms(ctx), on_load_tick, &watch, &load, &err) != 0) {
		bu_host_add(out, "cpu-arithmetic", BU_VERDICT_INCONCLUSIVE, "",
			    err.text, "");
		return;
	}
	look_at_cpus(ctx->root, &after);
	judge_cpus(ctx, out, &before, &after, &watch.under_load);
	snprintf(seen, sizeof(seen), "%llu wrong results",
		 (unsigned long long)load.wrong);
	bu_host_add(out, "cpu-arithmetic",
		    load.wrong ? BU_VERDICT_FAIL : BU_VERDICT_PASS, "", seen,
		    "0 wrong results");
}

static void
check_firmware(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	const json_t *host = json_object_get(ctx->expect, "host");
	const json_t *turbo = json_object_get(host, "turbo");
	int64_t nodes = bu_json_int(host, "numa_nodes", 0), seen_nodes = 0;
	int64_t off = bu_sysroot_int(ctx->root, -1,
				     "sys/devices/system/cpu/intel_pstate/no_turbo");
	char seen[24], expected[24];

	if (off < 0) {
		off = bu_sysroot_int(ctx->root, -1,
				     "sys/devices/system/cpu/cpufreq/boost");
		off = off < 0 ? off : !off;
	}
	if (json_is_boolean(turbo) && off >= 0)
		bu_host_add(out, "turbo",
			    json_is_true(turbo) == !off ? BU_VERDICT_PASS
							: BU_VERDICT_FAIL,
			    "", off ? "off" : "on", json_is_true(turbo) ? "on" : "off");
	seen_nodes = bu_sysroot_cpu_nodes(ctx->root);
	if (!nodes || !seen_nodes)
		return;
	snprintf(seen, sizeof(seen), "%lld", (long long)seen_nodes);
	snprintf(expected, sizeof(expected), "%lld", (long long)nodes);
	bu_host_add(out, "numa-nodes",
		    seen_nodes == nodes ? BU_VERDICT_PASS : BU_VERDICT_FAIL, "", seen,
		    expected);
}

/* --- memory --- */

static void
check_memory_size(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	const json_t *hardware = json_object_get(ctx->expect, "hardware");
	int64_t least = bu_json_int(hardware, "memory_bytes", 0);
	int64_t total = bu_sysroot_meminfo_bytes(ctx->root, "MemTotal:");
	char seen[32], expected[40];

	if (!least || !total)
		return;
	snprintf(seen, sizeof(seen), "%lld MiB", (long long)total >> 20);
	snprintf(expected, sizeof(expected), "at least %lld MiB",
		 (long long)least >> 20);
	bu_host_add(out, "memory-size",
		    total < least ? BU_VERDICT_FAIL : BU_VERDICT_PASS, "", seen,
		    expected);
}

struct edac {
	const struct bu_checks_ctx *ctx;
	struct bu_checks *out;
};

/* Some correct one now and then for years: many a day are a module that fails. */
static void
judge_corrected(const struct edac *edac, const char *name, int64_t corrected)
{
	int64_t seconds = bu_sysroot_int(edac->ctx->root, DAY_S,
					 "sys/devices/system/edac/mc/%s/"
					 "seconds_since_reset",
					 name);
	double days = seconds > DAY_S ? (double)seconds / DAY_S : 1;
	double most = bu_host_threshold(edac->ctx, "corrected_errors", CORRECTED_A_DAY);
	char seen[64], expected[48];

	snprintf(seen, sizeof(seen), "%lld errors, %.0f a day", (long long)corrected,
		 (double)corrected / days);
	snprintf(expected, sizeof(expected), "at most %.0f a day", most);
	bu_host_add(edac->out, "memory-corrected",
		    (double)corrected / days > most ? BU_VERDICT_WARN : BU_VERDICT_PASS,
		    name, seen, expected);
}

static void
look_at_controller(const char *name, void *arg)
{
	struct edac *edac = arg;
	const char *root = edac->ctx->root;
	int64_t lost, corrected;
	char seen[32];

	if (strncmp(name, "mc", 2) != 0)
		return;
	lost = bu_sysroot_int(root, -1, "sys/devices/system/edac/mc/%s/ue_count", name);
	corrected = bu_sysroot_int(root, -1, "sys/devices/system/edac/mc/%s/ce_count",
				   name);
	if (lost >= 0) {
		snprintf(seen, sizeof(seen), "%lld errors", (long long)lost);
		bu_host_add(edac->out, "memory-errors",
			    lost ? BU_VERDICT_FAIL : BU_VERDICT_PASS, name, seen,
			    "0 errors");
	}
	if (corrected >= 0)
		judge_corrected(edac, name, corrected);
}

static void
check_memory_load(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	uint64_t bytes = (uint64_t)bu_sysroot_meminfo_bytes("", "MemAvailable:") / 4;
	uint64_t most = (uint64_t)bu_json_int(json_object_get(ctx->expect, "host"),
					      "memory_load_bytes",
					      (int64_t)MEMORY_LOAD_MAX_MIB << 20);
	struct bu_host_load load;
	struct bu_err err;
	char seen[96];

	if (bytes > most)
		bytes = most;
	if (bu_host_load_memory(&(struct bu_host_triad){0, bytes, load_ms(ctx)},
				on_tick, (void *)ctx, &load, &err) != 0) {
		bu_host_add(out, "memory-pattern", BU_VERDICT_INCONCLUSIVE, "",
			    err.text, "");
		return;
	}
	bu_host_add_least(out, "memory-bandwidth", "", load.memory_gbs, "GB/s",
			  bu_host_threshold(ctx, "memory_gbs", 0));
	snprintf(seen, sizeof(seen), "%llu wrong words",
		 (unsigned long long)load.wrong);
	if (load.wrong)
		snprintf(seen, sizeof(seen),
			 "%llu wrong words, first at byte %llu of "
			 "the part of CPU %d",
			 (unsigned long long)load.wrong,
			 (unsigned long long)load.wrong_offset, load.wrong_cpu);
	bu_host_add(out, "memory-pattern",
		    load.wrong ? BU_VERDICT_FAIL : BU_VERDICT_PASS, "", seen,
		    "0 wrong words");
}

/* --- clock --- */

void
bu_host_clock(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	const json_t *limits = json_object_get(ctx->expect, "thresholds");
	/* A system that has just started is on its way to the right time: a clock that
	 * is off is a fault only where the profile sets a limit. */
	enum bu_verdict verdict = json_object_get(limits, "clock_offset_us")
					  ? BU_VERDICT_FAIL
					  : BU_VERDICT_WARN;
	int64_t offset_us, error_us, limit_us;
	char seen[64], expected[40];

	if (!ctx->clock_offset)
		return;
	limit_us = (int64_t)bu_host_threshold(ctx, "clock_offset_us", CLOCK_OFFSET_US);
	if (ctx->clock_offset(ctx->arg, &offset_us, &error_us) != 0) {
		bu_host_add(out, "clock-offset", BU_VERDICT_INCONCLUSIVE, "",
			    "the appliance did not answer", "");
		return;
	}
	snprintf(seen, sizeof(seen), "%+lld us, give or take %lld us",
		 (long long)offset_us, (long long)error_us);
	snprintf(expected, sizeof(expected), "at most %lld us", (long long)limit_us);
	/* Wrong only when it is so whatever the way to the appliance did. */
	bu_host_add(out, "clock-offset",
		    llabs(offset_us) - error_us > limit_us ? verdict : BU_VERDICT_PASS,
		    "", seen, expected);
}

#define STEP(name, asked)                                                              \
	{                                                                              \
		.limit_ms = STEP_MS, .id = name, .what = asked                         \
	}

int
bu_host_run(const struct bu_checks_ctx *ctx, struct bu_checks *out, struct bu_err *err)
{
	static const struct {
		void (*fn)(const struct bu_checks_ctx *ctx, struct bu_checks *out);
		struct bu_doing doing;
	} steps[] = {
		{check_cpu_online, STEP("cpu-online", "sysfs")},
		{check_firmware, STEP("turbo", "sysfs")},
		{check_memory_size, STEP("memory-size", "sysfs")},
		{bu_host_modules, STEP("memory-modules", "its firmware's tables")},
		{check_cpu_load, STEP("cpu-arithmetic", "the load of its CPUs")},
		{check_memory_load, STEP("memory-pattern", "the load of its memory")},
		{bu_host_disks, {.limit_ms = 0}}, /* tells its own */
		{bu_host_mounts, {.limit_ms = 0}},
	};
	struct edac edac = {ctx, out};

	bu_sysroot_each(ctx->root, look_at_controller, &edac,
			"sys/devices/system/edac/mc");
	for (size_t i = 0; i < BU_LEN(steps); i++) {
		if (bu_checks_stop(ctx)) {
			bu_host_mounts(ctx, out); /* a row for each, unseen */
			return bu_err_set(err, BU_ERR_TIMEOUT, 0, "the time ran out");
		}
		bu_checks_doing(ctx, out, &steps[i].doing);
		steps[i].fn(ctx, out);
	}
	bu_checks_doing(ctx, out, NULL);
	return 0;
}
