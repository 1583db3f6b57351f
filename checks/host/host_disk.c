/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disks: their own word on their health (smartctl), and how fast they are read and
 * written past the page cache. Called by the host checks. Invariant: a disk is only
 * read; writing goes into files of our own: one that is gone afterwards, and the errors
 * that each disk had, because a counter of a lifetime is judged by its growth.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/sysroot.h"
#include "base/worker.h"
#include "checks/host/host_disk.h"
#include "checks/host/host_impl.h"

enum {
	BLOCK = 1024 * 1024,
	READ_MS = 1000, /* at most, for each disk */
	READ_MIB = 512,
	WRITE_MIB = 64,
	SMART_MS = 20000,
	DISK_MS = 30000,
};

static double
seconds_since(int64_t start_ns)
{
	return (double)(bu_raw_ns() - start_ns) / 1e9;
}

/* --- health --- */

/* Bits of the critical warning of NVMe. */
enum {
	SPARE_LOW = 0x01,
	TEMPERATURE = 0x02,
	UNRELIABLE = 0x04, /* media errors, or worn: percentage_used tells which */
	READ_ONLY = 0x08,
	BACKUP_FAILED = 0x10,
	REGION_FAILED = 0x20,
	BROKEN = SPARE_LOW | READ_ONLY | BACKUP_FAILED | REGION_FAILED,
};

/* How many media errors this disk had when it was looked at last, and it is kept how
 * many it has; -1 = nobody looked before, or it has no serial number. */
static int64_t
errors_before(const char *root, const char *name, int64_t now)
{
	bu_autofree char *dir = bu_xasprintf("%s/var/lib/bringup", root ? root : "");
	bu_autofree char *path = bu_xasprintf("%s/disk-errors.json", dir);
	bu_autojson json_t *kept = bu_json_load(path, NULL);
	bu_autofree char *text = NULL;
	char serial[128];
	int64_t before;

	bu_sysroot_serial(root, serial, sizeof(serial), name);
	if (!*serial)
		return -1;
	if (!json_is_object(kept)) {
		json_decref(kept);
		kept = json_object();
	}
	before = bu_json_int(kept, serial, -1);
	if (before == now)
		return before;
	json_object_set_new(kept, serial, json_integer(now));
	text = bu_json_canonical(kept);
	/* Where it cannot be kept, the next look is again the first one. */
	if (bu_mkdir_p(dir, 0700, NULL) == 0)
		(void)!bu_file_write(path, text, strlen(text), 0600, NULL);
	return before;
}

/* Wear and errors of long ago are no reason not to serve: a warning. */
static enum bu_verdict
nvme_verdict(const json_t *nvme, int64_t lost, int64_t before)
{
	int64_t warning = bu_json_int(nvme, "critical_warning", 0);
	int64_t used = bu_json_int(nvme, "percentage_used", 0);
	int64_t spare = bu_json_int(nvme, "available_spare", 100);
	int64_t least = bu_json_int(nvme, "available_spare_threshold", 0);

	if ((warning & BROKEN) || spare < least || (before >= 0 && lost > before))
		return BU_VERDICT_FAIL;
	if ((warning & UNRELIABLE) && used < 100)
		return BU_VERDICT_FAIL;
	return warning || lost || used >= 100 ? BU_VERDICT_WARN : BU_VERDICT_PASS;
}

static void
hint_health(struct bu_check *row)
{
	if (row->verdict == BU_VERDICT_WARN)
		BU_CHECK_SET(row->hint,
			     "plan to swap the disk: worn, warm, or with errors of "
			     "before; new media errors or a spare that runs out fail");
}

