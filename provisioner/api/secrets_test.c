/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets reach the node that they are for, and nothing else: planted ones are looked
 * for in everything that a site says, writes and keeps. A real log, a real server and
 * real programs; power and Slurm are paper.
 */
#include "base/secrets.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "base/secret.h"
#include "images/manifest.h"
#include "profiles/export/export.h"
#include "profiles/load/load.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

/* Every secret that is planted has this in it. */
#define MARK "pl4nted"

enum { PATIENCE = 2000, KEPT_MS = 5000 };

static void
put(const struct rig *rig, const char *name, const char *text, mode_t mode)
{
	bu_autofree char *path = bu_xasprintf("%s/%s", rig->dir, name);

	rig_write(rig, name, text);
	ck_assert_int_eq(chmod(path, mode), 0);
}

/* --- the room alone --- */

static void
count_wake(void *arg)
{
	++*(int *)arg;
}

/* Until it is no longer busy. */
static char *
get(struct rig *rig, struct bu_secrets *secrets, const char *reference,
    size_t *ret_size, struct bu_err *err)
{
	for (int i = 0; i < PATIENCE; i++) {
		char *secret = bu_secrets_get(secrets, reference, ret_size, err);

		if (secret || err->kind != BU_ERR_BUSY)
			return secret;
		rig_pass(rig, 1);
	}
	return NULL;
}

START_TEST(a_program_runs_once_for_all_who_ask)
{
	struct rig rig;
	struct bu_secrets *secrets;
	bu_autofree char *script = NULL, *reference = NULL, *runs = NULL;
	struct bu_err err = {0};
	int wakes = 0;
	size_t size;
	char *secret;

	rig_begin(&rig, 0);
	script = bu_xasprintf(
		"#!/bin/sh\necho run >>'%s/runs'\nprintf '" MARK "\\n\\n'\n", rig.dir);
	put(&rig, "program", script, 0700);
	reference = bu_xasprintf("exec:%s/program", rig.dir);
	secrets = bu_secrets_create(rig.loop, count_wake, &wakes);
	ck_assert_ptr_null(bu_secrets_get(secrets, reference, &size, &err));
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	ck_assert_ptr_null(bu_secrets_get(secrets, reference, &size, &err));
	for (int i = 0; i < 3; i++) {
		secret = get(&rig, secrets, reference, &size, &err);
		ck_assert_msg(secret != NULL, "%s", err.text);
		ck_assert_str_eq(secret, MARK "\n");
		bu_secret_free(secret, size);
	}
	ck_assert_int_eq(wakes, 1);
	runs = rig_read(&rig, "runs");
	ck_assert_str_eq(runs, "run\n");
	rig_pass(&rig, KEPT_MS + 100);
	secret = bu_secrets_get(secrets, reference, &size, &err);
	ck_assert_msg(secret == NULL, "it is kept for too long");
	ck_assert_int_eq(err.kind, BU_ERR_BUSY);
	bu_secrets_destroy(secrets); /* while its program runs */
	rig_end(&rig);
}
END_TEST

START_TEST(what_is_wrong_is_told_without_the_secret)
{
	static const struct {
		const char *script;
		mode_t mode;
		const char *want;
	} rows[] = {
		{"#!/bin/sh\necho " MARK " >&2\nexit 3\n", 0700, "the program failed"},
		{"#!/bin/sh\n", 0700, "the program printed nothing"},
		{"#!/bin/sh\nyes " MARK " | head -c 70000\n", 0700,
		 "is larger than 64 KiB"},
		{"#!/bin/sh\necho " MARK "\n", 0720, "lets others change it"},
	};
	struct rig rig;
	struct bu_secrets *secrets;
	bu_autofree char *reference = NULL;
	int wakes = 0;
	size_t size;

	rig_begin(&rig, 0);
	secrets = bu_secrets_create(rig.loop, count_wake, &wakes);
	reference = bu_xasprintf("exec:%s/program", rig.dir);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		struct bu_err err = {0};

		put(&rig, "program", rows[i].script, rows[i].mode);
		ck_assert_ptr_null(get(&rig, secrets, reference, &size, &err));
		ck_assert_msg(strstr(err.text, rows[i].want), "%s", err.text);
		ck_assert_ptr_null(strstr(err.text, MARK));
	}
	bu_secrets_destroy(secrets);
	rig_end(&rig);
}
END_TEST

