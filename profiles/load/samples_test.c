/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every sample site can be read, without a warning; what this version does not carry
 * out yet is refused, and nothing else; each purpose of a pool has a sample; what is
 * said of GPUs has a source.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "profiles/language/schema.h"
#include "profiles/load/load.h"
#include "tests/support/unit.h"

#define SAMPLES BU_SRCDIR "/profiles/samples"
enum { SAMPLES_LEAST = 9, PURPOSES_MAX = 64 };

/* Purposes that the samples show. */
static char *seen[PURPOSES_MAX];
static size_t seen_count;

static void
note_purposes(const struct bu_desired *desired)
{
	for (size_t i = 0; i < desired->pools_count; i++) {
		const char *purpose = desired->pools[i].purpose;

		ck_assert_msg(purpose != NULL, "%s", desired->pools[i].name);
		ck_assert_uint_lt(seen_count, PURPOSES_MAX);
		seen[seen_count++] = bu_xstrdup(purpose);
	}
}

static void
check_sources(const struct bu_tree *tree, const char *name)
{
	for (size_t i = 0; i < tree->count; i++) {
		const char *at = tree->files[i].text;

		while ((at = strstr(at, "\ngpu_model = "))) {
			const char *source = at;

			while (source > tree->files[i].text &&
			       strncmp(source, "[hardware", 9) != 0)
				source--;
			/* The comment above the section. */
			while (source > tree->files[i].text &&
			       strncmp(source, "Source:", 7) != 0 &&
			       strncmp(source, "\n\n", 2) != 0)
				source--;
			ck_assert_msg(strncmp(source, "Source:", 7) == 0,
				      "%s/%s: a GPU without a source", name,
				      tree->files[i].path);
			at++;
		}
	}
}

/* Lines of each sample that ask for what is not done yet: driver = kubernetes, labels,
 * taints, backup. */
static const struct {
	const char *name;
	size_t refused;
} sites[] = {
	{"three-machines", 1}, {"cpu-inference", 2}, {"cpu-training", 0},
	{"gpu-training", 4},   {"gpu-1024", 1},      {"gpu-inference", 7},
	{"feature-store", 6},  {"data-pipeline", 4}, {"control-plane", 2},
};

static void
check_refused(const struct bu_findings *findings, const char *name)
{
	size_t i = 0;

	while (i < BU_LEN(sites) && strcmp(sites[i].name, name) != 0)
		i++;
	ck_assert_msg(i < BU_LEN(sites), "%s is in no row here", name);
	ck_assert_msg(findings->unsupported == sites[i].refused,
		      "%s: %zu lines are refused", name, findings->unsupported);
}

static void
check_sample(const char *name)
{
	bu_autofree char *path = bu_xasprintf(SAMPLES "/%s", name);
	struct bu_findings findings = {0};
	struct bu_desired *desired;
	struct bu_tree *tree;
	struct bu_err err;

	tree = bu_tree_load(path, &err);
	ck_assert_msg(tree != NULL, "%s", tree ? "" : err.text);
	desired = bu_profiles_load(tree, &findings);
	bu_findings_print(&findings, stderr);
	ck_assert_msg(desired && findings.warnings + findings.violations == 0, "%s",
		      name);
	check_refused(&findings, name);
	note_purposes(desired);
	check_sources(tree, name);
	bu_desired_destroy(desired);
	bu_findings_clear(&findings);
	bu_tree_destroy(tree);
}

static int
was_seen(const char *purpose, size_t size)
{
	for (size_t i = 0; i < seen_count; i++)
		if (strlen(seen[i]) == size && strncmp(seen[i], purpose, size) == 0)
			return 1;
	return 0;
}

START_TEST(samples_pass_and_show_every_purpose)
{
	const char *purposes = bu_schema_key("pool", "purpose")->arg;
	DIR *dir = opendir(SAMPLES);
	struct dirent *entry;
	int samples = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR)
			continue;
		check_sample(entry->d_name);
		samples++;
	}
	closedir(dir);
	ck_assert_int_ge(samples, SAMPLES_LEAST);
	while (*purposes) {
		size_t size = strcspn(purposes, "|");

		ck_assert_msg(was_seen(purposes, size) ||
				      strncmp(purposes, "general", size) == 0,
			      "no sample for %s", purposes);
		purposes += size + (purposes[size] == '|');
	}
	for (size_t i = 0; i < seen_count; i++)
		free(seen[i]);
}
END_TEST

BU_UNIT("samples", samples_pass_and_show_every_purpose)
