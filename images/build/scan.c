/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares an image's packages with advisories; `bringup image scan` calls it.
 * Invariant: an advisory of another release, or of another family of packages, is never
 * counted, neither as found nor as looked at.
 */
#include "images/build/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "images/build/advisories.h"
#include "images/build/subjects.h"
#include "images/build/versions.h"

struct scanner {
	const struct bu_packages *packages;
	struct bu_subjects subjects;
	struct bu_scan *scan;
};

/* What one advisory says of one package. */
struct verdict {
	const char *id;
	enum bu_severity severity;
	const char *fixed;
};

/* The words of Debian, Ubuntu and Red Hat; "low**" is low, too. */
static enum bu_severity
severity_of_word(const char *word)
{
	static const struct {
		const char *word;
		enum bu_severity severity;
	} known[] = {
		{"unimportant", BU_SEVERITY_NEGLIGIBLE},
		{"negligible", BU_SEVERITY_NEGLIGIBLE},
		{"low", BU_SEVERITY_LOW},
		{"medium", BU_SEVERITY_MEDIUM},
		{"moderate", BU_SEVERITY_MEDIUM},
		{"high", BU_SEVERITY_HIGH},
		{"important", BU_SEVERITY_HIGH},
		{"critical", BU_SEVERITY_CRITICAL},
	};

	for (size_t i = 0; i < BU_LEN(known); i++)
		if (!strncasecmp(word, known[i].word, strlen(known[i].word)))
			return known[i].severity;
	return BU_SEVERITY_UNKNOWN;
}

/* Several packages of one source have the advisory once. */
static void
found(struct scanner *scanner, const struct bu_subject *subject,
      const struct verdict *verdict)
{
	struct bu_scan *scan = scanner->scan;
	struct bu_scan_finding finding = {.severity = verdict->severity};

	bu_text_copy(finding.id, sizeof(finding.id), verdict->id);
	bu_text_copy(finding.package, sizeof(finding.package), subject->name);
	bu_text_copy(finding.version, sizeof(finding.version), subject->version);
	bu_text_copy(finding.fixed, sizeof(finding.fixed), verdict->fixed);
	for (size_t i = scan->count; i-- > 0 && !strcmp(scan->list[i].id, finding.id);)
		if (!strcmp(scan->list[i].package, finding.package) &&
		    !strcmp(scan->list[i].version, finding.version))
			return;
	scan->list =
		bu_xgrow(scan->list, &scan->cap, scan->count + 1, sizeof(*scan->list));
	scan->list[scan->count++] = finding;
}

/* --- Debian's security tracker --- */

static void
judge_debian(struct scanner *scanner, const struct bu_subject *subject, const char *id,
	     const json_t *release)
{
	const char *status = bu_json_str(release, "status", "");
	const char *fixed = bu_json_str(release, "fixed_version", "");
	const struct verdict verdict = {
		id, severity_of_word(bu_json_str(release, "urgency", "")), fixed};

	/* "0" is Debian's word for "was never affected". */
	if (!strcmp(status, "resolved") &&
	    (!strcmp(fixed, "0") || bu_deb_compare(subject->version, fixed) >= 0))
		return;
	found(scanner, subject, &verdict);
}

static void
on_debian(const char *source, const json_t *entries, void *arg)
{
	struct scanner *scanner = arg;
	const struct bu_packages *packages = scanner->packages;
	const struct bu_subjects *subjects = &scanner->subjects;
	const json_t *entry;
	const char *id;

	if (strcmp(packages->os, "debian") != 0)
		return;
	json_object_foreach ((json_t *)entries, id, entry) {
		const json_t *release = json_object_get(
			json_object_get(entry, "releases"), packages->codename);

		scanner->scan->known += release != NULL;
		for (size_t i = 0; release && i < subjects->count; i++)
			if (!strcmp(subjects->list[i].name, source))
				judge_debian(scanner, &subjects->list[i], id, release);
	}
}

/* --- OSV --- */

/* "Ubuntu:22.04:LTS" is of ubuntu 22.04, "Rocky Linux:9" of rocky 9.4. */
static int
is_ours(const struct bu_packages *packages, const char *ecosystem)
{
	static const struct {
		const char *os, *head;
	} systems[] = {
		{"debian", "Debian"},       {"ubuntu", "Ubuntu"},
		{"rocky", "Rocky Linux"},   {"almalinux", "AlmaLinux"},
		{"rhel", "Red Hat"},        {"opensuse-leap", "openSUSE"},
		{"openeuler", "openEuler"}, {"azurelinux", "Azure Linux"},
	};
	size_t major = strcspn(packages->release, ".");

	for (size_t i = 0; i < BU_LEN(systems); i++) {
		const char *at = ecosystem + strlen(systems[i].head);

		if (strcmp(packages->os, systems[i].os) != 0 ||
		    strncmp(ecosystem, systems[i].head, strlen(systems[i].head)) != 0 ||
		    (*at && *at != ':'))
			continue;
		if (!*at)
			return 1;
		while (*at == ':') {
			size_t size = strcspn(++at, ":");

			if ((size == strlen(packages->release) || size == major) &&
			    size && !strncmp(at, packages->release, size))
				return 1;
			at += size;
		}
	}
	return 0;
}

static int
compare(const struct scanner *scanner, const char *a, const char *b)
{
	return scanner->packages->kind == BU_PACKAGES_DEB ? bu_deb_compare(a, b)
							  : bu_rpm_compare(a, b);
}

/* From `from` on the version is affected, unless an event ends that before it. The
 * first version that has it fixed is in *ret_fixed. */
