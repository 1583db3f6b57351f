/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bringup-power costs: "power FIRST-ADDRESS COUNT FINGERPRINT CREDENTIALS" asks a
 * fleet of virtual BMCs (bringup-lab bmc --each address, port 8443) as bringupd does,
 * and reads from /proc what its processes used. Phases: the first poll (log-in, tree),
 * a poll a minute later (a new connection each), polls while connections are kept, and
 * all machines booted at once. PERIOD_S: seconds over which a poll is spread, 60.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "provisioner/power/power.h"

enum { COUNT_MAX = 5000, KEPT_ROUNDS = 5, KEPT_AT_ONCE = 20 };

struct bench;
struct call {
	struct bench *bench;
	char bmc[64];
	int64_t began_ms;
	int left; /* polls that follow this one at once */
};

struct bench {
	struct bu_loop *loop;
	struct bu_power *power;
	struct bu_timer *timer;
	struct bu_power_bmc as;
	struct call *calls;
	int count, next, at_once, done, wanted, failed, boots;
	int64_t every_ms, slowest_ms, began_ms;
	double cpu_s;
};

/* --- what its processes used --- */

static int
parent_of(int pid, double *ret_cpu_s)
{
	char path[64], line[512];
	unsigned long user, system;
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	bu_file_line(path, line, sizeof(line));
	if (!strrchr(line, ')') ||
	    sscanf(strrchr(line, ')') + 2,
		   "%*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &parent, &user,
		   &system) != 3)
		return 0;
	*ret_cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
	return parent;
}

static long
peak_kib(int pid)
{
	bu_autofree char *path = bu_xasprintf("/proc/%d/status", pid);
	bu_autofree char *text = bu_file_read(path, 0, NULL, NULL);
	const char *at = text ? strstr(text, "VmHWM:") : NULL;

	return at ? strtol(at + 6, NULL, 10) : 0;
}

/* Of this process's children and theirs. */
static void
used(double *ret_cpu_s, long *ret_kib)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	*ret_cpu_s = 0;
	*ret_kib = 0;
	while (dir && (entry = readdir(dir))) {
		double cpu_s = 0, ignored = 0;
		int64_t pid = 0;
		int parent;

		if (bu_text_int(entry->d_name, 2, INT32_MAX, &pid) != 0)
			continue;
		parent = parent_of((int)pid, &cpu_s);
		if (parent != getpid() &&
		    (parent < 2 || parent_of(parent, &ignored) != getpid()))
			continue;
		*ret_cpu_s += cpu_s;
		*ret_kib += peak_kib((int)pid);
	}
	if (dir)
		closedir(dir);
}

/* --- one phase --- */

static void ask(struct call *call);

static void
on_seen(const struct bu_power_seen *seen, const struct bu_err *err, void *arg)
{
	struct call *call = arg;
	struct bench *bench = call->bench;
	int64_t took_ms = bu_loop_now_ms(bench->loop) - call->began_ms;

	if (err && bench->failed++ < 3)
		fprintf(stderr, "%s: %s\n", call->bmc, err->text);
	if (bench->boots && !err && seen->state != BU_POWER_ON)
		bench->failed++;
	if (took_ms > bench->slowest_ms)
		bench->slowest_ms = took_ms;
	bench->done++;
	if (call->left-- > 0)
		ask(call);
	else if (bench->at_once && bench->next < bench->count)
		ask(&bench->calls[bench->next++]);
	if (bench->done == bench->wanted)
		bu_loop_stop(bench->loop);
}

static void
ask(struct call *call)
{
	struct bench *bench = call->bench;
	struct bu_power_boot boot = {.first = BU_BOOT_NETWORK, .reset = 1};
	struct bu_power_bmc bmc = bench->as;

	bmc.bmc = call->bmc;
	call->began_ms = bu_loop_now_ms(bench->loop);
	if (bench->boots)
		bu_power_boot(bench->power, &bmc, &boot, on_seen, call);
	else
		bu_power_status(bench->power, &bmc, on_seen, call);
}

