/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The site's own checks: executables in checks.d of the tree, and which validation
 * wants which. Called by load.c. Invariant: what a validation names is there.
 */
#include <ctype.h>
#include <string.h>

#include "profiles/load/load_internal.h"

enum { NAME_LENGTH_MAX = 40, SIZE_MAX_BYTES = 256 * 1024 };

static const char none[] = "none";

static int
name_ok(const char *name)
{
	size_t size = strlen(name);

	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
			return 0;
	return size <= NAME_LENGTH_MAX && strcmp(name, none) != 0;
}

static void
read_check(struct bu_loader *ld, const struct bu_tree_file *file)
{
	const char *name = file->path + sizeof(BU_TREE_CHECKS) - 1;
	const char *problem = NULL;
	struct bu_desired *desired = ld->desired;

	if (!name_ok(name))
		problem = "this cannot be the name of a check; allowed are 1 to 40 of "
			  "[A-Za-z0-9._-], but not 'none'";
	else if (file->size > SIZE_MAX_BYTES)
		problem = "is larger than 256 KiB; put what it needs into the image";
	else if (strncmp(file->text, "#!", 2) != 0)
		problem = "does not begin with '#!' and its interpreter";
	if (problem) {
		bu_findings_add(ld->findings, BU_FINDING_ERROR, file->path, 1, "%s",
				problem);
		return;
	}
	desired->checks = bu_xrealloc(desired->checks, (desired->checks_count +
							1) * sizeof(*desired->checks));
	desired->checks[desired->checks_count++] = (struct bu_desired_check){
		.name = bu_xstrdup(name), .text = bu_xstrdup(file->text)};
}

static int
there_is(const struct bu_desired *desired, const char *name)
{
	for (size_t i = 0; i < desired->checks_count; i++)
		if (strcmp(desired->checks[i].name, name) == 0)
			return 1;
	return 0;
}

static void
check_names(struct bu_loader *ld, const struct bu_desired_validation *validation,
	    const struct bu_ini_section *section)
{
	const char *rest = validation->checks;
	char *name;

	if (!rest || strcmp(rest, none) == 0)
		return;
	while ((name = bu_value_next_word(&rest))) {
		if (!there_is(ld->desired, name))
			bu_load_wrong(ld, section, "checks",
				      "there is no " BU_TREE_CHECKS
				      "%s; allowed are the checks there, or none",
				      name);
		free(name);
	}
}

void
bu_load_site_checks(struct bu_loader *ld)
{
	struct bu_desired *desired = ld->desired;

	for (size_t i = 0; i < ld->tree->count; i++)
		if (bu_tree_is_check(ld->tree->files[i].path))
			read_check(ld, &ld->tree->files[i]);
	for (size_t i = 0; i < desired->validations_count; i++)
		check_names(ld, &desired->validations[i], ld->validation_sections[i]);
}

int
bu_desired_check_wanted(const struct bu_desired_validation *validation,
			const char *name)
{
	const char *rest = validation->checks;
	char *word;
	int wanted = 0;

	if (!rest)
		return 1;
	while (!wanted && (word = bu_value_next_word(&rest))) {
		wanted = strcmp(word, name) == 0;
		free(word);
	}
	return wanted;
}
