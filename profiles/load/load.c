/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader: which files are read, and in which order things are checked. Called by
 * the command line (`check`) and by the daemon (a new revision), with the same result.
 * Invariant: a desired state comes out only when there is not a single error, and all
 * errors that can be seen at once are reported at once, with what [policy] forbids.
 */
#include "profiles/load/load.h"

#include <fnmatch.h>
#include <string.h>

#include "profiles/load/load_internal.h"

static void
scan_file(struct bu_loader *ld, size_t index, int drop_in)
{
	struct bu_tree_file file = ld->tree->files[index];

	file.path = ld->desired->files[index]; /* outlives the tree, as origins must */
	bu_ini_scan(&ld->ini, &file, drop_in, ld->findings);
}

static int
is_ini(const char *path)
{
	return !bu_tree_is_check(path) && strcmp(path + strlen(path) - 4, ".ini") == 0;
}

/* Scans the files that the pattern matches; the number of matches. */
static size_t
include_pattern(struct bu_loader *ld, const char *pattern, char *seen)
{
	size_t matches = 0;

	for (size_t i = 0; i < ld->tree->count; i++) {
		const char *path = ld->tree->files[i].path;

		if (!is_ini(path) || fnmatch(pattern, path, FNM_PATHNAME) != 0)
			continue;
		matches++;
		if (!seen[i])
			scan_file(ld, i, 0);
		seen[i] = 1;
	}
	return matches;
}

static void
include_files(struct bu_loader *ld, char *seen)
{
	const struct bu_ini_section *site = bu_load_site(&ld->ini);
	const struct bu_ini_entry *entry = site ? bu_ini_entry(site, "include") : NULL;
	/* The list of sections moves while files are added to it. */
	bu_autofree char *list = bu_xstrdup(entry ? entry->value : "");
	const char *rest = list;
	char *word;

	if (!site)
		bu_findings_add(ld->findings, BU_FINDING_ERROR, "site.ini", 1,
				"[site] is missing; site.ini starts with it");
	while ((word = bu_value_next_word(&rest))) {
		bu_autofree char *pattern = word;

		if (include_pattern(ld, pattern, seen) == 0)
			bu_load_wrong(ld, bu_load_site(&ld->ini), "include",
				      "'%.80s' matches no *.ini file of the tree",
				      pattern);
	}
}

/* conf.d/<name>.ini, in the order of their names, after everything else. */
static void
scan_drop_ins(struct bu_loader *ld, char *seen)
{
	for (size_t i = 0; i < ld->tree->count; i++) {
		const char *path = ld->tree->files[i].path;

		if (seen[i] || fnmatch("conf.d/*.ini", path, FNM_PATHNAME) != 0)
			continue;
		scan_file(ld, i, 1);
		seen[i] = 1;
	}
}

/* By then everything has been read: a drop-in's include would silently do nothing. */
static void
check_include(struct bu_loader *ld)
{
	const struct bu_ini_section *site = bu_load_site(&ld->ini);
	const struct bu_ini_entry *entry = site ? bu_ini_entry(site, "include") : NULL;

	if (entry && strncmp(entry->file, "conf.d/", 7) == 0)
		bu_load_wrong(ld, site, "include",
			      "has no effect in a drop-in; put it into site.ini");
}

static void
scan_files(struct bu_loader *ld)
{
	const struct bu_tree_file *first = bu_tree_find(ld->tree, "site.ini");
	bu_autofree char *seen = bu_xcalloc(ld->tree->count, 1);

	if (!first) {
		bu_findings_add(ld->findings, BU_FINDING_ERROR, "site.ini", 0,
				"is missing; a profile tree starts there, with [site]");
		return;
	}
	seen[first - ld->tree->files] = 1;
	scan_file(ld, (size_t)(first - ld->tree->files), 0);
	include_files(ld, seen);
	scan_drop_ins(ld, seen);
	for (size_t i = 0; i < ld->tree->count; i++)
		if (!seen[i] && is_ini(ld->tree->files[i].path))
			bu_findings_add(ld->findings, BU_FINDING_WARNING,
					ld->tree->files[i].path, 0,
					"is not read; [site] include does not name it");
	bu_ini_join(&ld->ini, ld->findings);
	check_include(ld);
}

struct bu_desired *
bu_profiles_load(const struct bu_tree *tree, struct bu_findings *findings)
{
	struct bu_loader ld = {.tree = tree, .findings = findings};
	struct bu_desired *desired = bu_xcalloc(1, sizeof(*desired));
	size_t before = findings->errors;

	ld.desired = desired;
	memcpy(desired->digest, tree->digest, sizeof(desired->digest));
	desired->files = bu_xcalloc(tree->count, sizeof(*desired->files));
	desired->files_count = tree->count;
	for (size_t i = 0; i < tree->count; i++)
		desired->files[i] = bu_xstrdup(tree->files[i].path);
	scan_files(&ld);
	if (ld.ini.count) {
		bu_load_objects(&ld);
		bu_load_nodes(&ld);
		bu_load_checks(&ld);
	}
	bu_findings_sort(findings);
	bu_load_fini(&ld);
	bu_ini_clear(&ld.ini);
	if (findings->errors == before)
		return desired;
	bu_desired_destroy(desired);
	return NULL;
}
