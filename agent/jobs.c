/* SPDX-License-Identifier: Apache-2.0 */
/* install, configure, probe, join: each unpacks its item and calls the room that can do
 * it. */
#include "agent/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent_upgrade.h"
#include "agent/checks.h"
#include "agent/configure.h"
#include "agent/granted.h"
#include "agent/memory_boot.h"
#include "agent/ordered.h"
#include "agent/prober.h"
#include "agent/switches.h"
#include "agent/system.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "base/worker.h"
#include "images/install/bootargs.h"
#include "images/install/bootvars.h"
#include "images/install/chooser.h"
#include "images/install/install.h"
#include "images/install/kexec.h"
#include "model/disk_own.h"
#include "model/work.h"

enum {
	SERVICE_MS = 60000,
	CONFIRM_CALL_MS = 5000,
	CONFIRM_PAUSE_MS = 1500,
	ASK_MS = 2000,      /* whether a probe is still wanted */
	ASK_LAST_MS = 3000, /* an answer may take so long: not after this */
};

static const char installed_dir[] = "/var/lib/bringup";

/* --- install --- */

/* This boot, as the appliance told the kernel. */
static int
boots_medium(void)
{
	bu_autofree char *line = bu_file_read("/proc/cmdline", 65536, NULL, NULL);
	bu_autofree char *word = line ? bu_cmdline_value(line, "bringup.medium") : NULL;

	return word != NULL;
}

/* Which array is the node's: of its disks, not of its name. */
static void
add_array(const struct bu_work_install *work, struct bu_system_files *files)
{
	char *text;

	if (!work->scratch_count)
		return;
	text = bu_xasprintf("%s\n", work->scratch_uuid);
	bu_system_files_add(files, "/var/lib/bringup/scratch", 0600, text,
			    strlen(text));
}

/* Its array, and the disks that the system is to be on: a node knows by them that it
 * has lost one. */
static void
add_mirror(const struct bu_work_install *work, struct bu_system_files *files)
{
	char *text;

	if (!work->mirror[0])
		return;
	text = bu_xasprintf("%s\n%s\n%s\n", work->mirror_uuid,
			    bu_disk_number(work->disk_serial, work->disk_wwn),
			    bu_disk_number(work->mirror_serial, work->mirror_wwn));
	bu_system_files_add(files, "/var/lib/bringup/mirror", 0600, text, strlen(text));
}

/* Who starts it by kexec has had the one try: a reset leads to the other root. */
static int
load_kexec(const struct bu_work_install *work, const struct bu_install_slot *slot)
{
	bu_autofree char *name = bu_xasprintf("ESP-%s", bu_slot_name(slot->slot));
	struct bu_err err = {0};

	if (!bu_kexec_load(work->disk, work->roots == 2 ? name : NULL))
		return 0;
	if (work->roots != 2 || !slot->tried || !bu_chooser_untry(work->disk, &err))
		return 1;
	bu_warn("work", "%s; its BMC starts the machine", err.text);
	return 0;
}

/* New reference; NULL = there is nothing to tell. */
static json_t *
installed_as(const struct bu_work_install *work, const struct bu_install_slot *slot,
	     int kexec)
{
	struct bu_work_installed result = {.kexec = kexec};

	if (!kexec && work->roots != 2)
		return NULL;
	if (work->roots == 2) {
		result.slot = bu_slot_name(slot->slot);
		result.tried = slot->tried;
		result.reused = slot->reused;
	}
	return bu_record_to_json(bu_work_installed_fields, &result);
}

static int
install(struct bu_uplink *link, const struct bu_work_install *work, json_t **ret_result,
	struct bu_err *err)
{
	struct bu_system_told told = {.link = link, .id = work->work.id};
	struct bu_install_hooks hooks = bu_system_hooks(&told);
	struct bu_ordered ordered;
	struct bu_system_files files = {.count = 0};
	struct bu_brought agent = {0};
	struct bu_install_slot slot = {0};
	int rc = -1, kexec = 0;

