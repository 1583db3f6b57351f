/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The boot medium over HTTP: all of it or a piece, with the node's own lines, for who
 * knows the secret of the present step, until its machine was admitted. And nobody gets
 * the token of such a node in another way.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "provisioner/boot/tftp.h"
#include "provisioner/node/reconcile_impl.h"
#include "tests/support/site.h"
#include "tests/support/unit.h"

enum { SECTOR = 2048, SECTORS = 64, GRUB_AT = 7, ISOLINUX_AT = 30, BLOCK = 4096 };
enum { SIZE = SECTOR * SECTORS };

static void
make_image(const struct site *site)
{
	static const char grub[] = "#bringup-media grub\n";
	static const char isolinux[] = "#bringup-media isolinux\n";
	bu_autofree char *path = bu_xasprintf("%s/boot.iso", site->ramdisk);
	char bytes[SIZE];

	for (int i = 0; i < SIZE; i++)
		bytes[i] = (char)('a' + i % 26);
	memcpy(bytes + (size_t)SECTOR * GRUB_AT, grub, strlen(grub));
	memcpy(bytes + (size_t)SECTOR * ISOLINUX_AT, isolinux, strlen(isolinux));
	ck_assert_int_eq(bu_mkdir_p(site->ramdisk, 0700, NULL), 0);
	ck_assert_int_eq(bu_file_write(path, bytes, sizeof(bytes), 0600, NULL), 0);
}

static struct bu_node *
begin(struct site *site)
{
	struct bu_node *node;
	struct bu_desired_hardware *hardware;

	site_begin(site, 1);
	make_image(site);
	node = rig_node(&site->rig, 1);
	hardware = (struct bu_desired_hardware *)(uintptr_t)bu_fleet_desired(
			   site->rig.fleet, node)
			   ->hardware;
	hardware->boot = BU_BOOT_BY_MEDIA;
	return node;
}

/* Owned. */
static char *
path_of(const struct site *site, const struct bu_node *node)
{
	char secret[BU_DIGEST_SIZE];

	bu_medium_secret(site->rig.trust, node, secret);
	return bu_xasprintf("/boot/media/%s/%s.iso", node->name, secret);
}

static void
fetch(struct site *site, struct talk *talk, const char *path, const char *range)
{
	bu_autofree char *request = bu_xasprintf(
		"GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n",
		path, range ? range : "");

	talk_begin(talk, site->boot, request, strlen(request));
	site_until_ended(site, talk);
}

/* What is its own is in the two blocks; all else is as it was made. */
static void
check_whole(const struct site *site, const struct bu_node *node, const char *body)
{
	char token[BU_DIGEST_SIZE];

	bu_trust_token(site->rig.trust, node->step.id, node->step.attempt, token);
	for (int i = 0; i < SIZE; i++)
		if ((i < SECTOR * GRUB_AT || i >= SECTOR * GRUB_AT + BLOCK) &&
		    (i < SECTOR * ISOLINUX_AT || i >= SECTOR * ISOLINUX_AT + BLOCK))
			ck_assert_int_eq(body[i], (char)('a' + i % 26));
	for (int i = 0; i < 2; i++) {
		bu_autofree char *block = bu_xstrndup(
			body + (size_t)SECTOR * (i ? ISOLINUX_AT : GRUB_AT), BLOCK);

		ck_assert_ptr_nonnull(strstr(block, token));
		ck_assert_ptr_nonnull(strstr(block, "bringup.ip=10.77.0.11/24 "));
		ck_assert_ptr_nonnull(strstr(block, "BOOTIF=52:54:00:77:00:01 "));
	}
}

START_TEST(a_medium_is_sent_with_the_nodes_own_lines)
{
	static const int pieces[][2] = {
		{0, 99},
		{SECTOR * GRUB_AT - 5, SECTOR * GRUB_AT + 5},
		{SECTOR * GRUB_AT + 100, SECTOR * GRUB_AT + 100},
		{SECTOR * GRUB_AT + BLOCK - 3, SECTOR * GRUB_AT + BLOCK + 3},
		{SECTOR * GRUB_AT, SECTOR * ISOLINUX_AT + BLOCK + 10},
	};
	struct site site;
	struct bu_node *node = begin(&site);
	bu_autofree char *path = NULL;
	struct talk whole, talk;

	rig_start(&site.rig, 1);
	path = path_of(&site, node);
	fetch(&site, &whole, path, NULL);
	ck_assert_int_eq(whole.status, 200);
	ck_assert_uint_eq(whole.size - (size_t)(whole.body - whole.text), SIZE);
	check_whole(&site, node, whole.body);
	for (size_t i = 0; i < BU_LEN(pieces); i++) {
		bu_autofree char *range = bu_xasprintf("Range: bytes=%d-%d\r\n",
						       pieces[i][0], pieces[i][1]);

		fetch(&site, &talk, path, range);
		ck_assert_int_eq(talk.status, 206);
		ck_assert_mem_eq(talk.body, whole.body + pieces[i][0],
				 (size_t)(pieces[i][1] - pieces[i][0] + 1));
		talk_end(&talk);
	}
	talk_end(&whole);
	rig_why_says(&site.rig, node, "its BMC read the boot medium");
	site_end(&site);
}
END_TEST

