/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rack's directory, names and rack.json; used by every command and by the keeper.
 * Invariant: a process is only ever taken for the keeper when pid and start time match,
 * a directory only for a rack when it carries the marker and belongs to this user.
 */
#include "lab/rack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"

#define MARKER ".bringup-rack"

/* Mounted over inside the rack: a rack cannot lie below them. */
static const char *const hidden[] = {"/etc", "/run", "/var/run", "/proc", "/sys"};

static int
check_dir(const char *dir, struct bu_err *err)
{
	if (strlen(dir) >= BU_RACK_DIR_SIZE)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"rack directory '%s' is longer than %d characters (unix "
			"sockets lie below it); choose a shorter --dir",
			dir, BU_RACK_DIR_SIZE - 1);
	if (!bu_path_is_plain(dir))
		return bu_err_set(err, BU_ERR_INVAL, 0,
				  "rack directory '%s': only letters, digits and ._+-/ "
				  "are allowed; choose another --dir",
				  dir);
	for (size_t i = 0; i < BU_LEN(hidden); i++) {
		size_t len = strlen(hidden[i]);

		if (strncmp(dir, hidden[i], len) == 0 &&
		    (dir[len] == '/' || dir[len] == '\0'))
			return bu_err_set(err, BU_ERR_INVAL, 0,
					  "rack directory '%s' cannot lie below %s; "
					  "choose another --dir",
					  dir, hidden[i]);
	}
	return 0;
}

int
bu_rack_locate(struct bu_rack *rack, const char *dir, struct bu_err *err)
{
	bu_autofree char *copy = NULL, *full = NULL;
	char parent[PATH_MAX];
	char *slash;

	if (!dir || !*dir)
		dir = getenv("BRINGUP_RACK");
	if (!dir || !*dir)
		dir = BU_RACK_DEFAULT_DIR;
	copy = bu_xstrdup(dir);
	for (size_t len = strlen(copy); len > 1 && copy[len - 1] == '/'; len--)
		copy[len - 1] = '\0';
	slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	if (!realpath(!slash ? "." : *copy ? copy : "/", parent))
		return bu_err_set(err, BU_ERR_INVAL, errno,
				  "parent directory of rack directory '%s'", dir);
	full = bu_xasprintf("%s/%s", strcmp(parent, "/") == 0 ? "" : parent,
			    slash ? slash + 1 : copy);
	if (check_dir(full, err) != 0)
		return -1;
	strcpy(rack->dir, full);
	return 0;
}

static void
make_uuid(const char *dir, const char *name, char ret_uuid[37])
{
	bu_autofree char *text = bu_xasprintf("%s/%s", dir, name);
	char hex[BU_DIGEST_SIZE];

	bu_sha256_hex(text, strlen(text), hex);
	snprintf(ret_uuid, 37, "%.8s-%.4s-8%.3s-8%.3s-%.12s", hex, hex + 8, hex + 13,
		 hex + 17, hex + 20);
}

void
bu_rack_fill(struct bu_rack *rack, size_t count, unsigned long uefi_mask)
{
	bu_assert(count <= BU_RACK_NODES_MAX);
	rack->node_count = count;
	for (size_t i = 0; i < count; i++) {
		struct bu_rack_node *node = &rack->nodes[i];
		unsigned int number = (unsigned int)(i + 1) % 1000;

		memset(node, 0, sizeof(*node));
		node->number = (int)number;
		node->uefi = (uefi_mask >> number) & 1;
		snprintf(node->name, sizeof(node->name), "node%03u", number);
		snprintf(node->serial, sizeof(node->serial), "LAB-%03u", number);
		make_uuid(rack->dir, node->name, node->uuid);
		bu_rack_nic_mac(node, 0, node->boot_mac);
		bu_rack_nic_mac(node, 1, node->fabric_mac);
		snprintf(node->boot_tap, sizeof(node->boot_tap), "b%03u", number);
		snprintf(node->fabric_tap, sizeof(node->fabric_tap), "f%03u", number);
		snprintf(node->fabric_from, sizeof(node->fabric_from), "u%03u", number);
		snprintf(node->fabric_to, sizeof(node->fabric_to), "p%03u", number);
	}
}

