/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that load CPUs and memory. Called by host and soak checks. Invariant: every
 * thread that was started has ended when a function here returns.
 */
#include "checks/host/host_load.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"

enum { TICK_MS = 100, CPUS_MAX = 4096, SPIN = 200000 };

struct load {
	atomic_int stop;
	size_t words; /* of each of a thread's three arrays */
	int threads;
	struct part *parts;
};

struct part {
	struct load *load;
	pthread_t thread;
	int cpu;
	double *a, *b, *c;
	uint64_t rounds;
	uint64_t wrong, wrong_offset;
	double seconds;
};

static void
pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	sched_setaffinity(0, sizeof(set),
			  &set); /* a hint: it runs anywhere else, too */
}

/* a = b + 3 c: two reads and one write of a word. */
static void
triad(struct part *part)
{
	size_t words = part->load->words;
	double *restrict a = part->a;
	const double *restrict b = part->b, *restrict c = part->c;

	for (size_t i = 0; i < words; i++)
		a[i] = b[i] + 3 * c[i];
}

static void
verify(struct part *part)
{
	for (size_t i = 0; i < part->load->words; i++) {
		double want = (double)(i & 0xffff) + 3 * (double)(part->cpu + 1);

		if (part->a[i] == want)
			continue;
		if (!part->wrong++)
			part->wrong_offset = i * sizeof(double);
	}
}

static void *
memory_thread(void *arg)
{
	struct part *part = arg;
	size_t words = part->load->words;
	int64_t start_ns;

	pin(part->cpu);
	/* First touched here, so that the pages lie on this CPU's NUMA node. */
	for (size_t i = 0; i < words; i++) {
		part->a[i] = 0;
		part->b[i] = (double)(i & 0xffff);
		part->c[i] = (double)(part->cpu + 1);
	}
	start_ns = bu_raw_ns();
	do {
		triad(part);
		part->rounds++;
	} while (!atomic_load(&part->load->stop));
	part->seconds = (double)(bu_raw_ns() - start_ns) / 1e9;
	verify(part);
	return NULL;
}

static uint64_t
arithmetic(uint64_t seed)
{
	double x = 1 + (double)(seed & 0xff) / 256;
	uint64_t hash = seed;

	for (int i = 0; i < SPIN; i++) {
		x = x * 1.0000001 + 1 / x;
		hash = (hash ^ (uint64_t)i) * 0x100000001b3u;
	}
	return hash ^ (uint64_t)(x * 1e6);
}

static void *
cpu_thread(void *arg)
{
	struct part *part = arg;
	uint64_t want;
	int64_t start_ns = bu_raw_ns();

	pin(part->cpu);
	want = arithmetic((uint64_t)part->cpu);
	do {
		part->wrong += arithmetic((uint64_t)part->cpu) != want;
		part->rounds++;
	} while (!atomic_load(&part->load->stop));
	part->seconds = (double)(bu_raw_ns() - start_ns) / 1e9;
	return NULL;
}

/* The CPUs that we may use, at most `most`; how many. */
static int
allowed(int *ret, int most)
{
	cpu_set_t set;
	int count = 0;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		CPU_SET(0, &set);
	for (int cpu = 0; cpu < CPU_SETSIZE && count < most; cpu++)
		if (CPU_ISSET((size_t)cpu, &set))
			ret[count++] = cpu;
	return count;
}

static void
wait_for_end(struct load *load, int64_t duration_ms, bu_host_tick_fn tick, void *arg)
{
	int64_t end_ns = bu_raw_ns() + duration_ms * 1000000;

	while (bu_raw_ns() < end_ns && !(tick && tick(arg)))
		usleep(TICK_MS * 1000);
	atomic_store(&load->stop, 1);
}

static void
add_up(const struct load *load, struct bu_host_load *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->threads = load->threads;
	for (int i = 0; i < load->threads; i++) {
		const struct part *part = &load->parts[i];
		double bytes = 3.0 * (double)load->words * sizeof(double) *
			       (double)part->rounds;

		if (part->seconds > ret->seconds)
			ret->seconds = part->seconds;
		if (part->seconds > 0)
			ret->memory_gbs += bytes / part->seconds / 1e9;
		if (part->wrong && !ret->wrong) {
			ret->wrong_cpu = part->cpu;
			ret->wrong_offset = part->wrong_offset;
		}
		ret->wrong += part->wrong;
	}
}

static int
run(struct load *load, void *(*thread)(void *), int64_t duration_ms,
    bu_host_tick_fn tick, void *arg, struct bu_err *err)
{
	int started = 0, rc = 0;

	while (started < load->threads && rc == 0) {
		struct part *part = &load->parts[started];

		rc = pthread_create(&part->thread, NULL, thread, part);
		if (rc == 0)
			started++;
	}
	if (rc == 0)
		wait_for_end(load, duration_ms, tick, arg);
	atomic_store(&load->stop, 1);
	for (int i = 0; i < started; i++)
		pthread_join(load->parts[i].thread, NULL);
	return rc ? bu_err_set(err, BU_ERR_IO, rc, "start thread %d of the load",
			       started + 1)
		  : 0;
}

static void
load_init(struct load *load, int threads)
{
	bu_autofree int *cpus = bu_xcalloc(CPUS_MAX, sizeof(*cpus));

	memset(load, 0, sizeof(*load));
	load->threads = allowed(cpus, threads > 0 ? threads : CPUS_MAX);
	load->parts = bu_xcalloc((size_t)load->threads, sizeof(*load->parts));
	for (int i = 0; i < load->threads; i++) {
		load->parts[i].load = load;
		load->parts[i].cpu = cpus[i];
	}
}

int
bu_host_load_memory(const struct bu_host_triad *triad, bu_host_tick_fn tick, void *arg,
		    struct bu_host_load *ret, struct bu_err *err)
{
	bu_autofree double *memory = NULL;
	struct load load;
	size_t words;
	int rc;

	load_init(&load, triad->threads);
	words = triad->bytes / sizeof(double) / 3 / (size_t)load.threads;
	load.words = words ? words : 1;
	/* Not bu_xmalloc(): a machine with little memory is a finding, no abort. */
	memory = malloc(load.words * 3 * (size_t)load.threads * sizeof(double));
	for (int i = 0; memory && i < load.threads; i++) {
		load.parts[i].a = memory + (size_t)i * 3 * load.words;
		load.parts[i].b = load.parts[i].a + load.words;
		load.parts[i].c = load.parts[i].b + load.words;
	}
	rc = memory ? run(&load, memory_thread, triad->duration_ms, tick, arg, err)
		    : bu_err_set(err, BU_ERR_IO, 0, "no %llu bytes of memory are free",
				 (unsigned long long)triad->bytes);
	if (rc == 0)
		add_up(&load, ret);
	free(load.parts);
	return rc;
}

int
bu_host_load_cpu(int threads, int64_t duration_ms, bu_host_tick_fn tick, void *arg,
		 struct bu_host_load *ret, struct bu_err *err)
{
	struct load load;
	int rc;

	load_init(&load, threads);
	rc = run(&load, cpu_thread, duration_ms, tick, arg, err);
	if (rc == 0)
		add_up(&load, ret);
	free(load.parts);
	return rc;
}
