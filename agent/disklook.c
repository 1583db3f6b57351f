/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads disks in child processes, all at once; called by inventory.c. Invariant: a disk
 * that hangs costs the agent one deadline, however many there are. One whose child
 * cannot be killed is not read again while that child is there: else each inventory
 * would leave another one behind.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "agent/child_probe.h"
#include "agent/disks.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"

enum { TICK_MS = 100, LET_GO_MS = 2000 };

struct look {
	struct bu_disk *disk;
	struct bu_child_probe child; /* without a process: it is done */
};

/* Children that were left behind, by the disk that they read. */
static struct stuck {
	char path[sizeof(((struct bu_disk *)0)->path)];
	pid_t pid;
} stuck[BU_DISKS_MAX];

static int
is_stuck(const char *path)
{
	for (size_t i = 0; i < BU_LEN(stuck); i++)
		if (stuck[i].pid && strcmp(stuck[i].path, path) == 0) {
			if (waitpid(stuck[i].pid, NULL, WNOHANG) == 0)
				return 1;
			stuck[i].pid = 0;
		}
	return 0;
}

static void
note_stuck(const char *path, pid_t pid)
{
	for (size_t i = 0; i < BU_LEN(stuck); i++)
		if (!stuck[i].pid) {
			bu_text_copy(stuck[i].path, sizeof(stuck[i].path), path);
			stuck[i].pid = pid;
			return;
		}
}

/* In the child. */
static json_t *
read_disk(const json_t *ask, void **kept)
{
	struct bu_disk disk = {.size_bytes = bu_json_int(ask, "size", 0)};

	if (!ask)
		return NULL;
	bu_text_copy(disk.name, sizeof(disk.name), bu_json_str(ask, "name", ""));
	bu_text_copy(disk.path, sizeof(disk.path), bu_json_str(ask, "path", ""));
	bu_disk_look(bu_json_str(ask, "root", ""), &disk);
	return json_pack("{s:i,s:s}", "signature", disk.signature, "holds", disk.holds);
}

static void
begin(struct look *look, const char *root)
{
	const struct bu_disk *disk = look->disk;
	bu_autojson json_t *ask =
		json_pack("{s:s,s:s,s:s,s:I}", "root", root, "name", disk->name, "path",
			  disk->path, "size", (json_int_t)disk->size_bytes);
	struct bu_err err = {0};

	if (bu_child_probe_ask(&look->child, read_disk, ask, &err) != 0)
		bu_warn("inventory", "%s: %s", disk->path, err.text);
}

/* 0: nothing whole yet. */
static int
take(struct look *look)
{
	struct bu_disk *disk = look->disk;
	struct bu_err err = {0};
	bu_autojson json_t *said = bu_child_probe_take(&look->child, &err);

	if (!said && err.kind == BU_ERR_NONE)
		return 0;
	if (said) {
		disk->signature = (int)bu_json_int(said, "signature", disk->signature);
		bu_text_copy(disk->holds, sizeof(disk->holds),
			     bu_json_str(said, "holds", ""));
	} else {
		bu_warn("inventory", "%s: %s", disk->path, err.text);
	}
	bu_child_probe_finish(&look->child);
	return 1;
}

/* How many have not answered. */
static size_t
watch(struct look *looks, struct pollfd *fds, size_t count)
{
	size_t open = 0;

	for (size_t i = 0; i < count; i++) {
		int asked = looks[i].child.pid && fds[i].events;

		fds[i].fd = asked ? looks[i].child.fd : -1;
		open += (size_t)asked;
	}
	if (open && poll(fds, count, TICK_MS) > 0)
		for (size_t i = 0; i < count; i++)
			if (fds[i].fd >= 0 && fds[i].revents && take(&looks[i]))
				fds[i].events = 0;
	return open;
}

static void
say_late(struct bu_disk *disk, int64_t limit_ms)
{
	snprintf(disk->holds, sizeof(disk->holds),
		 "does not answer: not read within %g s", (double)limit_ms / 1000);
	bu_warn("inventory", "%s %s", disk->path, disk->holds);
}

/* Of the disks that have answered, or of those that have not. */
static void
end_those(struct look *looks, const struct pollfd *fds, size_t count, int answered)
{
	bu_autofree struct bu_child_probe **list =
		bu_xcalloc(count, sizeof(struct bu_child_probe *));
	bu_autofree const struct look **of = bu_xcalloc(count, sizeof(struct look *));
	bu_autofree unsigned char *left = bu_xcalloc(count, 1);
	bu_autofree pid_t *pids = bu_xcalloc(count, sizeof(*pids));
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		if (!looks[i].child.pid || (fds[i].events == 0) != answered)
			continue;
		of[found] = &looks[i];
		pids[found] = looks[i].child.pid;
		list[found++] = &looks[i].child;
	}
	bu_child_probe_end(list, found, answered ? LET_GO_MS : 0, left);
	for (size_t i = 0; i < found; i++)
		if (left[i])
			note_stuck(of[i]->disk->path, pids[i]);
}

void
bu_disks_look(const char *root, struct bu_disk *disks, size_t count, int64_t limit_ms)
{
	bu_autofree struct look *looks = bu_xcalloc(count, sizeof(*looks));
	bu_autofree struct pollfd *fds = bu_xcalloc(count, sizeof(*fds));
	int64_t until_ms = bu_mono_ms(bu_clock_system()) + limit_ms;

	for (size_t i = 0; i < count; i++) {
		looks[i].disk = &disks[i];
		fds[i].events = POLLIN;
		if (!is_stuck(disks[i].path))
			begin(&looks[i], root);
		else
			BU_TEXT_COPY(disks[i].holds,
				     "does not answer: a process still reads it");
	}
	while (watch(looks, fds, count) > 0 && bu_mono_ms(bu_clock_system()) < until_ms)
		;
	for (size_t i = 0; i < count; i++)
		if (looks[i].child.pid && fds[i].events)
			say_late(looks[i].disk, limit_ms);
	end_those(looks, fds, count, 0);
	end_those(looks, fds, count, 1);
}
