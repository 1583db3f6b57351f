/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent of the boot ramdisk puts into a system, on a disk (jobs.c) or in
 * memory (memory_boot.c), and what it tells meanwhile; jobs.c reads the files of other
 * items by it. Invariant: what a file holds was said once, in full.
 */
#include "agent/system.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/file.h"

void
bu_system_files_fini(struct bu_system_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->owned[i]);
}

void
bu_system_files_add(struct bu_system_files *files, const char *path, mode_t mode,
		    char *content, size_t size)
{
	struct bu_install_file *file = &files->list[files->count];

	file->path = path;
	file->mode = mode;
	file->content = content;
	file->size = size;
	files->owned[files->count++] = content;
}

/* What the file holds, decoded; owned. NULL when it is said twice, not at all or not in
 * hex digits. */
static char *
content_of(const struct bu_work_file *file, size_t *ret_size)
{
	char *content;

	if (!file->content == !file->content_hex)
		return NULL;
	*ret_size =
		file->content ? strlen(file->content) : strlen(file->content_hex) / 2;
	if (file->content)
		return bu_xstrdup(file->content);
	content = bu_xmalloc(*ret_size + 1);
	if (bu_hex_decode(file->content_hex, content, *ret_size) == 0)
		return content;
	free(content);
	return NULL;
}

int
bu_system_files_read(const struct bu_work_file *list, size_t count,
		     struct bu_system_files *files, struct bu_err *err)
{
	for (size_t i = 0; i < count; i++) {
		size_t size;
		char *content = content_of(&list[i], &size);

		if (!content)
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "files[%zu]: expected content or "
					  "content_hex, one of them",
					  i);
		bu_system_files_add(files, list[i].path, (mode_t)list[i].mode, content,
				    size);
	}
	return 0;
}

static void
on_progress(const char *stage, uint64_t done_bytes, uint64_t total_bytes, void *arg)
{
	struct bu_system_told *told = arg;

	if (bu_link_progress(told->link, told->id, stage, done_bytes, total_bytes))
		told->cancelled = 1;
}

static int
on_cancelled(void *arg)
{
	const struct bu_system_told *told = arg;

	return told->cancelled;
}

struct bu_install_hooks
bu_system_hooks(struct bu_system_told *told)
{
	return (struct bu_install_hooks){on_progress, on_cancelled, told};
}

/* The installed agent goes on with our identity. */
int
bu_system_add_identity(const struct bu_identity *identity,
		       struct bu_system_files *files, struct bu_err *err)
{
	static const char *const names[][2] = {
		{"key.pem", "/var/lib/bringup/key.pem"},
		{"cert.pem", "/var/lib/bringup/cert.pem"},
		{"ca.pem", "/var/lib/bringup/ca.pem"},
	};
	char *text;

	for (size_t i = 0; i < BU_LEN(names); i++) {
		bu_autofree char *path =
			bu_xasprintf("%s/%s", identity->dir, names[i][0]);
		size_t size;
		char *content = bu_file_read(path, 65536, &size, err);

		if (!content)
			return -1;
		bu_system_files_add(files, names[i][1], 0600, content, size);
	}
	text = bu_identity_text(identity);
	bu_system_files_add(files, "/var/lib/bringup/agent.json", 0600, text,
			    strlen(text));
	return 0;
}
