/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Meanings of kernel log lines about GPUs and NICs, as data (data/events.json). A
 * linter refuses rows without class, action, source or date. The gate reads the file
 * and sends the rows to the agents, whose audit matches each line of the kernel's log.
 * Pure; the caller reads the file.
 *
 * {"format":1,"events":[{"of":"xid"|"sxid"|"amd"|"nic","number"?,"to"?,"pattern"?,
 *  "line"?,"class":"fatal"|"reset"|"job"|"ignore","action","source","date"}]}
 * A row matches its number (up to `to`), and lines that contain the parts of its
 * pattern, separated by `*`, in order. The first matching row counts. line: the word
 * "Fatal" or "Nonfatal" in the line overrides the class.
 */
#ifndef BU_MODEL_KERNEL_EVENT_H
#define BU_MODEL_KERNEL_EVENT_H

#include <jansson.h>

#include "base/err.h"

/* id, name, meaning for the part */
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
	const char *action; /* "" = none known */
};

/* BU_ERR_INVAL: err names the row and its fault. */
bu_must int bu_kernel_events_check(const json_t *value, struct bu_err *err);
/* The rows for agents: without their sources. */
json_t *bu_kernel_events_wire(const json_t *value);
/* Meaning of a line of this kind by rows (of the wire; NULL = none). number -1 = none.
 * line: the text after the number, or the whole line. */
struct bu_kernel_event bu_kernel_events_find(const json_t *rows, const char *of,
					     int number, const char *line);
/* Does the line contain the pattern's parts in order? */
int bu_kernel_event_fits(const char *pattern, const char *line);

#endif
