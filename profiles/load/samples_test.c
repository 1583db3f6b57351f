/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bringup check` accepts every sample site, without a warning; each purpose of a pool
 * has a sample; what is said of GPUs has a source.
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

/* The program itself, with its own answer: 0, and a last line that ends so. */
static void
run_check(const char *name)
{
	bu_autofree char *command =
		bu_xasprintf(BU_BUILDDIR "/bringup check " SAMPLES "/%s 2>&1", name);
	char line[512], last[512] = "";
	FILE *out = popen(command, "r");
	int status;

	ck_assert_ptr_nonnull(out);
	while (fgets(line, sizeof(line), out))
		memcpy(last, line, sizeof(last));
	status = pclose(out);
	ck_assert_msg(status == 0 && strstr(last, ", ok (revision"), "%s: %s", name,
		      last);
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
	run_check(name);
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
