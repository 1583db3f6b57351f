/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent says of itself and of its work under way; results are in model/work.h.
 * The agent writes these by their tables, the daemon reads them. Texts and values are
 * borrowed.
 */
#ifndef BU_MODEL_HELLO_H
#define BU_MODEL_HELLO_H

#include <jansson.h>
#include <stdint.h>

#include "base/record.h"

/* Said with each hello and each question for work: "protocol". */
enum { BU_AGENT_PROTOCOL = 1 };

/* Before anything else of the body is read: another protocol may have other fields.
 * BU_ERR_STATE names both numbers and what to do. */
bu_must int bu_hello_check_protocol(const json_t *body, const char *node,
				    struct bu_err *err);

/* The system that it runs in. */
enum bu_where { BU_WHERE_RAMDISK, BU_WHERE_INSTALLED };
extern const char *const bu_where_names[];

struct bu_enroll {
	const char *node, *token;
	const char *csr; /* PEM */
	const json_t *inventory;
};
extern const struct bu_field bu_enroll_fields[];

struct bu_hello {
	enum bu_where where;
	const json_t *stamp; /* {"text","sig"}; null = the disk has none */
	const json_t *inventory;
	const json_t *agent; /* bu_agent_said_fields; NULL = it lies in no slot */
	const json_t *crash; /* bu_crash_said_fields; NULL = its kernel left nothing */
	const json_t
		*runs; /* bu_runs_fields (model/applied.h); NULL = of the ramdisk */
};
extern const struct bu_field bu_hello_fields[];

/* The end of the log that a kernel left when it crashed, which an agent finds at a
 * later boot: printable lines. */
enum { BU_CRASH_LINES = 60, BU_CRASH_LINE = 200, BU_CRASH_KIND_SIZE = 16 };
struct bu_crash_said {
	const char *kind; /* "Panic", "Oops"; "" = it does not say */
	int64_t at_ms;    /* Unix time of what it left, by the machine's clock */
	const json_t *lines;
};
extern const struct bu_field bu_crash_said_fields[];

/* What came of an agent's change: it runs; or it failed its trial, because it ended
 * again and again or was not answered in time, or was not even started. Or a person has
 * looked at that, and it may be tried again. */
enum bu_agent_change {
	BU_AGENT_CHANGED,
	BU_AGENT_ENDED,
	BU_AGENT_SILENT,
	BU_AGENT_REFUSED,
	BU_AGENT_RELEASED
};
extern const char *const bu_agent_change_names[];

/* Which agent says hello, by its bundle's version and digest; and which one failed and
 * made way for it, until the appliance has heard that. */
struct bu_agent_said {
	const char *version, *digest;
	int trial;            /* it is new, and may have to make way yet */
	const json_t *failed; /* bu_agent_failed_fields; NULL = none did */
};
extern const struct bu_field bu_agent_said_fields[];
struct bu_agent_failed {
	const char *version, *digest;
	enum bu_agent_change why; /* neither CHANGED nor RELEASED */
};
extern const struct bu_field bu_agent_failed_fields[];

struct bu_ask_work {
	int64_t wait_ms;     /* for an answer, at most; 0 = not at all */
	const char *boot_id; /* "" = its kernel tells none */
};
extern const struct bu_field bu_ask_work_fields[];

struct bu_progress {
	const char *id;    /* of the work item */
	const char *stage; /* "write" */
	int64_t done_bytes, total_bytes;
};
extern const struct bu_field bu_progress_fields[];

#endif
