/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the SPDX document of an image; called by describe.c. Invariant: everything in
 * the document follows from the packages, the image's name and the fixed date of its
 * manifest, and scanners find kind, name, version, architecture and source of a package
 * in its URL (purl).
 */
#include "images/build/sbom.h"

#include <ctype.h>
#include <string.h>

#include "base/crypto.h"
#include "base/json.h"
#include "base/text.h"

#define IMAGE_ID "SPDXRef-Image"
#define OS_ID "SPDXRef-OperatingSystem"
#define NONE "NOASSERTION"

/* --- package URLs --- */

static void
add_quoted(char **url, const char *text)
{
	for (; *text; text++)
		bu_text_add(url, "",
			    isalnum((unsigned char)*text) || strchr("-._~", *text)
				    ? "%c"
				    : "%%%02X",
			    (unsigned char)*text);
}

static void
add_qualifier(char **url, char separator, const char *key, const char *value)
{
	bu_text_add(url, "", "%c%s=", separator, key);
	add_quoted(url, value);
}

/* "pkg:deb/debian/libc6@2.36-9?arch=amd64&distro=bookworm&upstream=glibc%402.36-9" */
static char *
purl_of(const struct bu_packages *packages, const struct bu_package *package)
{
	const char *distro =
		packages->codename[0] ? packages->codename : packages->release;
	char *url = bu_xasprintf("pkg:%s/%s/",
				 packages->kind == BU_PACKAGES_DEB ? "deb" : "rpm",
				 packages->os[0] ? packages->os : "unknown");
	bu_autofree char *upstream =
		bu_xasprintf("%s@%s", package->source, package->source_version);

	add_quoted(&url, package->name);
	bu_text_add(&url, "", "@");
	add_quoted(&url, package->version);
	add_qualifier(&url, '?', "arch", package->arch);
	if (*distro)
		add_qualifier(&url, '&', "distro", distro);
	add_qualifier(&url, '&', "upstream", upstream);
	return url;
}

/* --- the document --- */

/* Letters, digits, '.' and '-' alone; the number makes it the only one. */
static char *
id_of(size_t number, const char *name)
{
	char *id = bu_xasprintf("SPDXRef-Package-%zu-%s", number, name);

	for (char *at = id; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '.')
			*at = '-';
	return id;
}

static json_t *
element(const char *id, const char *name, const char *version)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:s}", "SPDXID", id,
			 "name", name, "versionInfo", version, "downloadLocation", NONE,
			 "filesAnalyzed", 0, "licenseConcluded", NONE,
			 "licenseDeclared", NONE, "copyrightText", NONE);
}

static void
relate(json_t *list, const char *from, const char *how, const char *to)
{
	json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "spdxElementId", from,
					      "relationshipType", how,
					      "relatedSpdxElement", to));
}

static void
add_system(const struct bu_packages *packages, const char *name, json_t *list,
	   json_t *relations)
{
	json_t *image = element(IMAGE_ID, name, "");
	json_t *os = element(OS_ID, packages->os[0] ? packages->os : "unknown",
			     packages->release);

	json_object_del(image, "versionInfo");
	json_object_set_new(image, "primaryPackagePurpose", json_string("CONTAINER"));
	json_object_set_new(os, "primaryPackagePurpose",
			    json_string("OPERATING-SYSTEM"));
	if (!packages->release[0])
		json_object_del(os, "versionInfo");
	if (packages->codename[0])
		json_object_set_new(os, "summary", json_string(packages->codename));
	json_array_append_new(list, image);
	json_array_append_new(list, os);
	relate(relations, "SPDXRef-DOCUMENT", "DESCRIBES", IMAGE_ID);
	relate(relations, IMAGE_ID, "CONTAINS", OS_ID);
}

static void
add_packages(const struct bu_packages *packages, json_t *list, json_t *relations)
{
	for (size_t i = 0; i < packages->count; i++) {
		const struct bu_package *package = &packages->list[i];
		bu_autofree char *id = id_of(i + 1, package->name);
		bu_autofree char *purl = purl_of(packages, package);
		json_t *value = element(id, package->name, package->version);

		json_object_set_new(value, "externalRefs",
				    json_pack("[{s:s, s:s, s:s}]", "referenceCategory",
					      "PACKAGE-MANAGER", "referenceType",
					      "purl", "referenceLocator", purl));
		json_array_append_new(list, value);
		relate(relations, IMAGE_ID, "CONTAINS", id);
	}
}

json_t *
bu_sbom_make(const struct bu_packages *packages, const char *name, const char *created)
{
	json_t *list = json_array(), *relations = json_array();
	bu_autofree char *space = NULL;
	char digest[BU_DIGEST_SIZE];

	add_system(packages, name, list, relations);
	add_packages(packages, list, relations);
	/* Has to be one that no other document has. */
	bu_json_digest(list, digest);
	space = bu_xasprintf("https://bringup.invalid/sbom/%s/%s", name, digest);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:{s:s, s:[s]}, s:o, s:o}",
			 "spdxVersion", "SPDX-2.3", "dataLicense", "CC0-1.0", "SPDXID",
			 "SPDXRef-DOCUMENT", "name", name, "documentNamespace", space,
			 "creationInfo", "created", created, "creators",
			 "Tool: bringup", "packages", list, "relationships", relations);
}
