/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that advisories have for packages; scan.c calls it. What Secure Boot loads
 * comes from sources of its own: the kernel's is linux-signed-amd64, and all advisories
 * are of linux. Invariant: each package keeps its own source beside that, and a version
 * is never guessed: one that does not read as such a source writes it has that name
 * alone.
 */
#include "images/build/subjects.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char word[] = "-signed";

/* The texts are owned from here on. */
static void
add(struct bu_subjects *subjects, char *name, char *version)
{
	subjects->list = bu_xgrow(subjects->list, &subjects->cap, subjects->count + 1,
				  sizeof(*subjects->list));
	subjects->list[subjects->count++] = (struct bu_subject){name, version};
}

/* "6.1.192-2" of "6.1.192+2": a source of this kind has no revision of its own, and
 * writes that of the other so. Owned. */
static char *
with_revision(const char *version)
{
	char *text = bu_xstrdup(version), *at;

	for (at = text; (at = strchr(at, '+')); at++)
		if (isdigit((unsigned char)at[1])) {
			*at = '-';
			break;
		}
	return text;
}

static int
ends_with(const char *text, size_t size, const char *tail)
{
	size_t length = strlen(tail);

	return size >= length && !strncmp(text + size - length, tail, length);
}

/* "linux" of "linux-signed-amd64", "linux-hwe-6.5" of "linux-signed-hwe-6.5". Owned,
 * NULL = it is no such source. */
static char *
name_before(const struct bu_package *package)
{
	const char *at = strstr(package->source, word), *rest;
	bu_autofree char *arch = bu_xasprintf("-%s", package->arch);
	size_t size;

	if (!at || at == package->source)
		return NULL;
	rest = at + sizeof(word) - 1;
	if (*rest && *rest != '-')
		return NULL;
	size = strlen(rest);
	if (ends_with(rest, size, arch))
		size -= strlen(arch);
	return bu_xasprintf("%.*s%.*s", (int)(at - package->source), package->source,
			    (int)size, rest);
}

/* grub-efi-amd64-signed 1+2.06+13+deb12u1 is of grub2 2.06-13+deb12u1. 1 when it was
 * one of these. */
static int
add_loader(struct bu_subjects *subjects, const struct bu_package *package)
{
	static const struct {
		const char *head, *name;
	} loaders[] = {{"grub-efi-", "grub2"}, {"shim-helpers-", "shim"}};
	const char *source = package->source;

	for (size_t i = 0; i < BU_LEN(loaders); i++) {
		if (strncmp(source, loaders[i].head, strlen(loaders[i].head)) != 0 ||
		    !ends_with(source, strlen(source), word))
			continue;
		if (!strncmp(package->source_version, "1+", 2))
			add(subjects, bu_xstrdup(loaders[i].name),
			    with_revision(package->source_version + 2));
		return 1;
	}
	return 0;
}

/* Ubuntu's grub2-signed and everybody's shim-signed have versions that count by
 * themselves: the packages' say more than the sources'. */
static void
add_signed(struct bu_subjects *subjects, const struct bu_package *package)
{
	bu_autofree char *version = with_revision(package->source_version);
	char *name;

	if (add_loader(subjects, package) || !strcmp(package->source, "shim-signed") ||
	    strcmp(version, package->version) != 0)
		return;
	name = name_before(package);
	if (name)
		add(subjects, name, bu_steal(&version));
}

void
bu_subjects_make(const struct bu_packages *packages, struct bu_subjects *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t i = 0; i < packages->count; i++) {
		const struct bu_package *package = &packages->list[i];
		int source = packages->kind == BU_PACKAGES_DEB;

		add(ret, bu_xstrdup(source ? package->source : package->name),
		    bu_xstrdup(source ? package->source_version : package->version));
		if (source)
			add_signed(ret, package);
	}
}

void
bu_subjects_fini(struct bu_subjects *subjects)
{
	for (size_t i = 0; i < subjects->count; i++) {
		free(subjects->list[i].name);
		free(subjects->list[i].version);
	}
	free(subjects->list);
	memset(subjects, 0, sizeof(*subjects));
}
