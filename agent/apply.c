/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups of files and what makes them hold; called by configure.c, forwards and
 * backwards. Invariant: everything goes through the system's own services, so that the
 * next boot ends where this leads.
 */
#include "agent/apply.h"

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/links.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/worker.h"

enum {
	COMMAND_MS = 60000,
	SETTLE_FIRST_MS = 1000,
	SETTLE_STEP_MS = 200,
	SETTLE_STEPS = 75,
	LOWERS_MAX = 32,
	VALUE_MAX = 4096,
};

static int
run(struct bu_err *err, const char *const *argv)
{
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = COMMAND_MS};

	return bu_job_run(&opts, NULL, err);
}

#define RUN(err, ...) run(err, (const char *const[]){__VA_ARGS__, NULL})

static int
is_there(const char *root, const char *path)
{
	bu_autofree char *full = bu_xasprintf("%s%s", root, path);

	return bu_file_exists(full);
}

/* --- network --- */

/* What lies below a bond or VLAN: it has to take it up again. */
static void
add_lowers(const char *root, const char *device, json_t *lowers)
{
	bu_autofree char *folder = bu_xasprintf("%s/sys/class/net/%s", root, device);
	DIR *stream = opendir(folder);
	struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		if (strncmp(entry->d_name, "lower_", 6) == 0)
			json_array_append_new(lowers, json_string(entry->d_name + 6));
	if (stream)
		closedir(stream);
}

static int
has_device(const char *root, const char *device)
{
	bu_autofree char *path = bu_xasprintf("/sys/class/net/%s", device);

	return is_there(root, path);
}

/* networkd makes no device anew that is there; so it must not be there. */
static int
drop_devices(const char *root, const struct bu_drops *drops, json_t *lowers,
	     struct bu_err *err)
{
	for (size_t i = 0; i < drops->count; i++) {
		const char *device = drops->list[i];

		if (!has_device(root, device))
			continue;
		add_lowers(root, device, lowers);
		if (RUN(err, "networkctl", "delete", device) != 0)
			return -1;
	}
	return 0;
}

static int
reconfigure_lowers(const char *root, const json_t *lowers, struct bu_err *err)
{
	const char *argv[LOWERS_MAX + 3] = {"networkctl", "reconfigure"};
	size_t count = 2, i;
	json_t *lower;

	json_array_foreach ((json_t *)lowers, i, lower)
		if (count < LOWERS_MAX + 2 &&
		    has_device(root, json_string_value(lower)))
			argv[count++] = json_string_value(lower);
	return count == 2 ? 0 : run(err, argv);
}

static int
apply_networkd(const char *root, const struct bu_drops *drops, struct bu_err *err)
{
	bu_autojson json_t *lowers = json_array();

	if (drop_devices(root, drops, lowers, err) != 0 ||
	    RUN(err, "networkctl", "reload") != 0 ||
	    reconfigure_lowers(root, lowers, err) != 0)
		return -1;
	return 0;
}

/* Whichever of them the image brings its network up with. */
static int
apply_network(const char *root, const struct bu_drops *drops, struct bu_err *err)
{
	int rc;

	if (is_there(root, "/usr/sbin/netplan"))
		rc = RUN(err, "netplan", "apply");
	else if (is_there(root, "/etc/NetworkManager/system-connections"))
		rc = RUN(err, "systemctl", "restart", "NetworkManager.service");
	else
		rc = apply_networkd(root, drops, err);
	bu_apply_settle(root);
	/* Soft-RoCE devices go with the links that they were made on. */
	if (rc == 0 && is_there(root, "/etc/bringup/rxe"))
		rc = RUN(err, "systemctl", "restart", "bringup-rxe.service");
	return rc;
}

/* --- the others --- */

static int
apply_modules(const char *root, const struct bu_drops *drops, struct bu_err *err)
{
	return RUN(err, "systemctl", "restart", "systemd-modules-load.service");
}

static int
apply_sysctl(const char *root, const struct bu_drops *drops, struct bu_err *err)
{
	return RUN(err, "systemctl", "restart", "systemd-sysctl.service");
}

static int
apply_tmpfiles(const char *root, const struct bu_drops *drops, struct bu_err *err)
{
	return RUN(err, "systemd-tmpfiles", "--create",
		   "--prefix=/sys"); /* nothing else is ours to touch here */
}

static int
apply_time(const char *root, const struct bu_drops *drops, struct bu_err *err)
{
	if (!is_there(root, "/usr/bin/chronyc"))
		return 0;
	return RUN(err, "chronyc", "reload", "sources");
}

