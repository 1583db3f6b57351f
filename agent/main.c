/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringup-agent: in the boot ramdisk, and with --installed in the installed system.
 * It calls the appliance; it listens only while a probe has leased it. `bringup-agent
 * probe FILE` runs one end of a probe and prints its result, without an appliance; with
 * `-` one for each line that it reads.
 */
#include <nss.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "agent/inventory.h"
#include "agent/jobs.h"
#include "agent/prober.h"
#include "agent/renew.h"
#include "agent/session.h"
#include "agent/volumes.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "images/install/bootargs.h"

static int
find_identity(int installed, struct bu_identity *ret, struct bu_err *err)
{
	const char *dir = installed ? "/var/lib/bringup" : "/run/bringup";
	bu_autoinventory struct bu_inventory *inventory = NULL;
	bu_autofree char *cmdline = NULL;

	/* In the ramdisk: when we were started again after we had enrolled. */
	if (installed || bu_identity_exists(dir))
		return bu_identity_load(dir, installed, ret, err);
	inventory = bu_inventory_collect("", err);
	cmdline = bu_file_read("/proc/cmdline", 65536, NULL, err);
	if (!inventory || !cmdline)
		return -1;
	return bu_identity_enroll(cmdline, dir, inventory, ret, err);
}

/* For benches and for people who look for a fault: one end of a probe, from a work item
 * (fabric/probe/pair.h) written by hand. */
static int
probe_item(const json_t *item, size_t format, struct bu_prober *prober,
	   struct bu_err *err)
{
	bu_autojson json_t *value = NULL;

	if (!item || bu_prober_run(prober, item, &value, err) != 0)
		return -1;
	json_dumpf(value, stdout, format);
	putchar('\n');
	fflush(stdout);
	return json_object_get(value, "error") != NULL;
}

static int
probe(const char *path)
{
	struct bu_err err = {0};
	bu_autojson json_t *item = bu_json_load(path, &err);
	struct bu_prober prober = {.arg = NULL};
	int rc = probe_item(item, JSON_INDENT(1), &prober, &err);

	bu_prober_drop(&prober);
	if (rc < 0)
		bu_error("probe", "%s", err.text);
	return rc != 0;
}

/* As the agent does it: one process for one probe after the other. */
static int
probe_lines(void)
{
	bu_autofree char *line = NULL;
	struct bu_prober prober = {.arg = NULL};
	size_t size = 0;
	ssize_t length;

	while ((length = getline(&line, &size, stdin)) > 0) {
		struct bu_err err = {0};
		bu_autojson json_t *item =
			bu_json_parse(line, (size_t)length, "work item", &err);
		bu_autojson json_t *failure = NULL;

		if (probe_item(item, JSON_COMPACT, &prober, &err) >= 0)
			continue;
		failure = json_pack("{s:o}", "error", bu_json_from_err(&err));
		json_dumpf(failure, stdout, JSON_COMPACT);
		putchar('\n');
		fflush(stdout);
	}
	bu_prober_drop(&prober);
	return 0;
}

/* Before anybody is asked: a start need not wait for the appliance. */
static void
unseal_volumes(void)
{
	struct bu_err err = {0};

	if (bu_volumes_open("", NULL, &err) != 0)
		bu_warn("main", "%s", err.text);
}

/* What names mean by files and by DNS: other ways are libraries of the host, which do
 * not fit to our C library. */
static void
keep_to_own_libraries(void)
{
	static const char *const files[] = {"passwd", "group", "shadow", "services"};

	for (size_t i = 0; i < BU_LEN(files); i++)
		__nss_configure_lookup(files[i], "files");
	__nss_configure_lookup("hosts", "files dns");
}

int
main(int argc, char **argv)
{
	struct bu_identity identity = {0};
	struct bu_session session = {.link = {.identity = &identity}};
	struct bu_err err = {0};
	int installed = argc == 2 && strcmp(argv[1], "--installed") == 0;

	bu_log_init("bringup-agent", BU_LOG_INFO);
	keep_to_own_libraries();
	signal(SIGPIPE, SIG_IGN);
	if (argc == 3 && strcmp(argv[1], "probe") == 0)
		return strcmp(argv[2], "-") == 0 ? probe_lines() : probe(argv[2]);
	if (argc == 2 && strcmp(argv[1], "version") == 0)
		return puts(BU_VERSION) < 0;
	if (argc > 2 || (argc == 2 && !installed)) {
		fprintf(stderr, "usage: bringup-agent [--installed | probe FILE|- | "
				"version]\n");
		return 1;
	}
	if (find_identity(installed, &identity, &err) == 0) {
		bu_info("main", "agent %s of node %s, appliance %s", BU_VERSION,
			identity.node, identity.url);
		if (installed) {
			if (bu_renew_settle(&identity, &err) < 0)
				bu_warn("main", "%s", err.text);
			bu_job_recover(&identity);
			session.itself.bootargs = bu_bootargs_system;
			unseal_volumes();
		}
		session.link.http = bu_identity_connect(&identity);
		session.link.progress_http = bu_identity_connect(&identity);
		bu_ignore(bu_session_run(&session, &err)); /* ends only in err */
	}
	bu_error("main", "%s", err.text);
	/* Of a machine that is not wanted nothing was touched. */
	if (!installed && err.kind == BU_ERR_CANCELLED)
		reboot(RB_AUTOBOOT);
	bu_http_destroy(session.link.http);
	bu_http_destroy(session.link.progress_http);
	json_decref(session.last_result);
	json_decref(session.links);
	json_decref(session.runs);
	bu_heard_fini(&session.heard);
	bu_itself_fini(&session.itself);
	json_decref(session.crash);
	bu_identity_fini(&identity);
	return 1;
}
