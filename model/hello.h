/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports of an agent about itself and its work under way; model/work.h has results.
 * The agent writes by these tables, the daemon reads by them. Texts and values are
 * borrowed.
 */
#ifndef BU_MODEL_HELLO_H
#define BU_MODEL_HELLO_H

#include <jansson.h>
#include <stdint.h>

#include "base/record.h"

/* "protocol" in each hello and each request for work. */
enum { BU_AGENT_PROTOCOL = 1 };

/* Called before other fields of the body are read: another protocol may have others.
 * BU_ERR_STATE: err names both numbers and what to do. */
bu_must int bu_hello_check_protocol(const json_t *body, const char *node,
				    struct bu_err *err);

/* The system in which the agent runs. */
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
	const json_t *stamp; /* {"text","sig"}; null = none on the disk */
	const json_t *inventory;
	const json_t *agent; /* bu_agent_said_fields; NULL = not installed in a slot */
	const json_t *crash; /* bu_crash_said_fields; NULL = no crash log */
	/* The newest anchor that it was told (model/anchor.h); NULL = none */
	const json_t *anchor;
	const json_t *runs; /* bu_runs_fields (model/applied.h); NULL in the ramdisk */
	/* The stamp that its appliance told it last (model/stamp.h); NULL = none */
	const json_t *settled;
};
extern const struct bu_field bu_hello_fields[];

/* The end of the log of a kernel that crashed, found by the agent in a later boot:
 * printable lines. */
enum { BU_CRASH_LINES = 60, BU_CRASH_LINE = 200, BU_CRASH_KIND_SIZE = 16 };
struct bu_crash_said {
	const char *kind; /* "Panic", "Oops"; "" = not told */
	int64_t at_ms;    /* Unix time of the crash log, by the machine's clock */
	const json_t *lines;
};
extern const struct bu_field bu_crash_said_fields[];

/* Result of an agent's change: the new agent runs; it failed its trial, by ending
 * repeatedly or without an answer in time; or it was not started. RELEASED: a person
 * allows another try. */
enum bu_agent_change {
	BU_AGENT_CHANGED,
	BU_AGENT_ENDED,
	BU_AGENT_SILENT,
	BU_AGENT_REFUSED,
	BU_AGENT_RELEASED
};
extern const char *const bu_agent_change_names[];

/* The agent of a hello, by its bundle's version and digest. failed: the agent that it
 * replaced after a failed trial, until the appliance has heard of that. */
struct bu_agent_said {
	const char *version, *digest;
	int trial;            /* on trial: an earlier agent may replace it again */
	const json_t *failed; /* bu_agent_failed_fields; NULL = none */
};
extern const struct bu_field bu_agent_said_fields[];
struct bu_agent_failed {
	const char *version, *digest;
	enum bu_agent_change why; /* neither CHANGED nor RELEASED */
};
extern const struct bu_field bu_agent_failed_fields[];

struct bu_ask_work {
	int64_t wait_ms;     /* longest wait for an answer; 0 = none */
	const char *boot_id; /* "" = not told by the kernel */
	/* Digest of what is revoked by the anchor that it keeps; another one is told
	 * with the answer. "" = it keeps none yet; NULL = it never keeps one. */
	const char *revoked;
	/* `of` in the stamp that it keeps; another one is told with the answer. "" = it
	 * keeps none yet; NULL = it never keeps one. */
	const char *settled;
	/* SHA-256 of the CAs that it trusts (its ca.pem); others are told with the
	 * answer. NULL = it takes none. */
	const char *ca;
};
extern const struct bu_field bu_ask_work_fields[];

struct bu_progress {
	const char *id;    /* of the work item */
	const char *stage; /* "write" */
	int64_t done_bytes, total_bytes;
};
extern const struct bu_field bu_progress_fields[];

#endif
