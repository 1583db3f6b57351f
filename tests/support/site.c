/* SPDX-License-Identifier: Apache-2.0 */
/* The fake site with its server, for the tests of the API. */
#include "tests/support/site.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "model/shown_status.h"
#include "tests/support/shown.h"

enum { PATIENCE = 2000 };

int
site_listen_plain(struct site *site, enum bu_listener kind)
{
	int fd = bu_listen_tcp("127.0.0.1:0", NULL), port = talk_port(fd);

	ck_assert_int_eq(bu_server_listen(site->api.server, kind, fd, NULL, NULL), 0);
	return port;
}

static int
listen_on(struct site *site, enum bu_listener kind)
{
	const struct bu_trust *trust = site->rig.trust;
	int tls = kind == BU_LISTEN_AGENT || kind == BU_LISTEN_PEOPLE;
	int fd = bu_listen_tcp("127.0.0.1:0", NULL), port = talk_port(fd);

	ck_assert_int_eq(
		bu_server_listen(
			site->api.server, kind, fd,
			tls ? &(struct bu_server_tls){tls ? bu_trust_server_cert(trust)
							  : NULL,
						      tls ? bu_trust_server_key(trust)
							  : NULL,
						      kind == BU_LISTEN_AGENT
							      ? bu_trust_ca(trust)
							      : NULL}
			    : NULL,
			NULL),
		0);
	return port;
}

/* Watchers get the nodes alone that are marked: whatever a node shows, it is marked
 * when it shows something else. */
static void
check_marks(struct site *site)
{
	struct bu_fleet *fleet = site->rig.fleet;

	for (size_t i = 0; i < fleet->count && !site->pokes; i++) {
		const struct bu_node *node = fleet->nodes[i];
		json_t *now = bu_api_shown_node(fleet, node);
		const json_t *before = json_object_get(site->shown, node->name);

		/* Lists may show an older one. */
		json_object_del(now, "last_seen_ms");
		if (before && !json_equal(before, now) &&
		    node->live.changed <= site->looked &&
		    fleet->renewed <= site->looked)
			ck_abort_msg("%s was not marked: %s, before %s", node->name,
				     json_dumps(now, JSON_COMPACT),
				     json_dumps(before, JSON_COMPACT));
		json_object_set_new(site->shown, node->name, now);
	}
	site->looked = fleet->version;
}

static void
on_change(struct bu_fleet *fleet, struct bu_node *node, void *arg)
{
	struct site *site = arg;

	check_marks(site);
	bu_gate_kick(site->rig.gate);
	bu_server_wake(site->api.server);
}

static void
on_secret(void *arg)
{
	struct site *site = arg;

	bu_server_wake(site->api.server);
}

static void
open_server(struct site *site)
{
	const struct bu_callers callers = {
		.groups = {{"", -1}, {"", -1}, {"", -1}, {"", -1}, {"", -1}},
		.token = bu_api_token_open,
		.session = bu_api_session_open,
		.arg = &site->api,
	};
	struct rig *rig = &site->rig;

	site->api = (struct bu_api){
		.fleet = rig->fleet,
		.rec = rig->rec,
		.trust = rig->trust,
		.rollouts = rig->rollouts,
		.gate = rig->gate,
		.work = {.fleet = rig->fleet,
			 .trust = rig->trust,
			 .images_dir = site->images,
			 .image_key = "/no/such/key",
			 .boot_address = "10.77.0.1",
			 .http_url = "http://10.77.0.1:8080"},
		.ramdisk_dir = site->ramdisk,
		.loader_dirs = {site->ramdisk, site->ramdisk},
		.web_dir = BU_SRCDIR "/webui",
		.dhcp_range = "10.77.0.150,10.77.0.199",
		.agent_url = "https://10.77.0.1:8443",
		.people_listen = "10.77.0.1:8444",
	};
	site->api.work.upgrades = bu_agent_upgrades_create(
		&(struct bu_agent_upgrades_opts){rig->fleet, rig->rec, site->bundle,
						 site->api.work.image_key, BU_VERSION});
	site->api.server = bu_server_create(rig->loop, bu_api_routes, &site->api);
	site->api.work.secrets = bu_secrets_create(rig->loop, on_secret, site);
	site->page = listen_on(site, BU_LISTEN_PAGE);
	site->local = listen_on(site, BU_LISTEN_LOCAL);
	site->boot = listen_on(site, BU_LISTEN_BOOT);
	site->agent = listen_on(site, BU_LISTEN_AGENT);
	site->people = listen_on(site, BU_LISTEN_PEOPLE);
	bu_server_callers(site->api.server, &callers);
	bu_fleet_watch(rig->fleet, on_change, site);
	site->shown = json_object();
}

