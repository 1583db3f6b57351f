/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The routes of people, booting machines and agents, over a real server and a site of
 * paper.
 */
#include "provisioner/api/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/json.h"
#include "profiles/load/tree.h"
#include "provisioner/boot/tftp.h"
#include "tests/support/row.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

static const char *
error_text(const json_t *reply)
{
	return bu_json_str(json_object_get(reply, "error"), "text", "");
}

START_TEST(status_shows_all_and_waits_for_news)
{
	struct site site;
	bu_autojson json_t *status = NULL, *again = NULL;
	bu_autofree char *path = NULL;
	struct talk talk;
	int64_t version, touched_ms;

	site_begin(&site, 2);
	status = site_call(&site, site.page, "GET", "/v1/status", "", 200);
	version = bu_json_int(status, "version", -1);
	ck_assert_int_gt(version, 0);
	ck_assert_str_eq(bu_json_str(status, "site", ""), "lab");
	ck_assert_uint_eq(json_array_size(json_object_get(status, "nodes")), 2);
	ck_assert_int_eq(bu_json_int(json_object_get(status, "counts"), "enrolled", 0),
			 2);
	path = bu_xasprintf("/v1/status?since=%lld&wait=30", (long long)version);
	site_ask(&talk, site.page, "GET", path, "");
	for (int i = 0; i < 20; i++) {
		rig_pass(&site.rig, 1);
		talk_take(&talk);
	}
	ck_assert_int_eq(talk.ended, 0);
	touched_ms = bu_loop_now_ms(site.rig.loop);
	bu_fleet_touch(site.rig.fleet, NULL);
	rig_pass(&site.rig, 200);
	site_until_ended(&site, &talk);
	/* at once, not when all that wait are looked at again, once a second */
	ck_assert_int_lt(bu_loop_now_ms(site.rig.loop) - touched_ms, 900);
	again = json_loads(talk.body, 0, NULL);
	ck_assert_int_gt(bu_json_int(again, "version", -1), version);
	talk_end(&talk);
	site_end(&site);
}
END_TEST

/* While nodes are under way: nothing took less than no time. */
START_TEST(a_clock_that_is_set_back_breaks_no_view)
{
	struct site site;
	bu_autojson json_t *status = NULL, *nodes = NULL, *node = NULL;
	const json_t *stages, *stage;

	site_begin(&site, 1);
	rig_start(&site.rig, 1);
	site.rig.clock.fake_wall_ms -= 600000;
	rig_inspect(&site.rig, 1);
	nodes = site_call(&site, site.page, "GET", "/v1/nodes", "", 200);
	node = site_call(&site, site.page, "GET", "/v1/nodes/node001", "", 200);
	status = site_call(&site, site.page, "GET", "/v1/status", "", 200);
	stages = json_object_get(node, "stages");
	stage = json_array_get(stages, json_array_size(stages) - 1);
	ck_assert_str_eq(bu_json_str(stage, "state", ""), "inspecting");
	ck_assert_int_eq(bu_json_int(stage, "ms", -1), 0);
	ck_assert_int_ge(
		bu_json_int(json_object_get(status, "appliance"), "uptime_s", -1), 0);
	site_end(&site);
}
END_TEST

START_TEST(a_wait_without_news_ends)
{
	struct site site;
	bu_autofree char *path = NULL;
	bu_autojson json_t *same = NULL;
	struct talk talk;

	site_begin(&site, 1);
	path = bu_xasprintf("/v1/status?since=%lld&wait=3",
			    (long long)site.rig.fleet->version);
	site_ask(&talk, site.page, "GET", path, "");
	for (int i = 0; i < 50; i++)
		rig_pass(&site.rig, 1);
	talk_take(&talk);
	ck_assert_int_eq(talk.ended, 0);
	for (int i = 0; i < 10; i++)
		rig_pass(&site.rig, 1000);
	site_until_ended(&site, &talk);
	ck_assert_int_eq(talk.status, 200);
	same = json_loads(talk.body, 0, NULL);
	ck_assert_int_eq(bu_json_int(same, "since", 0), site.rig.fleet->version);
	ck_assert_uint_eq(json_array_size(json_object_get(same, "nodes")), 0);
	talk_end(&talk);
	site_end(&site);
}
END_TEST