/* --- a whole site --- */

/* The image that the profile names: one part of nothing. */
static void
make_image(struct site *site)
{
	bu_autofree char *key = NULL, *public = NULL, *text = NULL, *dir = NULL;
	bu_autojson json_t *manifest = NULL;
	char boot[2 * BU_BOOT_CODE_SIZE + 1], sig[BU_SIG_HEX_SIZE];
	char digest[BU_DIGEST_SIZE];

	memset(boot, '0', sizeof(boot) - 1);
	boot[sizeof(boot) - 1] = '\0';
	bu_sha256_hex("", 0, digest);
	manifest = json_pack(
		"{s:i,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:[{s:s,s:s,s:s,s:i,s:i,s:i,s:s,s:b,"
		"s:[n]}],s:[{s:s,s:s,s:s}]}",
		"v", 1, "kind", "image", "name", "debian12", "arch", "amd64", "kernel",
		"6.1.0-1-amd64", "created", "2026-11-21T15:04:05Z", "kargs", "quiet",
		"boot_code", boot, "parts", "name", "root", "type",
		"4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709", "label", "root", "attrs", 0,
		"size_bytes", 1048576, "frame_bytes", 4194304, "file", "root.frames",
		"grow", 1, "frames", "sources", "kind", "tar", "name", "", "digest",
		digest);
	text = bu_json_canonical(manifest);
	ck_assert_int_eq(bu_sign_key_create(&key, &public, NULL), 0);
	ck_assert_int_eq(bu_sign(key, text, strlen(text), sig, NULL), 0);
	dir = bu_xasprintf("%s/debian12", site->images);
	ck_assert_int_eq(bu_mkdir_p(dir, 0700, NULL), 0);
	rig_write(&site->rig, "images/debian12/manifest.json", text);
	rig_write(&site->rig, "images/debian12/manifest.sig", sig);
	rig_write(&site->rig, "images/debian12/root.frames", "");
	rig_write(&site->rig, "image.pub", public);
}

/* Two nodes, and the secret of their cluster. */
static struct bu_tree *
make_tree(const char *munge_key)
{
	bu_autofree char *to = bu_xasprintf(
		"controller = 10.77.0.1:6817\nmunge_key = %s\n", munge_key);

	return rig_tree(2, "controller = 10.77.0.1:6817\n", to);
}

/* A secret in each place where a profile may name one, also where none is used yet. */
static struct bu_tree *
make_full_tree(const struct rig *rig, const char *munge_key)
{
	bu_autofree char *from = bu_xstrdup("controller = 10.77.0.1:6817\n");
	bu_autofree char *to = bu_xasprintf(
		"controller = 10.77.0.1:6817\nmunge_key = %s\n"
		"[cluster k8s]\ndriver = kubernetes\ncontroller = 10.77.0.1:6443\n"
		"token = file:%s/token\nca = file:%s/image.pub\n",
		munge_key, rig->dir, rig->dir);
	bu_autofree char *pool = bu_xasprintf(
		"power = libvirt\nbmc_credentials = file:%s/bmc\n", rig->dir);
	struct bu_tree *tree = rig_tree(2, from, to), *whole;
	const struct bu_tree_file *site = bu_tree_find(tree, "site.ini");
	const struct bu_tree_file *racks = bu_tree_find(tree, "racks.csv");
	const char *at = strstr(site->text, "power = libvirt\n");
	bu_autofree char *text = NULL;
	bu_autojson json_t *value = NULL;

	ck_assert_ptr_nonnull(at);
	text = bu_xasprintf("%.*s%s%s", (int)(at - site->text), site->text, pool,
			    at + strlen("power = libvirt\n"));
	value = json_pack("{s:{s:s,s:s}}", "files", "site.ini", text, "racks.csv",
			  racks->text);
	whole = bu_tree_from_json(value, NULL);
	ck_assert_ptr_nonnull(whole);
	bu_tree_destroy(tree);
	return whole;
}

static void
plant(const struct rig *rig)
{
	put(rig, "token", MARK "-token", 0600);
	put(rig, "bmc", MARK "-user:" MARK "-password", 0600);
}