	bu_ordered_fill(work, &ordered);
	ordered.opts.ret_slot = &slot;
	if (bu_granted_check("", work, err) == 0 &&
	    bu_agent_upgrade_bring(&agent, err) == 0 &&
	    bu_system_files_read(work->files, work->files_count, &files, err) == 0 &&
	    bu_system_add_identity(link->identity, &files, err) == 0) {
		add_array(work, &files);
		add_mirror(work, &files);
		ordered.opts.agent_files = agent.files;
		ordered.opts.agent_file_count = agent.count;
		rc = bu_ordered_files(&ordered, files.list, files.count, err);
		if (rc == 0)
			rc = bu_install_run(&ordered.opts, &hooks, err);
		if (rc == 0)
			bu_bootvars_installed(
				(const char *const[]){work->disk, ordered.opts.mirror},
				boots_medium());
		if (rc == 0 && work->kexec)
			kexec = load_kexec(work, &slot);
		if (rc == 0)
			*ret_result = installed_as(work, &slot, kexec);
	}
	bu_brought_fini(&agent);
	bu_system_files_fini(&files);
	return rc;
}

static int
do_install(struct bu_uplink *link, const json_t *item, json_t **ret_result,
	   struct bu_err *err)
{
	struct bu_work_install work;
	int rc;

	if (link->identity->installed)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "an installed system does not overwrite itself");
	if (bu_record_from_json(bu_work_install_fields, item, &work, err) != 0)
		return bu_err_wrap(err, "install");
	rc = install(link, &work, ret_result, err);
	bu_record_fini(bu_work_install_fields, &work);
	return rc;
}

static void
after_install(const json_t *item, int failed)
{
	if (!failed)
		bu_kexec_leave(bu_json_bool(item, "kexec", 0));
}

