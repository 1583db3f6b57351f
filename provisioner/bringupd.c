/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bringupd: main() and wiring only. One thread, one loop; what may block is in
 * children. It may be killed at any moment: what it was is in the log.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/path.h"
#include "images/store.h"
#include "profiles/nodeset/names.h"
#include "provisioner/api/api.h"
#include "provisioner/api/firmware.h"
#include "provisioner/boot/child.h"
#include "provisioner/boot/chrony.h"
#include "provisioner/boot/dnsmasq.h"
#include "provisioner/boot/rival.h"
#include "provisioner/boot/tftp.h"
#include "provisioner/data.h"
#include "provisioner/node/proof.h"
#include "provisioner/notify.h"
#include "provisioner/served.h"
#include "provisioner/settings.h"

/* Each agent keeps a connection. Not without end: some programs that are started from
 * here close whatever they could have open. */
enum { FILES_MAX = 65536 };

struct daemon {
	struct bu_settings settings;
	struct bu_loop *loop;
	struct bu_store *store;
	struct bu_trust *trust;
	struct bu_fleet *fleet;
	struct bu_power *power;
	struct bu_dnsmasq *dnsmasq;
	struct bu_chrony *chrony;
	struct bu_rival *rival;
	struct bu_notify *notify;
	struct bu_api api;
	char *image_key, *bundle_dir, *web;
	struct bu_compat *compat;
	char *http_url, *firmware_url; /* of boot files: of all, and of HTTP boot */
	char *agent_url, *script_url, *console_dir;
	char *media_url, *keys;
};

/* What DHCP, DNS and time go by. */
static const struct bu_desired *
served(const struct daemon *d)
{
	return d->fleet->desired ? d->fleet->desired : d->fleet->last;
}

/* Where the site has time servers of its own, the appliance serves none. */
static void
tell_chrony(struct daemon *d)
{
	const struct bu_desired *desired = served(d);
	bu_autofree char *text = NULL;
	struct bu_err err;
	size_t size;
	FILE *out;

	if (!d->chrony || !desired)
		return;
	out = open_memstream(&text, &size);
	bu_assert(out);
	bu_names_print_chrony(desired, out);
	fclose(out);
	if (bu_chrony_set(d->chrony, desired->site.ntp ? NULL : text, &err) != 0)
		bu_error("chronyd", "%s", err.text);
}

static void
tell_dnsmasq(struct daemon *d)
{
	struct bu_served served_now;
	struct bu_err err;

	if (!d->dnsmasq)
		return;
	bu_served_make(served(d), d->settings.boot_address, &served_now);
	if (bu_dnsmasq_set(d->dnsmasq, &served_now.site, &err) != 0)
		bu_error("dnsmasq", "%s", err.text);
	bu_served_fini(&served_now);
}

static void
tell_server(struct daemon *d)
{
	bu_autofree char *names =
		bu_served_hosts(served(d), d->settings.names, d->settings.media_url);

	bu_server_names(d->api.server, names);
}

static void
tell_boot(struct daemon *d)
{
	tell_server(d);
	tell_dnsmasq(d);
	tell_chrony(d);
}

static void
on_change(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	struct daemon *d = arg;

	if (!node)
		tell_boot(d);
	bu_api_boot_tell(&d->api, node);
	bu_rollouts_kick(d->api.rollouts);
	bu_gate_kick(d->api.gate);
	bu_server_wake(d->api.server);
}

static void
on_stop(int signo, void *arg)
{
	struct daemon *d = arg;

	bu_info("main", "signal %d, stopping; nodes and clusters go on", signo);
	bu_loop_stop(d->loop);
}

static int
open_state(struct daemon *d, struct bu_err *err)
{
	bu_autofree char *log = bu_xasprintf("%s/journal.db", d->settings.state);

	if (bu_mkdir_p(d->settings.state, 0700, err) != 0 ||
	    bu_settings_confine(&d->settings, err) != 0)
		return -1;
	d->keys = bu_xasprintf("%s/keys", d->settings.state);
	d->trust = bu_settings_trust(&d->settings, d->keys, err);
	if (!d->trust)
		return -1;
	d->store = bu_store_open_sqlite(d->loop, log, err);
	if (!d->store)
		return -1;
	bu_image_claim(d->settings.images, log);
	d->fleet = bu_fleet_create(d->loop, d->store);
	d->fleet->public_pem = bu_trust_public_key(d->trust);
	return bu_fleet_load(d->fleet, err);
}