void
bu_rack_nic_mac(const struct bu_rack_node *node, int k, char ret_mac[18])
{
	snprintf(ret_mac, 18, "52:54:00:%02x:00:%02x", (0x77u + (unsigned)k) & 0xff,
		 (unsigned)node->number & 0xff);
}

const struct bu_rack_node *
bu_rack_find(const struct bu_rack *rack, const char *name)
{
	for (size_t i = 0; i < rack->node_count; i++)
		if (strcmp(rack->nodes[i].name, name) == 0)
			return &rack->nodes[i];
	return NULL;
}

char *
bu_rack_path(const struct bu_rack *rack, const char *fmt, ...)
{
	bu_autofree char *below = NULL;
	va_list args;

	va_start(args, fmt);
	below = bu_xvasprintf(fmt, args);
	va_end(args);
	return bu_xasprintf("%s/%s", rack->dir, below);
}

static json_t *
node_to_json(const struct bu_rack *rack, const struct bu_rack_node *node)
{
	bu_autofree char *console = bu_rack_path(rack, "console/%s.log", node->name);
	bu_autofree char *disk = bu_rack_path(rack, "disks/%s.qcow2", node->name);

	return json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}",
			 "name", node->name, "domain", node->name, "number",
			 node->number, "firmware", node->uefi ? "uefi" : "bios",
			 "boot_mac", node->boot_mac, "fabric_mac", node->fabric_mac,
			 "boot_tap", node->boot_tap, "fabric_tap", node->fabric_tap,
			 "serial", node->serial, "console", console, "disk", disk);
}

json_t *
bu_rack_to_json(const struct bu_rack *rack)
{
	json_t *nodes = json_array();
	json_t *cables = json_array();
	json_t *json;

	for (size_t i = 0; i < rack->node_count; i++) {
		json_t *node = node_to_json(rack, &rack->nodes[i]);

		json_object_set_new(node, "uuid", json_string(rack->nodes[i].uuid));
		json_array_append_new(nodes, node);
	}
	for (size_t i = 0; i < rack->cable_count; i++)
		json_array_append_new(cables,
				      json_pack("[i,i]", rack->cables[i].ends[0],
						rack->cables[i].ends[1]));
	json = json_pack("{s:i, s:s, s:{s:I, s:I}, s:s, s:s, s:b, s:i, s:i, s:i, s:o, "
			 "s:s, s:o}",
			 "version", 1, "dir", rack->dir, "keeper", "pid",
			 (json_int_t)rack->keeper_pid, "start",
			 (json_int_t)rack->keeper_start, "accel",
			 rack->kvm ? "kvm" : "tcg", "accel_reason", rack->accel_reason,
			 "slurm", rack->slurm, "memory_mib", rack->memory_mib,
			 "fabric_rate_mbit", rack->fabric_rate_mbit, "nics", rack->nics,
			 "cables", cables, "cache", rack->cache, "nodes", nodes);
	bu_assert(json != NULL);
	return json;
}

static int
read_cables(const json_t *list, struct bu_rack *rack, struct bu_err *err)
{
	size_t i;
	json_t *cable;

	if (json_array_size(list) > BU_RACK_CABLES_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0, "more than %d cables",
				  BU_RACK_CABLES_MAX);
	json_array_foreach ((json_t *)list, i, cable)
		for (size_t end = 0; end < 2; end++)
			rack->cables[i].ends[end] =
				(int)json_integer_value(json_array_get(cable, end));
	rack->cable_count = json_array_size(list);
	return 0;
}

