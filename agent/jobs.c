/* SPDX-License-Identifier: Apache-2.0 */
/* install, configure, probe, join: each unpacks its item and calls the room that can do
 * it. */
#include "agent/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/checks.h"
#include "agent/configure.h"
#include "agent/granted.h"
#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/worker.h"
#include "fabric/probe/pair.h"
#include "images/install/bootargs.h"
#include "images/install/install.h"

enum {
	FILES_MAX = 256,
	SERVICE_MS = 60000,
	OWN_FILES = 4,
	CONFIRM_CALL_MS = 5000,
	CONFIRM_PAUSE_MS = 1500,
};

static const char installed_dir[] = "/var/lib/bringup";

/* --- files of a work item: [{"path","mode","content"|"content_hex"}] --- */

struct files {
	struct bu_install_file list[FILES_MAX + OWN_FILES];
	char *owned[FILES_MAX + OWN_FILES];
	size_t count;
};

static void
files_fini(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->owned[i]);
}

static void
files_add(struct files *files, const char *path, mode_t mode, char *content,
	  size_t size)
{
	struct bu_install_file *file = &files->list[files->count];

	file->path = path;
	file->mode = mode;
	file->content = content;
	file->size = size;
	files->owned[files->count++] = content;
}

static int
files_read(const json_t *item, struct files *files, struct bu_err *err)
{
	size_t i;
	json_t *row;

	if (json_array_size(json_object_get(item, "files")) > FILES_MAX)
		return bu_err_set(err, BU_ERR_INVAL, 0, "more than %d files",
				  FILES_MAX);
	json_array_foreach (json_object_get(item, "files"), i, row) {
		const char *hex = bu_json_str(row, "content_hex", NULL);
		const char *path, *text = bu_json_str(row, "content", "");
		mode_t mode = (mode_t)bu_json_int(row, "mode", 0644);
		size_t size = hex ? strlen(hex) / 2 : strlen(text);
		char *content = bu_xmalloc(size + 1);

		memcpy(content, text, hex ? 0 : size);
		if ((hex && bu_hex_decode(hex, content, size) != 0) ||
		    bu_json_get_str(row, "path", &path, err) != 0 ||
		    !bu_path_is_file(path)) {
			free(content);
			return bu_err_set(err, BU_ERR_INVAL, 0, "files[%zu] is wrong",
					  i);
		}
		files_add(files, path, mode & 0777, content, size);
	}
	return 0;
}

/* --- install --- */

struct install {
	struct bu_uplink *link;
	const char *id;
	int cancelled;
};

static void
on_progress(const char *stage, uint64_t done_bytes, uint64_t total_bytes, void *arg)
{
	struct install *install = arg;

	if (bu_link_progress(install->link, install->id, stage, done_bytes,
			     total_bytes))
		install->cancelled = 1;
}

static int
on_cancelled(void *arg)
{
	const struct install *install = arg;

	return install->cancelled;
}

/* The installed agent goes on with our identity. */
static int
add_identity(const struct bu_identity *identity, struct files *files,
	     struct bu_err *err)
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
		files_add(files, names[i][1], 0600, content, size);
	}
	text = bu_identity_text(identity);
	files_add(files, "/var/lib/bringup/agent.json", 0600, text, strlen(text));
	return 0;
}

/* [{"name","guid","size_bytes"}]; what is wrong in it the installer finds. */
static void
read_data(const json_t *item, struct bu_install_data *ret, size_t *ret_count)
{
	const json_t *list = json_object_get(item, "data");
	size_t i;
	json_t *row;

	json_array_foreach (list, i, row)
		if (*ret_count < BU_INSTALL_DATA_MAX)
			ret[(*ret_count)++] = (struct bu_install_data){
				bu_json_str(row, "name", ""),
				bu_json_str(row, "guid", ""),
				(uint64_t)bu_json_int(row, "size_bytes", 0)};
}