static void
judge_health(const struct bu_checks_ctx *ctx, struct bu_checks *out, const char *name,
	     const json_t *report)
{
	const json_t *status = json_object_get(report, "smart_status");
	const json_t *nvme =
		json_object_get(report, "nvme_smart_health_information_log");
	int passed = bu_json_bool(status, "passed", 0);
	int64_t lost = bu_json_int(nvme, "media_errors", 0), before = 0;
	enum bu_verdict verdict = passed ? BU_VERDICT_PASS : BU_VERDICT_FAIL;
	char seen[160], fresh[40] = "";

	if (!json_is_object(status))
		return; /* one that keeps no account of itself, a virtual one say */
	if (nvme) {
		before = errors_before(ctx->root, name, lost);
		/* `passed` says no more than that there is a warning. */
		if (passed || bu_json_int(nvme, "critical_warning", 0))
			verdict = nvme_verdict(nvme, lost, before);
	}
	if (before >= 0 && lost > 0)
		snprintf(fresh, sizeof(fresh), " (%lld new)",
			 (long long)(lost > before ? lost - before : 0));
	snprintf(seen, sizeof(seen),
		 "%s, critical warning %lld, %lld media errors%s, "
		 "%lld %% used",
		 passed ? "passed" : "failed",
		 (long long)bu_json_int(nvme, "critical_warning", 0), (long long)lost,
		 fresh, (long long)bu_json_int(nvme, "percentage_used", 0));
	hint_health(bu_host_add(out, "disk-health", verdict, name, seen,
				"passed, no warning, no new media errors"));
}

static void
check_health(const struct bu_checks_ctx *ctx, struct bu_checks *out, const char *name)
{
	bu_autofree char *path = bu_xasprintf("/dev/%s", name);
	const char *argv[] = {"smartctl",     "--json=c", "--health",
			      "--attributes", path,       NULL};
	struct bu_job_opts opts = {
		.argv = argv, .deadline_ms = SMART_MS, .same_group = 1};
	bu_autojson json_t *report = NULL;
	struct bu_job_end end;
	struct bu_err err;

	/* Its exit status is a set of bits; what it printed says the same and more. */
	if (bu_job_wait(&opts, &end, &err) != 0) {
		/* Virtual disks keep no account, and need no program to read it. */
		if (strncmp(name, "vd", 2) != 0)
			bu_host_add(out, "disk-health", BU_VERDICT_INCONCLUSIVE, name,
				    err.text, "");
		return;
	}
	report = bu_json_parse(end.out, strlen(end.out), "smartctl", &err);
	bu_job_end_fini(&end);
	if (report)
		judge_health(ctx, out, name, report);
	else
		bu_host_add(out, "disk-health", BU_VERDICT_INCONCLUSIVE, name, err.text,
			    "");
}

/* --- speed --- */

/* MB/s, or -1 with errno. */
static double
read_disk(const char *path, int (*stopped)(void *arg), void *arg)
{
	bu_autoclose int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	bu_autofree void *block = NULL;
	int64_t start_ns = bu_raw_ns();
	double seconds = 0;
	int64_t bytes = 0;

	if (fd < 0 || posix_memalign(&block, 4096, BLOCK) != 0)
		return -1;
	while (bytes < (int64_t)READ_MIB << 20 && seconds < READ_MS / 1000.0 &&
	       !stopped(arg)) {
		ssize_t got = read(fd, block, BLOCK);

		if (got < 0)
			return -1;
		if (got == 0)
			break;
		bytes += got;
		seconds = seconds_since(start_ns);
	}
	errno = ENODATA;
	return seconds > 0 && bytes > 0 ? (double)bytes / seconds / 1e6 : -1;
}

static double
write_file(const struct bu_checks_ctx *ctx, const char *path)
{
	bu_autoclose int fd =
		open(path, O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600);
	bu_autofree void *block = NULL;
	int64_t start_ns = bu_raw_ns();
	double seconds;
	int64_t bytes = 0;

	if (fd < 0 || posix_memalign(&block, 4096, BLOCK) != 0)
		return -1;
	memset(block, 0xa5, BLOCK);
	while (bytes < (int64_t)WRITE_MIB << 20 && !bu_checks_stop(ctx)) {
		ssize_t put = write(fd, block, BLOCK);

		if (put <= 0)
			return -1;
		bytes += put;
	}
	if (fsync(fd) != 0)
		return -1;
	seconds = seconds_since(start_ns);
	errno = ENODATA;
	return seconds > 0 && bytes > 0 ? (double)bytes / seconds / 1e6 : -1;
}

static int
ctx_stopped(void *arg)
{
	return bu_checks_stop(arg);
}