static int
lasts(const struct scanner *scanner, const json_t *events, const char *from,
      const char *version, const char **ret_fixed)
{
	const json_t *event;
	int first = !strcmp(from, "0"), affected = 1;
	size_t i;

	if (!first && compare(scanner, version, from) < 0)
		return 0;
	json_array_foreach ((json_t *)events, i, event) {
		const char *fixed = bu_json_str(event, "fixed", NULL);
		const char *last = bu_json_str(event, "last_affected", NULL);

		if (fixed && compare(scanner, version, fixed) >= 0 &&
		    (first || compare(scanner, fixed, from) > 0))
			affected = 0;
		if (last && compare(scanner, version, last) > 0 &&
		    (first || compare(scanner, last, from) >= 0))
			affected = 0;
		if (fixed && compare(scanner, version, fixed) < 0 &&
		    (!**ret_fixed || compare(scanner, fixed, *ret_fixed) < 0))
			*ret_fixed = fixed;
	}
	return affected;
}

static int
is_affected(const struct scanner *scanner, const json_t *affected, const char *version,
	    const char **ret_fixed)
{
	const json_t *range, *event, *listed;
	int yes = 0;
	size_t i, k;

	json_array_foreach (json_object_get(affected, "versions"), i, listed)
		yes |= json_is_string(listed) &&
		       !strcmp(json_string_value(listed), version);
	json_array_foreach (json_object_get(affected, "ranges"), i, range) {
		const json_t *events = json_object_get(range, "events");

		if (strcmp(bu_json_str(range, "type", ""), "ECOSYSTEM") != 0)
			continue;
		json_array_foreach ((json_t *)events, k, event) {
			const char *from = bu_json_str(event, "introduced", NULL);

			yes |= from && lasts(scanner, events, from, version, ret_fixed);
		}
	}
	return yes;
}

/* Where its sources put it: by the package, by the advisory, by a vector. */
static enum bu_severity
severity_of(const json_t *advisory, const json_t *affected)
{
	static const struct {
		const char *object, *key;
	} places[] = {{"ecosystem_specific", "severity"},
		      {"ecosystem_specific", "urgency"},
		      {"database_specific", "severity"}};
	enum bu_severity severity = BU_SEVERITY_UNKNOWN;
	const json_t *entry;
	size_t i;

	for (i = 0; i < 2 * BU_LEN(places) && severity == BU_SEVERITY_UNKNOWN; i++)
		severity = severity_of_word(
			bu_json_str(json_object_get(i % 2 ? advisory : affected,
						    places[i / 2].object),
				    places[i / 2].key, ""));
	json_array_foreach (json_object_get(advisory, "severity"), i, entry) {
		const char *score = bu_json_str(entry, "score", "");

		if (severity == BU_SEVERITY_UNKNOWN)
			severity = bu_severity_of_cvss(score);
		if (severity == BU_SEVERITY_UNKNOWN)
			severity = severity_of_word(score);
	}
	return severity;
}

static void
judge_osv(struct scanner *scanner, const json_t *advisory, const json_t *affected)
{
	const char *name =
		bu_json_str(json_object_get(affected, "package"), "name", "");

	for (size_t i = 0; i < scanner->subjects.count; i++) {
		const struct bu_subject *subject = &scanner->subjects.list[i];
		struct verdict verdict = {.id = bu_json_str(advisory, "id", ""),
					  .fixed = ""};

		if (strcmp(subject->name, name) != 0 ||
		    !is_affected(scanner, affected, subject->version, &verdict.fixed))
			continue;
		verdict.severity = severity_of(advisory, affected);
		found(scanner, subject, &verdict);
	}
}

static void
on_osv(const json_t *advisory, void *arg)
{
	struct scanner *scanner = arg;
	const json_t *affected;
	int ours = 0;
	size_t i;

	if (json_object_get(advisory, "withdrawn"))
		return;
	json_array_foreach (json_object_get(advisory, "affected"), i, affected) {
		const json_t *package = json_object_get(affected, "package");

		if (!is_ours(scanner->packages, bu_json_str(package, "ecosystem", "")))
			continue;
		ours = 1;
		judge_osv(scanner, advisory, affected);
	}
	scanner->scan->known += ours;
}

/* --- all of it --- */

static int
gravest_first(const void *a, const void *b)
{
	const struct bu_scan_finding *x = a, *y = b;
	int order = (x->severity < y->severity) - (x->severity > y->severity);

	if (!order)
		order = strcmp(x->id, y->id);
	return order ? order : strcmp(x->package, y->package);
}

int
bu_scan_packages(const struct bu_packages *packages, const char *path,
		 struct bu_scan *ret, struct bu_err *err)
{
	struct bu_scan scan = {.count = 0};
	struct scanner scanner = {.packages = packages, .scan = &scan};
	const struct bu_advisories_to to = {on_debian, on_osv, &scanner};
	int rc;

	if (!packages->count)
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "the list of packages is empty, which says nothing "
				  "of what is in the image");
	bu_subjects_make(packages, &scanner.subjects);
	rc = bu_advisories_read(path, &to, err);
	bu_subjects_fini(&scanner.subjects);
	if (!rc && !scan.known)
		rc = bu_err_set(err, BU_ERR_INVAL, 0,
				"%s has no advisory for %s %s, which the image is; "
				"fetch the one for this release",
				path, packages->os[0] ? packages->os : "(no name)",
				packages->release);
	if (rc) {
		bu_scan_fini(&scan);
		return -1;
	}
	if (scan.count)
		qsort(scan.list, scan.count, sizeof(*scan.list), gravest_first);
	*ret = scan;
	return 0;
}

void
bu_scan_fini(struct bu_scan *scan)
{
	free(scan->list);
	memset(scan, 0, sizeof(*scan));
}
