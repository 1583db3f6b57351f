/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup init: reads and checks the profile, and hands it over to bringup-backup,
 * which makes the state directory. Invariant: a profile with errors makes none.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/commands/profile.h"
#include "cli/git_source.h"

static const char usual[] = "/var/lib/bringup";

/* The standard input of the program that this one becomes. */
static int
hand_over(const json_t *ask, struct bu_err *err)
{
	bu_autofree char *program = bu_program_path("bringup-backup");
	int fd = memfd_create("init", 0);
	FILE *file = fd >= 0 ? fdopen(fd, "r+") : NULL;

	if (!file || json_dumpf(ask, file, JSON_COMPACT) != 0 || fflush(file) != 0 ||
	    lseek(fd, 0, SEEK_SET) != 0 || dup2(fd, STDIN_FILENO) < 0)
		return bu_err_set(err, BU_ERR_IO, 0, "hand the profile over: %m");
	execl(program, program, "init", (char *)NULL);
	return bu_err_set(err, BU_ERR_IO, 0, "%s: %m", program);
}

static void
set(json_t *ask, const char *name, const char *value)
{
	if (value)
		json_object_set_new(ask, name, json_string(value));
}

/* New reference. */
static json_t *
make_ask(const struct bu_options *options, const struct bu_git_source *source,
	 struct bu_err *err)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = NULL;
	struct bu_tree *tree = NULL;
	bu_autojson json_t *value = NULL;
	bu_autofree char *text = NULL;
	json_t *ask = NULL;

	if (bu_profile_check(source->dir, &findings, &tree, &desired, err) == 0) {
		value = bu_tree_to_json(tree);
		text = bu_json_canonical(value);
		ask = json_pack("{s:s,s:s,s:s,s:s}", "state",
				options->state ? options->state : usual, "site",
				desired->site.name, "tree", text, "commit",
				source->commit);
		set(ask, "site_key", options->site_key);
		set(ask, "identity", options->identity);
		set(ask, "sheet", options->sheet);
	}
	bu_findings_print(&findings, stderr);
	bu_findings_clear(&findings);
	bu_desired_destroy(desired);
	bu_tree_destroy(tree);
	return ask;
}

static int
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int
bu_cmd_init(const struct bu_options *options, struct bu_err *err)
{
	struct bu_options from = *options;
	struct bu_git_source source;
	bu_autojson json_t *ask = NULL;
	char *folder = NULL;

	if (!options->from)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "init needs --from, a folder with the profile or the "
				  "URL of its git repository");
	if (options->identity && !options->site_key)
		return bu_err_set(err, BU_ERR_USAGE, 0,
				  "--identity opens the backup of --site-key");
	folder = is_folder(options->from) && !options->ref && !options->path
			 ? (char *)(uintptr_t)options->from
			 : NULL;
	from.git = folder ? NULL : options->from;
	from.args = &folder;
	from.args_count = folder != NULL;
	if (bu_git_source_open(&from, &source, err) != 0)
		return -1;
	ask = make_ask(options, &source, err);
	bu_git_source_close(&source);
	return ask ? hand_over(ask, err) : -1;
}