int
bu_rack_from_json(const json_t *json, struct bu_rack *ret_rack, struct bu_err *err)
{
	struct bu_rack rack = {0};
	const json_t *keeper = json_object_get(json, "keeper");
	const json_t *nodes = json_object_get(json, "nodes");
	unsigned long uefi_mask = 0;
	size_t i;
	json_t *node;

	if (bu_json_int(json, "version", 0) != 1)
		return bu_err_set(
			err, BU_ERR_INVAL, 0,
			"not a rack.json of version 1; it was made by another "
			"release");
	if (bu_json_copy_str(json, "dir", rack.dir, sizeof(rack.dir), err) != 0 ||
	    bu_json_copy_str(json, "cache", rack.cache, sizeof(rack.cache), err) != 0 ||
	    bu_json_copy_str(json, "accel_reason", rack.accel_reason,
			     sizeof(rack.accel_reason), err) != 0)
		return -1;
	if (json_array_size(nodes) > BU_RACK_NODES_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0, "more than %d nodes",
				  BU_RACK_NODES_MAX);
	json_array_foreach ((json_t *)nodes, i, node) {
		if (strcmp(bu_json_str(node, "firmware", ""), "uefi") == 0)
			uefi_mask |= 1ul << (i + 1);
	}
	rack.keeper_pid = (pid_t)bu_json_int(keeper, "pid", 0);
	rack.keeper_start = (unsigned long long)bu_json_int(keeper, "start", 0);
	rack.kvm = strcmp(bu_json_str(json, "accel", ""), "kvm") == 0;
	rack.slurm = bu_json_bool(json, "slurm", 0);
	rack.memory_mib = (int)bu_json_int(json, "memory_mib", 0);
	rack.fabric_rate_mbit = (int)bu_json_int(json, "fabric_rate_mbit", 0);
	rack.nics = (int)bu_json_int(json, "nics", BU_RACK_NICS_MIN);
	if (read_cables(json_object_get(json, "cables"), &rack, err) != 0)
		return -1;
	bu_rack_fill(&rack, json_array_size(nodes), uefi_mask);
	*ret_rack = rack;
	return 0;
}

int
bu_rack_save(const struct bu_rack *rack, struct bu_err *err)
{
	bu_autojson json_t *json = bu_rack_to_json(rack);
	bu_autofree char *path = bu_rack_path(rack, "rack.json");
	char *text = json_dumps(json, JSON_INDENT(2));
	int rc = bu_file_write_text(path, 0644, err, "%s\n", text);

	free(text);
	return rc;
}

int
bu_rack_load_keeper(struct bu_rack *rack, struct bu_err *err)
{
	bu_autofree char *path = bu_rack_path(rack, "rack.json");
	bu_autojson json_t *json = NULL;
	const json_t *keeper;
	struct bu_err why = {0};

	if (access(path, F_OK) != 0 && errno == ENOENT)
		return 0;
	json = bu_json_load(path, &why);
	keeper = json_object_get(json, "keeper");
	rack->keeper_pid = (pid_t)bu_json_int(keeper, "pid", 0);
	rack->keeper_start = (unsigned long long)bu_json_int(keeper, "start", 0);
	if (rack->keeper_pid > 0 && rack->keeper_start > 0)
		return 0;
	return bu_err_set(err, BU_ERR_STATE, 0,
			  "'%s' does not name the rack's keeper%s%s; the rack may be "
			  "up: when no process 'bringup-rack' is left, remove '%s'",
			  path, why.kind ? ": " : "", why.kind ? why.text : "",
			  rack->dir);
}

int
bu_rack_load(struct bu_rack *rack, struct bu_err *err)
{
	bu_autofree char *path = bu_rack_path(rack, "rack.json");
	bu_autojson json_t *json = NULL;
	struct bu_rack loaded;

	if (!bu_file_exists(path))
		return bu_err_set(
			err, BU_ERR_NOTFOUND, 0,
			"no rack in '%s'; make one with: bringup-lab up --dir "
			"%s",
			rack->dir, rack->dir);
	json = bu_json_load(path, err);
	if (!json || bu_rack_from_json(json, &loaded, err) != 0)
		return bu_err_wrap(err, "'%s'", path);
	strcpy(loaded.dir, rack->dir);
	*rack = loaded;
	return 0;
}

