/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what machines say on their consoles; console.c calls it. Invariants: nothing
 * is stripped of what came, two files of BU_CONSOLE_FILE_MAX are all that a node takes,
 * and a full disk loses lines and stops nothing.
 */
#include "provisioner/power/console_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

struct bu_console_file {
	char *path, *before;
	unsigned begun; /* files, by this process */
	int fd;
	size_t size;
	int line_open; /* the last byte ended no line */
	int full;
	int failed; /* said already */
};

/* Its first line tells it from every other one, for console_read.c. */
static int
begin_file(struct bu_console_file *file, struct bu_err *err)
{
	bu_autofree char *line = NULL;
	char at[24];

	bu_time_iso(bu_wall_ms(bu_clock_system()), at);
	line = bu_xasprintf("[bringup %s file %u of %d]\r\n", at, ++file->begun,
			    (int)getpid());
	if (bu_write_all(file->fd, line, strlen(line), err) != 0)
		return -1;
	file->size = strlen(line);
	file->line_open = 0;
	return 0;
}

static int
open_file(struct bu_console_file *file, struct bu_err *err)
{
	struct stat st;

	file->fd = open(file->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (file->fd < 0 || fstat(file->fd, &st) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "open %s", file->path);
	file->size = (size_t)st.st_size;
	file->line_open = 1;
	file->full = file->size >= BU_CONSOLE_FILE_MAX;
	return file->size ? 0 : begin_file(file, err);
}

struct bu_console_file *
bu_console_file_open(const char *dir, const char *node, struct bu_err *err)
{
	struct bu_console_file *file = bu_xcalloc(1, sizeof(*file));

	file->fd = -1;
	file->path = bu_xasprintf("%s/%s.log", dir, node);
	file->before = bu_xasprintf("%s/%s.log.1", dir, node);
	if (bu_mkdir_p(dir, 0700, err) == 0 && open_file(file, err) == 0) {
		return file;
	}
	bu_console_file_close(file);
	return NULL;
}

void
bu_console_file_close(struct bu_console_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file->before);
	free(file);
}

static void
say(struct bu_console_file *file, const struct bu_err *err)
{
	if (!file->failed++)
		bu_warn("console",
			"%s; what the machine says is lost until it can be "
			"written",
			err->text);
}

static int
rotate(struct bu_console_file *file, struct bu_err *err)
{
	if (file->fd >= 0 && !file->full)
		return 0;
	if (file->fd >= 0) {
		close(file->fd);
		file->fd = -1;
		if (rename(file->path, file->before) != 0)
			return bu_err_set(err, BU_ERR_IO, errno, "rename %s",
					  file->path);
	}
	return open_file(file, err);
}

/* How much of it fits; a file ends with a line, where there is one. */
static size_t
fitting(struct bu_console_file *file, const char *bytes, size_t size)
{
	size_t room = BU_CONSOLE_FILE_MAX - file->size;
	const char *line;

	file->full = size >= room;
	if (!file->full)
		return size;
	line = memrchr(bytes, '\n', room);
	if (line)
		return (size_t)(line - bytes) + 1;
	return file->line_open || room > BU_CONSOLE_FILE_MAX / 2 ? room : 0;
}

void
bu_console_file_write(struct bu_console_file *file, const char *bytes, size_t size)
{
	struct bu_err err;

	while (size > 0) {
		size_t part;

		if (rotate(file, &err) != 0) {
			say(file, &err);
			return;
		}
		part = fitting(file, bytes, size);
		if (!part)
			continue;
		if (bu_write_all(file->fd, bytes, part, &err) != 0) {
			bu_err_wrap(&err, "%s", file->path);
			say(file, &err);
			return;
		}
		file->failed = 0;
		file->size += part;
		bytes += part;
		size -= part;
		file->line_open = bytes[-1] != '\n';
	}
}

void
bu_console_file_mark(struct bu_console_file *file, int64_t wall_ms, const char *words)
{
	bu_autofree char *text = NULL;
	char at[24];

	bu_time_iso(wall_ms, at);
	text = bu_xasprintf("%s[bringup %s %s]\r\n", file->line_open ? "\r\n" : "", at,
			    words);
	bu_console_file_write(file, text, strlen(text));
}
