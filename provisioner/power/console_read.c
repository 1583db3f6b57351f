/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what console_file.c writes, in another process, while it is written: for the
 * API and for what is kept of a failure. A place is a file, known by its first line,
 * and an offset, so a rotation in between is seen.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "provisioner/power/power.h"

struct reading {
	int fd;
	uint64_t file, size;
};

/* FNV-1a of its first line; never 0. */
static uint64_t
name_of(int fd)
{
	uint64_t name = 14695981039346656037u;
	char line[64];
	ssize_t got = pread(fd, line, sizeof(line), 0);

	for (ssize_t i = 0; i < got && line[i] != '\n'; i++)
		name = (name ^ (unsigned char)line[i]) * 1099511628211u;
	return name ? name : 1;
}

/* generation: 0 = the one that is written. */
static int
open_one(const char *dir, const char *node, int generation, struct reading *ret)
{
	bu_autofree char *path =
		bu_xasprintf("%s/%s.log%s", dir, node, generation ? ".1" : "");
	struct stat st;

	ret->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (ret->fd < 0)
		return -1;
	if (fstat(ret->fd, &st) != 0) {
		close(ret->fd);
		return -1;
	}
	ret->file = name_of(ret->fd);
	ret->size = (uint64_t)st.st_size;
	return 0;
}

/* Adds at most max bytes from the offset on; how many. */
static size_t
add(const struct reading *reading, uint64_t offset, size_t max,
    struct bu_console_part *part)
{
	ssize_t got;

	if (offset >= reading->size || max == 0)
		return 0;
	part->bytes = bu_xrealloc(part->bytes, part->size + max + 1);
	got = pread(reading->fd, part->bytes + part->size, max, (off_t)offset);
	if (got < 0)
		got = 0;
	part->size += (size_t)got;
	part->bytes[part->size] = '\0';
	return (size_t)got;
}

static int
fail_none(const char *node, struct bu_err *err)
{
	return bu_err_set(err, BU_ERR_NOTFOUND, 0,
			  "nothing was kept yet of the console of %s", node);
}

/* Where the last lines begin. */
static size_t
last_lines(const char *bytes, size_t size, size_t lines)
{
	size_t at = size;

	if (at > 0 && bytes[at - 1] == '\n')
		at--;
	for (; at > 0; at--)
		if (bytes[at - 1] == '\n' && --lines == 0)
			break;
	return at;
}

int
bu_console_tail(const char *dir, const char *node, size_t lines,
		struct bu_console_part *ret, struct bu_err *err)
{
	struct reading now, before;
	uint64_t from;
	size_t cut;

	memset(ret, 0, sizeof(*ret));
	if (open_one(dir, node, 0, &now) != 0)
		return fail_none(node, err);
	ret->bytes = bu_xcalloc(1, 1);
	if (now.size < BU_CONSOLE_READ_MAX && open_one(dir, node, 1, &before) == 0) {
		size_t rest = BU_CONSOLE_READ_MAX - (size_t)now.size;

		from = before.size > rest ? before.size - rest : 0;
		add(&before, from, rest, ret);
		close(before.fd);
	}
	from = now.size > BU_CONSOLE_READ_MAX ? now.size - BU_CONSOLE_READ_MAX : 0;
	ret->next.file = now.file;
	ret->next.offset = from + add(&now, from, BU_CONSOLE_READ_MAX, ret);
	close(now.fd);
	cut = last_lines(ret->bytes, ret->size, lines);
	memmove(ret->bytes, ret->bytes + cut, ret->size - cut + 1);
	ret->size -= cut;
	return 0;
}

/* The rest of the file before, which the place is in. 1 = there is more of it. */
static int
add_before(const char *dir, const char *node, const struct bu_console_place *place,
	   struct bu_console_part *part)
{
	struct reading before;
	uint64_t offset = place->offset;
	int more = 0;

	part->lost = 1;
	if (open_one(dir, node, 1, &before) != 0)
		return 0;
	if (before.file == place->file) {
		part->lost = 0;
		offset += add(&before, offset, BU_CONSOLE_READ_MAX, part);
		more = offset < before.size;
		part->next = (struct bu_console_place){place->file, offset};
	}
	close(before.fd);
	return more;
}

int
bu_console_after(const char *dir, const char *node,
		 const struct bu_console_place *place, struct bu_console_part *ret,
		 struct bu_err *err)
{
	struct reading now;
	uint64_t offset = place->offset;
	int more = 0;

	memset(ret, 0, sizeof(*ret));
	if (open_one(dir, node, 0, &now) != 0)
		return fail_none(node, err);
	ret->bytes = bu_xcalloc(1, 1);
	if (place->file && place->file != now.file)
		more = add_before(dir, node, place, ret);
	if (place->file != now.file)
		offset = 0;
	if (!more) {
		offset += add(&now, offset, BU_CONSOLE_READ_MAX - ret->size, ret);
		ret->next = (struct bu_console_place){now.file, offset};
	}
	close(now.fd);
	return 0;
}