/* Plans and applies the tree as the command line does; both answers as text, owned. */
static char *
apply(struct site *site, const struct bu_tree *tree)
{
	bu_autojson json_t *value = bu_tree_to_json(tree);
	bu_autojson json_t *request = json_pack("{s:O}", "tree", value);
	bu_autofree char *text = bu_json_canonical(request), *order = NULL;
	bu_autojson json_t *plan =
		site_call(site, site->local, "POST", "/v1/plan", text, 200);
	bu_autojson json_t *applied = NULL;
	bu_autofree char *a = NULL, *b = NULL;

	order = bu_xasprintf("{\"digest\":\"%s\"}", bu_json_str(plan, "digest", ""));
	applied = site_call(site, site->local, "POST", "/v1/apply", order, 200);
	a = bu_json_canonical(plan);
	b = bu_json_canonical(applied);
	return bu_xasprintf("%s%s", a, b);
}

/* From an applied profile to the step that needs the secret. */
static void
bring_to_joining(struct site *site)
{
	struct rig *rig = &site->rig;
	struct bu_node *node;

	for (int i = 0; i < PATIENCE && rig->fleet->count == 0; i++)
		rig_pass(rig, 1);
	node = rig_node(rig, 1);
	rig_to_validating(rig, 1);
	rig_certify(rig, 1);
	rig_write(rig, "sinfo", "idle\n");
	ck_assert_int_eq(
		bu_reconcile_fire(rig->rec, node, BU_TRIGGER_PROVEN, NULL, NULL), 0);
	rig_until(rig, node, BU_STATE_JOINING);
	rig_until_step(rig, node, BU_ACTION_JOIN, BU_STEP_OPEN);
}

/* What the node's agent is told to do; a null when nothing. New reference. */
static json_t *
ask_work(struct site *site)
{
	struct bu_reply reply = {0};
	bu_autojson json_t *body =
		json_pack("{s:i,s:i}", "wait_ms", 0, "protocol", BU_AGENT_PROTOCOL);
	struct bu_request request = {.method = "POST",
				     .path = "",
				     .body = body,
				     .peer = rig_node(&site->rig, 1)->machine,
				     .peer_cert = rig_node(&site->rig, 1)->agent_cert};
	struct bu_err err = {0};
	json_t *work;

	ck_assert_int_eq(bu_api_agent_work(&site->api, &request, &reply, &err),
			 BU_ANSWER_NOW);
	work = json_incref(json_object_get(reply.json, "work"));
	json_decref(reply.json);
	return work;
}

static json_t *
until_work(struct site *site)
{
	for (int i = 0; i < PATIENCE; i++) {
		json_t *work = ask_work(site);

		if (!json_is_null(work))
			return work;
		json_decref(work);
		rig_pass(&site->rig, 1);
	}
	return NULL;
}

/* Whether the bytes hold a planted secret, as it is or in hex. */
static int
has_mark(const char *bytes, size_t size)
{
	char hex[2 * sizeof(MARK)];

	bu_hex_encode(MARK, strlen(MARK), hex);
	return memmem(bytes, size, MARK, strlen(MARK)) ||
	       memmem(bytes, size, hex, strlen(hex));
}

static void
check_text(const char *what, const char *text)
{
	ck_assert_msg(*text != '\0', "%s is empty: nothing was looked at", what);
	ck_assert_msg(!has_mark(text, strlen(text)), "%s holds a secret: %s", what,
		      text);
}

static void
check_json(const char *what, json_t *value)
{
	bu_autofree char *text = bu_json_canonical(value);

	check_text(what, text);
	json_decref(value);
}

/* Everything that people and tools can ask, on each listener that answers them. */
static void
check_answers(struct site *site)
{
	static const char *const paths[] = {
		"/v1/status",        "/v1/events?limit=1000", "/v1/nodes",
		"/v1/nodes/node001", "/v1/nodes/node002",     "/v1/rollouts",
	};
	bu_autojson json_t *list =
		site_call(site, site->local, "GET", "/v1/rollouts", "", 200);
	json_t *rollout;
	size_t i;

	for (i = 0; i < BU_LEN(paths); i++) {
		bu_autofree char *local = site_text(site, site->local, paths[i], 200);
		bu_autofree char *page = site_text(site, site->page, paths[i], 200);

		check_text(paths[i], local);
		check_text(paths[i], page);
	}
	json_array_foreach (json_object_get(list, "rollouts"), i, rollout) {
		bu_autofree char *path = bu_xasprintf("/v1/rollouts/%s",
						      bu_json_str(rollout, "id", "?"));
		bu_autofree char *text = site_text(site, site->page, path, 200);

		check_text(path, text);
	}
	ck_assert_uint_gt(i, 0);
}