/* The first start of this log raises its epoch. */
static void
first_epoch(struct daemon *d)
{
	struct bu_event event;
	int64_t epoch = bu_wall_ms(bu_clock_system()) / 1000;

	if (bu_store_lead(d->store).epoch)
		return;
	BU_EVENT_MAKE(&event, BU_EVENT_EPOCH, "", epoch, .epoch = epoch);
	bu_reconcile_note(d->api.rec, &event, 1);
}

static int
start_engine(struct daemon *d, struct bu_err *err)
{
	bu_autofree char *program = bu_program_path("bringup-power");
	struct bu_reconcile_opts opts = {.fleet = d->fleet, .trust = d->trust};
	const struct bu_power_opts power = bu_settings_power(&d->settings);

	d->power = bu_power_create(d->loop, program, &power, err);
	if (!d->power)
		return -1;
	opts.power = d->power;
	d->console_dir = bu_xasprintf("%s/console", d->settings.state);
	opts.console_dir = d->console_dir;
	d->media_url = d->settings.media_url[0]
			       ? bu_xstrdup(d->settings.media_url)
			       : bu_xasprintf("http://%s", d->settings.boot_listen);
	opts.media_url = d->media_url;
	memcpy(opts.limit_s, d->settings.limit_s, sizeof(opts.limit_s));
	d->api.rec = bu_reconcile_create(&opts);
	d->api.rollouts = bu_rollouts_create(d->fleet, d->api.rec);
	d->api.gate = bu_gate_create(d->fleet, d->api.rec, d->trust);
	bu_data_load_gate(d->api.gate);
	return 0;
}

static int
listen_one(struct daemon *d, enum bu_listener kind, const char *address,
	   struct bu_err *err)
{
	const struct bu_server_tls tls = {
		.cert = bu_trust_server_cert(d->trust),
		.key = bu_trust_server_key(d->trust),
		.ca = bu_trust_ca(d->trust),
	};
	int fd = kind == BU_LISTEN_LOCAL ? bu_listen_unix(address, err)
					 : bu_listen_tcp(address, err);

	if (fd < 0)
		return -1;
	return bu_server_listen(d->api.server, kind, fd,
				kind == BU_LISTEN_AGENT ? &tls : NULL, err);
}

static void
on_secret(void *arg)
{
	struct daemon *d = arg;

	bu_server_wake(d->api.server);
}

static int
open_listeners(struct daemon *d, int page_fd, struct bu_err *err)
{
	struct bu_callers callers = {.token = bu_api_token_open,
				     .session = bu_api_session_open,
				     .arg = &d->api};
	const struct bu_settings *s = &d->settings;
	struct bu_oidc_opts oidc;

	d->api.server = bu_server_create(d->loop, bu_api_routes, &d->api);
	bu_server_counts_log(d->api.server, d->store);
	tell_server(d);
	if (s->people_ca[0]) {
		d->api.people = bu_person_ca_open(s->people_ca, s->people_crl, err);
		if (!d->api.people)
			return -1;
	}
	callers.people = d->api.people;
	bu_settings_groups(s, callers.groups);
	bu_server_callers(d->api.server, &callers);
	oidc = bu_settings_oidc(s, callers.groups);
	d->api.oidc = bu_oidc_create(d->loop, &oidc);
	d->api.work.secrets = bu_secrets_create(d->loop, on_secret, d);
	if (listen_one(d, BU_LISTEN_LOCAL, s->socket, err) != 0)
		return -1;
	if (s->boot_listen[0] &&
	    listen_one(d, BU_LISTEN_BOOT, s->boot_listen, err) != 0)
		return -1;
	if (s->boot_tls_listen[0] &&
	    bu_firmware_listen(d->api.server, d->keys, s->boot_tls_listen, err) != 0)
		return -1;
	if (s->agent_listen[0] &&
	    listen_one(d, BU_LISTEN_AGENT, s->agent_listen, err) != 0)
		return -1;
	if (bu_api_listen_people(&d->api, err) != 0)
		return -1;
	if (page_fd >= 0)
		return bu_server_listen(d->api.server, BU_LISTEN_PAGE, page_fd, NULL,
					err);
	return s->page_listen[0] ? listen_one(d, BU_LISTEN_PAGE, s->page_listen, err)
				 : 0;
}