static int
apply_gpu(const char *root, const struct bu_drops *drops, struct bu_err *err)
{
	if (!is_there(root, "/etc/systemd/system/bringup-gpu.service"))
		return 0;
	return RUN(err, "systemctl", "restart", "bringup-gpu.service");
}

/* Accounts, host key and sshd; an image without the service has none of them. */
static int
apply_access(const char *root, const struct bu_drops *drops, struct bu_err *err)
{
	if (!is_there(root, "/etc/systemd/system/bringup-access.service"))
		return 0;
	return RUN(err, "systemctl", "restart", "bringup-access.service");
}

/* A cluster's client asks the kernel for its name, not the file. */
static int
apply_hostname(const char *root, const struct bu_drops *drops, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/etc/hostname", root);

	return RUN(err, "hostname", "-F", path);
}

/* In this order: a setting may need its module, a server's name its network. Files of
 * "hosts" are read by each program that asks. */
static const struct {
	const char *name;
	int (*fn)(const char *root, const struct bu_drops *drops, struct bu_err *err);
} groups[] = {
	{"modules", apply_modules},   {"network", apply_network},
	{"sysctl", apply_sysctl},     {"tmpfiles", apply_tmpfiles},
	{"time", apply_time},         {"gpu", apply_gpu},
	{"hostname", apply_hostname}, {"access", apply_access},
};

int
bu_apply_groups(const char *root, const struct bu_note *note,
		const struct bu_drops *drops, struct bu_err *err)
{
	for (size_t i = 0; i < BU_LEN(groups); i++) {
		if (!bu_note_has_word(note->groups, note->groups_count, groups[i].name))
			continue;
		bu_info("apply", "%s", groups[i].name);
		if (groups[i].fn(root, drops, err) != 0)
			return bu_err_wrap(err, "apply %s", groups[i].name);
	}
	return 0;
}

/* --- waiting for the network --- */

static int
under_way(const char *root)
{
	bu_autofree char *pattern = bu_xasprintf("%s/run/systemd/netif/links/*", root);
	glob_t found = {0};
	int count = 0;

	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++) {
			bu_autofree char *text =
				bu_file_read(found.gl_pathv[i], 65536, NULL, NULL);

			count += text && (strstr(text, "ADMIN_STATE=configuring") ||
					  strstr(text, "ADMIN_STATE=pending"));
		}
	globfree(&found);
	return count;
}

void
bu_apply_settle(const char *root)
{
	if (!is_there(root, "/run/systemd/netif/links"))
		return;
	usleep(SETTLE_FIRST_MS * 1000);
	for (int i = 0; i < SETTLE_STEPS && under_way(root); i++)
		usleep(SETTLE_STEP_MS * 1000);
}

/* --- what the way back needs --- */