/* Each file of the site but those that are the secrets. */
static void
check_files(const struct rig *rig)
{
	static const char *const planted[] = {"token", "bmc", "program", "munge"};
	DIR *dir = opendir(rig->dir);
	struct dirent *entry;
	int log = 0;

	while ((entry = readdir(dir))) {
		bu_autofree char *path = bu_xasprintf("%s/%s", rig->dir, entry->d_name);
		bu_autofree char *bytes = NULL;
		size_t size = 0, i = 0;

		while (i < BU_LEN(planted) && strcmp(planted[i], entry->d_name) != 0)
			i++;
		if (i < BU_LEN(planted) || entry->d_type != DT_REG)
			continue;
		bytes = bu_file_read(path, 0, &size, NULL);
		ck_assert_ptr_nonnull(bytes);
		ck_assert_msg(!has_mark(bytes, size), "%s holds a secret", path);
		log += strncmp(entry->d_name, "log.db", 6) == 0 && size > 4096;
	}
	closedir(dir);
	ck_assert_msg(log > 0, "the log was not looked at");
}

/* What is written to standard error goes to a file of the site. */
static int
catch_log(const struct rig *rig)
{
	bu_autofree char *path = bu_xasprintf("%s/stderr", rig->dir);
	int before = dup(STDERR_FILENO);

	fflush(stderr);
	ck_assert_ptr_nonnull(freopen(path, "w", stderr));
	setvbuf(stderr, NULL, _IONBF, 0);
	return before;
}

static void
end_catch(int before)
{
	fflush(stderr);
	dup2(before, STDERR_FILENO);
	close(before);
}

static void
check_exports(const struct bu_tree *tree)
{
	struct bu_findings findings = {0};
	struct bu_desired *desired = bu_profiles_load(tree, &findings);

	ck_assert_ptr_nonnull(desired);
	check_json("export", bu_desired_to_json(desired));
	check_json("export --ansible", bu_desired_ansible(desired));
	check_json("node show --origin",
		   bu_desired_node_to_json(desired, &desired->nodes[0]));
	bu_desired_destroy(desired);
	bu_findings_clear(&findings);
}

START_TEST(a_planted_secret_reaches_the_node_alone)
{
	struct site site;
	struct rig *rig = &site.rig;
	struct bu_tree *tree, *full;
	bu_autofree char *munge = NULL, *said = NULL, *key = NULL, *work_text = NULL;
	bu_autofree char *why = NULL;
	bu_autojson json_t *work = NULL;
	int before;

	site_begin(&site, 0);
	before = catch_log(rig);
	make_image(&site);
	key = bu_xasprintf("%s/image.pub", rig->dir);
	site.api.work.image_key = key;
	plant(rig);
	put(rig, "program", "#!/bin/sh\necho " MARK "-complaint >&2\nexit 1\n", 0700);
	munge = bu_xasprintf("exec:%s/program", rig->dir);
	tree = make_tree(munge);
	said = apply(&site, tree);
	check_text("plan and apply", said);
	full = make_full_tree(rig, munge);
	check_exports(full);
	bu_tree_destroy(full);
	bring_to_joining(&site);
	/* A program that fails: said, without its words. */
	json_decref(ask_work(&site));
	for (int i = 0; i < PATIENCE && !rig_node(rig, 1)->step_error[0]; i++) {
		json_decref(ask_work(&site));
		rig_pass(rig, 1);
	}
	why = site_text(&site, site.page, "/v1/nodes/node001", 200);
	ck_assert_msg(strstr(why, "/program: the program failed"), "%s", why);
	check_text("node why", why);
	/* It is mended, and the node gets what it needs. */
	put(rig, "program", "#!/bin/sh\necho " MARK "-munge\n", 0700);
	for (int i = 0; i < 100 && !rig_node(rig, 1)->hold->owner; i++)
		rig_pass(rig, 1000);
	json_decref(site_call(&site, site.local, "POST", "/v1/nodes/node001/release",
			      "", 200));
	rig_until_step(rig, rig_node(rig, 1), BU_ACTION_JOIN, BU_STEP_OPEN);
	work = until_work(&site);
	ck_assert_ptr_nonnull(work);
	work_text = bu_json_canonical(work);
	ck_assert_msg(strstr(work_text, MARK "-munge"), "%s", work_text);
	ck_assert_ptr_null(strstr(work_text, MARK "-token"));
	ck_assert_ptr_null(strstr(work_text, MARK "-user"));
	check_answers(&site);
	end_catch(before);
	check_files(rig);
	bu_tree_destroy(tree);
	site_end(&site);
}
END_TEST

