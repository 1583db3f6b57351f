/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by ipmi.c (power, boot, accounts) and ipmi_report.c, which call ipmi_run.c
 * (programs) and ipmi_host.c (the address). */
#ifndef BU_POWER_IPMI_IMPL_H
#define BU_POWER_IPMI_IMPL_H

#include "base/worker.h"
#include "provisioner/power/driver.h"
#include "provisioner/power/report.h"

enum { BU_IPMI_WORDS_MAX = 6 };

/* A BMC's cipher suite, remembered. */
struct bu_ipmi_known {
	struct bu_ipmi_known *next;
	char *bmc;
	size_t suite;
};

struct bu_ipmi {
	struct bu_loop *loop;
	struct bu_ipmi_known *known;
	struct bu_power_call *calls; /* oldest first */
	int running;
};

typedef void (*bu_ipmi_host_fn)(struct bu_power_call *call, const struct bu_err *err);
typedef void (*bu_ipmi_answer_fn)(struct bu_power_call *call, const char *text);

struct bu_power_call {
	struct bu_power_call *next;
	struct bu_ipmi *ipmi;
	struct bu_ipmi_known *known;
	const struct bu_power_request *request;
	bu_power_done_fn fn;
	void *arg;
	struct bu_job *job;      /* NULL = waits for its turn */
	char host[256], port[8]; /* host: argument of ipmitool; "" = not resolved yet */
	bu_ipmi_host_fn found;
	const char *words[BU_IPMI_WORDS_MAX];
	char *input; /* input of `ipmitool shell`; NULL */
	bu_ipmi_answer_fn then;
	int optional;       /* the answer "unsupported" is no error: text is "" */
	int csv;            /* comma-separated output, without explanations */
	int64_t program_ms; /* time limit of the program; 0 = the default */
	char last[8];       /* a number in words */
	struct bu_bmc_log log;
	struct bu_power_answer answer;
	int *ended; /* of start(), while start() runs */
};

/* Runs ipmitool with these words (NULL at the end), then calls `then` or ends. */
void bu_ipmi_ask(struct bu_power_call *call, bu_ipmi_answer_fn then, int optional,
		 const char *const words[BU_IPMI_WORDS_MAX]);
#define BU_IPMI_ASK(call, then, optional, ...)                                         \
	bu_ipmi_ask((call), (then), (optional),                                        \
		    (const char *const[BU_IPMI_WORDS_MAX]){__VA_ARGS__})
/* Ends the call with call->answer or err, and frees it. */
void bu_ipmi_end(struct bu_power_call *call, const struct bu_err *err);

/* ipmi_host.c: resolves call->host, or gives err. */
void bu_ipmi_find_host(struct bu_power_call *call, bu_ipmi_host_fn found);
/* Frees the call without an answer. */
void bu_ipmi_take_back(struct bu_power_call *call);
/* The cipher suite of the call's BMC. */
const char *bu_ipmi_suite(const struct bu_power_call *call);

/* ipmi_report.c: event log, sensors, firmware, restart of the BMC. */
void bu_ipmi_report(struct bu_power_call *call);

#endif