START_TEST(it_is_for_who_knows_the_secret_of_this_boot)
{
	struct site site;
	struct bu_node *node = begin(&site);
	bu_autofree char *early = path_of(&site, node), *path = NULL, *wrong = NULL;

	json_decref(site_call(&site, site.boot, "GET", early, "", 404));
	rig_start(&site.rig, 1);
	path = path_of(&site, node);
	wrong = bu_xstrdup(path);
	wrong[strlen(wrong) - 5] ^= 1;
	json_decref(site_call(&site, site.boot, "GET", wrong, "", 404));
	json_decref(site_call(&site, site.boot, "GET", "/boot/media/node001/.iso", "",
			      404));
	json_decref(site_call(&site, site.boot, "GET", "/boot/boot.iso", "", 404));
	/* On no other listener: agents and people have nothing to do with it. */
	json_decref(site_call(&site, site.page, "GET", path, "", 404));
	site.rig.fleet->conditions[BU_CONDITION_EPOCH_BEHIND].on = 1;
	json_decref(site_call(&site, site.boot, "GET", path, "", 503));
	site.rig.fleet->conditions[BU_CONDITION_EPOCH_BEHIND].on = 0;
	free(site_text(&site, site.boot, path, 200));
	rig_inspect(&site.rig, 1);
	json_decref(site_call(&site, site.boot, "GET", path, "", 404));
	site_end(&site);
}
END_TEST

/* Its class may say boot_loader = grub, too: what TFTP serves to all has no token. */
static void
check_tftp(struct site *site, struct bu_node *node)
{
	struct bu_desired_hardware *hardware =
		(struct bu_desired_hardware *)(uintptr_t)bu_fleet_desired(
			site->rig.fleet, node)
			->hardware;
	bu_autofree char *path = NULL;

	hardware->boot_loader = BU_BOOT_LOADER_GRUB;
	site->api.tftp_dir = bu_xasprintf("%s/tftp", site->ramdisk);
	path = bu_xasprintf("%s/grub/52:54:00:77:00:01.cfg", site->api.tftp_dir);
	ck_assert_int_eq(bu_tftp_make(site->api.tftp_dir, &site->api.loader_dirs, NULL),
			 0);
	bu_api_boot_tell(&site->api, node);
	ck_assert(!bu_file_exists(path));
	/* One of before its class booted from a medium goes. */
	ck_assert_int_eq(
		bu_tftp_put(site->api.tftp_dir, "52:54:00:77:00:01", "boot\n", NULL),
		0);
	bu_api_boot_tell(&site->api, NULL);
	ck_assert(!bu_file_exists(path));
	free(bu_steal(&site->api.tftp_dir));
}

/* A host in the boot network that says its MAC, or its serial number. */
START_TEST(its_token_is_on_the_medium_alone)
{
	bu_autoinventory struct bu_inventory *inventory = rig_inventory(1, "b");
	bu_autojson json_t *body =
		json_pack("{s:o}", "inventory", bu_inventory_to_json(inventory));
	struct bu_request request = {.body = body};
	struct bu_reply reply = {0};
	bu_autofree char *script = NULL;
	struct bu_err err = {0};
	struct bu_node *node;
	struct site site;

	node = begin(&site);
	rig_start(&site.rig, 1);
	check_tftp(&site, node);
	script = site_text(&site, site.boot, "/boot/script/52-54-00-77-00-01", 200);
	ck_assert_ptr_nonnull(strstr(script, "no network boot is ordered"));
	ck_assert_int_eq(bu_api_agent_discover(&site.api, &request, &reply, &err),
			 BU_ANSWER_NOW);
	ck_assert_ptr_nonnull(reply.json);
	ck_assert_ptr_null(json_object_get(reply.json, "token"));
	json_decref(reply.json);
	site_end(&site);
}
END_TEST

RIG_UNIT("boot media", a_medium_is_sent_with_the_nodes_own_lines,
	 it_is_for_who_knows_the_secret_of_this_boot, its_token_is_on_the_medium_alone)