static int
prepare_dnsmasq(struct daemon *d, struct bu_err *err)
{
	const struct bu_settings *s = &d->settings;
	bu_autofree char *dir = bu_xasprintf("%s/dnsmasq", s->state);
	bu_autofree char *top = bu_path_folder(s->socket);
	bu_autofree char *run_dir = bu_xasprintf("%s/dnsmasq", top);
	bu_autofree char *time_dir = bu_xasprintf("%s/chronyd", top);
	struct bu_dnsmasq_opts opts = {
		.dir = dir,
		.run_dir = run_dir,
		.interface = s->boot_interface,
		.address = s->boot_address,
		.range = s->dhcp_range,
		.loaders = d->api.loader_dirs,
		.no_dns = strcmp(s->serve_dns, "no") == 0,
		.script_url = d->script_url,
		.http_url = d->firmware_url,
		.unserved = bu_proof_unserved,
		.arg = d->api.rec,
	};

	if (!s->boot_interface[0])
		return 0;
	d->api.tftp_dir = bu_xasprintf("%s/tftp", run_dir);
	if (bu_dhcp_from_name(s->dhcp, &opts.dhcp, err) != 0 ||
	    bu_loaders_check(&opts.loaders, err) != 0 ||
	    bu_child_folder("dnsmasq", run_dir, err) != 0 ||
	    bu_tftp_make(d->api.tftp_dir, &opts.loaders, err) != 0)
		return -1;
	bu_api_boot_tell(&d->api, NULL);
	d->dnsmasq = bu_dnsmasq_create(d->loop, &opts);
	if (opts.dhcp == BU_DHCP_FULL)
		d->rival = bu_rival_create(d->loop, s->boot_interface, s->boot_address,
					   bu_proof_rival, d->api.rec);
	if (strcmp(s->serve_time, "yes") == 0)
		d->chrony = bu_chrony_create(
			d->loop, &(struct bu_chrony_opts){time_dir, s->boot_address});
	tell_boot(d);
	return 0;
}

static void
fill_api(struct daemon *d)
{
	const struct bu_settings *s = &d->settings;

	d->http_url = bu_xasprintf("http://%s", s->boot_listen);
	d->firmware_url = s->boot_tls_listen[0]
				  ? bu_xasprintf("https://%s", s->boot_tls_listen)
				  : bu_xstrdup(d->http_url);
	d->agent_url = bu_xasprintf("https://%s", s->agent_listen);
	d->script_url = bu_xasprintf("%s/boot.ipxe", d->http_url);
	d->web = s->web[0] ? bu_xstrdup(s->web) : bu_data_path("webui");
	d->image_key = s->image_key[0]
			       ? bu_xstrdup(s->image_key)
			       : bu_xasprintf("%s/../keys/image.pub", s->images);
	d->api.fleet = d->fleet;
	d->api.trust = d->trust;
	d->api.work.fleet = d->fleet;
	d->api.work.trust = d->trust;
	d->api.work.images_dir = s->images;
	d->api.work.image_key = d->image_key;
	d->api.ramdisk_dir = s->ramdisk;
	d->api.loader_dirs = (struct bu_loader_dirs){s->boot_loaders, s->ramdisk};
	d->api.web_dir = d->web;
	d->api.work.boot_address = s->boot_address;
	d->api.dhcp_range = s->dhcp_range;
	d->api.work.http_url = d->http_url;
	d->api.agent_url = d->agent_url;
	d->api.people_listen = s->people_listen;
	d->bundle_dir = bu_xasprintf("%s/" BU_BUNDLE_DIR, s->ramdisk);
	d->api.work.upgrades =
		bu_agent_upgrades_create(&(struct bu_agent_upgrades_opts){
			d->fleet, d->api.rec, d->bundle_dir, d->image_key, BU_VERSION});
}

