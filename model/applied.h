/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of the files written on a node, and the agent's report about them. The
 * appliance makes the record with each work item that writes a configuration; the
 * record is the item's last file and lies beside the others. The agent compares it with
 * the files and reports the differences.
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
	const char *node;   /* the node's name at that time */
	const char *step;   /* the step that wrote the files */
	const char *facets; /* digest of the facets (profiles/export/facets.h) in the
			       files */
	const char *kargs;  /* the node's kernel arguments; NULL = not by bringup */
	struct bu_applied_file *files;
	const char *patterns[BU_WORK_WORDS_MAX]; /* other files that match differ from
						    the record */
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

/* The agent's report about the installed system, from inside. */
struct bu_runs {
	const char *kernel;  /* the release */
	const char *cmdline; /* of the kernel, without bringup's own words */
	/* Of the record; facets NULL = no record: the files on the node are unknown. */
	const char *node, *step, *facets;
	const char *kargs;  /* in the record; NULL = not by bringup */
	const char *loader; /* in the boot loader; NULL = unreadable */
	const char *booted; /* the kargs that this boot has; NULL = not known */
	struct bu_runs_file differs[BU_RUNS_DIFFERS_MAX]; /* by path */
	size_t differs_count;
	int64_t more; /* further files that differ */
};
extern const struct bu_field bu_runs_fields[];

/* Kernel arguments for a comparison: one blank between words, without the quotes and
 * backslashes that a loader adds or removes. Owned. */
char *bu_kargs_plain(const char *line);
/* The words of kargs that are in the line, in the same order; owned, plain. */
char *bu_kargs_in(const char *kargs, const char *line);
/* The line without words that begin with "bringup.", which may be tokens. Owned. */
char *bu_kargs_told(const char *line);

#endif
