/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads the SPDX document of an image; describe.c writes it, a scan reads
 * it. Invariant: everything in it follows from the packages, the image's name and the
 * fixed date of its manifest; what a reader needs again is in the package URLs (purl:
 * kind, name, version, architecture, source), not in sentences.
 */
#include "images/build/sbom.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "images/build/packages_impl.h"

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

/* Of "...%40..." up to a byte of `end`; owned. */
static char *
unquote(const char **text, const char *end)
{
	size_t size = strcspn(*text, end), used = 0;
	char *ret = bu_xstrndup(*text, size);

	for (size_t i = 0; i < size; i++) {
		unsigned char byte;

		if (ret[i] == '%' && i + 2 < size) {
			char digits[3] = {ret[i + 1], ret[i + 2], '\0'};

			if (!bu_hex_decode(digits, &byte, 1)) {
				ret[used++] = (char)byte;
				i += 2;
				continue;
			}
		}
		ret[used++] = ret[i];
	}
	ret[used] = '\0';
	*text += size;
	return ret;
}

/* The value of "key=..."; owned, NULL when it has none. */
static char *
qualifier(const char *url, const char *key)
{
	size_t size = strlen(key);

	for (const char *at = strchr(url, '?'); at; at = strchr(at, '&')) {
		at++;
		if (!strncmp(at, key, size) && at[size] == '=') {
			at += size + 1;
			return unquote(&at, "&");
		}
	}
	return NULL;
}

static int
add_purl(struct bu_packages *packages, const char *url, struct bu_err *err)
{
	int deb = !strncmp(url, "pkg:deb/", 8), rpm = !strncmp(url, "pkg:rpm/", 8);
	const char *at = deb || rpm ? strchr(url + 8, '/') : NULL;
	bu_autofree char *arch = qualifier(url, "arch");
	bu_autofree char *upstream = qualifier(url, "upstream");
	char *source_version = upstream ? strrchr(upstream, '@') : NULL;
	struct bu_package package = {.arch = arch, .source = upstream};
	int rc;

	if (!at || !source_version)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"SBOM: '%.100s' is not a package URL of deb or rpm with "
			"its source",
			url);
	packages->kind = deb ? BU_PACKAGES_DEB : BU_PACKAGES_RPM;
	*source_version++ = '\0';
	package.source_version = source_version;
	at++;
	package.name = unquote(&at, "@?");
	at += *at == '@';
	package.version = unquote(&at, "?");
	rc = bu_packages_add(packages, &package, err);
	free(package.name);
	free(package.version);
	return rc;
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

static void
read_system(const json_t *value, struct bu_packages *packages)
{
	bu_text_copy(packages->os, sizeof(packages->os),
		     bu_json_str(value, "name", ""));
	bu_text_copy(packages->release, sizeof(packages->release),
		     bu_json_str(value, "versionInfo", ""));
	bu_text_copy(packages->codename, sizeof(packages->codename),
		     bu_json_str(value, "summary", ""));
}

int
bu_sbom_packages(const json_t *sbom, struct bu_packages *ret, struct bu_err *err)
{
	struct bu_packages packages = {.kind = BU_PACKAGES_NONE};
	const json_t *value;
	size_t i;

	json_array_foreach (json_object_get(sbom, "packages"), i, value) {
		const json_t *ref =
			json_array_get(json_object_get(value, "externalRefs"), 0);

		if (!strcmp(bu_json_str(value, "SPDXID", ""), OS_ID))
			read_system(value, &packages);
		if (ref && add_purl(&packages, bu_json_str(ref, "referenceLocator", ""),
				    err)) {
			bu_packages_fini(&packages);
			return -1;
		}
	}
	*ret = packages;
	return 0;
}

char *
bu_sbom_load(const struct bu_image *image, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/" BU_SBOM_FILE, image->dir);
	bu_autofree char *text = NULL;
	char digest[BU_DIGEST_SIZE];
	size_t size;

	if (!image->manifest->sbom[0]) {
		bu_err_set(err, BU_ERR_NOTFOUND, 0,
			   "image %s has no list of packages: it is a whole disk, its "
			   "system has neither dpkg nor rpm, or it was built by a "
			   "version before; build or import it again",
			   image->manifest->name);
		return NULL;
	}
	text = bu_file_read(path, BU_SBOM_MAX, &size, err);
	if (!text)
		return NULL;
	bu_sha256_hex(text, size, digest);
	if (strcmp(digest, image->manifest->sbom) != 0) {
		bu_err_set(err, BU_ERR_VERIFY, 0,
			   "%s has SHA-256 %s, the manifest says %s; build the image "
			   "again",
			   path, digest, image->manifest->sbom);
		return NULL;
	}
	return bu_steal(&text);
}
