/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was written on a node, and what its agent finds there. The record lies beside
 * the files that it is of: the appliance makes it, with each item that writes a
 * configuration, and it is the last of its files. The agent compares it with what is
 * there and tells the differences.
 */
#ifndef BU_MODEL_APPLIED_H
#define BU_MODEL_APPLIED_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/record.h"
#include "model/work.h"

#define BU_APPLIED_PATH "/var/lib/bringup/applied.json"

enum {
	BU_APPLIED_VERSION = 1,
	BU_APPLIED_KARGS_MAX = 2047, /* as BU_BOOTARGS_MAX */
	BU_RUNS_DIFFERS_MAX = 16,
	BU_RUNS_PATH_MAX = 255,
};

struct bu_applied_file {
	const char *path;
	int mode;
	const char *digest; /* SHA-256 of its content */
};

struct bu_applied {
	const char *node;   /* its name then */
	const char *step;   /* that wrote them */
	const char *facets; /* digest of profiles/export/facets.h: what they are of */
	const char *kargs;  /* the node's kernel arguments; NULL = they are not ours */
	struct bu_applied_file *files;
	const char *patterns[BU_WORK_WORDS_MAX]; /* what matches and is no file is not
						    as it was written */
	size_t files_count, patterns_count;
};
extern const struct bu_field bu_applied_fields[];

/* The record of these files; owned. applied: without its files. */
char *bu_applied_text(const struct bu_applied *applied,
		      const struct bu_work_file *files, size_t count);

enum bu_differs { BU_DIFFERS_CHANGED, BU_DIFFERS_MISSING, BU_DIFFERS_ADDED };
extern const char *const bu_differs_names[];

struct bu_runs_file {
	const char *path;
	enum bu_differs how;
};
extern const struct bu_field bu_runs_file_fields[];

/* What an agent tells of the installed system that it is in. */
struct bu_runs {
	const char *kernel;  /* its release */
	const char *cmdline; /* of the kernel, without words of bringup's own */
	/* Of the record; facets NULL = there is none: what lies there is not known. */
	const char *node, *step, *facets;
	const char *kargs;  /* as the record has them; NULL = not ours */
	const char *loader; /* as the boot loader has them; NULL = could not be read */
	const char *booted; /* those of them that this boot began with; NULL = not known
			     */
	struct bu_runs_file differs[BU_RUNS_DIFFERS_MAX]; /* by path */
	size_t differs_count;
	int64_t more; /* that differ besides */
};
extern const struct bu_field bu_runs_fields[];

/* Kernel arguments word by word, as they are compared: one blank between two, without
 * the quotes and backslashes that a loader adds or takes away. Owned. */
char *bu_kargs_plain(const char *line);
/* Those words of kargs that stand in the line, in the same order; owned, plain. */
char *bu_kargs_in(const char *kargs, const char *line);
/* The line without words that begin with "bringup.": a token may be among them. Owned.
 */
char *bu_kargs_told(const char *line);

#endif
