/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup image scan: the packages of a stored image, by its SBOM, against a file of
 * advisories. Its exit code says whether something was found that counts.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/table.h"
#include "cli/commands/image_impl.h"
#include "images/build/recipe.h"
#include "images/build/sbom.h"
#include "images/build/scan.h"
#include "images/build/sign.h"

static int
load_packages(const struct bu_image_place *place, const char *name,
	      struct bu_packages *ret, struct bu_err *err)
{
	bu_autofree char *pem = bu_image_public_key(place->cache, err);
	bu_autojson json_t *sbom = NULL;
	bu_autofree char *text = NULL;
	struct bu_image image;

	if (!pem || bu_image_load(place->images, name, pem, &image, err))
		return -1;
	text = bu_sbom_load(&image, err);
	bu_image_fini(&image);
	sbom = text ? bu_json_parse(text, strlen(text), "SBOM", err) : NULL;
	return sbom ? bu_sbom_packages(sbom, ret, err) : -1;
}

static void
print_scan(const struct bu_scan *scan, enum bu_severity least)
{
	static const char *const headings[] = {"SEVERITY", "ADVISORY", "PACKAGE",
					       "VERSION",  "FIXED IN", NULL};
	struct bu_table *table = bu_table_create(headings);

	for (size_t i = 0; i < scan->count; i++) {
		const struct bu_scan_finding *it = &scan->list[i];

		if (it->severity >= least)
			bu_table_row(table, (const char *const[]){
						    bu_severity_name(it->severity),
						    it->id, it->package, it->version,
						    it->fixed[0] ? it->fixed : "-"});
	}
	bu_table_print(table, stdout);
	bu_table_destroy(table);
}

static void
print_json(const struct bu_scan *scan, enum bu_severity least)
{
	bu_autojson json_t *list = json_array();

	for (size_t i = 0; i < scan->count; i++) {
		const struct bu_scan_finding *it = &scan->list[i];

		if (it->severity >= least)
			json_array_append_new(
				list,
				json_pack("{s:s, s:s, s:s, s:s, s:s}", "severity",
					  bu_severity_name(it->severity), "id", it->id,
					  "package", it->package, "version",
					  it->version, "fixed", it->fixed));
	}
	json_dumpf(list, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
}

BU_IMAGE_VERB(bu_image_cmd_scan)
{
	enum bu_severity least = BU_SEVERITY_LOW;
	struct bu_packages packages;
	struct bu_scan scan;
	size_t counted = 0;
	int rc;

	if (!options->advisories)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--advisories FILE is needed: Debian's security "
				  "tracker (JSON) or advisories of OSV");
	if (options->severity && bu_severity_from_name(options->severity, &least, err))
		return -1;
	if (load_packages(place, names[0], &packages, err))
		return -1;
	rc = bu_scan_packages(&packages, options->advisories, &scan, err);
	bu_packages_fini(&packages);
	if (rc)
		return -1;
	while (counted < scan.count && scan.list[counted].severity >= least)
		counted++;
	if (options->json)
		print_json(&scan, least);
	else if (counted)
		print_scan(&scan, least);
	rc = counted ? bu_err_set(
			       err, BU_ERR_FINDINGS, 0,
			       "%s: %zu of severity %s or more, by %zu advisories of "
			       "its release",
			       names[0], counted, bu_severity_name(least), scan.known)
		     : 0;
	if (!rc && !options->json)
		printf("%s: nothing of severity %s or more, by %zu advisories of its "
		       "release\n",
		       names[0], bu_severity_name(least), scan.known);
	bu_scan_fini(&scan);
	return rc;
}