static int
ends_with(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* Without the MTU, which a link takes on without being made anew. */
static char *
strip_mtu(const char *netdev)
{
	char *text = bu_xstrdup(netdev), *to = text;

	while (*netdev) {
		size_t size = strcspn(netdev, "\n");

		size += netdev[size] == '\n';
		if (strncmp(netdev, "MTUBytes=", 9) != 0) {
			memcpy(to, netdev, size);
			to += size;
		}
		netdev += size;
	}
	*to = '\0';
	return text;
}

/* The device that is made anew when one file becomes the other: 1 and its name. */
static int
is_drop(const char *present, const char *next, char device[16])
{
	bu_autofree char *old = present ? strip_mtu(present) : NULL;
	bu_autofree char *new = next ? strip_mtu(next) : NULL;
	const char *name = old ? strstr(old, "\nName=") : NULL;

	return name && (!new || strcmp(old, new) != 0) &&
	       sscanf(name, "\nName=%15s", device) == 1;
}

static void
add_drop(struct bu_change *change, struct bu_drops *drops, const char *path,
	 const char *next)
{
	bu_autofree char *present = bu_change_present(change, path);
	char device[16];

	if (ends_with(path, ".netdev") && is_drop(present, next, device))
		bu_note_add_word(&drops->list, &drops->count,
				 bu_change_own(change, bu_xstrdup(device)));
}

struct bu_drops
bu_apply_drops_back(struct bu_change *change)
{
	const struct bu_note *note = &change->journal;
	struct bu_drops drops = {0};

	for (size_t i = 0; i < note->files_count; i++) {
		bu_autofree char *old =
			bu_change_old(change, &note->files[i], NULL, NULL);

		add_drop(change, &drops, note->files[i].path, old);
	}
	return drops;
}

/* "always [madvise] never": the one in use. */
static void
note_value(struct bu_change *change, const char *path, struct bu_note *note)
{
	bu_autofree char *full = bu_xasprintf("%s%s", change->root, path);
	bu_autofree char *text = bu_file_read(full, VALUE_MAX, NULL, NULL);
	char *open = text ? strchr(text, '[') : NULL;
	char *value = open ? open + 1 : text;

	if (!value || !bu_path_is_file(path))
		return;
	value[strcspn(value, open ? "]" : "\n")] = '\0';
	note->values = bu_xrealloc(note->values,
				   (note->values_count + 1) * sizeof(*note->values));
	note->values[note->values_count++] = (struct bu_note_value){
		.path = bu_change_own(change, bu_xstrdup(path)),
		.value = bu_change_own(change, bu_xstrdup(value))};
}

/* "net.core.rmem_max = 1" */
static void
note_sysctl(struct bu_change *change, const char *line, struct bu_note *note)
{
	bu_autofree char *path = NULL;
	size_t size;

	line += *line == '-';
	size = strcspn(line, " \t=");
	if (!strchr(line, '=') || strchr("#;", *line))
		return;
	path = bu_xasprintf("/proc/sys/%.*s", (int)size, line);
	if (!memchr(line, '/', size))
		for (char *p = path + strlen("/proc/sys/"); *p; p++)
			*p = *p == '.' ? '/' : *p;
	note_value(change, path, note);
}

/* "w /sys/PATTERN - - - - VALUE" */
static void
note_tmpfile(struct bu_change *change, const char *line, struct bu_note *note)
{
	char pattern[256];
	bu_autofree char *full = NULL;
	glob_t found = {0};

	if (sscanf(line, "w %255s", pattern) != 1)
		return;
	full = bu_xasprintf("%s%s", change->root, pattern);
	if (glob(full, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			note_value(change, found.gl_pathv[i] + strlen(change->root),
				   note);
	globfree(&found);
}

static void
note_lines(struct bu_change *change, const struct bu_change_file *file,
	   struct bu_note *note)
{
	bu_autofree char *text = bu_xstrdup(file->content ? file->content : "");
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		if (strcmp(file->apply, "sysctl") == 0)
			note_sysctl(change, line, note);
		else if (strcmp(file->apply, "tmpfiles") == 0)
			note_tmpfile(change, line, note);
	}
}

static void
note_mtus(struct bu_change *change, struct bu_note *note)
{
	bu_autoinventory struct bu_inventory *now = bu_inventory_create();

	bu_links_collect(change->root, now);
	note->mtus = bu_xcalloc(now->links_count, sizeof(*note->mtus));
	for (size_t i = 0; i < now->links_count; i++)
		note->mtus[note->mtus_count++] = (struct bu_note_mtu){
			.name = bu_change_own(change, bu_xstrdup(now->links[i].name)),
			.mtu = (int)now->links[i].mtu};
}

void
bu_apply_note(struct bu_change *change, struct bu_note *note)
{
	struct bu_drops drops = {0};

	for (size_t i = 0; i < change->count; i++) {
		const struct bu_change_file *file = &change->files[i];

		if (*file->apply)
			bu_note_add_word(&note->groups, &note->groups_count,
					 file->apply);
		add_drop(change, &drops, file->path, file->content);
		note_lines(change, file, note);
	}
	note->drops = drops.list;
	note->drops_count = drops.count;
	note_mtus(change, note);
}

static void
set_mtus(const char *root, const struct bu_note *note)
{
	for (size_t i = 0; i < note->mtus_count; i++) {
		const char *name = note->mtus[i].name;
		bu_autofree char *path =
			bu_xasprintf("%s/sys/class/net/%s/mtu", root, name);
		char now[16], old[16];

		snprintf(old, sizeof(old), "%d", note->mtus[i].mtu);
		bu_file_line(path, now, sizeof(now));
		if (*now && strcmp(now, old) != 0)
			RUN(NULL, "ip", "link", "set", "dev", name, "mtu", old);
	}
}

void
bu_apply_values(const char *root, const struct bu_note *note)
{
	for (size_t i = 0; i < note->values_count; i++) {
		bu_autofree char *path =
			bu_xasprintf("%s%s", root, note->values[i].path);
		FILE *file = fopen(path, "we");

		if (file) {
			fputs(note->values[i].value, file);
			fclose(file);
		}
	}
	/* Twice: a VLAN cannot be above its parent, whichever comes first. */
	set_mtus(root, note);
	set_mtus(root, note);
}