/* seq of the first and the last, and how many. */
static void
events(struct site *site, const char *query, int64_t *first, int64_t *last,
       size_t *count)
{
	bu_autofree char *path = bu_xasprintf("/v1/events?%s", query);
	bu_autojson json_t *reply = site_call(site, site->page, "GET", path, "", 200);
	const json_t *list = json_object_get(reply, "events");

	*count = json_array_size(list);
	*first = bu_json_int(json_array_get(list, 0), "seq", 0);
	*last = *count ? bu_json_int(json_array_get(list, *count - 1), "seq", 0) : 0;
}

START_TEST(events_by_tail_by_place_and_by_node)
{
	struct site site;
	struct bu_event event;
	int64_t first, last, end;
	size_t count;

	site_begin(&site, 2); /* 3 events */
	for (int i = 0; i < 60; i++) {
		row_init(&event, BU_EVENT_LEASE, i == 59 ? "node002" : "node001",
			 json_object());
		bu_reconcile_note(site.rig.rec, &event, 1);
		rig_pass(&site.rig, 1);
	}
	end = 63;
	events(&site, "", &first, &last, &count);
	ck_assert_int_eq(last, end);
	ck_assert_uint_eq(count, 50);
	events(&site, "limit=2", &first, &last, &count);
	ck_assert_int_eq(first, end - 1);
	ck_assert_int_eq(last, end);
	events(&site, "after=0&limit=5", &first, &last, &count);
	ck_assert_int_eq(first, 1);
	ck_assert_int_eq(last, 5);
	events(&site, "after=0&limit=0", &first, &last, &count);
	ck_assert_uint_eq(count, 1); /* not all of them */
	events(&site, "after=-7&limit=-3", &first, &last, &count);
	ck_assert_uint_eq(count, 1);
	/* the limit counts those that are asked for, however many others there are */
	events(&site, "node=node002&limit=2", &first, &last, &count);
	ck_assert_int_eq(first, 3);
	ck_assert_int_eq(last, end);
	events(&site, "after=3&node=node002&limit=5", &first, &last, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(last, end);
	events(&site, "node=@train!node001&limit=2", &first, &last, &count);
	ck_assert_int_eq(first, 3);
	ck_assert_int_eq(last, end);
	events(&site, "after=63", &first, &last, &count);
	ck_assert_uint_eq(count, 0);
	site_end(&site);
}
END_TEST

START_TEST(new_events_come_when_they_happen)
{
	struct site site;
	struct bu_event event;
	struct talk talk;

	site_begin(&site, 1);
	site_ask(&talk, site.local, "GET", "/v1/events?after=2&wait=30&node=node001",
		 "");
	for (int i = 0; i < 20; i++)
		rig_pass(&site.rig, 1);
	talk_take(&talk);
	ck_assert_int_eq(talk.ended, 0);
	row_init(&event, BU_EVENT_LEASE, "node001", json_object());
	bu_reconcile_note(site.rig.rec, &event, 1);
	rig_pass(&site.rig, 1);
	rig_pass(&site.rig, 200);
	site_until_ended(&site, &talk);
	ck_assert_ptr_nonnull(strstr(talk.body, "\"lease\""));
	talk_end(&talk);
	site_end(&site);
}
END_TEST

START_TEST(a_node_with_why_and_evidence)
{
	struct site site;
	bu_autojson json_t *node = NULL, *none = NULL;

	site_begin(&site, 1);
	rig_to_validating(&site.rig, 1);
	rig_certify(&site.rig, 1);
	site.pokes = 1, bu_node_set_commit(rig_node(&site.rig, 1), "c0ffee");
	node = site_call(&site, site.page, "GET", "/v1/nodes/node001", "", 200);
	ck_assert_str_eq(bu_json_str(node, "commit", ""), "c0ffee");
	ck_assert_ptr_nonnull(
		strstr(rig_sentence(json_array_get(json_object_get(node, "why"), 0)),
		       "node001 is "));
	ck_assert_uint_eq(json_array_size(json_object_get(node, "certificates")), 2);
	ck_assert_str_eq(bu_json_str(json_object_get(node, "inventory"), "boot_id", ""),
			 "boot-1");
	ck_assert_str_eq(bu_json_str(json_object_get(node, "order"), "class", ""),
			 "install");
	none = site_call(&site, site.page, "GET", "/v1/nodes/node999", "", 404);
	ck_assert_ptr_nonnull(strstr(error_text(none), "no node 'node999'"));
	site_end(&site);
}
END_TEST

START_TEST(the_topology_is_told_to_people)
{
	struct site site;
	bu_autojson json_t *topology = NULL;

	site_begin(&site, 1);
	topology = site_call(&site, site.page, "GET", "/v1/topology", "", 200);
	ck_assert_int_eq(bu_json_int(topology, "v", 0), 1);
	/* No switch ports in the profile, and nobody listened. */
	ck_assert(json_is_array(json_object_get(topology, "wires")));
	ck_assert_uint_eq(json_array_size(json_object_get(topology, "wires")), 0);
	json_decref(site_call(&site, site.boot, "GET", "/v1/topology", "", 404));
	site_end(&site);
}
END_TEST

START_TEST(the_page_changes_nothing_and_has_its_files)
{
	struct site site;
	bu_autofree char *page = NULL;

	site_begin(&site, 1);
	json_decref(site_call(&site, site.page, "POST", "/v1/apply", "{}", 404));
	json_decref(site_call(&site, site.page, "POST", "/v1/plan", "{}", 404));
	json_decref(site_call(&site, site.page, "POST", "/v1/nodes/node001/release", "",
			      404));
	json_decref(site_call(&site, site.local, "GET", "/boot.ipxe", "", 404));
	json_decref(site_call(&site, site.boot, "GET", "/v1/status", "", 404));
	page = site_text(&site, site.page, "/", 200);
	ck_assert_ptr_nonnull(strstr(page, "<html"));
	json_decref(site_call(&site, site.page, "GET", "/..%2FMakefile.am", "", 404));
	json_decref(site_call(&site, site.page, "GET", "/Makefile.inc", "", 404));
	site_end(&site);
}
END_TEST

START_TEST(a_script_holds_a_token_only_while_a_boot_is_ordered)
{
	static const char path[] = "/boot/script/52-54-00-77-00-01";
	struct site site;
	char token[BU_DIGEST_SIZE];
	bu_autofree char *first = NULL, *before = NULL, *ordered = NULL, *after = NULL;
	bu_autofree char *strange = NULL, *nonsense = NULL;
	struct bu_node *node;

	site_begin(&site, 1);
	node = rig_node(&site.rig, 1);
	first = site_text(&site, site.boot, "/boot.ipxe", 200);
	ck_assert_ptr_nonnull(strstr(
		first, "imgfetch --name next http://10.77.0.1:8080/boot/script/"));
	before = site_text(&site, site.boot, path, 200);
	ck_assert_ptr_nonnull(strstr(before, "no network boot is ordered"));
	rig_start(&site.rig, 1);
	bu_trust_token(site.rig.trust, node->step.id, node->step.attempt, token);
	ordered = site_text(&site, site.boot, path, 200);
	ck_assert_ptr_nonnull(strstr(ordered, token));
	ck_assert_ptr_nonnull(strstr(ordered, bu_trust_ca_digest(site.rig.trust)));
	strange = site_text(&site, site.boot, "/boot/script/52-54-00-77-00-99", 200);
	ck_assert_ptr_nonnull(strstr(strange, "an unknown machine boots the agent"));
	ck_assert_ptr_null(strstr(strange, token));
	nonsense = site_text(&site, site.boot, "/boot/script/%0afatal%20error", 200);
	ck_assert_ptr_nonnull(strstr(nonsense, "not in the inventory"));
	rig_inspect(&site.rig, 1);
	after = site_text(&site, site.boot, path, 200);
	ck_assert_ptr_null(strstr(after, token));
	site_end(&site);
}
END_TEST

/* By TFTP the same: a machine that loads GRUB has a file of its own exactly then. */
START_TEST(grub_has_a_file_only_while_a_boot_is_ordered)
{
	struct site site;
	bu_autofree char *before = NULL, *ordered = NULL, *other = NULL, *after = NULL;
	bu_autofree char *path = NULL, *stale = NULL, *first = NULL;
	char token[BU_DIGEST_SIZE];
	struct bu_desired_hardware *hardware;
	struct bu_node *node;

	site_begin(&site, 1);
	node = rig_node(&site.rig, 1);
	hardware =
		&((struct bu_desired *)(uintptr_t)site.rig.fleet->desired)->hardware[0];
	site.api.tftp_dir = bu_xasprintf("%s/tftp", site.ramdisk);
	path = bu_xasprintf("%s/grub/52:54:00:77:00:01.cfg", site.api.tftp_dir);
	ck_assert_int_eq(bu_tftp_make(site.api.tftp_dir, &site.api.loader_dirs, NULL),
			 0);
	rig_start(&site.rig, 1);
	bu_trust_token(site.rig.trust, node->step.id, node->step.attempt, token);
	bu_api_boot_tell(&site.api, node);
	before = bu_file_read(path, 0, NULL, NULL);
	ck_assert_ptr_null(before); /* it loads iPXE */

	hardware->boot_loader = BU_BOOT_LOADER_GRUB;
	bu_api_boot_tell(&site.api, NULL);
	ordered = bu_file_read(path, 0, NULL, NULL);
	ck_assert_ptr_nonnull(ordered);
	ck_assert_ptr_nonnull(strstr(ordered, token));
	/* The class is another now. */
	hardware->boot_loader = BU_BOOT_LOADER_IPXE;
	bu_api_boot_tell(&site.api, NULL);
	other = bu_file_read(path, 0, NULL, NULL);
	ck_assert_ptr_null(other);
	/* What is there of a MAC that the profile has no more goes with it. */
	stale = bu_xasprintf("%s/grub/52:54:00:77:00:99.cfg", site.api.tftp_dir);
	first = bu_xasprintf("%s/grub/grub.cfg", site.api.tftp_dir);
	ck_assert_int_eq(
		bu_tftp_put(site.api.tftp_dir, "52:54:00:77:00:99", "boot\n", NULL), 0);
	bu_api_boot_tell(&site.api, NULL);
	ck_assert(!bu_file_exists(stale));
	ck_assert(bu_file_exists(first));

	hardware->boot_loader = BU_BOOT_LOADER_GRUB;
	bu_api_boot_tell(&site.api, node);
	rig_inspect(&site.rig, 1);
	bu_api_boot_tell(&site.api, node);
	after = bu_file_read(path, 0, NULL, NULL);
	ck_assert_ptr_null(after);
	free(site.api.tftp_dir);
	site_end(&site);
}
END_TEST

/* It is of who has the MAC: the profile gave it to another than the order of one that
 * left. */
START_TEST(grub_has_the_file_of_who_has_its_mac)
{
	static const char plain[] = "[image debian12]\n[hardware vm]\n";
	static const char given[] = "[node node001]\nmac = 52:54:00:77:00:02\n"
				    "[image debian12]\n[hardware vm]\n"
				    "boot_loader = grub\n";
	struct site site;
	bu_autofree char *path = NULL, *text = NULL;
	char token[BU_DIGEST_SIZE];
	struct bu_node *node;

	site_begin(&site, 2);
	site.api.tftp_dir = bu_xasprintf("%s/tftp", site.ramdisk);
	path = bu_xasprintf("%s/grub/52:54:00:77:00:02.cfg", site.api.tftp_dir);
	ck_assert_int_eq(bu_tftp_make(site.api.tftp_dir, &site.api.loader_dirs, NULL),
			 0);
	rig_start(&site.rig, 2);
	rig_apply(&site.rig, 1, BU_CLASS_INSTALL, "d2", plain, given);
	rig_start(&site.rig, 1);
	node = rig_node(&site.rig, 1);
	bu_trust_token(site.rig.trust, node->step.id, node->step.attempt, token);
	bu_api_boot_tell(&site.api, NULL);
	text = bu_file_read(path, 0, NULL, NULL);
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(strstr(text, token));
	free(site.api.tftp_dir);
	site_end(&site);
}
END_TEST

/* named_test.c has what is served of images. */
START_TEST(boot_files_and_no_others)
{
	struct site site;
	bu_autofree char *kernel = NULL, *ca = NULL;

	site_begin(&site, 1);
	rig_write(&site.rig, "ramdisk/vmlinuz", "kernel");
	rig_write(&site.rig, "images/secret", "x");
	ck_assert_int_eq(bu_mkdir_p(site.images, 0700, NULL), 0);
	{
		bu_autofree char *dir = bu_xasprintf("%s/debian12", site.images);
		bu_autofree char *link = bu_xasprintf("%s/link", dir);

		ck_assert_int_eq(bu_mkdir_p(dir, 0700, NULL), 0);
		ck_assert_int_eq(symlink("/etc/passwd", link), 0);
	}
	kernel = site_text(&site, site.boot, "/boot/vmlinuz", 200);
	ck_assert_str_eq(kernel, "kernel");
	ca = site_text(&site, site.boot, "/boot/ca.pem", 200);
	ck_assert_str_eq(ca, bu_trust_ca(site.rig.trust));
	json_decref(site_call(&site, site.boot, "GET", "/images/debian12/root.frames",
			      "", 404));
	json_decref(site_call(&site, site.boot, "GET", "/boot/disk.efi", "", 404));
	json_decref(site_call(&site, site.boot, "GET", "/boot/keys", "", 404));
	json_decref(
		site_call(&site, site.boot, "GET", "/images/debian12/link", "", 404));
	json_decref(site_call(&site, site.boot, "GET", "/images/../secret", "", 404));
	json_decref(
		site_call(&site, site.boot, "GET", "/images/%2e%2e/log.db", "", 404));
	json_decref(site_call(&site, site.boot, "GET",
			      "/images/debian12/..%2f..%2flog.db", "", 404));
	json_decref(site_call(&site, site.boot, "GET", "/images/debian12", "", 404));
	site_end(&site);
}
END_TEST

START_TEST(plans_are_refused_with_their_reason)
{
	struct site site;
	bu_autojson json_t *a = NULL, *b = NULL, *c = NULL, *d = NULL, *e = NULL;
	struct bu_tree *tree = rig_tree(1, NULL, NULL);
	bu_autojson json_t *value = bu_tree_to_json(tree);
	bu_autojson json_t *request = json_pack("{s:O}", "tree", value);
	bu_autofree char *text = bu_json_canonical(request);

	site_begin(&site, 1);
	a = site_call(&site, site.local, "POST", "/v1/plan", "{}", 400);
	ck_assert_str_ne(error_text(a), "");
	b = site_call(&site, site.local, "POST", "/v1/plan", text, 404);
	ck_assert_ptr_nonnull(strstr(error_text(b), "image debian12: public key: "));
	c = site_call(&site, site.local, "POST", "/v1/apply", "{}", 400);
	ck_assert_ptr_nonnull(strstr(error_text(c), "digest"));
	d = site_call(&site, site.local, "POST", "/v1/apply", "{\"digest\":\"00\"}",
		      404);
	ck_assert_ptr_nonnull(strstr(error_text(d), "plan 00 is no longer known"));
	e = site_call(&site, site.local, "POST", "/v1/apply",
		      "{\"digest\":\"00\",\"grants\":[{\"class\":\"install\"}]}", 400);
	ck_assert_ptr_nonnull(strstr(error_text(e), "'install' cannot be granted"));
	bu_tree_destroy(tree);
	site_end(&site);
}
END_TEST

START_TEST(a_held_node_is_released)
{
	struct site site;
	struct bu_event event;
	bu_autojson json_t *not_held = NULL;

	site_begin(&site, 1);
	not_held = site_call(&site, site.local, "POST", "/v1/nodes/node001/release", "",
			     409);
	ck_assert_str_eq(error_text(not_held), "node node001 is not held");
	row_init(&event, BU_EVENT_HELD, "node001",
		 json_pack("{s:s,s:s}", "owner", "bringup", "reason", "late"));
	bu_reconcile_note(site.rig.rec, &event, 1);
	rig_pass(&site.rig, 1);
	json_decref(site_call(&site, site.local, "POST", "/v1/nodes/node001/release",
			      "", 200));
	rig_pass(&site.rig, 1);
	ck_assert_int_eq(rig_node(&site.rig, 1)->hold->owner, BU_OWNER_NONE);
	json_decref(site_call(&site, site.local, "POST", "/v1/nodes/ghost/release", "",
			      404));
	site_end(&site);
}
END_TEST

START_TEST(a_node_is_held_with_a_reason)
{
	struct site site;
	bu_autojson json_t *bare = NULL, *again = NULL;
	const char *body = "{\"reason\":\"its fan is loud\"}";

	site_begin(&site, 1);
	bare = site_call(&site, site.local, "POST", "/v1/nodes/node001/hold",
			 "{\"reason\":\"\"}", 400);
	ck_assert_ptr_nonnull(strstr(error_text(bare), "say why"));
	json_decref(site_call(&site, site.local, "POST", "/v1/nodes/node001/hold", body,
			      200));
	rig_pass(&site.rig, 1);
	rig_reason_says(&rig_node(&site.rig, 1)->hold->reason, "its fan is loud");
	again = site_call(&site, site.local, "POST", "/v1/nodes/node001/hold", body,
			  409);
	ck_assert_str_eq(error_text(again),
			 "node node001 is held by local: its fan is loud");
	json_decref(site_call(&site, site.local, "POST", "/v1/nodes/ghost/hold", body,
			      404));
	json_decref(site_call(&site, site.page, "POST", "/v1/nodes/node001/hold", body,
			      404));
	site_end(&site);
}
END_TEST

/* Names of the nodes in the answer, with blanks between them; owned. */
static char *
names_of(const json_t *reply)
{
	char *text = bu_xstrdup("");
	json_t *node;
	size_t i;

	json_array_foreach (json_object_get(reply, "nodes"), i, node) {
		bu_autofree char *old = text;

		text = bu_xasprintf("%s%s%s", old, *old ? " " : "",
				    bu_json_str(node, "name", "?"));
	}
	return text;
}

START_TEST(nodes_are_asked_for_by_nodesets)
{
	static const struct {
		const char *set, *want; /* want NULL: an error with the text of error */
		const char *error;
	} rows[] = {
		{"", "node001 node002 node003", NULL},
		{"?set=node[002-003]", "node002 node003", NULL},
		{"?set=@train", "node001 node002 node003", NULL},
		{"?set=@*!node002", "node001 node003", NULL},
		{"?set=state=enrolled%26node[001-002]", "node001 node002", NULL},
		{"?set=state=quarantined", "", NULL},
		{"?set=state=lost", NULL, "unknown state; known are enrolled, "},
		{"?set=node[003-005]", NULL, "no node node[004-005]; bringup node"},
		{"?set=@trian", NULL, "no node has pool=trian (did you mean 'train'?)"},
		{"?set=node04", NULL, "no node 'node04' (did you mean 'node001'?)"},
		{"?set=node001,", NULL, "'node001,': has an empty item"},
	};
	struct site site;

	site_begin(&site, 3);
	for (size_t i = 0; i < BU_LEN(rows); i++) {
		bu_autofree char *path = bu_xasprintf("/v1/nodes%s", rows[i].set);
		struct talk talk;

		site_ask(&talk, i % 2 ? site.page : site.local, "GET", path, "");
		site_until_ended(&site, &talk);
		if (rows[i].want) {
			bu_autojson json_t *reply = json_loads(talk.body, 0, NULL);
			bu_autofree char *names = names_of(reply);

			ck_assert_str_eq(names, rows[i].want);
		} else {
			ck_assert_int_ge(talk.status, 400);
			ck_assert_msg(strstr(talk.body, rows[i].error), "%s: %s", path,
				      talk.body);
		}
		talk_end(&talk);
	}
	site_end(&site);
}
END_TEST

START_TEST(rollouts_are_listed_shown_and_changed)
{
	struct site site;
	bu_autojson json_t *list = NULL, *one = NULL, *none = NULL, *paused = NULL;
	bu_autofree char *path = NULL, *pause = NULL;
	const char *id;

	site_begin(&site, 2);
	list = site_call(&site, site.page, "GET", "/v1/rollouts", "", 200);
	ck_assert_uint_eq(json_array_size(json_object_get(list, "rollouts")), 1);
	id = bu_json_str(json_array_get(json_object_get(list, "rollouts"), 0), "id",
			 "");
	path = bu_xasprintf("/v1/rollouts/%s", id);
	one = site_call(&site, site.page, "GET", path, "", 200);
	ck_assert_str_eq(bu_json_str(one, "id", ""), id);
	ck_assert_uint_eq(json_array_size(json_object_get(one, "nodes")), 2);
	none = site_call(&site, site.local, "GET", "/v1/rollouts/r-0", "", 404);
	ck_assert_str_eq(error_text(none), "no rollout 'r-0'");
	pause = bu_xasprintf("%s/pause", path);
	json_decref(site_call(&site, site.page, "POST", pause, "{}", 404));
	json_decref(site_call(&site, site.local, "POST", pause, "{}", 200));
	rig_pass(&site.rig, 1);
	paused = site_call(&site, site.local, "GET", path, "", 200);
	ck_assert_str_eq(bu_json_str(paused, "state", ""), "paused");
	json_decref(site_call(&site, site.local, "POST", pause, "{}", 409));
	for (size_t i = 0; i < 2; i++) {
		bu_autofree char *verb =
			bu_xasprintf("%s/%s", path, i ? "abort" : "resume");
		bu_autojson json_t *now = NULL, *said = NULL;

		said = site_call(&site, site.local, "POST", verb, "{}", 200);
		ck_assert(json_is_array(json_object_get(said, "called_back")) == !!i);
		rig_pass(&site.rig, 1);
		now = site_call(&site, site.local, "GET", path, "", 200);
		ck_assert_str_eq(bu_json_str(now, "state", ""),
				 i ? "aborted" : "running");
	}
	site_end(&site);
}
END_TEST

RIG_UNIT("api", the_topology_is_told_to_people, status_shows_all_and_waits_for_news,
	 a_clock_that_is_set_back_breaks_no_view, a_wait_without_news_ends,
	 events_by_tail_by_place_and_by_node, new_events_come_when_they_happen,
	 a_node_with_why_and_evidence, the_page_changes_nothing_and_has_its_files,
	 a_script_holds_a_token_only_while_a_boot_is_ordered,
	 grub_has_a_file_only_while_a_boot_is_ordered,
	 grub_has_the_file_of_who_has_its_mac, boot_files_and_no_others,
	 plans_are_refused_with_their_reason, a_held_node_is_released,
	 a_node_is_held_with_a_reason, nodes_are_asked_for_by_nodesets,
	 rollouts_are_listed_shown_and_changed)
