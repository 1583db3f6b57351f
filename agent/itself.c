/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the running kernel and the files of the configuration with the record that
 * was written beside them; called by session.c with each hello, and between two.
 * Invariants: nothing but /run is written; a part that cannot be read is told as not
 * known, never as it should be.
 */
#include "agent/itself.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/sysroot.h"
#include "model/applied.h"

enum { FILE_MAX = 4 * 1024 * 1024, LINE_MAX_BYTES = 65536 };

/* Which of the node's kernel arguments this boot began with. */
#define BOOTED "run/bringup/kargs"

/* Clients of DHCP write it anew, without our first line; nobody else does. */
static const char resolver[] = "/etc/resolv.conf";
static const char our_head[] = "# Written by bringup";

struct look {
	const char *root;
	const struct bu_applied *applied;
	struct bu_runs *runs;
	char **texts; /* owned: what runs borrows */
	size_t texts_count, texts_cap;
};

static const char *
own(struct look *look, char *text)
{
	look->texts = bu_xgrow(look->texts, &look->texts_cap, look->texts_count + 1,
			       sizeof(*look->texts));
	look->texts[look->texts_count++] = text;
	return text;
}

static void
add(struct look *look, const char *path, enum bu_differs how)
{
	struct bu_runs *runs = look->runs;

	if (runs->differs_count == BU_RUNS_DIFFERS_MAX ||
	    strlen(path) > BU_RUNS_PATH_MAX)
		runs->more++;
	else
		runs->differs[runs->differs_count++] = (struct bu_runs_file){path, how};
}

static int
is_resolver_of_others(const struct bu_applied_file *file, const char *content)
{
	return strcmp(file->path, resolver) == 0 &&
	       strncmp(content, our_head, strlen(our_head)) != 0;
}

static void
look_at_file(struct look *look, const struct bu_applied_file *file)
{
	bu_autofree char *path = bu_xasprintf("%s%s", look->root, file->path);
	bu_autofree char *content = NULL;
	char digest[BU_DIGEST_SIZE];
	struct stat st;
	size_t size;

	if (lstat(path, &st) != 0) {
		add(look, file->path, BU_DIFFERS_MISSING);
		return;
	}
	content =
		S_ISREG(st.st_mode) ? bu_file_read(path, FILE_MAX, &size, NULL) : NULL;
	if (content) {
		bu_sha256_hex(content, size, digest);
		if (is_resolver_of_others(file, content) ||
		    (strcmp(digest, file->digest) == 0 &&
		     (st.st_mode & 07777) == (mode_t)file->mode))
			return;
	} else if (strcmp(file->path, resolver) == 0 && S_ISLNK(st.st_mode)) {
		return;
	}
	add(look, file->path, BU_DIFFERS_CHANGED);
}

static int
is_written(const struct bu_applied *applied, const char *path)
{
	for (size_t i = 0; i < applied->files_count; i++)
		if (strcmp(applied->files[i].path, path) == 0)
			return 1;
	return 0;
}

/* Files that the next configuration would take away. */
static void
look_for_more(struct look *look, const char *pattern)
{
	bu_autofree char *below = bu_xasprintf("%s%s", look->root, pattern);
	size_t skip = strlen(look->root);
	glob_t found = {0};

	if (bu_path_is_file(pattern) && glob(below, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (!is_written(look->applied, found.gl_pathv[i] + skip))
				add(look,
				    own(look, bu_xstrdup(found.gl_pathv[i] + skip)),
				    BU_DIFFERS_ADDED);
	globfree(&found);
}

/* Looked at once in a boot: what the loader has later is for the next one. */
static char *
booted_with(const struct bu_itself *itself, const char *kargs, const char *line)
{
	const char *first = itself->loader ? itself->loader : kargs;
	char *text = bu_sysroot_read(itself->root, LINE_MAX_BYTES, NULL, BOOTED);
	bu_autofree char *dir = NULL, *path = NULL;
	struct bu_err err = {0};

	if (text)
		return text;
	text = bu_kargs_in(first, line);
	dir = bu_xasprintf("%s/run/bringup", itself->root);
	path = bu_xasprintf("%s/" BOOTED, itself->root);
	if (bu_mkdir_p(dir, 0755, &err) != 0 ||
	    bu_file_write(path, text, strlen(text), 0600, &err) != 0)
		bu_warn("itself", "%s", err.text);
	return text;
}

static int
read_record(const char *root, json_t **ret_value, struct bu_applied *ret)
{
	bu_autofree char *path = bu_xasprintf("%s" BU_APPLIED_PATH, root);
	struct bu_err err = {0};

	if (!bu_file_exists(path))
		return -1;
	*ret_value = bu_json_load(path, &err);
	if (*ret_value &&
	    bu_record_from_json(bu_applied_fields, *ret_value, ret, &err) == 0)
		return 0;
	bu_warn("itself", "%s", err.text);
	return -1;
}

static void
compare(const struct bu_itself *itself, struct look *look, const char *line)
{
	const struct bu_applied *applied = look->applied;
	struct bu_runs *runs = look->runs;

	runs->node = applied->node;
	runs->step = applied->step;
	runs->facets = applied->facets;
	for (size_t i = 0; i < applied->files_count; i++)
		look_at_file(look, &applied->files[i]);
	for (size_t i = 0; i < applied->patterns_count; i++)
		look_for_more(look, applied->patterns[i]);
	if (!applied->kargs)
		return;
	runs->kargs = own(look, bu_kargs_plain(applied->kargs));
	if (itself->loader)
		runs->loader = own(look, bu_kargs_plain(itself->loader));
	runs->booted = own(look, booted_with(itself, runs->kargs, line));
}

json_t *
bu_itself_tell(const struct bu_itself *itself)
{
	bu_autofree char *line =
		bu_sysroot_read(itself->root, LINE_MAX_BYTES, NULL, "proc/cmdline");
	bu_autofree char *told = bu_kargs_told(line ? line : "");
	bu_autojson json_t *value = NULL;
	struct bu_applied applied = {.files_count = 0};
	char kernel[80];
	struct bu_runs runs = {.kernel = kernel, .cmdline = told};
	struct look look = {.root = itself->root, .applied = &applied, .runs = &runs};
	json_t *json;

	bu_sysroot_line(itself->root, kernel, sizeof(kernel),
			"proc/sys/kernel/osrelease");
	if (strlen(told) > BU_APPLIED_KARGS_MAX)
		told[BU_APPLIED_KARGS_MAX] = '\0';
	if (read_record(itself->root, &value, &applied) == 0) {
		compare(itself, &look, line ? line : "");
		json = bu_record_to_json(bu_runs_fields, &runs);
		bu_record_fini(bu_applied_fields, &applied);
	} else {
		json = bu_record_to_json(bu_runs_fields, &runs);
	}
	for (size_t i = 0; i < look.texts_count; i++)
		free(look.texts[i]);
	free(look.texts);
	return json;
}

void
bu_itself_look(struct bu_itself *itself)
{
	struct bu_err err = {0};
	char *found = NULL;

	if (!itself->bootargs)
		return;
	free(bu_steal(&itself->loader));
	if (itself->bootargs(NULL, &found, &err) == 0)
		itself->loader = found;
	else
		bu_debug("itself", "%s", err.text);
}

void
bu_itself_fini(struct bu_itself *itself)
{
	free(bu_steal(&itself->loader));
}