static int
start(struct daemon *d, const char *conf, int page_fd, struct bu_err *err)
{
	if (open_state(d, err) != 0 || start_engine(d, err) != 0)
		return -1;
	fill_api(d);
	if (bu_data_load_compat(&d->compat, err) != 0)
		return -1;
	d->api.compat = d->compat;
	if (open_listeners(d, page_fd, err) != 0)
		return -1;
	if (prepare_dnsmasq(d, err) != 0)
		return -1;
	bu_fleet_watch(d->fleet, on_change, d);
	d->api.backups = bu_backups_create(
		&(struct bu_backups_opts){&d->api, d->settings.state, conf, NULL});
	first_epoch(d);
	d->api.webhooks = bu_webhooks_create(&d->api, d->settings.webhooks,
					     d->settings.webhooks_count);
	bu_reconcile_start(d->api.rec);
	bu_rollouts_kick(d->api.rollouts);
	bu_info("main", "bringupd %s: %zu nodes, epoch %lld, state in %s", BU_VERSION,
		d->fleet->count, (long long)d->fleet->epoch, d->settings.state);
	d->notify = bu_notify_ready(d->loop);
	return 0;
}

static void
stop(struct daemon *d)
{
	bu_notify_stopping(d->notify);
	bu_webhooks_destroy(d->api.webhooks);
	/* What is on its way to the log gets there, but starts nothing any more. */
	if (d->api.rec)
		bu_reconcile_stop(d->api.rec);
	bu_secrets_destroy(d->api.work.secrets);
	bu_server_destroy(d->api.server);
	bu_oidc_destroy(d->api.oidc);
	bu_api_forget_plans(&d->api);
	bu_api_forget_sessions(&d->api);
	bu_api_forget_scans(&d->api);
	bu_api_forget_status(&d->api);
	bu_backups_destroy(d->api.backups);
	bu_rival_destroy(d->rival);
	bu_dnsmasq_destroy(d->dnsmasq);
	bu_chrony_destroy(d->chrony);
	bu_agent_upgrades_destroy(d->api.work.upgrades);
	bu_gate_destroy(d->api.gate);
	bu_rollouts_destroy(d->api.rollouts);
	bu_power_destroy(d->power);
	free(d->console_dir);
	bu_store_destroy(d->store);
	bu_reconcile_destroy(d->api.rec);
	bu_fleet_destroy(d->fleet);
	bu_person_ca_close(d->api.people);
	bu_trust_destroy(d->trust);
	bu_settings_fini(&d->settings);
	free(d->api.tftp_dir);
	free(d->image_key);
	free(d->bundle_dir);
	free(d->web);
	bu_compat_destroy(d->compat);
	free(d->http_url);
	free(d->firmware_url);
	free(d->keys);
	free(d->agent_url);
	free(d->script_url);
	free(d->media_url);
}

static int
run(const char *conf)
{
	struct daemon d = {0};
	struct bu_sigwatch *watches[2];
	struct bu_err err = {0};
	int page_fd = bu_listen_inherited(), rc;

	if (bu_settings_load(conf, &d.settings, &err) != 0) {
		bu_error("main", "%s", err.text);
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	bu_raise_open_files(FILES_MAX);
	d.loop = bu_loop_create(NULL);
	watches[0] = bu_sigwatch_create(d.loop, SIGTERM, on_stop, &d);
	watches[1] = bu_sigwatch_create(d.loop, SIGINT, on_stop, &d);
	rc = start(&d, conf, page_fd, &err);
	if (rc == 0)
		bu_loop_run(d.loop);
	else
		bu_error("main", "%s", err.text);
	stop(&d);
	bu_sigwatch_destroy(watches[0]);
	bu_sigwatch_destroy(watches[1]);
	bu_loop_destroy(d.loop);
	return rc == 0 ? 0 : 1;
}

int
main(int argc, char **argv)
{
	const char *conf = "/etc/bringup/bringupd.conf";
	enum bu_log_level level = BU_LOG_INFO;
	int option;

	while ((option = getopt(argc, argv, "c:vmh")) != -1) {
		switch (option) {
		case 'c':
			conf = optarg;
			break;
		case 'v':
			level = BU_LOG_DEBUG;
			break;
		case 'm':
			bu_settings_man(stdout);
			return 0;
		default:
			fprintf(stderr, "usage: bringupd [-c FILE] [-v] | -m (prints "
					"bringupd.conf(5))\n");
			return option == 'h' ? 0 : 1;
		}
	}
	bu_log_init("bringupd", level);
	umask(077);
	return run(conf);
}
