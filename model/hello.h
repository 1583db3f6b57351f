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

/* BU_AGENT_PROTOCOL: what an agent can do, said with each question for work, so that it
 * is known as soon as there is an item for it. 1 (and says nothing): a probe of one
 * port, whose depth the agent chooses. 2: of several rails, with the item's depth and
 * warm-up. 3: it knows the group of checks "fabric". 4: it changes itself, if it lies
 * in a slot. 5: it makes arrays. 6: it loads systems into memory. 7: it installs whole
 * disks. 8: it mirrors systems. 9: it writes one of two roots. 10: in a system
 * with two it asks for work when its root is confirmed. 11: it knows the group of
 * checks "nvlink". 12: it reads the counters of InfiniBand switches. 13: it traces the
 * flows of probes. All are served: a pool has agents of two releases while it is
 * upgraded. */
enum {
	BU_HELLO_VERSION = 1,
	BU_AGENT_RAILS = 2,
	BU_AGENT_LOOPS = 3,
	BU_AGENT_TRAVELS = 4,
	BU_AGENT_ARRAYS = 5,
	BU_AGENT_LOADS = 6,
	BU_AGENT_WHOLE = 7,
	BU_AGENT_MIRRORS = 8,
	BU_AGENT_ROOTS = 9,
	BU_AGENT_CONFIRMS = 10,
	BU_AGENT_NVLINK = 11,
	BU_AGENT_SWITCHES = 12,
	BU_AGENT_TRACES = 13,
	BU_AGENT_PROTOCOL = BU_AGENT_TRACES
};

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
	const json_t *agent; /* bu_agent_said_fields; NULL = of before, or in no slot */
	const json_t *crash; /* bu_crash_said_fields; NULL = its kernel left nothing */
	const json_t *runs;  /* bu_runs_fields (model/applied.h); NULL = of before, or
				of the ramdisk */
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
	int64_t wait_ms; /* for an answer, at most; 0 = not at all */
	int protocol;
	const char *boot_id; /* "" = of before */
};
extern const struct bu_field bu_ask_work_fields[];

struct bu_progress {
	const char *id;    /* of the work item */
	const char *stage; /* "write" */
	int64_t done_bytes, total_bytes;
};
extern const struct bu_field bu_progress_fields[];

#endif
