/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advisories from a file: Debian's security tracker (tracker/data/json, some hundred
 * megabytes in memory: read a source package at a time), or OSV's objects, alone, in a
 * list or one after the other.
 */
#ifndef BU_IMAGES_BUILD_ADVISORIES_H
#define BU_IMAGES_BUILD_ADVISORIES_H

#include <jansson.h>

#include "base/err.h"

struct bu_advisories_to {
	/* {"CVE-1": {"releases": {"bookworm": {...}}}} of a source package. */
	void (*debian)(const char *source, const json_t *entries, void *arg);
	void (*osv)(const json_t *advisory, void *arg);
	void *arg;
};

/* BU_ERR_INVAL for a file that is neither, or ends in the middle. */
bu_must int bu_advisories_read(const char *path, const struct bu_advisories_to *to,
			       struct bu_err *err);

#endif