static void
on_timer(void *arg)
{
	struct bench *bench = arg;
	int64_t due = bench->every_ms
			      ? (bu_loop_now_ms(bench->loop) - bench->began_ms) /
					bench->every_ms
			      : bench->count;

	while (bench->next < bench->count && bench->next <= due)
		ask(&bench->calls[bench->next++]);
	if (bench->next < bench->count)
		bu_timer_set(bench->timer, 1);
}

/* every_ms: from one BMC to the next; at_once: so many side by side, 0 = all. */
static void
phase(struct bench *bench, const char *name, int64_t every_ms, int at_once, int rounds)
{
	double cpu_s;
	long kib;

	bench->next = bench->done = bench->failed = 0;
	bench->slowest_ms = 0;
	bench->wanted = bench->count * rounds;
	bench->every_ms = every_ms;
	bench->at_once = at_once;
	bench->began_ms = bu_loop_now_ms(bench->loop);
	for (int i = 0; i < bench->count; i++)
		bench->calls[i].left = rounds - 1;
	used(&bench->cpu_s, &kib);
	if (at_once)
		while (bench->next < at_once && bench->next < bench->count)
			ask(&bench->calls[bench->next++]);
	else
		on_timer(bench);
	bu_loop_run(bench->loop);
	used(&cpu_s, &kib);
	printf("%s: %d calls, %d failed, %.3f ms of CPU each, %.1f s, slowest %.2f s, "
	       "peak %.1f MiB\n",
	       name, bench->done, bench->failed,
	       (cpu_s - bench->cpu_s) * 1000 / bench->done,
	       (double)(bu_loop_now_ms(bench->loop) - bench->began_ms) / 1000,
	       (double)bench->slowest_ms / 1000, (double)kib / 1024);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	const char *period = getenv("PERIOD_S");
	struct bench bench = {.as = {.driver = "redfish"}};
	bu_autofree char *program = bu_program_path("../../bringup-power");
	struct bu_err err;
	struct in_addr first;
	int64_t count, each_ms;

	if (argc != 5 || inet_pton(AF_INET, argv[1], &first) != 1 ||
	    bu_text_int(argv[2], 1, COUNT_MAX, &count) != 0) {
		fprintf(stderr, "power FIRST-ADDRESS COUNT FINGERPRINT CREDENTIALS\n");
		return 1;
	}
	each_ms = (period ? strtol(period, NULL, 10) : 60) * 1000 / count;
	bench.loop = bu_loop_create(NULL);
	bench.timer = bu_timer_create(bench.loop, on_timer, &bench);
	bench.power = bu_power_create(
		bench.loop, program,
		&(struct bu_power_opts){.bmc_networks = "127.0.0.0/8"}, &err);
	bench.as.fingerprint = argv[3];
	bench.as.credentials = argv[4];
	bench.count = (int)count;
	bench.calls = bu_xcalloc((size_t)count, sizeof(*bench.calls));
	for (uint32_t i = 0; i < (uint32_t)count; i++) {
		struct in_addr at = {htonl(ntohl(first.s_addr) + i)};
		char text[INET_ADDRSTRLEN];

		inet_ntop(AF_INET, &at, text, sizeof(text));
		bench.calls[i].bench = &bench;
		snprintf(bench.calls[i].bmc, sizeof(bench.calls[i].bmc),
			 "https://%s:8443", text);
	}
	phase(&bench, "first poll", each_ms, 0, 1);
	phase(&bench, "new connection", each_ms, 0, 1);
	phase(&bench, "kept connection", 0, KEPT_AT_ONCE, KEPT_ROUNDS + 1);
	bench.boots = 1;
	phase(&bench, "campaign", 0, 0, 1);
	bu_power_destroy(bench.power);
	bu_timer_destroy(bench.timer);
	bu_loop_destroy(bench.loop);
	free(bench.calls);
	return 0;
}