static int
systemctl(const char *verb, const char *unit, struct bu_err *err)
{
	const char *argv[] = {"systemctl", verb, unit, NULL};
	struct bu_job_opts opts = {.argv = argv, .deadline_ms = SERVICE_MS};

	return bu_job_run(&opts, NULL, err);
}

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
	rc = bu_http_json(http,
			  &(struct bu_http_call){"POST", "/v1/agent/confirm", body,
						 CONFIRM_CALL_MS},
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
configure(struct bu_uplink *link, const struct bu_work_configure *work,
	  json_t **ret_result, struct bu_err *err)
{
	struct bu_change_file list[BU_WORK_FILES_MAX];
	struct bu_system_files files = {.count = 0};
	struct bu_configure opts;
	char boot_id[40];
	int rc = bu_system_files_read(work->files, work->files_count, &files, err);

	for (size_t i = 0; i < files.count; i++)
		list[i] = (struct bu_change_file){
			.path = files.list[i].path,
			.mode = files.list[i].mode,
			.apply = work->files[i].apply ? work->files[i].apply : "",
			.content = files.list[i].content,
			.size = files.list[i].size};
	if (rc == 0) {
		fill_configure(link->identity, boot_id, &opts);
		rc = bu_configure_run(&opts, work, list, files.count, ret_result, err);
	}
	bu_system_files_fini(&files);
	return rc;
}

static int
do_configure(struct bu_uplink *link, const json_t *item, json_t **ret_result,
	     struct bu_err *err)
{
	struct bu_work_configure work;
	int rc;

	if (!link->identity->installed)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "the boot ramdisk has no configuration to change");
	if (bu_record_from_json(bu_work_configure_fields, item, &work, err) != 0)
		return bu_err_wrap(err, "configure");
	rc = configure(link, &work, ret_result, err);
	bu_record_fini(bu_work_configure_fields, &work);
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

static struct bu_prober prober;

struct asked {
	struct bu_uplink *link;
	const char *id;
	int64_t at_ms, last_ms; /* asked, and not asked any more */
	int cancelled;
};

static int
is_withdrawn(void *arg)
{
	struct asked *asked = arg;
	int64_t now_ms = bu_mono_ms(bu_clock_system());

	if (asked->cancelled || now_ms - asked->at_ms < ASK_MS ||
	    now_ms >= asked->last_ms)
		return asked->cancelled;
	asked->cancelled = bu_link_progress(asked->link, asked->id, "probe", 0, 0);
	asked->at_ms = bu_mono_ms(bu_clock_system());
	return asked->cancelled;
}

static int
do_probe(struct bu_uplink *link, const json_t *item, json_t **ret_result,
	 struct bu_err *err)
{
	struct asked asked = {.link = link,
			      .id = bu_json_str(item, "id", ""),
			      .at_ms = bu_mono_ms(bu_clock_system())};

	asked.last_ms = asked.at_ms + bu_json_int(item, "deadline_ms", 0) - ASK_LAST_MS;
	prober.cancelled = is_withdrawn;
	prober.arg = &asked;
	return bu_prober_run(&prober, item, ret_result, err);
}

/* --- join --- */

static int
give_to_owner(const char *path, const char *owner, struct bu_err *err)
{
	const struct passwd *user = owner ? getpwnam(owner) : NULL;

	if (!owner)
		return 0;
	if (!user)
		return bu_err_set(err, BU_ERR_STATE, 0,
				  "the image has no user %s; is %s in its recipe?",
				  owner, owner);
	if (chown(path, user->pw_uid, user->pw_gid) != 0)
		return bu_err_set(err, BU_ERR_IO, errno, "chown '%s'", path);
	return 0;
}

static int
write_file(const struct bu_install_file *file, const char *owner, struct bu_err *err)
{
	bu_autofree char *dir = bu_path_folder(file->path);

	if (bu_mkdir_p(dir, 0755, err) != 0 ||
	    bu_file_write(file->path, file->content, file->size, file->mode, err) != 0)
		return -1;
	return give_to_owner(file->path, owner, err);
}

static int
start_services(const struct bu_work_join *work, struct bu_err *err)
{
	int rc = work->services_count ? systemctl("daemon-reload", NULL, err) : 0;

	for (size_t i = 0; rc == 0 && i < work->services_count; i++)
		rc = systemctl("restart", work->services[i], err);
	return rc;
}

static int
keep_certificate(const struct bu_work_cert *cert, const char *kind, struct bu_err *err)
{
	bu_autofree char *path = bu_xasprintf("%s/%s.cert.json", installed_dir, kind);

	return bu_file_write(path, cert->text, strlen(cert->text), 0600, err);
}

static int
do_join(struct bu_uplink *link, const json_t *item, json_t **ret_result,
	struct bu_err *err)
{
	struct bu_system_files files = {.count = 0};
	struct bu_work_join work;
	int rc;

	if (bu_record_from_json(bu_work_join_fields, item, &work, err) != 0)
		return bu_err_wrap(err, "join");
	rc = bu_system_files_read(work.files, work.files_count, &files, err);
	if (rc == 0 && (keep_certificate(&work.full, "full", err) != 0 ||
			keep_certificate(&work.boot, "boot", err) != 0))
		rc = -1;
	for (size_t i = 0; rc == 0 && i < files.count; i++)
		rc = write_file(&files.list[i], work.files[i].owner, err);
	if (rc == 0)
		rc = start_services(&work, err);
	bu_system_files_fini(&files);
	bu_record_fini(bu_work_join_fields, &work);
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
	{"load", 0, bu_memory_boot_item, bu_memory_boot_after},
	{"configure", 1, do_configure, after_configure},
	{"probe", 0, do_probe, NULL},
	{"checks", 0, bu_agent_checks, NULL},
	{"switches", 0, bu_agent_switches, NULL},
	{"join", 0, do_join, NULL},
	{"agent", 0, bu_agent_upgrade_item, bu_agent_upgrade_after},
};

void
bu_job_idle(void)
{
	bu_prober_drop(&prober);
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
