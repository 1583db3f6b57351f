/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks at the machine that it runs on, group by group: what is wrong is in the rows of
 * the report, what could not be looked at too. Called by the agent (agent/checks.c).
 *
 * Work item: {"kind":"checks","id","attempt","groups":["audit","gpu","host","site"],
 *	"expect":{...},"site":[{"name","content","timeout_ms"}],"deadline_ms"}
 *
 * expect says what the machine should be; a member that is absent is not judged:
 * {"networks":[NETWORK],"hardware":{"cpus","memory_bytes","gpus","gpu_model","nics"},
 *  "gpu":{row of data/ for the model},"thresholds":{...},
 *  "severity":{CHECK:"fail"|"warn"|"off"},
 *  "events":[rows of model/kernel_event.h],
 *  "lldp":{NETWORK or interface:"switch:port"}, "host":HOST,
 *  "mounts":[{"name","source","path","fs","write"}]}
 * NETWORK and HOST are in checks/audit/audit.h; "fabric" and "nvlink" are work items of
 * probes, for checks/fabric/loops.h and checks/gpu/nvlink.h.
 */
#ifndef BU_CHECKS_CHECKS_H
#define BU_CHECKS_CHECKS_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "model/check.h"

/* Steps that one group may have under way at once: its own, its threads'. */
enum { BU_CHECKS_SLOTS = 4 };

/* A group's way to the process that watches it (checks/child_check.h). */
struct bu_checks_line {
	int fd;
	size_t told; /* rows */
};

struct bu_checks_ctx {
	const char *root;     /* the folder that holds proc, sys, etc, dev; "" = / */
	const char *libs;     /* folder to dlopen from; NULL = the loader's */
	const json_t *expect; /* object; may be NULL: nothing is expected */
	const json_t *site;   /* array of the site's own checks; may be NULL */
	int64_t deadline_ms;  /* bu_mono_ms() of the system; 0 = none */
	int (*cancelled)(void *arg); /* NULL = never */
	void (*progress)(const char *group, int done, int total,
			 void *arg); /* may be NULL; before each group and at the end */
	/* Our clock less the appliance's, and how wrong that may be; NULL = none to
	 * ask, other than 0 = no answer. */
	int (*clock_offset)(void *arg, int64_t *ret_offset_us, int64_t *ret_error_us);
	void *arg;
	struct bu_checks_line *line; /* NULL = there is no watcher */
	double hurry; /* shortens each step's limit, for tests; 0 = as it is */
};

/* What a group is about to do that may hang: whom it asks, for what, and how long that
 * may take at most. The answer of one that hangs is a row `id` of this subject: "GPU 3
 * did not answer NVML within 20 s". */
struct bu_doing {
	int slot; /* 0; a thread of the group has its own */
	int64_t limit_ms;
	const char *id, *subject, *what, *hint;
};
/* Tells the watcher the rows that are new since the last time (out NULL: none; a thread
 * tells none), and the step; NULL ends the one of slot 0. */
void bu_checks_doing(const struct bu_checks_ctx *ctx, const struct bu_checks *out,
		     const struct bu_doing *doing);
/* A line for the watcher. */
void bu_checks_tell(int fd, const json_t *line);

/* 1 when it is time to stop: cancelled, or the deadline is over. Groups that take long
 * ask between their rows and add `inconclusive` rows for what is left. */
int bu_checks_stop(const struct bu_checks_ctx *ctx);

/* A group appends its rows; -1 (with what it appended before) when it cannot run. */
typedef int (*bu_checks_fn)(const struct bu_checks_ctx *ctx, struct bu_checks *out,
			    struct bu_err *err);

/* Runs these groups (array of names) into a report; ret becomes initialized.
 * BU_ERR_INVAL for a group that does not exist, CANCELLED when it was cancelled. A
 * group that this agent cannot run is a row `GROUP-not-run`, inconclusive; one that
 * broke off has seen BU_CHECK_UNDONE. */
bu_must int bu_checks_run(const struct bu_checks_ctx *ctx, const json_t *names,
			  struct bu_checks *ret, struct bu_err *err);

/* Severity of a finding: what the table says (fail or warn) unless expect.severity says
 * otherwise; INCONCLUSIVE stands for "off": no row. */
enum bu_verdict bu_checks_severity(const struct bu_checks_ctx *ctx, const char *id,
				   enum bu_verdict usual);

#endif
