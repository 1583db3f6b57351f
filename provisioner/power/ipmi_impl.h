/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by ipmi.c (power, boot, accounts), ipmi_report.c, and ipmi_run.c (the
 * programs) with ipmi_host.c (the address), which both use. */
#ifndef BU_POWER_IPMI_IMPL_H
#define BU_POWER_IPMI_IMPL_H

#include "base/worker.h"
#include "provisioner/power/driver.h"
#include "provisioner/power/report.h"

enum { BU_IPMI_WORDS_MAX = 6 };

/* What is remembered of a BMC: the suite that it has. */
struct bu_ipmi_known {
	struct bu_ipmi_known *next;
	char *bmc;
	size_t suite;
};

struct bu_ipmi {
	struct bu_loop *loop;
	struct bu_ipmi_known *known;
	struct bu_power_call *calls; /* in their order */
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
	struct bu_job *job;      /* NULL: it waits for its turn */
	char host[256], port[8]; /* host: what ipmitool is given; "" = not known yet */
	bu_ipmi_host_fn found;
	const char *words[BU_IPMI_WORDS_MAX];
	char *input; /* what `ipmitool shell` reads; NULL */
	bu_ipmi_answer_fn then;
	int optional;       /* that it answers "unsupported" is no error: text is "" */
	int csv;            /* commas between its columns, and no explanations */
	int64_t program_ms; /* it may take so long; 0 = as others */
	char last[8];       /* a number among the words */
	struct bu_bmc_log log;
	struct bu_power_answer answer;
	int *ended; /* of start(), while it runs */
};

/* Runs ipmitool with these words, which end with NULL; then `then`, or the end. */
void bu_ipmi_ask(struct bu_power_call *call, bu_ipmi_answer_fn then, int optional,
		 const char *const words[BU_IPMI_WORDS_MAX]);
#define BU_IPMI_ASK(call, then, optional, ...)                                         \
	bu_ipmi_ask((call), (then), (optional),                                        \
		    (const char *const[BU_IPMI_WORDS_MAX]){__VA_ARGS__})
/* With call->answer, or with err. The call is gone then. */
void bu_ipmi_end(struct bu_power_call *call, const struct bu_err *err);

/* ipmi_host.c: call->host is there, or err is given. */
void bu_ipmi_find_host(struct bu_power_call *call, bu_ipmi_host_fn found);
/* It is gone, without an answer. */
void bu_ipmi_take_back(struct bu_power_call *call);
/* The cipher suite that its BMC has. */
const char *bu_ipmi_suite(const struct bu_power_call *call);

/* ipmi_report.c: event log, sensors, firmware, restart of the BMC. */
void bu_ipmi_report(struct bu_power_call *call);

#endif
