/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a check found: all of it, not only the first. One line reads
 * "file:line: [section] key: what is wrong; what is allowed".
 */
#ifndef BU_PROFILES_LOAD_FINDINGS_H
#define BU_PROFILES_LOAD_FINDINGS_H

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

/* UNSUPPORTED: the profile can be read, and this version cannot carry it out.
 * POLICY: it can be read and planned, and is not allowed to be applied. */
enum bu_finding_level {
	BU_FINDING_WARNING,
	BU_FINDING_POLICY,
	BU_FINDING_ERROR,
};

struct bu_finding {
	enum bu_finding_level level;
	char *file; /* path inside the tree; "" when it is about the whole tree */
	int line;   /* from 1; 0 when it is about the whole file */
	char *text; /* "[section] key: what is wrong; what is allowed" */
};

/* Starts zeroed: struct bu_findings findings = {0}. */
struct bu_findings {
	struct bu_finding *items; /* sorted by file and line after a load */
	size_t count, cap;
	size_t errors, warnings, violations;
	size_t left_out; /* beyond BU_FINDINGS_MAX: counted, not kept */
};

enum { BU_FINDINGS_MAX = 1000 };

void bu_findings_add(struct bu_findings *findings, enum bu_finding_level level,
		     const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* Forgets those of the level, as if there had been none. */
void bu_findings_drop(struct bu_findings *findings, enum bu_finding_level level);
void bu_findings_sort(struct bu_findings *findings);
/* One line each; warnings say so. */
void bu_findings_print(const struct bu_findings *findings, FILE *out);
/* [{"level","file","line","text"}]; level: warning, policy, error. */
json_t *bu_findings_json(const struct bu_findings *findings);
/* BU_ERR_INVAL with the first error and how many more there are. Always -1. */
int bu_findings_err(const struct bu_findings *findings, struct bu_err *err);
void bu_findings_clear(struct bu_findings *findings);

#endif
