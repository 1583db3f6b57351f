/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of packages in memory; who reads one (packages.c, packages_rpm.c)
 * fills it. Invariant: each text in it is short, printable ASCII without blanks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "images/build/packages_impl.h"

void
bu_package_fini(struct bu_package *package)
{
	free(package->name);
	free(package->version);
	free(package->arch);
	free(package->source);
	free(package->source_version);
}

int
bu_packages_add(struct bu_packages *packages, const struct bu_package *package,
		struct bu_err *err)
{
	const char *const texts[] = {package->name, package->version, package->arch,
				     package->source, package->source_version};
	struct bu_package *at;

	for (size_t i = 0; i < BU_LEN(texts); i++)
		if (!texts[i] || !*texts[i] || !bu_text_is_ascii(texts[i]) ||
		    strlen(texts[i]) > 200 || strchr(texts[i], ' '))
			return bu_err_set(err, BU_ERR_VERIFY, 0,
					  "the list of packages has one (number %zu, "
					  "'%.80s') without a proper name, version, "
					  "architecture or source",
					  packages->count + 1,
					  package->name ? package->name : "");
	packages->list = bu_xgrow(packages->list, &packages->cap, packages->count + 1,
				  sizeof(*packages->list));
	at = &packages->list[packages->count++];
	*at = (struct bu_package){bu_xstrdup(texts[0]), bu_xstrdup(texts[1]),
				  bu_xstrdup(texts[2]), bu_xstrdup(texts[3]),
				  bu_xstrdup(texts[4])};
	return 0;
}

static int
by_name(const void *a, const void *b)
{
	const struct bu_package *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->arch, y->arch);
	return order ? order : strcmp(x->version, y->version);
}

void
bu_packages_sort(struct bu_packages *packages)
{
	if (packages->count)
		qsort(packages->list, packages->count, sizeof(*packages->list),
		      by_name);
}

void
bu_packages_fini(struct bu_packages *packages)
{
	for (size_t i = 0; i < packages->count; i++)
		bu_package_fini(&packages->list[i]);
	free(packages->list);
	memset(packages, 0, sizeof(*packages));
}

const struct bu_package *
bu_packages_find(const struct bu_packages *packages, const char *name)
{
	for (size_t i = 0; i < packages->count; i++)
		if (!strcmp(packages->list[i].name, name))
			return &packages->list[i];
	return NULL;
}