static int
do_install(struct bu_uplink *link, const json_t *item, json_t **ret_result,
	   struct bu_err *err)
{
	const json_t *mark = json_object_get(item, "mark");
	const json_t *stamp = json_object_get(item, "stamp");
	struct install install = {.link = link, .id = bu_json_str(item, "id", "")};
	struct bu_install_hooks hooks = {on_progress, on_cancelled, &install};
	struct files files = {.count = 0};
	struct bu_install_data data[BU_INSTALL_DATA_MAX];
	struct bu_install_opts opts = {
		.base_url = bu_json_str(item, "base_url", ""),
		.image = bu_json_str(item, "image", ""),
		.manifest_digest = bu_json_str(item, "digest", ""),
		.image_public_pem = bu_json_str(item, "image_key", ""),
		.disk = bu_json_str(item, "disk", ""),
		.allow_wipe = bu_json_bool(item, "wipe", 0),
		.keep_data = bu_json_bool(item, "keep", 0),
		.kargs = bu_json_str(item, "kargs", ""),
		.data = data,
		.root_bytes = (uint64_t)bu_json_int(item, "root_bytes", 0),
		.mark_text = bu_json_str(mark, "text", ""),
		.mark_sig = bu_json_str(mark, "sig", ""),
		.appliance_public_pem = bu_json_str(item, "appliance_key", ""),
		.step_id = install.id,
		.stamp_text = bu_json_str(stamp, "text", ""),
		.stamp_sig = bu_json_str(stamp, "sig", ""),
		.files = files.list,
	};
	int rc = -1;

	if (link->identity->installed)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "an installed system does not overwrite itself");
	if (bu_granted_check("", item, err) != 0)
		return -1;
	read_data(item, data, &opts.data_count);
	if (files_read(item, &files, err) == 0 &&
	    add_identity(link->identity, &files, err) == 0) {
		opts.file_count = files.count;
		rc = bu_install_run(&opts, &hooks, err);
	}
	files_fini(&files);
	return rc;
}

static void
after_install(const json_t *item, int failed)
{
	if (failed)
		return;
	bu_info("work", "installed; switching off");
	sync();
	reboot(RB_POWER_OFF);
}

static int
systemctl(const char *verb, const char *unit, struct bu_err *err)
{
	const char *argv[] = {"systemctl", verb, unit, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = SERVICE_MS};

	return bu_job_run(&opts, NULL, err);
}

/* --- configure --- */

/* Whatever answers over a new connection is the appliance: it has shown its
 * certificate. */
static int
reach_appliance(const char *id, const void *arg, struct bu_err *err)
{
	const struct bu_identity *identity = arg;
	struct bu_http *http = bu_identity_connect(identity);
	bu_autojson json_t *body = json_pack("{s:s}", "id", id);
	int rc;

	err->kind = BU_ERR_NONE;
	rc = bu_http_json(http, "POST", "/v1/agent/confirm", body, CONFIRM_CALL_MS,
			  NULL, err);
	bu_http_destroy(http);
	return rc != 0 && (err->kind == BU_ERR_TIMEOUT || err->kind == BU_ERR_REMOTE ||
			   err->kind == BU_ERR_VERIFY || err->kind == BU_ERR_IO)
		       ? -1
		       : 0;
}

static void
fill_configure(const struct bu_identity *identity, char boot_id[40],
	       struct bu_configure *ret)
{
	bu_file_line("/proc/sys/kernel/random/boot_id", boot_id, 40);
	*ret = (struct bu_configure){.root = "",
				     .boot_id = boot_id,
				     .pause_ms = CONFIRM_PAUSE_MS,
				     .confirm = reach_appliance,
				     .arg = identity,
				     .bootargs = bu_bootargs_system};
}

static int
do_configure(struct bu_uplink *link, const json_t *item, json_t **ret_result,
	     struct bu_err *err)
{
	struct bu_change_file list[FILES_MAX];
	struct files files = {.count = 0};
	struct bu_configure configure;
	char boot_id[40];
	int rc = -1;

	if (!link->identity->installed)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "the boot ramdisk has no configuration to change");
	if (files_read(item, &files, err) == 0) {
		for (size_t i = 0; i < files.count; i++) {
			const json_t *row =
				json_array_get(json_object_get(item, "files"), i);

			list[i] = (struct bu_change_file){
				.path = files.list[i].path,
				.mode = files.list[i].mode,
				.apply = bu_json_str(row, "apply", ""),
				.content = files.list[i].content,
				.size = files.list[i].size};
		}
		fill_configure(link->identity, boot_id, &configure);
		rc = bu_configure_run(&configure, item, list, files.count, ret_result,
				      err);
	}
	files_fini(&files);
	return rc;
}

static void
after_configure(const json_t *item, int failed)
{
	struct bu_err err = {0};

	if (failed || strcmp(bu_json_str(item, "then", ""), "off") != 0)
		return;
	bu_info("work", "configured; switching off");
	sync();
	if (systemctl("poweroff", NULL, &err) != 0)
		bu_error("work", "switch off: %s", err.text);
}

void
bu_job_recover(const struct bu_identity *identity)
{
	struct bu_configure configure;
	char boot_id[40];

	fill_configure(identity, boot_id, &configure);
	bu_configure_recover(&configure);
}