static void
close_server(struct site *site)
{
	check_marks(site);
	json_decref(bu_steal(&site->shown));
	bu_fleet_unwatch(site->rig.fleet, on_change, site);
	bu_secrets_destroy(site->api.work.secrets);
	bu_server_destroy(site->api.server);
	bu_agent_upgrades_destroy(site->api.work.upgrades);
	bu_api_forget_plans(&site->api);
	bu_api_forget_sessions(&site->api);
	bu_api_forget_scans(&site->api);
	bu_api_forget_status(&site->api);
}

void
site_begin(struct site *site, int nodes)
{
	struct rig *rig = &site->rig;

	memset(site, 0, sizeof(*site));
	rig_begin(rig, nodes);
	rig_open_gate(rig);
	snprintf(site->images, sizeof(site->images), "%s/images", rig->dir);
	snprintf(site->ramdisk, sizeof(site->ramdisk), "%s/ramdisk", rig->dir);
	snprintf(site->bundle, sizeof(site->bundle), "%s/ramdisk/bundle", rig->dir);
	ck_assert_int_eq(bu_mkdir_p(site->images, 0700, NULL), 0);
	ck_assert_int_eq(bu_mkdir_p(site->ramdisk, 0700, NULL), 0);
	rig_write(rig, "ramdisk/vmlinuz", "k");
	rig_write(rig, "ramdisk/agent.img", "r");
	open_server(site);
}

void
site_restart(struct site *site)
{
	const char *key = site->api.work.image_key;

	close_server(site);
	rig_restart(&site->rig);
	open_server(site);
	site->api.work.image_key = key;
}

void
site_end(struct site *site)
{
	close_server(site);
	rig_end(&site->rig);
}

void
site_until_ended(struct site *site, struct talk *talk)
{
	for (int i = 0; i < PATIENCE && !talk->ended; i++) {
		rig_pass(&site->rig, 1);
		talk_take(talk);
		if (!talk->ended) /* a socket may lag behind */
			bu_loop_step(site->rig.loop, 5);
	}
	ck_assert_int_eq(talk->ended, 1);
	check_marks(site);
}

void
site_ask(struct talk *talk, int port, const char *method, const char *path,
	 const char *body)
{
	bu_autofree char *text = bu_xasprintf(
		"%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		method, path, strlen(body), body);

	talk_begin(talk, port, text, 0);
}

/* The query does not count; a row that ends with '/' has one segment after it. */
static int
is_path(const char *path, const char *row)
{
	size_t size = strlen(row), rest;

	if (strncmp(path, row, size) != 0)
		return 0;
	rest = strcspn(path + size, "/?");
	return path[size + rest] != '/' && (rest > 0) == (row[size - 1] == '/');
}

/* What is answered is what model/shown_*.h says, the lists too. */
static void
check_shape(const char *path, const json_t *json)
{
	static const struct {
		const char *path;
		const struct bu_field *fields;
	} rows[] = {
		{"/v1/status", bu_shown_status_fields},
		{"/v1/fabric/pairs", bu_shown_pairs_page_fields},
		{"/v1/nodes", bu_shown_nodes_fields},
		{"/v1/nodes/", bu_shown_whole_fields},
		{"/v1/rollouts/", bu_shown_rollout_whole_fields},
		{"/v1/rollouts", bu_shown_rollouts_fields},
	};
	union {
		struct bu_shown_status status;
		struct bu_shown_pairs_page pairs;
		struct bu_shown_nodes nodes;
		struct bu_shown_node node;
		struct bu_shown_rollout rollout;
		struct bu_shown_rollouts rollouts;
	} shown;

	for (size_t i = 0; i < BU_LEN(rows); i++)
		if (is_path(path, rows[i].path))
			reads_as(rows[i].fields, json, &shown);
}

json_t *
site_call(struct site *site, int port, const char *method, const char *path,
	  const char *body, int status)
{
	struct talk talk;
	json_t *json;

	site_ask(&talk, port, method, path, body);
	site_until_ended(site, &talk);
	ck_assert_msg(talk.status == status, "%s %s: %s", method, path, talk.text);
	json = json_loads(talk.body, 0, NULL);
	talk_end(&talk);
	if (status == 200 && strcmp(method, "GET") == 0)
		check_shape(path, json);
	return json;
}

char *
site_text(struct site *site, int port, const char *path, int status)
{
	struct talk talk;
	char *text;

	site_ask(&talk, port, "GET", path, "");
	site_until_ended(site, &talk);
	ck_assert_msg(talk.status == status, "%s: %s", path, talk.text);
	text = bu_xstrdup(talk.body);
	talk_end(&talk);
	return text;
}
