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
 * warm-up. 3: it knows the group of checks "fabric". All are served: a pool has agents
 * of two releases while it is upgraded. */
enum {
	BU_HELLO_VERSION = 1,
	BU_AGENT_RAILS = 2,
	BU_AGENT_LOOPS = 3,
	BU_AGENT_PROTOCOL = BU_AGENT_LOOPS
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
};
extern const struct bu_field bu_hello_fields[];

struct bu_ask_work {
	int64_t wait_ms; /* for an answer, at most; 0 = not at all */
	int protocol;
};
extern const struct bu_field bu_ask_work_fields[];

struct bu_progress {
	const char *id;    /* of the work item */
	const char *stage; /* "write" */
	int64_t done_bytes, total_bytes;
};
extern const struct bu_field bu_progress_fields[];

#endif
