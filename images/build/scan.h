/* SPDX-License-Identifier: Apache-2.0 */
/* Which advisories an image's packages have, by a file of them; nothing is asked for.
 */
#ifndef BU_IMAGES_BUILD_SCAN_H
#define BU_IMAGES_BUILD_SCAN_H

#include "base/err.h"
#include "images/build/packages.h"

/* What nobody has judged yet may be anything: it is between low and medium.
 * id, name */
#define BU_SEVERITIES(X)                                                               \
	X(NEGLIGIBLE, "negligible")                                                    \
	X(LOW, "low")                                                                  \
	X(UNKNOWN, "unknown")                                                          \
	X(MEDIUM, "medium")                                                            \
	X(HIGH, "high")                                                                \
	X(CRITICAL, "critical")

enum bu_severity {
#define X(id, name) BU_SEVERITY_##id,
	BU_SEVERITIES(X)
#undef X
		BU_SEVERITY_COUNT
};
const char *bu_severity_name(enum bu_severity severity);
/* BU_ERR_USAGE names those that there are. */
bu_must int bu_severity_from_name(const char *name, enum bu_severity *ret,
				  struct bu_err *err);
/* Of "CVSS:3.1/AV:N/..."; UNKNOWN for another text. */
enum bu_severity bu_severity_of_cvss(const char *vector);

struct bu_scan_finding {
	char id[64]; /* "CVE-2024-1234", "RLSA-2024:1" */
	enum bu_severity severity;
	char package[128]; /* of Debian and Ubuntu the source's name */
	char version[128];
	char fixed[128]; /* "" = there is none yet */
};

struct bu_scan {
	struct bu_scan_finding *list; /* the gravest first, then by id and package */
	size_t count, cap;
	size_t known; /* advisories of the image's release that were in the file */
};

/* BU_ERR_INVAL for a file that is none, or has nothing for the image's release: "found
 * nothing" would be no answer. */
bu_must int bu_scan_packages(const struct bu_packages *packages, const char *path,
			     struct bu_scan *ret, struct bu_err *err);
void bu_scan_fini(struct bu_scan *scan);

#endif
