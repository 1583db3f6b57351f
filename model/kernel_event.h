/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel's words about GPUs and NICs mean, as data (data/events.json), and the
 * linter that refuses rows without a class, an action, a source and a date. The gate
 * reads the file and hands the rows to the agents, whose audit asks them of each line
 * of the kernel's log. Pure; the file is the caller's to find.
 *
 * {"format":1,"events":[{"of":"xid"|"sxid"|"amd"|"nic","number"?,"to"?,"pattern"?,
 *  "line"?,"class":"fatal"|"reset"|"job"|"ignore","action","source","date"}]}
 * A row is about its number (up to `to`), and about lines that have the parts of its
 * pattern, which `*` parts, one behind the other; the first row that fits counts. line:
 * the word "Fatal" or "Nonfatal" of the line goes before the class.
 */
#ifndef BU_MODEL_KERNEL_EVENT_H
#define BU_MODEL_KERNEL_EVENT_H

#include <jansson.h>

#include "base/err.h"

/* id, name, what it says of the part */
#define BU_KERNEL_CLASSES(X)                                                           \
	X(FATAL, "fatal", "the part is broken")                                        \
	X(RESET, "reset", "the part serves no one until it is reset")                  \
	X(JOB, "job", "a job's error")                                                 \
	X(IGNORE, "ignore", "nothing is to be done")                                   \
	X(NOTE, "note", "its line says that it is not fatal")                          \
	X(UNKNOWN, "unknown", "no row is about it")

enum bu_kernel_class {
#define X(id, name, what) BU_KERNEL_##id,
	BU_KERNEL_CLASSES(X)
#undef X
};

struct bu_kernel_event {
	enum bu_kernel_class class;
	const char *action; /* "" = none is known */
};

/* BU_ERR_INVAL names the row and what is wrong with it. */
bu_must int bu_kernel_events_check(const json_t *value, struct bu_err *err);
/* The rows as agents get them: without their sources. */
json_t *bu_kernel_events_wire(const json_t *value);
/* What a line means by these rows (the wire's; NULL = none), of this kind; number -1:
 * it has none. line: what follows the number, or the whole. */
struct bu_kernel_event bu_kernel_events_find(const json_t *rows, const char *of,
					     int number, const char *line);
/* Parts of a pattern in their order. */
int bu_kernel_event_fits(const char *pattern, const char *line);

#endif