static void
check_read(const struct bu_checks_ctx *ctx, struct bu_checks *out, const char *name)
{
	bu_autofree char *path =
		bu_xasprintf("%s/dev/%s", ctx->root ? ctx->root : "", name);
	double rate_mbs = read_disk(path, ctx_stopped, (void *)ctx);

	if (rate_mbs >= 0)
		bu_host_add_least(out, "disk-read", name, rate_mbs, "MB/s",
				  bu_host_threshold(ctx, "disk_read_mbs", 0));
	else
		/* A disk that gives an error when it is read is broken; one that cannot
		 * be opened at all is a question to the machine. */
		bu_host_add(out, "disk-read",
			    errno == EIO ? BU_VERDICT_FAIL : BU_VERDICT_INCONCLUSIVE,
			    name, strerror(errno), "");
}

static void
check_write(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	double least = bu_host_threshold(ctx, "disk_write_mbs", 0);
	bu_autofree char *dir =
		bu_xasprintf("%s/var/lib/bringup", ctx->root ? ctx->root : "");
	bu_autofree char *path = bu_xasprintf("%s/check-write.tmp", dir);
	double rate_mbs;

	/* It wears the disk a little: only on demand. */
	if (least <= 0 || bu_mkdir_p(dir, 0700, NULL) != 0)
		return;
	rate_mbs = write_file(ctx, path);
	if (rate_mbs >= 0)
		bu_host_add_least(out, "disk-write", "", rate_mbs, "MB/s", least);
	else
		bu_host_add(out, "disk-write",
			    errno == EIO ? BU_VERDICT_FAIL : BU_VERDICT_INCONCLUSIVE,
			    "", strerror(errno), "");
	unlink(path);
}

struct disks {
	const struct bu_checks_ctx *ctx;
	struct bu_checks *out;
};

/* Real ones: what has sectors and a driver, and is no window on another disk. */
static int
is_disk(const char *root, const char *name)
{
	static const char *const others[] = {"loop", "ram", "zram", "dm-",
					     "md",   "sr",  "fd",   "nbd"};

	for (size_t i = 0; i < BU_LEN(others); i++)
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return 0;
	return bu_sysroot_int(root, 0, "sys/block/%s/size", name) > 0 &&
	       bu_sysroot_int(root, 0, "sys/block/%s/removable", name) == 0;
}

static void
look_at_disk(const char *name, void *arg)
{
	struct disks *disks = arg;
	struct bu_doing step = {.limit_ms = DISK_MS,
				.id = "disk-health",
				.what = "smartctl",
				.hint = "swap the disk"};

	if (!is_disk(disks->ctx->root, name) || bu_checks_stop(disks->ctx))
		return;
	step.subject = name;
	bu_checks_doing(disks->ctx, disks->out, &step);
	check_health(disks->ctx, disks->out, name);
	step.id = "disk-read";
	step.what = "reads";
	bu_checks_doing(disks->ctx, disks->out, &step);
	check_read(disks->ctx, disks->out, name);
}

void
bu_host_disks(const struct bu_checks_ctx *ctx, struct bu_checks *out)
{
	struct disks disks = {ctx, out};

	bu_sysroot_each(ctx->root, look_at_disk, &disks, "sys/block");
	bu_checks_doing(ctx, out,
			&(struct bu_doing){.limit_ms = DISK_MS,
					   .id = "disk-write",
					   .subject = "its own disk",
					   .what = "writes",
					   .hint = "swap the disk"});
	check_write(ctx, out);
}

struct reading {
	const char *root;
	int (*stopped)(void *arg);
	void *arg;
	char *trouble;
	size_t size;
	int count;
};

static void
read_one(const char *name, void *arg)
{
	struct reading *reading = arg;
	bu_autofree char *path =
		bu_xasprintf("%s/dev/%s", reading->root ? reading->root : "", name);

	if (!is_disk(reading->root, name))
		return;
	reading->count++;
	if (read_disk(path, reading->stopped, reading->arg) < 0 && errno == EIO)
		snprintf(reading->trouble, reading->size, "%s: %s", name,
			 strerror(errno));
}

int
bu_host_disks_read(const char *root, int (*stopped)(void *arg), void *arg,
		   char *ret_trouble, size_t size)
{
	struct reading reading = {root, stopped, arg, ret_trouble, size, 0};

	bu_sysroot_each(root, read_one, &reading, "sys/block");
	return ret_trouble[0] ? -1 : reading.count;
}