/* --- probe --- */

static struct bu_pair_kept kept_open;

static int
do_probe(struct bu_uplink *link, const json_t *item, json_t **ret_result,
	 struct bu_err *err)
{
	struct bu_pair_opts opts;
	struct bu_pair_result result;

	if (bu_pair_opts_from_json(item, &opts, err) != 0)
		return -1;
	opts.kept = &kept_open;
	if (bu_pair_run(&opts, &result, err) != 0)
		return -1;
	*ret_result = bu_pair_result_to_json(&result);
	return 0;
}

/* --- join --- */

/* A file of the munge key belongs to the user of that name. */
static int
give_to_owner(const char *path, struct bu_err *err)
{
	const struct passwd *user;

	if (strncmp(path, "/etc/munge/", 11) != 0)
		return 0;
	user = getpwnam("munge");
	if (!user)
		return bu_err_set(
			err, BU_ERR_STATE, 0,
			"the image has no user munge; is munge in its recipe?");
	if (chown(path, user->pw_uid, user->pw_gid) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "chown '%s'", path);
	return 0;
}

static int
write_file(const struct bu_install_file *file, struct bu_err *err)
{
	bu_autofree char *dir = bu_xstrndup(
		file->path, (size_t)(strrchr(file->path, '/') - file->path));

	if (bu_mkdir_p(dir[0] ? dir : "/", 0755, err) != 0 ||
	    bu_file_write(file->path, file->content, file->size, file->mode, err) != 0)
		return -1;
	return give_to_owner(file->path, err);
}

static int
start_services(const json_t *services, struct bu_err *err)
{
	size_t i;
	json_t *service;

	if (!json_array_size(services))
		return 0;
	if (systemctl("daemon-reload", NULL, err) != 0)
		return -1;
	json_array_foreach (services, i, service)
		if (systemctl("restart", json_string_value(service), err) != 0)
			return -1;
	return 0;
}

static int
keep_certificate(const json_t *item, const char *kind, struct bu_err *err)
{
	const char *text = bu_json_str(json_object_get(item, kind), "text", "");
	bu_autofree char *path = bu_xasprintf("%s/%s.cert.json", installed_dir, kind);

	return bu_file_write(path, text, strlen(text), 0600, err);
}

static int
do_join(struct bu_uplink *link, const json_t *item, json_t **ret_result,
	struct bu_err *err)
{
	struct files files = {.count = 0};
	int rc = files_read(item, &files, err);

	if (rc == 0 && (keep_certificate(item, "full", err) != 0 ||
			keep_certificate(item, "boot", err) != 0))
		rc = -1;
	for (size_t i = 0; rc == 0 && i < files.count; i++)
		rc = write_file(&files.list[i], err);
	if (rc == 0)
		rc = start_services(json_object_get(item, "services"), err);
	files_fini(&files);
	return rc;
}

static const struct {
	const char *kind;
	int greet; /* the appliance should see the machine anew */
	int (*fn)(struct bu_uplink *link, const json_t *item, json_t **ret_result,
		  struct bu_err *err);
	void (*after)(const json_t *item, int failed); /* may be NULL */
} kinds[] = {
	{"install", 0, do_install, after_install},
	{"configure", 1, do_configure, after_configure},
	{"probe", 0, do_probe, NULL},
	{"checks", 0, bu_agent_checks, NULL},
	{"join", 0, do_join, NULL},
};

void
bu_job_idle(void)
{
	bu_pair_drop(&kept_open);
}

int
bu_job_item(struct bu_uplink *link, const json_t *item, json_t **ret_result,
	    struct bu_err *err)
{
	const char *kind = bu_json_str(item, "kind", "");

	if (strcmp(kind, "probe") != 0)
		bu_job_idle();
	for (size_t i = 0; i < BU_LEN(kinds); i++)
		if (strcmp(kinds[i].kind, kind) == 0)
			return kinds[i].fn(link, item, ret_result, err);
	return bu_err_set(err, BU_ERR_INVAL, 0, "this agent does not know work '%s'",
			  kind);
}

int
bu_job_after(const json_t *item, int failed)
{
	const char *kind = bu_json_str(item, "kind", "");
	int greet = 0;

	for (size_t i = 0; i < BU_LEN(kinds); i++) {
		if (strcmp(kinds[i].kind, kind) != 0)
			continue;
		greet = kinds[i].greet;
		if (kinds[i].after)
			kinds[i].after(item, failed);
	}
	return greet;
}