START_TEST(what_others_can_read_is_refused_where_it_is_used)
{
	struct site site;
	struct rig *rig = &site.rig;
	struct bu_tree *tree;
	bu_autofree char *munge = NULL, *said = NULL, *key = NULL, *why = NULL;

	site_begin(&site, 0);
	make_image(&site);
	key = bu_xasprintf("%s/image.pub", rig->dir);
	site.api.work.image_key = key;
	plant(rig);
	put(rig, "munge", MARK "-munge", 0640);
	munge = bu_xasprintf("file:%s/munge", rig->dir);
	tree = make_tree(munge);
	said = apply(&site, tree);
	bring_to_joining(&site);
	json_decref(ask_work(&site));
	rig_pass(rig, 1);
	why = site_text(&site, site.page, "/v1/nodes/node001", 200);
	ck_assert_msg(strstr(why, "mode 0640 lets others read it; chmod 0600"), "%s",
		      why);
	check_text("node why", why);
	check_files(rig);
	bu_tree_destroy(tree);
	site_end(&site);
}
END_TEST

/* A console may show a password: its lines are for people on this machine, whether kept
 * of a failure or read now; the status page asks nobody who they are. */
START_TEST(a_console_is_no_part_of_the_page)
{
	static const char *const paths[] = {"/v1/nodes/node001",
					    "/v1/nodes/node001/fabric"};
	bu_autofree char *dir = NULL, *log = NULL;
	struct bu_node *node;
	struct site site;

	site_begin(&site, 1);
	site.rig.consoles = 1;
	site_restart(&site);
	dir = bu_xasprintf("%s/console", site.rig.dir);
	log = bu_xasprintf("%s/node001.log", dir);
	ck_assert_int_eq(bu_mkdir_p(dir, 0700, NULL), 0);
	ck_assert_int_eq(bu_file_write_text(log, 0600, NULL, "password: %s\n", MARK),
			 0);
	node = rig_node(&site.rig, 1);
	rig_fire(&site.rig, node, BU_TRIGGER_START);
	for (int i = 0; i < 60 && node->state != BU_STATE_FAILED; i++)
		rig_pass(&site.rig, 20000);
	ck_assert_int_eq(node->state, BU_STATE_FAILED);
	for (size_t i = 0; i < BU_LEN(paths); i++) {
		bu_autofree char *local = site_text(&site, site.local, paths[i], 200);
		bu_autofree char *page = site_text(&site, site.page, paths[i], 200);

		ck_assert(has_mark(local, strlen(local)));
		check_text(paths[i], page);
	}
	site_end(&site);
}
END_TEST

/* Work is for agents, whose listener is the only one with TLS and certificates. */
START_TEST(work_leaves_by_the_agents_listener_alone)
{
	int found = 0;

	for (const struct bu_route *route = bu_api_routes; route->method; route++) {
		if (route->fn != bu_api_agent_work)
			continue;
		found++;
		ck_assert_int_eq(route->listeners, BU_LISTEN_AGENT);
	}
	ck_assert_int_eq(found, 1);
}
END_TEST

RIG_UNIT("secrets", a_program_runs_once_for_all_who_ask,
	 what_is_wrong_is_told_without_the_secret,
	 a_planted_secret_reaches_the_node_alone,
	 what_others_can_read_is_refused_where_it_is_used,
	 a_console_is_no_part_of_the_page, work_leaves_by_the_agents_listener_alone)