int
bu_rack_load_live(struct bu_rack *rack, const char *dir, struct bu_err *err)
{
	if (bu_rack_locate(rack, dir, err) != 0 || bu_rack_load(rack, err) != 0)
		return -1;
	if (!bu_rack_keeper_alive(rack))
		return bu_err_set(
			err, BU_ERR_STATE, 0,
			"the rack in '%s' is dead (its keeper, process %d, has "
			"ended); remove it with: bringup-lab down --dir %s",
			rack->dir, (int)rack->keeper_pid, rack->dir);
	return 0;
}

int
bu_rack_add_log_tail(const struct bu_rack *rack, const char *name, struct bu_err *err)
{
	bu_autofree char *path = bu_rack_path(rack, "log/%s.log", name);
	bu_autofree char *text = bu_file_read(path, 0, NULL, NULL);
	size_t end = text ? strlen(text) : 0;
	size_t used = err ? strlen(err->text) : 0;
	char *start;

	while (end > 0 && text[end - 1] == '\n')
		text[--end] = '\0';
	if (end == 0 || !err)
		return -1;
	start = strrchr(text, '\n');
	snprintf(err->text + used, sizeof(err->text) - used, "; its log ends with: %s",
		 start ? start + 1 : text);
	return -1;
}

int
bu_rack_add_ended(const struct bu_rack *rack, pid_t pid, int status, struct bu_err *err)
{
	bu_autofree char *path = bu_rack_path(rack, "log/ended");
	bu_autoclose int fd =
		open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);

	if (fd < 0 || dprintf(fd, "%d %d\n", (int)pid, code) < 0)
		return bu_err_set(err, BU_ERR_IO, errno, "write '%s'", path);
	return 0;
}

int
bu_rack_create_dir(const struct bu_rack *rack, struct bu_err *err)
{
	bu_autofree char *marker = bu_rack_path(rack, MARKER);

	/* For this user alone: the machines' disks hold keys. */
	if (mkdir(rack->dir, 0700) != 0)
		return bu_err_set(err, errno == EEXIST ? BU_ERR_STATE : BU_ERR_IO,
				  errno, "make rack directory '%s'", rack->dir);
	if (bu_file_write_text(marker, 0644, err,
			       "bringup-lab may remove this directory\n") != 0) {
		rmdir(rack->dir);
		return -1;
	}
	return 0;
}

static int
is_empty(const char *dir)
{
	DIR *stream = opendir(dir);
	int count = 0;

	if (!stream)
		return 0;
	while (count < 3 && readdir(stream))
		count++;
	closedir(stream);
	return count == 2; /* "." and ".." */
}

int
bu_rack_is_ours(const struct bu_rack *rack)
{
	bu_autofree char *marker = bu_rack_path(rack, MARKER);
	struct stat st;

	if (lstat(rack->dir, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid())
		return 0;
	return bu_file_exists(marker) || is_empty(rack->dir);
}

unsigned long long
bu_rack_stat_start(const char *stat)
{
	/* The name, field 2, may hold blanks and parentheses: count after its end. */
	const char *at = strrchr(stat, ')');
	unsigned long long start = 0;

	if (!at || strlen(at) < 4 || at[2] == 'Z' || at[2] == 'X')
		return 0;
	for (int field = 2; field < 22; field++) {
		at = strchr(at, ' ');
		if (!at)
			return 0;
		at++;
	}
	return sscanf(at, "%llu", &start) == 1 ? start : 0;
}

unsigned long long
bu_rack_pid_start(pid_t pid)
{
	char path[32], text[1024];

	if (pid <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	bu_file_line(path, text, sizeof(text));
	return bu_rack_stat_start(text);
}

int
bu_rack_keeper_alive(const struct bu_rack *rack)
{
	unsigned long long start = bu_rack_pid_start(rack->keeper_pid);

	return start != 0 && start == rack->keeper_start;
}
